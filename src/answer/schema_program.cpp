#include "schema_program.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/json_pointer.hpp"
#include "../core/text.hpp"
#include "schema_value.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

inline constexpr std::size_t max_schema_depth = 200;
inline constexpr std::size_t max_subschemas = 10000;
inline constexpr std::size_t max_chain = 100;  // schemas that apply to one value, one through another

std::vector<std::size_t> Node::beside() const {
  std::vector<std::size_t> found = all_of;
  found.insert(found.end(), any_of.begin(), any_of.end());
  found.insert(found.end(), one_of.begin(), one_of.end());
  if (negated != none) found.push_back(negated);
  if (reference != none) found.push_back(reference);
  return found;
}

std::vector<std::size_t> Node::below() const {
  std::vector<std::size_t> found = prefix;
  for (const auto& [name, node] : properties) found.push_back(node);
  for (const auto& [matcher, node] : pattern_properties) found.push_back(node);
  for (const std::size_t node : {items, contains, additional, property_names}) {
    if (node != none) found.push_back(node);
  }
  return found;
}

Program::Program(const Json& root) : root_(root) {
  intern(root, "", 0, false);
  for (std::size_t index = 0; index < nodes_.size(); ++index) read(index);
  order_by_application();
  find_recursion();
  measure_heights();
}

std::size_t Program::intern(const Json& schema, const std::string& path, std::size_t depth, bool other_base) {
  const auto known = index_.find(&schema);
  if (known != index_.end()) return known->second;
  if (!schema.is_object() && !schema.is_boolean()) {
    throw Unsupported{path, "A schema must be an object or a boolean, not " + quoted(schema) + "."};
  }
  if (depth > max_schema_depth) {
    throw Unsupported{path, "The schema is nested deeper than " + std::to_string(max_schema_depth) + " levels."};
  }
  if (nodes_.size() >= max_subschemas) {
    throw Unsupported{path, "The schema has more than " + std::to_string(max_subschemas) + " subschemas."};
  }
  Node node;
  node.json = &schema;
  node.path = path;
  node.depth = depth;
  node.other_base = other_base;
  nodes_.push_back(std::move(node));
  index_.emplace(&schema, nodes_.size() - 1);
  return nodes_.size() - 1;
}

std::size_t Program::child(const Node& node, const Json& schema, const std::string& suffix) {
  return intern(schema, node.path + suffix, node.depth + 1, node.other_base);
}

std::vector<std::size_t> Program::children(const Node& node, const std::string& key, const Json& list) {
  if (!list.is_array() || list.empty()) {
    throw Unsupported{node.path + "/" + key, "\"" + key + "\" must be an array of at least one schema."};
  }
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < list.size(); ++index) {
    found.push_back(child(node, list[index], "/" + key + "/" + std::to_string(index)));
  }
  return found;
}

std::size_t Program::size_of(const Node& node, const std::string& key, const Json& value) {
  const bool valid = value.is_number() && is_integer_value(value) && value.get<double>() >= 0;
  if (!valid) {
    throw Unsupported{node.path + "/" + key,
                      "\"" + key + "\" must be an integer of at least 0, not " + quoted(value) + "."};
  }
  constexpr double huge = 1e9;  // beyond every limit here
  return value.get<double>() >= huge ? static_cast<std::size_t>(huge) : value.get<std::size_t>();
}

const Json* Program::number_of(const Node& node, const std::string& key, const Json& value) {
  if (!value.is_number()) {
    throw Unsupported{node.path + "/" + key, "\"" + key + "\" must be a number, not " + quoted(value) + "."};
  }
  return &value;
}

std::vector<std::string> Program::strings_of(const std::string& path, const std::string& key, const Json& value) {
  std::vector<std::string> found;
  bool valid = value.is_array();
  for (std::size_t index = 0; valid && index < value.size(); ++index) {
    valid = value[index].is_string();
    if (valid) found.push_back(value[index].get<std::string>());
  }
  if (!valid) throw Unsupported{path, "\"" + key + "\" must be an array of strings, not " + quoted(value) + "."};
  return found;
}

