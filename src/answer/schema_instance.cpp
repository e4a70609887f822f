#include "schema_instance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schema_budget.hpp"
#include "schema_checker.hpp"
#include "schema_decimal.hpp"
#include "schema_format.hpp"
#include "schema_pattern.hpp"
#include "schema_program.hpp"
#include "schema_value.hpp"
#include "words.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

inline constexpr std::size_t max_value_depth = 200;   // of a value that is checked
inline constexpr std::size_t max_new_names = 1000;    // properties that minProperties asks for beyond the declared ones
inline constexpr std::size_t max_output = 4000000;    // bytes of an instance, about
inline constexpr std::size_t generous_values = 2000;  // beyond, optional parts are left out
inline constexpr std::size_t relaxed_depth = 4;       // from here on recursion ends where it can

namespace instances {

/// Values that are taken, in canonical form.
using Taken = std::unordered_set<std::string>;

/// All subschemas that one value must satisfy.
struct Demand {
  std::vector<std::size_t> nodes;
  std::vector<std::size_t> negated;
  std::vector<std::pair<std::size_t, bool>> choices;  // node, true for its oneOf: alternatives still to be chosen
  unsigned types = all_bits;
  bool never = false;
  std::size_t pattern = none;  // of a property's name, beside what the subschemas say
};

/// Makes one instance of a program's root.
class Maker {
 public:
  Maker(const Program& program, Budget& budget, Random& random)
      : program_(program), budget_(budget), checker_(program, budget), random_(random) {}

  Json root() {
    if (program_.node(0).height > max_instance_depth) {
      throw Unsupported{"", program_.node(0).height >= unbounded_height
                                ? "No instance exists: the schema is contradictory or requires itself without end."
                                : "Every instance is nested too deeply."};
    }
    std::optional<Json> value = make({0}, nullptr, 0, all_bits);
    if (!value) throw Unsupported{failure_path_, failure_};
    if (checker_.verdict(0, *value) != Verdict::yes) {
      throw Unsupported{"", "No instance was found that the schema certainly accepts."};
    }
    return std::move(*value);
  }

 private:
  std::nullopt_t fail(const Demand& demand, const std::string& keyword, std::string reason) {
    failure_path_ = (demand.nodes.empty() ? std::string() : program_.node(demand.nodes.front()).path) + keyword;
    failure_ = std::move(reason);
    return std::nullopt;
  }
  std::nullopt_t fail_at(std::size_t node, const std::string& keyword, std::string reason) {
    failure_path_ = program_.node(node).path + keyword;
    failure_ = std::move(reason);
    return std::nullopt;
  }

  void count_output(std::size_t characters) {
    constexpr std::size_t value_size = 16;  // what a value takes at least, in memory rather than as text
    ++output_;
    output_size_ += value_size + characters;
    if (output_size_ > max_output) throw Unsupported{"", "The smallest instance is too large."};
  }

  /// Adds a subschema and all that it applies to the same value.
  void expand(Demand& demand, std::size_t start) {
    std::vector<std::size_t> pending{start};
    while (!pending.empty()) {
      const std::size_t index = pending.back();
      pending.pop_back();
      budget_.spend(1 + demand.nodes.size() / 8);
      if (std::find(demand.nodes.begin(), demand.nodes.end(), index) != demand.nodes.end()) continue;
      demand.nodes.push_back(index);
      const Node& node = program_.node(index);
      demand.types &= node.types;
      if (node.never || node.height > max_instance_depth) demand.never = true;
      if (node.reference != none) pending.push_back(node.reference);
      pending.insert(pending.end(), node.all_of.rbegin(), node.all_of.rend());
      if (!node.any_of.empty()) demand.choices.emplace_back(index, false);
      if (!node.one_of.empty()) demand.choices.emplace_back(index, true);
      if (node.negated != none) forbid(demand, node.negated);
    }
  }

  void forbid(Demand& demand, std::size_t index) {
    demand.negated.push_back(index);
    const Node& node = program_.node(index);
    if (node.negated != none && node.json->size() == 1) expand(demand, node.negated);
    if (!node.typed || node.json->size() != 1) return;
    unsigned types = node.types;
    if ((types & fraction_bit) == 0 && (demand.types & fraction_bit) != 0) types &= ~static_cast<unsigned>(integer_bit);
    demand.types &= ~types;
  }

