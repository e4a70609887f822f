// The library's headers for the program.

#pragma once

#include "mock_gateway.hpp"
#include "program/internal.hpp"