unsigned Program::type_bits(const std::string& path, const Json& name) {
  if (name == "null") return null_bit;
  if (name == "boolean") return boolean_bit;
  if (name == "integer") return integer_bit;
  if (name == "number") return integer_bit | fraction_bit;
  if (name == "string") return string_bit;
  if (name == "array") return array_bit;
  if (name == "object") return object_bit;
  throw Unsupported{path, quoted(name) + " is not a type."};
}

std::size_t Program::pattern_of(const std::string& path, const std::string& source) {
  const auto known = pattern_index_.find(source);
  if (known != pattern_index_.end()) return known->second;
  patterns_.push_back(parse_pattern(source, path));
  pattern_index_.emplace(source, patterns_.size() - 1);
  return patterns_.size() - 1;
}

void Program::read(std::size_t index) {
  Node& node = nodes_[index];  // a deque's elements stay where they are
  if (node.json->is_boolean()) {
    node.never = !node.json->get<bool>();
    return;
  }
  const auto id = node.json->find("$id");
  const bool own_base = index != 0 && id != node.json->end() && id->is_string();
  if (own_base && id->get_ref<const std::string&>().substr(0, 1) != "#") node.other_base = true;
  for (auto item = node.json->begin(); item != node.json->end(); ++item) {
    const std::string& key = item.key();
    if (!read_general(node, key, *item) && !read_number(node, key, *item) && !read_string(node, key, *item) &&
        !read_array(node, key, *item) && !read_object(node, key, *item)) {
      refuse_unsupported(node, key);
    }
  }
}

bool Program::read_general(Node& node, const std::string& key, const Json& value) {
  const std::string path = node.path + json_pointer::token(key);
  if (key == "type") {
    unsigned bits = 0;
    if (value.is_array() && !value.empty()) {
      for (std::size_t index = 0; index < value.size(); ++index) {
        bits |= type_bits(path + "/" + std::to_string(index), value[index]);
      }
    } else if (value.is_string()) {
      bits = type_bits(path, value);
    } else {
      throw Unsupported{path, "\"type\" must be the name of a type or an array of them, not " + quoted(value) + "."};
    }
    node.types = bits;
    node.typed = true;
  } else if (key == "const" || key == "enum") {
    if (!within_depth(value, max_instance_depth)) throw Unsupported{path, "The value is nested too deeply."};
    if (key == "enum" && (!value.is_array() || value.empty())) {
      throw Unsupported{path, "\"enum\" must be an array of at least one value."};
    }
    (key == "const" ? node.constant : node.enumeration) = &value;
  } else if (key == "allOf") {
    node.all_of = children(node, key, value);
  } else if (key == "anyOf") {
    node.any_of = children(node, key, value);
  } else if (key == "oneOf") {
    node.one_of = children(node, key, value);
  } else if (key == "not") {
    node.negated = child(node, value, "/not");
  } else if (key == "$ref") {
    node.reference = resolve(node, path, value);
  } else if (key == "$defs" || key == "definitions") {
    if (!value.is_object()) throw Unsupported{path, "\"" + key + "\" must be an object, not " + quoted(value) + "."};
  } else {
    return false;
  }
  return true;
}

bool Program::read_number(Node& node, const std::string& key, const Json& value) {
  if (key == "minimum") {
    node.minimum = number_of(node, key, value);
  } else if (key == "maximum") {
    node.maximum = number_of(node, key, value);
  } else if (key == "exclusiveMinimum") {
    node.exclusive_minimum = number_of(node, key, value);
  } else if (key == "exclusiveMaximum") {
    node.exclusive_maximum = number_of(node, key, value);
  } else if (key == "multipleOf") {
    node.multiple_of = number_of(node, key, value);
    if (value.get<double>() <= 0) {
      throw Unsupported{node.path + "/multipleOf", "\"multipleOf\" must be greater than 0."};
    }
  } else {
    return false;
  }
  node.hinted |= integer_bit | fraction_bit;
  return true;
}

