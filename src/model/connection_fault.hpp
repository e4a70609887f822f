#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "../core/shared.hpp"
#include "failure.hpp"
#include "received_request.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// A fault of a connection, before or around a request; see Gateway::next_connection. Faults in a reply: Fault.
class ConnectionFault {
 public:
  enum class Kind {
    reset_on_accept,
    close_on_accept,
    garbage_on_accept,
    close_when_reused,
    reset_when_reused,
    unsolicited_continue,
    early_hints,
    slow_body,
    reply_before_body,
    reply_then_read_body,
  };
  enum class Moment {
    accepted,
    /// The connection has served a request, and the first byte of the next request has arrived.
    reused,
    /// The first byte of any request has arrived.
    request,
  };

  Kind kind() const { return kind_; }
  Moment moment() const;
  /// Returns a text such as "reset on accept".
  std::string to_string() const;

  /// Returns the bytes to send: the garbage, or the whole interim response. Empty for the other kinds.
  const std::string& bytes() const { return *bytes_; }
  /// Returns how many bytes of a slow body the gateway reads after each gap, or 0 for the other kinds.
  std::size_t step() const { return step_; }
  /// Returns the pause on the gateway's clock before each step of a slow body, or 0 for the other kinds.
  Duration gap() const { return gap_; }
  /// Returns the failure sent before the body has arrived, or nothing for the kinds that send none.
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  friend struct detail::Access;
  explicit ConnectionFault(Kind kind, std::string bytes = {}, std::size_t step = 0, Duration gap = {},
                           std::optional<Failure> failure = {});

  Kind kind_;
  detail::HandlePointer<const std::string> bytes_;  // never null
  std::size_t step_;
  Duration gap_;
  std::optional<Failure> failure_;
};

/// Sends RST at once, after the client's connect. The client sees ECONNRESET once, at its next write or read, rarely in
/// connect. After a failed write, a read returns the end of the stream. For ECONNREFUSED: Gateway::refuse_connections.
ConnectionFault reset_on_accept();
/// Sends FIN at once and no bytes. The gateway discards what the client sends, so that the client sees FIN and no RST.
ConnectionFault close_on_accept();
/// Sends these bytes at once, then FIN, like a server that does not speak HTTP. Reads no request. Not empty.
ConnectionFault garbage_on_accept(std::string bytes = "SSH-2.0-OpenSSH_9.2p1\r\n");
/// Sends FIN on an idle connection when the first byte of its next request arrives: a race that can happen on every
/// keep-alive connection. The gateway discards the request unread and records no exchange.
ConnectionFault close_when_reused();
/// Like close_when_reused(), but with RST, as a server's kernel answers a request on a closed connection.
ConnectionFault reset_when_reused();
/// Sends an unsolicited `100 Continue` before the reply (RFC 9110, 15.2.1).
ConnectionFault unsolicited_continue();
/// Sends `103 Early Hints` with these header fields before the reply (RFC 8297).
ConnectionFault early_hints(const wire::Headers& headers);
/// Sends `103 Early Hints` with `Link: </style.css>; rel=preload; as=style`.
ConnectionFault early_hints();
/// Reads `bytes` of the request's body after each `gap` on the gateway's clock. Uses the smallest receive buffer that
/// the system allows. This slows the sender of a large body; the sender of a small body waits for its reply. Once
/// the client closes its side, the gateway reads the rest at once. Both arguments are positive.
ConnectionFault slow_body(std::size_t bytes, Duration gap);
/// Answers as soon as the headers have arrived, without `100 Continue` and without reading the body, then closes.
/// Examples: 413, or 401 to `Expect: 100-continue` (RFC 9110, 10.1.1). Discards the rest of the body.
ConnectionFault reply_before_body(const Failure& failure);
/// Answers like reply_before_body(), then reads and discards the whole body and keeps the connection for the next
/// request (RFC 9112, 9.3). Closes the connection if the body is longer than Options::max_body. Also after `Expect:
/// 100-continue`, because such a client may not send its body (RFC 9110, 10.1.1).
ConnectionFault reply_then_read_body(const Failure& failure);

}  // namespace mock_gateway
