#include "schema_checker.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json_pointer.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

namespace checkers {

/// What a keyword's value must be.
enum class Shape { any, values, number, size, boolean, string, strings, strings_map, schema, schemas, map, refused };

struct Keywords {
  Shape shape;
  const char* expected;
  std::string_view names;
};

inline constexpr Keywords keywords[] = {
    {Shape::values, "an array of at least one value", " enum "},
    {Shape::number, "a number", " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf "},
    {Shape::size, "an integer of at least 0", " minLength maxLength minItems maxItems minProperties maxProperties "},
    {Shape::boolean, "a boolean", " uniqueItems "},
    {Shape::string, "a string", " pattern format $ref "},
    {Shape::strings, "an array of strings", " required "},
    {Shape::strings_map, "an object of arrays of strings", " dependentRequired "},
    {Shape::schema, "a schema", " items contains additionalProperties propertyNames not "},
    {Shape::schemas, "an array of at least one schema", " allOf anyOf oneOf prefixItems "},
    {Shape::map, "an object", " properties patternProperties "},
    {Shape::refused, "",
     " if then else dependentSchemas dependencies unevaluatedProperties unevaluatedItems minContains maxContains"
     " $dynamicRef $recursiveRef additionalItems contentMediaType contentEncoding contentSchema divisibleBy disallow"
     " extends "},
};

struct Type {
  unsigned bits;
  std::string_view name;
  std::string_view hints;  // the keywords about it
};

inline constexpr Type types[] = {
    {null_bit, "null", ""},
    {boolean_bit, "boolean", ""},
    {integer_bit | fraction_bit, "number", keywords[1].names},
    {integer_bit, "integer", ""},
    {string_bit, "string", " minLength maxLength pattern format "},
    {array_bit, "array", " minItems maxItems uniqueItems items prefixItems contains "},
    {object_bit, "object",
     " minProperties maxProperties properties patternProperties additionalProperties propertyNames required"
     " dependentRequired "},
};

/// Formats that zod gives beside the pattern that says all, and those that any text has.
inline constexpr std::string_view annotations =
    " cuid cuid2 ulid xid ksuid nanoid e164 base64 base64url cidrv4 cidrv6 starts_with ends_with includes lowercase"
    " uppercase ";

bool lists(std::string_view names, const std::string& name) {
  return name.find(' ') == std::string::npos && names.find(" " + name + " ") != std::string_view::npos;
}

bool are_strings(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_string(); });
}

bool fits(Shape shape, const Json& value) {
  switch (shape) {
    case Shape::values:
    case Shape::schemas: return value.is_array() && !value.empty();
    case Shape::number: return value.is_number();
    case Shape::size: return is_integer_value(value) && value.get<double>() >= 0;
    case Shape::boolean: return value.is_boolean();
    case Shape::string: return value.is_string();
    case Shape::strings: return are_strings(value);
    case Shape::strings_map: return value.is_object() && std::all_of(value.begin(), value.end(), are_strings);
    case Shape::schema: return value.is_object() || value.is_boolean();
    case Shape::map: return value.is_object();
    default: return true;
  }
}

std::string quoted(const Json& value) { return text::excerpt(value.dump(), 60); }

unsigned type_bits(const Json& names, const std::string& path) {
  unsigned bits = 0;
  for (const Json& name : names.is_array() ? names : Json::array({names})) {
    const auto type =
        std::find_if(std::begin(types), std::end(types), [&](const Type& one) { return name == one.name; });
    if (type == std::end(types)) throw Unsupported{path, quoted(name) + " is not a type."};
    bits |= type->bits;
  }
  return bits;
}

unsigned type_of(const Json& value) {
  if (value.is_number()) return is_integer_value(value) ? integer_bit : fraction_bit;
  if (value.is_structured()) return value.is_array() ? array_bit : object_bit;
  return value.is_string() ? string_bit : value.is_boolean() ? boolean_bit : null_bit;
}

bool is_size_within(std::size_t size, const Node& node, const char* least, const char* most) {
  return size >= node.size(least, 0) && size <= node.size(most, none);
}

}  // namespace checkers

// ---- Reading

const Json* Node::operator[](const char* keyword) const {
  const auto member = json->find(keyword);
  return member == json->end() ? nullptr : &*member;
}

