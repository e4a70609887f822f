#include "range.hpp"

#include <cmath>
#include <limits>
#include <ostream>

#include "../core/error.hpp"
#include "../core/json.hpp"

namespace mock_gateway {
namespace detail {
namespace ranges {

/// As short as it can be while it still reads back as the same number, in any locale.
std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  if (std::abs(value) < 1e15 && value == std::floor(value)) return std::to_string(static_cast<long long>(value));
  return Json(value).dump();
}

}  // namespace ranges
}  // namespace detail

Range::Range(double least, double most) : least_(least), most_(most) {
  if (std::isnan(least) || std::isnan(most)) throw GatewayError("a range is made of numbers, and this is none");
  if (least > most) {
    throw GatewayError("a range from " + detail::ranges::number(least) + " to " + detail::ranges::number(most) +
                       " holds nothing; the smaller number comes first");
  }
}

std::string Range::describe() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (least_ == most_) return detail::ranges::number(least_);
  if (least_ == -infinity && most_ == infinity) return "any number";
  if (most_ == infinity) return "at least " + detail::ranges::number(least_);
  if (least_ == -infinity) return "at most " + detail::ranges::number(most_);
  return "from " + detail::ranges::number(least_) + " to " + detail::ranges::number(most_);
}

Range at_least(double number) { return {number, std::numeric_limits<double>::infinity()}; }
Range at_most(double number) { return {-std::numeric_limits<double>::infinity(), number}; }
Range between(double least, double most) { return {least, most}; }

std::ostream& operator<<(std::ostream& out, const Range& range) { return out << range.describe(); }

}  // namespace mock_gateway
