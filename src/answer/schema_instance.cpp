#include "schema_instance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../core/json_pointer.hpp"
#include "../core/json_reader.hpp"
#include "schema_checker.hpp"
#include "words.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

inline constexpr std::size_t max_items = 10000;
inline constexpr std::size_t generous_values = 500;  // beyond, optional parts are left out
inline constexpr std::size_t relaxed_depth = 4;      // from here on recursion ends where it can

using Parts = std::vector<const Json*>;  // subschemas
using Taken = std::set<std::string>;     // values that must not be made again, in canonical form

/// All subschemas that one value must satisfy.
struct Demand {
  std::vector<Node*> nodes;
  std::vector<Node*> denied;
  std::vector<std::pair<Node*, bool>> choices;  // whose anyOf or, with true, oneOf is still to be settled
  unsigned types = all_bits;
  const std::string* pattern = nullptr;  // of a property's name, beside what the subschemas say
  const Taken* taken = nullptr;
  std::size_t depth = 0;

  /// What the subschemas say by a keyword.
  Parts all(const char* keyword) const {
    Parts found;
    for (const Node* node : nodes) {
      if (const Json* const value = (*node)[keyword]) found.push_back(value);
    }
    return found;
  }
  /// The greatest of sizes that are lower bounds.
  std::size_t least(const char* keyword) const {
    std::size_t size = 0;
    for (const Node* node : nodes) size = std::max(size, node->size(keyword, 0));
    return size;
  }
  /// The smallest of sizes that are upper bounds.
  std::size_t most(const char* keyword, std::size_t otherwise) const {
    std::size_t size = otherwise;
    for (const Node* node : nodes) size = std::min(size, node->size(keyword, otherwise));
    return size;
  }
};

/// Proposes values for one schema, and checks them.
class Maker {
 public:
  Maker(Json schema, Budget& budget) : schema_(std::move(schema)), budget_(budget), checker_(schema_, budget) {
    free_.json = &anything_;
  }

  bool accepts(const Json& value) { return checker_.validity(checker_.root(), value) == Validity::yes; }

  Json make(Random& random) {
    if (checker_.root().height >= unbounded_height) throw Unsupported{"", "No instance exists, or none without end."};
    random_ = &random;
    constexpr std::size_t attempts = 5;
    for (std::size_t attempt = 0; attempt < attempts; ++attempt) {
      failure_ = {"", "No instance was found that the schema certainly accepts."};
      output_ = 0;
      std::optional<Json> value = make({checker_.root().json}, nullptr, 0);
      if (!value) break;
      if (accepts(*value)) return std::move(*value);
    }
    throw failure_;
  }

