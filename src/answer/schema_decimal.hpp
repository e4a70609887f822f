#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../core/json.hpp"
#include "../core/version.hpp"

// Exact decimal arithmetic. JSON numbers are decimal; binary floating point answers "is 0.3 a multiple of 0.1" wrongly.

namespace mock_gateway {
namespace detail {
namespace schema {

/// A decimal number of any size: digits × 10^exponent, without trailing zeros in the digits.
class Decimal {
 public:
  Decimal() = default;
  Decimal(bool negative, std::string digits, int exponent)
      : negative_(negative), digits_(std::move(digits)), exponent_(exponent) {
    normalize();
  }
  /// Reads a JSON number as it is written.
  explicit Decimal(std::string_view number);

  static Decimal of(const Json& number) { return Decimal(std::string_view(number.dump())); }
  static Decimal power_of_ten(int exponent) { return Decimal(false, "1", exponent); }

  bool is_zero() const { return digits_.empty(); }
  bool is_negative() const { return negative_; }
  bool is_integer() const { return exponent_ >= 0; }
  const std::string& digits() const { return digits_; }
  int exponent() const { return exponent_; }
  /// The number of digits before the decimal point; zero or less for a number below one.
  int magnitude() const { return static_cast<int>(digits_.size()) + exponent_; }
  Decimal negated() const { return Decimal(!negative_, digits_, exponent_); }

  /// Less than, equal to or greater than zero, as this is to `other`.
  int compare(const Decimal& other) const;
  Decimal plus(const Decimal& other) const;

  Decimal times(const Decimal& other) const;

  /// The largest integer that is at most this divided by `divisor`, which must be positive.
  Decimal floor_over(const Decimal& divisor) const;

  Decimal ceiling_over(const Decimal& divisor) const { return negated().floor_over(divisor).negated(); }

  bool is_multiple_of(const Decimal& divisor) const;

  /// The digits as an integer when the exponent is lowered to `exponent`.
  std::string scaled(int exponent) const {
    if (is_zero()) return {};
    return digits_ + std::string(static_cast<std::size_t>(exponent_ - exponent), '0');
  }

  /// The same for equal numbers, and a JSON number.
  std::string text() const {
    if (is_zero()) return "0";
    return (negative_ ? "-" : "") + digits_ + "e" + std::to_string(exponent_);
  }

 private:
  void normalize();

  bool negative_ = false;
  std::string digits_;
  int exponent_ = 0;
};

/// The JSON number nearest to a decimal: an integer where 64 bits hold it, else a double. Empty when none is finite.
std::optional<Json> to_json(const Decimal& decimal);

/// The least common multiple of two positive decimals; empty when it is too large to be of use.
std::optional<Decimal> common_multiple(const Decimal& left, const Decimal& right);

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
