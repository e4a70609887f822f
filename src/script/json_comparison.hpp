#pragma once

#include <optional>
#include <string>

#include "../core/json.hpp"

namespace mock_gateway::detail {
namespace json_comparison {

/// Whether objects may have members that were not named.
enum class Extent { whole, part };

/// Where a value differs from what was expected.
struct Difference {
  std::string pointer;
  /// Null: nothing there.
  const Json* expected;
  const Json* actual;
};

/// The first difference. Numbers compare by value, exactly; the order of an object's members does not matter.
std::optional<Difference> first_difference(const Json& expected, const Json& actual, Extent extent);
bool same(const Json& left, const Json& right);
/// "at /messages/0/role: \"user\" instead of \"system\"".
std::string explain(const Difference& difference);
/// "/a/b", or "the root" for the empty pointer.
std::string place(const std::string& pointer);

}  // namespace json_comparison
}  // namespace mock_gateway::detail
