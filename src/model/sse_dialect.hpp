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
/// is what OpenAI sends. Reply::sse throws GatewayError for an invalid dialect. The raw_bytes() elements of chunks()
/// are not affected.
class SseDialect {
 public:
  // Defined in the .cpp, to keep them out of including files. A move copies, so that the moved-from value stays valid.
  SseDialect();
  SseDialect(const SseDialect&);
  SseDialect& operator=(const SseDialect&);
  ~SseDialect();

  /// Sets the line ending: "\n" (default), "\r\n" or "\r".
  [[nodiscard]] SseDialect line_end(std::string end) const;
  const std::string& line_end() const { return line_end_; }
  /// Sets whether a space follows the colon of a field. Default: true.
  [[nodiscard]] SseDialect space_after_colon(bool space) const;
  bool space_after_colon() const { return space_after_colon_; }
  /// Sets whether `data: [DONE]` ends the stream. Default: true.
  [[nodiscard]] SseDialect done(bool sent) const;
  bool done() const { return done_; }
  /// Sets the Content-Type of the reply; empty: no such header. Default: `text/event-stream; charset=utf-8`.
  [[nodiscard]] SseDialect content_type(std::string type) const;
  const std::string& content_type() const { return content_type_; }
  /// Sets whether the stream begins with a byte order mark (EF BB BF). Default: false.
  [[nodiscard]] SseDialect byte_order_mark(bool sent) const;
  bool byte_order_mark() const { return byte_order_mark_; }
  /// Sets the `event:` field of each event, on the line before its data. Default: empty, no field.
  [[nodiscard]] SseDialect event(std::string name) const;
  const std::string& event() const { return event_; }
  /// Sets whether each event has an `id:` field with its number. Default: false.
  [[nodiscard]] SseDialect ids(bool sent) const;
  bool ids() const { return ids_; }
  /// Sets the `retry:` field of the first event, in whole milliseconds, not negative. Default: no field.
  [[nodiscard]] SseDialect retry(std::optional<Duration> time) const;
  const std::optional<Duration>& retry() const { return retry_; }
  /// Sets whether JSON objects are split into three data lines: opening brace, members, closing brace. Default: false.
  [[nodiscard]] SseDialect multi_line_data(bool split) const;
  bool multi_line_data() const { return multi_line_data_; }
  /// Sets a comment before each event, followed by a blank line: "OPENROUTER PROCESSING". Default: empty, no comment.
  [[nodiscard]] SseDialect comment(std::string text) const;
  const std::string& comment() const { return comment_; }
  /// Sets the interval of pings while the reply waits for a token, a gate or a stall. It starts at the complete
  /// request, on the gateway's clock. At least 1 ms, or 0 (default) for no pings. A ping precedes a token due at the
  /// same time. On the instant clock, pings are only sent in waits with a known end: not at a gate or in an unlimited
  /// stall().
  [[nodiscard]] SseDialect ping_every(Duration interval) const;
  Duration ping_every() const { return ping_every_; }
  /// Sets the lines of a ping, separated by "\n", without the final blank line. Default: ": ping".
  [[nodiscard]] SseDialect ping(std::string lines) const;
  const std::string& ping() const { return ping_; }
  /// Sets whether a blank line follows the last event; a parser drops an event without it. Default: true.
  [[nodiscard]] SseDialect final_blank_line(bool sent) const;
  bool final_blank_line() const { return final_blank_line_; }
  /// Sets the data of an extra event after `[DONE]`. Default: empty, no event. Needs `done` and the final blank line.
  [[nodiscard]] SseDialect after_done(std::string data) const;
  const std::string& after_done() const { return after_done_; }
  /// Sets whether the connection stays open and the body unterminated after the last event. The wait ends when the
  /// client leaves, the gateway stops or Options::stall_guard has passed. Default: false.
  [[nodiscard]] SseDialect open_after_done(bool open) const;
  bool open_after_done() const { return open_after_done_; }
  /// Sets the trailer fields after the last chunk (RFC 9112, 7.1.2), separated by "\n": "x-checksum: 7f". Default:
  /// empty, none. The connection is kept. HTTP/1.0 responses have no chunks and no trailers.
  [[nodiscard]] SseDialect trailer(std::string fields) const;
  const std::string& trailer() const { return trailer_; }
  /// Sets whether the body is compressed with `Content-Encoding: gzip`, even if the request does not accept it. Each
  /// event can be decompressed on arrival. Default: false.
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

void require_dialect(const SseDialect& dialect);
/// Returns the differences from OpenAI's dialect, for reports: "lines ended with CR, [DONE] was left out".
/// Differences at the end only count if the stream was sent `whole`.
std::string unusual_in(const SseDialect& dialect, bool whole);

}  // namespace detail

}  // namespace mock_gateway