bool Program::read_string(Node& node, const std::string& key, const Json& value) {
  const std::string path = node.path + json_pointer::token(key);
  if (key == "minLength") {
    node.min_length = size_of(node, key, value);
  } else if (key == "maxLength") {
    node.max_length = size_of(node, key, value);
  } else if (key == "pattern") {
    if (!value.is_string()) throw Unsupported{path, "\"pattern\" must be a string, not " + quoted(value) + "."};
    node.pattern = pattern_of(path, value.get<std::string>());
  } else if (key == "format") {
    if (!value.is_string()) throw Unsupported{path, "\"format\" must be a string, not " + quoted(value) + "."};
    const std::optional<Format> format = format_named(value.get_ref<const std::string&>());
    if (!format) throw Unsupported{path, "The format " + quoted(value) + " is not supported."};
    node.format = *format;
  } else {
    return false;
  }
  node.hinted |= string_bit;
  return true;
}

bool Program::read_array(Node& node, const std::string& key, const Json& value) {
  if (key == "minItems") {
    node.min_items = size_of(node, key, value);
    if (node.min_items > max_items) {
      throw Unsupported{node.path + "/minItems", "At most " + std::to_string(max_items) + " items can be asked for."};
    }
  } else if (key == "maxItems") {
    node.max_items = size_of(node, key, value);
  } else if (key == "uniqueItems") {
    if (!value.is_boolean()) throw Unsupported{node.path + "/uniqueItems", "\"uniqueItems\" must be a boolean."};
    node.unique_items = value.get<bool>();
  } else if (key == "prefixItems") {
    node.prefix = children(node, key, value);
  } else if (key == "items") {
    if (value.is_array()) {
      throw Unsupported{node.path + "/items", "\"items\" as an array is not supported; \"prefixItems\" is."};
    }
    node.items = child(node, value, "/items");
  } else if (key == "contains") {
    node.contains = child(node, value, "/contains");
  } else {
    return false;
  }
  node.hinted |= array_bit;
  return true;
}

bool Program::read_object(Node& node, const std::string& key, const Json& value) {
  const std::string path = node.path + json_pointer::token(key);
  const auto need_object = [&] {
    if (!value.is_object()) throw Unsupported{path, "\"" + key + "\" must be an object, not " + quoted(value) + "."};
  };
  if (key == "properties") {
    need_object();
    for (auto item = value.begin(); item != value.end(); ++item) {
      const bool is_new =
          node.properties.emplace(item.key(), child(node, *item, "/properties" + json_pointer::token(item.key())))
              .second;
      if (is_new) node.names.push_back(item.key());
    }
  } else if (key == "patternProperties") {
    need_object();
    for (auto item = value.begin(); item != value.end(); ++item) {
      const std::string place = path + json_pointer::token(item.key());
      node.pattern_properties.emplace_back(pattern_of(place, item.key()),
                                           child(node, *item, "/patternProperties" + json_pointer::token(item.key())));
    }
  } else if (key == "additionalProperties") {
    node.additional = child(node, value, "/additionalProperties");
  } else if (key == "propertyNames") {
    node.property_names = child(node, value, "/propertyNames");
  } else if (key == "required") {
    node.required = strings_of(path, key, value);
  } else if (key == "dependentRequired") {
    need_object();
    for (auto item = value.begin(); item != value.end(); ++item) {
      node.dependents[item.key()] = strings_of(path + json_pointer::token(item.key()), item.key(), *item);
    }
  } else if (key == "minProperties") {
    node.min_properties = size_of(node, key, value);
  } else if (key == "maxProperties") {
    node.max_properties = size_of(node, key, value);
  } else {
    return false;
  }
  node.hinted |= object_bit;
  return true;
}

