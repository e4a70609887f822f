#include "hold.hpp"

#include "checks.hpp"

namespace mock_gateway {

std::string Place::to_string() const {
  return (kind_ == Kind::event ? "before event " : "before token ") + std::to_string(number_);
}

Place before_event(std::size_t number) {
  return Place(Place::Kind::event, detail::counted_from_one(number, "before_event", "events"));
}

Place before_token(std::size_t number) {
  return Place(Place::Kind::token, detail::counted_from_one(number, "before_token", "tokens"));
}

}  // namespace mock_gateway
