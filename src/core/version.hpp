// The version; `MOCK_GATEWAY_HEADER_ONLY`.

#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "mock_gateway needs C++17: compile with -std=c++17 or newer"
#endif
#ifdef _WIN32
#error "mock_gateway speaks POSIX sockets: compile for Linux, macOS or WSL"
#endif

// MOCK_GATEWAY_HEADER_ONLY, 1 unless set: every function is inline, so including the header is all it takes; each
// file that includes it then compiles all of it, which takes seconds. Set it to 0 for every file of the program
// and define MOCK_GATEWAY_IMPLEMENTATION in exactly one, and the header costs the others little more than json.hpp.
#ifndef MOCK_GATEWAY_HEADER_ONLY
#define MOCK_GATEWAY_HEADER_ONLY 1
#endif

#define MOCK_GATEWAY_VERSION_MAJOR 0
#define MOCK_GATEWAY_VERSION_MINOR 1
#define MOCK_GATEWAY_VERSION_PATCH 0
#define MOCK_GATEWAY_VERSION "0.1.0"
