// What a connection reports to the current exchange: five events.

#pragma once

#include <chrono>
#include <cstddef>

#include "../core/duration.hpp"

namespace mock_gateway::detail {

/// Receives the events of a connection. Called by the thread that serves the connection.
class ExchangeObserver {
 public:
  struct Leaving {
    /// True for RST. False for FIN, after which the client may still read.
    bool is_reset = false;
    /// Bytes written but not received by the client's kernel, as far as the system can tell.
    std::size_t under_way = 0;
    /// The time on the exchange's clock.
    TimePoint at{};
    /// Time on that clock since the last write; 0 if there was none.
    Duration after_last_write{0};
  };

  virtual ~ExchangeObserver() = default;

  /// Both times are taken before the first byte is written, because the client may react before the sender continues.
  virtual void mark_first_byte(TimePoint at, std::chrono::steady_clock::time_point real) = 0;
  virtual void mark_written(std::size_t bytes) = 0;
  /// Called when the client sent FIN or RST, or a write failed.
  virtual void mark_client_closed(const Leaving& leaving) = 0;
  /// Tells whether the exchange still waits although its client has closed its side.
  virtual void mark_unattended(bool unattended) = 0;
  virtual void mark_guard_expired() = 0;
};

}  // namespace mock_gateway::detail
