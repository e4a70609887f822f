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

/// A point of a reply. Events count from 1, the role event included; tokens are content deltas (text, reasoning,
/// refusal, tool arguments), counted from 1 over the whole reply: also where a Chunking makes them more or less than a
/// token. Both are counted as the reply has them, whatever a
/// fault skips or repeats; comments and pings are no events.
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

  Trigger(Kind kind, std::size_t count, std::size_t byte = 0) : kind_(kind), count_(count), byte_(byte) {}

  Kind kind() const { return kind_; }
  /// Of events, tokens or bytes; of the others 0.
  std::size_t count() const { return count_; }
  /// Of inside_event.
  std::size_t byte() const { return byte_; }
  /// "after 2 tokens".
  std::string to_string() const;

 private:
  Kind kind_;
  std::size_t count_;
  std::size_t byte_;
};

/// In place of the status line.
Trigger before_headers();
/// Head sent, body not begun.
Trigger after_headers();
/// `count` at least 1, or GatewayError; so for the next two.
Trigger after_events(std::size_t count);
Trigger after_tokens(std::size_t count);
/// After the first `count` bytes of the body as the client's parser sees it, HTTP's chunks and gzip taken off:
/// comments, pings and a byte order mark count. An event that it cuts leaves in two HTTP chunks, one up to the cut and
/// one from it on; so for the next two.
Trigger after_bytes(std::size_t count);
/// After the first `byte` bytes of event `event`, which begins with `data: ` or the field that its dialect puts before
/// it. Both at least 1, or GatewayError. Never reached when the event has no more bytes than that.
Trigger inside_event(std::size_t event, std::size_t byte);
/// After the first byte of the first character of event `event` that has several (UTF-8). Never reached when it has no
/// such character. `event` at least 1, or GatewayError.
Trigger inside_character(std::size_t event);
/// After every event but `[DONE]`.
Trigger before_done();
/// After the last event, before the body is terminated.
Trigger at_end();

/// What happens at a trigger. Everything before it has arrived: it is acknowledged by the client's kernel before a FIN
/// or RST follows.
class Effect {
 public:
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

  explicit Effect(Kind kind) : kind_(kind) {}
  Effect(Kind kind, std::optional<Duration> duration) : kind_(kind), duration_(duration) {}
  Effect(Kind kind, Gate gate) : kind_(kind), gate_(std::move(gate)) {}
  Effect(Kind kind, std::string bytes) : kind_(kind), bytes_(std::move(bytes)) {}
  Effect(Kind kind, Failure failure) : kind_(kind), failure_(std::move(failure)) {}
  Effect(Kind kind, std::int64_t difference) : kind_(kind), difference_(difference) {}

  Kind kind() const { return kind_; }
  /// Of a stall; nothing: until its gate opens or, without one, until the client leaves or a stop or guard.
  const std::optional<Duration>& duration() const { return duration_; }
  const std::optional<Gate>& gate() const { return gate_; }
  /// Of garbage; of an error event without a failure, its data.
  const std::string& bytes() const { return bytes_; }
  /// Of an error event.
  const std::optional<Failure>& failure() const { return failure_; }
  /// Of a wrong Content-Length.
  std::int64_t difference() const { return difference_; }
  std::string to_string() const;

 private:
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
/// Ends our side with FIN, the reply unfinished, and keeps the connection until the client closes its side, which the
/// record then says, the gateway stops or Options::stall_guard has passed.
Effect half_close();
/// Ends the body with FIN short of what HTTP announced: of its Content-Length; or, inside an event, of its HTTP chunk,
/// whose size is that of the whole event. Between two events it is close_connection(). Not before the headers.
Effect truncate();
/// Writes these bytes in place of what would follow, not framed as part of the body, then ends the connection with FIN.
/// After the headers of a stream they stand where the size of an HTTP chunk belongs. Not empty, or GatewayError.
Effect garbage(std::string bytes);
/// Sends nothing more until the client leaves, the gateway stops or Options::stall_guard has passed. The pings of a
/// dialect go on, here and in the next two, except inside an event.
Effect stall();
/// Sends nothing for `duration` on the gateway's clock, then goes on: tokens whose time has passed meanwhile leave at
/// once. `duration` is positive, or GatewayError.
Effect stall(Duration duration);
/// Sends nothing until the gate lets the exchange pass, then goes on.
Effect stall(Gate gate);
/// Sends an event with this data in place of what would follow, then `[DONE]` where the dialect has it, and terminates
/// the body: so vLLM does when it fails in a stream. The connection stays. Between events of a stream only.
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

struct Fault {
  Trigger trigger;
  Effect effect;
};

/// A place before an event or a token, where a gate can hold a reply.
class Place {
 public:
  enum class Kind { event, token };

