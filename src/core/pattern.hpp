#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"

// Patterns: read into an automaton, searched for in a text, and turned into texts that match. All work is counted: what
// a client or a test writes costs a fraction of a second at most, and never the stack.

namespace mock_gateway::detail {
namespace schema {

inline constexpr std::size_t none = static_cast<std::size_t>(-1);  ///< No index; no upper bound.
inline constexpr std::size_t max_characters = 100000;              ///< in a text that is made, or by a quantifier
inline constexpr std::size_t work_limit = 5000000;                 ///< Steps of one search for a pattern in a text.

/// Thrown when a pattern cannot be read, or no instance of a schema can be promised: it is malformed, uses what is not
/// supported, asks for too much, or cannot be satisfied.
struct Unsupported {
  std::string path;    ///< JSON pointer into the schema; empty for its root.
  std::string reason;  ///< A sentence that says why.
};

/// Counts steps of work and nested calls, so that both end with Unsupported instead of a hang or a crash.
class Budget {
 public:
  /// Work that gets on earns further steps, until there were `most` in all. `stopped` ends the work when it becomes
  /// true. It must outlive the budget; null: nothing but the limit ends it.
  explicit Budget(std::size_t limit = work_limit, const std::atomic<bool>* stopped = nullptr, std::size_t most = 0)
      : left_(limit), earnable_(most > limit ? most - limit : 0), stopped_(stopped) {}

  void spend(std::size_t steps) {
    if (steps > left_) throw Unsupported{"", "The schema takes too much work: it is too large or too ambiguous."};
    left_ -= steps;
    spent_ += steps;
    if (stopped_ != nullptr && stopped_->load(std::memory_order_relaxed)) throw Unsupported{"", "The gateway stops."};
  }
  void earn(std::size_t steps) {
    const std::size_t earned = steps < earnable_ ? steps : earnable_;
    earnable_ -= earned;
    left_ += earned;
  }
  std::size_t spent() const { return spent_; }

  /// One nested call, for as long as it lives.
  class Frame {
   public:
    explicit Frame(Budget& budget) : budget_(budget) {
      if (budget_.frames_ == 400) throw Unsupported{"", "Too many nested subschemas apply to one value."};
      ++budget_.frames_;
    }
    ~Frame() { --budget_.frames_; }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Budget& budget_;
  };

 private:
  std::size_t left_;
  std::size_t earnable_;
  std::size_t spent_ = 0;
  const std::atomic<bool>* stopped_;
  std::size_t frames_ = 0;
};

using Numbers = std::vector<std::size_t>;

/// What a state does: reads a character of a set, goes two ways, goes on elsewhere, passes where the text begins or
/// ends, passes where what it holds follows or does not follow, or is the match.
enum class StateKind { set, split, jump, begin, end, ahead, not_ahead, match };

struct PatternState {
  StateKind kind;
  std::size_t next;   ///< How many states further it goes on; modulo 2^64, because loops go back.
  std::size_t other;  ///< Of `split`: the second way, alike. Of `set`: a place in Pattern::sets.
};

/// A nondeterministic automaton (Thompson's construction). A search takes time proportional to text × states, whatever
/// the pattern; with lookaheads to text² × states at worst.
struct Pattern {
  std::vector<PatternState> states;  ///< The first is the start, the last the match.
  /// Sets of code points. Of each: how many numbers follow, then where the characters of the set begin, end, begin …
  Numbers sets;
};

/// Reads a pattern that stands at `path`, with lookaheads or refusing them. Throws Unsupported.
Pattern parse_pattern(const std::string& source, const std::string& path, Budget& budget, bool lookahead);

/// Whether the pattern occurs anywhere in the text.
bool occurs(const Pattern& pattern, std::string_view text, Budget& budget);

/// Proposes a text that the pattern matches from end to end, of at most `most` characters, and of `least` where that is
/// met by chance; once it is, each character is the last one with a chance of 1 in `spare`. It may fail lookaheads.
std::optional<std::string> text_of(const Pattern& pattern, std::size_t least, std::size_t most, std::size_t spare,
                                   Random& random, Budget& budget);

}  // namespace schema
}  // namespace mock_gateway::detail
