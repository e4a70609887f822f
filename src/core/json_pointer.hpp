#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json.hpp"

// JSON pointers (RFC 6901). nlohmann's own throws where a pointer leads nowhere.

namespace mock_gateway::detail {
namespace json_pointer {

/// "/a~1b" for the name "a/b".
std::string token(std::string_view name);
/// The name that a token without its "/" stands for; nothing when a "~" in it is followed by neither 0 nor 1.
std::optional<std::string> name_of(std::string_view token);
/// The member or element of that name; null when there is none.
const Json* child(const Json& value, std::string_view name);

}  // namespace json_pointer
}  // namespace mock_gateway::detail
