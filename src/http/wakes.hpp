// Ends the waits of a connection from other threads: its waker, and the stop of the gateway.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "../core/timeline.hpp"
#include "sockets.hpp"

namespace mock_gateway::detail {

/// Wakes a connection's thread from poll(), and forwards to the wake set by tell(). The descriptor is created on first
/// use; with the real clock it is never needed.
class DescriptorWake final : public Wake {
 public:
  /// Forwards each wake to `other` from now on; null forwards nothing.
  void tell(Wake* other) {
    const std::lock_guard<std::mutex> lock(mutex_);
    other_ = other;
  }
  ~DescriptorWake() override { sockets::close_wake(pair_); }
  void wake() noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pair_.writing != Socket::none) sockets::signal_wake(pair_);
    if (other_) other_->wake();
  }
  /// Returns the descriptor to poll. Only for the thread that serves the connection.
  Socket prepare() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pair_.reading == Socket::none) pair_ = sockets::open_wake();
    return pair_.reading;
  }
  bool is_prepared() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pair_.reading != Socket::none;
  }
  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pair_.reading != Socket::none) sockets::clear_wake(pair_);
  }

 private:
  std::mutex mutex_;
  sockets::WakePair pair_;
  Wake* other_ = nullptr;
};

/// Stops a connection from any thread. Outlives the connection, so that a stop of many need not wait for each.
class StopLine {
 public:
  StopLine(Socket socket, std::shared_ptr<Wake> wake) : socket_(socket), wake_(std::move(wake)) {}

  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    if (socket_ != Socket::none) sockets::shut_down(socket_);
  }
  /// Ends the connection's waits after stop(), where shutting down a socket does not.
  void wake() { wake_->wake(); }
  bool is_stopped() const { return stopped_; }
  /// Returns the flag of is_stopped(), for code that cannot poll the descriptor.
  const std::atomic<bool>& stopped() const { return stopped_; }
  /// Detaches from the socket, which is about to be closed and whose number may be reused.
  void cut() {
    const std::lock_guard<std::mutex> lock(mutex_);
    socket_ = Socket::none;
  }

 private:
  std::mutex mutex_;
  Socket socket_;  // none after cut()
  const std::shared_ptr<Wake> wake_;
  std::atomic<bool> stopped_{false};
};

}  // namespace mock_gateway::detail
