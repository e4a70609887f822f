#include "waits.hpp"

#include <algorithm>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

bool Waits::wait_until(Moment deadline, const ControlRequest& request, const std::function<bool()>& condition) {
  // What is waited for often comes at once; a poll that lasts asks more rarely.
  constexpr std::chrono::milliseconds longest_pause{20};
  std::chrono::milliseconds pause{1};
  for (;;) {
    if (condition()) return true;
    const Moment now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    if (request.is_abandoned && request.is_abandoned())
      throw ControlError(503, "client_left", "the client has left");  // which nobody reads
    std::unique_lock<std::mutex> lock(mutex_);
    if (ended_.wait_until(lock, std::min(deadline, now + pause), [this] { return stopped_.load(); }))
      throw ControlError(503, "stopping", "the program is about to end");
    pause = std::min(2 * pause, longest_pause);
  }
}

void Waits::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  ended_.notify_all();
}

}  // namespace endpoint
}  // namespace mock_gateway
