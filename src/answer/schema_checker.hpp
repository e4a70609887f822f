#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "../core/json.hpp"
#include "schema_pattern.hpp"
#include "schema_value.hpp"

// A schema, read once, and values checked against it.

namespace mock_gateway {
namespace detail {
namespace schema {

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
  Verdict verdict(const Node& node, const Json& value);
  /// Whether it satisfies the keywords about numbers, or about texts.
  Verdict number_verdict(const Node& node, const Json& value);
  Verdict text_verdict(const Node& node, const std::string& value);
  /// Whether a pattern occurs in a text.
  bool matches(const std::string& source, const std::string& text);
  /// What a subschema says about a property.
  std::vector<const Json*> property(const Node& node, const std::string& name);

 private:
  Node& intern(const Json& schema, const std::string& path);
  void read(Node& node, const std::string& name, const Json& value);
  Node& resolve(const std::string& reference, const std::string& path);
  std::size_t height_of(const Node& node);
  Verdict choice_verdict(const Node& node, const Json& value);
  Verdict array_verdict(const Node& node, const Json& value);
  Verdict object_verdict(const Node& node, const Json& value);

  const Json& root_;
  Budget& budget_;
  std::deque<Node> nodes_;
  std::unordered_map<const Json*, Node*> index_;
  std::map<std::string, Pattern> patterns_;
};

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
