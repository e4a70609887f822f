#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../model/sse_dialect.hpp"
#include "gzip.hpp"

namespace mock_gateway::detail {

/// Encodes events as the bytes of a stream: server-sent events in a dialect (WHATWG HTML, 9.2). Adds chunks (RFC 9112,
/// 7.1), except for HTTP/1.0. Each view is valid until the next call of the same function.
class EventFraming {
 public:
  /// The dialect must outlive the framing. The sizes are those of ReplyData; 0: not divided.
  EventFraming(const SseDialect& dialect, bool chunked, std::size_t http_chunk, std::size_t first_http_chunk);

  /// Whether every event is one line of data and nothing comes between events. Then frame() suffices.
  bool is_plain() const { return plain_; }
  /// Returns one complete event as it is sent. Only if is_plain().
  std::string_view frame(std::string_view data);
  /// Wraps bytes of the body in chunks, and gzip if enabled. Announces a last chunk that is `missing` bytes too large.
  /// Returns nothing if terminator() sends all bytes.
  std::string_view wrap(std::string_view bytes, std::size_t missing = 0);
  /// The number of bytes by which wrap() announced its last chunk longer than it is.
  std::size_t missing() const { return missing_; }
  std::string_view terminator();

  // Parts of a body, to be passed to wrap().
  /// Returns event `number` of the stream. The `last` event has no blank line if the dialect omits it.
  std::string_view event(std::string_view data, std::size_t number, bool last);
  /// Returns an event without data, whose lines are separated by "\n". `last` is as for event().
  std::string_view meta_event(std::string_view lines, bool last);
  void shrink();
  std::string_view comment() const { return comment_; }
  std::string_view ping() const { return ping_; }

 private:
  void append_chunks(std::string_view bytes, std::size_t missing);
  void begin_chunk(std::size_t size);
  void append_line(std::string_view field, std::string_view value);
  /// Appends lines that are separated by "\n", without the last line end.
  void append_lines(std::string& out, std::string_view lines) const;

  const SseDialect& dialect_;
  std::string end_;     // the terminator of a chunked body, with its trailer
  std::string before_;  // "data: "
  std::string after_;
  std::string comment_;  // the same for every event
  std::string ping_;
  bool chunked_;
  std::size_t http_chunk_;
  std::size_t first_http_chunk_;
  bool plain_;
  std::optional<GzipStream> gzip_;
  std::size_t missing_ = 0;
  std::string text_;
  std::string coded_;
  std::string whole_;  // the body, if terminator() sends all of it
  std::string buffer_;
};

}  // namespace mock_gateway::detail