std::size_t Node::size(const char* keyword, std::size_t otherwise) const {
  constexpr double huge = 1e9;  // beyond every limit here
  const Json* const value = (*this)[keyword];
  return value == nullptr ? otherwise : static_cast<std::size_t>(std::min(value->get<double>(), huge));
}

const Json* Node::item(std::size_t index) const {
  const Json* const prefix = (*this)["prefixItems"];
  return prefix != nullptr && index < prefix->size() ? &(*prefix)[index] : (*this)["items"];
}

Checker::Checker(const Json& root, Budget& budget) : root_(root), budget_(budget) {
  intern(root, "");
  for (bool changed = true; changed;) {  // heights only sink from "endless": what keeps it has no finite instance
    changed = false;
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      const std::size_t height = std::min(height_of(*node), unbounded_height);
      changed = changed || (height != node->height && height <= max_instance_depth);
      node->height = height;
    }
  }
}

const Pattern& Checker::pattern(const std::string& source, const std::string& path) {
  const auto known = patterns_.find(source);
  if (known != patterns_.end()) return known->second;
  return patterns_.emplace(source, parse_pattern(source, path, budget_, true)).first->second;
}

Node& Checker::intern(const Json& schema, const std::string& path) {
  const auto [known, is_new] = index_.try_emplace(&schema, nullptr);
  if (!is_new) return *known->second;
  const Budget::Frame frame(budget_);
  budget_.spend(20 + path.size() / 8);
  if (!schema.is_object() && !schema.is_boolean()) {
    throw Unsupported{path, "A schema must be an object or a boolean, not " + checkers::quoted(schema) + "."};
  }
  Node& node = nodes_.emplace_back();  // a deque's elements stay where they are
  known->second = &node;
  node.json = &schema;
  node.path = path;
  if (schema == false) node.types = 0;
  for (auto item = schema.begin(); schema.is_object() && item != schema.end(); ++item) read(node, item.key(), *item);
  return node;
}

void Checker::read(Node& node, const std::string& name, const Json& value) {
  using checkers::Shape;
  budget_.spend(5);
  const std::string path = node.path + json_pointer::token(name);
  const auto refuse = [&path](const std::string& reason) { throw Unsupported{path, reason}; };
  if (name == "$id" && value.is_string() && &node != &root()) refuse("An \"$id\" below the root is not supported.");
  for (const checkers::Type& type : checkers::types) node.hinted |= checkers::lists(type.hints, name) ? type.bits : 0;
  if (name == "type") node.types = checkers::type_bits(value, path);
  const auto row = std::find_if(std::begin(checkers::keywords), std::end(checkers::keywords),
                                [&](const checkers::Keywords& some) { return checkers::lists(some.names, name); });
  if (row == std::end(checkers::keywords)) return;
  if (row->shape == Shape::refused) refuse("The keyword \"" + name + "\" is not supported.");
  if (!checkers::fits(row->shape, value)) {
    refuse("\"" + name + "\" must be " + row->expected + ", not " + checkers::quoted(value) + ".");
  }
  if (name == "multipleOf" && value.get<double>() <= 0) refuse("\"multipleOf\" must be greater than 0.");
  if (name == "$ref") node.all_of.push_back(&resolve(value.get<std::string>(), path));
  if (name == "pattern") pattern(value.get<std::string>(), path);
  if (name == "format") {
    const std::string format = value.get<std::string>();
    node.format = format_named(format);
    const bool known = node.format != nullptr || format == "password" ||
                       (node["pattern"] != nullptr && checkers::lists(checkers::annotations, format));
    if (!known) refuse("The format " + checkers::quoted(value) + " is not supported.");
  }
  if (row->shape == Shape::schema) intern(value, path);
  if (name == "not") node.negated = &at(value);
  for (auto item = value.begin(); row->shape == Shape::map && item != value.end(); ++item) {
    const std::string place = path + json_pointer::token(item.key());
    if (name == "patternProperties") pattern(item.key(), place);
    intern(*item, place);
  }
  for (std::size_t index = 0; row->shape == Shape::schemas && index < value.size(); ++index) {
    Node* const part = &intern(value[index], path + "/" + std::to_string(index));
    if (name == "allOf") node.all_of.push_back(part);
    if (name == "anyOf") node.any_of.push_back(part);
    if (name == "oneOf") node.one_of.push_back(part);
  }
}

