// What the program includes of the library.

#pragma once

// What the program uses of the library, in one place.

#include "mock_gateway.hpp"

namespace mock_gateway::detail {

struct GatewayState;

}  // namespace mock_gateway::detail
