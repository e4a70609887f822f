// What delivery wants of a connection.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "../core/clock.hpp"
#include "../core/timeline.hpp"

namespace mock_gateway::detail {

/// What an answer is delivered to: the connection, as delivery sees it.
class Outlet {
 public:
  /// How the connection is to end after this exchange.
  enum class Ending { keep_alive, close, reset };
  /// Whether a wait goes on when the client closes its side. A client that only half-closed still reads.
  enum class OnClientClosed { go_on, give_up };

  /// How something stands that is waited for. `not_yet`: the outlet knows when to look again.
  enum class Look { over, given_up, not_yet };

  virtual ~Outlet() = default;

  /// Hands the connection as many of the bytes as it takes at once, which may be none. Nothing when the client has gone
  /// or the gateway stops.
  virtual std::optional<std::size_t> write_some(std::string_view bytes) = 0;
  /// Whether `pending` is over. Given up when the client has gone or the gateway stops first.
  virtual Look look(Pending& pending, OnClientClosed on_client_closed) = 0;
  /// Whether the connection takes more bytes. Given up when the client does not read.
  virtual Look look_for_room() = 0;
  /// Whether the client's kernel has what was written. Given up when the client has gone, does not read, or the gateway
  /// stops.
  virtual Look look_for_delivery() = 0;
  /// Whether the client's kernel took the last bytes. Where the client closed its side before those bytes, only the
  /// answer of its kernel tells whether the client still reads. Given up also when the gateway stops.
  virtual Look look_for_last_bytes() = 0;
  /// Whether the client's kernel has what was written, as far as the system can tell.
  virtual bool delivered() const { return true; }
  /// Whether what was written is on its way, as far as the system can tell.
  virtual bool has_left() const { return true; }
  /// Whether the client itself has read what was written, not only its kernel; nothing where the system cannot tell.
  virtual std::optional<bool> was_read() const { return std::nullopt; }
  /// Called before the bytes by which a client knows that the answer is whole. A client that sends something after the
  /// first call, or leaves, has a whole reply.
  virtual void last_bytes_follow() {}
  virtual void end(Ending ending) = 0;
  /// Sends FIN now; the client may go on sending.
  virtual void end_sending() = 0;
  /// What has the connection looked at again.
  virtual std::shared_ptr<Wake> waker() = 0;
  /// A hold or a manual wait ran into its real-time guard.
  virtual void guard_expired() = 0;
};

}  // namespace mock_gateway::detail
