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
#include "../core/random.hpp"

// Validation against JSON Schema: JSON values, a schema that is read once, and checks of values.

namespace mock_gateway::detail {
namespace schema {

using Parts = std::vector<const Json*>;  ///< Subschemas, or values of a keyword.

inline constexpr int max_places = 15;        ///< The number of decimal digits that a double preserves.
inline constexpr double exact_limit = 1e15;  ///< A double is exact for integers below this limit.

/// The result of a validation; `unsure` if validators disagree.
enum class Validity { no, unsure, yes };

/// Returns the number * 10^places if that is an integer below `exact_limit`.
std::optional<std::int64_t> scaled(const Json& number, int places);
/// Returns a text that is equal for equal values. 1 equals 1.0, and the order of properties does not matter.
std::string canonical(const Json& value);

struct Format {
  std::string_view name;
  std::string_view usual;    ///< A pattern for readable texts.
  std::string_view certain;  ///< A pattern for texts that every validator accepts.
};

/// Returns the format that a schema requires, or null if it requires no format or one without constraints.
const Format* format_of(const Json& schema);

/// Bits of a set of types. "number" means integers and fractions.
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

/// Returns the value of a schema's keyword, or null if it is absent.
const Json* keyword(const Json& schema, std::string_view name);
std::size_t size_of(const Json& schema, std::string_view name, std::size_t otherwise);
/// Returns the subschema for an array item, or null.
const Json* item_of(const Json& schema, std::size_t index);

struct Node {
  std::string path;
  const Json* reference = nullptr;                                   // the target of its $ref
  unsigned types = all_bits;                                         // the types that its own `type` allows
  unsigned hinted_types = 0;                                         // the types that its other keywords apply to
  std::vector<std::pair<std::string_view, const Json*>> properties;  // by name
  std::size_t active = 0;  // the number of values under generation that it applies to
};

/// All checked subschemas that are reachable from the root. The schema and the budget must outlive it.
class Checker {
 public:
  /// Throws Unsupported for unsupported schemas. All functions throw it if the work exceeds the budget.
  Checker(const Json& root, Budget& budget);

  Node& node(const Json& schema) { return nodes_.at(&schema); }
  /// Returns a compiled pattern. `path` is its position, for errors.
  const Pattern& pattern(const std::string& source, const std::string& path = "");

  Validity validity(const Json& schema, const Json& value);
  /// Returns the subschemas that apply together with this one: those of allOf, and the target of $ref.
  Parts all_of(const Json& schema);
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
  Parts found_;  // the subschemas in the order found
  std::map<std::string, Pattern> patterns_;
};

// Instances of a JSON Schema (draft 2020-12, and references to draft-7's `definitions`), for structured outputs and
// tool arguments. Each is generated, then validated, so that a wrong one is never sent. docs/replies-and-matchers.md
// lists the supported keywords, formats and patterns. Annotations and unknown keywords are ignored; unsupported
// constraints are refused with their position. The code is in `schema_instance.cpp`.

// Limits of work in steps, for all schemas of a request: the initial limit, and the limit that progress can reach.
inline constexpr std::size_t request_work_limit = 100000;
inline constexpr std::size_t large_work_limit = 1000000;

/// Returns a JSON instance that certainly satisfies the schema, equal for equal states of `random`. Optional properties
/// are present unless recursive; recursion ends as early as possible. Throws Unsupported.
std::string instance_of(const Json& schema, Random& random, Budget& budget);

}  // namespace schema
}  // namespace mock_gateway::detail
