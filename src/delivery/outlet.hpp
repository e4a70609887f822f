// The interface through which delivery uses a connection.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "../core/clock.hpp"
#include "../core/timeline.hpp"

namespace mock_gateway::detail {

class Outlet {
 public:
  enum class Ending { keep_alive, close, reset };
  /// Whether a wait ends when the client closes its side. `leave`: unless requests that it sent before are still
  /// unread.
  enum class OnClientClosed { ignore, leave, give_up };

  /// The state of a wait. `not_yet`: the outlet knows when to check again.
  enum class WaitState { done, given_up, not_yet };

  virtual ~Outlet() = default;

  /// Writes as many bytes as possible without blocking. Empty if the client has gone or the gateway stops.
  virtual std::optional<std::size_t> write_some(std::string_view bytes) = 0;
  /// Whether `pending` is over. Gives up if the client leaves or the gateway stops first.
  virtual WaitState check_wait(Pending& pending, OnClientClosed on_client_closed) = 0;
  /// Whether more bytes can be written. Gives up if the client does not read.
  virtual WaitState check_room() = 0;
  /// Whether the client's kernel has received all written bytes. Gives up if the client has gone or does not read.
  virtual WaitState check_delivery() = 0;
  /// Whether the client's kernel accepted the last bytes. If the client closed its side before them, only its kernel's
  /// answer shows whether it still reads. Gives up also if the gateway stops.
  virtual WaitState check_last_bytes() = 0;
  /// Whether the client's kernel has received all written bytes, as far as the system can tell.
  virtual bool delivered() const { return true; }
  /// Whether all written bytes were sent, as far as the system can tell.
  virtual bool has_left() const { return true; }
  /// Whether the client's program has read all written bytes; empty if unknown.
  virtual std::optional<bool> was_read() const { return std::nullopt; }
  /// Called before the bytes that complete the answer. A client that sends something or leaves after the first call
  /// counts as having the complete reply.
  virtual void last_bytes_follow() {}
  virtual void end(Ending ending) = 0;
  /// Sends FIN now; the client may continue to send.
  virtual void end_sending() = 0;
  virtual std::shared_ptr<Wake> waker() = 0;
  /// Called when a hold or a wait on a manual clock exceeds its real-time guard.
  virtual void guard_expired() = 0;
};

}  // namespace mock_gateway::detail
