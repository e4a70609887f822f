#include "schema_pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

namespace patterns {

inline constexpr std::size_t max_states = 20000;
inline constexpr std::size_t max_nesting = 100;

CharacterRanges normal(CharacterRanges ranges) {
  std::sort(ranges.begin(), ranges.end());
  CharacterRanges merged;
  for (const auto& range : ranges) {
    const bool touches = !merged.empty() && range.first <= merged.back().second + 1;
    if (!touches) merged.push_back(range);
    merged.back().second = std::max(merged.back().second, range.second);
  }
  return merged;
}

CharacterRanges inverse(const CharacterRanges& ranges) {
  CharacterRanges inverted;
  char32_t next = 0;
  for (const auto& range : normal(ranges)) {
    if (range.first > next) inverted.emplace_back(next, range.first - 1);
    next = range.second + 1;
  }
  if (next <= 0x10ffff) inverted.emplace_back(next, 0x10ffff);
  return inverted;
}

bool contains(const CharacterRanges& ranges, char32_t character) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), character,
                                      [](char32_t value, const auto& range) { return value < range.first; });
  return after != ranges.begin() && character <= std::prev(after)->second;
}

/// Reads a pattern from left to right. Each part becomes a block of states that begins with its first and goes on
/// behind its last, so that it can be moved and repeated.
class Parser {
 public:
  Parser(const std::string& source, const std::string& path, Budget& budget, bool lookahead)
      : path_(path), budget_(budget), lookahead_(lookahead) {
    for (std::size_t offset = 0, length = 0; offset < source.size(); offset += length) {
      char32_t character = 0;
      length = text::decode_utf8(source, offset, character);
      if (length == 0) refuse("is not UTF-8");
      source_.push_back(character);
    }
  }

