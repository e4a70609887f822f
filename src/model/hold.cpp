// The places at which a gate holds a reply.

#include "hold.hpp"

#include "../core/access.hpp"
#include "checks.hpp"

namespace mock_gateway {

std::string HoldPoint::to_string() const {
  return (kind_ == Kind::event ? "before event " : "before token ") + std::to_string(number_);
}

HoldPoint before_event(std::size_t number) {
  return detail::Access::make<HoldPoint>(HoldPoint::Kind::event,
                                         detail::counted_from_one(number, "before_event", "events"));
}

HoldPoint before_token(std::size_t number) {
  return detail::Access::make<HoldPoint>(HoldPoint::Kind::token,
                                         detail::counted_from_one(number, "before_token", "tokens"));
}

}  // namespace mock_gateway
