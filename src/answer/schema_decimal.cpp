#include "schema_decimal.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json_reader.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

namespace decimals {

// Digit strings have the most significant digit first and no leading zeros; the empty string is zero.

void strip_leading_zeros(std::string& digits) { digits.erase(0, digits.find_first_not_of('0')); }

int compare_digits(const std::string& left, const std::string& right) {
  if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  return left.compare(right);
}

std::string add_digits(const std::string& left, const std::string& right) {
  std::string sum;
  int carry = 0;
  for (std::size_t place = 0; place < std::max(left.size(), right.size()) || carry != 0; ++place) {
    int digit = carry;
    if (place < left.size()) digit += left[left.size() - 1 - place] - '0';
    if (place < right.size()) digit += right[right.size() - 1 - place] - '0';
    sum.push_back(static_cast<char>('0' + digit % 10));
    carry = digit / 10;
  }
  std::reverse(sum.begin(), sum.end());
  return sum;
}

/// `left` must not be less than `right`.
std::string subtract_digits(const std::string& left, const std::string& right) {
  std::string difference = left;
  int borrow = 0;
  for (std::size_t place = 0; place < left.size(); ++place) {
    char& target = difference[left.size() - 1 - place];
    int digit = target - '0' - borrow;
    if (place < right.size()) digit -= right[right.size() - 1 - place] - '0';
    borrow = digit < 0 ? 1 : 0;
    target = static_cast<char>('0' + digit + 10 * borrow);
  }
  strip_leading_zeros(difference);
  return difference;
}

std::string multiply_digits(const std::string& left, const std::string& right) {
  std::vector<int> places(left.size() + right.size(), 0);
  for (std::size_t i = left.size(); i-- > 0;) {
    for (std::size_t j = right.size(); j-- > 0;) {
      const int value = places[i + j + 1] + (left[i] - '0') * (right[j] - '0');
      places[i + j + 1] = value % 10;
      places[i + j] += value / 10;
    }
  }
  std::string product;
  for (const int place : places) product.push_back(static_cast<char>('0' + place));
  strip_leading_zeros(product);
  return product;
}

/// The quotient, rounded down; `divisor` must not be zero.
std::string divide_digits(const std::string& dividend, const std::string& divisor, std::string& remainder) {
  std::string quotient;
  remainder.clear();
  for (const char digit : dividend) {
    remainder.push_back(digit);
    strip_leading_zeros(remainder);
    char count = '0';
    while (compare_digits(remainder, divisor) >= 0) {
      remainder = subtract_digits(remainder, divisor);
      ++count;
    }
    quotient.push_back(count);
  }
  strip_leading_zeros(quotient);
  return quotient;
}

}  // namespace decimals

Decimal::Decimal(std::string_view number) {
  std::size_t index = 0;
  if (index < number.size() && number[index] == '-') negative_ = true, ++index;
  bool fraction = false;
  for (; index < number.size() && number[index] != 'e' && number[index] != 'E'; ++index) {
    if (number[index] == '.') {
      fraction = true;
    } else {
      digits_.push_back(number[index]);
      if (fraction) --exponent_;
    }
  }
  if (index < number.size()) {
    ++index;
    const bool minus = index < number.size() && number[index] == '-';
    int power = 0;
    for (; index < number.size(); ++index) {
      if (number[index] >= '0' && number[index] <= '9' && power < 100000) power = power * 10 + (number[index] - '0');
    }
    exponent_ += minus ? -power : power;
  }
  normalize();
}

int Decimal::compare(const Decimal& other) const {
  if (negative_ != other.negative_) return negative_ ? -1 : 1;
  int order = 0;
  if (is_zero() || other.is_zero()) {
    order = static_cast<int>(!is_zero()) - static_cast<int>(!other.is_zero());
  } else if (magnitude() != other.magnitude()) {
    order = magnitude() < other.magnitude() ? -1 : 1;
  } else {
    order = digits_.compare(other.digits_);
  }
  return negative_ ? -order : order;
}

Decimal Decimal::plus(const Decimal& other) const {
  if (is_zero()) return other;
  if (other.is_zero()) return *this;
  const int common = std::min(exponent_, other.exponent_);
  const std::string left = scaled(common);
  const std::string right = other.scaled(common);
  if (negative_ == other.negative_) return Decimal(negative_, decimals::add_digits(left, right), common);
  if (decimals::compare_digits(left, right) >= 0) {
    return Decimal(negative_, decimals::subtract_digits(left, right), common);
  }
  return Decimal(other.negative_, decimals::subtract_digits(right, left), common);
}

Decimal Decimal::times(const Decimal& other) const {
  return Decimal(negative_ != other.negative_, decimals::multiply_digits(digits_, other.digits_),
                 exponent_ + other.exponent_);
}

Decimal Decimal::floor_over(const Decimal& divisor) const {
  const int common = std::min(exponent_, divisor.exponent_);
  std::string remainder;
  std::string quotient = decimals::divide_digits(scaled(common), divisor.scaled(common), remainder);
  if (negative_ && !remainder.empty()) quotient = decimals::add_digits(quotient, "1");
  return Decimal(negative_, quotient, 0);
}

bool Decimal::is_multiple_of(const Decimal& divisor) const {
  if (is_zero()) return true;
  const int common = std::min(exponent_, divisor.exponent_);
  std::string remainder;
  decimals::divide_digits(scaled(common), divisor.scaled(common), remainder);
  return remainder.empty();
}

void Decimal::normalize() {
  decimals::strip_leading_zeros(digits_);
  while (!digits_.empty() && digits_.back() == '0') {
    digits_.pop_back();
    ++exponent_;
  }
  if (digits_.empty()) negative_ = false, exponent_ = 0;
}

std::optional<Json> to_json(const Decimal& decimal) {
  std::string literal = decimal.text();
  if (decimal.is_integer() && decimal.magnitude() <= 20) {
    literal = (decimal.is_negative() ? "-" : "") + (decimal.is_zero() ? "0" : decimal.scaled(0));
  }
  Json number = read_json_if_valid(literal);
  if (!number.is_number()) return std::nullopt;
  return number;
}

std::optional<Decimal> common_multiple(const Decimal& left, const Decimal& right) {
  const int common = std::min(left.exponent(), right.exponent());
  if (left.magnitude() - common > 18 || right.magnitude() - common > 18) return std::nullopt;
  const auto number = [common](const Decimal& decimal) {
    std::uint64_t value = 0;
    for (const char digit : decimal.scaled(common)) value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    return value;
  };
  const std::uint64_t first = number(left);
  const std::uint64_t second = number(right) / std::gcd(first, number(right));
  if (second != 0 && first > std::numeric_limits<std::uint64_t>::max() / second) return std::nullopt;
  return Decimal(false, std::to_string(first * second), common);
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
