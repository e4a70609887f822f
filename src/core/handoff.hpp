// Passes a thread's duties to another thread before the first one blocks.

#pragma once

#include <utility>

#include "version.hpp"

namespace mock_gateway::detail {

/// Takes over the duties of a thread that is about to block, such as the leader of an event loop.
class Handoff {
 public:
  virtual ~Handoff() = default;
  /// Called once, on the thread that will block.
  virtual void hand_over() noexcept = 0;
};

/// Sets the handoff of the calling thread, which must have none, for the lifetime of this object.
class ScopedHandoff {
 public:
  explicit ScopedHandoff(Handoff& handoff) { current() = &handoff; }
  ~ScopedHandoff() { current() = nullptr; }
  ScopedHandoff(const ScopedHandoff&) = delete;
  ScopedHandoff& operator=(const ScopedHandoff&) = delete;

  bool is_pending() const { return current() != nullptr; }

  static Handoff*& current() {
    thread_local Handoff* current = nullptr;
    return current;
  }
};

/// Must be called before a thread blocks, runs test code or works for long: calls its handoff, if any. Cheap.
inline void hand_off_event_loop() noexcept {
  if (Handoff* const handoff = std::exchange(ScopedHandoff::current(), nullptr)) handoff->hand_over();
}

}  // namespace mock_gateway::detail
