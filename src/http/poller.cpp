// Which sockets are ready, by epoll or poll(2); where which is taken.

#include "poller.hpp"

#include "sockets.hpp"

#if defined(__linux__) && !defined(MOCK_GATEWAY_POLL)
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#else
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <vector>
#endif

namespace mock_gateway::detail {

#if defined(__linux__) && !defined(MOCK_GATEWAY_POLL)

class Poller::Impl {
 public:
  Impl() {
    if (epoll_ < 0 || wake_.reading < 0) return;
    epoll_event interest{};
    interest.events = EPOLLIN | EPOLLET;
    is_open_ = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_.reading, &interest) == 0;
  }
  ~Impl() {
    if (epoll_ >= 0) ::close(epoll_);
    sockets::close_wake(wake_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool is_open() const { return is_open_; }

  bool add(int socket, void* owner) {
    epoll_event interest{};
    interest.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
    interest.data.ptr = owner;
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &interest) == 0;
  }

  void watch_again(int) {}  // each arrival is an edge

  void remove(int socket) {
    epoll_event none{};
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, &none);
  }

  std::size_t wait(Event* events, std::size_t most, std::optional<Duration> timeout) {
    std::array<epoll_event, 64> ready;
    const int count =
        ::epoll_wait(epoll_, ready.data(), static_cast<int>(std::min(most, ready.size())), limit(timeout));
    std::size_t told = 0;
    for (int i = 0; i < count; ++i) {
      const epoll_event& one = ready[static_cast<std::size_t>(i)];
      if (!one.data.ptr) {
        sockets::clear_wake(wake_);
        continue;
      }
      events[told++] = {one.data.ptr, (one.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0};
    }
    return told;
  }

  void wake() noexcept { sockets::signal_wake(wake_); }

 private:
  /// In whole milliseconds, and never less than asked for.
  static int limit(std::optional<Duration> timeout) {
    if (!timeout) return -1;
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(std::max(Duration{0}, *timeout)).count();
    return static_cast<int>(std::min<Duration::rep>(milliseconds, std::numeric_limits<int>::max()));
  }

  int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  sockets::WakePair wake_ = sockets::open_wake();
  bool is_open_ = false;
};

#else

class Poller::Impl {
 public:
  Impl() = default;
  ~Impl() { sockets::close_wake(wake_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool is_open() const { return wake_.reading >= 0; }

  bool add(int socket, void* owner) {
    try {
      const std::lock_guard<std::mutex> lock(mutex_);
      watched_[socket] = {owner, ++serial_, true};
    } catch (const std::bad_alloc&) {
      return false;
    }
    wake();
    return true;
  }

  void watch_again(int socket) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = watched_.find(socket);
      if (found == watched_.end() || found->second.is_watched) return;
      found->second.is_watched = true;
    }
    wake();
  }

  void remove(int socket) {
    const std::lock_guard<std::mutex> lock(mutex_);
    watched_.erase(socket);
  }

  std::size_t wait(Event* events, std::size_t most, std::optional<Duration> timeout) {
    std::vector<sockets::Watched> asked = {{wake_.reading}};
    std::vector<std::uint64_t> serials = {0};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [socket, one] : watched_) {
        if (!one.is_watched) continue;
        asked.push_back({socket});
        serials.push_back(one.serial);
      }
    }
    sockets::poll_each(asked, timeout);
    if (asked.front().readable) sockets::clear_wake(wake_);
    std::size_t told = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 1; i < asked.size() && told < most; ++i) {
      if (!asked[i].readable && !asked[i].hung_up) continue;
      const auto found = watched_.find(asked[i].descriptor);
      if (found == watched_.end() || found->second.serial != serials[i]) continue;  // its number is another's by now
      found->second.is_watched = false;
      events[told++] = {found->second.owner, asked[i].hung_up};
    }
    return told;
  }

  void wake() noexcept { sockets::signal_wake(wake_); }

 private:
  struct One {
    void* owner = nullptr;
    std::uint64_t serial = 0;
    bool is_watched = false;
  };

  sockets::WakePair wake_ = sockets::open_wake();
  std::mutex mutex_;
  std::map<int, One> watched_;
  std::uint64_t serial_ = 0;
};

#endif

Poller::Poller() : impl_(std::make_unique<Impl>()) {}

Poller::~Poller() = default;

bool Poller::is_open() const { return impl_->is_open(); }

bool Poller::add(int socket, void* owner) { return impl_->add(socket, owner); }

void Poller::watch_again(int socket) { impl_->watch_again(socket); }

void Poller::remove(int socket) { impl_->remove(socket); }

std::size_t Poller::wait(Event* events, std::size_t most, std::optional<Duration> timeout) {
  return impl_->wait(events, most, timeout);
}

void Poller::wake() noexcept { impl_->wake(); }

}  // namespace mock_gateway::detail
