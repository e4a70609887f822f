#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../core/json.hpp"
#include "../core/random.hpp"
#include "schema_pattern.hpp"

// JSON values as JSON Schema sees them; a schema, read once; and values checked against it.

namespace mock_gateway {
namespace detail {
namespace schema {

/// What can be said about a value: `unsure` where validators disagree.
enum class Validity { no, unsure, yes };

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
Validity at_least(const Json& value, const Json& bound, bool exclusive);
/// Whether `value` is a multiple of `divisor`. Some validators divide doubles, others decimals: only where both agree
/// is it certain.
Validity is_multiple(const Json& value, const Json& divisor);
/// Whether a value is a number without a fraction, however it is written.
bool is_integer_value(const Json& value);
/// A text that two values share exactly when they are equal: 1 equals 1.0, and the order of properties does not matter.
std::string canonical(const Json& value);
/// JSON Schema's equality.
Validity equal(const Json& left, const Json& right);

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
/// A text, of `least` characters where words can fill it up.
std::string usual_text(const Format& format, std::size_t least, Random& random);

/// The types of values, as a set. "number" is integers and fractions.
enum TypeBit : unsigned {
  null_bit = 1,
  boolean_bit = 2,
  integer_bit = 4,
  fraction_bit = 8,
  string_bit = 16,
  array_bit = 32,
  object_bit = 64,
  all_bits = 127
};

inline constexpr std::size_t max_instance_depth = 64;     ///< Levels of the values in a schema, and of instances.
inline constexpr std::size_t unbounded_height = 1000000;  ///< Of what has no finite instance.

/// One subschema.
struct Node {
  /// The value of a keyword; null when it is absent.
  const Json* operator[](const char* keyword) const;
  /// A size, or what holds without the keyword.
  std::size_t size(const char* keyword, std::size_t otherwise) const;
  /// What it says about an array's item; null when nothing.
  const Json* item(std::size_t index) const;

  const Json* json = nullptr;
  std::string path;
  unsigned types = all_bits;
  unsigned hinted = 0;  // the types that the keywords are about
  const Format* format = nullptr;
  std::vector<Node*> all_of;  // the reference too
  std::vector<Node*> any_of;
  std::vector<Node*> one_of;
  Node* negated = nullptr;
  std::size_t height = unbounded_height;  // at least so many levels has every instance
  std::size_t active = 0;                 // how many values that it applies to are being made
};

/// All subschemas that can be reached from the root, checked. The schema and the budget must outlive it.
class Checker {
 public:
  /// Throws Unsupported, as all functions do when the work becomes too much.
  Checker(const Json& root, Budget& budget);

  Node& root() { return nodes_.front(); }
  /// The node of a subschema, which is part of the schema.
  Node& at(const Json& schema) { return *index_.at(&schema); }
  /// A pattern; `path` is where it stands.
  const Pattern& pattern(const std::string& source, const std::string& path = "");

  /// Whether a value satisfies a subschema.
  Validity validity(const Node& node, const Json& value);
  /// Whether it satisfies the keywords about numbers, or about texts.
  Validity number_validity(const Node& node, const Json& value);
  Validity text_validity(const Node& node, const std::string& value);
  /// Whether a pattern occurs in a text.
  bool matches(const std::string& source, const std::string& text);
  /// What a subschema says about a property.
  std::vector<const Json*> property(const Node& node, const std::string& name);

 private:
  Node& intern(const Json& schema, const std::string& path);
  void read(Node& node, const std::string& name, const Json& value);
  Node& resolve(const std::string& reference, const std::string& path);
  std::size_t height_of(const Node& node);
  Validity choice_validity(const Node& node, const Json& value);
  Validity array_validity(const Node& node, const Json& value);
  Validity object_validity(const Node& node, const Json& value);

  const Json& root_;
  Budget& budget_;
  std::deque<Node> nodes_;
  std::unordered_map<const Json*, Node*> index_;
  std::map<std::string, Pattern> patterns_;
};

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