  std::optional<Json> make(const std::vector<std::size_t>& nodes, const Taken* taken, std::size_t depth,
                           unsigned types) {
    Demand demand;
    demand.types = types;
    for (const std::size_t node : nodes) expand(demand, node);
    if (depth > max_instance_depth) {
      return fail(demand, "",
                  "Every instance is nested deeper than " + std::to_string(max_instance_depth) + " levels.");
    }
    return choose(demand, taken, depth);
  }

  /// Settles one anyOf or oneOf after another, then makes a value.
  std::optional<Json> choose(const Demand& demand, const Taken* taken, std::size_t depth) {
    const Frame frame(budget_);
    budget_.spend(10);
    if (demand.never) return fail(demand, "", "Nothing satisfies a schema that is false or endless.");
    if (demand.types == 0) return fail(demand, "", "No type satisfies all subschemas that apply.");
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      if (node.constant != nullptr || node.enumeration != nullptr) return listed(demand, node, taken);
    }
    if (demand.choices.empty()) return typed(demand, taken, depth);
    const auto [index, exactly_one] = demand.choices.front();
    const Node& node = program_.node(index);
    for (const std::size_t chosen : ordered(node, exactly_one ? node.one_of : node.any_of, depth)) {
      Demand next = demand;
      next.choices.erase(next.choices.begin());
      expand(next, chosen);
      if (exactly_one) {
        for (const std::size_t other : node.one_of) {
          if (other != chosen) forbid(next, other);
        }
      }
      if (std::optional<Json> value = choose(next, taken, depth)) return value;
    }
    return fail_at(index, exactly_one ? "/oneOf" : "/anyOf",
                   exactly_one ? "No instance was found that satisfies exactly one alternative."
                               : "No instance was found that satisfies any alternative.");
  }

