#include "schema_checker.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>

#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

Verdict Checker::verdict(std::size_t index, const Json& value) {
  const Frame frame(budget_);
  budget_.spend(1);
  const Node& node = program_.node(index);
  if (node.never) return Verdict::no;
  if ((type_of(value) & node.types) == 0) return Verdict::no;
  Verdict all = value_verdict(node, value);
  if (all != Verdict::no && node.reference != none) all = std::min(all, verdict(node.reference, value));
  for (const std::size_t part : node.all_of) {
    if (all == Verdict::no) return all;
    all = std::min(all, verdict(part, value));
  }
  if (all != Verdict::no && !node.any_of.empty()) all = std::min(all, any_verdict(node, value));
  if (all != Verdict::no && !node.one_of.empty()) all = std::min(all, one_verdict(node, value));
  if (all != Verdict::no && node.negated != none) all = std::min(all, negation(verdict(node.negated, value)));
  if (all == Verdict::no) return all;
  if (value.is_number()) all = std::min(all, number_verdict(node, value));
  if (value.is_string()) all = std::min(all, string_verdict(node, value.get_ref<const std::string&>()));
  if (value.is_array()) all = std::min(all, array_verdict(node, value));
  if (value.is_object()) all = std::min(all, object_verdict(node, value));
  return all;
}

Verdict Checker::number_verdict(const Node& node, const Json& value) {
  Verdict all = Verdict::yes;
  const Span span = Span::of(value);
  const auto bound = [&](const Json* limit, bool upper, bool exclusive) {
    if (limit == nullptr || all == Verdict::no) return;
    const Span edge = Span::of(*limit);
    all = std::min(all, upper ? at_least(edge, span, exclusive) : at_least(span, edge, exclusive));
  };
  bound(node.minimum, false, false);
  bound(node.exclusive_minimum, false, true);
  bound(node.maximum, true, false);
  bound(node.exclusive_maximum, true, true);
  if (node.multiple_of != nullptr) all = std::min(all, is_multiple(value, *node.multiple_of));
  return all;
}

Verdict Checker::string_verdict(const Node& node, const std::string& value) {
  if (node.min_length > 0 || node.max_length != none) {
    budget_.spend(value.size() / 8);
    const std::size_t length = text::code_points(value);
    if (length < node.min_length || length > node.max_length) return Verdict::no;
  }
  if (node.pattern != none && !matches(node.pattern, value)) return Verdict::no;
  return format_verdict(node.format, value);
}

unsigned Checker::type_of(const Json& value) {
  if (value.is_null()) return null_bit;
  if (value.is_boolean()) return boolean_bit;
  if (value.is_number()) return is_integer_value(value) ? integer_bit : fraction_bit;
  if (value.is_string()) return string_bit;
  return value.is_array() ? array_bit : object_bit;
}

Verdict Checker::value_verdict(const Node& node, const Json& value) {
  Verdict all = Verdict::yes;
  if (node.constant != nullptr) all = equal(*node.constant, value);
  if (node.enumeration != nullptr && all != Verdict::no) {
    Verdict any = Verdict::no;
    budget_.spend(node.enumeration->size() / 8);
    for (const Json& candidate : *node.enumeration) {
      any = std::max(any, equal(candidate, value));
      if (any == Verdict::yes) break;
    }
    all = std::min(all, any);
  }
  return all;
}

Verdict Checker::any_verdict(const Node& node, const Json& value) {
  Verdict any = Verdict::no;
  for (const std::size_t part : node.any_of) {
    any = std::max(any, verdict(part, value));
    if (any == Verdict::yes) break;
  }
  return any;
}

Verdict Checker::one_verdict(const Node& node, const Json& value) {
  std::size_t certain = 0;
  std::size_t possible = 0;
  for (const std::size_t part : node.one_of) {
    const Verdict one = verdict(part, value);
    if (one == Verdict::yes) ++certain;
    if (one != Verdict::no) ++possible;
    if (certain > 1) return Verdict::no;
  }
  if (possible == 0) return Verdict::no;
  return certain == 1 && possible == 1 ? Verdict::yes : Verdict::unsure;
}

Verdict Checker::array_verdict(const Node& node, const Json& value) {
  if (value.size() < node.min_items || value.size() > node.max_items) return Verdict::no;
  Verdict all = Verdict::yes;
  for (std::size_t index = 0; index < value.size() && all != Verdict::no; ++index) {
    const std::size_t part = index < node.prefix.size() ? node.prefix[index] : node.items;
    if (part != none) all = std::min(all, verdict(part, value[index]));
  }
  if (all != Verdict::no && node.contains != none) {
    Verdict any = Verdict::no;
    for (std::size_t index = 0; index < value.size() && any != Verdict::yes; ++index) {
      any = std::max(any, verdict(node.contains, value[index]));
    }
    all = std::min(all, any);
  }
  if (all != Verdict::no && node.unique_items) {
    std::unordered_set<std::string> seen;
    for (const Json& item : value) {
      budget_.spend(4);
      if (!seen.insert(canonical(item)).second) return Verdict::no;
    }
  }
  return all;
}

Verdict Checker::object_verdict(const Node& node, const Json& value) {
  if (value.size() < node.min_properties || value.size() > node.max_properties) return Verdict::no;
  for (const std::string& name : node.required) {
    budget_.spend(value.size() / 16);
    if (!value.contains(name)) return Verdict::no;
  }
  for (const auto& [name, others] : node.dependents) {
    if (!value.contains(name)) continue;
    for (const std::string& other : others) {
      if (!value.contains(other)) return Verdict::no;
    }
  }
  Verdict all = Verdict::yes;
  for (auto item = value.begin(); item != value.end() && all != Verdict::no; ++item) {
    bool known = false;
    const auto property = node.properties.find(item.key());
    if (property != node.properties.end()) {
      known = true;
      all = std::min(all, verdict(property->second, *item));
    }
    for (const auto& [matcher, part] : node.pattern_properties) {
      if (all == Verdict::no || !matches(matcher, item.key())) continue;
      known = true;
      all = std::min(all, verdict(part, *item));
    }
    if (!known && node.additional != none) all = std::min(all, verdict(node.additional, *item));
    if (node.property_names != none) all = std::min(all, verdict(node.property_names, Json(item.key())));
  }
  return all;
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