void Program::refuse_unsupported(const Node& node, const std::string& key) {
  constexpr std::string_view refused[] = {
      "if",
      "then",
      "else",
      "dependentSchemas",
      "dependencies",
      "unevaluatedProperties",
      "$dynamicRef",
      "minContains",
      "maxContains",
      "additionalItems",
      "contentMediaType",
      "unevaluatedItems",
      "$recursiveRef",
      "divisibleBy",
      "disallow",
      "extends",
      "contentEncoding",
      "contentSchema",
  };
  if (std::find(std::begin(refused), std::end(refused), key) != std::end(refused)) {
    throw Unsupported{node.path + json_pointer::token(key), "The keyword \"" + key + "\" is not supported."};
  }
}

const Json* Program::member_of(const Json& object, const std::string& name) {
  constexpr std::size_t large = 32;
  if (object.size() < large) {
    const auto member = object.find(name);
    return member == object.end() ? nullptr : &*member;
  }
  auto& members = members_[&object];
  if (members.empty()) {
    for (auto item = object.begin(); item != object.end(); ++item) members.emplace(item.key(), &*item);
  }
  const auto member = members.find(name);
  return member == members.end() ? nullptr : member->second;
}

std::size_t Program::resolve(const Node& node, const std::string& path, const Json& value) {
  if (!value.is_string()) throw Unsupported{path, "\"$ref\" must be a string, not " + quoted(value) + "."};
  const auto& reference = value.get_ref<const std::string&>();
  if (reference.empty() || reference[0] != '#' || (reference.size() > 1 && reference[1] != '/')) {
    throw Unsupported{
        path, "Only references by JSON pointer into the same document are supported, not " + quoted(value) + "."};
  }
  if (node.other_base) throw Unsupported{path, "References below a nested \"$id\" are not supported."};
  const auto unresolved = [&](const std::string& why) {
    return Unsupported{path, "The reference " + quoted(value) + " does not resolve: " + why + "."};
  };
  const std::optional<std::string> pointer = text::percent_decode(std::string_view(reference).substr(1));
  if (!pointer) throw unresolved("a percent escape is malformed");
  const Json* target = &root_;
  std::string target_path;
  std::size_t depth = 0;
  bool other_base = false;
  for (std::size_t start = 1; start <= pointer->size();) {
    const std::size_t end = std::min(pointer->find('/', start), pointer->size());
    const std::string_view raw = std::string_view(*pointer).substr(start, end - start);
    start = end + 1;
    const std::optional<std::string> token = json_pointer::name_of(raw);
    if (!token) throw unresolved("'~' must be followed by 0 or 1");
    const Json* const next = target->is_object() ? member_of(*target, *token) : json_pointer::child(*target, *token);
    if (next == nullptr) throw unresolved("there is no " + quoted(Json(*token)));
    target = next;
    target_path += json_pointer::token(*token);
    ++depth;
    if (start <= pointer->size() && target->is_object()) {
      const Json* id = member_of(*target, "$id");
      if (id != nullptr && id->is_string()) other_base = true;
    }
  }
  return intern(*target, target_path, depth, other_base);
}

void Program::order_by_application() {
  std::vector<std::size_t> waiting(nodes_.size(), 0);
  std::vector<std::size_t> chain(nodes_.size(), 0);
  for (const Node& node : nodes_) {
    for (const std::size_t other : node.beside()) ++waiting[other];
  }
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    if (waiting[index] == 0) order_.push_back(index);
  }
  for (std::size_t place = 0; place < order_.size(); ++place) {
    const std::size_t index = order_[place];
    if (chain[index] > max_chain) {
      throw Unsupported{nodes_[index].path,
                        "More than " + std::to_string(max_chain) + " subschemas apply to one value through another."};
    }
    for (const std::size_t other : nodes_[index].beside()) {
      chain[other] = std::max(chain[other], chain[index] + 1);
      if (--waiting[other] == 0) order_.push_back(other);
    }
  }
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const std::size_t target = nodes_[index].reference;
    if (target != none && waiting[index] != 0 && waiting[target] != 0) {
      throw Unsupported{nodes_[index].path + "/$ref", "The reference leads back to itself without reading a value."};
    }
  }
}

