#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

#include "../library.hpp"

namespace mock_gateway {
namespace endpoint {

struct ControlRequest;

/// The long polls of the control API.
class Waits {
 public:
  /// Polls the condition until it holds or the time has passed, and returns whether it held. Checks at once, then every
  /// few milliseconds, without a lock. Throws ControlError `stopping` at the end of the program, and `client_left` if
  /// the client disconnects, which frees the connection.
  bool wait_for(Duration time, const ControlRequest& request, const std::function<bool()>& condition);
  /// Ends all current and future waits.
  void stop();
  bool is_stopped() const { return stopped_; }
  /// Throws ControlError `stopping` at the end of the program. Long operations call it between steps.
  void require_running() const;

  /// Fewer than the connection limit, to leave connections for the requests that end the waits.
  static constexpr std::size_t most = 48;

 private:
  /// One wait.
  class Turn;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::atomic<bool> stopped_{false};  // changed with the mutex locked
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace endpoint
}  // namespace mock_gateway
