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

/// An answer as it leaves: its bytes without HTTP's chunks and gzip, and when the connection took them. Written by the
/// connection's thread, read by any.
class AnswerLog {
 public:
  enum class Kind { head, body, garbage };

  /// Where a payload stands among the bytes of the answer: within `wire` bytes from `begin` on, of which the first
  /// `before` come before the payload.
  struct Place {
    std::size_t begin;
    std::size_t wire;
    std::size_t before = 0;
    /// By how many bytes the HTTP chunk of these bytes was announced longer than it came.
    std::size_t missing = 0;
    /// Bytes on the wire are not those of the payload, one by one.
    bool compressed = false;
  };

  /// An event that has left.
  struct Event {
    /// It carries content.
    bool token;
    /// Since the request was complete, on the gateway's clock. Events of one write have one time.
    Duration at;
    /// Its size on the wire, with HTTP's chunks and what stands before the event.
    std::size_t bytes;
  };

  /// The body in parts as its client's parser sees them, those included that have not left.
  struct Parts {
    struct Part {
      /// The event's number; 0: what stands between events, or the body of a reply that is not streamed.
      std::size_t event;
      std::string bytes;
    };

    bool streamed = false;
    /// How many bytes the head has.
    std::size_t head = 0;
    std::vector<Part> parts;
    /// The number of the event `[DONE]`; 0: there was none.
    std::size_t done = 0;
    /// The delivery came to the end of the body.
    bool whole = false;
  };

  /// Keeps at most `most` bytes, what each piece takes besides its bytes included; nothing: all of them.
  AnswerLog(TimePoint received, std::optional<std::size_t> most) : received_(received), most_(most) {}

  bool keeps_all() const { return !most_; }

  /// An interim response has been sent.
  void add_interim(std::string_view bytes);
  /// These bytes are handed over next, in order. `event` as in Parts.
  void add(Kind kind, std::string_view payload, const Place& place, std::size_t event = 0);
  /// All of an event was added: its last byte is the byte before `end` of the answer.
  void end_event(std::size_t end, bool token);
  /// The answer is sent event by event.
  void stream();
  /// The next event is `[DONE]`, and has that number.
  void done_follows(std::size_t event);
  /// The delivery came to the end of the body.
  void end_body();
  /// The answer is whole when the connection has taken so many bytes of it.
  void add_end(std::size_t end);
  /// The connection has taken so many bytes of the answer.
  void handed_over(std::size_t written, TimePoint now);
  /// How the answer ends. Nothing happens when that was said before, or the answer is whole.
  void end(SentAnswer::Ending ending, TimePoint now);

  /// What has left so far, with all keys.
  SentAnswer sent() const;
  /// The first of the events that have left, at most `most`.
  std::vector<Event> events(std::size_t most) const;
  Parts parts() const;
  /// How many bytes of memory this takes.
  std::size_t weight() const;

 private:
  struct Piece {
    std::size_t size() const { return end - offset; }

    Kind kind;
    bool ends_event = false;
    bool ends_token = false;  // an event that carries content
    std::size_t event;
    std::size_t offset;  // of the payload in bytes_
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
  std::size_t next_ = 0;  // the first piece that has not left as a whole
  std::optional<std::size_t> end_at_;
  SentAnswer::Ending ending_ = SentAnswer::Ending::open;
  Duration ended_{0};
  std::size_t done_ = 0;
  bool is_body_ended_ = false;
  bool is_streamed_ = false;
  bool is_cut_ = false;
};

}  // namespace mock_gateway::detail
