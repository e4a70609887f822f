// Generates instances of a schema: numbers, strings, items, properties, depth, work limits. String formats are in
// `schema_checker.cpp`.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "../core/text.hpp"
#include "schema_checker.hpp"
#include "words.hpp"

namespace mock_gateway::detail {
namespace schema {

inline constexpr unsigned nested_bits = array_bit | object_bit;
inline constexpr std::size_t value_worth = 1000;  // steps earned by each value that becomes part of the instance
inline constexpr std::size_t max_proposals = 60;  // proposals before giving up
inline constexpr std::size_t max_instance_depth = 64;
inline constexpr std::size_t generous_values = 500;  // after this many values, optional parts are omitted
inline constexpr std::size_t relaxed_depth = 4;      // from this depth on, recursion ends where possible

/// The constraints on one value.
struct Demand {
  Parts roots;    // the subschemas that the value must satisfy
  Parts parts;    // all that apply: the roots, their references, the chosen alternatives
  Parts choices;  // subschemas whose alternatives are not yet chosen
  unsigned types = all_bits;
  std::size_t depth = 0;

  Parts all(std::string_view name) const {
    Parts found;
    for (const Json* part : parts) {
      if (const Json* const value = keyword(*part, name)) found.push_back(value);
    }
    return found;
  }
  std::size_t least(std::string_view name) const {
    std::size_t size = 0;
    for (const Json* part : parts) size = std::max(size, size_of(*part, name, 0));
    return size;
  }
  std::size_t most(std::string_view name, std::size_t otherwise) const {
    std::size_t size = otherwise;
    for (const Json* part : parts) size = std::min(size, size_of(*part, name, otherwise));
    return size;
  }
};

/// Proposes values for a schema, and validates them.
class Maker {
 public:
  Maker(const Json& schema, Random& random, Budget& budget)
      : schema_(schema), random_(random), budget_(budget), checker_(schema, budget) {}

  Json make() {
    std::optional<Json> value = make({&schema_}, 0);
    if (!value) throw failure_;
    return std::move(*value);
  }

 private:
  std::nullopt_t fail(const Demand& demand, const char* reason) {
    failure_ = {demand.parts.empty() ? "" : checker_.node(*demand.parts.front()).path, reason};
    return std::nullopt;
  }

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }

  // -- Applicable subschemas

  /// Adds a subschema and the subschemas that it applies to the same value.
  void expand(Demand& demand, const Json& schema) {
    const Budget::Frame frame(budget_);
    budget_.spend(8 + demand.parts.size() / 4 + schema.size() / 2);
    if (std::find(demand.parts.begin(), demand.parts.end(), &schema) != demand.parts.end()) return;
    demand.parts.push_back(&schema);
    demand.types &= checker_.node(schema).types;
    for (const Json* part : checker_.all_of(schema)) expand(demand, *part);
    if (alternatives_of(schema) != nullptr) demand.choices.push_back(&schema);
  }

  /// Returns the alternatives to generate from. An anyOf next to a oneOf is only validated.
  static const Json* alternatives_of(const Json& schema) {
    const Json* const one_of = keyword(schema, "oneOf");
    return one_of != nullptr ? one_of : keyword(schema, "anyOf");
  }

  /// Whether a value of this subschema would be nested in another one.
  bool is_recursive(const Json& schema) {
    const Budget::Frame frame(budget_);
    budget_.spend(1);
    if (checker_.node(schema).active > 0) return true;
    Parts parts = checker_.all_of(schema);
    if (const Json* const alternatives = alternatives_of(schema)) {
      for (const Json& alternative : *alternatives) parts.push_back(&alternative);
    }
    return are_recursive(parts);
  }
  bool are_recursive(const Parts& parts) {
    return std::any_of(parts.begin(), parts.end(), [&](const Json* part) { return is_recursive(*part); });
  }
  bool is_brief(std::size_t depth) const { return depth >= relaxed_depth || output_ > generous_values; }

  std::optional<Json> make(const Parts& parts, std::size_t depth) {
    Demand demand;
    demand.roots = parts;
    demand.depth = depth;
    for (const Json* part : parts) expand(demand, *part);
    if (depth > max_instance_depth) return fail(demand, "Every instance is nested too deeply.");
    return choose(demand);
  }

