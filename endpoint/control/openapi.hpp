#pragma once

#include <string>

#include "../library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Returns the OpenAPI 3.1 document of the control API, which includes the schema of scripts.
Json openapi_document();
/// Returns one line per route: "GET /control/v1/stubs/{id}".
std::string route_lines();

}  // namespace endpoint
}  // namespace mock_gateway