 private:
  std::nullopt_t fail(const Demand& demand, const char* reason) { return fail(*demand.nodes.front(), "", reason); }
  std::nullopt_t fail(const Node& node, const char* keyword, const char* reason) {
    failure_ = {node.path + keyword, reason};
    return std::nullopt;
  }

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_->below(bound)); }
  /// In random order, but by their ranks.
  template <typename Element, typename Rank>
  std::vector<Element> ordered(std::vector<Element> elements, const Rank& rank) {
    for (std::size_t index = elements.size(); index > 1; --index) {
      std::swap(elements[index - 1], elements[below(index)]);
    }
    std::stable_sort(elements.begin(), elements.end(),
                     [&rank](const Element& left, const Element& right) { return rank(left) < rank(right); });
    return elements;
  }

  // -- what applies

  /// Adds a subschema and all that it applies to the same value.
  void expand(Demand& demand, Node& node) {
    const Budget::Frame frame(budget_);
    budget_.spend(8 + demand.nodes.size() / 4);
    if (std::find(demand.nodes.begin(), demand.nodes.end(), &node) != demand.nodes.end()) return;
    demand.nodes.push_back(&node);
    if (node.height > max_instance_depth) demand.types = 0;
    demand.types &= node.types;
    for (Node* part : node.all_of) expand(demand, *part);
    if (!node.any_of.empty()) demand.choices.emplace_back(&node, false);
    if (!node.one_of.empty()) demand.choices.emplace_back(&node, true);
    if (node.negated != nullptr) deny(demand, *node.negated);
  }

  void deny(Demand& demand, Node& node) {
    demand.denied.push_back(&node);
    if (node.json->size() != 1) return;
    if (node.negated != nullptr) expand(demand, *node.negated);
    unsigned types = node["type"] != nullptr ? node.types : 0;
    if ((types & fraction_bit) == 0 && (demand.types & fraction_bit) != 0) types &= ~static_cast<unsigned>(integer_bit);
    demand.types &= ~types;
  }

  /// Whether a value of a subschema would lie inside of another one of it.
  bool is_recursive(const Node& node) {
    const Budget::Frame frame(budget_);
    budget_.spend(1);
    if (node.active > 0) return true;
    for (const auto* parts : {&node.all_of, &node.any_of, &node.one_of}) {
      for (const Node* part : *parts) {
        if (is_recursive(*part)) return true;
      }
    }
    return false;
  }
  bool are_recursive(const Parts& parts) {
    budget_.spend(2 * parts.size());
    return std::any_of(parts.begin(), parts.end(), [&](const Json* part) { return is_recursive(checker_.at(*part)); });
  }
  bool is_brief(std::size_t depth) const { return depth >= relaxed_depth || output_ > generous_values; }

  std::optional<Json> make(const Parts& parts, const Taken* taken, std::size_t depth) {
    Demand demand;
    demand.taken = taken;
    demand.depth = depth;
    for (const Json* part : parts) expand(demand, checker_.at(*part));
    if (demand.nodes.empty()) demand.nodes.push_back(&free_);
    if (depth > max_instance_depth) return fail(demand, "Every instance is nested too deeply.");
    return choose(demand);
  }

  /// Settles one anyOf or oneOf after another, then makes a value.
  std::optional<Json> choose(const Demand& demand) {
    const Budget::Frame frame(budget_);
    budget_.spend(20);
    if (demand.types == 0) return fail(demand, "No value satisfies all subschemas that apply.");
    for (const Node* node : demand.nodes) {
      if ((*node)["const"] != nullptr || (*node)["enum"] != nullptr) return listed(demand, *node);
    }
    if (demand.choices.empty()) return typed(demand);
    const auto [node, exactly_one] = demand.choices.front();
    const std::vector<Node*>& alternatives = exactly_one ? node->one_of : node->any_of;
    const bool brief = is_brief(demand.depth);
    const bool avoids_null = below(4) != 0;
    const auto rank = [&](const Node* one) {  // recursion ends early, null comes last more often than not
      return std::make_tuple(brief && is_recursive(*one), brief ? one->height : 0,
                             avoids_null && one->types == null_bit);
    };
    for (Node* chosen : ordered(alternatives, rank)) {
      Demand next = demand;
      next.choices.erase(next.choices.begin());
      expand(next, *chosen);
      for (Node* other : alternatives) {
        if (exactly_one && other != chosen) deny(next, *other);
      }
      if (std::optional<Json> value = choose(next)) return value;
    }
    return fail(*node, exactly_one ? "/oneOf" : "/anyOf", "No instance was found that satisfies one alternative.");
  }

  /// Whether a value that fits its type is none of those excluded.
  bool is_free(const Demand& demand, const Json& value) {
    if (demand.taken != nullptr && demand.taken->count(canonical(value)) != 0) return false;
    return std::all_of(demand.denied.begin(), demand.denied.end(),
                       [&](const Node* node) { return checker_.validity(*node, value) == Validity::no; });
  }

  std::optional<Json> listed(const Demand& demand, const Node& node) {
    const Json* const constant = node["const"];
    const std::size_t count = constant != nullptr ? 1 : node["enum"]->size();
    const std::size_t first = below(count);
    for (std::size_t index = 0; index < count; ++index) {
      const Json& value = constant != nullptr ? *constant : (*node["enum"])[(first + index) % count];
      budget_.spend(5);
      const bool fits = is_free(demand, value) &&
                        std::all_of(demand.nodes.begin(), demand.nodes.end(),
                                    [&](const Node* each) { return checker_.validity(*each, value) == Validity::yes; });
      ++output_;
      if (fits) return value;
    }
    return fail(node, constant != nullptr ? "/const" : "/enum", "No value certainly satisfies all that applies to it.");
  }

  std::optional<Json> typed(const Demand& demand) {
    const bool stated = !demand.all("type").empty();
    unsigned hinted = stated ? 0u + all_bits : 0u;
    for (const Node* node : demand.nodes) hinted |= node->hinted;
    if (hinted == 0) hinted = string_bit;
    std::vector<unsigned> kinds{string_bit, boolean_bit, array_bit, object_bit, null_bit, integer_bit | fraction_bit};
    const bool avoids_null = below(4) != 0;
    const bool brief = is_brief(demand.depth);
    const auto rank = [&](unsigned kind) {
      return std::make_tuple((kind & hinted) == 0, brief && (kind & (array_bit | object_bit)) != 0,
                             avoids_null && kind == null_bit);
    };
    constexpr std::size_t patience = 60;
    const std::size_t attempts = demand.denied.empty() && demand.taken == nullptr ? 1 : patience;
    for (const unsigned kind : ordered(std::move(kinds), rank)) {
      for (std::size_t attempt = 0; (demand.types & kind) != 0 && attempt < attempts; ++attempt) {
        std::optional<Json> value = of_kind(kind, demand, attempt);
        if (!value) break;
        ++output_;
        if (attempts == 1 || is_free(demand, *value)) return value;
        fail(demand, "No value was found that is different from the others, or from what it must not be.");
        if (kind == null_bit) break;
      }
    }
    return std::nullopt;
  }

  std::optional<Json> of_kind(unsigned kind, const Demand& demand, std::size_t attempt) {
    if (kind == null_bit) return Json(nullptr);
    if (kind == boolean_bit) return Json((below(2) == 0) != (attempt % 2 == 0));
    if (kind == string_bit) return string(demand, attempt);
    if (kind != array_bit && kind != object_bit) return number(demand);
    for (Node* node : demand.nodes) ++node->active;
    std::optional<Json> value = kind == array_bit ? array(demand, attempt) : object(demand, attempt);
    for (Node* node : demand.nodes) --node->active;
    return value;
  }

  // -- numbers

  bool fits(const Demand& demand, bool integer, const Json& value) {
    budget_.spend(20);
    return value.is_number() && (!integer || is_integer_value(value)) && is_free(demand, value) &&
           std::all_of(demand.nodes.begin(), demand.nodes.end(),
                       [&](const Node* node) { return checker_.number_validity(*node, value) == Validity::yes; });
  }

  std::optional<Json> number(const Demand& demand) {
    const bool integer = (demand.types & fraction_bit) == 0;
    double low = -std::numeric_limits<double>::infinity();
    double high = -low;
    std::vector<Json> candidates{0};  // beside the multiples of a step
    for (const char* const keyword : {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}) {
      const bool lower = std::string_view(keyword).find("inimum") != std::string_view::npos;
      for (const Json* bound : demand.all(keyword)) {
        const double edge = bound->get<double>();
        (lower ? low : high) = lower ? std::max(low, edge) : std::min(high, edge);
        const double inwards = lower ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
        const double next = std::nextafter(edge, inwards);
        candidates.insert(candidates.end(), {*bound, next, std::nextafter(next, inwards)});
        if (!bound->is_number_integer()) continue;
        const std::uint64_t one = bound->get<std::uint64_t>() + (lower ? 1 : static_cast<std::uint64_t>(-1));
        candidates.push_back(bound->is_number_unsigned() ? Json(one) : Json(static_cast<std::int64_t>(one)));
      }
    }
    if (std::optional<Json> value = on_grid(demand, integer, low, high)) return value;
    for (const Json& candidate : candidates) {
      if (fits(demand, integer, candidate)) return candidate;
    }
    return fail(demand, "No number was found that satisfies all bounds.");
  }

  /// A multiple of the divisors, of one, or of a power of ten that has room between the bounds; near zero.
  std::optional<Json> on_grid(const Demand& demand, bool integer, double low, double high) {
    const Parts divisors = demand.all("multipleOf");
    int places = integer || !divisors.empty() ? 0 : 1;  // the step is a multiple of 10^-places
    for (const Json* divisor : divisors) places = std::max(places, -Decimal(*divisor).exponent);
    while (!integer && divisors.empty() && (high - low) * std::pow(10.0, places) < 100 && places < 18) ++places;
    const double scale = std::pow(10.0, places);
    std::uint64_t step = integer ? static_cast<std::uint64_t>(std::min(scale, 1e18)) : 1;
    for (const Json* divisor : divisors) {
      const std::uint64_t unit = Decimal(*divisor).scaled(places).value_or(0);
      if (unit == 0 || step > 1000000000000000000 / unit) return std::nullopt;
      step = std::lcm(step, unit);
    }
    double first = std::ceil(low * scale / static_cast<double>(step));
    double last = std::floor(high * scale / static_cast<double>(step));
    if (last - first > 1e6) {
      const double window = 100 + 4.0 * static_cast<double>(demand.taken == nullptr ? 0 : demand.taken->size());
      const double near = std::min(std::max(first, 0.0), last);
      last = std::min(last, near + window);
      first = std::max(first, std::min(near, last - window));
    }
    if (!(first <= last)) return std::nullopt;
    const std::size_t choices = static_cast<std::size_t>(last - first) + 1;
    constexpr std::size_t draws = 20;  // at random first, then one after another: those taken lie close together
    for (std::size_t index = 0; index < draws + std::min(choices, std::size_t{1000}); ++index) {
      const double steps = first + static_cast<double>(index < draws ? below(choices) : index - draws);
      if (std::fabs(steps) * static_cast<double>(step) > 1e18) break;
      std::string digits = std::to_string(static_cast<std::int64_t>(steps) * static_cast<std::int64_t>(step));
      int zeros = 0;
      for (; zeros < places && digits.back() == '0' && digits.size() > 1; ++zeros) digits.pop_back();
      if (digits != "0" && zeros < places) digits += "e-" + std::to_string(places - zeros);
      const Json value = read_json_if_valid(digits);
      if (fits(demand, integer, value)) return value;
    }
    return std::nullopt;
  }

  // -- strings

  std::optional<Json> string(const Demand& demand, std::size_t attempt) {
    const std::size_t least = demand.least("minLength");
    const std::size_t most = demand.most("maxLength", max_characters);
    if (least > most) return fail(demand, "No length is allowed, or more characters are asked for than can be made.");
    std::set<std::string> sources;
    const Format* format = nullptr;
    if (demand.pattern != nullptr) sources.insert(*demand.pattern);
    for (const Json* pattern : demand.all("pattern")) sources.insert(pattern->get<std::string>());
    for (const Node* node : demand.nodes) {
      if (node->format == nullptr) continue;
      format = node->format;
      sources.insert(strict_pattern(*format));
    }
    const auto fits = [&](const std::string& text) {
      return (demand.pattern == nullptr || checker_.matches(*demand.pattern, text)) &&
             std::all_of(demand.nodes.begin(), demand.nodes.end(),
                         [&](const Node* node) { return checker_.text_validity(*node, text) == Validity::yes; });
    };
    std::string text = format == nullptr ? words_of(least, most, attempt) : usual_text(*format, least, *random_);
    if (fits(text)) return Json(text);
    std::vector<const Pattern*> patterns;
    for (const std::string& source : sources) patterns.push_back(&checker_.pattern(source));
    constexpr std::size_t draws = 30;  // lookaheads may reject a text
    for (std::size_t draw = 0; draw < draws && !patterns.empty(); ++draw) {
      const bool whole = (attempt + draw) % 3 != 2;  // those match from end to end look best
      std::optional<std::string> made = text_of(patterns, whole, least, most, 4 + draw, *random_, budget_);
      if (made && fits(*made)) return Json(std::move(*made));
    }
    return fail(demand,
                "No text was found that has the format, matches all patterns, and has a length that is allowed.");
  }

  std::string words_of(std::size_t least, std::size_t most, std::size_t attempt) {
    const std::size_t longest = std::min(most, std::max<std::size_t>(least, 40));
    budget_.spend(longest / 4);
    if (attempt % 2 == 1) return random_->alphanumeric(std::min(longest, least + below(9)));  // words alone run out
    std::string made = words::word(*random_);
    for (std::size_t more = below(3 + attempt / 8); more > 0 || made.size() < least; more -= more > 0 ? 1 : 0) {
      made += " " + words::word(*random_);
    }
    made.resize(std::min(made.size(), longest));
    if (!made.empty() && made.back() == ' ') made.back() = 's';
    return made;
  }

  // -- arrays

  std::optional<Json> array(const Demand& demand, std::size_t attempt) {
    const std::size_t least = demand.least("minItems");
    const std::size_t most = demand.most("maxItems", max_items);
    if (least > most) return fail(demand, "No number of items is allowed, or more are asked for than can be made.");
    Parts wanted = demand.all("contains");
    std::size_t size = std::max(least, wanted.size());
    bool recursive = false;
    for (const Json* items : demand.all("items")) recursive = recursive || is_recursive(checker_.at(*items));
    for (const Json* prefix : demand.all("prefixItems")) size = std::max(size, prefix->size());
    if (is_brief(demand.depth) && (recursive || output_ > generous_values))
      size = least;
    else if (attempt % 4 != 1)
      size = std::max(size, recursive ? 1 : 1 + below(3 + attempt / 8));
    const Parts uniques = demand.all("uniqueItems");
    const bool unique = std::any_of(uniques.begin(), uniques.end(), [](const Json* one) { return one->get<bool>(); });
    Taken taken;
    Json made = Json::array();
    while (made.size() < std::min(std::max(size, made.size() + wanted.size()), most)) {
      Parts parts;
      for (const Node* node : demand.nodes) {
        if (const Json* const part = node->item(made.size())) parts.push_back(part);
      }
      std::optional<Json> item;
      for (std::size_t place = 0; place < wanted.size() && !item; ++place) {  // what is wanted comes first
        parts.push_back(wanted[place]);
        item = make(parts, unique ? &taken : nullptr, demand.depth + 1);
        parts.pop_back();
        if (item) wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(place));
      }
      if (!item) item = make(parts, unique ? &taken : nullptr, demand.depth + 1);
      if (!item) break;
      if (unique) taken.insert(canonical(*item));
      made.push_back(std::move(*item));
    }
    if (made.size() < least) return std::nullopt;
    return made;
  }

  // -- objects

  Parts property_parts(const Demand& demand, const std::string& name) {
    Parts parts;
    for (const Node* node : demand.nodes) {
      const Parts more = checker_.property(*node, name);
      parts.insert(parts.end(), more.begin(), more.end());
    }
    return parts;
  }

  /// Adds a property with those that must be there when it is; all of them, or none.
  bool add(const Demand& demand, Json& object, const std::string& first) {
    Json made = Json::object();
    std::vector<std::string> pending{first};
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      budget_.spend(1 + object.size() / 8);
      if (object.contains(name) || made.contains(name)) continue;
      for (const Json* names : demand.all("propertyNames")) {
        if (checker_.validity(checker_.at(*names), Json(name)) != Validity::yes) {
          fail(demand, "A property is needed whose name is not allowed.");
          return false;
        }
      }
      std::optional<Json> value = make(property_parts(demand, name), nullptr, demand.depth + 1);
      if (!value) return false;
      made[name] = std::move(*value);
      for (const Json* dependents : demand.all("dependentRequired")) {
        const Json* const others = json_pointer::child(*dependents, name);
        if (others != nullptr) pending.insert(pending.end(), others->begin(), others->end());
      }
    }
    if (object.size() + made.size() > demand.most("maxProperties", none)) {
      fail(demand, "More properties are needed than are allowed.");
      return false;
    }
    for (auto item = made.begin(); item != made.end(); ++item) object[item.key()] = std::move(*item);
    return true;
  }

  std::optional<Json> object(const Demand& demand, std::size_t attempt) {
    Json made = Json::object();
    const bool generous = output_ <= generous_values;
    const std::size_t least = demand.least("minProperties");
    std::set<std::string> required;
    for (const Json* names : demand.all("required")) required.insert(names->begin(), names->end());
    for (const std::string& name : required) {
      if (!add(demand, made, name)) return std::nullopt;
    }
    std::vector<std::string> declared;
    for (const Json* properties : demand.all("properties")) {
      for (auto item = properties->begin(); item != properties->end(); ++item) declared.push_back(item.key());
    }
    for (const std::string& name : declared) {
      // Later attempts are for schemas that forbid combinations: fewer properties, then any selection.
      const bool wanted = generous && (attempt == 0 || (attempt > 1 && below(2) == 0));
      if (wanted && !made.contains(name) && !are_recursive(property_parts(demand, name))) add(demand, made, name);
    }
    for (const std::string& name : declared) {
      if (made.size() < least) add(demand, made, name);
    }
    std::size_t goal = least;
    for (const Json* additional : demand.all("additionalProperties")) {
      const bool is_map = declared.empty() && additional->is_object() && !is_recursive(checker_.at(*additional));
      if (is_map && attempt == 0 && generous) goal = std::max(goal, 1 + below(2));
    }
    if (attempt > 2) goal = std::max(goal, made.size() + below(3));  // objects that must differ
    constexpr std::size_t patience = 20;
    for (std::size_t round = 0; made.size() < goal && round < patience + 2 * goal; ++round) {
      const std::optional<std::string> name = invented_name(demand, round);
      if (name && std::find(declared.begin(), declared.end(), *name) == declared.end()) add(demand, made, *name);
    }
    if (made.size() < least) return fail(demand, "Not enough properties could be found.");
    Json sorted = Json::object();  // as they are declared, then the others
    for (const std::string& name : declared) {
      if (made.contains(name) && !sorted.contains(name)) sorted[name] = std::move(made[name]);
    }
    for (auto item = made.begin(); item != made.end(); ++item) {
      if (!sorted.contains(item.key())) sorted[item.key()] = std::move(*item);
    }
    return sorted;
  }

  /// A name for patternProperties and for additionalProperties by turns.
  std::optional<std::string> invented_name(const Demand& demand, std::size_t round) {
    std::vector<const std::string*> patterns;
    for (const Json* matching : demand.all("patternProperties")) {
      for (auto item = matching->begin(); item != matching->end(); ++item) patterns.push_back(&item.key());
    }
    const Parts names = demand.all("propertyNames");
    const bool matched = !patterns.empty() && round % 2 == 0;
    if (!matched && names.empty()) return words::word(*random_) + (round < 4 ? "" : "_" + std::to_string(round));
    Demand name;
    name.nodes.push_back(&free_);
    name.types = string_bit;
    name.depth = max_instance_depth;
    for (const Json* part : names) expand(name, checker_.at(*part));
    if (matched) name.pattern = patterns[below(patterns.size())];
    const std::optional<Json> made = choose(name);
    return made ? std::optional(made->get<std::string>()) : std::nullopt;
  }

  const Json schema_;
  const Json anything_ = Json::object();
  Node free_;  // constrains nothing
  Budget& budget_;
  Checker checker_;
  Random* random_ = nullptr;
  std::size_t output_ = 0;  // values made, those that were dropped included
  Unsupported failure_;
};

Instances::Instances(Json schema, Budget& budget)
    : budget_(budget), maker_(std::make_shared<Maker>(std::move(schema), budget)) {}

std::string Instances::text(Random& random) {
  if (!made_.empty() && budget_.left() < 2 * dearest_) return made_[random.below(made_.size())];
  const std::size_t before = budget_.left();
  made_.push_back(maker_->make(random).dump());
  dearest_ = std::max(dearest_, before - budget_.left());
  return made_.back();
}

bool Instances::accepts(const Json& value) { return maker_->accepts(value); }

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
