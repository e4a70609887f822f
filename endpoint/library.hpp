// What the program includes of the library.

#pragma once

// What the program uses of the library, in one place.

#include "mock_gateway.hpp"

namespace mock_gateway {
namespace detail {

struct GatewayState;

}  // namespace detail
}  // namespace mock_gateway
