#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "../core/clock.hpp"
#include "../core/json.hpp"
#include "failure.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// A point in a reply. Events are counted from 1, including the role event; comments and pings are not events. Tokens
/// are content deltas (text, reasoning, refusal, tool arguments), counted from 1 over the whole reply. With a Chunking,
/// a delta may be more or less than a token. Faults that skip or repeat events do not change the count.
///
/// A reply that is not streamed is sent in one piece: it has a head, bytes and an end, but no events or tokens. One
/// stub may answer both kinds, so a trigger that fits either kind is accepted. verify() reports a reply that did not
/// reach its trigger.
class Trigger {
 public:
  enum class Kind {
    before_headers,
    after_headers,
    after_events,
    after_tokens,
    after_bytes,
    inside_event,
    inside_character,
    before_done,
    at_end,
  };

  Kind kind() const { return kind_; }
  /// Returns the number of events, tokens or bytes, or the event's number, or 0 for kinds without a number.
  std::size_t count() const { return count_; }
  /// Returns the number of bytes in inside_event, or 0 for the other kinds.
  std::size_t byte() const { return byte_; }
  /// Returns a text such as "after 2 tokens".
  std::string to_string() const;

 private:
  friend struct detail::Access;
  Trigger(Kind kind, std::size_t count, std::size_t byte) : kind_(kind), count_(count), byte_(byte) {}

  Kind kind_;
  std::size_t count_;
  std::size_t byte_;
};

/// Before the status line.
Trigger before_headers();
/// After the head is sent, before the body.
Trigger after_headers();
/// After the event with this number, at least 1.
Trigger after_events(std::size_t count);
/// After the token with this number, at least 1.
Trigger after_tokens(std::size_t count);
/// After the first `count` bytes of the decoded body (HTTP chunking and gzip removed), at least 1. Comments, pings and
/// a byte order mark count. An event cut at this point is sent in two HTTP chunks.
Trigger after_bytes(std::size_t count);
/// After the first `byte` bytes of event `event`, both at least 1. The bytes count from the event's first field, such
/// as `data: `. Cuts the event as after_bytes() does. Never reached if the event is not longer.
Trigger inside_event(std::size_t event, std::size_t byte);
/// After the first byte of the first multi-byte UTF-8 character of event `event`, at least 1. The event is cut as by
/// after_bytes(). Never reached if the event has no such character.
Trigger inside_character(std::size_t event);
/// After every event except `[DONE]`.
Trigger before_done();
/// After the last event, before the body is terminated.
Trigger at_end();

/// What happens at a trigger. A FIN or RST follows once the client's kernel has received everything before the trigger.
class Effect {
 public:
  // Defined in the .cpp, to keep them out of including files. A move copies, so that the moved-from value stays valid.
  Effect(const Effect& other);
  Effect& operator=(const Effect& other);
  ~Effect();

  enum class Kind {
    close_connection,
    reset_connection,
    half_close,
    truncate,
    garbage,
    stall,
    error_event,
    skip_event,
    duplicate_event,
    wrong_content_length,
  };

  Kind kind() const { return kind_; }
  /// Returns the duration of a stall. Empty: it ends as described at stall(Gate) or stall().
  const std::optional<Duration>& duration() const { return duration_; }
  const std::optional<Gate>& gate() const { return gate_; }
  /// Returns the bytes of garbage, or the data of an error event made from JSON.
  const std::string& bytes() const { return bytes_; }
  /// Returns the failure of an error event.
  const std::optional<Failure>& failure() const { return failure_; }
  /// Returns the error of a wrong Content-Length in bytes, or 0 for the other kinds.
  std::int64_t difference() const { return difference_; }
  /// Returns a text such as "reset the connection".
  std::string to_string() const;

 private:
  friend struct detail::Access;
  explicit Effect(Kind kind);
  Effect(Kind kind, Duration duration);
  Effect(Kind kind, Gate gate);
  Effect(Kind kind, std::string bytes);
  Effect(Kind kind, const Failure& failure);
  Effect(Kind kind, std::int64_t difference);

  Kind kind_;
  std::optional<Duration> duration_;
  std::optional<Gate> gate_;
  std::string bytes_;
  std::optional<Failure> failure_;
  std::int64_t difference_ = 0;
};

/// Closes the connection with FIN before the reply is complete. A stream ends between two HTTP chunks, without the
/// terminating chunk.
Effect close_connection();
/// Closes the connection with RST.
Effect reset_connection();
/// Sends FIN before the reply is complete. Keeps the connection until the client closes its side (see
/// Exchange::departure), the gateway stops or Options::stall_guard has passed.
Effect half_close();
/// Closes the connection with FIN before the announced bytes are sent. A plain reply is shorter than its
/// Content-Length. A stream is cut inside an event, whose HTTP chunk announces the size of the whole event. Between two
/// events it acts as close_connection(). Not allowed before the headers.
Effect truncate();
/// Writes these bytes in place of the rest, outside the body's framing, then closes the connection with FIN. After the
/// headers of a stream, they are where the client expects the size of an HTTP chunk. Not empty.
Effect garbage(std::string bytes);
/// Sends nothing more until the client leaves, the gateway stops or Options::stall_guard has passed. During any stall
/// the dialect's pings continue, except inside an event.
Effect stall();
/// Sends nothing for `duration` on the gateway's clock, then continues. Tokens that became due meanwhile are sent at
/// once. `duration` is positive.
Effect stall(Duration duration);
/// Sends nothing until the gate lets the exchange pass, then continues.
Effect stall(Gate gate);
/// Sends an event with this data in place of the rest, then `[DONE]` if the dialect has it, and terminates the body.
/// vLLM does this when it fails during a stream. The connection stays open. Only between events of a stream.
Effect error_event(const Json& data);
/// Sends an event with the error body of a failure, in the shape of the profile.
Effect error_event(const Failure& failure);
/// Skips the next event, even `[DONE]`. A plain reply has no events.
Effect skip_event();
/// Sends the next event twice.
Effect duplicate_event();
/// Announces a Content-Length that is wrong by `difference` bytes, but at least 0. The body and the connection do not
/// change. Only at before_headers(), for plain replies without a scripted Content-Length. Not 0.
Effect wrong_content_length(std::int64_t difference);

/// An effect and the trigger at which it breaks a reply; see Reply::fault.
struct Fault {
  Trigger trigger;
  Effect effect;
};

}  // namespace mock_gateway
