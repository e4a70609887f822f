#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace mock_gateway {
namespace endpoint {

struct ControlRequest;

/// Where long polls of the control API wait.
class Waits {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// Asks until the condition holds or the moment has come, and returns whether it held. It asks at once, then every
  /// few milliseconds, and without a lock. Throws ControlError `stopping` when the program ends meanwhile, and
  /// `client_left` when the client does, whose connection is then free for another.
  bool wait_until(Moment deadline, const ControlRequest& request, const std::function<bool()>& condition);
  /// Ends every wait, those to come included.
  void stop();
  bool is_stopped() const { return stopped_; }
  /// Throws ControlError `stopping` once the program ends: what takes long asks this between its steps.
  void require_running() const;

  /// Fewer than there are connections: some must be left for what the waits wait for.
  static constexpr std::size_t most = 48;

 private:
  /// One of them.
  class Turn;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::atomic<bool> stopped_{false};  // changed under the mutex
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace endpoint
}  // namespace mock_gateway
