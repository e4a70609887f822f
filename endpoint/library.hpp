#pragma once

// What the program uses of the library, in one place.

#include "mock_gateway.hpp"