std::vector<std::size_t> Program::successors(std::size_t index) const {
  std::vector<std::size_t> all = nodes_[index].beside();
  const std::vector<std::size_t> parts = nodes_[index].below();
  all.insert(all.end(), parts.begin(), parts.end());
  return all;
}

void Program::find_recursion() {
  std::vector<std::vector<std::size_t>> forward(nodes_.size());
  std::vector<std::vector<std::size_t>> backward(nodes_.size());
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    forward[index] = successors(index);
    for (const std::size_t other : forward[index]) {
      backward[other].push_back(index);
      if (other == index) nodes_[index].recursive = true;
    }
  }
  std::vector<std::size_t> finished;
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> open;  // node, its next successor
  for (std::size_t root = 0; root < nodes_.size(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    open.emplace_back(root, 0);
    while (!open.empty()) {
      const std::size_t index = open.back().first;
      if (open.back().second == forward[index].size()) {
        finished.push_back(index);
        open.pop_back();
        continue;
      }
      const std::size_t next = forward[index][open.back().second++];
      if (seen[next]) continue;
      seen[next] = true;
      open.emplace_back(next, 0);
    }
  }
  std::vector<std::size_t> pending;
  for (std::size_t place = finished.size(); place-- > 0;) {
    const std::size_t root = finished[place];
    if (nodes_[root].component != none) continue;
    std::vector<std::size_t> members;
    nodes_[root].component = root;
    pending.push_back(root);
    while (!pending.empty()) {
      const std::size_t index = pending.back();
      pending.pop_back();
      members.push_back(index);
      for (const std::size_t before : backward[index]) {
        if (nodes_[before].component != none) continue;
        nodes_[before].component = root;
        pending.push_back(before);
      }
    }
    for (const std::size_t member : members) {
      if (members.size() > 1) nodes_[member].recursive = true;
    }
  }
}

std::size_t Program::height_of(const Node& node) const {
  if (node.never) return unbounded_height;
  if (node.constant != nullptr || node.enumeration != nullptr) return 0;
  std::size_t height = 0;
  const auto raise = [&height](std::size_t other) { height = std::max(height, other); };
  for (const std::size_t part : node.all_of) raise(nodes_[part].height);
  if (node.reference != none) raise(nodes_[node.reference].height);
  for (const std::vector<std::size_t>* choice : {&node.any_of, &node.one_of}) {
    std::size_t least = choice->empty() ? 0 : unbounded_height;
    for (const std::size_t part : *choice) least = std::min(least, nodes_[part].height);
    raise(least);
  }
  if ((node.types & ~static_cast<unsigned>(array_bit | object_bit)) != 0) return height;
  std::size_t parts = unbounded_height;
  if ((node.types & object_bit) != 0) {
    std::size_t tallest = 0;
    for (const std::string& name : node.required) {
      const auto property = node.properties.find(name);
      if (property != node.properties.end()) tallest = std::max(tallest, nodes_[property->second].height + 1);
    }
    parts = std::min(parts, tallest);
  }
  if ((node.types & array_bit) != 0) {
    std::size_t tallest = 0;
    for (std::size_t index = 0; index < std::min(node.min_items, node.prefix.size()); ++index) {
      tallest = std::max(tallest, nodes_[node.prefix[index]].height + 1);
    }
    if (node.min_items > node.prefix.size() && node.items != none) {
      tallest = std::max(tallest, nodes_[node.items].height + 1);
    }
    parts = std::min(parts, tallest);
  }
  raise(parts);
  return std::min(height, unbounded_height);
}

void Program::measure_heights() {
  for (std::size_t pass = 0; pass <= max_instance_depth + 1; ++pass) {
    bool changed = false;
    for (std::size_t place = order_.size(); place-- > 0;) {
      Node& node = nodes_[order_[place]];
      const std::size_t height = height_of(node);
      if (height != node.height) node.height = height, changed = true;
    }
    if (!changed) break;
  }
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
