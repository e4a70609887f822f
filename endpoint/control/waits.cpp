// Long polls: the polling interval and the limit on their number.

#include "waits.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

class Waits::Turn {
 public:
  explicit Turn(std::atomic<std::size_t>& waiting) : waiting_(waiting) {
    if (++waiting_ <= most) return;
    --waiting_;
    ControlError error(503, "too_many_waits",
                       std::to_string(most) +
                           " requests are waiting already, which is the limit; ask again in a second, or without "
                           "waiting");
    error.retry_after = "1";
    throw error;
  }
  ~Turn() { --waiting_; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<std::size_t>& waiting_;
};

bool Waits::wait_for(Duration time, const ControlRequest& request, const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  // Poll fast at first: most conditions hold soon.
  constexpr std::chrono::milliseconds longest_pause{20};
  std::chrono::milliseconds pause{1};
  std::optional<Turn> turn;
  for (;;) {
    if (condition()) return true;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return false;
    if (request.is_abandoned && request.is_abandoned())
      throw ControlError(503, "client_left", "the client has left");  // not read by a client
    if (!turn) turn.emplace(waiting_);
    std::unique_lock<std::mutex> lock(mutex_);
    if (ended_.wait_until(lock, std::min(deadline, now + pause), [this] { return stopped_.load(); })) require_running();
    pause = std::min(2 * pause, longest_pause);
  }
}

void Waits::require_running() const {
  if (stopped_) throw ControlError(503, "stopping", "the program is about to end");
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
