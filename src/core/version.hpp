// The version; the macros that users set.

#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "mock_gateway needs C++17: compile with -std=c++17 or newer"
#endif

// Including the header only declares the interface. Exactly one file of the program defines MOCK_GATEWAY_IMPLEMENTATION
// before including it, and compiles the library. MOCK_GATEWAY_HEADER_ONLY (default 0): 1 makes every function inline,
// so that each file that makes a gateway compiles the whole library, which takes seconds. Use the same value in all
// files. CMake's and pkg-config's compiled library sets MOCK_GATEWAY_COMPILED and contains the implementation.
#ifndef MOCK_GATEWAY_HEADER_ONLY
#define MOCK_GATEWAY_HEADER_ONLY 0
#endif

#define MOCK_GATEWAY_VERSION_MAJOR 0
#define MOCK_GATEWAY_VERSION_MINOR 1
#define MOCK_GATEWAY_VERSION_PATCH 0
#define MOCK_GATEWAY_VERSION "0.1.0"
