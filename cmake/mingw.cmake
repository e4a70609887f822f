# A toolchain file: cross-compiles for Windows with MinGW, and runs the programs with wine.
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=cmake/mingw.cmake -DMOCK_GATEWAY_HTTPLIB_INCLUDE_DIR=/folder/of/the/single/header …
#
# On Debian: g++-mingw-w64-x86-64-posix and wine64.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# The programs need no DLL of MinGW.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/wine.sh)

# Packages of this machine do not fit the target.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
foreach(kind IN ITEMS INCLUDE LIBRARY PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} /usr/x86_64-w64-mingw32/lib/pkgconfig)

# Header-only packages of this machine do fit. Only their folders are visible: the C library's headers are in
# /usr/include too.
get_property(is_attempt GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT is_attempt)
  foreach(target IN ITEMS nlohmann_json::nlohmann_json doctest::doctest)
    string(REGEX REPLACE "(_json)?::.*" "" folder ${target})
    if(NOT TARGET ${target} AND EXISTS /usr/include/${folder})
      file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
      file(CREATE_LINK /usr/include/${folder} ${CMAKE_BINARY_DIR}/headers/${folder} SYMBOLIC)
      add_library(${target} INTERFACE IMPORTED GLOBAL)
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/headers)
    endif()
  endforeach()
endif()