  std::optional<Json> choose(const Demand& demand) {
    const Budget::Frame frame(budget_);
    budget_.spend(20);
    if (demand.types == 0) return fail(demand, "No value satisfies all subschemas that apply.");
    for (const Json* part : demand.parts) {
      if (keyword(*part, "const") != nullptr || keyword(*part, "enum") != nullptr) return listed(demand, *part);
    }
    if (demand.choices.empty()) return typed(demand);
    for (const Json* alternative : ordered(*alternatives_of(*demand.choices.front()), is_brief(demand.depth))) {
      Demand next = demand;
      next.choices.erase(next.choices.begin());
      expand(next, *alternative);
      if (std::optional<Json> value = choose(next)) return value;
    }
    return std::nullopt;
  }

  /// Returns the alternatives, beginning with a random one. Recursive ones are last if `brief`. Null is usually last.
  Parts ordered(const Json& alternatives, bool brief) {
    const std::size_t first = below(alternatives.size());
    const bool avoids_null = below(4) != 0;
    Parts sorted;
    for (const bool late : {false, true}) {
      for (std::size_t index = 0; index < alternatives.size(); ++index) {
        const Json& one = alternatives[(first + index) % alternatives.size()];
        const bool is_late = (brief && is_recursive(one)) || (avoids_null && checker_.node(one).types == null_bit);
        if (is_late == late) sorted.push_back(&one);
      }
    }
    return sorted;
  }

  bool fits(const Demand& demand, const Json& value) {
    return std::all_of(demand.roots.begin(), demand.roots.end(),
                       [&](const Json* root) { return checker_.validity(*root, value) == Validity::yes; });
  }

  std::optional<Json> listed(const Demand& demand, const Json& schema) {
    const Json* const constant = keyword(schema, "const");
    const std::size_t count = constant != nullptr ? 1 : keyword(schema, "enum")->size();
    const std::size_t first = below(count);
    for (std::size_t index = 0; index < count; ++index) {
      const Json& value = constant != nullptr ? *constant : (*keyword(schema, "enum"))[(first + index) % count];
      ++output_;
      // Not `return value`: ambiguous if JSON converts to std::optional implicitly.
      if (fits(demand, value)) return std::optional<Json>(std::in_place, value);
    }
    return fail(demand, "None of the listed values certainly satisfies all that applies.");
  }

  std::optional<Json> typed(const Demand& demand) {
    unsigned usual = demand.all("type").empty() ? 0 : demand.types;
    for (const Json* part : demand.parts) usual |= checker_.node(*part).hinted_types & demand.types;
    if (usual == 0) usual = string_bit;
    if (is_brief(demand.depth) && (usual & ~nested_bits) != 0) usual &= ~nested_bits;
    if (below(4) != 0 && usual != null_bit) usual &= all_bits - null_bit;
    const unsigned kinds[] = {string_bit, boolean_bit, array_bit, object_bit, null_bit, integer_bit | fraction_bit};
    const std::size_t first = below(std::size(kinds));
    for (std::size_t index = 0; index < 2 * std::size(kinds); ++index) {  // usual kinds, then the others
      const unsigned kind = kinds[(first + index) % std::size(kinds)];
      if ((kind & demand.types) == 0 || ((kind & usual) != 0) != (index < std::size(kinds))) continue;
      const std::size_t attempts = (kind & nested_bits) != 0 ? 5 : 40;
      for (std::size_t attempt = 0; attempt < attempts; ++attempt) {
        std::optional<Json> value = of_kind(kind, demand, attempt);
        if (!value) break;
        ++output_;
        if (fits(demand, *value)) return value;
        fail(demand, "No value was found that certainly satisfies all that applies.");
      }
    }
    return std::nullopt;
  }

  std::optional<Json> of_kind(unsigned kind, const Demand& demand, std::size_t attempt) {
    if (kind == null_bit) return std::optional<Json>(std::in_place, nullptr);
    if (kind == boolean_bit) return std::optional<Json>(std::in_place, below(2) != 0);
    if (kind == string_bit) return std::optional<Json>(std::in_place, string(demand, attempt));
    if (kind != array_bit && kind != object_bit) return std::optional<Json>(std::in_place, number(demand, attempt));
    for (const Json* part : demand.parts) ++checker_.node(*part).active;
    std::optional<Json> value = kind == array_bit ? array(demand) : object(demand);
    for (const Json* part : demand.parts) --checker_.node(*part).active;
    return value;
  }

