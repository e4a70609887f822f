#pragma once

#include <cstddef>
#include <string>

#include "../core/version.hpp"

// How the work on a schema is bounded, and how it is given up. The limits of this and the other parts keep a hostile or
// absurd schema from costing a test more than a fraction of a second, or its stack.

namespace mock_gateway {
namespace detail {
namespace schema {

inline constexpr std::size_t none = static_cast<std::size_t>(-1);  ///< No index; no upper bound.

/// Thrown when no instance can be promised: the schema is malformed, uses what is not supported, asks for too much, or
/// cannot be satisfied.
struct Unsupported {
  std::string path;    ///< JSON pointer into the schema; empty for its root.
  std::string reason;  ///< A sentence that says why.
};

inline constexpr std::size_t work_limit = 5000000;  // steps of all kinds
inline constexpr std::size_t max_frames = 400;      // nested calls

/// Counts work and nesting of function calls, so that both end with Unsupported instead of a hang or a crash.
class Budget {
 public:
  void spend(std::size_t steps) {
    spent_ += steps;
    if (spent_ > work_limit) throw Unsupported{"", "The schema takes too much work: it is too large or too ambiguous."};
  }
  void enter() {
    if (++frames_ > max_frames) throw Unsupported{"", "The schema applies too many nested subschemas to one value."};
  }
  void leave() { --frames_; }

 private:
  std::size_t spent_ = 0;
  std::size_t frames_ = 0;
};

/// One nested call, for as long as it lives.
class Frame {
 public:
  explicit Frame(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~Frame() { budget_.leave(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Budget& budget_;
};

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
