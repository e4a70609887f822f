# A toolchain file: cross-compiles with zig, a C++ compiler that contains the C libraries of its targets.
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=cmake/zig.cmake -DMOCK_GATEWAY_ZIG=/path/to/zig -DMOCK_GATEWAY_ZIG_TARGET=aarch64-linux-musl …
#
# A target is an architecture, a system and, for Linux, a C library: x86_64-linux-musl, aarch64-macos. With musl the
# programs are static. The linker strips them.

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOCK_GATEWAY_ZIG MOCK_GATEWAY_ZIG_TARGET)

if(NOT MOCK_GATEWAY_ZIG_TARGET MATCHES "^([a-z0-9_]+)-(linux|macos)")
  message(FATAL_ERROR "MOCK_GATEWAY_ZIG_TARGET is \"${MOCK_GATEWAY_ZIG_TARGET}\": name a target, such as x86_64-linux-musl")
endif()
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
if(CMAKE_MATCH_2 STREQUAL "linux")
  set(CMAKE_SYSTEM_NAME Linux)
  # musl's default stack of a thread is 128 KiB, and threads of the program may need as much as with other C libraries.
  # 8 MiB is musl's maximum; unused stack costs nothing.
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -s -Wl,--gc-sections -Wl,-z,stack-size=8388608")
else()
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-s")
  # zig knows the system's headers, and has no tools that change a linked program.
  set(CMAKE_OSX_SYSROOT "")
  set(CMAKE_INSTALL_NAME_TOOL /bin/false)
endif()

# Words after the first are arguments of every call.
set(CMAKE_C_COMPILER ${MOCK_GATEWAY_ZIG} cc)
set(CMAKE_CXX_COMPILER ${MOCK_GATEWAY_ZIG} c++)
set(CMAKE_C_COMPILER_TARGET ${MOCK_GATEWAY_ZIG_TARGET})
set(CMAKE_CXX_COMPILER_TARGET ${MOCK_GATEWAY_ZIG_TARGET})
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_ARCHIVE_CREATE "\"${MOCK_GATEWAY_ZIG}\" ar qcD <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "\"${MOCK_GATEWAY_ZIG}\" ar qD <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "")
endforeach()

# Packages of this machine do not fit the target: only CMAKE_PREFIX_PATH is searched.
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)
