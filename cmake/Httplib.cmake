# Finds cpp-httplib in any of its packaged forms. The build and the installed package share this file.
#
# mock_gateway_find_httplib() creates the target mock_gateway::httplib from the first of:
#   1. the single header in the folder MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR,
#   2. the target httplib::httplib, or the package httplib that cpp-httplib's own installation exports,
#   3. pkg-config's cpp-httplib: Debian's compiled library, whose flags change the layout of its classes,
#   4. a single header on the include path.
# It sets:
#   MOCK_GATEWAY_HTTPLIB_KIND         "header" if only a single header was found, else "library"
#   MOCK_GATEWAY_HTTPLIB_DESCRIPTION  where it was found, for messages
#   MOCK_GATEWAY_HTTPLIB_PROBLEM      why there is no target, for messages

set(MOCK_GATEWAY_HTTPLIB_MINIMUM 0.11.4)

# Creates the target from a folder with a single header.
macro(mock_gateway_use_httplib_header folder)
  add_library(mock_gateway::httplib INTERFACE IMPORTED)
  # Up to version 0.18 the header uses select() by default, which is limited to 1,024 descriptors.
  set_target_properties(mock_gateway::httplib PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${folder}"
    INTERFACE_COMPILE_DEFINITIONS CPPHTTPLIB_USE_POLL
    INTERFACE_LINK_LIBRARIES Threads::Threads)
  mock_gateway_httplib_version("${folder}/httplib.h" MOCK_GATEWAY_HTTPLIB_DESCRIPTION)
  set(MOCK_GATEWAY_HTTPLIB_DESCRIPTION "${MOCK_GATEWAY_HTTPLIB_DESCRIPTION}, the header in ${folder}")
  set(MOCK_GATEWAY_HTTPLIB_KIND header)
endmacro()

# Creates the target from another target.
macro(mock_gateway_use_httplib_target target description)
  add_library(mock_gateway::httplib INTERFACE IMPORTED)
  set_target_properties(mock_gateway::httplib PROPERTIES INTERFACE_LINK_LIBRARIES ${target})
  set(MOCK_GATEWAY_HTTPLIB_DESCRIPTION "${description}")
  set(MOCK_GATEWAY_HTTPLIB_KIND library)
endmacro()

function(mock_gateway_httplib_version header result)
  file(STRINGS "${header}" line REGEX "^#define CPPHTTPLIB_VERSION \"")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" line "${line}")
  set(${result} "${line}" PARENT_SCOPE)
endfunction()

macro(mock_gateway_find_httplib)
  set(MOCK_GATEWAY_HTTPLIB_PROBLEM "")
  if(TARGET mock_gateway::httplib)
    # found earlier
  elseif(MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR)
    if(NOT EXISTS "${MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR}/httplib.h")
      message(FATAL_ERROR "MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR: there is no ${MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR}/httplib.h")
    endif()
    mock_gateway_use_httplib_header("${MOCK_GATEWAY_HTTPLIB_INCLUDE_DIR}")
  elseif(TARGET httplib::httplib)
    mock_gateway_use_httplib_target(httplib::httplib "the target httplib::httplib")
  else()
    mock_gateway_search_httplib()
  endif()
endmacro()

macro(mock_gateway_search_httplib)
  find_package(httplib QUIET CONFIG)
  if(TARGET httplib::httplib AND httplib_VERSION VERSION_GREATER_EQUAL MOCK_GATEWAY_HTTPLIB_MINIMUM)
    mock_gateway_use_httplib_target(httplib::httplib "${httplib_VERSION}, the package in ${httplib_DIR}")
  else()
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(MOCK_GATEWAY_CPP_HTTPLIB QUIET IMPORTED_TARGET
        cpp-httplib>=${MOCK_GATEWAY_HTTPLIB_MINIMUM})
    endif()
    if(TARGET PkgConfig::MOCK_GATEWAY_CPP_HTTPLIB)
      mock_gateway_use_httplib_target(PkgConfig::MOCK_GATEWAY_CPP_HTTPLIB
        "${MOCK_GATEWAY_CPP_HTTPLIB_VERSION}, the library that pkg-config knows")
    else()
      find_path(MOCK_GATEWAY_HTTPLIB_FOLDER httplib.h)
      mark_as_advanced(MOCK_GATEWAY_HTTPLIB_FOLDER)
      mock_gateway_examine_httplib("${MOCK_GATEWAY_HTTPLIB_FOLDER}" MOCK_GATEWAY_HTTPLIB_PROBLEM)
      if(NOT MOCK_GATEWAY_HTTPLIB_PROBLEM)
        mock_gateway_use_httplib_header("${MOCK_GATEWAY_HTTPLIB_FOLDER}")
      endif()
    endif()
  endif()
endmacro()

# Sets `result` to the reason why a header on the include path cannot be used, or to an empty string.
function(mock_gateway_examine_httplib folder result)
  set(problem "")
  if(NOT folder)
    set(problem "cpp-httplib was not found")
  else()
    mock_gateway_httplib_version("${folder}/httplib.h" version)
    # The header of a compiled library has only declarations, and does not say which macros the library was built with.
    file(STRINGS "${folder}/httplib.h" implementation REGEX "^inline Server::Server\\(")
    if(NOT implementation)
      set(problem "${folder}/httplib.h belongs to a compiled library, whose flags only pkg-config knows, "
        "and pkg-config or its entry cpp-httplib is missing")
    elseif(version VERSION_LESS MOCK_GATEWAY_HTTPLIB_MINIMUM)
      set(problem "${folder}/httplib.h is version ${version}, older than ${MOCK_GATEWAY_HTTPLIB_MINIMUM}")
    endif()
  endif()
  string(REPLACE ";" "" problem "${problem}")
  set(${result} "${problem}" PARENT_SCOPE)
endfunction()
