#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/json.hpp"
#include "../core/pattern.hpp"

// JSON values as JSON Schema sees them; a schema, read once; and values checked against it.

namespace mock_gateway::detail {
namespace schema {

using Parts = std::vector<const Json*>;  ///< Subschemas, or values of a keyword.

inline constexpr int max_places = 15;        ///< So many digits does a double hold as they are written,
inline constexpr double exact_limit = 1e15;  ///< and thus each integer up to here.

/// What can be said about a value: `unsure` where validators disagree.
enum class Validity { no, unsure, yes };

/// A number × 10^places, when that is an integer below `exact_limit`.
std::optional<std::int64_t> scaled(const Json& number, int places);
/// A text that two values share exactly when they are equal: 1 equals 1.0, and the order of properties does not matter.
std::string canonical(const Json& value);

struct Format {
  std::string_view name;
  std::string_view usual;    ///< A pattern of texts that are pleasant to read.
  std::string_view certain;  ///< A pattern of texts that every reader takes.
};

/// The format that a schema asks for; null when none is, or one that constrains nothing.
const Format* format_of(const Json& schema);

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

/// The value of a schema's keyword; null when it is absent.
const Json* keyword(const Json& schema, std::string_view name);
/// The size that a keyword states, or what holds without it.
std::size_t size_of(const Json& schema, std::string_view name, std::size_t otherwise);
/// What a schema says about an array's item; null when nothing.
const Json* item_of(const Json& schema, std::size_t index);

/// What is known of a subschema.
struct Node {
  std::string path;
  const Json* reference = nullptr;                                   // what its $ref leads to
  unsigned types = all_bits;                                         // that its own `type` allows
  unsigned hinted_types = 0;                                         // that its other keywords are about
  std::vector<std::pair<std::string_view, const Json*>> properties;  // by name
  std::size_t active = 0;  // how many values that it applies to are being made
};

/// All subschemas that can be reached from the root, checked. The schema and the budget must outlive it.
class Checker {
 public:
  /// Throws Unsupported, as all functions do when the work becomes too much.
  Checker(const Json& root, Budget& budget);

  /// What is known of a subschema, which is part of the schema.
  Node& node(const Json& schema) { return nodes_.at(&schema); }
  /// A pattern; `path` is where it stands.
  const Pattern& pattern(const std::string& source, const std::string& path = "");

  /// Whether a value satisfies a subschema.
  Validity validity(const Json& schema, const Json& value);
  /// The subschemas that apply wherever this one does: those of allOf, and the one that it refers to.
  Parts all_of(const Json& schema);
  /// What subschemas say about a property.
  Parts property(const Parts& schemas, const std::string& name);

 private:
  void intern(const Json& schema, const std::string& path);
  void read(const Json& schema, const std::string& name, const Json& value);
  const Json& resolve(const std::string& reference, const std::string& path);
  Validity choice_validity(const Json& alternatives, const Json& value, bool exactly_one);
  Validity text_validity(const Json& schema, const std::string& value);
  Validity array_validity(const Json& schema, const Json& value);
  Validity object_validity(const Json& schema, const Json& value);

  const Json& root_;
  Budget& budget_;
  std::map<const Json*, Node> nodes_;
  Parts found_;  // the subschemas, as they were found
  std::map<std::string, Pattern> patterns_;
};

}  // namespace schema
}  // namespace mock_gateway::detail
