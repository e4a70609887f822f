# The library's dependencies: found on the system, taken from the including project, or fetched.

include(FetchContent)
include(${CMAKE_CURRENT_LIST_DIR}/Httplib.cmake)

# A project that adds this one with add_subdirectory links our targets from another folder, so found targets must be
# visible there. CMake 3.24 and newer do that for every find_package. For older versions each target is made global
# where it is found.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
function(mock_gateway_lift target)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL ON)
  endif()
endfunction()

if(NOT TARGET Threads::Threads)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  mock_gateway_lift(Threads::Threads)
endif()

if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json 3.11 QUIET CONFIG)
  mock_gateway_lift(nlohmann_json::nlohmann_json)
  if(NOT TARGET nlohmann_json::nlohmann_json)
    message(STATUS "mock_gateway: fetching nlohmann/json (on Debian: nlohmann-json3-dev)")
    set(JSON_Install ${MOCK_GATEWAY_INSTALL} CACHE BOOL "Install nlohmann/json as well")
    FetchContent_Declare(nlohmann_json
      GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.3 GIT_SHALLOW ON)
    FetchContent_MakeAvailable(nlohmann_json)
  endif()
endif()

set(found_here mock_gateway::httplib PkgConfig::MOCK_GATEWAY_CPP_HTTPLIB)
if(NOT TARGET httplib::httplib)
  list(APPEND found_here httplib::httplib)
endif()
mock_gateway_find_httplib()
if(NOT TARGET mock_gateway::httplib)
  message(STATUS "mock_gateway: ${MOCK_GATEWAY_HTTPLIB_PROBLEM}")
  message(STATUS "mock_gateway: fetching cpp-httplib (on Debian: libcpp-httplib-dev and pkg-config)")
  # Only the header is used. A subfolder without a CMakeLists.txt avoids cpp-httplib's own build and its search for TLS.
  FetchContent_Declare(httplib
    GIT_REPOSITORY https://github.com/yhirose/cpp-httplib.git GIT_TAG v0.41.0 GIT_SHALLOW ON
    SOURCE_SUBDIR cmake)
  FetchContent_MakeAvailable(httplib)
  mock_gateway_use_httplib_header("${httplib_SOURCE_DIR}")
endif()
foreach(target IN LISTS found_here)
  mock_gateway_lift(${target})
endforeach()
message(STATUS "mock_gateway: cpp-httplib is ${MOCK_GATEWAY_HTTPLIB_DESCRIPTION}")