Node& Checker::resolve(const std::string& reference, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Unsupported{path, "The reference " + checkers::quoted(reference) + " is not supported: " + why + "."};
  };
  const std::string pointer = text::percent_decode(reference).value_or("");
  if (reference.substr(0, 1) != "#" || (pointer != "#" && pointer.substr(0, 2) != "#/")) {
    refuse("only JSON pointers into the same document are");
  }
  const Json* target = &root_;
  std::string target_path;
  for (std::size_t start = 2; start <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', start), pointer.size());
    const std::optional<std::string> name = json_pointer::name_of(std::string_view(pointer).substr(start, end - start));
    start = end + 1;
    budget_.spend(1 + target->size() / 8);
    target = name ? json_pointer::child(*target, *name) : nullptr;
    if (target == nullptr) refuse("it leads nowhere");
    target_path += json_pointer::token(*name);
    const Json* const id = json_pointer::child(*target, "$id");
    if (id != nullptr && id->is_string()) refuse("there is an \"$id\" on the way");
  }
  return intern(*target, target_path);
}

/// How many levels an instance has at least, as far as the heights of the parts are known.
std::size_t Checker::height_of(const Node& node) {
  budget_.spend(5);
  if (node.types == 0) return unbounded_height;
  if (node["const"] != nullptr || node["enum"] != nullptr) return 0;
  std::size_t height = 0;
  for (const Node* part : node.all_of) height = std::max(height, part->height);
  for (const auto* choice : {&node.any_of, &node.one_of}) {
    std::size_t least = choice->empty() ? 0 : unbounded_height;
    for (const Node* part : *choice) least = std::min(least, part->height);
    height = std::max(height, least);
  }
  const Json* const properties = node["properties"];
  if (node.types == object_bit && node["required"] != nullptr && properties != nullptr) {
    for (const Json& name : *node["required"]) {
      budget_.spend(1 + properties->size() / 8);
      const Json* const property = json_pointer::child(*properties, name.get_ref<const std::string&>());
      if (property != nullptr) height = std::max(height, at(*property).height + 1);
    }
  }
  const bool filled = node.types == array_bit && node.size("minItems", 0) > 0 && node.item(0) != nullptr;
  return filled ? std::max(height, at(*node.item(0)).height + 1) : height;
}

// ---- Checking

Verdict Checker::verdict(const Node& node, const Json& value) {
  const Budget::Frame frame(budget_);
  budget_.spend(5);
  if ((checkers::type_of(value) & node.types) == 0) return Verdict::no;
  Verdict all = choice_verdict(node, value);
  const auto add = [&all](Verdict one) { all = std::min(all, one); };
  for (const Node* part : node.all_of) {
    if (all != Verdict::no) add(verdict(*part, value));
  }
  if (all != Verdict::no && node.negated != nullptr) {
    const Verdict other = verdict(*node.negated, value);
    add(other == Verdict::yes ? Verdict::no : other == Verdict::no ? Verdict::yes : other);
  }
  if (all == Verdict::no || node.json->empty()) return all;
  if (const Json* const constant = node["const"]) add(equal(*constant, value));
  if (const Json* const candidates = node["enum"]) {
    Verdict any = Verdict::no;
    for (std::size_t index = 0; any != Verdict::yes && index < candidates->size(); ++index) {
      budget_.spend(1 + (*candidates)[index].size());
      any = std::max(any, equal((*candidates)[index], value));
    }
    add(any);
  }
  if (value.is_number()) add(number_verdict(node, value));
  if (value.is_string()) add(text_verdict(node, value.get_ref<const std::string&>()));
  if (value.is_array()) add(array_verdict(node, value));
  if (value.is_object()) add(object_verdict(node, value));
  return all;
}

Verdict Checker::choice_verdict(const Node& node, const Json& value) {
  Verdict any = node.any_of.empty() ? Verdict::yes : Verdict::no;
  for (const Node* part : node.any_of) {
    if (any != Verdict::yes) any = std::max(any, verdict(*part, value));
  }
  if (any == Verdict::no || node.one_of.empty()) return any;
  std::size_t certain = 0;
  std::size_t possible = 0;
  for (const Node* part : node.one_of) {
    const Verdict one = verdict(*part, value);
    certain += one == Verdict::yes ? 1 : 0;
    possible += one == Verdict::no ? 0 : 1;
  }
  if (certain > 1 || possible == 0) return Verdict::no;
  return certain == possible ? any : Verdict::unsure;
}