  Pattern parse() {
    alternatives(0);
    if (!at_end()) refuse("has a ')' without a '('");
    insert(size(), StateKind::match);
    return std::move(made_);
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

  std::size_t size() const { return made_.states.size(); }

  /// Adds a state in front of the block that begins at `place`, or at the end. It goes on behind itself.
  void insert(std::size_t place, StateKind kind, std::size_t other = 0) {
    if (size() >= max_states) refuse("is too large");
    made_.states.insert(made_.states.begin() + static_cast<std::ptrdiff_t>(place), {kind, place + 1, other});
    move(place + 1, 1);
  }
  /// Corrects the states from `begin` on after they moved by `distance`.
  void move(std::size_t begin, std::size_t distance) {
    budget_.spend(1 + (size() - begin) / 4);
    for (std::size_t place = begin; place < size(); ++place) {
      made_.states[place].next += distance;
      if (made_.states[place].kind != StateKind::set) made_.states[place].other += distance;
    }
  }
  /// Adds a copy of a block that began at `begin`.
  void repeat(const std::vector<PatternState>& block, std::size_t begin) {
    if (size() + block.size() > max_states) refuse("is too large");
    const std::size_t copy = size();
    made_.states.insert(made_.states.end(), block.begin(), block.end());
    move(copy, copy - begin);
  }

  void add_set(const CharacterRanges& ranges) {
    made_.sets.push_back(normal(ranges));
    insert(size(), StateKind::set, made_.sets.size() - 1);
  }

  void alternatives(std::size_t nesting) {
    if (nesting > max_nesting) refuse("nests its groups too deeply");
    std::vector<std::size_t> jumps;
    for (;;) {
      const std::size_t begin = size();
      while (!at_end() && peek() != U'|' && peek() != U')') quantified(nesting);
      if (!take(U'|')) break;
      insert(begin, StateKind::split);
      jumps.push_back(size());
      insert(size(), StateKind::jump);
      made_.states[begin].other = size();
    }
    for (const std::size_t jump : jumps) made_.states[jump].next = size();
  }

  void quantified(std::size_t nesting) {
    const std::size_t begin = size();
    const bool anchor = peek() == U'^' || peek() == U'$';
    atom(nesting);
    std::size_t least = 0;
    std::size_t most = none;
    if (take(U'+')) {
      least = 1;
    } else if (take(U'?')) {
      most = 1;
    } else if (take(U'{')) {
      least = most = count();
      if (take(U',')) most = peek() == U'}' ? none : count();
      if (!take(U'}')) refuse("has a '{' that is no quantifier; a literal one is written \\{");
      if (most < least) refuse("has a quantifier whose bounds are out of order");
    } else if (!take(U'*')) {
      return;
    }
    if (anchor) refuse("repeats an anchor");
    take(U'?');  // lazy: the same texts match
    const char32_t next = peek();
    if (!at_end() && (next == U'*' || next == U'+' || next == U'?' || next == U'{')) refuse("has nothing to repeat");
    const std::vector<PatternState> block(made_.states.begin() + static_cast<std::ptrdiff_t>(begin),
                                          made_.states.end());
    made_.states.resize(begin);
    if (block.empty()) return;
    for (std::size_t copy = 0; copy < least; ++copy) repeat(block, begin);
    std::vector<std::size_t> splits;
    for (std::size_t copy = least; copy < (most == none ? least + 1 : most); ++copy) {
      splits.push_back(size());
      insert(size(), StateKind::split);
      repeat(block, begin);
    }
    if (most == none) {
      insert(size(), StateKind::jump);
      made_.states.back().next = splits[0];
    }
    for (const std::size_t split : splits) made_.states[split].other = size();
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

  void atom(std::size_t nesting) {
    const char32_t character = source_[position_++];
    switch (character) {
      case U'^': return insert(size(), StateKind::begin);
      case U'$': return insert(size(), StateKind::end);
      case U'(': return group(nesting);
      case U'[': return add_set(bracket());
      case U'\\': return add_set(escape(false));
      case U'.': return add_set(inverse({{U'\n', U'\n'}, {U'\r', U'\r'}, {U'\u2028', U'\u2029'}}));
      case U'*':
      case U'+':
      case U'?': --position_; refuse("has nothing to repeat");
      case U'{':
      case U'}':
      case U']': --position_; refuse("has a bare '{', '}' or ']'; a literal one is written with a backslash");
      default: return add_set({{character, character}});
    }
  }

  void group(std::size_t nesting) {
    const std::size_t begin = size();
    bool ahead = false;
    if (take(U'?')) {
      if (take(U'<')) {
        if (peek() == U'=' || peek() == U'!') refuse("uses lookbehind, which is not supported");
        while (!at_end() && peek() != U'>') ++position_;
        if (!take(U'>')) refuse("has a group whose name does not end");
      } else if (peek() == U'=' || peek() == U'!') {
        if (!lookahead_) refuse("uses lookahead, which is not supported");
        insert(begin, source_[position_++] == U'=' ? StateKind::ahead : StateKind::not_ahead, begin + 1);
        ahead = true;
      } else if (!take(U':')) {
        refuse("uses a kind of group that is not supported");
      }
    }
    alternatives(nesting + 1);
    if (!take(U')')) refuse("has a '(' without a ')'");
    if (!ahead) return;
    insert(size(), StateKind::match);
    made_.states[begin].next = size();
  }

  std::optional<char32_t> hexadecimal(std::size_t digits) {
    char32_t value = 0;
    for (std::size_t index = 0; index < digits; ++index) {
      const int hex = peek(index) < 0x80 ? text::hex_value(static_cast<char>(peek(index))) : -1;
      if (hex < 0) return std::nullopt;
      value = value * 16 + static_cast<char32_t>(hex);
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
    if (*value < 0xd800 || *value > 0xdbff || peek() != U'\\' || peek(1) != U'u') return *value;
    const std::size_t back = position_;
    position_ += 2;
    const std::optional<char32_t> low = hexadecimal(4);
    if (low && *low >= 0xdc00 && *low <= 0xdfff) return 0x10000 + ((*value - 0xd800) << 10) + (*low - 0xdc00);
    position_ = back;
    return *value;
  }

  /// What follows a backslash.
  CharacterRanges escape(bool in_class) {
    if (at_end()) refuse("ends with a backslash");
    const char32_t character = source_[position_++];
    const auto single = [](char32_t value) { return CharacterRanges{{value, value}}; };
    const CharacterRanges word{{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}};
    const CharacterRanges space{{0x09, 0x0d},     {0x20, 0x20},     {0xa0, 0xa0},     {0x1680, 0x1680},
                                {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f},
                                {0x3000, 0x3000}, {0xfeff, 0xfeff}};
    switch (character) {
      case U'd': return {{U'0', U'9'}};
      case U'D': return inverse({{U'0', U'9'}});
      case U'w': return word;
      case U'W': return inverse(word);
      case U's': return space;
      case U'S': return inverse(space);
      case U't': return single(U'\t');
      case U'n': return single(U'\n');
      case U'v': return single(U'\v');
      case U'f': return single(U'\f');
      case U'r': return single(U'\r');
      case U'0':
        if (peek() >= U'0' && peek() <= U'9') refuse("uses an octal escape, which is not supported");
        return single(0);
      case U'c':
        if ((peek() | 0x20u) < U'a' || (peek() | 0x20u) > U'z') refuse("has a malformed \\c escape");
        return single(source_[position_++] & 0x1fu);
      case U'x':
        if (const std::optional<char32_t> value = hexadecimal(2)) return single(*value);
        refuse("has a malformed \\x escape");
      case U'u': return single(unicode_escape());
      case U'b':
        if (in_class) return single(U'\b');
        refuse("uses \\b, which is not supported");
      case U'B': refuse("uses \\B, which is not supported");
      case U'p':
      case U'P': refuse("uses a Unicode property, which is not supported");
      default: break;
    }
    if (character == U'k' || (character >= U'1' && character <= U'9'))
      refuse("uses a backreference, which is not supported");
    const bool letter = (character | 0x20u) >= U'a' && (character | 0x20u) <= U'z';
    if (letter || character >= 0x80 || character < 0x21) refuse("has an escape that is not supported");
    return single(character);
  }

  CharacterRanges class_member() {
    const char32_t character = source_[position_++];
    if (character == U'\\') return escape(true);
    return {{character, character}};
  }

  CharacterRanges bracket() {
    const bool inverted = take(U'^');
    if (peek() == U']') refuse("has an empty character class");
    CharacterRanges set;
    const auto is_single = [](const CharacterRanges& members) {
      return members.size() == 1 && members[0].first == members[0].second;
    };
    while (!take(U']')) {
      if (at_end()) refuse("has a '[' without a ']'");
      const CharacterRanges first = class_member();
      if (peek() == U'-' && peek(1) != U']' && position_ + 1 < source_.size()) {
        const std::size_t hyphen = position_++;
        const CharacterRanges last = class_member();
        if (is_single(first) && is_single(last)) {
          if (first[0].first > last[0].first) refuse("has a range that is out of order");
          set.emplace_back(first[0].first, last[0].first);
          continue;
        }
        position_ = hyphen;  // beside a class such as \w the hyphen is literal
      }
      set.insert(set.end(), first.begin(), first.end());
    }
    return inverted ? inverse(set) : set;
  }

  std::string path_;
  Budget& budget_;
  bool lookahead_;
  std::u32string source_;
  std::size_t position_ = 0;
  Pattern made_;
};

}  // namespace patterns

Pattern parse_pattern(const std::string& source, const std::string& path, Budget& budget, bool lookahead) {
  budget.spend(source.size());
  return patterns::Parser(source, path, budget, lookahead).parse();
}

Pattern parse_pattern(const std::string& source) {
  Budget budget(none);
  return parse_pattern(source, "", budget, false);
}

namespace patterns {

using States = std::vector<std::size_t>;

/// Follows a pattern's automaton, all states at once.
class Run {
 public:
  Run(const Pattern& pattern, Budget& budget) : pattern_(pattern), budget_(budget), seen_(pattern.states.size(), 0) {}

  /// Whether the text matches from `offset` on; if not anchored, anywhere behind it.
  bool run(std::size_t start, std::string_view text, std::size_t offset, bool anchored) {
    const Budget::Frame frame(budget_);
    States states{start};
    for (;;) {
      if (close(states, offset == 0, offset >= text.size(), &text, offset)) return true;
      if (offset >= text.size() || (anchored && states.empty())) return false;
      char32_t character = 0xfffd;
      offset += std::max<std::size_t>(1, text::decode_utf8(text, offset, character));
      States next;
      for (const std::size_t index : states) {
        const PatternState& state = pattern_.states[index];
        if (contains(pattern_.sets[state.other], character)) next.push_back(state.next);
      }
      if (!anchored) next.push_back(start);
      states = std::move(next);
    }
  }

  /// Replaces states by those that can be reached from them without a character: those that read one, and the match.
  /// Says whether the match is among them. `text`: what lookaheads see at `offset`; null: they pass.
  bool close(States& states, bool at_start, bool at_end, const std::string_view* text, std::size_t offset) {
    ++generation_;
    pending_ = std::move(states);
    states.clear();
    bool matched = false;
    std::size_t visited = 0;
    for (; !pending_.empty(); ++visited) {
      const std::size_t index = pending_.back();
      pending_.pop_back();
      if (seen_[index] == generation_) continue;
      seen_[index] = generation_;
      const PatternState& state = pattern_.states[index];
      const bool positive = state.kind == StateKind::ahead;
      if (state.kind == StateKind::split) pending_.push_back(state.other);
      if (state.kind == StateKind::set || state.kind == StateKind::match) {
        matched = matched || state.kind == StateKind::match;
        states.push_back(index);
        continue;
      }
      if ((state.kind == StateKind::begin && !at_start) || (state.kind == StateKind::end && !at_end)) continue;
      if (text != nullptr && (positive || state.kind == StateKind::not_ahead)) {
        budget_.spend(pattern_.states.size() / 64);
        if (Run(pattern_, budget_).run(state.other, *text, offset, true) != positive) continue;
      }
      pending_.push_back(state.next);
    }
    budget_.spend(1 + std::max(states.size(), visited / 4));
    return matched;
  }

 private:
  const Pattern& pattern_;
  Budget& budget_;
  States seen_;  // by state: the generation that saw it last
  States pending_;
  std::size_t generation_ = 0;
};

/// Walks the automata of several patterns together, a character at a time.
class Walk {
 public:
  Walk(const std::vector<const Pattern*>& patterns, bool whole, Random& random, Budget& budget)
      : patterns_(patterns), whole_(whole), random_(random), budget_(budget), reached_(patterns.size()) {
    for (const Pattern* pattern : patterns) runs_.emplace_back(*pattern, budget);
  }

  std::optional<std::string> text_of(std::size_t least, std::size_t most, std::size_t spare) {
    std::vector<Entry> entries{Entry{States(patterns_.size(), 0), none, {}}};
    std::vector<std::size_t> endings;
    std::size_t layer = 0;
    std::size_t longest = least;
    for (const Pattern* pattern : patterns_) longest += pattern->states.size();
    longest = std::min(longest, most);
    for (std::size_t length = 0; layer < entries.size() && length <= longest; ++length) {
      const bool found = !endings.empty();
      for (std::size_t entry = layer; length >= least && entry < entries.size(); ++entry) {
        if (is_match(entries[entry].at, length == 0)) endings.push_back(entry);
      }
      if (!found && !endings.empty()) longest = std::min(most, length + spare);
      const std::size_t before = entries.size();
      if (length < longest) add_layer(entries, layer);
      layer = before;
    }
    if (endings.empty()) return std::nullopt;
    std::u32string reversed;
    for (std::size_t entry = endings[random_.below(endings.size())]; entry != 0; entry = entries[entry].before) {
      reversed.push_back(character_of(entries[entry].read, true).value());
    }
    std::string made;
    for (std::size_t index = reversed.size(); index-- > 0;) text::append_utf8(made, reversed[index]);
    return made;
  }

 private:
  struct Entry {  // where a text of some length can lead, and one way there
    States at;    // of each pattern one
    std::size_t before;
    States read;  // the states that read the last character
  };

  /// What a state of a pattern reaches without a character.
  const States& reached(std::size_t pattern, std::size_t state, bool at_start, bool at_end) {
    const std::size_t key = state * 4 + (at_start ? 2 : 0) + (at_end ? 1 : 0);
    const auto [known, is_new] = reached_[pattern].try_emplace(key, States{state});
    if (is_new) runs_[pattern].close(known->second, at_start, at_end, nullptr, 0);
    return known->second;
  }

  bool is_match(const States& at, bool at_start) {
    for (std::size_t index = 0; index < at.size(); ++index) {
      const States& states = reached(index, at[index], at_start, true);
      budget_.spend(1 + states.size() / 8);
      const std::size_t match = patterns_[index]->states.size() - 1;
      if (std::find(states.begin(), states.end(), match) == states.end()) return false;
    }
    return true;
  }

  /// A character that all of these states read; the match reads any. `usual`: a letter or a digit where possible.
  std::optional<char32_t> character_of(const States& read, bool usual) {
    std::vector<const CharacterRanges*> sets;
    std::vector<char32_t> firsts{U'a', U' ', 0xe000};  // where a range that all have in common can begin
    for (std::size_t index = 0; index < read.size(); ++index) {
      const PatternState& state = patterns_[index]->states[read[index]];
      if (state.kind != StateKind::set) continue;
      sets.push_back(&patterns_[index]->sets[state.other]);
      for (const auto& range : *sets.back()) firsts.push_back(range.first);
    }
    const auto fits = [&](char32_t character) {
      budget_.spend(sets.size());
      return (character < 0xd800 || character > 0xdfff) &&
             std::all_of(sets.begin(), sets.end(), [&](const auto* set) { return contains(*set, character); });
    };
    constexpr std::string_view alphabet =
        "abcdefghijklmnopqrstuvwxyzaeinorstABCDEFGHIJKLMNOPQRSTUVWXYZ01234567890123456789";
    for (int draw = usual ? 12 : 0; draw > 0; --draw) {
      const char32_t character = static_cast<unsigned char>(alphabet[random_.below(alphabet.size())]);
      if (fits(character)) return character;
    }
    const auto found = std::find_if(firsts.begin(), firsts.end(), fits);
    return found == firsts.end() ? std::nullopt : std::optional(*found);
  }

  /// Adds what can be reached with one character more than the entries from `layer` on.
  void add_layer(std::vector<Entry>& entries, std::size_t layer) {
    const std::size_t end = entries.size();
    std::map<States, std::pair<std::size_t, std::size_t>> found;  // the place of an entry, and how many ways lead there
    for (std::size_t entry = layer; entry < end; ++entry) {
      std::vector<States> choices;  // of each pattern: the states that can read the next character
      std::size_t combinations = 1;
      for (std::size_t index = 0; index < patterns_.size(); ++index) {
        const std::size_t at = entries[entry].at[index];
        choices.emplace_back();
        for (const std::size_t state : reached(index, at, entry == 0, false)) {
          const StateKind kind = patterns_[index]->states[state].kind;
          if (kind == StateKind::set || (kind == StateKind::match && !whole_)) choices.back().push_back(state);
        }
        if (!whole_ && at == 0) choices.back().push_back(none);  // reads anything before the pattern begins
        combinations *= choices.back().size();
      }
      for (std::size_t combination = 0; combination < combinations; ++combination) {
        budget_.spend(10);
        States read;
        States next;
        std::size_t rest = combination;
        for (std::size_t index = 0; index < choices.size(); ++index) {
          const std::size_t state = choices[index][rest % choices[index].size()];
          rest /= choices[index].size();
          read.push_back(std::min(state, patterns_[index]->states.size() - 1));
          const PatternState& reader = patterns_[index]->states[read.back()];
          next.push_back(state == none ? 0 : reader.kind == StateKind::match ? state : reader.next);
        }
        if (!character_of(read, false)) continue;
        auto& [place, ways] = found.try_emplace(next, entries.size(), 0).first->second;
        if (place == entries.size()) entries.push_back({std::move(next), entry, read});
        if (random_.below(++ways) == 0) entries[place].before = entry, entries[place].read = std::move(read);
      }
    }
  }

  const std::vector<const Pattern*>& patterns_;
  bool whole_;
  Random& random_;
  Budget& budget_;
  std::vector<std::map<std::size_t, States>> reached_;
  std::deque<Run> runs_;
};

}  // namespace patterns

bool occurs(const Pattern& pattern, std::string_view text, Budget& budget) {
  return patterns::Run(pattern, budget).run(0, text, 0, false);
}

std::optional<std::string> text_of(const std::vector<const Pattern*>& patterns, bool whole, std::size_t least,
                                   std::size_t most, std::size_t spare, Random& random, Budget& budget) {
  return patterns::Walk(patterns, whole, random, budget).text_of(least, most, spare);
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
