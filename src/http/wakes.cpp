// Wakes the wait of a connection, and stops a connection.

#include "wakes.hpp"

namespace mock_gateway::detail {

DescriptorWake::~DescriptorWake() { sockets::close_wake(pair_); }

void DescriptorWake::wake() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pair_.writing >= 0) sockets::signal_wake(pair_);
  if (other_) other_->wake();
}

void DescriptorWake::tell(Wake* other) {
  const std::lock_guard<std::mutex> lock(mutex_);
  other_ = other;
}

bool DescriptorWake::is_prepared() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return pair_.reading >= 0;
}

int DescriptorWake::prepare() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pair_.reading < 0) pair_ = sockets::open_wake();
  return pair_.reading;
}

void DescriptorWake::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pair_.reading >= 0) sockets::clear_wake(pair_);
}

void StopLine::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  if (socket_ >= 0) sockets::shut_down(socket_);
}

void StopLine::cut() {
  const std::lock_guard<std::mutex> lock(mutex_);
  socket_ = -1;
}

}  // namespace mock_gateway::detail
