#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "../core/duration.hpp"
#include "sockets.hpp"

namespace mock_gateway::detail {

/// Reports sockets that became readable or writable, or were closed by the peer. One thread calls wait(); the other
/// functions are thread-safe. Uses epoll, or poll(2) where epoll is missing or MOCK_GATEWAY_POLL is defined.
class Poller {
 public:
  struct Event {
    void* owner = nullptr;
    /// The peer closed its side, or the connection is gone.
    bool hung_up = false;
  };

  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// Returns false if the system gave no descriptor. Then no other function works.
  bool is_open() const;
  /// Starts watching a socket, including bytes that already arrived. Returns false if the system is out of memory.
  bool add(Socket socket, void* owner);
  /// Watches the socket again once its owner has taken all bytes. Until then, further events may go unreported.
  /// `before` is the `wanted` of the previous call, or the default in the first call.
  void watch_again(Socket socket, void* owner, const sockets::Wanted& wanted, const sockets::Wanted& before);
  /// Must be called before the socket is closed. The waiting thread may still get one more event for it.
  void remove(Socket socket);
  /// Waits for events, the timeout (empty: none) or wake(). Returns the number of events, which may be 0.
  std::size_t wait(Event* events, std::size_t most, std::optional<Duration> timeout);
  void wake() noexcept;

 private:
  sockets::WakePair wake_ = sockets::open_wake();
#if defined(__linux__) && !defined(MOCK_GATEWAY_POLL)
  int epoll_;
  bool is_open_ = false;
#else
  struct WatchedSocket {
    void* owner = nullptr;
    std::uint64_t serial = 0;
    bool is_watched = false;
    sockets::Wanted wanted;
  };

  std::mutex mutex_;
  std::map<Socket, WatchedSocket> watched_;
  std::uint64_t serial_ = 0;
  std::atomic<bool> is_woken_{false};
#endif
};

}  // namespace mock_gateway::detail
