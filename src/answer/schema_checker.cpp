#include "schema_checker.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json_pointer.hpp"
#include "../core/text.hpp"
#include "words.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

// ---- Values

namespace values {

/// Whether a number may have been written with digits that its double has lost, and that other readers keep: integers
/// beyond 64 bits are read as doubles.
bool is_lossy(const Json& value) {
  if (value.is_structured()) return std::any_of(value.begin(), value.end(), is_lossy);
  return value.is_number_float() && std::fabs(value.get<double>()) >= 9223372036854775808.0;
}

/// Less than, equal to or greater than zero, as `left` is to `right`.
int compare(const Decimal& left, const Decimal& right) {
  if (left.negative != right.negative) return left.negative ? -1 : 1;
  const auto magnitude = [](const Decimal& number) {
    return number.digits.empty() ? -1000 : static_cast<int>(number.digits.size()) + number.exponent;
  };
  int order = magnitude(left) - magnitude(right);
  if (order == 0) order = left.digits.compare(right.digits);
  return left.negative ? -order : order;
}

// Parts of the strict patterns below. They leave out what readers disagree on: leap days and seconds, more digits of a
// second than nine, names with "--", and names near the greatest length.
std::string_view part(char letter) {
  switch (letter) {
    case 'D':  // a date
      return "(?!0000)\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|"
             "02-(?:0[1-9]|1\\d|2[0-8]))";
    case 'T':  // a time
      return "(?:[01]\\d|2[0-3])(?::[0-5]\\d){2}(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
    case 'H':  // a name of a host
      return "(?![A-Za-z0-9.-]{250})(?:(?![^.]{64})[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\\.)*"
             "(?![A-Za-z0-9-]{64})[A-Za-z](?:-?[A-Za-z0-9])*";
    case 'O': return "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";        // of an IPv4 address
    case 'X': return "[0-9A-Fa-f]{1,4}";                               // of an IPv6 address
    case 'U': return "[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}";  // of a path
    default: return "\\d{1,9}";
  }
}

inline constexpr Format formats[] = {
    {"date-time", "20%d%d-0%n-1%dT0%d:%s%d:%s%dZ", "^%DT%T$", "^\\d.{6}\\d"},
    {"date", "20%d%d-0%n-1%d", "^%D$", "^\\d[\\d+W-]{6,}$"},
    {"time", "0%d:%s%d:%s%dZ", "^%T$", "^\\d.*:"},
    {"duration", "P%nDT%nH",
     "^P(?!$)(?:%9W|(?:%9Y(?:%9M(?:%9D)?)?|%9M(?:%9D)?|%9D)?(?:T(?:%9H(?:%9M(?:%9S)?)?|%9M(?:%9S)?|%9S))?)$",
     "^.?[Pp]"},
    {"email", "%w.%w@example.com", "^(?![^@]{65})(?!.{250})[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@(?=.*\\.)%H$", "@"},
    {"hostname", "%w.example.com", "^%H$", "^[^ @:/]+$"},
    {"ipv4", "10.%n%d.%d.1%d", "^(?:%O\\.){3}%O$", "^[0-9.xXa-fA-F]+$"},
    {"ipv6", "2001:db8::%n%x%x",
     "^(?:%X(?::%X){7}|(?!:*[0-9A-Fa-f]+(?::+[0-9A-Fa-f]+){7})(?:%X(?::%X)*)?::(?:%X(?::%X)*)?)$", ":"},
    {"uuid", "%x%x%x%x%x%x%x%x-%x%x%x%x-4%x%x%x-8%x%x%x-%x%x%x%x%x%x%x%x%x%x%x%x",
     "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$", "^.{32}"},
    {"uuid4", "%x%x%x%x%x%x%x%x-%x%x%x%x-4%x%x%x-8%x%x%x-%x%x%x%x%x%x%x%x%x%x%x%x",
     "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", "^.{32}"},
    {"uri", "https://example.com/%w",
     "^[A-Za-z][A-Za-z0-9+.-]*:(?!$)(?://(?:%H|(?:%O\\.){3}%O)(?::\\d{1,4})?(?=[/?#]|$)|(?!//))(?:%U)*"
     "(?:\\?(?:%U|\\?)*)?(?:#(?:%U|\\?)*)?$",
     ":"},
};

}  // namespace values

Decimal::Decimal(const Json& number) {
  const std::string written = number.dump();
  const std::size_t power = std::min(written.find('e'), written.size());
  bool fraction = false;
  for (const char character : std::string_view(written).substr(0, power)) {
    negative = negative || character == '-';
    fraction = fraction || character == '.';
    if (character < '0' || character > '9') continue;
    if (character != '0' || !digits.empty()) digits += character;
    exponent -= fraction ? 1 : 0;
  }
  if (power < written.size()) exponent += std::stoi(written.substr(power + 1));
  for (; !digits.empty() && digits.back() == '0'; ++exponent) digits.pop_back();
  if (digits.empty()) negative = false, exponent = 0;
}

