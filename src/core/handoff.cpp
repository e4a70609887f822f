// The handoff of the calling thread.

#include "handoff.hpp"

#include <utility>

namespace mock_gateway::detail {
namespace handoff {

Handoff*& current() {
  thread_local Handoff* current = nullptr;
  return current;
}

}  // namespace handoff

ScopedHandoff::ScopedHandoff(Handoff& handoff) { handoff::current() = &handoff; }

ScopedHandoff::~ScopedHandoff() { handoff::current() = nullptr; }

bool ScopedHandoff::is_pending() const { return handoff::current() != nullptr; }

void hand_off_event_loop() noexcept {
  if (Handoff* const handoff = std::exchange(handoff::current(), nullptr)) handoff->hand_over();
}

}  // namespace mock_gateway::detail