  // -- Numbers and strings

  /// Returns a multiple of the step between the bounds, near zero; sometimes a bound itself.
  Json number(const Demand& demand, std::size_t attempt) {
    const bool integer = (demand.types & fraction_bit) == 0;
    double low = -exact_limit;
    double high = exact_limit;
    Parts bounds;
    for (const char* const name : {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}) {
      for (const Json* bound : demand.all(name)) {
        const bool lower = std::string_view(name).find("inimum") != std::string_view::npos;
        (lower ? low : high) = lower ? std::max(low, bound->get<double>()) : std::min(high, bound->get<double>());
        bounds.push_back(bound);
      }
    }
    int places = integer ? 0 : 1;  // decimals of the step
    double step = 1;               // in units of 10^-places
    const Parts divisors = demand.all("multipleOf");
    while (!integer && divisors.empty() && (high - low) * std::pow(10.0, places) < 100 && places < max_places) ++places;
    for (const Json* divisor : divisors) {
      for (places = 0; places < max_places && !scaled(*divisor, places);) ++places;
      step = static_cast<double>(scaled(*divisor, places).value_or(1));
    }
    const double scale = std::pow(10.0, places);
    double first = std::ceil(low * scale / step);
    double last = std::floor(high * scale / step);
    if (last - first > 1e6) {
      const double center = std::min(std::max(first, 0.0), last);
      last = std::min(last, center + 100);
      first = std::max(first, center - 100);
    }
    if (!bounds.empty() && (first > last || attempt % 4 == 3)) return *bounds[attempt % bounds.size()];
    const double steps = first + static_cast<double>(below(static_cast<std::size_t>(last - first) + 1));
    const double drawn = steps * step / scale;  // both are exact, so this is the number with that many decimals
    return std::floor(drawn) == drawn ? Json(static_cast<std::int64_t>(drawn)) : Json(drawn);
  }

  Json string(const Demand& demand, std::size_t attempt) {
    const std::size_t least = demand.least("minLength");
    const std::size_t most = demand.most("maxLength", max_characters);
    const Format* format = nullptr;
    std::set<std::string> sources;
    for (const Json* pattern : demand.all("pattern")) sources.insert(pattern->get<std::string>());
    for (const Json* part : demand.parts) format = format_of(*part) == nullptr ? format : format_of(*part);
    if (format != nullptr) sources.insert(std::string(format->certain));
    if (format != nullptr && attempt == 0) sources = {std::string(format->usual)};
    return Json(sources.empty() ? words_of(least, most) : text_for(sources, least, most, attempt));
  }

  /// Proposes a text of at least `least` bytes: for an even `draw` a match of one pattern, otherwise matches of all.
  std::string text_for(const std::set<std::string>& sources, std::size_t least, std::size_t most, std::size_t draw) {
    const std::size_t chosen = below(sources.size());
    std::size_t place = 0;
    std::string made;
    for (const std::string& source : sources) {
      if (place++ != chosen && draw % 2 == 0) continue;
      made += text_of(checker_.pattern(source), least, most, 2 + draw, random_, budget_).value_or("");
    }
    budget_.spend(least / 4);
    const std::size_t length = text::code_points(made);
    const std::string filler = random_.alphanumeric(std::max(length, least) - length);
    return draw % 3 == 0 ? filler + made : made + filler;
  }

  std::string words_of(std::size_t least, std::size_t most) {
    const std::size_t longest = std::min(most, std::max<std::size_t>(least, 40));
    budget_.spend(10 + least / 4);
    std::string made = words::word(random_);
    for (std::size_t more = below(3); more > 0 || made.size() < least; more -= more > 0 ? 1 : 0) {
      made += " " + words::word(random_);
    }
    made.resize(std::min(made.size(), longest));
    if (!made.empty() && made.back() == ' ') made.back() = 's';
    return made;
  }

  // -- Arrays and objects

