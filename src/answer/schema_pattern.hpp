#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "schema_budget.hpp"

// Patterns: read into an automaton, searched for in a text, and turned into texts that match.

namespace mock_gateway {
namespace detail {
namespace schema {

/// The longest text that is made, and the most repetitions that a quantifier can ask for.
inline constexpr std::size_t max_characters = 100000;

/// A set of code points as sorted, disjoint ranges, both ends included.
class CharacterSet {
 public:
  void add(char32_t first, char32_t last) { ranges_.emplace_back(first, last); }
  void add(const CharacterSet& other) { ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end()); }

  /// Sorts and joins the ranges, as contains() needs them.
  void normalize();
  void invert();
  bool contains(char32_t character) const;

  const std::vector<std::pair<char32_t, char32_t>>& ranges() const { return ranges_; }

 private:
  std::vector<std::pair<char32_t, char32_t>> ranges_;
};

/// What a state does: reads a character of a set, goes two ways, passes where the text begins or ends, or is the match.
enum class StateKind { set, split, begin, end, match };

/// A state of a pattern's automaton. The numbers are places in the pattern's `states` and `sets`.
struct PatternState {
  StateKind kind = StateKind::match;
  std::size_t set = none;          // of `set`
  std::size_t next = none;         // of all but `match`
  std::size_t alternative = none;  // of `split`
};

/// A nondeterministic automaton (Thompson's construction): matching takes time proportional to text × states, whatever
/// the pattern.
struct Pattern {
  std::vector<PatternState> states;  ///< The first is the match.
  std::vector<CharacterSet> sets;
  std::size_t start = none;
};

/// Reads a pattern; `path` is where in the schema it stands. Throws Unsupported.
Pattern parse_pattern(const std::string& source, const std::string& path);

/// Follows a pattern's automaton, all states at once.
class PatternRun {
 public:
  PatternRun(const Pattern& pattern, Budget& budget)
      : pattern_(pattern), budget_(budget), seen_(pattern.states.size(), 0) {}

  /// The states that can be reached from `from` without a character: those that read one, the match, and the '$'
  /// anchors, which stay until the end of the text is known. Sorted.
  std::vector<std::size_t> closure(const std::vector<std::size_t>& from, bool at_start, bool at_end);
  /// Where a character leads from the states of a closure.
  std::vector<std::size_t> step(const std::vector<std::size_t>& states, char32_t character) const;

  /// The match is always the first state.
  static bool matched(const std::vector<std::size_t>& states) { return !states.empty() && states.front() == 0; }

  /// Whether the pattern occurs anywhere in the text.
  bool search(std::string_view subject);

 private:
  const Pattern& pattern_;
  Budget& budget_;
  std::vector<std::size_t> seen_;
  std::vector<std::size_t> pending_;
  std::size_t generation_ = 0;
};

/// Makes texts that match all of several patterns and have a wanted length: the patterns' common automaton is made
/// deterministic as far as it is needed, and walked length by length.
class PatternWalk {
 public:
  /// `whole`: the patterns match the text from end to end instead of somewhere in it. `plain`: printable ASCII only.
  PatternWalk(const std::vector<const Pattern*>& patterns, bool whole, bool plain, Budget& budget);

  /// A text of `least` to `most` characters. `spare`: how many characters longer than necessary it may be.
  std::optional<std::string> text_of(std::size_t least, std::size_t most, std::size_t spare, Random& random);

 private:
  using Set = std::vector<std::size_t>;

  struct Atom {  // a range of characters that no pattern tells apart
    char32_t first;
    char32_t last;
    std::size_t weight;
  };
  struct Entry {  // a state that can be reached with a number of characters, and one way to reach it
    std::size_t state;
    std::size_t before;
    std::size_t atom;
  };

  static bool is_letter_or_digit(char32_t character) {
    return (character >= U'0' && character <= U'9') || (character >= U'A' && character <= U'Z') ||
           (character >= U'a' && character <= U'z');
  }

  void make_atoms(bool plain);

  static char32_t character_of(const Atom& atom, Random& random) {
    const std::uint64_t choices = std::min<std::uint64_t>(atom.last - atom.first + 1, 26);
    return atom.first + static_cast<char32_t>(random.below(choices));
  }

  /// Once found, a pattern that may match anywhere stays found.
  Set settle(Set states) const {
    if (!whole_ && PatternRun::matched(states)) return Set{0};
    return states;
  }

  std::size_t add_state(std::vector<Set> sets, bool at_start);
  std::size_t transition(std::size_t state, std::size_t atom);

  static constexpr std::size_t unknown = none - 1;

  std::vector<const Pattern*> patterns_;
  bool whole_;
  Budget& budget_;
  std::deque<PatternRun> runs_;
  std::vector<Atom> atoms_;
  std::vector<std::vector<Set>> sets_;
  std::vector<bool> accepting_;
  std::vector<std::vector<std::size_t>> transitions_;
  std::map<std::vector<Set>, std::size_t> numbers_;
};

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
