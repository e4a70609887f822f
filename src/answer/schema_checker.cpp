// Tables of keywords, types and string formats; `$ref`; validation of values; errors for unsupported schemas.

#include "schema_checker.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "../core/json_pointer.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace schema {

inline constexpr std::size_t subschema_worth = 50;  // steps earned by each subschema that is read

namespace checkers {

/// Whether a value is a number without a fraction, in any notation.
bool is_integer_value(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>());
}

/// Whether a double may have lost digits that other parsers keep: integers beyond 64 bits are read as doubles.
bool is_lossy(const Json& value) {
  if (value.is_structured()) return std::any_of(value.begin(), value.end(), is_lossy);
  return value.is_number_float() && std::fabs(value.get<double>()) >= 9223372036854775808.0;
}

// The second pattern of each row omits unusual values and those that validators disagree on, such as leap days.
inline constexpr Format formats[] = {
    {"date-time", "20\\d\\d-0[1-9]-1\\dT0\\d:[0-5]\\d:[0-5]\\dZ",
     "^(?!0000)\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?"
     "(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$"},
    {"date", "20\\d\\d-0[1-9]-1\\d", "^(?!0000)\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])$"},
    {"time", "0\\d:[0-5]\\d:[0-5]\\dZ",
     "^(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$"},
    {"duration", "P[1-9]DT[1-9]H", "^P(?:\\d{1,9}[DW]|(?:\\d{1,9}D)?T\\d{1,9}H(?:\\d{1,9}M(?:\\d{1,9}S)?)?)$"},
    {"email", "(?:anna|ben|carol|david|emma)\\.(?:brown|garcia|lee|miller)\\d{0,2}@example\\.com",
     "^[A-Za-z0-9]{1,20}(?:[._+-][A-Za-z0-9]{1,20}){0,2}@(?:[A-Za-z][A-Za-z0-9]{0,20}\\.){1,3}[a-z]{2,9}$"},
    {"hostname", "(?:api|cdn|files|mail|shop)\\d{0,2}\\.example\\.com",
     "^(?:[A-Za-z][A-Za-z0-9]{0,20}(?:-[A-Za-z0-9]{1,20})?\\.){0,4}[A-Za-z]{2,20}$"},
    {"ipv4", "10\\.[1-9]\\d\\.\\d\\.1\\d{1,2}",
     "^(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)$"},
    {"ipv6", "2001:db8::[1-9a-f][0-9a-f]{2}",
     "^(?:(?:[0-9A-Fa-f]{1,4}:){7}|(?:[0-9A-Fa-f]{1,4}:){1,5}:)[0-9A-Fa-f]{1,4}$"},
    {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}",
     "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"},
    {"uuid4", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}",
     "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"},
    {"uri", "https://example\\.com/(?:articles|files|pages|users)/\\d{1,4}",
     "^(?:https?|ftp|wss?)://(?:[A-Za-z][A-Za-z0-9]{0,20}(?:-[A-Za-z0-9]{1,20})?\\.){0,4}[A-Za-z]{2,20}(?::\\d{1,4})?"
     "(?:/[A-Za-z0-9._~-]*)*(?:\\?[A-Za-z0-9._~&=-]*)?(?:#[A-Za-z0-9._~-]*)?$"},
};

/// Compares two values as defined by JSON Schema.
Validity equal(const Json& left, const Json& right) {
  if (left.is_string() && right.is_string()) return left == right ? Validity::yes : Validity::no;
  const bool alike = left.type() == right.type() || (left.is_number() && right.is_number());
  if (alike && (is_lossy(left) || is_lossy(right))) return Validity::unsure;
  return alike && canonical(left) == canonical(right) ? Validity::yes : Validity::no;
}

Validity at_least(const Json& value, const Json& bound, bool exclusive) {
  const double number = value.get<double>();  // doubles lose digits, but not the order
  const double edge = bound.get<double>();
  if (number != edge) return number > edge ? Validity::yes : Validity::no;
  if (std::fabs(number) >= exact_limit && value.dump() != bound.dump()) return Validity::unsure;
  return exclusive ? Validity::no : Validity::yes;
}

