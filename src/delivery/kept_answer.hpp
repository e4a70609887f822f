#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/duration.hpp"

namespace mock_gateway::detail {

/// An answer as it leaves, kept for later: the bytes that the connection took, without HTTP's chunks and gzip, and when
/// it took them. Written by the connection's thread, read by any.
class KeptAnswer {
 public:
  enum class Ending { open, whole, closed, half_closed, reset, abandoned };
  enum class Kind { head, body, garbage };

  /// Bytes that leave together.
  struct Part {
    std::string bytes;
    /// When the connection took the first and the last of them, since the request was complete.
    Duration at{0};
    Duration until{0};
    /// By how many bytes the HTTP chunk of these bytes was announced longer than it came.
    std::size_t missing = 0;
  };

  /// What has left so far.
  struct Sent {
    std::string interim = {};  // whole interim responses
    std::optional<Part> head = {};
    std::vector<Part> body = {};
    std::optional<Part> garbage = {};
    Ending ending = Ending::open;
    /// When the end was decided, or the last byte left.
    Duration ended{0};
    bool is_streamed = false;
    bool is_compressed = false;
    /// The answer had more bytes than are kept.
    bool is_cut = false;
  };

  /// Where a payload stands among the bytes of the answer: within `wire` bytes from `begin` on, of which the first
  /// `before` come before the payload.
  struct Place {
    std::size_t begin;
    std::size_t wire;
    std::size_t before = 0;
    std::size_t missing = 0;
    /// Bytes on the wire are not those of the payload, one by one.
    bool compressed = false;
  };

  /// Keeps at most `most` bytes, what each part takes besides its bytes included.
  KeptAnswer(TimePoint received, std::size_t most) : received_(received), most_(most) {}

  /// An interim response has been sent.
  void add_interim(std::string_view bytes);
  /// These bytes are handed over next, in order.
  void add(Kind kind, std::string_view payload, const Place& place);
  /// The answer is sent event by event.
  void stream();
  /// The answer is whole when the connection has taken so many bytes of it.
  void add_end(std::size_t end);
  /// The connection has taken so many bytes of the answer.
  void handed_over(std::size_t written, TimePoint now);
  /// How the answer ends. Nothing happens when that was said before, or the answer is whole.
  void end(Ending ending, TimePoint now);

  Sent sent() const;
  /// How many bytes of memory this takes.
  std::size_t weight() const;

 private:
  struct Piece {
    Kind kind;
    std::size_t offset;  // of the payload in bytes_
    std::size_t size;
    Place place;
    std::size_t taken = 0;
    std::optional<Duration> at = {};
    Duration until{0};
  };

  bool may_hold(std::size_t size);

  mutable std::mutex mutex_;
  const TimePoint received_;
  const std::size_t most_;
  std::string interim_;
  std::string bytes_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;  // the first piece that has not left as a whole
  std::optional<std::size_t> end_at_;
  Ending ending_ = Ending::open;
  Duration ended_{0};
  bool is_streamed_ = false;
  bool is_cut_ = false;
};

}  // namespace mock_gateway::detail
