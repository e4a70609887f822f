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

/// A point of a reply. Events count from 1, the role event included. Tokens are content deltas (text, reasoning,
/// refusal, tool arguments), counted from 1 over the whole reply, also where a Chunking makes them more or less than a
/// token. Both are counted as the reply has them, whatever a fault skips or repeats. Comments and pings are no events.
///
/// A reply that is not streamed leaves in one piece: it has a head, bytes and an end, and no events or tokens. The same
/// stub may answer both, so a point that either can reach is accepted; verify() reports a reply that did not reach it.
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
  /// How many events, tokens or bytes, or the number of the event; 0 for the kinds that count nothing.
  std::size_t count() const { return count_; }
  /// The number of bytes in inside_event; 0 for the other kinds.
  std::size_t byte() const { return byte_; }
  /// "after 2 tokens".
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
/// The head is sent, the body not begun.
Trigger after_headers();
/// After the event of that number. `count` is at least 1, or GatewayError.
Trigger after_events(std::size_t count);
/// After the token of that number. `count` is at least 1, or GatewayError.
Trigger after_tokens(std::size_t count);
/// After the first `count` bytes of the body as the client's parser sees it, HTTP's chunks and gzip taken off.
/// Comments, pings and a byte order mark count. An event that this cuts leaves in two HTTP chunks: one up to the cut,
/// one from it on. `count` is at least 1, or GatewayError.
Trigger after_bytes(std::size_t count);
/// After the first `byte` bytes of event `event`, which begins with `data: ` or the field that its dialect puts before
/// it. The event is cut as by after_bytes. Both are at least 1, or GatewayError. A reply never comes to it when the
/// event has no more bytes than that.
Trigger inside_event(std::size_t event, std::size_t byte);
/// After the first byte of the first character of event `event` that has several (UTF-8). The event is cut as by
/// after_bytes. `event` is at least 1, or GatewayError. A reply never comes to it when the event has no such character.
Trigger inside_character(std::size_t event);
/// After every event but `[DONE]`.
Trigger before_done();
/// After the last event, before the body is terminated.
Trigger at_end();

/// What happens at a trigger. Everything before it has arrived: the client's kernel has it before a FIN
/// or RST follows.
class Effect {
 public:
  // Defined in the .cpp: a file that copies one need not compile it. A move copies too, so that nothing is emptied.
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
  /// The duration of a stall. When it is empty, the stall lasts until the gate opens; without a gate, until the client
  /// leaves, the gateway stops or Options::stall_guard has passed.
  const std::optional<Duration>& duration() const { return duration_; }
  /// The gate that ends the stall.
  const std::optional<Gate>& gate() const { return gate_; }
  /// The bytes of garbage, or the data of an error event without a failure.
  const std::string& bytes() const { return bytes_; }
  /// The failure whose body an error event has.
  const std::optional<Failure>& failure() const { return failure_; }
  /// By how many bytes a Content-Length is wrong; 0 for the other kinds.
  std::int64_t difference() const { return difference_; }
  /// "reset the connection".
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

/// Ends the connection with FIN, the reply unfinished. A stream ends between two HTTP chunks, without the terminating
/// one.
Effect close_connection();
/// Ends the connection with RST.
Effect reset_connection();
/// Ends the gateway's side with FIN, the reply unfinished, and keeps the connection until the client closes its side
/// (Exchange::departure says so), the gateway stops or Options::stall_guard has passed.
Effect half_close();
/// Ends the connection with FIN short of what HTTP announced: a plain reply short of its Content-Length, a stream
/// inside an event short of its HTTP chunk, whose size is that of the whole event. Between two events it is
/// close_connection(). Not before the headers.
Effect truncate();
/// Writes these bytes in place of what would follow, not framed as part of the body, then ends the connection with FIN.
/// After the headers of a stream they stand where the size of an HTTP chunk belongs. Not empty, or GatewayError.
Effect garbage(std::string bytes);
/// Sends nothing more until the client leaves, the gateway stops or Options::stall_guard has passed. The pings of a
/// dialect go on during any stall, except inside an event.
Effect stall();
/// Sends nothing for `duration` on the gateway's clock, then goes on: tokens whose time has passed meanwhile leave at
/// once. `duration` is positive, or GatewayError.
Effect stall(Duration duration);
/// Sends nothing until the gate lets the exchange pass, then goes on.
Effect stall(Gate gate);
/// Sends an event with this data in place of what would follow, then `[DONE]` where the dialect has it, and terminates
/// the body, as vLLM does when it fails in a stream. The connection stays. Between events of a stream only.
Effect error_event(const Json& data);
/// The same with the error body of a failure, as the profile writes it.
Effect error_event(const Failure& failure);
/// Leaves out the event that would come next, `[DONE]` included; a plain reply has none.
Effect skip_event();
/// Sends the event that would come next twice.
Effect duplicate_event();
/// Announces a Content-Length that is wrong by `difference` bytes, and never less than 0; the body and the connection
/// stay as they are. For plain replies without a scripted Content-Length, with before_headers(). Not 0, or
/// GatewayError.
Effect wrong_content_length(std::int64_t difference);

/// What breaks a reply, and where; see Reply::fault.
struct Fault {
  Trigger trigger;
  Effect effect;
};

}  // namespace mock_gateway
