// JSON pointers: escapes, and looking up a member or element.

#include "json_pointer.hpp"

#include <cstddef>

namespace mock_gateway::detail {
namespace json_pointer {

std::string token(std::string_view name) {
  std::string token = "/";
  for (const char character : name) {
    if (character == '~') {
      token += "~0";
    } else if (character == '/') {
      token += "~1";
    } else {
      token += character;
    }
  }
  return token;
}

std::optional<std::string> name_of(std::string_view token) {
  std::string name;
  for (std::size_t index = 0; index < token.size(); ++index) {
    if (token[index] != '~') {
      name += token[index];
      continue;
    }
    const char code = ++index < token.size() ? token[index] : '\0';
    if (code != '0' && code != '1') return std::nullopt;
    name += code == '0' ? '~' : '/';
  }
  return name;
}

const Json* child(const Json& value, std::string_view name) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      if (key == name) return &member;
    }
    return nullptr;
  }
  constexpr std::size_t most_digits = 9;
  if (!value.is_array() || name.empty() || name.size() > most_digits || (name.front() == '0' && name.size() > 1)) {
    return nullptr;
  }
  std::size_t index = 0;
  for (const char digit : name) {
    if (digit < '0' || digit > '9') return nullptr;
    index = index * 10 + static_cast<std::size_t>(digit - '0');
  }
  return index < value.size() ? &value[index] : nullptr;
}

}  // namespace json_pointer
}  // namespace mock_gateway::detail
