// Lets a thread hand over its duties before it blocks.

#pragma once

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
  explicit ScopedHandoff(Handoff& handoff);
  ~ScopedHandoff();
  ScopedHandoff(const ScopedHandoff&) = delete;
  ScopedHandoff& operator=(const ScopedHandoff&) = delete;

  bool is_pending() const;
};

/// Must be called before a thread blocks, runs test code or works for long: calls its handoff, if any. Cheap.
void hand_off_event_loop() noexcept;

}  // namespace mock_gateway::detail
