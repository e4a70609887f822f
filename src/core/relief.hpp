// Threads that have something to do for others: what they do before they are held up.

#pragma once

#include "version.hpp"

namespace mock_gateway::detail {

/// Whoever does what a thread would not come to while it is held up.
class Relief {
 public:
  virtual ~Relief() = default;
  /// Called on the thread, once.
  virtual void relieve() noexcept = 0;
};

/// While this lives, the calling thread, which has no relief, has one.
class Relieved {
 public:
  explicit Relieved(Relief& relief);
  ~Relieved();
  Relieved(const Relieved&) = delete;
  Relieved& operator=(const Relieved&) = delete;

  /// Whether nobody has taken over so far.
  bool is_pending() const;
};

/// To be called before a thread waits, runs the tester's code, or does what takes long: others may depend on it, and
/// have somebody else from then on. Costs next to nothing where nobody does.
void call_relief() noexcept;

}  // namespace mock_gateway::detail
