// What a connection tells of the exchange under way: five facts.

#pragma once

#include <chrono>
#include <cstddef>

#include "../core/duration.hpp"

namespace mock_gateway::detail {

/// What a connection tells of the exchange under way. Called by the thread that has the connection.
class ExchangeObserver {
 public:
  /// How the client left.
  struct Leaving {
    /// By RST; else by FIN, after which it may still read.
    bool is_reset = false;
    /// Bytes that were written and have not come to its kernel, as far as the system can tell.
    std::size_t under_way = 0;
    /// When, on the exchange's clock.
    TimePoint at{};
    /// Time on that clock since the last write; 0 when there was none.
    Duration after_last_write{0};
  };

  virtual ~ExchangeObserver() = default;

  /// Both moments are from before the answer's first byte left: its client may react before the sender goes on.
  virtual void mark_first_byte(TimePoint at, std::chrono::steady_clock::time_point real) = 0;
  /// So many bytes of the answer were taken.
  virtual void mark_written(std::size_t bytes) = 0;
  /// The client sent FIN, reset, or could not be written to.
  virtual void mark_client_closed(const Leaving& leaving) = 0;
  /// Whether the exchange waits although its client has closed its side.
  virtual void mark_unattended(bool unattended) = 0;
  /// A hold or a manual wait ran into its real-time guard.
  virtual void mark_guard_expired() = 0;
};

}  // namespace mock_gateway::detail
