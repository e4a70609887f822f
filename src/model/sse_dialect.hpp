#pragma once

#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "../core/version.hpp"

namespace mock_gateway {

/// How events are written (WHATWG HTML, 9.2). The default is what OpenAI sends. Elements of chunks() made of
/// raw_bytes() are written as they are.
struct SseDialect {
  /// "\n", "\r\n" or "\r".
  std::string line_end = "\n";
  bool space_after_colon = true;
  /// Whether `data: [DONE]` ends the stream.
  bool done = true;
  /// Empty: no such header.
  std::string content_type = "text/event-stream; charset=utf-8";
  /// Whether the stream begins with a byte order mark (EF BB BF).
  bool byte_order_mark = false;
  /// The `event:` field of each event, on the line before its data; empty: none.
  std::string event = {};
  /// Whether each event has an `id:` field, its number.
  bool ids = false;
  /// The `retry:` field of the first event, in whole milliseconds. Not negative.
  std::optional<Duration> retry = {};
  /// Whether JSON objects are written as three lines of data: the opening brace, the members, the closing brace.
  bool multi_line_data = false;
  /// A comment before each event, with a blank line after it: "OPENROUTER PROCESSING"; empty: none.
  std::string comment = {};
  /// While the reply waits (for its next token, at a gate, in a stall), a ping each time this much has passed on the
  /// gateway's clock since the request was complete, a millisecond at least; 0: none. A ping and a token of one moment
  /// come in this order. On the instant clock there are pings only in waits whose end is known: not at a gate, nor in a
  /// stall() without end.
  Duration ping_every{0};
  /// The lines of a ping, separated by "\n", without the blank line after them: ": ping", "data:", "id: 7\n: ping".
  std::string ping = ": ping";
  /// Whether a blank line follows the last event: without one a parser drops it.
  bool final_blank_line = true;
  /// The data of one more event, after `[DONE]`; empty: none. Needs `done` and the final blank line.
  std::string after_done = {};
  /// Whether the body stays unterminated and the connection open after the last event, until the client leaves, the
  /// gateway stops or Options::stall_guard has passed.
  bool open_after_done = false;
  /// Whether the body is compressed, with `Content-Encoding: gzip`, whatever the request accepts. Each event can be
  /// decompressed when it arrives.
  bool gzip = false;
};

namespace detail {

/// Throws GatewayError for a dialect that cannot be written.
void require_dialect(const SseDialect& dialect);
bool same_dialect(const SseDialect& left, const SseDialect& right);

}  // namespace detail

}  // namespace mock_gateway
