#pragma once

// Records the writes of a gateway to its sockets.

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "mock_gateway.hpp"

namespace oracle {

/// Records each send(2) of one gateway during its lifetime. Gateways write to sockets only with this call; another call
/// would look like no write.
class Outgoing {
 public:
  /// Bytes passed in one call. If the socket accepts them in parts, they still count as one write, because the parts
  /// depend on the system.
  struct Write {
    std::size_t size;
    std::chrono::nanoseconds at;
  };

  /// `now` returns the time of a write; the gateway's threads call it. `send_buffer` sets the buffer of each writing
  /// socket in bytes; 0 keeps the system's.
  Outgoing(const mock_gateway::Gateway& gateway, std::function<std::chrono::nanoseconds()> now, int send_buffer = 0);
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  std::vector<Write> writes() const;
  /// Whether a socket has ever been full.
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
  std::size_t promised_ = 0;  // taken_ after the sockets accept everything passed so far
  bool was_full_ = false;
};

}  // namespace oracle
