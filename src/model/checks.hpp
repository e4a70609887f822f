#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../core/version.hpp"

// Checks of values that the author of a test passes.

namespace mock_gateway::detail {

/// Throws GatewayError for a header field that RFC 9110, 5.5 forbids.
void require_header_field(const std::string& name, const std::string& value);
/// Throws GatewayError if the value, named `what`, is not UTF-8, because JSON could not carry it.
std::string require_utf8(std::string value, std::string_view what);
/// Returns `number`, or throws GatewayError for 0. The error names the `function` and says `what` is counted.
std::size_t counted_from_one(std::size_t number, const char* function, const char* what);
[[noreturn]] void refuse_moved_from(const char* type);

}  // namespace mock_gateway::detail