std::optional<std::uint64_t> Decimal::scaled(int places) const {
  const std::string written = digits + std::string(static_cast<std::size_t>(std::min(exponent + places, 20)), '0');
  std::uint64_t amount = 0;
  for (const char character : written) {
    const auto digit = static_cast<std::uint64_t>(character - '0');
    if (amount > (static_cast<std::uint64_t>(-1) - digit) / 10) return std::nullopt;
    amount = amount * 10 + digit;
  }
  return amount;
}

Validity at_least(const Json& value, const Json& bound, bool exclusive) {
  const bool lossy = values::is_lossy(value) || values::is_lossy(bound);
  const double edge = bound.get<double>();
  if (lossy && std::nextafter(value.get<double>(), edge) == edge) return Validity::unsure;
  const int order = values::compare(Decimal(value), Decimal(bound));
  return (exclusive ? order > 0 : order >= 0) ? Validity::yes : Validity::no;
}

Validity is_multiple(const Json& value, const Json& divisor) {
  const Decimal number(value);
  const Decimal unit(divisor);
  if (number.digits.empty()) return Validity::yes;
  const int places = -std::min(number.exponent, unit.exponent);
  const std::uint64_t step = unit.scaled(places).value_or(0);
  constexpr std::uint64_t longest = 1000000000000000000;  // ten times as much fits into 64 bits
  if (step == 0 || step > longest || values::is_lossy(value) || values::is_lossy(divisor)) return Validity::unsure;
  std::uint64_t rest = 0;
  for (const char digit : number.digits + std::string(static_cast<std::size_t>(number.exponent + places), '0')) {
    rest = (rest * 10 + static_cast<std::uint64_t>(digit - '0')) % step;
  }
  const double quotient = value.get<double>() / divisor.get<double>();
  const bool binary = std::isfinite(quotient) && std::floor(quotient) == quotient;
  const bool only_integers = value.is_number_integer() && divisor.is_number_integer();
  if (!only_integers && binary != (rest == 0)) return Validity::unsure;
  return rest == 0 ? Validity::yes : Validity::no;
}

bool is_integer_value(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>());
}

std::string canonical(const Json& value) {
  if (value.is_number()) {
    const Decimal number(value);
    return (number.negative ? "-" : "") + number.digits + "e" + std::to_string(number.exponent);
  }
  if (!value.is_structured()) return value.dump();
  std::map<std::string, std::string> parts;
  std::string out(1, value.is_array() ? '[' : '{');
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (value.is_array())
      out += canonical(*item) + ",";
    else
      parts[Json(item.key()).dump()] = canonical(*item);
  }
  for (const auto& [name, part] : parts) out += name + part + ",";
  return out + "]";
}

Validity equal(const Json& left, const Json& right) {
  const bool alike = left.type() == right.type() || (left.is_number() && right.is_number());
  if (alike && (values::is_lossy(left) || values::is_lossy(right))) return Validity::unsure;
  return alike && canonical(left) == canonical(right) ? Validity::yes : Validity::no;
}

const Format* format_named(std::string_view name) {
  const auto format = std::find_if(std::begin(values::formats), std::end(values::formats),
                                   [name](const Format& known) { return known.name == name; });
  return format == std::end(values::formats) ? nullptr : format;
}

std::string strict_pattern(const Format& format) {
  std::string pattern;
  for (std::size_t index = 0; index < format.strict.size(); ++index) {
    if (format.strict[index] == '%')
      pattern += values::part(format.strict[++index]);
    else
      pattern += format.strict[index];
  }
  return pattern;
}

std::string usual_text(const Format& format, std::size_t least, Random& random) {
  std::string made;
  for (std::size_t index = 0; index < format.usual.size(); ++index) {
    const char kind = format.usual[index] == '%' ? format.usual[++index] : '\0';
    const std::size_t first = kind == 'n' ? 1 : 0;
    if (kind == 'w') {
      do made += words::word(random);
      while (made.size() + format.usual.size() - index <= least);
    } else if (kind != '\0') {
      made += text::hex_digits[first + random.below(kind == 'x' ? 16 : kind == 's' ? 6 : 10 - first)];
    } else {
      made += format.usual[index];
    }
  }
  return made;
}

// ---- Reading

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

/// Formats that zod gives beside a pattern that says all.
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
  for (std::size_t index = 0; index < nodes_.size(); ++index) {  // nodes_ grows meanwhile; its elements stay in place
    const Json& schema = *nodes_[index].json;
    if (!schema.is_object()) continue;
    for (auto item = schema.begin(); item != schema.end(); ++item) read(nodes_[index], item.key(), *item);
  }
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
  budget_.spend(20 + path.size() / 8);
  if (!schema.is_object() && !schema.is_boolean()) {
    throw Unsupported{path, "A schema must be an object or a boolean, not " + checkers::quoted(schema) + "."};
  }
  Node& node = nodes_.emplace_back();
  known->second = &node;
  node.json = &schema;
  node.path = path;
  if (schema == false) node.types = 0;
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

