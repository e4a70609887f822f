#pragma once

// What a gateway hands to its sockets, write by write.

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "mock_gateway.hpp"

namespace oracle {

/// Sees each send(2) of one gateway for as long as this lives. No gateway writes to a socket by another call, and one
/// that did would be seen to write nothing.
class Outgoing {
 public:
  /// What was handed over in one piece. A piece that the socket took in several is one all the same: how much a socket
  /// takes at once is the system's affair.
  struct Write {
    std::size_t size;
    std::chrono::nanoseconds at;
  };

  /// `now` tells the moment of a write; it is called by the gateway's threads. `send_buffer`: bytes of the buffer of
  /// each socket of the gateway that writes; 0: the system's.
  Outgoing(const mock_gateway::Gateway& gateway, std::function<std::chrono::nanoseconds()> now, int send_buffer = 0);
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  std::vector<Write> writes() const;
  /// Whether a socket has once been too full for another byte.
  bool was_full() const;

  // What send(2) calls.
  static void begin_send(int socket, std::size_t size);
  static void end_send(int socket, std::size_t taken);

 private:
  void begin(int socket, std::size_t size);

  const int port_;
  const std::function<std::chrono::nanoseconds()> now_;
  const int send_buffer_;
  std::vector<Write> writes_;
  std::size_t taken_ = 0;     // bytes that the sockets took in all
  std::size_t promised_ = 0;  // what that is when all that was handed over has been taken
  bool was_full_ = false;
};

}  // namespace oracle
