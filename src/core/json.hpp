// The JSON type.

#pragma once

#include <nlohmann/json.hpp>

#include "version.hpp"

#if NLOHMANN_JSON_VERSION_MAJOR < 3 || (NLOHMANN_JSON_VERSION_MAJOR == 3 && NLOHMANN_JSON_VERSION_MINOR < 11)
#error "mock_gateway needs nlohmann/json 3.11 or newer: install one, or let CMake fetch it"
#endif

namespace mock_gateway {

/// The gateway's JSON type. Objects keep the order of their keys. Converts from initializer lists and nlohmann::json.
using Json = nlohmann::ordered_json;

}  // namespace mock_gateway
