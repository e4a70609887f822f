// Ends the waits of a connection from other threads: its waker, and the stop of the gateway.

#pragma once

#include <atomic>
#include <mutex>

#include "../core/timeline.hpp"
#include "sockets.hpp"

namespace mock_gateway::detail {

/// Wakes a connection: its thread if that is blocked in poll(), and the wake set by tell(). The descriptor is created
/// on first use; with the real clock it is never needed.
class DescriptorWake final : public Wake {
 public:
  /// Forwards each wake to `other` from now on; null forwards nothing.
  void tell(Wake* other);
  ~DescriptorWake() override;
  void wake() noexcept override;
  /// The descriptor to poll. Only for the thread that serves the connection.
  int prepare();
  bool is_prepared();
  void clear();

 private:
  std::mutex mutex_;
  sockets::WakePair pair_;
  Wake* other_ = nullptr;
};

/// Stops a connection from any thread. Outlives it, so that many can be stopped without waiting for each other.
class StopLine {
 public:
  explicit StopLine(int socket) : socket_(socket) {}

  void stop();
  bool is_stopped() const { return stopped_; }
  /// is_stopped() for code that cannot poll the descriptor.
  const std::atomic<bool>& stopped() const { return stopped_; }
  /// Detaches from the socket, which is about to be closed and whose number may be reused.
  void cut();

 private:
  std::mutex mutex_;
  int socket_;  // -1 once cut
  std::atomic<bool> stopped_{false};
};

}  // namespace mock_gateway::detail
