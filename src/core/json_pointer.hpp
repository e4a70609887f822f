#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json.hpp"

// JSON pointers (RFC 6901). nlohmann's implementation throws for missing values.

namespace mock_gateway::detail {
namespace json_pointer {

/// "/a~1b" for the name "a/b".
std::string token(std::string_view name);
/// Unescapes a token without its "/". Empty if a "~" is not followed by 0 or 1.
std::optional<std::string> name_of(std::string_view token);
/// The member or element with that name, or null.
const Json* child(const Json& value, std::string_view name);

}  // namespace json_pointer
}  // namespace mock_gateway::detail