/// Whether `value` is a multiple of `divisor`; certain only if division of doubles and of decimals agree.
Validity is_multiple(const Json& value, const Json& divisor) {
  for (int places = 0; places <= max_places; ++places) {
    const std::optional<std::int64_t> amount = scaled(value, places);
    const std::optional<std::int64_t> unit = scaled(divisor, places);
    if (!amount || !unit) continue;
    const double quotient = value.get<double>() / divisor.get<double>();
    const bool divides = *amount % *unit == 0;
    if (divides != (std::floor(quotient) == quotient)) return Validity::unsure;
    return divides ? Validity::yes : Validity::no;
  }
  return Validity::unsure;
}

Validity number_validity(const Json& schema, const Json& value) {
  Validity all = Validity::yes;
  const auto add = [&all](Validity one) { all = std::min(all, one); };
  if (const Json* const bound = keyword(schema, "minimum")) add(at_least(value, *bound, false));
  if (const Json* const bound = keyword(schema, "exclusiveMinimum")) add(at_least(value, *bound, true));
  if (const Json* const bound = keyword(schema, "maximum")) add(at_least(*bound, value, false));
  if (const Json* const bound = keyword(schema, "exclusiveMaximum")) add(at_least(*bound, value, true));
  if (const Json* const divisor = keyword(schema, "multipleOf")) add(is_multiple(value, *divisor));
  return all;
}

/// The required form of a keyword's value.
enum class Shape { any, values, number, size, boolean, string, strings, schema, schemas, map, refused };

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
    {Shape::schema, "", " items additionalProperties propertyNames not "},
    {Shape::schemas, "an array of at least one schema", " allOf anyOf oneOf prefixItems "},
    {Shape::map, "an object", " properties patternProperties "},
    {Shape::refused, "",
     " if then else dependentRequired dependentSchemas dependencies unevaluatedProperties unevaluatedItems contains"
     " minContains maxContains $dynamicRef $recursiveRef additionalItems contentMediaType contentEncoding contentSchema"
     " divisibleBy disallow extends "},
};

struct Type {
  unsigned bits;
  std::string_view name;
  std::string_view hints;  // the keywords about this type
};

inline constexpr Type types[] = {
    {null_bit, "null", ""},
    {boolean_bit, "boolean", ""},
    {integer_bit | fraction_bit, "number", keywords[1].names},
    {integer_bit, "integer", ""},
    {string_bit, "string", " minLength maxLength pattern format "},
    {array_bit, "array", " minItems maxItems uniqueItems items prefixItems "},
    {object_bit, "object",
     " minProperties maxProperties properties patternProperties additionalProperties propertyNames required "},
};

/// Formats that zod writes next to a pattern. The pattern is checked, so the format need not be.
inline constexpr std::string_view annotations =
    " cuid cuid2 ulid xid ksuid nanoid e164 base64 base64url cidrv4 cidrv6 starts_with ends_with includes lowercase"
    " uppercase ";

bool lists(std::string_view names, const std::string& name) {
  return name.find(' ') == std::string::npos && names.find(" " + name + " ") != std::string_view::npos;
}

bool fits(Shape shape, const Json& value) {
  switch (shape) {
    case Shape::values:
    case Shape::schemas: return value.is_array() && !value.empty();
    case Shape::number: return value.is_number();
    case Shape::size: return is_integer_value(value) && value.get<double>() >= 0;
    case Shape::boolean: return value.is_boolean();
    case Shape::string: return value.is_string();
    case Shape::strings:
      return value.is_array() && std::all_of(value.begin(), value.end(), [](auto& item) { return item.is_string(); });
    case Shape::map: return value.is_object();
    default: return true;
  }
}

unsigned types_hinted_by(const std::string& name) {
  unsigned hinted = 0;
  for (const Type& type : types) {
    if (lists(type.hints, name)) hinted |= type.bits;
  }
  return hinted;
}

std::string quoted(const Json& value) { return text::excerpt(value.dump(), 60); }

unsigned bits_of(const Json& name) {
  const auto type =
      std::find_if(std::begin(types), std::end(types), [&](const Type& one) { return name == Json(one.name); });
  return type == std::end(types) ? 0 : type->bits;
}

unsigned types_of(const Json& schema) {
  const Json* const type = keyword(schema, "type");
  if (type == nullptr) return schema == false ? 0u : 0u + all_bits;
  if (!type->is_array()) return bits_of(*type);
  return std::accumulate(type->begin(), type->end(), 0u,
                         [](unsigned bits, const Json& name) { return bits | bits_of(name); });
}

