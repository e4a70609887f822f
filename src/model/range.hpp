#pragma once

#include <iosfwd>
#include <string>
#include <type_traits>

#include "../core/version.hpp"

namespace mock_gateway {

/// A range of numbers, including both ends. A bare number means exactly that number.
class Range {
 public:
  /// Implicit, so that expect(2) and temperature_is(0.5) compile. Not NaN.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>, int> = 0>
  Range(Number exactly) : Range(static_cast<double>(exactly), static_cast<double>(exactly)) {}  // NOLINT
  /// `least` is not above `most`; neither is NaN.
  Range(double least, double most);

  bool contains(double value) const { return value >= least_ && value <= most_; }
  double least() const { return least_; }
  double most() const { return most_; }
  /// Returns text such as "2", "at least 2", "at most 2", "from 2 to 4", "any number".
  std::string to_string() const;

 private:
  double least_;
  double most_;
};

Range at_least(double number);
Range at_most(double number);
/// All numbers from `least` to `most`; `least` is not above `most`.
Range between(double least, double most);
std::ostream& operator<<(std::ostream& out, const Range& range);

}  // namespace mock_gateway
