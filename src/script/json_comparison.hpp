#pragma once

#include <optional>
#include <string>

#include "../core/json.hpp"

namespace mock_gateway::detail {
namespace json_comparison {

/// Whether objects may have additional members.
enum class Extent { whole, part };

struct Difference {
  std::string pointer;
  /// Null if the member is missing.
  const Json* expected;
  const Json* actual;
};

/// Returns the first difference. Numbers compare by value, exactly; the order of object members is irrelevant.
std::optional<Difference> first_difference(const Json& expected, const Json& actual, Extent extent);
bool same(const Json& left, const Json& right);
/// Returns "at /messages/0/role: \"user\" instead of \"system\"".
std::string explain(const Difference& difference);
/// Returns "/a/b", or "the root" for the empty pointer.
std::string place(const std::string& pointer);

}  // namespace json_comparison
}  // namespace mock_gateway::detail
