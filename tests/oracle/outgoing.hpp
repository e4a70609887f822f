#pragma once

// A recorder of the writes of a gateway to its sockets.

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "mock_gateway.hpp"

namespace oracle {

/// A recorder of the writes of one gateway during the recorder's lifetime. It sees only send(2), the only call with
/// which gateways write to sockets.
class Outgoing {
 public:
  /// The bytes that the gateway passed in one call. If the socket accepts them in parts, they still count as one write,
  /// because the parts depend on the system.
  struct Write {
    std::size_t size;
    std::chrono::nanoseconds at;
  };

  /// `now` returns the time of a write and is called on the gateway's threads. `send_buffer` is the size of each
  /// socket's send buffer in bytes; 0 keeps the system's default.
  Outgoing(const mock_gateway::Gateway& gateway, std::function<std::chrono::nanoseconds()> now, int send_buffer = 0);
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  std::vector<Write> writes() const;
  /// Returns whether a socket has ever been full.
  bool was_full() const;

  // Called by send(2).
  static void begin_send(int socket, std::size_t size);
  static void end_send(int socket, std::size_t taken);

 private:
  void begin(int socket, std::size_t size);

  const int port_;
  const std::function<std::chrono::nanoseconds()> now_;
  const int send_buffer_;
  std::vector<Write> writes_;
  std::size_t taken_ = 0;     // total bytes accepted by the sockets
  std::size_t promised_ = 0;  // the value of taken_ when the sockets have accepted everything passed so far
  bool was_full_ = false;
};

}  // namespace oracle
