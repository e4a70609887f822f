#pragma once

#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "../core/version.hpp"

namespace mock_gateway {

namespace detail {

struct DialectRow;

}  // namespace detail

/// How the events of a stream are written (WHATWG HTML, 9.2). A value; each setter returns a changed copy. The default
/// is what OpenAI sends. Reply::sse throws GatewayError for a dialect that cannot be written. Elements of chunks() that
/// raw_bytes() made are written as they are.
class SseDialect {
 public:
  // Defined in the .cpp: a file that copies one need not compile it. A move copies too, so that nothing is emptied.
  SseDialect();
  SseDialect(const SseDialect&);
  SseDialect& operator=(const SseDialect&);
  ~SseDialect();

  /// What ends a line: "\n", which it is unless set, "\r\n" or "\r".
  [[nodiscard]] SseDialect line_end(std::string end) const;
  const std::string& line_end() const { return line_end_; }
  /// Whether a space follows the colon of a field. True unless set.
  [[nodiscard]] SseDialect space_after_colon(bool space) const;
  bool space_after_colon() const { return space_after_colon_; }
  /// Whether `data: [DONE]` ends the stream. True unless set.
  [[nodiscard]] SseDialect done(bool sent) const;
  bool done() const { return done_; }
  /// The Content-Type of the reply; empty: no such header. `text/event-stream; charset=utf-8` unless set.
  [[nodiscard]] SseDialect content_type(std::string type) const;
  const std::string& content_type() const { return content_type_; }
  /// Whether the stream begins with a byte order mark (EF BB BF). False unless set.
  [[nodiscard]] SseDialect byte_order_mark(bool sent) const;
  bool byte_order_mark() const { return byte_order_mark_; }
  /// The `event:` field of each event, on the line before its data; empty, which it is unless set: none.
  [[nodiscard]] SseDialect event(std::string name) const;
  const std::string& event() const { return event_; }
  /// Whether each event has an `id:` field, its number. False unless set.
  [[nodiscard]] SseDialect ids(bool sent) const;
  bool ids() const { return ids_; }
  /// The `retry:` field of the first event, in whole milliseconds and not negative. None unless set.
  [[nodiscard]] SseDialect retry(std::optional<Duration> time) const;
  const std::optional<Duration>& retry() const { return retry_; }
  /// Whether JSON objects are written as three lines of data: the opening brace, the members, the closing brace. False
  /// unless set.
  [[nodiscard]] SseDialect multi_line_data(bool split) const;
  bool multi_line_data() const { return multi_line_data_; }
  /// A comment before each event, with a blank line after it: "OPENROUTER PROCESSING"; empty, which it is unless set:
  /// none.
  [[nodiscard]] SseDialect comment(std::string text) const;
  const std::string& comment() const { return comment_; }
  /// Sends a ping, while the reply waits (for its next token, at a gate, in a stall), each time this much has passed on
  /// the gateway's clock since the request was complete. A millisecond at least; 0, which it is unless set: none. A
  /// ping comes before a token of the same moment. On the instant clock there are pings only in waits whose end is
  /// known: not at a gate, nor in a stall() without end.
  [[nodiscard]] SseDialect ping_every(Duration interval) const;
  Duration ping_every() const { return ping_every_; }
  /// The lines of a ping, separated by "\n", without the blank line after them: ": ping", which it is unless set,
  /// "data:", "id: 7\n: ping".
  [[nodiscard]] SseDialect ping(std::string lines) const;
  const std::string& ping() const { return ping_; }
  /// Whether a blank line follows the last event. A parser drops an event without one. True unless set.
  [[nodiscard]] SseDialect final_blank_line(bool sent) const;
  bool final_blank_line() const { return final_blank_line_; }
  /// The data of one more event, after `[DONE]`; empty, which it is unless set: none. Needs `done` and the final blank
  /// line.
  [[nodiscard]] SseDialect after_done(std::string data) const;
  const std::string& after_done() const { return after_done_; }
  /// Whether the body stays unterminated and the connection open after the last event, until the client leaves, the
  /// gateway stops or Options::stall_guard has passed. False unless set.
  [[nodiscard]] SseDialect open_after_done(bool open) const;
  bool open_after_done() const { return open_after_done_; }
  /// The trailer fields behind the last chunk (RFC 9112, 7.1.2), separated by "\n": "x-checksum: 7f"; empty, which it
  /// is unless set: none. The connection is kept. An HTTP/1.0 response has no chunks, and none of these.
  [[nodiscard]] SseDialect trailer(std::string fields) const;
  const std::string& trailer() const { return trailer_; }
  /// Whether the body is compressed, with `Content-Encoding: gzip`, whatever the request accepts. Each event can be
  /// decompressed when it arrives. False unless set.
  [[nodiscard]] SseDialect gzip(bool compressed) const;
  bool gzip() const { return gzip_; }

  friend bool operator==(const SseDialect& left, const SseDialect& right);
  friend bool operator!=(const SseDialect& left, const SseDialect& right) { return !(left == right); }

 private:
  friend struct detail::DialectRow;
  template <class T>
  SseDialect with(T SseDialect::*member, T value) const;

  std::string line_end_ = "\n";
  bool space_after_colon_ = true;
  bool done_ = true;
  std::string content_type_ = "text/event-stream; charset=utf-8";
  bool byte_order_mark_ = false;
  std::string event_ = {};
  bool ids_ = false;
  std::optional<Duration> retry_ = {};
  bool multi_line_data_ = false;
  std::string comment_ = {};
  Duration ping_every_{0};
  std::string ping_ = ": ping";
  bool final_blank_line_ = true;
  std::string after_done_ = {};
  bool open_after_done_ = false;
  std::string trailer_ = {};
  bool gzip_ = false;
};

namespace detail {

/// Throws GatewayError for a dialect that cannot be written.
void require_dialect(const SseDialect& dialect);
/// What a stream in this dialect has that OpenAI's has not, for reports: "lines ended with CR, [DONE] was left out";
/// empty: nothing. Of its end only when the stream was sent `whole`.
std::string unusual_in(const SseDialect& dialect, bool whole);

}  // namespace detail

}  // namespace mock_gateway
