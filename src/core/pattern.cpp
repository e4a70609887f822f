// Regular expressions of schemas and `matches_regex`: syntax, search, generated texts, work limits.

#include "pattern.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace mock_gateway::detail {
namespace schema {

namespace patterns {

inline constexpr std::size_t max_states = 20000;
inline constexpr std::size_t max_nesting = 100;
inline constexpr std::size_t end_of_characters = 0x110000;

// A set of code points alternates begins and ends of ranges. If the last end is missing, the last range is unbounded.

Numbers inverse(Numbers set) {
  if (!set.empty() && set.front() == 0)
    set.erase(set.begin());
  else
    set.insert(set.begin(), 0);
  return set;
}

void add(Numbers& set, std::size_t first, std::size_t end) {
  const auto low = std::lower_bound(set.begin(), set.end(), first);
  const auto high = std::upper_bound(low, set.end(), end);
  Numbers borders;
  if ((low - set.begin()) % 2 == 0) borders.push_back(first);
  if ((high - set.begin()) % 2 == 0) borders.push_back(end);
  set.insert(set.erase(low, high), borders.begin(), borders.end());
}

bool contains(const Numbers& sets, std::size_t place, char32_t character) {
  const auto begin = sets.begin() + static_cast<std::ptrdiff_t>(place) + 1;
  const auto end = begin + static_cast<std::ptrdiff_t>(sets[place]);
  return (std::upper_bound(begin, end, character) - begin) % 2 == 1;
}

/// Parses a pattern from left to right. Each part becomes a block of states. A match enters a block at its first
/// state and leaves it after the last. States use relative indices, so that blocks can be moved and copied.
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
    return position_ + ahead < source_.size() ? static_cast<char32_t>(source_[position_ + ahead]) : U'\0';
  }
  bool take(char32_t character) {
    if (at_end() || peek() != character) return false;
    ++position_;
    return true;
  }

  std::size_t size() const { return made_.states.size(); }

  /// Inserts a state before the block at `place`, or at the end. The state leads to the one after it.
  void insert(std::size_t place, StateKind kind, std::size_t other = 0) {
    if (size() >= max_states) refuse("is too large");
    budget_.spend(1 + (size() - place) / 4);
    made_.states.insert(made_.states.begin() + static_cast<std::ptrdiff_t>(place), {kind, 1, other});
  }
  void repeat(const std::vector<PatternState>& block) {
    if (size() + block.size() > max_states) refuse("is too large");
    budget_.spend(1 + block.size() / 4);
    for (const PatternState& state : block) made_.states.push_back(state);
  }

  void add_set(const Numbers& set) {
    insert(size(), StateKind::set, made_.sets.size());
    made_.sets.push_back(set.size());
    for (const std::size_t border : set) made_.sets.push_back(border);
  }

  void alternatives(std::size_t nesting) {
    if (nesting > max_nesting) refuse("nests its groups too deeply");
    Numbers jumps;
    for (;;) {
      const std::size_t begin = size();
      while (!at_end() && peek() != U'|' && peek() != U')') quantified(nesting);
      if (!take(U'|')) break;
      insert(begin, StateKind::split);
      jumps.push_back(size());
      insert(size(), StateKind::jump);
      made_.states[begin].other = size() - begin;
    }
    for (const std::size_t jump : jumps) made_.states[jump].next = size() - jump;
  }