std::vector<std::string_view> sorted_names(const Json& object) {
  std::vector<std::string_view> names;
  names.reserve(object.size());
  for (auto item = object.begin(); item != object.end(); ++item) names.emplace_back(item.key());
  std::sort(names.begin(), names.end());
  return names;
}

unsigned type_of(const Json& value) {
  if (value.is_number()) return is_integer_value(value) ? integer_bit : fraction_bit;
  if (value.is_structured()) return value.is_array() ? array_bit : object_bit;
  return value.is_string() ? string_bit : value.is_boolean() ? boolean_bit : null_bit;
}

bool is_size_within(std::size_t size, const Json& schema, std::string_view least, std::string_view most) {
  return size >= size_of(schema, least, 0) && size <= size_of(schema, most, none);
}

}  // namespace checkers

std::optional<std::int64_t> scaled(const Json& number, int places) {
  const double scale = std::pow(10.0, places);
  const double amount = std::round(number.get<double>() * scale);
  if (!(std::fabs(amount) < exact_limit) || amount / scale != number.get<double>()) return std::nullopt;
  return static_cast<std::int64_t>(amount);
}

std::string canonical(const Json& value) {
  if (value.is_number_float() && checkers::is_integer_value(value) && !checkers::is_lossy(value)) {
    return std::to_string(static_cast<std::int64_t>(value.get<double>()));
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

const Format* format_of(const Json& schema) {
  const Json* const name = keyword(schema, "format");
  const auto format =
      std::find_if(std::begin(checkers::formats), std::end(checkers::formats),
                   [name](const Format& known) { return name != nullptr && *name == Json(known.name); });
  return format == std::end(checkers::formats) ? nullptr : format;
}

const Json* keyword(const Json& schema, std::string_view name) { return json_pointer::child(schema, name); }

std::size_t size_of(const Json& schema, std::string_view name, std::size_t otherwise) {
  constexpr double huge = 1e9;  // greater than every limit here
  const Json* const value = keyword(schema, name);
  return value == nullptr ? otherwise : static_cast<std::size_t>(std::min(value->get<double>(), huge));
}

const Json* item_of(const Json& schema, std::size_t index) {
  const Json* const prefix = keyword(schema, "prefixItems");
  return prefix != nullptr && index < prefix->size() ? &(*prefix)[index] : keyword(schema, "items");
}

Checker::Checker(const Json& root, Budget& budget) : root_(root), budget_(budget) {
  intern(root, "");
  for (std::size_t index = 0; index < found_.size(); ++index) {  // read() appends to found_
    const Json& schema = *found_[index];
    for (auto item = schema.begin(); schema.is_object() && item != schema.end(); ++item) {
      read(schema, item.key(), *item);
    }
  }
}

const Pattern& Checker::pattern(const std::string& source, const std::string& path) {
  const auto known = patterns_.find(source);
  if (known != patterns_.end()) return known->second;
  return patterns_.emplace(source, parse_pattern(source, path, budget_, true)).first->second;
}

void Checker::intern(const Json& schema, const std::string& path) {
  const auto [known, is_new] = nodes_.try_emplace(&schema);
  if (!is_new) return;
  budget_.spend(20 + path.size() / 8);
  if (!schema.is_object() && !schema.is_boolean()) {
    throw Unsupported{path, "A schema must be an object or a boolean, not " + checkers::quoted(schema) + "."};
  }
  budget_.earn(subschema_worth);
  known->second.path = path;
  known->second.types = checkers::types_of(schema);
  found_.push_back(&schema);
}

void Checker::read(const Json& schema, const std::string& name, const Json& value) {
  using checkers::Shape;
  budget_.spend(5);
  Node& known = node(schema);
  const std::string path = known.path + json_pointer::token(name);
  const auto refuse = [&path](const std::string& reason) { throw Unsupported{path, reason}; };
  if (name == "$id" && value.is_string() && &schema != &root_) refuse("An \"$id\" below the root is not supported.");
  for (const Json& type : name != "type" ? Json::array() : value.is_array() ? value : Json::array({value})) {
    if (checkers::bits_of(type) == 0) refuse(checkers::quoted(type) + " is not a type.");
  }
  if (name == "type" && value.size() > std::size(checkers::types)) refuse("A type is listed twice.");
  const auto row = std::find_if(std::begin(checkers::keywords), std::end(checkers::keywords),
                                [&](const checkers::Keywords& some) { return checkers::lists(some.names, name); });
  if (row == std::end(checkers::keywords)) return;
  known.hinted_types |= checkers::types_hinted_by(name);
  if (row->shape == Shape::refused) refuse("The keyword \"" + name + "\" is not supported.");
  if (!checkers::fits(row->shape, value)) {
    refuse("\"" + name + "\" must be " + row->expected + ", not " + checkers::quoted(value) + ".");
  }
  if (name == "multipleOf" && value.get<double>() <= 0) refuse("\"multipleOf\" must be greater than 0.");
  if (name == "$ref") known.reference = &resolve(value.get<std::string>(), path);
  if (name == "pattern") pattern(value.get<std::string>(), path);
  if (name == "format") {
    const bool is_annotation =
        value == "password" ||
        (keyword(schema, "pattern") != nullptr && checkers::lists(checkers::annotations, value.get<std::string>()));
    if (!is_annotation && format_of(schema) == nullptr) {
      refuse("The format " + checkers::quoted(value) + " is not supported.");
    }
  }
  if (row->shape == Shape::schema) intern(value, path);
  for (auto item = value.begin(); row->shape == Shape::map && item != value.end(); ++item) {
    const std::string place = path + json_pointer::token(item.key());
    if (name == "patternProperties") pattern(item.key(), place);
    intern(*item, place);
    if (name == "properties") known.properties.emplace_back(item.key(), &*item);
  }
  if (name == "properties") std::sort(known.properties.begin(), known.properties.end());
  for (std::size_t index = 0; row->shape == Shape::schemas && index < value.size(); ++index) {
    intern(value[index], path + "/" + std::to_string(index));
  }
}

const Json& Checker::resolve(const std::string& reference, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Unsupported{path, "The reference " + checkers::quoted(reference) + " is not supported: " + why + "."};
  };
  const std::string pointer = text::percent_decode(reference).value_or("");
  if (reference.substr(0, 1) != "#" || (pointer != "#" && pointer.substr(0, 2) != "#/")) {
    refuse("only JSON pointers into the same document are");
  }
  const Json* target = &root_;
  for (std::size_t start = 2; start <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', start), pointer.size());
    const std::optional<std::string> name = json_pointer::name_of(std::string_view(pointer).substr(start, end - start));
    start = end + 1;
    budget_.spend(1 + target->size() / 8);
    target = name ? json_pointer::child(*target, *name) : nullptr;
    if (target == nullptr) refuse("it leads nowhere");
    const Json* const id = json_pointer::child(*target, "$id");
    if (id != nullptr && id->is_string()) refuse("there is an \"$id\" on the way");
  }
  intern(*target, pointer.substr(1));
  return *target;
}

Parts Checker::all_of(const Json& schema) {
  Parts parts;
  if (const Json* const reference = node(schema).reference) parts.push_back(reference);
  if (const Json* const listed = keyword(schema, "allOf")) {
    for (const Json& part : *listed) parts.push_back(&part);
  }
  return parts;
}

// ---- Validation

Validity Checker::validity(const Json& schema, const Json& value) {
  const Budget::Frame frame(budget_);
  budget_.spend(5 + schema.size() / 8);
  if ((checkers::type_of(value) & node(schema).types) == 0) return Validity::no;
  if (!schema.is_object() || schema.empty()) return Validity::yes;
  Validity all = Validity::yes;
  const auto add = [&all](Validity one) { all = std::min(all, one); };
  if (const Json* const choice = keyword(schema, "anyOf")) add(choice_validity(*choice, value, false));
  if (const Json* const choice = keyword(schema, "oneOf")) add(choice_validity(*choice, value, true));
  for (const Json* part : all_of(schema)) {
    if (all != Validity::no) add(validity(*part, value));
  }
  const Json* const negated = keyword(schema, "not");
  if (all != Validity::no && negated != nullptr) {
    const Validity other = validity(*negated, value);
    add(other == Validity::yes ? Validity::no : other == Validity::no ? Validity::yes : other);
  }
  if (all == Validity::no) return all;
  if (const Json* const constant = keyword(schema, "const")) add(checkers::equal(*constant, value));
  if (const Json* const candidates = keyword(schema, "enum")) {
    Validity any = Validity::no;
    for (std::size_t index = 0; any != Validity::yes && index < candidates->size(); ++index) {
      budget_.spend(1 + (*candidates)[index].size());
      any = std::max(any, checkers::equal((*candidates)[index], value));
    }
    add(any);
  }
  if (value.is_number()) add(checkers::number_validity(schema, value));
  if (value.is_string()) add(text_validity(schema, value.get_ref<const std::string&>()));
  if (value.is_array()) add(array_validity(schema, value));
  if (value.is_object()) add(object_validity(schema, value));
  return all;
}

Validity Checker::choice_validity(const Json& alternatives, const Json& value, bool exactly_one) {
  std::size_t certain = 0;
  std::size_t possible = 0;
  for (const Json& alternative : alternatives) {
    const Validity one = validity(alternative, value);
    certain += one == Validity::yes ? 1 : 0;
    possible += one == Validity::no ? 0 : 1;
    if (certain > 0 && !exactly_one) return Validity::yes;
  }
  if (possible == 0 || certain > 1) return Validity::no;
  return certain == possible ? Validity::yes : Validity::unsure;
}

Validity Checker::text_validity(const Json& schema, const std::string& value) {
  budget_.spend(1 + value.size() / 8);
  if (!checkers::is_size_within(text::code_points(value), schema, "minLength", "maxLength")) return Validity::no;
  const Json* const wanted = keyword(schema, "pattern");
  if (wanted != nullptr && !occurs(pattern(wanted->get_ref<const std::string&>()), value, budget_)) return Validity::no;
  const Format* const format = format_of(schema);
  return format == nullptr || occurs(pattern(std::string(format->certain)), value, budget_) ? Validity::yes
                                                                                            : Validity::unsure;
}

Validity Checker::array_validity(const Json& schema, const Json& value) {
  if (!checkers::is_size_within(value.size(), schema, "minItems", "maxItems")) return Validity::no;
  Validity all = Validity::yes;
  const Json* const unique = keyword(schema, "uniqueItems");
  std::set<std::string> seen;
  for (std::size_t index = 0; index < value.size() && all != Validity::no; ++index) {
    if (const Json* const part = item_of(schema, index)) all = std::min(all, validity(*part, value[index]));
    budget_.spend(unique == nullptr ? 1 : 10);
    if (unique != nullptr && *unique == true && !seen.insert(canonical(value[index])).second) return Validity::no;
  }
  return all;
}

Validity Checker::object_validity(const Json& schema, const Json& value) {
  if (!checkers::is_size_within(value.size(), schema, "minProperties", "maxProperties")) return Validity::no;
  if (const Json* const required = keyword(schema, "required")) {
    budget_.spend(required->size() + value.size());
    const std::vector<std::string_view> names = checkers::sorted_names(value);
    const auto is_there = [&](const Json& name) {
      return std::binary_search(names.begin(), names.end(), std::string_view(name.get_ref<const std::string&>()));
    };
    if (!std::all_of(required->begin(), required->end(), is_there)) return Validity::no;
  }
  const Json* const names = keyword(schema, "propertyNames");
  Validity all = Validity::yes;
  for (auto item = value.begin(); item != value.end() && all != Validity::no; ++item) {
    for (const Json* part : property({&schema}, item.key())) all = std::min(all, validity(*part, *item));
    if (names != nullptr) all = std::min(all, validity(*names, Json(item.key())));
  }
  return all;
}

Parts Checker::property(const Parts& schemas, const std::string& name) {
  Parts found;
  for (const Json* schema : schemas) {
    const std::size_t before = found.size();
    if (const auto& properties = node(*schema).properties; !properties.empty()) {
      budget_.spend(2);
      const auto declared =
          std::lower_bound(properties.begin(), properties.end(), std::string_view(name),
                           [](const auto& property, std::string_view wanted) { return property.first < wanted; });
      if (declared != properties.end() && declared->first == name) found.push_back(declared->second);
    }
    if (const Json* const patterns = keyword(*schema, "patternProperties")) {
      for (auto item = patterns->begin(); item != patterns->end(); ++item) {
        if (occurs(pattern(item.key()), name, budget_)) found.push_back(&*item);
      }
    }
    const Json* const others = keyword(*schema, "additionalProperties");
    if (found.size() == before && others != nullptr) found.push_back(others);
  }
  return found;
}

}  // namespace schema
}  // namespace mock_gateway::detail
