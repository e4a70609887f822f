#include "schema_pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

inline constexpr std::size_t max_pattern_states = 20000;
inline constexpr std::size_t max_pattern_nesting = 100;
inline constexpr std::size_t max_automaton_states = 5000;
inline constexpr std::size_t max_automaton_entries = 1500000;

void CharacterSet::normalize() {
  std::sort(ranges_.begin(), ranges_.end());
  std::vector<std::pair<char32_t, char32_t>> merged;
  for (const auto& range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().second + 1) {
      merged.back().second = std::max(merged.back().second, range.second);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
}

void CharacterSet::invert() {
  normalize();
  std::vector<std::pair<char32_t, char32_t>> inverted;
  char32_t next = 0;
  for (const auto& range : ranges_) {
    if (range.first > next) inverted.emplace_back(next, range.first - 1);
    next = range.second + 1;
  }
  if (next <= 0x10ffff) inverted.emplace_back(next, 0x10ffff);
  ranges_ = std::move(inverted);
}

bool CharacterSet::contains(char32_t character) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), character,
                                      [](char32_t value, const auto& range) { return value < range.first; });
  return after != ranges_.begin() && character <= std::prev(after)->second;
}

namespace patterns {

enum class TermKind { set, begin, end, sequence, alternatives, repeat };

struct Term {
  TermKind kind = TermKind::sequence;
  std::size_t set = none;
  std::vector<std::size_t> parts;
  std::size_t least = 0;
  std::size_t most = none;
};

class PatternParser {
 public:
  /// `path` is where in the schema the pattern stands.
  PatternParser(const std::string& source, const std::string& path) : path_(path) {
    for (std::size_t offset = 0; offset < source.size();) {
      char32_t character = 0;
      const std::size_t length = text::decode_utf8(source, offset, character);
      if (length == 0) refuse("is not UTF-8");
      source_.push_back(character);
      offset += length;
    }
  }

  Pattern parse() {
    const std::size_t root = alternatives(0);
    if (!at_end()) refuse("has a ')' without a '('");
    Pattern pattern;
    pattern.sets = std::move(sets_);
    pattern.states.push_back(PatternState{});
    pattern.start = emit(pattern, root, 0);
    return pattern;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Unsupported{path_, "The pattern " + what + " (at character " + std::to_string(position_ + 1) + ")."};
  }

  bool at_end() const { return position_ >= source_.size(); }
  char32_t peek(std::size_t ahead = 0) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : U'\0';
  }
  bool take(char32_t character) {
    if (at_end() || peek() != character) return false;
    ++position_;
    return true;
  }

  std::size_t add(Term term) {
    terms_.push_back(std::move(term));
    return terms_.size() - 1;
  }
  std::size_t add_set(CharacterSet set) {
    set.normalize();
    sets_.push_back(std::move(set));
    Term term;
    term.kind = TermKind::set;
    term.set = sets_.size() - 1;
    return add(std::move(term));
  }

  std::size_t alternatives(std::size_t nesting) {
    if (nesting > max_pattern_nesting) refuse("nests its groups too deeply");
    Term term;
    term.kind = TermKind::alternatives;
    do {
      term.parts.push_back(sequence(nesting));
    } while (take(U'|'));
    return term.parts.size() == 1 ? term.parts.front() : add(std::move(term));
  }

  std::size_t sequence(std::size_t nesting) {
    Term term;
    term.kind = TermKind::sequence;
    while (!at_end() && peek() != U'|' && peek() != U')') term.parts.push_back(quantified(nesting));
    return term.parts.size() == 1 ? term.parts.front() : add(std::move(term));
  }

  std::size_t quantified(std::size_t nesting) {
    const std::size_t part = atom(nesting);
    Term term;
    term.kind = TermKind::repeat;
    if (take(U'*')) {
      term.least = 0, term.most = none;
    } else if (take(U'+')) {
      term.least = 1, term.most = none;
    } else if (take(U'?')) {
      term.least = 0, term.most = 1;
    } else if (take(U'{')) {
      term.least = count();
      term.most = term.least;
      if (take(U',')) term.most = peek() == U'}' ? none : count();
      if (!take(U'}')) refuse("has a '{' that is no quantifier; a literal one is written \\{");
      if (term.most < term.least) refuse("has a quantifier whose bounds are out of order");
    } else {
      return part;
    }
    if (terms_[part].kind == TermKind::begin || terms_[part].kind == TermKind::end) refuse("repeats an anchor");
    take(U'?');  // lazy: the same texts match
    const char32_t next = peek();
    if (!at_end() && (next == U'*' || next == U'+' || next == U'?' || next == U'{')) refuse("has nothing to repeat");
    term.parts.push_back(part);
    return add(std::move(term));
  }

