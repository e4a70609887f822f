// The relief of the calling thread.

#include "relief.hpp"

#include <utility>

namespace mock_gateway::detail {
namespace relief {

Relief*& current() {
  thread_local Relief* current = nullptr;
  return current;
}

}  // namespace relief

Relieved::Relieved(Relief& relief) { relief::current() = &relief; }

Relieved::~Relieved() { relief::current() = nullptr; }

bool Relieved::is_pending() const { return relief::current() != nullptr; }

void call_relief() noexcept {
  if (Relief* const relief = std::exchange(relief::current(), nullptr)) relief->relieve();
}

}  // namespace mock_gateway::detail
