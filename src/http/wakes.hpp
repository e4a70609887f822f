// What ends the waits of a connection from other threads: its waker, and the stop of the gateway.

#pragma once

#include <atomic>
#include <mutex>

#include "../core/timeline.hpp"
#include "sockets.hpp"

namespace mock_gateway::detail {

/// Has a connection looked at again: wakes a thread that waits for its news out of poll, and whoever else is told. The
/// descriptor is made when such a thread first needs it: on the real clock it never does.
class DescriptorWake final : public Wake {
 public:
  /// Wakes that too from now on; null: nothing more.
  void tell(Wake* other);
  ~DescriptorWake() override;
  void wake() noexcept override;
  /// The descriptor to poll. Only for the connection's own thread.
  int prepare();
  bool is_prepared();
  void clear();

 private:
  std::mutex mutex_;
  sockets::WakePair pair_;
  Wake* other_ = nullptr;
};

/// What ends a connection's waits and transfers from any thread, also when the connection is gone: hundreds are stopped
/// at once, and none of them has to wait for the others.
class StopLine {
 public:
  explicit StopLine(int socket) : socket_(socket) {}

  void stop();
  bool is_stopped() const { return stopped_; }
  /// Whether the connection's thread waits for its client, and nothing has come that would wake it.
  bool waits_for_client();
  /// Notes that it waits from now on, or no more.
  void set_waiting(bool waiting) { waiting_ = waiting; }
  /// is_stopped() for work that cannot wait on the descriptor.
  const std::atomic<bool>& stopped() const { return stopped_; }
  /// The descriptor is about to be closed, and may soon be somebody else's.
  void cut();

 private:
  std::mutex mutex_;
  int socket_;  // -1 once cut
  std::atomic<bool> stopped_{false};
  std::atomic<bool> waiting_{false};
};

}  // namespace mock_gateway::detail
