// Reports ready sockets with epoll or poll(2), and selects one of the two.

#include "poller.hpp"

#if defined(__linux__) && !defined(MOCK_GATEWAY_POLL)
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#else
#include <new>
#include <vector>
#endif

namespace mock_gateway::detail {

#if defined(__linux__) && !defined(MOCK_GATEWAY_POLL)

namespace poller {

/// A timespec in the kernel's layout, independent of the C library's time_t.
struct Timespec {
  std::int64_t seconds;
  std::int64_t nanoseconds;
};

/// Waits with a precision of microseconds.
int wait_for(int epoll, epoll_event* events, int most, std::optional<Duration> timeout) {
  if (!timeout) return ::epoll_wait(epoll, events, most, -1);
#ifdef SYS_epoll_pwait2
  static std::atomic<bool> has_pwait2{true};
  if (has_pwait2) {
    // Waits 0.1 % less, because the kernel may wake up 0.1 % late. The caller waits again after an early end.
    const Duration left = std::max(Duration{0}, *timeout - *timeout / 1001);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    Timespec limit{seconds.count(), (left - seconds).count()};
    const long count = ::syscall(SYS_epoll_pwait2, epoll, events, most, &limit, nullptr, std::size_t{0});
    if (count >= 0 || errno == EINTR) return static_cast<int>(count);
    has_pwait2 = false;  // missing before Linux 5.11, or filtered by a container
  }
#endif
  sockets::poll(Socket{epoll}, sockets::Interest::readable, false, Socket::none, std::max(Duration{0}, *timeout));
  return ::epoll_wait(epoll, events, most, 0);
}

}  // namespace poller

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0 || wake_.reading == Socket::none) return;
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLET;
  is_open_ = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, static_cast<int>(wake_.reading), &interest) == 0;
}

Poller::~Poller() {
  if (epoll_ >= 0) ::close(epoll_);
  sockets::close_wake(wake_);
}

bool Poller::is_open() const { return is_open_; }

bool Poller::add(Socket socket, void* owner) {
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
  interest.data.ptr = owner;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, static_cast<int>(socket), &interest) == 0;
}

/// Changes only EPOLLOUT. The other events stay on, because edge triggering reports them only once per arrival.
void Poller::watch_again(Socket socket, void* owner, const sockets::Wanted& wanted, const sockets::Wanted& before) {
  if (wanted.room == before.room) return;
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
  if (wanted.room) interest.events |= EPOLLOUT;
  interest.data.ptr = owner;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, static_cast<int>(socket), &interest);
}

void Poller::remove(Socket socket) {
  epoll_event none{};
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, static_cast<int>(socket), &none);
}

std::size_t Poller::wait(Event* events, std::size_t most, std::optional<Duration> timeout) {
  std::array<epoll_event, 64> ready;
  const int count = poller::wait_for(epoll_, ready.data(), static_cast<int>(std::min(most, ready.size())), timeout);
  std::size_t reported = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& one = ready[static_cast<std::size_t>(i)];
    if (!one.data.ptr) {
      sockets::clear_wake(wake_);
      continue;
    }
    events[reported++] = {one.data.ptr, (one.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0};
  }
  return reported;
}

#else

Poller::Poller() = default;

Poller::~Poller() { sockets::close_wake(wake_); }

bool Poller::is_open() const { return wake_.reading != Socket::none; }

bool Poller::add(Socket socket, void* owner) {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    watched_[socket] = {owner, ++serial_, true, {}};
  } catch (const std::bad_alloc&) {
    return false;
  }
  wake();
  return true;
}

void Poller::watch_again(Socket socket, void*, const sockets::Wanted& wanted, const sockets::Wanted&) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = watched_.find(socket);
    if (found == watched_.end() || (found->second.is_watched && found->second.wanted == wanted)) return;
    found->second.is_watched = true;
    found->second.wanted = wanted;
  }
  wake();
}

void Poller::remove(Socket socket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  watched_.erase(socket);
}

std::size_t Poller::wait(Event* events, std::size_t most, std::optional<Duration> timeout) {
  std::vector<sockets::Watched> polled = {{wake_.reading}};
  std::vector<std::uint64_t> serials = {0};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [socket, one] : watched_) {
      if (!one.is_watched) continue;
      polled.push_back({socket, one.wanted});
      serials.push_back(one.serial);
    }
  }
  sockets::poll_each(polled, timeout);
  if (polled.front().is_ready) {
    sockets::clear_wake(wake_);
    is_woken_.exchange(false);  // not earlier: clear_wake() would take the next wake
  }
  std::size_t reported = 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::size_t i = 1; i < polled.size() && reported < most; ++i) {
    if (!polled[i].is_ready && !polled[i].hung_up) continue;
    const auto found = watched_.find(polled[i].descriptor);
    if (found == watched_.end() || found->second.serial != serials[i]) continue;  // the descriptor was reused
    found->second.is_watched = false;
    events[reported++] = {found->second.owner, polled[i].hung_up};
  }
  return reported;
}

#endif

void Poller::wake() noexcept {
#if !defined(__linux__) || defined(MOCK_GATEWAY_POLL)
  if (is_woken_.exchange(true)) return;  // the waiting thread has not returned yet, and will see the caller's changes
#endif
  sockets::signal_wake(wake_);
}

}  // namespace mock_gateway::detail
