// Ranges of numbers and their text ("at least 2").

#include "range.hpp"

#include <cmath>
#include <limits>
#include <ostream>

#include "../core/error.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
Range::Range(double least, double most) : least_(least), most_(most) {
  if (std::isnan(least) || std::isnan(most)) throw GatewayError("a range needs two numbers, but got NaN");
  if (least > most) {
    throw GatewayError("a range from " + detail::text::number(least) + " to " + detail::text::number(most) +
                       " is empty; give the smaller number first");
  }
}

std::string Range::to_string() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (least_ == most_) return detail::text::number(least_);
  if (least_ == -infinity && most_ == infinity) return "any number";
  if (most_ == infinity) return "at least " + detail::text::number(least_);
  if (least_ == -infinity) return "at most " + detail::text::number(most_);
  return "from " + detail::text::number(least_) + " to " + detail::text::number(most_);
}

Range at_least(double number) { return {number, std::numeric_limits<double>::infinity()}; }
Range at_most(double number) { return {-std::numeric_limits<double>::infinity(), number}; }
Range between(double least, double most) { return {least, most}; }

std::ostream& operator<<(std::ostream& out, const Range& range) { return out << range.to_string(); }

}  // namespace mock_gateway
