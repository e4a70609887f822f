#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../core/version.hpp"

// What the author of a test gives must be of use. What is not is a GatewayError.

namespace mock_gateway::detail {

/// Throws GatewayError for what RFC 9110, 5.5 forbids in a header field.
void require_header_field(const std::string& name, const std::string& value);
/// The value itself. Throws GatewayError when it is not UTF-8, because no JSON could carry it; `what` names it.
std::string require_utf8(std::string value, std::string_view what);
/// `number`, or GatewayError when it is 0: `function` says where, `what` is counted.
std::size_t counted_from_one(std::size_t number, const char* function, const char* what);
/// Throws GatewayError: a value of that type was moved from, and is used.
[[noreturn]] void refuse_moved_from(const char* type);

}  // namespace mock_gateway::detail
