// Equality and inclusion of JSON values; the text of a difference.

#include "json_comparison.hpp"

#include <algorithm>  // max
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../core/json_pointer.hpp"
#include "excerpts.hpp"

namespace mock_gateway::detail {
namespace json_comparison {

/// Whether both numbers are equal. Exact even for integers that a double cannot represent.
template <class Integer>
bool has_value(double real, Integer integer) {
  constexpr double limit =
      sizeof(Integer) == 8 && std::is_unsigned_v<Integer> ? 18446744073709551616.0 : 9223372036854775808.0;
  const double least = std::is_unsigned_v<Integer> ? 0.0 : -limit;
  return real >= least && real < limit && static_cast<double>(static_cast<Integer>(real)) == real &&
         static_cast<Integer>(real) == integer;
}

bool same_number(const Json& a, const Json& b) {
  if (a.is_number_float() && b.is_number_float()) return a.get<double>() == b.get<double>();
  if (b.is_number_float()) return same_number(b, a);
  if (a.is_number_float()) {
    const auto real = a.get<double>();
    return b.is_number_unsigned() ? has_value(real, b.get<std::uint64_t>()) : has_value(real, b.get<std::int64_t>());
  }
  // nlohmann compares a large unsigned number as a negative one.
  if (a.is_number_unsigned() == b.is_number_unsigned()) return a == b;
  const Json& with_sign = a.is_number_unsigned() ? b : a;
  const Json& without_sign = a.is_number_unsigned() ? a : b;
  const auto number = with_sign.get<std::int64_t>();
  return number >= 0 && static_cast<std::uint64_t>(number) == without_sign.get<std::uint64_t>();
}

/// Returns the first difference between two members with this name; null: the member is missing.
std::optional<Difference> difference_below(std::string_view name, const Json* expected, const Json* actual,
                                           Extent extent) {
  std::optional<Difference> difference = expected != nullptr && actual != nullptr
                                             ? first_difference(*expected, *actual, extent)
                                             : Difference{{}, expected, actual};
  if (difference) difference->pointer.insert(0, json_pointer::token(name));
  return difference;
}

std::optional<Difference> first_difference_in_object(const Json& expected, const Json& actual, Extent extent) {
  for (const auto& [name, value] : expected.get_ref<const Json::object_t&>()) {
    if (auto difference = difference_below(name, &value, json_pointer::child(actual, name), extent)) return difference;
  }
  if (extent == Extent::part || expected.size() == actual.size()) return std::nullopt;
  for (const auto& [name, value] : actual.get_ref<const Json::object_t&>()) {
    if (json_pointer::child(expected, name) == nullptr) return difference_below(name, nullptr, &value, extent);
  }
  return std::nullopt;
}

std::optional<Difference> first_difference(const Json& expected, const Json& actual, Extent extent) {
  if (expected.is_object() && actual.is_object()) return first_difference_in_object(expected, actual, extent);
  if (expected.is_array() && actual.is_array()) {
    for (std::size_t index = 0; index < std::max(expected.size(), actual.size()); ++index) {
      const Json* wanted = index < expected.size() ? &expected[index] : nullptr;
      const Json* found = index < actual.size() ? &actual[index] : nullptr;
      if (auto difference = difference_below(std::to_string(index), wanted, found, extent)) return difference;
    }
    return std::nullopt;
  }
  const bool same = expected.is_number() && actual.is_number() ? same_number(expected, actual) : expected == actual;
  if (same) return std::nullopt;
  return Difference{{}, &expected, &actual};
}

bool same(const Json& left, const Json& right) { return !first_difference(left, right, Extent::whole); }

std::string explain(const Difference& difference) {
  const auto shown_or_nothing = [](const Json* value) { return value == nullptr ? "nothing" : excerpts::json(*value); };
  const std::string where = "at " + place(difference.pointer) + ": ";
  if (difference.expected != nullptr && difference.actual != nullptr && difference.expected->is_string() &&
      difference.actual->is_string()) {
    return where + excerpts::difference(difference.expected->get_ref<const std::string&>(),
                                        difference.actual->get_ref<const std::string&>());
  }
  return where + shown_or_nothing(difference.actual) + " instead of " + shown_or_nothing(difference.expected);
}

std::string place(const std::string& pointer) { return pointer.empty() ? "the root" : excerpts::plain(pointer); }

}  // namespace json_comparison
}  // namespace mock_gateway::detail