  std::size_t count() {
    if (peek() < U'0' || peek() > U'9') refuse("has a '{' that is no quantifier; a literal one is written \\{");
    std::size_t value = 0;
    while (peek() >= U'0' && peek() <= U'9') {
      value = value * 10 + (source_[position_++] - U'0');
      if (value > max_characters) refuse("has a quantifier above " + std::to_string(max_characters));
    }
    return value;
  }

  std::size_t atom(std::size_t nesting) {
    const char32_t character = source_[position_++];
    CharacterSet set;
    Term term;
    switch (character) {
      case U'^': term.kind = TermKind::begin; return add(std::move(term));
      case U'$': term.kind = TermKind::end; return add(std::move(term));
      case U'(': return group(nesting);
      case U'[': return add_set(bracket());
      case U'\\': return add_set(escape(false));
      case U'.':
        for (const char32_t line_end : {U'\n', U'\r', U'\u2028', U'\u2029'}) set.add(line_end, line_end);
        set.invert();
        return add_set(std::move(set));
      case U'*':
      case U'+':
      case U'?': --position_; refuse("has nothing to repeat");
      case U'{':
      case U'}':
      case U']': --position_; refuse("has a bare '{', '}' or ']'; a literal one is written with a backslash");
      default: set.add(character, character); return add_set(std::move(set));
    }
  }

  std::size_t group(std::size_t nesting) {
    if (take(U'?')) {
      if (take(U'<')) {
        if (peek() == U'=' || peek() == U'!') refuse("uses lookbehind, which is not supported");
        while (!at_end() && peek() != U'>') ++position_;
        if (!take(U'>')) refuse("has a group whose name does not end");
      } else if (peek() == U'=' || peek() == U'!') {
        refuse("uses lookahead, which is not supported");
      } else if (!take(U':')) {
        refuse("uses a kind of group that is not supported");
      }
    }
    const std::size_t inner = alternatives(nesting + 1);
    if (!take(U')')) refuse("has a '(' without a ')'");
    // Wrapped, so that a quantifier after a group that holds only an anchor is not mistaken for a repeated anchor.
    Term term;
    term.kind = TermKind::sequence;
    term.parts.push_back(inner);
    return add(std::move(term));
  }

  std::optional<char32_t> hexadecimal(std::size_t digits) {
    char32_t value = 0;
    for (std::size_t index = 0; index < digits; ++index) {
      const char32_t digit = peek(index);
      if (digit >= U'0' && digit <= U'9') {
        value = value * 16 + (digit - U'0');
      } else if (digit >= U'a' && digit <= U'f') {
        value = value * 16 + (digit - U'a' + 10);
      } else if (digit >= U'A' && digit <= U'F') {
        value = value * 16 + (digit - U'A' + 10);
      } else {
        return std::nullopt;
      }
    }
    position_ += digits;
    return value;
  }

  char32_t unicode_escape() {
    if (take(U'{')) {
      std::size_t digits = 0;
      while (peek(digits) != U'}' && digits < 7) ++digits;
      const std::optional<char32_t> value = digits == 0 ? std::nullopt : hexadecimal(digits);
      if (!value || !take(U'}') || *value > 0x10ffff) refuse("has a malformed \\u{…} escape");
      return *value;
    }
    const std::optional<char32_t> value = hexadecimal(4);
    if (!value) refuse("has a malformed \\u escape");
    if (*value >= 0xd800 && *value <= 0xdbff && peek() == U'\\' && peek(1) == U'u') {
      const std::size_t back = position_;
      position_ += 2;
      const std::optional<char32_t> low = hexadecimal(4);
      if (low && *low >= 0xdc00 && *low <= 0xdfff) return 0x10000 + ((*value - 0xd800) << 10) + (*low - 0xdc00);
      position_ = back;
    }
    return *value;
  }