Validity Checker::validity(const Node& node, const Json& value) {
  const Budget::Frame frame(budget_);
  budget_.spend(5);
  if ((checkers::type_of(value) & node.types) == 0) return Validity::no;
  Validity all = choice_validity(node, value);
  const auto add = [&all](Validity one) { all = std::min(all, one); };
  for (const Node* part : node.all_of) {
    if (all != Validity::no) add(validity(*part, value));
  }
  if (all != Validity::no && node.negated != nullptr) {
    const Validity other = validity(*node.negated, value);
    add(other == Validity::yes ? Validity::no : other == Validity::no ? Validity::yes : other);
  }
  if (all == Validity::no || node.json->empty()) return all;
  if (const Json* const constant = node["const"]) add(equal(*constant, value));
  if (const Json* const candidates = node["enum"]) {
    Validity any = Validity::no;
    for (std::size_t index = 0; any != Validity::yes && index < candidates->size(); ++index) {
      budget_.spend(1 + (*candidates)[index].size());
      any = std::max(any, equal((*candidates)[index], value));
    }
    add(any);
  }
  if (value.is_number()) add(number_validity(node, value));
  if (value.is_string()) add(text_validity(node, value.get_ref<const std::string&>()));
  if (value.is_array()) add(array_validity(node, value));
  if (value.is_object()) add(object_validity(node, value));
  return all;
}

Validity Checker::choice_validity(const Node& node, const Json& value) {
  Validity any = node.any_of.empty() ? Validity::yes : Validity::no;
  for (const Node* part : node.any_of) {
    if (any != Validity::yes) any = std::max(any, validity(*part, value));
  }
  if (any == Validity::no || node.one_of.empty()) return any;
  std::size_t certain = 0;
  std::size_t possible = 0;
  for (const Node* part : node.one_of) {
    const Validity one = validity(*part, value);
    certain += one == Validity::yes ? 1 : 0;
    possible += one == Validity::no ? 0 : 1;
  }
  if (certain > 1 || possible == 0) return Validity::no;
  return certain == possible ? any : Validity::unsure;
}

Validity Checker::number_validity(const Node& node, const Json& value) {
  Validity all = Validity::yes;
  if (const Json* const bound = node["minimum"]) all = std::min(all, at_least(value, *bound, false));
  if (const Json* const bound = node["exclusiveMinimum"]) all = std::min(all, at_least(value, *bound, true));
  if (const Json* const bound = node["maximum"]) all = std::min(all, at_least(*bound, value, false));
  if (const Json* const bound = node["exclusiveMaximum"]) all = std::min(all, at_least(*bound, value, true));
  if (const Json* const divisor = node["multipleOf"]) all = std::min(all, is_multiple(value, *divisor));
  return all;
}

Validity Checker::text_validity(const Node& node, const std::string& value) {
  budget_.spend(1 + value.size() / 8);
  if (!checkers::is_size_within(text::code_points(value), node, "minLength", "maxLength")) return Validity::no;
  if (node["pattern"] != nullptr && !matches(*node["pattern"], value)) return Validity::no;
  if (node.format == nullptr || matches(strict_pattern(*node.format), value)) return Validity::yes;
  return matches(std::string(node.format->loose), value) ? Validity::unsure : Validity::no;
}

bool Checker::matches(const std::string& source, const std::string& text) {
  return occurs(pattern(source), text, budget_);
}

Validity Checker::array_validity(const Node& node, const Json& value) {
  if (!checkers::is_size_within(value.size(), node, "minItems", "maxItems")) return Validity::no;
  Validity all = Validity::yes;
  const Json* const wanted = node["contains"];
  Validity contained = wanted == nullptr ? Validity::yes : Validity::no;
  const bool unique = node["uniqueItems"] != nullptr && node["uniqueItems"]->get<bool>();
  std::set<std::string> seen;
  for (std::size_t index = 0; index < value.size() && all != Validity::no; ++index) {
    if (const Json* const part = node.item(index)) all = std::min(all, validity(at(*part), value[index]));
    if (contained != Validity::yes) contained = std::max(contained, validity(at(*wanted), value[index]));
    if (unique && !seen.insert(canonical(value[index])).second) return Validity::no;
    budget_.spend(unique ? 10 : 1);
  }
  return std::min(all, contained);
}

Validity Checker::object_validity(const Node& node, const Json& value) {
  if (!checkers::is_size_within(value.size(), node, "minProperties", "maxProperties")) return Validity::no;
  const auto lacks = [&](const Json& name) { return !value.contains(name.get_ref<const std::string&>()); };
  const auto lacks_any = [&](const Json* names) {
    budget_.spend(names == nullptr ? 0 : names->size() * (1 + value.size() / 8));
    return names != nullptr && std::any_of(names->begin(), names->end(), lacks);
  };
  if (lacks_any(node["required"])) return Validity::no;
  Validity all = Validity::yes;
  for (auto item = value.begin(); item != value.end() && all != Validity::no; ++item) {
    for (const Json* part : property(node, item.key())) all = std::min(all, validity(at(*part), *item));
    if (const Json* const names = node["propertyNames"]) all = std::min(all, validity(at(*names), Json(item.key())));
    const Json* const dependents = node["dependentRequired"];
    if (dependents != nullptr && lacks_any(json_pointer::child(*dependents, item.key()))) return Validity::no;
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
