#pragma once

#include <cstddef>
#include <string>

#include "../core/json.hpp"
#include "schema_decimal.hpp"

// JSON values as JSON Schema sees them: what their numbers stand for, and when two are equal.

namespace mock_gateway {
namespace detail {
namespace schema {

/// How many levels the values in a schema, and the instances made for it, may have.
inline constexpr std::size_t max_instance_depth = 64;

/// What can be said about a value: `unsure` where validators disagree.
enum class Verdict { no, unsure, yes };

/// What can be said about the opposite.
Verdict negation(Verdict verdict);

/// What a JSON number may stand for. A double beyond 2^53 has lost digits that the text it was read from may have had,
/// and that other readers keep.
struct Span {
  Decimal low;
  Decimal high;
  bool exact = true;

  static Span of(const Json& number);
};

/// Whether `value` is at least `bound`; greater than it, when the bound is exclusive.
Verdict at_least(const Span& value, const Span& bound, bool exclusive);

/// Whether `value` is a multiple of `divisor`. Some validators divide doubles, others decimals: only where both agree
/// is it certain.
Verdict is_multiple(const Json& value, const Json& divisor);

/// Whether a value is a number without a fraction, however it is written.
bool is_integer_value(const Json& value);

/// Whether arrays and objects are nested in at most `limit` levels.
bool within_depth(const Json& value, std::size_t limit);

/// JSON Schema's equality: 1 equals 1.0, and the order of properties does not matter.
Verdict equal(const Json& left, const Json& right);

/// A text that two values share exactly when they are equal.
std::string canonical(const Json& value);

/// A value as a reason quotes it.
std::string quoted(const Json& value);

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
