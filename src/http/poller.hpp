#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "../core/duration.hpp"
#include "sockets.hpp"

namespace mock_gateway::detail {

/// Tells of which sockets the peers have sent something, or gone, or made room for more. One thread waits; any thread
/// does the rest. epoll, or poll(2): where there is no epoll, and where MOCK_GATEWAY_POLL is defined.
class Poller {
 public:
  struct Event {
    void* owner = nullptr;
    /// The peer has closed its side, or the connection is gone.
    bool hung_up = false;
  };

  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// False when the system had no descriptor for it: nothing else works then.
  bool is_open() const;
  /// Watches a socket from now on: what has come already is told of too. False when the system has no memory for it.
  bool add(int socket, void* owner);
  /// The socket's owner has taken what had come, and wants to be told of that from now on. Until it says so, it may be
  /// told of nothing more. `before` is what it wanted the last time; at first, the default.
  void watch_again(int socket, void* owner, const sockets::Wanted& wanted, const sockets::Wanted& before);
  /// To be called before the socket is closed. One event more may be on its way to the thread that waits.
  void remove(int socket);
  /// Waits until there is something to tell of, the time is up (nothing: without end), or wake() is called. Returns how
  /// many events there are, which may be none.
  std::size_t wait(Event* events, std::size_t most, std::optional<Duration> timeout);
  void wake() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mock_gateway::detail
