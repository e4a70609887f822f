#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../core/json.hpp"
#include "schema_budget.hpp"
#include "schema_format.hpp"
#include "schema_pattern.hpp"

// A schema, read once: checked, its references resolved, and its recursion measured.

namespace mock_gateway {
namespace detail {
namespace schema {

/// The most items that an array is given or can be asked to have.
inline constexpr std::size_t max_items = 10000;
/// The height of what has no finite instance.
inline constexpr std::size_t unbounded_height = 1000000;

/// The types of values, as a set.
enum TypeBit : unsigned {
  null_bit = 1,
  boolean_bit = 2,
  integer_bit = 4,
  fraction_bit = 8,  // numbers that need not be integers; "number" is both
  string_bit = 16,
  array_bit = 32,
  object_bit = 64,
  all_bits = 127
};

/// One subschema. Other subschemas and patterns are numbers that Program::node() and Program::pattern() take; what
/// points to Json points into the schema.
struct Node {
  const Json* json = nullptr;
  std::string path;
  std::size_t depth = 0;
  bool other_base = false;  // inside a subschema with an $id of its own

  bool never = false;
  unsigned types = all_bits;
  bool typed = false;
  unsigned hinted = 0;  // the types that the other keywords are about
  const Json* constant = nullptr;
  const Json* enumeration = nullptr;

  const Json* minimum = nullptr;
  const Json* maximum = nullptr;
  const Json* exclusive_minimum = nullptr;
  const Json* exclusive_maximum = nullptr;
  const Json* multiple_of = nullptr;

  std::size_t min_length = 0;
  std::size_t max_length = none;
  std::size_t pattern = none;
  Format format = Format::any;

  std::size_t min_items = 0;
  std::size_t max_items = none;
  bool unique_items = false;
  std::vector<std::size_t> prefix;
  std::size_t items = none;
  std::size_t contains = none;

  std::size_t min_properties = 0;
  std::size_t max_properties = none;
  std::vector<std::string> names;  // of `properties`, in their order
  std::map<std::string, std::size_t, std::less<>> properties;
  std::vector<std::pair<std::size_t, std::size_t>> pattern_properties;  // pattern, node
  std::size_t additional = none;
  std::size_t property_names = none;
  std::vector<std::string> required;
  std::map<std::string, std::vector<std::string>> dependents;

  std::vector<std::size_t> all_of;
  std::vector<std::size_t> any_of;
  std::vector<std::size_t> one_of;
  std::size_t negated = none;
  std::size_t reference = none;

  bool recursive = false;
  std::size_t component = none;           // subschemas that reach each other share one
  std::size_t height = unbounded_height;  // at least so many levels has every instance

  /// What applies to the same value as this one.
  std::vector<std::size_t> beside() const;

  /// What applies to a part of the value.
  std::vector<std::size_t> below() const;
};

/// All subschemas that can be reached from the root, checked. The schema must outlive it.
class Program {
 public:
  /// Throws Unsupported. The subschema 0 is the root.
  explicit Program(const Json& root);

  const Node& node(std::size_t index) const { return nodes_[index]; }
  const Pattern& pattern(std::size_t index) const { return patterns_[index]; }

 private:
  std::size_t intern(const Json& schema, const std::string& path, std::size_t depth, bool other_base);
  std::size_t child(const Node& node, const Json& schema, const std::string& suffix);
  std::vector<std::size_t> children(const Node& node, const std::string& key, const Json& list);
  static std::size_t size_of(const Node& node, const std::string& key, const Json& value);
  static const Json* number_of(const Node& node, const std::string& key, const Json& value);
  static std::vector<std::string> strings_of(const std::string& path, const std::string& key, const Json& value);
  static unsigned type_bits(const std::string& path, const Json& name);
  std::size_t pattern_of(const std::string& path, const std::string& source);
  void read(std::size_t index);
  /// These read a keyword when it is of their kind, and say whether it is.
  bool read_general(Node& node, const std::string& key, const Json& value);
  bool read_number(Node& node, const std::string& key, const Json& value);
  bool read_string(Node& node, const std::string& key, const Json& value);
  bool read_array(Node& node, const std::string& key, const Json& value);
  bool read_object(Node& node, const std::string& key, const Json& value);
  static void refuse_unsupported(const Node& node, const std::string& key);

  /// An object finds its members one by one; many references into a large one need better.
  const Json* member_of(const Json& object, const std::string& name);
  std::size_t resolve(const Node& node, const std::string& path, const Json& value);

  /// Orders the nodes so that what applies to the same value comes after what applies it, and refuses circles.
  void order_by_application();
  std::vector<std::size_t> successors(std::size_t index) const;

  /// Kosaraju's algorithm, without recursion.
  void find_recursion();
  std::size_t height_of(const Node& node) const;

  /// Heights only sink from "endless": what keeps it has no finite instance. Each pass settles one more level.
  void measure_heights();

  const Json& root_;
  std::deque<Node> nodes_;
  std::unordered_map<const Json*, std::size_t> index_;
  std::unordered_map<const Json*, std::unordered_map<std::string, const Json*>> members_;
  std::deque<Pattern> patterns_;
  std::unordered_map<std::string, std::size_t> pattern_index_;
  std::vector<std::size_t> order_;
};

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