  Place(Kind kind, std::size_t number) : kind_(kind), number_(number) {}
  Kind kind() const { return kind_; }
  std::size_t number() const { return number_; }
  /// "before token 2".
  std::string to_string() const;

 private:
  Kind kind_;
  std::size_t number_;
};

/// `number` counts from 1, or GatewayError.
Place before_event(std::size_t number);
/// `number` counts from 1, or GatewayError.
Place before_token(std::size_t number);

struct Hold {
  Gate gate;
  Place place;
};

/// How events are written (WHATWG HTML, 9.2). The default is what OpenAI sends. Elements of chunks() made of
/// raw_bytes() are written as they are.
struct SseDialect {
  /// "\n", "\r\n" or "\r".
  std::string line_end = "\n";
  bool space_after_colon = true;
  /// Whether `data: [DONE]` ends the stream.
  bool done = true;
  /// Empty: no such header.
  std::string content_type = "text/event-stream; charset=utf-8";
  /// Whether the stream begins with a byte order mark (EF BB BF).
  bool byte_order_mark = false;
  /// The `event:` field of each event, on the line before its data; empty: none.
  std::string event = {};
  /// Whether each event has an `id:` field, its number.
  bool ids = false;
  /// The `retry:` field of the first event, in whole milliseconds. Not negative.
  std::optional<Duration> retry = {};
  /// Whether JSON objects are written as three lines of data: the opening brace, the members, the closing brace.
  bool multi_line_data = false;
  /// A comment before each event, with a blank line after it: "OPENROUTER PROCESSING"; empty: none.
  std::string comment = {};
  /// While the reply waits (for its next token, at a gate, in a stall), a ping each time this much has passed on the
  /// gateway's clock since the request was complete, a millisecond at least; 0: none. A ping and a token of one moment
  /// come in this order. On the instant clock there are pings only in waits whose end is known: not at a gate, nor in a
  /// stall() without end.
  Duration ping_every{0};
  /// The lines of a ping, separated by "\n", without the blank line after them: ": ping", "data:", "id: 7\n: ping".
  std::string ping = ": ping";
  /// Whether a blank line follows the last event: without one a parser drops it.
  bool final_blank_line = true;
  /// The data of one more event, after `[DONE]`; empty: none. Needs `done` and the final blank line.
  std::string after_done = {};
  /// Whether the body stays unterminated and the connection open after the last event, until the client leaves, the
  /// gateway stops or Options::stall_guard has passed.
  bool open_after_done = false;
  /// Whether the body is compressed, with `Content-Encoding: gzip`, whatever the request accepts. Each event can be
  /// decompressed when it arrives.
  bool gzip = false;
};

/// Into which writes the bytes of a reply are divided. TCP may join writes or split them; with TCP_NODELAY, which is
/// on, it does not wait to.
struct Writes {
  enum class Kind {
    /// What is due at the same moment in one, of 64 KiB at most: whatever waits, a ping and a fault end it. An element
    /// of
    /// raw_bytes() has one of its own.
    due_together,
    /// The head, then each event, comment and ping, and the end of the body; a plain reply as above.
    each_event,
    /// As each_event, and at most `size` bytes each.
    sliced,
    /// All at the end, or before a fault.
    together,
    /// So too, but in two: the first `size` bytes, head included, and the rest.
    split,
  };

  Kind kind = Kind::due_together;
  std::size_t size = 0;
};

namespace detail {

/// Throws GatewayError for a dialect that cannot be written.
void require_dialect(const SseDialect& dialect);
bool same_dialect(const SseDialect& left, const SseDialect& right);

}  // namespace detail

}  // namespace mock_gateway