Verdict Checker::number_verdict(const Node& node, const Json& value) {
  Verdict all = Verdict::yes;
  if (const Json* const bound = node["minimum"]) all = std::min(all, at_least(value, *bound, false));
  if (const Json* const bound = node["exclusiveMinimum"]) all = std::min(all, at_least(value, *bound, true));
  if (const Json* const bound = node["maximum"]) all = std::min(all, at_least(*bound, value, false));
  if (const Json* const bound = node["exclusiveMaximum"]) all = std::min(all, at_least(*bound, value, true));
  if (const Json* const divisor = node["multipleOf"]) all = std::min(all, is_multiple(value, *divisor));
  return all;
}

Verdict Checker::text_verdict(const Node& node, const std::string& value) {
  budget_.spend(1 + value.size() / 8);
  if (!checkers::is_size_within(text::code_points(value), node, "minLength", "maxLength")) return Verdict::no;
  if (node["pattern"] != nullptr && !matches(*node["pattern"], value)) return Verdict::no;
  if (node.format == nullptr || matches(strict_pattern(*node.format), value)) return Verdict::yes;
  return matches(std::string(node.format->loose), value) ? Verdict::unsure : Verdict::no;
}

bool Checker::matches(const std::string& source, const std::string& text) {
  return PatternRun(pattern(source), budget_).search(text);
}

Verdict Checker::array_verdict(const Node& node, const Json& value) {
  if (!checkers::is_size_within(value.size(), node, "minItems", "maxItems")) return Verdict::no;
  Verdict all = Verdict::yes;
  const Json* const wanted = node["contains"];
  Verdict contained = wanted == nullptr ? Verdict::yes : Verdict::no;
  const bool unique = node["uniqueItems"] != nullptr && node["uniqueItems"]->get<bool>();
  std::set<std::string> seen;
  for (std::size_t index = 0; index < value.size() && all != Verdict::no; ++index) {
    if (const Json* const part = node.item(index)) all = std::min(all, verdict(at(*part), value[index]));
    if (contained != Verdict::yes) contained = std::max(contained, verdict(at(*wanted), value[index]));
    if (unique && !seen.insert(canonical(value[index])).second) return Verdict::no;
    budget_.spend(unique ? 10 : 1);
  }
  return std::min(all, contained);
}

Verdict Checker::object_verdict(const Node& node, const Json& value) {
  if (!checkers::is_size_within(value.size(), node, "minProperties", "maxProperties")) return Verdict::no;
  const auto lacks = [&](const Json& name) { return !value.contains(name.get_ref<const std::string&>()); };
  const auto lacks_any = [&](const Json* names) {
    budget_.spend(names == nullptr ? 0 : names->size() * (1 + value.size() / 8));
    return names != nullptr && std::any_of(names->begin(), names->end(), lacks);
  };
  if (lacks_any(node["required"])) return Verdict::no;
  Verdict all = Verdict::yes;
  for (auto item = value.begin(); item != value.end() && all != Verdict::no; ++item) {
    for (const Json* part : property(node, item.key())) all = std::min(all, verdict(at(*part), *item));
    if (const Json* const names = node["propertyNames"]) all = std::min(all, verdict(at(*names), Json(item.key())));
    const Json* const dependents = node["dependentRequired"];
    if (dependents != nullptr && lacks_any(json_pointer::child(*dependents, item.key()))) return Verdict::no;
  }
  return all;
}

std::vector<const Json*> Checker::property(const Node& node, const std::string& name) {
  std::vector<const Json*> found;
  if (const Json* const properties = node["properties"]) {
    budget_.spend(1 + properties->size() / 8);
    if (const Json* const declared = json_pointer::child(*properties, name)) found.push_back(declared);
  }
  if (const Json* const patterns = node["patternProperties"]) {
    for (auto item = patterns->begin(); item != patterns->end(); ++item) {
      if (matches(item.key(), name)) found.push_back(&*item);
    }
  }
  if (found.empty() && node["additionalProperties"] != nullptr) found.push_back(node["additionalProperties"]);
  return found;
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
