#pragma once

#include <nlohmann/json.hpp>

#include "version.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// JSON as the gateway reads and writes it: keys keep their order, initializer lists work, and nlohmann::json converts.
using Json = nlohmann::ordered_json;

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
