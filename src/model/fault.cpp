// Triggers and effects of faults, and their names in reports.

#include "fault.hpp"

#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "checks.hpp"

namespace mock_gateway {

std::string Trigger::to_string() const {
  switch (kind_) {
    case Kind::before_headers: return "before headers";
    case Kind::after_headers: return "after headers";
    case Kind::after_events: return "after " + detail::text::counted(count_, "event");
    case Kind::after_tokens: return "after " + detail::text::counted(count_, "token");
    case Kind::after_bytes: return "after " + detail::text::counted(count_, "byte") + " of the body";
    case Kind::inside_event:
      return "inside event " + std::to_string(count_) + ", after " + detail::text::counted(byte_, "byte");
    case Kind::inside_character: return "inside a character of event " + std::to_string(count_);
    case Kind::before_done: return "before [DONE]";
    case Kind::at_end: return "at the end";
  }
  return "unknown trigger";
}

Trigger before_headers() { return detail::Access::make<Trigger>(Trigger::Kind::before_headers, 0u, 0u); }

Trigger after_headers() { return detail::Access::make<Trigger>(Trigger::Kind::after_headers, 0u, 0u); }

Trigger after_events(std::size_t count) {
  return detail::Access::make<Trigger>(Trigger::Kind::after_events,
                                       detail::counted_from_one(count, "after_events", "events"), 0u);
}

Trigger after_tokens(std::size_t count) {
  return detail::Access::make<Trigger>(Trigger::Kind::after_tokens,
                                       detail::counted_from_one(count, "after_tokens", "tokens"), 0u);
}

Trigger after_bytes(std::size_t count) {
  return detail::Access::make<Trigger>(Trigger::Kind::after_bytes,
                                       detail::counted_from_one(count, "after_bytes", "bytes of the body"), 0u);
}

Trigger inside_event(std::size_t event, std::size_t byte) {
  detail::counted_from_one(event, "inside_event", "events");
  return detail::Access::make<Trigger>(Trigger::Kind::inside_event, event,
                                       detail::counted_from_one(byte, "inside_event", "bytes of an event"));
}

Trigger inside_character(std::size_t event) {
  return detail::Access::make<Trigger>(Trigger::Kind::inside_character,
                                       detail::counted_from_one(event, "inside_character", "events"), 0u);
}

Trigger before_done() { return detail::Access::make<Trigger>(Trigger::Kind::before_done, 0u, 0u); }

Trigger at_end() { return detail::Access::make<Trigger>(Trigger::Kind::at_end, 0u, 0u); }

Effect::Effect(Kind kind) : kind_(kind) {}
Effect::Effect(Kind kind, Duration duration) : kind_(kind), duration_(duration) {}
Effect::Effect(Kind kind, Gate gate) : kind_(kind), gate_(std::move(gate)) {}
Effect::Effect(Kind kind, std::string bytes) : kind_(kind), bytes_(std::move(bytes)) {}
Effect::Effect(Kind kind, const Failure& failure) : kind_(kind), failure_(failure) {}
Effect::Effect(Kind kind, std::int64_t difference) : kind_(kind), difference_(difference) {}

Effect::Effect(const Effect&) = default;
Effect& Effect::operator=(const Effect&) = default;
Effect::~Effect() = default;

std::string Effect::to_string() const {
  switch (kind_) {
    case Kind::close_connection: return "close the connection";
    case Kind::reset_connection: return "reset the connection";
    case Kind::half_close: return "half-close the connection";
    case Kind::truncate: return "truncate the body";
    case Kind::garbage: return "send " + detail::text::counted(bytes_.size(), "byte") + " of garbage";
    case Kind::error_event: return "send an error event";
    case Kind::skip_event: return "skip an event";
    case Kind::duplicate_event: return "duplicate an event";
    case Kind::wrong_content_length:
      return "announce a Content-Length wrong by " + std::string(difference_ > 0 ? "+" : "") +
             std::to_string(difference_);
    case Kind::stall:
      if (gate_) return "stall until a gate opens";
      if (!duration_) return "stall";
      return "stall for " + detail::text::decimal(duration_->count(), 1000000) + " ms";
  }
  return "unknown effect";
}

Effect close_connection() { return detail::Access::make<Effect>(Effect::Kind::close_connection); }

Effect reset_connection() { return detail::Access::make<Effect>(Effect::Kind::reset_connection); }

Effect half_close() { return detail::Access::make<Effect>(Effect::Kind::half_close); }

Effect truncate() { return detail::Access::make<Effect>(Effect::Kind::truncate); }

Effect garbage(std::string bytes) {
  if (bytes.empty()) throw GatewayError("garbage needs at least one byte; close_connection() sends none");
  return detail::Access::make<Effect>(Effect::Kind::garbage, std::move(bytes));
}

Effect stall() { return detail::Access::make<Effect>(Effect::Kind::stall); }

Effect stall(Duration duration) {
  if (duration <= Duration::zero()) {
    throw GatewayError("stall needs a positive duration; without one it lasts until the client leaves");
  }
  return detail::Access::make<Effect>(Effect::Kind::stall, duration);
}

Effect stall(Gate gate) { return detail::Access::make<Effect>(Effect::Kind::stall, std::move(gate)); }

Effect error_event(const Json& data) {
  try {
    return detail::Access::make<Effect>(Effect::Kind::error_event, data.dump());
  } catch (const Json::exception& error) {
    throw GatewayError(std::string("the data of error_event cannot be written as JSON: ") + error.what());
  }
}

Effect error_event(const Failure& failure) { return detail::Access::make<Effect>(Effect::Kind::error_event, failure); }

Effect skip_event() { return detail::Access::make<Effect>(Effect::Kind::skip_event); }

Effect duplicate_event() { return detail::Access::make<Effect>(Effect::Kind::duplicate_event); }

Effect wrong_content_length(std::int64_t difference) {
  if (difference == 0) throw GatewayError("wrong_content_length needs a difference that is not 0");
  return detail::Access::make<Effect>(Effect::Kind::wrong_content_length, difference);
}

}  // namespace mock_gateway
