#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "received_request.hpp"

namespace mock_gateway {

/// An answer as it was sent: all that the connection took of it, after faults and chaos. Options::keep_answers makes
/// the journal keep it, and Exchange::answer gives it. Keys are masked in it. Times count from the moment at which the
/// request was complete, on the gateway's clock.
struct SentAnswer {
  /// How it ended.
  enum class Ending {
    /// It has not ended.
    open,
    /// It was sent to its last byte.
    whole,
    /// The gateway closed the connection (FIN) before.
    closed,
    /// The gateway closed its side (FIN) before, and waited for the client to close the other one.
    half_closed,
    /// The gateway reset the connection (RST) before.
    reset,
    /// The client left, or did not read, or the gateway was stopped, before the rest was sent.
    abandoned,
  };
  /// Bytes of the body that left together: of a stream, an event.
  struct Part {
    std::string bytes;
    /// When the first and the last of them were handed to the connection. These differ where the client reads slowly.
    Duration at{0};
    Duration until{0};
  };
  /// A response with a status below 200 before the answer.
  struct Interim {
    int status = 0;
    wire::Headers headers;
  };

  std::vector<Interim> interim;
  /// 0: not even the head was sent.
  int status = 0;
  /// The header fields in order, those included that the gateway adds itself, such as Date.
  wire::Headers headers;
  /// When the head was handed to the connection.
  Duration head_at{0};
  /// The body without its transfer coding, and without the gzip of SseDialect::gzip.
  std::vector<Part> parts;
  /// The bytes of garbage(…), which are no part of the body and stand behind it.
  std::string garbage;
  /// By how many bytes its last HTTP chunk was announced longer than it came; see truncate().
  std::size_t missing = 0;
  Ending ending = Ending::open;
  /// When the last byte was handed over or, of an answer that is not whole, its end was decided.
  Duration ended_at{0};
  /// It was sent event by event.
  bool is_streamed = false;
  /// SseDialect::gzip has compressed it.
  bool is_compressed = false;
  /// It had more bytes than Options::max_body, and what follows them is missing here.
  bool is_cut = false;
  /// A key in it was masked, so that these are not the bytes that were sent. The body is one part then where a key lay
  /// across several.
  bool has_masked_key = false;

  /// All parts, one after the other.
  std::string body() const;
};

std::string to_string(SentAnswer::Ending ending);
std::ostream& operator<<(std::ostream& out, SentAnswer::Ending ending);

}  // namespace mock_gateway