  /// What follows a backslash.
  CharacterSet escape(bool in_class) {
    if (at_end()) refuse("ends with a backslash");
    const char32_t character = source_[position_++];
    CharacterSet set;
    const auto single = [&set](char32_t value) {
      set.add(value, value);
      return set;
    };
    switch (character) {
      case U'd':
      case U'D': set.add(U'0', U'9'); break;
      case U'w':
      case U'W':
        set.add(U'0', U'9');
        set.add(U'A', U'Z');
        set.add(U'_', U'_');
        set.add(U'a', U'z');
        break;
      case U's':
      case U'S':
        set.add(0x09, 0x0d);
        set.add(0x2000, 0x200a);
        for (const char32_t space : {0x20u, 0xa0u, 0x1680u, 0x2028u, 0x2029u, 0x202fu, 0x205fu, 0x3000u, 0xfeffu}) {
          set.add(space, space);
        }
        break;
      case U't': return single(U'\t');
      case U'n': return single(U'\n');
      case U'v': return single(U'\v');
      case U'f': return single(U'\f');
      case U'r': return single(U'\r');
      case U'0':
        if (peek() >= U'0' && peek() <= U'9') refuse("uses an octal escape, which is not supported");
        return single(0);
      case U'c': {
        const char32_t letter = peek();
        const bool is_letter = (letter >= U'a' && letter <= U'z') || (letter >= U'A' && letter <= U'Z');
        if (!is_letter) refuse("has a malformed \\c escape");
        ++position_;
        return single(letter & 0x1fu);
      }
      case U'x': {
        const std::optional<char32_t> value = hexadecimal(2);
        if (!value) refuse("has a malformed \\x escape");
        return single(*value);
      }
      case U'u': return single(unicode_escape());
      case U'b':
        if (in_class) return single(U'\b');
        refuse("uses \\b, which is not supported");
      case U'B': refuse("uses \\B, which is not supported");
      case U'p':
      case U'P': refuse("uses a Unicode property, which is not supported");
      case U'k': refuse("uses a backreference, which is not supported");
      default:
        if (character >= U'1' && character <= U'9') refuse("uses a backreference, which is not supported");
        if ((character >= U'a' && character <= U'z') || (character >= U'A' && character <= U'Z') || character >= 0x80 ||
            character < 0x21) {
          refuse("has an escape that is not supported");
        }
        return single(character);
    }
    if (character == U'D' || character == U'W' || character == U'S') set.invert();
    return set;
  }

  CharacterSet class_member() {
    const char32_t character = source_[position_++];
    if (character == U'\\') return escape(true);
    CharacterSet set;
    set.add(character, character);
    return set;
  }

  CharacterSet bracket() {
    const bool inverted = take(U'^');
    if (peek() == U']') refuse("has an empty character class");
    CharacterSet set;
    const auto is_single = [](const CharacterSet& members) {
      return members.ranges().size() == 1 && members.ranges()[0].first == members.ranges()[0].second;
    };
    for (;;) {
      if (at_end()) refuse("has a '[' without a ']'");
      if (take(U']')) break;
      const CharacterSet first = class_member();
      if (peek() == U'-' && peek(1) != U']' && position_ + 1 < source_.size()) {
        const std::size_t hyphen = position_++;
        const CharacterSet last = class_member();
        if (is_single(first) && is_single(last)) {
          const char32_t low = first.ranges()[0].first;
          const char32_t high = last.ranges()[0].first;
          if (low > high) refuse("has a range that is out of order");
          set.add(low, high);
          continue;
        }
        position_ = hyphen;  // beside a class such as \w the hyphen is literal
      }
      set.add(first);
    }
    if (inverted) set.invert();
    return set;
  }

  std::size_t add_state(Pattern& pattern, StateKind kind, std::size_t next) {
    if (pattern.states.size() >= max_pattern_states) refuse("is too large");
    PatternState state;
    state.kind = kind;
    state.next = next;
    pattern.states.push_back(state);
    return pattern.states.size() - 1;
  }

