// What the program includes of the library.

#pragma once

#include "mock_gateway.hpp"
#include "program/internal.hpp"
