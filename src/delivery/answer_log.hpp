#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/duration.hpp"
#include "../model/sent_answer.hpp"

namespace mock_gateway::detail {

/// The record of an answer: its bytes without HTTP chunks and gzip, and when the connection accepted them. Written by
/// the connection's thread, read by any thread.
class AnswerLog {
 public:
  enum class Kind { head, body, garbage };

  /// The position of a payload in the answer: after the first `before` of the `wire` bytes that start at `begin`.
  struct Place {
    std::size_t begin;
    std::size_t wire;
    std::size_t before = 0;
    /// The number of bytes that the HTTP chunk lacks to reach its announced size.
    std::size_t missing = 0;
    bool compressed = false;
    /// Whether the payload may be in several HTTP chunks. As if compressed, its bytes on the wire differ from it.
    bool divided = false;
  };

  struct Event {
    /// Whether the event carries content.
    bool token;
    /// The time since the request was complete, on the gateway's clock. Events in one write have the same time.
    Duration at;
    /// Its size on the wire, including HTTP chunks and bytes between it and the previous event.
    std::size_t bytes;
  };

  /// The body in the parts that the client's parser sees, including unsent ones.
  struct Parts {
    struct Part {
      /// The event's number; 0 for bytes between events or a body that is not streamed.
      std::size_t event;
      std::string bytes;
    };

    bool streamed = false;
    std::size_t head = 0;
    std::vector<Part> parts;
    /// The number of the event `[DONE]`; 0 if there was none.
    std::size_t done = 0;
    bool whole = false;
  };

  /// Keeps at most `most` bytes, including overhead per piece; empty: all.
  AnswerLog(TimePoint received, std::optional<std::size_t> most) : received_(received), most_(most) {}

  bool keeps_all() const { return !most_; }

  void add_interim(std::string_view bytes);
  /// Records the next bytes to be sent, in order. `event` as in Parts.
  void add(Kind kind, std::string_view payload, const Place& place, std::size_t event = 0);
  /// Marks the end of an event, just before byte `end` of the answer.
  void end_event(std::size_t end, bool token);
  void stream();
  void done_follows(std::size_t event);
  void end_body();
  /// Sets that the answer is complete once the connection has accepted `end` bytes.
  void add_end(std::size_t end);
  /// Notes that the connection has accepted `written` bytes of the answer so far.
  void handed_over(std::size_t written, TimePoint now);
  /// Sets how the answer ends, unless that is already set or the answer is complete.
  void end(SentAnswer::Ending ending, TimePoint now);

  /// Returns the part sent so far, with unmasked keys.
  SentAnswer sent() const;
  std::vector<Event> events(std::size_t most) const;
  Parts parts() const;
  /// Returns the used memory in bytes.
  std::size_t weight() const;

 private:
  struct Piece {
    std::size_t size() const { return end - offset; }

    Kind kind;
    bool ends_event = false;
    bool ends_token = false;
    std::size_t event;
    std::size_t offset;  // where the payload begins in bytes_
    std::size_t end;
    Place place;
    std::size_t taken = 0;
    std::optional<Duration> at = {};
    Duration until{0};
  };

  bool may_hold(std::size_t size);

  mutable std::mutex mutex_;
  const TimePoint received_;
  const std::optional<std::size_t> most_;
  std::string interim_;
  std::string bytes_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;  // the first piece that is not completely sent
  std::optional<std::size_t> end_at_;
  SentAnswer::Ending ending_ = SentAnswer::Ending::open;
  Duration ended_{0};
  std::size_t done_ = 0;
  bool is_body_ended_ = false;
  bool is_streamed_ = false;
  bool is_cut_ = false;
};

}  // namespace mock_gateway::detail
