// JSON pointers (RFC 6901): escapes, and looking up a member or element, where nlohmann's implementation throws.

#pragma once

#include <algorithm>  // min
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json.hpp"
#include "text.hpp"

namespace mock_gateway::detail {
namespace json_pointer {

/// Returns "/a~1b" for the name "a/b".
inline std::string token(std::string_view name) { return (Json::json_pointer() / std::string(name)).to_string(); }

/// Unescapes a token without its "/". Empty if a "~" is not followed by 0 or 1.
inline std::optional<std::string> name_of(std::string_view token) {
  try {
    return Json::json_pointer("/" + std::string(token)).back();
  } catch (const Json::parse_error&) {
    return std::nullopt;
  }
}

/// Returns the member or element with that name, or null.
inline const Json* child(const Json& value, std::string_view name) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      if (key == name) return &member;
    }
    return nullptr;
  }
  const std::optional<std::int64_t> index = value.is_array() ? text::whole_number(name) : std::nullopt;
  if (!index || (name.front() == '0' && name.size() > 1)) return nullptr;
  const auto place = static_cast<std::size_t>(*index);
  return place < value.size() ? &value[place] : nullptr;
}

/// Returns the value at a JSON pointer, or null.
inline const Json* find(const Json& root, std::string_view pointer) {
  const Json* value = &root;
  while (value && !pointer.empty()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::optional<std::string> name = name_of(pointer.substr(1, end - 1));
    value = name ? child(*value, *name) : nullptr;
    pointer.remove_prefix(end);
  }
  return value;
}

}  // namespace json_pointer
}  // namespace mock_gateway::detail
