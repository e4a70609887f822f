// What an answer is made of; how it becomes a failure.

#include "answer.hpp"

#include "../answer/bodies.hpp"

namespace mock_gateway {
namespace detail {

void Answer::become(const Failure& failure, Profile profile, TimePoint now) {
  status = failure.status();
  error_code = failure.code();
  content_type = failure.raw_body() ? failure.content_type() : "application/json";
  headers = failure.headers(now);
  body = error_body(failure, profile);
}

void Answer::fail(const Failure& failure, Decision::Kind kind, Profile profile, TimePoint now) {
  delivery = DeliveryPlan();
  decision = {kind, std::to_string(failure.status()) + " " + failure.code()};
  const bool documented = kind == Decision::Kind::rejected || kind == Decision::Kind::malformed;
  refusal = documented ? failure.message() : std::string();
  become(failure, profile, now);
}

}  // namespace detail
}  // namespace mock_gateway
