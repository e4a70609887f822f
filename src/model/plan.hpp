#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../core/clock.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// When the tokens of a reply leave, counted from the moment its request was complete, on the gateway's clock.
/// A reply that is not streamed leaves when its last token would have.
struct Pace {
  Duration first_token{0};
  Duration gap{0};
};

/// A point of a reply. Events count from 1, the role event included; tokens are content deltas (text, reasoning,
/// refusal, tool arguments), counted from 1 over the whole reply.
class Trigger {
 public:
  enum class Kind { before_headers, after_headers, after_events, after_tokens, before_done, at_end };

  Trigger(Kind kind, std::size_t count) : kind_(kind), count_(count) {}

  Kind kind() const { return kind_; }
  std::size_t count() const { return count_; }
  /// "after 2 tokens".
  std::string to_string() const;

 private:
  Kind kind_;
  std::size_t count_;
};

Trigger before_headers();
Trigger after_headers();
/// `count` at least 1, or GatewayError.
Trigger after_events(std::size_t count);
/// `count` at least 1, or GatewayError.
Trigger after_tokens(std::size_t count);
/// After every event but `[DONE]`.
Trigger before_done();
/// After the last event, before the body is terminated.
Trigger at_end();

/// What happens at a trigger.
class Effect {
 public:
  enum class Kind { close_connection, reset_connection, stall };

  Effect(Kind kind, std::optional<Duration> duration) : kind_(kind), duration_(duration) {}

  Kind kind() const { return kind_; }
  /// Of a stall; nothing: until the client leaves or the gateway stops.
  const std::optional<Duration>& duration() const { return duration_; }
  std::string to_string() const;

 private:
  Kind kind_;
  std::optional<Duration> duration_;
};

/// Ends the connection with FIN, the reply unfinished. What was sent before arrives.
Effect close_connection();
/// Ends the connection with RST, after the client's kernel has acknowledged what was sent before.
Effect reset_connection();
/// Sends nothing more until the client leaves or the gateway stops.
Effect stall();
/// Sends nothing for `duration` on the gateway's clock, then goes on. `duration` is positive, or GatewayError.
Effect stall(Duration duration);

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

/// How events are written. The default is what OpenAI sends.
struct SseDialect {
  /// "\n", "\r\n" or "\r" (WHATWG HTML, 9.2.5).
  std::string line_end = "\n";
  bool space_after_colon = true;
  /// Whether `data: [DONE]` ends the stream.
  bool done = true;
  std::string content_type = "text/event-stream; charset=utf-8";
};

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
