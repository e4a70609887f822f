// An HTTP request as tests see it: target, header fields, how names and lists of header fields compare.

#include "received_request.hpp"

#include <algorithm>
#include <utility>

#include "../core/text.hpp"

namespace mock_gateway {

const std::string* detail::value_of(const wire::Headers& headers, std::string_view name) {
  for (const wire::Header& field : headers) {
    if (text::equals_ignoring_case(field.name, name)) return &field.value;
  }
  return nullptr;
}

void wire::Headers::add(std::string name, std::string value) {
  fields_.push_back(wire::Header{std::move(name), std::move(value)});
}

void wire::Headers::set(std::string name, std::string value) {
  const auto same_name = [&name](const wire::Header& field) {
    return detail::text::equals_ignoring_case(field.name, name);
  };
  const auto first = std::find_if(fields_.begin(), fields_.end(), same_name);
  if (first == fields_.end()) {
    add(std::move(name), std::move(value));
    return;
  }
  fields_.erase(std::remove_if(first + 1, fields_.end(), same_name), fields_.end());
  *first = wire::Header{std::move(name), std::move(value)};
}

void wire::Headers::remove(std::string_view name) {
  fields_.erase(std::remove_if(
                    fields_.begin(), fields_.end(),
                    [name](const wire::Header& field) { return detail::text::equals_ignoring_case(field.name, name); }),
                fields_.end());
}

bool wire::Headers::has(std::string_view name) const { return detail::value_of(*this, name) != nullptr; }

std::optional<std::string> wire::Headers::find(std::string_view name) const {
  const std::string* const value = detail::value_of(*this, name);
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

std::vector<std::string> wire::Headers::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const wire::Header& field : fields_) {
    if (detail::text::equals_ignoring_case(field.name, name)) values.push_back(field.value);
  }
  return values;
}

bool wire::Headers::lists(std::string_view name, std::string_view token) const {
  for (const wire::Header& field : fields_) {
    if (!detail::text::equals_ignoring_case(field.name, name)) continue;
    std::string_view rest = field.value;
    for (;;) {
      const std::size_t comma = rest.find(',');
      if (detail::text::equals_ignoring_case(detail::text::trim(rest.substr(0, comma)), token)) return true;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return false;
}

}  // namespace mock_gateway
