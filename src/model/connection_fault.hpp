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

/// What goes wrong on a connection before a request, or around one; Gateway::next_connection makes it happen. What goes
/// wrong within a reply is a Fault of that reply.
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
  /// When a connection is struck.
  enum class Moment {
    /// It has just been accepted.
    accepted,
    /// It has served a request, and the first byte of the next one has arrived.
    reused,
    /// The first byte of any request has arrived.
    request,
  };

  Kind kind() const { return kind_; }
  Moment moment() const;
  /// "reset on accept".
  std::string to_string() const;

  /// What is sent: the garbage, or the whole interim response; empty for the other kinds.
  const std::string& bytes() const { return *bytes_; }
  /// How many bytes of a slow body are read after each gap; 0 for the other kinds.
  std::size_t step() const { return step_; }
  /// The time on the gateway's clock before each step of a slow body; 0 for the other kinds.
  Duration gap() const { return gap_; }
  /// The failure that is sent before the body has come; empty for the kinds that send none.
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  friend struct detail::Access;
  explicit ConnectionFault(Kind kind, std::string bytes = {}, std::size_t step = 0, Duration gap = {},
                           std::optional<Failure> failure = {});

  Kind kind_;
  detail::Lasting<const std::string> bytes_;  // never null
  std::size_t step_;
  Duration gap_;
  std::optional<Failure> failure_;
};

/// Sends RST at once. The client's connect has succeeded by then: it sees ECONNRESET, once, where it next writes or
/// reads, and only by a rare chance in connect itself; after a write that failed so, a read gives the end of the
/// stream. It never sees ECONNREFUSED, which an open port cannot give: Gateway::refuse_connections closes it.
ConnectionFault reset_on_accept();
/// Sends FIN at once, and not a byte. What the client sends is thrown away, so that it sees the FIN and no RST.
ConnectionFault close_on_accept();
/// Sends these bytes at once, whatever the client sends, then FIN: something that is no HTTP server has the port. Not
/// empty, or GatewayError.
ConnectionFault garbage_on_accept(std::string bytes = "SSH-2.0-OpenSSH_9.2p1\r\n");
/// Sends FIN on an idle connection at the moment when the first byte of its next request arrives, which is the race of
/// every keep-alive. The request is thrown away unread, and is no exchange.
ConnectionFault close_when_reused();
/// Does the same with RST, as a server's kernel does when a request reaches a connection that is closed already.
ConnectionFault reset_when_reused();
/// Sends `100 Continue`, which nobody asked for, in front of the reply (RFC 9110, 15.2.1).
ConnectionFault unsolicited_continue();
/// Sends `103 Early Hints` with these header fields in front of the reply (RFC 8297). GatewayError for a field that no
/// head can hold.
ConnectionFault early_hints(const wire::Headers& headers);
/// The same with `Link: </style.css>; rel=preload; as=style`.
ConnectionFault early_hints();
/// Reads the request's body `bytes` at a time, each time after `gap` on the gateway's clock, with a receive buffer as
/// small as the system allows: the sender of a large body is slowed down, that of a small one waits for its reply.
/// From the moment when the client closes its side the rest is read at once. Both are positive, or GatewayError.
ConnectionFault slow_body(std::size_t bytes, Duration gap);
/// Answers as soon as the headers have arrived, without `100 Continue` and without reading the body, then closes: 413,
/// say, or 401 to `Expect: 100-continue` (RFC 9110, 10.1.1). What still comes of the body is thrown away.
ConnectionFault reply_before_body(const Failure& failure);
/// Answers as early, then reads the body to its end, throws it away and keeps the connection for the next request
/// (RFC 9112, 9.3). It closes after all where the body is longer than Options::max_body, and where the client said
/// `Expect: 100-continue`: whether such a client still sends its body cannot be known (RFC 9110, 10.1.1).
ConnectionFault reply_then_read_body(const Failure& failure);

}  // namespace mock_gateway