  void quantified(std::size_t nesting) {
    const std::size_t begin = size();
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
      if (!take(U'}') || most < least) refuse("has a '{' that is no quantifier; a literal one is written \\{");
    } else if (!take(U'*')) {
      return;
    }
    take(U'?');  // lazy quantifiers match the same texts
    const std::vector<PatternState> block(made_.states.begin() + static_cast<std::ptrdiff_t>(begin),
                                          made_.states.end());
    made_.states.resize(begin);
    for (std::size_t copy = 0; copy < least; ++copy) repeat(block);
    Numbers splits;
    for (std::size_t copy = least; copy < (most == none ? least + 1 : most); ++copy) {
      splits.push_back(size());
      insert(size(), StateKind::split);
      repeat(block);
    }
    if (most == none) {
      insert(size(), StateKind::jump);
      made_.states.back().next = splits[0] - (size() - 1);
    }
    for (const std::size_t split : splits) made_.states[split].other = size() - split;
  }

  std::size_t count() {
    if (peek() < U'0' || peek() > U'9') refuse("has a '{' that is no quantifier; a literal one is written \\{");
    std::size_t value = 0;
    while (peek() >= U'0' && peek() <= U'9') {
      value = value * 10 + source_[position_++] - '0';
      if (value > max_characters) refuse("has a quantifier above " + std::to_string(max_characters));
    }
    return value;
  }

  void atom(std::size_t nesting) {
    const auto character = static_cast<char32_t>(source_[position_++]);
    switch (character) {
      case U'^': return insert(size(), StateKind::begin);
      case U'$': return insert(size(), StateKind::end);
      case U'(': return group(nesting);
      case U'[': return add_set(bracket());
      case U'\\': return add_set(escape(false));
      case U'.': return add_set(inverse({'\n', '\n' + 1, '\r', '\r' + 1, 0x2028, 0x202a}));
      case U'*':
      case U'+':
      case U'?':
      case U'{':
      case U'}':
      case U']': --position_; refuse("has a bare '*', '+', '?', '{', '}' or ']'; a literal one takes a backslash");
      default: return add_set({character, character + 1});
    }
  }

  void group(std::size_t nesting) {
    const std::size_t begin = size();
    bool ahead = false;
    if (take(U'?')) {
      if (take(U'<')) {
        if (peek() == U'=' || peek() == U'!') refuse("uses lookbehind, which is not supported");
        while (!at_end() && !take(U'>')) ++position_;
      } else if (peek() == U'=' || peek() == U'!') {
        if (!lookahead_) refuse("uses lookahead, which is not supported");
        insert(begin, source_[position_++] == U'=' ? StateKind::ahead : StateKind::not_ahead);
        ahead = true;
      } else if (!take(U':')) {
        refuse("uses a kind of group that is not supported");
      }
    }
    alternatives(nesting + 1);
    if (!take(U')')) refuse("has a '(' without a ')'");
    if (!ahead) return;
    insert(size(), StateKind::match);
    made_.states[begin].next = size() - begin;
  }

  char32_t hexadecimal(std::size_t digits) {
    char32_t value = 0;
    for (; digits > 0; --digits, ++position_) {
      const int hex = peek() < 0x80 ? text::hex_value(static_cast<char>(peek())) : -1;
      if (hex < 0) refuse("has a malformed \\x or \\u escape");
      value = value * 16 + static_cast<char32_t>(hex);
    }
    return value;
  }

  char32_t unicode_escape() {
    if (take(U'{')) {
      std::size_t digits = 1;
      while (digits < 6 && peek(digits) != U'}') ++digits;
      const char32_t value = hexadecimal(digits);
      if (!take(U'}') || value > 0x10ffff) refuse("has a malformed \\u{…} escape");
      return value;
    }
    const char32_t value = hexadecimal(4);
    if (value < 0xd800 || value > 0xdbff || peek() != U'\\' || peek(1) != U'u') return value;
    position_ += 2;
    const char32_t low = hexadecimal(4);
    if (low < 0xdc00 || low > 0xdfff) refuse("has a high surrogate before a \\u escape that is no low surrogate");
    return 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
  }

  Numbers escape(bool in_class) {
    if (at_end()) refuse("ends with a backslash");
    const auto character = static_cast<char32_t>(source_[position_++]);
    const auto single = [](char32_t value) { return Numbers{value, value + 1}; };
    const Numbers digit{'0', '9' + 1};
    const Numbers word{'0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1};
    const Numbers space{0x09,   0x0e,   0x20,   0x21,   0xa0,   0xa1,   0x1680, 0x1681, 0x2000, 0x200b,
                        0x2028, 0x202a, 0x202f, 0x2030, 0x205f, 0x2060, 0x3000, 0x3001, 0xfeff, 0xff00};
    switch (character) {
      case U'd': return digit;
      case U'D': return inverse(digit);
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
        return single(static_cast<char32_t>(source_[position_++] & 0x1fu));
      case U'x': return single(hexadecimal(2));
      case U'u': return single(unicode_escape());
      case U'b':
        if (in_class) return single(U'\b');
        break;
    }
    if (character == U'k' || (character >= U'1' && character <= U'9')) {
      refuse("uses a backreference, which is not supported");
    }
    const bool letter = (character | 0x20u) >= U'a' && (character | 0x20u) <= U'z';
    if (letter) refuse("uses \\" + std::string(1, static_cast<char>(character)) + ", which is not supported");
    if (character >= 0x80 || character < 0x21) refuse("has an escape that is not supported");
    return single(character);
  }

  Numbers class_member() {
    const auto character = static_cast<char32_t>(source_[position_++]);
    if (character == U'\\') return escape(true);
    return {character, character + 1};
  }

  Numbers bracket() {
    const bool inverted = take(U'^');
    if (peek() == U']') refuse("has an empty character class");
    Numbers set;
    while (!take(U']')) {
      if (at_end()) refuse("has a '[' without a ']'");
      const Numbers first = class_member();
      const auto is_single = [](const Numbers& member) { return member.size() == 2 && member[1] == member[0] + 1; };
      if (peek() == U'-' && peek(1) != U']' && position_ + 1 < source_.size()) {
        const std::size_t hyphen = position_++;
        const Numbers last = class_member();
        if (is_single(first) && is_single(last)) {
          if (first[0] > last[0]) refuse("has a range that is out of order");
          add(set, first[0], last[1]);
          continue;
        }
        position_ = hyphen;  // next to a class such as \w, the hyphen is literal
      }
      for (std::size_t place = 0; place < first.size(); place += 2) {
        add(set, first[place], place + 1 < first.size() ? first[place + 1] : end_of_characters);
      }
    }
    return inverted ? inverse(set) : set;
  }

  std::string path_;
  Budget& budget_;
  bool lookahead_;
  Numbers source_;  // code points
  std::size_t position_ = 0;
  Pattern made_;
};

