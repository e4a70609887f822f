// The 400 about a field: its text "expected …, got …" and its error codes (`invalid_type`, `value_below_minimum`, …).

#include "chat_fields.hpp"

#include <cmath>
#include <limits>

#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "../model/request_error.hpp"

namespace mock_gateway::detail {
namespace chat_fields {

std::string Path::to_string() const {
  const std::string before = parent_ == nullptr ? std::string{} : parent_->to_string();
  if (name_.empty()) return before + "[" + std::to_string(index_) + "]";
  return before.empty() ? std::string(name_) : before + "." + std::string(name_);
}

std::string type_and_value(const Json& value) {
  constexpr std::size_t shown = 60;
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return value.get<bool>() ? "a boolean (true)" : "a boolean (false)";
    case Json::value_t::string: {
      std::string literal;
      text::append_json_string(literal, text::excerpt(value.get_ref<const std::string&>(), shown));
      return "a string (" + literal + ")";
    }
    case Json::value_t::array: return value.empty() ? "an empty array" : "an array";
    case Json::value_t::object: return "an object";
    default: return "a number (" + value.dump() + ")";
  }
}

std::string quoted_list(std::initializer_list<std::string_view> values) {
  std::string list;
  for (const std::string_view value : values) {
    if (value.empty()) continue;
    if (!list.empty()) list += ", ";
    list += "\"" + std::string(value) + "\"";
  }
  return list;
}

void fail(const char* code, const Path& path, const std::string& expected, const std::string& actual) {
  const std::string place = path.to_string();
  throw RequestError{failure(400, code, place + ": expected " + expected + ", got " + actual).param(place)};
}

void fail_type(const Path& path, const std::string& expected, const Json& actual) {
  fail("invalid_type", path, expected, type_and_value(actual));
}

void fail_value(const Path& path, const std::string& expected, const Json& actual) {
  std::string description = type_and_value(actual);
  if (actual.is_string() || actual.is_number()) {  // the message shows only the value, because its type is valid
    const std::size_t open = description.find('(');
    description = description.substr(open + 1, description.size() - open - 2);
  }
  fail("invalid_value", path, expected, description);
}

void fail_missing(const Path& path, const std::string& expected) {
  fail("missing_required_parameter", path, expected, "nothing");
}

const std::string& require_string(const Json& value, const Path& path) {
  if (!value.is_string()) fail_type(path, "a string", value);
  return value.get_ref<const std::string&>();
}

const std::string& require_filled_string(const Json& value, const Path& path) {
  const std::string& string = require_string(value, path);
  if (string.empty()) fail_value(path, "a string that is not empty", value);
  return string;
}

bool require_boolean(const Json& value, const Path& path) {
  if (!value.is_boolean()) fail_type(path, "a boolean", value);
  return value.get<bool>();
}

double require_number(const Json& value, const Path& path) {
  if (!value.is_number()) fail_type(path, "a number", value);
  return value.get<double>();
}

double require_number(const Json& value, const Path& path, double least, double most) {
  const double number = require_number(value, path);
  if (number < least) fail("value_below_minimum", path, "at least " + Json(least).dump(), value.dump());
  if (number > most) fail("value_above_maximum", path, "at most " + Json(most).dump(), value.dump());
  return number;
}

std::int64_t require_integer(const Json& value, const Path& path, std::int64_t least, std::int64_t most) {
  constexpr double two_to_63 = 9223372036854775808.0;
  if (!value.is_number()) fail_type(path, "an integer", value);
  bool below = false;
  bool above = false;
  std::int64_t number = 0;
  if (value.is_number_float()) {
    const double real = value.get<double>();
    if (std::trunc(real) != real) fail_type(path, "an integer", value);
    below = real <= -two_to_63;  // also the rounded value of -2^63 - 1, which is too small
    above = real >= two_to_63;
    if (!below && !above) number = static_cast<std::int64_t>(real);
  } else if (value.is_number_unsigned()) {
    const std::uint64_t size = value.get<std::uint64_t>();
    above = size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!above) number = static_cast<std::int64_t>(size);
  } else {
    number = value.get<std::int64_t>();
  }
  if (below || (!above && number < least)) {
    fail("value_below_minimum", path, "at least " + std::to_string(least), value.dump());
  }
  if (above || number > most) fail("value_above_maximum", path, "at most " + std::to_string(most), value.dump());
  return number;
}

const Json::object_t& require_object(const Json& value, const Path& path) {
  if (!value.is_object()) fail_type(path, "an object", value);
  return value.get_ref<const Json::object_t&>();
}

const Json::array_t& require_array(const Json& value, const Path& path) {
  if (!value.is_array()) fail_type(path, "an array", value);
  return value.get_ref<const Json::array_t&>();
}

const Json* member(const Json::object_t& object, std::string_view name) {
  for (const auto& [key, value] : object) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Json& require_member(const Json::object_t& object, const Path& path, std::string_view name,
                           const char* expected) {
  const Json* value = member(object, name);
  if (value == nullptr) fail_missing(Path(path, name), expected);
  return *value;
}

}  // namespace chat_fields
}  // namespace mock_gateway::detail
