#pragma once

#include <cstddef>
#include <memory>
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

  /// False if the system gave no descriptor; then nothing else works.
  bool is_open() const;
  /// Starts watching a socket, including bytes that already arrived. Returns false if the system is out of memory.
  bool add(int socket, void* owner);
  /// Rearms the socket after its owner has taken all bytes. Until then, further events may go unreported. `before`: the
  /// previous `wanted`; at first, the default.
  void watch_again(int socket, void* owner, const sockets::Wanted& wanted, const sockets::Wanted& before);
  /// Must be called before the socket is closed. The waiting thread may still get one more event for it.
  void remove(int socket);
  /// Waits for events, the timeout (empty: none) or wake(). Returns the number of events, which may be 0.
  std::size_t wait(Event* events, std::size_t most, std::optional<Duration> timeout);
  void wake() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mock_gateway::detail
