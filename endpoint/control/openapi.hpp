#pragma once

#include <string>

#include "../library.hpp"

namespace mock_gateway {
namespace endpoint {

/// The OpenAPI 3.1 document of the control API, with the schema of scripts among its components.
Json openapi_document();
/// "GET /control/v1/stubs/{id}", a line for each route that the program has.
std::string route_lines();

}  // namespace endpoint
}  // namespace mock_gateway
