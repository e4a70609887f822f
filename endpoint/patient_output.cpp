// How long writes wait for a slow reader, above all at the end of the program.

#include "patient_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <optional>

namespace mock_gateway {
namespace endpoint {

const std::size_t PatientOutput::one_piece = PIPE_BUF;

PatientOutput::End PatientOutput::write(std::string_view& text) {
  while (!text.empty()) {
    if (!wait_for_room()) return End::unread;
    const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), at_once_));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return End::failed;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return End::written;
}

bool PatientOutput::wait_for_room() {
  using Clock = std::chrono::steady_clock;
  constexpr int look_again_ms = 50;  // interval for checking given_up_
  std::optional<Clock::time_point> latest;
  for (;;) {
    if (given_up_ && !latest) latest = Clock::now() + std::chrono::seconds(1);
    const bool waits = !unread_ && (!latest || Clock::now() < *latest);
    pollfd output{descriptor_, POLLOUT, 0};
    const int ready = ::poll(&output, 1, waits ? look_again_ms : 0);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // write() reports the error
    if (waits) continue;
    unread_ = true;
    return false;
  }
}

}  // namespace endpoint
}  // namespace mock_gateway
