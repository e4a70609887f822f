#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "../core/json.hpp"

// Checks values of a body. Throws RequestError with the path, the expected and the actual value.

namespace mock_gateway::detail {
namespace chat_fields {

/// The path of a value in the body. Formatted only for errors.
class Path {
 public:
  explicit Path(std::string_view name) : name_(name) {}
  Path(const Path& parent, std::string_view name) : parent_(&parent), name_(name) {}
  Path(const Path& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// Returns text such as "messages[0].content".
  std::string to_string() const;

 private:
  const Path* parent_ = nullptr;
  std::string_view name_;  // empty for elements
  std::size_t index_ = 0;
};
/// Returns text such as "a string (\"hot\")", for the "got" of a message.
std::string type_and_value(const Json& value);
/// Returns text such as "\"a\", \"b\"".
std::string quoted_list(std::initializer_list<std::string_view> values);
[[noreturn]] void fail(const char* code, const Path& path, const std::string& expected, const std::string& actual);
[[noreturn]] void fail_type(const Path& path, const std::string& expected, const Json& actual);
[[noreturn]] void fail_value(const Path& path, const std::string& expected, const Json& actual);
[[noreturn]] void fail_missing(const Path& path, const std::string& expected);

const std::string& require_string(const Json& value, const Path& path);
const std::string& require_filled_string(const Json& value, const Path& path);
bool require_boolean(const Json& value, const Path& path);
double require_number(const Json& value, const Path& path);
double require_number(const Json& value, const Path& path, double least, double most);
std::int64_t require_integer(const Json& value, const Path& path, std::int64_t least, std::int64_t most);
const Json::object_t& require_object(const Json& value, const Path& path);
const Json::array_t& require_array(const Json& value, const Path& path);

/// Returns the member, or null. Json::find would create a string for a string_view.
const Json* member(const Json::object_t& object, std::string_view name);
/// Returns the member; throws RequestError if it is missing.
const Json& require_member(const Json::object_t& object, const Path& path, std::string_view name, const char* expected);

}  // namespace chat_fields
}  // namespace mock_gateway::detail
