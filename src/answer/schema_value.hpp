#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../core/json.hpp"
#include "../core/random.hpp"

// JSON values and formats of texts, as JSON Schema sees them.

namespace mock_gateway {
namespace detail {
namespace schema {

/// What can be said about a value: `unsure` where validators disagree.
enum class Verdict { no, unsure, yes };

/// A JSON number as it is written, since binary floating point answers "is 0.3 a multiple of 0.1" wrongly: digits ×
/// 10^exponent, without zeros at either end of the digits.
struct Decimal {
  explicit Decimal(const Json& number);
  /// Its amount × 10^places, which must leave no fraction. Empty beyond 64 bits.
  std::optional<std::uint64_t> scaled(int places) const;

  bool negative = false;
  std::string digits;
  int exponent = 0;
};

/// Whether `value` is at least `bound`; greater than it, when the bound is exclusive.
Verdict at_least(const Json& value, const Json& bound, bool exclusive);
/// Whether `value` is a multiple of `divisor`. Some validators divide doubles, others decimals: only where both agree
/// is it certain.
Verdict is_multiple(const Json& value, const Json& divisor);
/// Whether a value is a number without a fraction, however it is written.
bool is_integer_value(const Json& value);
/// A text that two values share exactly when they are equal: 1 equals 1.0, and the order of properties does not matter.
std::string canonical(const Json& value);
/// JSON Schema's equality.
Verdict equal(const Json& left, const Json& right);

struct Format {
  std::string_view name;
  std::string_view
      usual;  ///< A text. %w is a word, %d a digit, %n one from 1 on, %s one up to 5, %x a hexadecimal one.
  std::string_view strict;  ///< A pattern of what every reader takes; see strict_pattern().
  std::string_view loose;   ///< A pattern: what it does not match, no reader takes.
};

/// The format of a name; null when it is not supported.
const Format* format_named(std::string_view name);
/// The pattern of texts that every reader takes.
std::string strict_pattern(const Format& format);
std::string usual_text(const Format& format, Random& random);

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
