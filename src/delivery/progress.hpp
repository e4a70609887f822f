#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "kept_answer.hpp"

namespace mock_gateway::detail {

/// What left of an answer, in parts as its client's parser sees them: HTTP's chunks and gzip taken off.
struct DeliveryTrace {
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

/// When the events of a stream were handed to the connection, the first of many.
class EventTimes {
 public:
  struct Event {
    /// The event carries content.
    bool token;
    /// Since the request was complete, on the gateway's clock. Events of one write have one time.
    Duration at;
    /// Its size on the wire, with HTTP's chunks and what stands before the event.
    std::size_t bytes;
  };

  explicit EventTimes(TimePoint received) : received_(received) {}

  /// `end`: how many bytes of the answer there are up to the end of the event.
  void add(bool token, TimePoint at, std::size_t end);
  /// From now on the bytes of events are counted from there: the head ends there.
  void begin(std::size_t end) { end_ = end; }
  std::vector<Event> all() const;

 private:
  static constexpr std::size_t most = 1024;

  mutable std::mutex mutex_;
  const TimePoint received_;
  std::vector<Event> events_;
  std::size_t end_ = 0;
};

/// A wait that the script of a reply wants.
struct ScriptedWait {
  enum class Kind { stall, half_close, open_stream, hold };

  Kind kind;
  /// The place in the reply: "after token 2".
  std::string place;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  /// "stalls as scripted after token 2 since 2.0 s", in real time.
  std::string under_way() const;
  /// "stalled as scripted after token 2 for 120 s; the client still waited".
  std::string in_vain(Duration lasted) const;
};

/// How far a delivery has come, for the record of its exchange. Written by the connection's thread, read by any.
struct DeliveryProgress {
  std::atomic<std::size_t> events{0};
  std::atomic<std::size_t> tokens{0};
  /// `[DONE]` was handed to the connection.
  std::atomic<bool> done{false};
  /// The real time of `[DONE]`. Where the connection is kept open after it: when the client's kernel has acknowledged
  /// it, and the latest moment until that is known.
  std::atomic<std::chrono::steady_clock::time_point> done_at{std::chrono::steady_clock::time_point{}};
  /// The plan's first fault has happened.
  std::atomic<bool> first_fault{false};
  /// Held while bytes are handed over and counted. Counts that are read under this mutex include all that the client
  /// can have read.
  mutable std::mutex handover;
  /// What left of a traced reply; null for other replies. Not to be read before the exchange has ended.
  std::unique_ptr<DeliveryTrace> trace;
  /// Null unless somebody looks at the times of events.
  std::unique_ptr<EventTimes> times;
  /// Null unless answers are kept.
  std::unique_ptr<KeptAnswer> kept;

  void set_scripted_wait(std::optional<ScriptedWait> wait);
  /// The scripted wait in which the delivery is.
  std::optional<ScriptedWait> scripted_wait() const;

 private:
  mutable std::mutex mutex_;
  std::optional<ScriptedWait> wait_;  // guarded by the mutex
};

}  // namespace mock_gateway::detail
