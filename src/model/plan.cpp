#include "plan.hpp"

#include <utility>

#include "../core/error.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace plan_check {

/// `number`, or GatewayError when it is 0.
std::size_t counted_from_one(std::size_t number, const char* function);

MOCK_GATEWAY_INLINE std::size_t counted_from_one(std::size_t number, const char* function) {
  if (number == 0) throw GatewayError(std::string(function) + " counts from 1");
  return number;
}

}  // namespace plan_check
}  // namespace detail

MOCK_GATEWAY_INLINE std::string Trigger::to_string() const {
  switch (kind_) {
    case Kind::before_headers: return "before headers";
    case Kind::after_headers: return "after headers";
    case Kind::after_events: return "after " + detail::text::counted(count_, "event");
    case Kind::after_tokens: return "after " + detail::text::counted(count_, "token");
    case Kind::before_done: return "before [DONE]";
    case Kind::at_end: return "at the end";
  }
  return "unknown trigger";
}

MOCK_GATEWAY_INLINE Trigger before_headers() { return Trigger(Trigger::Kind::before_headers, 0); }

MOCK_GATEWAY_INLINE Trigger after_headers() { return Trigger(Trigger::Kind::after_headers, 0); }

MOCK_GATEWAY_INLINE Trigger after_events(std::size_t count) {
  return Trigger(Trigger::Kind::after_events, detail::plan_check::counted_from_one(count, "after_events"));
}

MOCK_GATEWAY_INLINE Trigger after_tokens(std::size_t count) {
  return Trigger(Trigger::Kind::after_tokens, detail::plan_check::counted_from_one(count, "after_tokens"));
}

MOCK_GATEWAY_INLINE Trigger before_done() { return Trigger(Trigger::Kind::before_done, 0); }

MOCK_GATEWAY_INLINE Trigger at_end() { return Trigger(Trigger::Kind::at_end, 0); }

MOCK_GATEWAY_INLINE std::string Effect::to_string() const {
  switch (kind_) {
    case Kind::close_connection: return "close the connection";
    case Kind::reset_connection: return "reset the connection";
    case Kind::stall:
      if (!duration_) return "stall";
      return "stall for " + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*duration_).count()) +
             " ms";
  }
  return "unknown effect";
}

MOCK_GATEWAY_INLINE Effect close_connection() { return Effect(Effect::Kind::close_connection, std::nullopt); }

MOCK_GATEWAY_INLINE Effect reset_connection() { return Effect(Effect::Kind::reset_connection, std::nullopt); }

MOCK_GATEWAY_INLINE Effect stall() { return Effect(Effect::Kind::stall, std::nullopt); }

MOCK_GATEWAY_INLINE Effect stall(Duration duration) {
  if (duration <= Duration::zero()) {
    throw GatewayError("stall needs a positive duration; without one it lasts until the client leaves");
  }
  return Effect(Effect::Kind::stall, duration);
}

MOCK_GATEWAY_INLINE Place before_event(std::size_t number) {
  return Place(Place::Kind::event, detail::plan_check::counted_from_one(number, "before_event"));
}

MOCK_GATEWAY_INLINE Place before_token(std::size_t number) {
  return Place(Place::Kind::token, detail::plan_check::counted_from_one(number, "before_token"));
}

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