  /// Adds the states of a term that continue with `next`, and returns where they start.
  std::size_t emit(Pattern& pattern, std::size_t index, std::size_t next) {
    const Term& term = terms_[index];
    switch (term.kind) {
      case TermKind::begin: return add_state(pattern, StateKind::begin, next);
      case TermKind::end: return add_state(pattern, StateKind::end, next);
      case TermKind::set: {
        const std::size_t state = add_state(pattern, StateKind::set, next);
        pattern.states[state].set = term.set;
        return state;
      }
      case TermKind::sequence:
        for (std::size_t part = term.parts.size(); part-- > 0;) next = emit(pattern, term.parts[part], next);
        return next;
      case TermKind::alternatives: {
        std::size_t start = emit(pattern, term.parts.back(), next);
        for (std::size_t part = term.parts.size() - 1; part-- > 0;) {
          const std::size_t first = emit(pattern, term.parts[part], next);
          const std::size_t split = add_state(pattern, StateKind::split, first);
          pattern.states[split].alternative = start;
          start = split;
        }
        return start;
      }
      case TermKind::repeat: break;
    }
    std::size_t start = next;
    if (term.most == none) {
      start = add_state(pattern, StateKind::split, none);
      const std::size_t body = emit(pattern, term.parts[0], start);
      pattern.states[start].next = body;
      pattern.states[start].alternative = next;
    } else {
      for (std::size_t copy = term.least; copy < term.most; ++copy) {
        const std::size_t body = emit(pattern, term.parts[0], start);
        const std::size_t split = add_state(pattern, StateKind::split, body);
        pattern.states[split].alternative = next;
        start = split;
      }
    }
    for (std::size_t copy = 0; copy < term.least; ++copy) start = emit(pattern, term.parts[0], start);
    return start;
  }

  std::string path_;
  std::u32string source_;
  std::size_t position_ = 0;
  std::vector<Term> terms_;
  std::vector<CharacterSet> sets_;
};

}  // namespace patterns

Pattern parse_pattern(const std::string& source, const std::string& path) {
  return patterns::PatternParser(source, path).parse();
}

std::vector<std::size_t> PatternRun::closure(const std::vector<std::size_t>& from, bool at_start, bool at_end) {
  ++generation_;
  std::vector<std::size_t> reached;
  pending_ = from;
  while (!pending_.empty()) {
    const std::size_t index = pending_.back();
    pending_.pop_back();
    if (seen_[index] == generation_) continue;
    seen_[index] = generation_;
    const PatternState& state = pattern_.states[index];
    switch (state.kind) {
      case StateKind::split:
        pending_.push_back(state.alternative);
        pending_.push_back(state.next);
        break;
      case StateKind::begin:
        if (at_start) pending_.push_back(state.next);
        break;
      case StateKind::end:
        if (at_end) pending_.push_back(state.next);
        reached.push_back(index);
        break;
      case StateKind::set:
      case StateKind::match: reached.push_back(index); break;
    }
  }
  budget_.spend(1 + reached.size());
  std::sort(reached.begin(), reached.end());
  return reached;
}

std::vector<std::size_t> PatternRun::step(const std::vector<std::size_t>& states, char32_t character) const {
  std::vector<std::size_t> next;
  for (const std::size_t index : states) {
    const PatternState& state = pattern_.states[index];
    if (state.kind == StateKind::set && pattern_.sets[state.set].contains(character)) next.push_back(state.next);
  }
  return next;
}

bool PatternRun::search(std::string_view subject) {
  std::vector<std::size_t> states = closure({pattern_.start}, true, false);
  for (std::size_t offset = 0;;) {
    if (matched(states)) return true;
    if (offset >= subject.size()) return matched(closure(states, offset == 0, true));
    char32_t character = 0xfffd;
    const std::size_t length = std::max<std::size_t>(1, text::decode_utf8(subject, offset, character));
    offset += length;
    std::vector<std::size_t> next = step(states, character);
    next.push_back(pattern_.start);
    states = closure(next, false, false);
  }
}

PatternWalk::PatternWalk(const std::vector<const Pattern*>& patterns, bool whole, bool plain, Budget& budget)
    : patterns_(patterns), whole_(whole), budget_(budget) {
  for (const Pattern* pattern : patterns_) runs_.emplace_back(*pattern, budget);
  make_atoms(plain);
  std::vector<Set> sets;
  for (std::size_t index = 0; index < patterns_.size(); ++index) {
    sets.push_back(settle(runs_[index].closure({patterns_[index]->start}, true, false)));
  }
  add_state(std::move(sets), true);
}

