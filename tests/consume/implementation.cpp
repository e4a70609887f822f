// What a user without CMake adds to a program of many files: the one file that compiles the implementation.
#define MOCK_GATEWAY_IMPLEMENTATION
#include "mock_gateway.hpp"
