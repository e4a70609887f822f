#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"

// Regular expressions as automata, to search and to generate text, with limited work and no deep recursion.

namespace mock_gateway::detail {
namespace schema {

inline constexpr std::size_t none = static_cast<std::size_t>(-1);  ///< No index; no upper bound.
inline constexpr std::size_t max_characters = 100000;              ///< In a generated text, or by a quantifier.
inline constexpr std::size_t work_limit = 5000000;                 ///< Steps of one search for a pattern in a text.

/// Thrown for patterns and schemas that are malformed, unsupported, too expensive or unsatisfiable.
struct Unsupported {
  std::string path;  ///< JSON pointer into the schema; empty for its root.
  std::string reason;
};

/// Counts steps and nested calls, and throws Unsupported at the limit, instead of a hang or a crash.
class Budget {
 public:
  /// earn() adds steps, up to `most` in all. Setting `stopped` ends the work. It may be null, or must outlive this.
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

/// The operation of a state. `set` reads a character, `split` branches, `begin` and `end` test the position in the
/// text, `ahead` and `not_ahead` are lookaheads, `match` accepts.
enum class StateKind { set, split, jump, begin, end, ahead, not_ahead, match };

struct PatternState {
  StateKind kind;
  std::size_t next;   ///< Relative index of the next state, modulo 2^64, because loops jump back.
  std::size_t other;  ///< For `split`: the second branch, likewise. For `set`: an index in Pattern::sets.
};

/// A Thompson automaton. Searches take time proportional to text * states; with lookaheads, text^2 * states at worst.
struct Pattern {
  std::vector<PatternState> states;  ///< The first is the start, the last accepts.
  /// Sets of code points. Each is a count, followed by as many alternating begins and ends of ranges.
  Numbers sets;
};

/// Compiles a pattern. `path` is for errors. Throws Unsupported.
Pattern parse_pattern(const std::string& source, const std::string& path, Budget& budget, bool lookahead);

bool occurs(const Pattern& pattern, std::string_view text, Budget& budget);

/// Generates a text of at most `most` characters that the whole pattern matches. From `least` characters on, stops at
/// each match with probability 1/`spare`. The text may be shorter, and may violate lookaheads.
std::optional<std::string> text_of(const Pattern& pattern, std::size_t least, std::size_t most, std::size_t spare,
                                   Random& random, Budget& budget);

}  // namespace schema
}  // namespace mock_gateway::detail
