// The version; the macros that users set.

#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "mock_gateway needs C++17: compile with -std=c++17 or newer"
#endif
#ifdef _WIN32
#error "mock_gateway speaks POSIX sockets: compile for Linux, macOS or WSL"
#endif

// Including the header declares the interface. Exactly one file of the program defines MOCK_GATEWAY_IMPLEMENTATION
// before it includes the header, and so compiles the library. MOCK_GATEWAY_HEADER_ONLY, 0 unless set: 1 makes every
// function inline, and each file that makes a gateway compiles the whole library, which takes seconds. Set it for all
// files of the program or for none. MOCK_GATEWAY_COMPILED is set by CMake's and pkg-config's compiled library, which
// brings the implementation.
#ifndef MOCK_GATEWAY_HEADER_ONLY
#define MOCK_GATEWAY_HEADER_ONLY 0
#endif

#define MOCK_GATEWAY_VERSION_MAJOR 0
#define MOCK_GATEWAY_VERSION_MINOR 1
#define MOCK_GATEWAY_VERSION_PATCH 0
#define MOCK_GATEWAY_VERSION "0.1.0"