  std::optional<Json> array(const Demand& demand) {
    const std::size_t least = demand.least("minItems");
    const std::size_t most = demand.most("maxItems", none);
    const bool recursive = are_recursive(demand.all("items"));
    std::size_t size = least;
    for (const Json* prefix : demand.all("prefixItems")) size = std::max(size, prefix->size());
    if (!is_brief(demand.depth) || (!recursive && output_ <= generous_values)) {
      size = std::max(size, recursive ? 1 : 1 + below(3));
    }
    const bool unique = !demand.all("uniqueItems").empty();
    std::set<std::string> taken;  // in canonical form
    Json made = Json::array();
    for (std::size_t attempt = 0; made.size() < std::min(size, most) && attempt < max_proposals + size; ++attempt) {
      Parts parts;
      for (const Json* part : demand.parts) {
        if (const Json* const item = item_of(*part, made.size())) parts.push_back(item);
      }
      std::optional<Json> item = make(parts, demand.depth + 1);
      if (!item && made.size() < least) return std::nullopt;
      if (!item) break;
      if (unique && !taken.insert(canonical(*item)).second) continue;
      made.push_back(std::move(*item));
      budget_.earn(value_worth);
    }
    return std::optional<Json>(std::in_place, std::move(made));
  }

  /// The properties of an object in progress. Json would search all of them for each insertion.
  struct Members {
    Json::object_t all;
    std::set<std::string> names;

    std::size_t size() const { return all.size(); }
  };

  bool add(const Demand& demand, Members& object, const std::string& name) {
    budget_.spend(1);
    std::optional<Json> value = make(checker_.property(demand.parts, name), demand.depth + 1);
    if (!value) return false;
    object.names.insert(name);
    object.all.emplace_back(name, std::move(*value));
    budget_.earn(value_worth);
    return true;
  }

  std::optional<Json> object(const Demand& demand) {
    const std::size_t least = demand.least("minProperties");
    const std::size_t most = demand.most("maxProperties", none);
    const bool generous = output_ <= generous_values;
    std::set<std::string> required;
    for (const Json* names : demand.all("required")) required.insert(names->begin(), names->end());
    Members made;
    for (const Json* properties : demand.all("properties")) {
      for (auto item = properties->begin(); item != properties->end(); ++item) {
        if (made.names.count(item.key()) != 0) continue;
        const bool needed = required.erase(item.key()) != 0;
        const bool fits = made.size() + required.size() < (generous ? most : least);
        const bool wanted = needed || (fits && !are_recursive(checker_.property(demand.parts, item.key())));
        if (wanted && !add(demand, made, item.key()) && needed) return std::nullopt;
      }
    }
    for (const std::string& name : required) {  // required names without a subschema in `properties`
      if (!add(demand, made, name)) return std::nullopt;
    }
    std::size_t goal = least;
    for (const Json* others : demand.all("additionalProperties")) {
      const bool is_map = made.size() == 0 && others->is_object() && !is_recursive(*others);
      if (is_map && generous) goal = std::max(goal, std::min(most, 1 + below(2)));
    }
    for (std::size_t round = 0; made.size() < goal && round < max_proposals + goal; ++round) {
      const std::optional<std::string> name = invented_name(demand, round);
      if (name && made.names.count(*name) == 0) add(demand, made, *name);
    }
    return std::optional<Json>(std::in_place, std::move(made.all));
  }

  /// Invents a property name: for patternProperties in even rounds, for additionalProperties in odd ones.
  std::optional<std::string> invented_name(const Demand& demand, std::size_t round) {
    const Parts names = demand.all("propertyNames");
    for (const Json* patterns : demand.all("patternProperties")) {
      if (patterns->empty() || round % 2 != 0) continue;
      auto item = patterns->begin();
      std::advance(item, below(patterns->size()));
      return text_of(checker_.pattern(item.key()), 1, max_characters, 4, random_, budget_);
    }
    if (names.empty()) return words::word(random_) + (round < 4 ? "" : "_" + std::to_string(round));
    const std::optional<Json> made = make(names, max_instance_depth);
    return made && made->is_string() ? std::optional(made->get<std::string>()) : std::nullopt;
  }

  const Json& schema_;
  Random& random_;
  Budget& budget_;
  Checker checker_;
  std::size_t output_ = 0;  // values made, including discarded ones
  Unsupported failure_;
};

std::string instance_of(const Json& schema, Random& random, Budget& budget) {
  return Maker(schema, random, budget).make().dump();
}

}  // namespace schema
}  // namespace mock_gateway::detail