std::optional<std::string> PatternWalk::text_of(std::size_t least, std::size_t most, std::size_t spare,
                                                Random& random) {
  std::vector<Entry> entries{Entry{0, none, none}};
  std::vector<std::size_t> layer_of_state;  // entry of each state in the layer that is being made
  std::vector<std::size_t> weights;
  std::vector<std::size_t> endings;
  std::size_t layer = 0;
  std::size_t longest = most;
  for (std::size_t length = 0;; ++length) {
    const std::size_t layer_end = entries.size();
    if (length >= least) {
      std::size_t choices = 0;
      std::size_t chosen = none;
      for (std::size_t entry = layer; entry < layer_end; ++entry) {
        if (accepting_[entries[entry].state] && random.below(++choices) == 0) chosen = entry;
      }
      if (chosen != none) {
        if (endings.empty()) longest = std::min(most, length + spare);
        endings.push_back(chosen);
      }
    }
    const std::size_t dead_end = std::max<std::size_t>(least, max_automaton_states);
    if (length >= longest || (endings.empty() && length > dead_end + accepting_.size())) break;
    layer_of_state.assign(accepting_.size(), none);
    weights.clear();
    for (std::size_t entry = layer; entry < layer_end; ++entry) {
      for (std::size_t atom = 0; atom < atoms_.size(); ++atom) {
        const std::size_t next = transition(entries[entry].state, atom);
        if (next == none) continue;
        budget_.spend(1);
        if (next >= layer_of_state.size()) layer_of_state.resize(next + 1, none);
        if (layer_of_state[next] == none) {
          layer_of_state[next] = entries.size();
          entries.push_back(Entry{next, entry, atom});
          weights.push_back(atoms_[atom].weight);
        } else {
          // One of all ways here, chosen in proportion to the weights without storing them.
          const std::size_t known = layer_of_state[next];
          std::size_t& total = weights[known - layer_end];
          total += atoms_[atom].weight;
          if (random.below(total) < atoms_[atom].weight) entries[known] = Entry{next, entry, atom};
        }
      }
    }
    if (entries.size() == layer_end || entries.size() > max_automaton_entries) break;
    layer = layer_end;
  }
  if (endings.empty()) return std::nullopt;
  std::u32string reversed;
  std::size_t entry = endings[random.below(endings.size())];
  for (; entries[entry].before != none; entry = entries[entry].before) {
    reversed.push_back(character_of(atoms_[entries[entry].atom], random));
  }
  std::string made;
  for (std::size_t index = reversed.size(); index-- > 0;) text::append_utf8(made, reversed[index]);
  return made;
}

void PatternWalk::make_atoms(bool plain) {
  std::set<char32_t> starts{0,    0x20, U'0', U'9' + 1, U'A',   U'Z' + 1, U'a',    U'z' + 1,
                            0x7f, 0xa1, 0xc0, 0x100,    0xd800, 0xe000,   0x110000};
  for (const Pattern* pattern : patterns_) {
    for (const CharacterSet& set : pattern->sets) {
      for (const auto& range : set.ranges()) {
        starts.insert(range.first);
        starts.insert(range.second + 1);
      }
    }
  }
  for (auto start = starts.begin(); std::next(start) != starts.end(); ++start) {
    const char32_t first = *start;
    const char32_t last = *std::next(start) - 1;
    const bool surrogate = first >= 0xd800 && first <= 0xdfff;
    const bool printable = first >= 0x20 && last <= 0x7e;
    if (surrogate || (plain && !printable)) continue;
    const std::size_t weight = !is_letter_or_digit(first) ? 1 : first >= U'a' ? 8 : 4;
    atoms_.push_back(Atom{first, last, weight});
  }
}

std::size_t PatternWalk::add_state(std::vector<Set> sets, bool at_start) {
  bool accepting = true;
  for (std::size_t index = 0; index < sets.size() && accepting; ++index) {
    accepting =
        PatternRun::matched(sets[index]) || PatternRun::matched(runs_[index].closure(sets[index], at_start, true));
  }
  accepting_.push_back(accepting);
  sets_.push_back(std::move(sets));
  transitions_.emplace_back(atoms_.size(), unknown);
  return accepting_.size() - 1;
}

std::size_t PatternWalk::transition(std::size_t state, std::size_t atom) {
  const std::size_t known = transitions_[state][atom];
  if (known != unknown) return known;
  std::vector<Set> sets;
  bool dead = false;
  for (std::size_t index = 0; index < patterns_.size() && !dead; ++index) {
    const Set& current = sets_[state][index];
    if (!whole_ && PatternRun::matched(current)) {
      sets.push_back(current);
      continue;
    }
    Set next = runs_[index].step(current, atoms_[atom].first);
    if (!whole_) next.push_back(patterns_[index]->start);
    sets.push_back(settle(runs_[index].closure(next, false, false)));
    dead = sets.back().empty();
  }
  std::size_t target = none;
  if (!dead) {
    const auto place = numbers_.find(sets);
    if (place != numbers_.end()) {
      target = place->second;
    } else if (accepting_.size() < max_automaton_states) {
      target = add_state(sets, false);
      numbers_.emplace(std::move(sets), target);
    }
  }
  transitions_[state][atom] = target;
  return target;
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