/// Runs a pattern's automaton: follows all possible states in parallel instead of backtracking.
class Run {
 public:
  Run(const Pattern& pattern, Budget& budget) : pattern_(pattern), budget_(budget), seen_(pattern.states.size(), 0) {
    budget.spend(pattern.states.size() / 64);
  }

  /// Whether the text matches at `offset`, or, if not anchored, anywhere after it.
  bool run(std::size_t start, std::string_view text, std::size_t offset, bool anchored) {
    const Budget::Frame frame(budget_);
    Numbers states{start};
    for (;;) {
      if (epsilon_closure(states, offset == 0, offset >= text.size(), &text, offset)) return true;
      if (offset >= text.size() || (anchored && states.empty())) return false;
      char32_t character = 0xfffd;
      offset += std::max<std::size_t>(1, text::decode_utf8(text, offset, character));
      Numbers next;
      for (const std::size_t index : states) {
        const PatternState& state = pattern_.states[index];
        if (contains(pattern_.sets, state.other, character)) next.push_back(index + state.next);
      }
      if (!anchored) next.push_back(start);
      states = std::move(next);
    }
  }

  /// Replaces states by the `set` states that are reachable without consuming a character. Returns whether the `match`
  /// state is reachable too. Lookaheads are tested at `offset` of `text`; if it is null, they pass.
  bool epsilon_closure(Numbers& states, bool at_start, bool at_end, const std::string_view* text, std::size_t offset) {
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
      matched = matched || state.kind == StateKind::match;
      if (state.kind == StateKind::set) states.push_back(index);
      if (state.kind == StateKind::set || state.kind == StateKind::match) continue;
      if (state.kind == StateKind::split) pending_.push_back(index + state.other);
      if ((state.kind == StateKind::begin && !at_start) || (state.kind == StateKind::end && !at_end)) continue;
      const bool is_lookahead = text != nullptr && (positive || state.kind == StateKind::not_ahead);
      if (is_lookahead && Run(pattern_, budget_).run(index + 1, *text, offset, true) != positive) continue;
      pending_.push_back(index + state.next);
    }
    budget_.spend(1 + std::max(states.size(), visited / 4));
    return matched;
  }

 private:
  const Pattern& pattern_;
  Budget& budget_;
  Numbers seen_;  // per state: the last generation that visited it
  Numbers pending_;
  std::size_t generation_ = 0;
};

std::optional<char32_t> character_of(const Numbers& sets, std::size_t place, Random& random) {
  constexpr std::string_view alphabet =
      "abcdefghijklmnopqrstuvwxyzaeinorstABCDEFGHIJKLMNOPQRSTUVWXYZ01234567890123456789";
  for (int draw = 0; draw < 12; ++draw) {
    const char32_t character = static_cast<unsigned char>(alphabet[random.below(alphabet.size())]);
    if (contains(sets, place, character)) return character;
  }
  for (std::size_t border = 1; border <= sets[place] && !contains(sets, place, U' '); border += 2) {
    const auto first = static_cast<char32_t>(sets[place + border]);
    if (first < 0xd800 || (first > 0xdfff && first < end_of_characters)) return first;  // not a surrogate
  }
  return contains(sets, place, U' ') ? std::optional(U' ') : std::nullopt;
}

}  // namespace patterns

Pattern parse_pattern(const std::string& source, const std::string& path, Budget& budget, bool lookahead) {
  budget.spend(source.size());
  return patterns::Parser(source, path, budget, lookahead).parse();
}

bool occurs(const Pattern& pattern, std::string_view text, Budget& budget) {
  return patterns::Run(pattern, budget).run(0, text, 0, false);
}

std::optional<std::string> text_of(const Pattern& pattern, std::size_t least, std::size_t most, std::size_t spare,
                                   Random& random, Budget& budget) {
  patterns::Run run(pattern, budget);
  std::optional<std::string> found;
  std::string made;
  Numbers states{0};
  for (std::size_t length = 0; length <= most; ++length) {
    Numbers ending = states;
    if (run.epsilon_closure(ending, length == 0, true, nullptr, 0)) {
      found = made;
      if (length >= least && random.below(spare) == 0) break;
    }
    run.epsilon_closure(states, length == 0, false, nullptr, 0);
    if (states.empty()) break;
    const std::size_t place = states[random.below(states.size())];
    const auto character = patterns::character_of(pattern.sets, pattern.states[place].other, random);
    if (!character) break;
    text::append_utf8(made, *character);
    states = {place + pattern.states[place].next};
  }
  return found;
}

}  // namespace schema
}  // namespace mock_gateway::detail