  /// Alternatives, likeliest first: recursion ends early, null comes last more often than not.
  std::vector<std::size_t> ordered(const Node& owner, const std::vector<std::size_t>& alternatives, std::size_t depth) {
    std::vector<std::size_t> order = alternatives;
    for (std::size_t index = order.size(); index > 1; --index) std::swap(order[index - 1], order[random_.below(index)]);
    if (random_.below(4) != 0) {
      std::stable_partition(order.begin(), order.end(),
                            [this](std::size_t node) { return program_.node(node).types != null_bit; });
    }
    if (depth >= relaxed_depth || output_ > generous_values) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const auto rank = [&](std::size_t node) {
          return std::make_pair(is_recursion(owner, node), program_.node(node).height);
        };
        return rank(left) < rank(right);
      });
    }
    return order;
  }

  bool is_recursion(const Node& owner, std::size_t part) const {
    return owner.recursive && owner.component == program_.node(part).component;
  }

  bool is_recursion(const Demand& demand, const std::vector<std::size_t>& parts) const {
    for (const std::size_t part : parts) {
      for (const std::size_t owner : demand.nodes) {
        if (is_recursion(program_.node(owner), part)) return true;
      }
    }
    return false;
  }

  /// Whether a value that fits its type is none of those excluded.
  bool is_free(const Demand& demand, const Taken* taken, const Json& value) {
    if (taken != nullptr && taken->count(canonical(value)) != 0) return false;
    for (const std::size_t node : demand.negated) {
      if (checker_.verdict(node, value) != Verdict::no) return false;
    }
    return true;
  }

  std::optional<Json> listed(const Demand& demand, const Node& node, const Taken* taken) {
    std::vector<const Json*> candidates;
    if (node.constant != nullptr) {
      candidates.push_back(node.constant);
    } else {
      for (const Json& value : *node.enumeration) candidates.push_back(&value);
    }
    std::vector<std::string>& keys = listed_[&node];  // many unique items from one long list must not take forever
    if (taken != nullptr && keys.empty()) {
      for (const Json* candidate : candidates) keys.push_back(canonical(*candidate));
    }
    const std::size_t first = static_cast<std::size_t>(random_.below(candidates.size()));
    for (std::size_t index = 0; index < candidates.size(); ++index) {
      const std::size_t choice = (first + index) % candidates.size();
      budget_.spend(1);
      if (taken != nullptr && taken->count(keys[choice]) != 0) continue;
      const Json& value = *candidates[choice];
      bool fits = is_free(demand, nullptr, value);
      for (std::size_t place = 0; place < demand.nodes.size() && fits; ++place) {
        fits = checker_.verdict(demand.nodes[place], value) == Verdict::yes;
      }
      if (!fits) continue;
      count_output(value.size());
      return value;
    }
    failure_path_ = node.path + (node.constant != nullptr ? "/const" : "/enum");
    failure_ = "None of the values certainly satisfies all that applies to it.";
    return std::nullopt;
  }

  std::vector<unsigned> type_order(const Demand& demand, std::size_t depth) {
    constexpr unsigned kinds[] = {string_bit, integer_bit | fraction_bit, boolean_bit, array_bit, object_bit, null_bit};
    bool stated = false;
    bool recursive = false;
    unsigned hinted = 0;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      stated = stated || node.typed;
      recursive = recursive || node.recursive;
      hinted |= node.hinted;
    }
    std::vector<unsigned> order;
    for (const unsigned kind : kinds) {
      if ((demand.types & kind) != 0) order.push_back(kind);
    }
    if (stated) {
      for (std::size_t index = order.size(); index > 1; --index)
        std::swap(order[index - 1], order[random_.below(index)]);
      if (random_.below(4) != 0) {
        std::stable_partition(order.begin(), order.end(), [](unsigned kind) { return kind != null_bit; });
      }
    } else {
      std::stable_partition(order.begin(), order.end(), [hinted](unsigned kind) { return (kind & hinted) != 0; });
    }
    if (recursive && (depth >= relaxed_depth || output_ > generous_values)) {
      std::stable_partition(order.begin(), order.end(),
                            [](unsigned kind) { return kind != array_bit && kind != object_bit; });
    }
    return order;
  }

  std::optional<Json> typed(const Demand& demand, const Taken* taken, std::size_t depth) {
    constexpr std::size_t generous_attempts = 60;
    const bool picky = !demand.negated.empty() || taken != nullptr;
    for (const unsigned kind : type_order(demand, depth)) {
      for (std::size_t attempt = 0; attempt < (picky ? generous_attempts : 1); ++attempt) {
        std::optional<Json> value;
        switch (kind) {
          case null_bit: value = Json(nullptr); break;
          case boolean_bit: value = Json((random_.below(2) == 0) != (attempt % 2 == 0)); break;
          case string_bit: value = string(demand, attempt); break;
          case array_bit: value = array(demand, depth, attempt); break;
          case object_bit: value = object(demand, depth, attempt); break;
          default: value = number(demand, taken);
        }
        if (!value) break;
        if (picky && !is_free(demand, taken, *value)) {
          fail(demand, "",
               taken != nullptr ? "No further value was found that is different from the others."
                                : "No instance was found that what it must not be does not match.");
          if (kind == null_bit) break;
          continue;
        }
        count_output(value->is_string() ? value->get_ref<const std::string&>().size() : 0);
        return value;
      }
    }
    return std::nullopt;
  }

  // -- numbers

  std::optional<Json> number(const Demand& demand, const Taken* taken) {
    const bool integer = (demand.types & fraction_bit) == 0;
    std::optional<Decimal> low;
    std::optional<Decimal> high;
    std::optional<Decimal> step;
    bool multiples = false;
    bool hopeless = false;
    std::vector<Json> candidates;  // beside those on the grid of the step
    if (integer) step = Decimal::power_of_ten(0);
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      for (const Json* bound : {node.minimum, node.exclusive_minimum}) {
        if (bound == nullptr) continue;
        const Decimal edge = Span::of(*bound).high;
        if (!low || low->compare(edge) < 0) low = edge;
        add_neighbours(candidates, *bound, std::numeric_limits<double>::max());
      }
      for (const Json* bound : {node.maximum, node.exclusive_maximum}) {
        if (bound == nullptr) continue;
        const Decimal edge = Span::of(*bound).low;
        if (!high || high->compare(edge) > 0) high = edge;
        add_neighbours(candidates, *bound, std::numeric_limits<double>::lowest());
      }
      if (node.multiple_of != nullptr && !hopeless) {
        multiples = true;
        const Decimal unit = Decimal::of(*node.multiple_of);
        step = step ? common_multiple(*step, unit) : unit;
        hopeless = !step;
      }
    }
    // Beyond 64 bits only doubles are left, and readers disagree on what they are multiples of.
    const bool beyond = (low && low->magnitude() > 20) || (high && high->is_negative() && high->magnitude() > 20);
    hopeless = hopeless || (multiples && beyond);
    candidates.emplace_back(0);
    for (const std::size_t index : demand.negated) {  // just outside of what must not be
      const Node& node = program_.node(index);
      for (const Json* bound : {node.minimum, node.maximum, node.exclusive_minimum, node.exclusive_maximum}) {
        if (bound == nullptr) continue;
        for (const char* const step_out : {"-1", "0", "1"}) {
          if (std::optional<Json> value = to_json(Decimal::of(*bound).plus(Decimal(step_out))))
            candidates.push_back(*value);
        }
      }
    }
    if (low && high) {
      if (const std::optional<Json> middle = to_json(low->plus(*high).times(Decimal("0.5"))))
        candidates.push_back(*middle);
    }
    const auto fits = [&](const Json& value) {
      budget_.spend(20);
      if (!value.is_number() || (integer && !is_integer_value(value))) return false;
      for (const std::size_t index : demand.nodes) {
        if (checker_.number_verdict(program_.node(index), value) != Verdict::yes) return false;
      }
      return is_free(demand, taken, value);
    };
    if (!hopeless) {
      if (!step) step = Decimal::power_of_ten(fraction_exponent(low, high));
      if (std::optional<Json> value =
              on_grid(*step, low, high, multiples, taken == nullptr ? 0 : taken->size(), fits)) {
        return value;
      }
    }
    for (const Json& candidate : candidates) {
      if (fits(candidate)) return candidate;
    }
    return fail(demand, "", "No number was found that satisfies all bounds.");
  }

  /// A bound and the next doubles on the allowed side. The second is certain even where the bound is not exact.
  static void add_neighbours(std::vector<Json>& candidates, const Json& bound, double towards) {
    candidates.push_back(bound);
    const double next = std::nextafter(bound.get<double>(), towards);
    candidates.emplace_back(next);
    candidates.emplace_back(std::nextafter(next, towards));
  }

  /// Steps of tenths, or as small as the bounds make necessary.
  static int fraction_exponent(const std::optional<Decimal>& low, const std::optional<Decimal>& high) {
    if (!low || !high) return -1;
    const Decimal width = high->plus(low->negated());
    return width.is_zero() ? -1 : std::min(-1, width.magnitude() - 2);
  }

  /// A multiple of the step between the bounds, near zero where possible.
  template <typename Fits>
  std::optional<Json> on_grid(const Decimal& step, const std::optional<Decimal>& low,
                              const std::optional<Decimal>& high, bool exact, std::size_t taken, const Fits& fits) {
    const Decimal window(std::to_string(100 + 4 * taken));
    std::optional<Decimal> least;
    std::optional<Decimal> most;
    if (low) least = low->ceiling_over(step);
    if (high) most = high->floor_over(step);
    if (least && most && least->compare(*most) > 0) return std::nullopt;
    Decimal base;
    if (least && base.compare(*least) < 0) base = *least;
    if (most && base.compare(*most) > 0) base = *most;
    Decimal top = base.plus(window);
    if (most && top.compare(*most) > 0) {
      top = *most;
      base = top.plus(window.negated());
      if (least && base.compare(*least) < 0) base = *least;
    }
    const Decimal width = top.plus(base.negated());
    const std::size_t choices = static_cast<std::size_t>(std::stoul(width.is_zero() ? "0" : width.scaled(0))) + 1;
    constexpr std::size_t draws = 20;  // at random first, then one after another: those taken lie close together
    const std::size_t first = static_cast<std::size_t>(random_.below(choices));
    for (std::size_t index = 0; index < draws + choices; ++index) {
      const std::size_t offset =
          index < draws ? static_cast<std::size_t>(random_.below(choices)) : (first + index) % choices;
      const Decimal wanted = base.plus(Decimal(std::to_string(offset))).times(step);
      budget_.spend(1 + wanted.digits().size());
      std::optional<Json> value = to_json(wanted);
      if (!value || (exact && Decimal::of(*value).compare(wanted) != 0)) continue;
      if (fits(*value)) return value;
    }
    return std::nullopt;
  }

  // -- strings

  std::optional<Json> string(const Demand& demand, std::size_t attempt) {
    std::size_t least = 0;
    std::size_t most = none;
    std::vector<const Pattern*> patterns;
    bool formatted = false;
    if (demand.pattern != none) patterns.push_back(&program_.pattern(demand.pattern));
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      least = std::max(least, node.min_length);
      most = std::min(most, node.max_length);
      formatted = formatted || node.format != Format::any;
      if (node.pattern == none) continue;
      const Pattern* pattern = &program_.pattern(node.pattern);
      if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
    }
    if (least > most) return fail(demand, "", "The least length is above the greatest.");
    if (least > max_characters) {
      return fail(demand, "", "At most " + std::to_string(max_characters) + " characters can be asked for.");
    }
    if (formatted) return formatted_string(demand, patterns, least, most);
    if (patterns.empty()) return Json(plain_string(least, most, attempt));
    std::optional<std::string> made = matching(patterns, least, most, attempt);
    if (!made) return fail(demand, "", "No text was found that matches all patterns with a length that is allowed.");
    return Json(std::move(*made));
  }

  std::string plain_string(std::size_t least, std::size_t most, std::size_t attempt) {
    if (attempt % 2 == 1) {  // words alone run out: there are few short ones
      const std::size_t longest = std::min(most, std::max<std::size_t>(least, 8));
      return random_.alphanumeric(least + static_cast<std::size_t>(random_.below(longest - least + 1)));
    }
    if (attempt % 4 == 2 && most < 4) {  // nor are there many short texts of letters and digits
      std::string made(std::max<std::size_t>(least, most), ' ');
      for (char& character : made) character = static_cast<char>('!' + random_.below('~' - '!' + 1));
      return made;
    }
    const std::size_t count = 1 + static_cast<std::size_t>(random_.below(3)) + attempt / 8;
    std::string made = words::word(random_);
    for (std::size_t index = 1; index < count || made.size() < least; ++index) made += " " + words::word(random_);
    const std::size_t longest = std::min(most, std::max<std::size_t>(least, 40));
    if (made.size() > longest) {
      const std::size_t space = made.rfind(' ', longest);
      made.resize(space != std::string::npos && space >= least && space > 0 ? space : longest);
    }
    if (!made.empty() && made.back() == ' ') made.back() = 's';
    return made;
  }

  /// Whole matches in printable ASCII look best; the rest is for patterns that cannot have them.
  std::optional<std::string> matching(const std::vector<const Pattern*>& patterns, std::size_t least, std::size_t most,
                                      std::size_t attempt) {
    const std::size_t spare = 6 + attempt;
    const bool whole_first = attempt % 3 != 2;  // the whole matches may be few
    for (const bool plain : {true, false}) {
      for (const bool whole : {whole_first, !whole_first}) {
        const auto key = std::make_pair(patterns, std::make_pair(plain, whole));
        auto walk = walks_.find(key);
        if (walk == walks_.end()) walk = walks_.try_emplace(key, patterns, whole, plain, budget_).first;
        std::optional<std::string> made = walk->second.text_of(least, most, whole ? spare : attempt, random_);
        if (made) return made;
      }
    }
    return std::nullopt;
  }

  std::optional<Json> formatted_string(const Demand& demand, const std::vector<const Pattern*>& patterns,
                                       std::size_t least, std::size_t most) {
    constexpr std::size_t attempts = 60;
    constexpr std::size_t longest_format = 260;
    const auto fits = [&](const std::string& candidate) {
      for (const std::size_t index : demand.nodes) {
        if (checker_.string_verdict(program_.node(index), candidate) != Verdict::yes) return false;
      }
      return true;
    };
    const std::size_t longest = std::min(most, std::max<std::size_t>(least, 40));
    for (std::size_t attempt = 0; attempt < attempts && least <= longest_format; ++attempt) {
      for (const std::size_t index : demand.nodes) {
        const Format format = program_.node(index).format;
        if (format == Format::any) continue;
        std::size_t length = 0;
        if (attempt > 0) length = least + static_cast<std::size_t>(random_.below(longest - least + 1));
        std::string candidate = format_text(format, length, random_);
        if (fits(candidate)) return Json(std::move(candidate));
      }
    }
    for (std::size_t attempt = 0; attempt < attempts && !patterns.empty(); ++attempt) {
      std::optional<std::string> candidate = matching(patterns, least, most, attempt);
      if (!candidate) break;
      if (fits(*candidate)) return Json(std::move(*candidate));
    }
    return fail(demand, "", "No text was found that has the format and satisfies the other bounds.");
  }

  // -- arrays

  struct Row {  // what the subschemas say about an array, together
    std::size_t least = 0;
    std::size_t most = max_items;
    std::size_t size = 0;  // to aim at
    bool unique = false;
    std::size_t prefix = 0;           // places with subschemas of their own
    std::vector<std::size_t> wanted;  // by `contains`
  };

  std::optional<Json> array(const Demand& demand, std::size_t depth, std::size_t attempt) {
    Row row;
    bool recursive = false;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      row.least = std::max(row.least, node.min_items);
      row.most = std::min(row.most, node.max_items);
      row.prefix = std::max(row.prefix, node.prefix.size());
      row.unique = row.unique || node.unique_items;
      if (node.items != none) recursive = recursive || is_recursion(node, node.items);
      for (const std::size_t part : node.prefix) recursive = recursive || is_recursion(node, part);
      if (node.contains != none) row.wanted.push_back(node.contains);
    }
    if (row.least > row.most) return fail(demand, "", "The least number of items is above the greatest.");
    const bool brief = output_ > generous_values || attempt % 4 == 1 || (recursive && depth >= relaxed_depth);
    row.size = row.least;
    if (!brief) {
      const std::size_t some = 1 + static_cast<std::size_t>(random_.below(3 + attempt / 8));
      row.size = std::max({row.least, row.prefix, recursive ? 1 : some});
    }
    row.size = std::min(row.size, row.most);
    std::optional<Json> made = filled(demand, row, depth, false);
    if (!made && !row.wanted.empty()) made = filled(demand, row, depth, true);
    return made;
  }

  /// What `contains` asks for is placed among the last items, or as early as it fits.
  std::optional<Json> filled(const Demand& demand, const Row& row, std::size_t depth, bool early) {
    std::vector<std::size_t> wanted = row.wanted;
    Json made = Json::array();
    Taken items;
    const Taken* taken = row.unique ? &items : nullptr;
    while (made.size() < row.most && (made.size() < row.size || !wanted.empty())) {
      const std::vector<std::size_t> parts = item_nodes(demand, made.size());
      std::optional<Json> item;
      const bool due = early || made.size() + wanted.size() >= row.size;
      if (due && wanted.size() > 1) {
        std::vector<std::size_t> all = parts;
        all.insert(all.end(), wanted.begin(), wanted.end());
        item = make(all, taken, depth + 1, all_bits);
      }
      for (std::size_t place = 0; place < wanted.size() && due && !item; ++place) {
        std::vector<std::size_t> both = parts;
        both.push_back(wanted[place]);
        item = make(both, taken, depth + 1, all_bits);
      }
      if (!item) item = make(parts, taken, depth + 1, all_bits);
      if (!item) {
        if (made.size() >= row.least && wanted.empty()) break;
        return std::nullopt;
      }
      // One item may satisfy several, whether it was made for them or not.
      const auto is_met = [&](std::size_t node) { return checker_.verdict(node, *item) == Verdict::yes; };
      const auto unmet = std::remove_if(wanted.begin(), wanted.end(), is_met);
      // Beyond the prefix all places are alike: what does not fit one of them fits none.
      if (due && unmet == wanted.end() && !wanted.empty() && made.size() >= row.prefix) break;
      wanted.erase(unmet, wanted.end());
      if (row.unique) items.insert(canonical(*item));
      made.push_back(std::move(*item));
    }
    if (!wanted.empty()) return fail_at(wanted.front(), "", "No item was found that \"contains\" asks for.");
    return made;
  }

  std::vector<std::size_t> item_nodes(const Demand& demand, std::size_t place) const {
    std::vector<std::size_t> parts;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      const std::size_t part = place < node.prefix.size() ? node.prefix[place] : node.items;
      if (part != none) parts.push_back(part);
    }
    return parts;
  }

  // -- objects

  struct Shape {  // what the subschemas say about an object, together
    std::vector<std::string> declared;
    std::set<std::string> known;  // the same names
    std::vector<std::string> required;
    std::vector<std::size_t> name_nodes;
    std::size_t least = 0;
    std::size_t most = none;
    bool is_map = false;  // only additional properties, of a stated schema
  };

  using Values = std::map<std::string, Json>;

  Shape shape_of(const Demand& demand) const {
    Shape shape;
    bool open = false;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      for (const std::string& name : node.names) {
        if (shape.known.insert(name).second) shape.declared.push_back(name);
      }
      shape.required.insert(shape.required.end(), node.required.begin(), node.required.end());
      shape.least = std::max(shape.least, node.min_properties);
      shape.most = std::min(shape.most, node.max_properties);
      if (node.property_names != none) shape.name_nodes.push_back(node.property_names);
      if (node.additional != none && !program_.node(node.additional).json->empty() &&
          program_.node(node.additional).json->is_object()) {
        open = !is_recursion(node, node.additional);
      }
    }
    shape.is_map = open && shape.declared.empty();
    return shape;
  }

  std::vector<std::size_t> property_nodes(const Demand& demand, const std::string& name) {
    std::vector<std::size_t> parts;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      budget_.spend(1);
      bool known = false;
      const auto property = node.properties.find(name);
      if (property != node.properties.end()) {
        known = true;
        parts.push_back(property->second);
      }
      for (const auto& [matcher, part] : node.pattern_properties) {
        if (!checker_.matches(matcher, name)) continue;
        known = true;
        parts.push_back(part);
      }
      if (!known && node.additional != none) parts.push_back(node.additional);
    }
    return parts;
  }

  bool is_name_allowed(const Shape& shape, const std::string& name) {
    for (const std::size_t node : shape.name_nodes) {
      if (checker_.verdict(node, Json(name)) != Verdict::yes) return false;
    }
    return true;
  }

  /// The names that must be there when `names` are, themselves included, without those that are there already.
  std::vector<std::string> with_dependents(const Demand& demand, const std::vector<std::string>& names,
                                           const Values& present) const {
    std::vector<std::string> all;
    std::set<std::string> seen;
    std::vector<std::string> pending(names.rbegin(), names.rend());
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      if (present.count(name) != 0 || !seen.insert(name).second) continue;
      all.push_back(name);
      for (const std::size_t index : demand.nodes) {
        const auto& dependents = program_.node(index).dependents;
        const auto others = dependents.find(name);
        if (others != dependents.end()) pending.insert(pending.end(), others->second.begin(), others->second.end());
      }
    }
    return all;
  }

  /// Adds all of the names with a value each, or none.
  bool add_properties(const Demand& demand, const Shape& shape, const std::vector<std::string>& names,
                      std::size_t depth, Values& values, std::vector<std::string>& order) {
    if (values.size() + names.size() > shape.most) {
      fail(demand, "", "More properties are needed than are allowed.");
      return false;
    }
    Values made;
    for (const std::string& name : names) {
      if (!is_name_allowed(shape, name)) {
        fail(demand, "", "The property " + quoted(Json(name)) + " is needed, but its name is not allowed.");
        return false;
      }
      std::optional<Json> value = make(property_nodes(demand, name), nullptr, depth + 1, all_bits);
      if (!value) return false;
      made.emplace(name, std::move(*value));
    }
    for (const std::string& name : names) {
      values[name] = std::move(made[name]);
      if (shape.known.count(name) == 0) order.push_back(name);
    }
    return true;
  }

  std::optional<Json> object(const Demand& demand, std::size_t depth, std::size_t attempt) {
    const Shape shape = shape_of(demand);
    if (shape.least > shape.most) return fail(demand, "", "The least number of properties is above the greatest.");
    Values values;
    std::vector<std::string> undeclared;  // in the order in which they came
    if (!add_properties(demand, shape, with_dependents(demand, shape.required, values), depth, values, undeclared)) {
      return std::nullopt;
    }
    std::vector<std::string> skipped;
    for (const std::string& name : shape.declared) {
      if (values.count(name) != 0) continue;
      // Later attempts are for schemas that forbid combinations: fewer properties, then any selection.
      const bool wanted = attempt == 0 || (attempt > 1 && random_.below(2) == 0);
      if (!wanted || output_ > generous_values || is_recursion(demand, property_nodes(demand, name)) ||
          !add_properties(demand, shape, with_dependents(demand, {name}, values), depth, values, undeclared)) {
        skipped.push_back(name);
      }
    }
    for (const std::string& name : skipped) {
      if (values.size() >= shape.least) break;
      if (values.count(name) == 0) {
        add_properties(demand, shape, with_dependents(demand, {name}, values), depth, values, undeclared);
      }
    }
    std::size_t goal = shape.least;
    if (shape.is_map && attempt == 0 && output_ <= generous_values) {
      goal = std::max<std::size_t>(goal, 1 + random_.below(2));
    } else if (attempt > 2) {  // objects that must differ may need more to differ in
      goal = std::max<std::size_t>(goal, values.size() + random_.below(3));
    }
    if (goal > values.size() + max_new_names) {
      return fail(demand, "/minProperties", "Too many properties are asked for.");
    }
    if (!invent_properties(demand, shape, goal, depth, values, undeclared) && values.size() < shape.least) {
      return fail(demand, "/minProperties", "Not enough properties could be found.");
    }
    Json made = Json::object();
    auto& members = made.get_ref<Json::object_t&>();
    for (const std::vector<std::string>* names :
         {&shape.declared, static_cast<const std::vector<std::string>*>(&undeclared)}) {
      for (const std::string& name : *names) {
        const auto value = values.find(name);
        if (value == values.end()) continue;
        output_size_ += name.size();
        members.emplace_back(name, std::move(value->second));  // the names are known to differ
      }
    }
    return made;
  }

  bool invent_properties(const Demand& demand, const Shape& shape, std::size_t goal, std::size_t depth, Values& values,
                         std::vector<std::string>& order) {
    constexpr std::size_t patience = 20;
    std::vector<std::size_t> matchers;
    for (const std::size_t index : demand.nodes) {
      for (const auto& [matcher, node] : program_.node(index).pattern_properties) matchers.push_back(matcher);
    }
    Taken taken;
    for (const auto& [name, value] : values) taken.insert(canonical(Json(name)));
    std::size_t failures = 0;
    for (std::size_t attempt = 0; values.size() < goal && values.size() < shape.most && failures < patience;
         ++attempt) {
      const std::optional<Json> made = invent_name(shape, matchers, taken, attempt);
      const std::string name = made ? made->get<std::string>() : std::string();
      const bool usable = made && values.count(name) == 0 && shape.known.count(name) == 0;
      if (made) taken.insert(canonical(*made));
      if (!usable || !add_properties(demand, shape, with_dependents(demand, {name}, values), depth, values, order)) {
        ++failures;
      }
    }
    return values.size() >= goal;
  }

  /// A name that is not declared, for patternProperties and for additionalProperties by turns.
  std::optional<Json> invent_name(const Shape& shape, const std::vector<std::size_t>& matchers, const Taken& taken,
                                  std::size_t attempt) {
    const bool matched = !matchers.empty() && attempt % 2 == 0;
    if (!matched && shape.name_nodes.empty()) {
      return Json(words::word(random_) + (attempt < 4 ? "" : "_" + std::to_string(attempt)));
    }
    Demand demand;
    demand.types = string_bit;
    for (const std::size_t node : shape.name_nodes) expand(demand, node);
    if (matched) demand.pattern = matchers[random_.below(matchers.size())];
    return choose(demand, &taken, max_instance_depth);
  }

  const Program& program_;
  Budget& budget_;
  Checker checker_;
  Random& random_;
  std::map<std::pair<std::vector<const Pattern*>, std::pair<bool, bool>>, PatternWalk> walks_;
  std::map<const Node*, std::vector<std::string>> listed_;
  std::size_t output_ = 0;       // values made, those that were dropped included
  std::size_t output_size_ = 0;  // and about their bytes
  std::string failure_path_;
  std::string failure_ = "No instance was found.";
};

}  // namespace instances

void check(const Json& schema) { const Program program(schema); }

Json instance(const Json& schema, Random& random) {
  const Program program(schema);
  Budget budget;
  return instances::Maker(program, budget, random).root();
}

bool accepts(const Json& schema, const Json& value) {
  const Program program(schema);
  if (!within_depth(value, max_value_depth)) throw Unsupported{"", "The value is nested too deeply."};
  Budget budget;
  return Checker(program, budget).verdict(0, value) == Verdict::yes;
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
