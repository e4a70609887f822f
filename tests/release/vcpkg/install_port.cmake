# Installs a port as vcpkg does, without vcpkg: defines the functions that a portfile calls, as far as they change
# folders.
#
#   cmake -DPORT_FOLDER=… -DDOWNLOADS=… -DWORK=… -DINSTALLED=… -P install_port.cmake
#
# DOWNLOADS contains the archive under its name. INSTALLED contains the port's dependencies, and gets the port. The
# builds in WORK use a triplet with dynamic libraries, since a static library must support that. This script rejects
# what vcpkg rejects: unknown words, wrong checksums, options that the project does not know.

cmake_minimum_required(VERSION 3.22)

file(READ "${PORT_FOLDER}/vcpkg.json" manifest)
string(JSON PORT GET "${manifest}" name)
string(JSON VERSION GET "${manifest}" version)
set(CURRENT_PORT_DIR "${PORT_FOLDER}")
set(CURRENT_INSTALLED_DIR "${INSTALLED}")
set(CURRENT_PACKAGES_DIR "${WORK}/packages")
set(CURRENT_BUILDTREES_DIR "${WORK}/buildtrees")
set(VCPKG_LIBRARY_LINKAGE dynamic)

macro(refuse_others)
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${CMAKE_CURRENT_FUNCTION} was passed extra arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(vcpkg_download_distfile out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILENAME;SHA512" "URLS")
  refuse_others()
  file(SHA512 "${DOWNLOADS}/${arg_FILENAME}" sum)
  if(NOT sum STREQUAL arg_SHA512 OR NOT arg_URLS MATCHES "^[a-z]+://.*/${arg_FILENAME}$")
    message(FATAL_ERROR "${arg_FILENAME} from ${arg_URLS} is not the file of ${arg_SHA512}")
  endif()
  set(${out} "${DOWNLOADS}/${arg_FILENAME}" PARENT_SCOPE)
endfunction()

function(vcpkg_extract_source_archive out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCHIVE" "")
  refuse_others()
  file(ARCHIVE_EXTRACT INPUT "${arg_ARCHIVE}" DESTINATION "${CURRENT_BUILDTREES_DIR}/src")
  file(GLOB folders "${CURRENT_BUILDTREES_DIR}/src/*")
  list(LENGTH folders count)
  if(NOT count EQUAL 1 OR NOT IS_DIRECTORY "${folders}")
    message(FATAL_ERROR "Could not unwrap top level directory from archive: ${folders}")
  endif()
  set(${out} "${folders}" PARENT_SCOPE)
endfunction()

function(vcpkg_check_linkage)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ONLY_STATIC_LIBRARY" "" "")
  refuse_others()
  if(arg_ONLY_STATIC_LIBRARY)
    set(VCPKG_LIBRARY_LINKAGE static PARENT_SCOPE)
  endif()
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS;OPTIONS_DEBUG;OPTIONS_RELEASE")
  refuse_others()
  string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic shared)
  foreach(build IN ITEMS dbg rel)
    set(type Release)
    set(prefix "${CURRENT_PACKAGES_DIR}")
    set(options ${arg_OPTIONS_RELEASE})
    if(build STREQUAL "dbg")
      set(type Debug)
      set(prefix "${CURRENT_PACKAGES_DIR}/debug")
      set(options ${arg_OPTIONS_DEBUG})
    endif()
    # Installed packages come from one folder, and nothing is fetched. Compiler optimization does not matter here.
    run("${CMAKE_COMMAND}" -G Ninja -S "${arg_SOURCE_PATH}" -B "${CURRENT_BUILDTREES_DIR}/${build}"
      -DCMAKE_BUILD_TYPE=${type} -DCMAKE_INSTALL_PREFIX=${prefix} -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=${shared}
      -DCMAKE_PREFIX_PATH=${CURRENT_INSTALLED_DIR} -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF
      -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_CXX_FLAGS_DEBUG=-O0
      ${arg_OPTIONS} ${options})
    foreach(option IN LISTS arg_OPTIONS options)
      string(REGEX REPLACE "^-D([^:=]*).*" "\\1" name "${option}")
      if(output MATCHES "Manually-specified variables were not used by the project:.*\n    ${name}\n")
        message(FATAL_ERROR "the project does not know ${name}")
      endif()
    endforeach()
  endforeach()
endfunction()

function(vcpkg_cmake_install)
  foreach(build IN ITEMS dbg rel)
    run("${CMAKE_COMMAND}" --build "${CURRENT_BUILDTREES_DIR}/${build}" --target install --parallel 1)
  endforeach()
endfunction()

# Moves the package's files to share/NAME, one folder level less than lib/cmake/NAME; of the debug build, only the files
# with its libraries' locations remain.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  refuse_others()
  set(to "${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}")
  file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*")
  file(GLOB debug_files "${CURRENT_PACKAGES_DIR}/debug/${arg_CONFIG_PATH}/*-debug.cmake")
  if(NOT files OR NOT debug_files)
    message(FATAL_ERROR "${arg_CONFIG_PATH} does not exist, or has nothing of the debug build")
  endif()
  file(COPY ${files} ${debug_files} DESTINATION "${to}")
  foreach(folder IN ITEMS "${CURRENT_PACKAGES_DIR}" "${CURRENT_PACKAGES_DIR}/debug")
    file(REMOVE_RECURSE "${folder}/${arg_CONFIG_PATH}")
    cmake_path(GET arg_CONFIG_PATH PARENT_PATH parent)
    if(parent MATCHES "/cmake$")
      file(REMOVE_RECURSE "${folder}/${parent}")
    endif()
  endforeach()
  file(GLOB files "${to}/*.cmake")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    if(file MATCHES "-debug.cmake$")
      string(REPLACE "\${_IMPORT_PREFIX}/lib" "\${_IMPORT_PREFIX}/debug/lib" text "${text}")
    endif()
    # PREFIX/share/NAME/file is three levels deep.
    string(REGEX REPLACE "(get_filename_component\\(_IMPORT_PREFIX \"[^\n]*\" PATH\\)\n)+"
      "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)\n" text "${text}")
    string(REGEX REPLACE "get_filename_component\\(PACKAGE_PREFIX_DIR \"[^\n]*\" ABSOLUTE\\)"
      "get_filename_component(PACKAGE_PREFIX_DIR \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)" text "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  refuse_others()
  set(text "")
  foreach(file IN LISTS arg_FILE_LIST)
    file(READ "${file}" license)
    string(APPEND text "${license}")
  endforeach()
  file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "${text}")
endfunction()

include("${PORT_FOLDER}/portfile.cmake")
file(GLOB installed "${CURRENT_PACKAGES_DIR}/*")
file(COPY ${installed} DESTINATION "${INSTALLED}")
