#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../model/sse_dialect.hpp"
#include "gzip.hpp"

namespace mock_gateway::detail {

/// Turns events into the bytes of a stream: server-sent events in a dialect (WHATWG HTML, 9.2), in chunks
/// (RFC 9112, 7.1) or, for HTTP/1.0, bare. Each view is valid until the next call of the same function.
class EventFraming {
 public:
  /// The dialect must outlive this.
  EventFraming(const SseDialect& dialect, bool chunked);

  /// Whether an event is one line of data, and the stream nothing but events: then frame() is enough.
  bool is_plain() const { return plain_; }
  /// One whole event, ready to be sent, of a plain framing.
  std::string_view frame(std::string_view data);
  /// Bytes of the body as they are but for the chunk around them, and gzip. With `missing`, the chunk is announced that
  /// many bytes longer than it comes.
  std::string_view wrap(std::string_view bytes, std::size_t missing = 0);
  /// What terminates the body.
  std::string_view terminator();

  // The parts of a body, to be wrapped.
  /// Event `number` of the stream; without its blank line if it is the `last` and the dialect says so.
  std::string_view event(std::string_view data, std::size_t number, bool last);
  /// An event without data, whose lines are separated by "\n"; the `last` likewise.
  std::string_view meta_event(std::string_view lines, bool last);
  /// Gives back the memory of what was made last.
  void shrink();
  std::string_view comment() const { return comment_; }
  std::string_view ping() const { return ping_; }

 private:
  void begin_chunk(std::size_t size);
  void append_line(std::string_view field, std::string_view value);
  /// Appends lines that are separated by "\n", without the end of the last.
  void append_lines(std::string& out, std::string_view lines) const;

  const SseDialect& dialect_;
  std::string end_;      // what terminates a body in chunks, with its trailer
  std::string before_;   // "data: "
  std::string after_;    // the blank line
  std::string comment_;  // the same for every event
  std::string ping_;
  bool chunked_;
  bool plain_;
  std::optional<GzipStream> gzip_;
  std::string text_;
  std::string buffer_;
};

}  // namespace mock_gateway::detail
