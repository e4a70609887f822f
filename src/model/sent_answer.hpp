#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "received_request.hpp"

namespace mock_gateway {

/// An answer as it was sent: everything that the connection accepted, after faults and chaos. If Options::keep_answers
/// is on, the journal keeps it, and Exchange::answer returns it. Keys are masked. Times count from the complete
/// request, on the gateway's clock.
struct SentAnswer {
  enum class Ending {
    open,
    whole,
    /// The gateway closed the connection (FIN) before the end.
    closed,
    /// The gateway sent FIN before the end and waited for the client to close its side.
    half_closed,
    /// The gateway reset the connection (RST) before the end.
    reset,
    /// The client left or did not read, or the gateway stopped, before the end.
    abandoned,
  };
  /// A part of the body that was sent together; in a stream, one event.
  struct Part {
    std::string bytes;
    /// When its first and last byte were passed to the connection. These differ if the client reads slowly.
    Duration at{0};
    Duration until{0};
  };
  /// An interim response (status below 200) before the answer.
  struct Interim {
    int status = 0;
    wire::Headers headers;
  };

  std::vector<Interim> interim;
  /// 0 if not even the head was sent.
  int status = 0;
  /// The header fields in order, including those that the gateway adds, such as Date.
  wire::Headers headers;
  /// When the head was passed to the connection.
  Duration head_at{0};
  /// The body without its transfer coding and without the compression of SseDialect::gzip.
  std::vector<Part> parts;
  /// The bytes of garbage(…), which follow the body and are not part of it.
  std::string garbage;
  /// How many bytes of the announced last HTTP chunk were not sent; see truncate().
  std::size_t missing = 0;
  Ending ending = Ending::open;
  /// When the last byte was passed to the connection or, if incomplete, when the end was decided.
  Duration ended_at{0};
  /// Whether it was sent event by event.
  bool is_streamed = false;
  bool is_compressed = false;
  /// Whether it was longer than Options::max_body and the excess is missing here.
  bool is_cut = false;
  /// Whether a key was masked. If it spanned several parts, the body is a single part.
  bool has_masked_key = false;

  /// Returns all parts, concatenated.
  std::string body() const;
};

std::string to_string(SentAnswer::Ending ending);
std::ostream& operator<<(std::ostream& out, SentAnswer::Ending ending);

}  // namespace mock_gateway
