// The data of a request while it is served; how an answer becomes a failure; the texts of 500 `internal_error`.

#include "served_request.hpp"

#include <utility>

#include "../answer/bodies.hpp"
#include "../evidence/diagnosis.hpp"
#include "../request/chat_parser.hpp"

namespace mock_gateway::detail {
namespace served_requests {

Failure error(const char* message) { return failure(500, "internal_error", message); }

}  // namespace served_requests

void Answer::restart() {
  Answer fresh;
  fresh.place = std::move(place);
  *this = std::move(fresh);
}

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

bool ServedRequest::fail(const Failure& failure, Decision::Kind kind) {
  answer.fail(failure, kind, gateway.settings.profile, timeline.now());
  return true;
}

bool ServedRequest::reject(const Failure& failure) {
  answer.restart();
  return fail(failure, Decision::Kind::rejected);
}

bool ServedRequest::callback_failed(const std::string& what) {
  return internal_error(Decision::Kind::callback_failed, Problem::Kind::callback_failed,
                        served_requests::error("a function of the test threw an exception; the journal has its text"),
                        what);
}

bool ServedRequest::answer_failed(const std::string& reason) {
  return internal_error(Decision::Kind::answer_failed, Problem::Kind::answer_failed,
                        served_requests::error("the gateway could not generate an answer; the journal has the reason"),
                        reason);
}

bool ServedRequest::never_replied(const std::string& what) {
  // A retry would wait again.
  return internal_error(Decision::Kind::answer_failed, Problem::Kind::guard_expired,
                        served_requests::error("the test did not supply this reply in time; its stub says "
                                               "\"ask\"")
                            .should_retry(false),
                        what);
}

bool ServedRequest::internal_error(Decision::Kind decision, Problem::Kind kind, const Failure& error,
                                   const std::string& reason) {
  fail(error, decision);
  answer.decision.detail = reason;
  problems.push_back({{kind, (chat ? brief(ChatCall(*chat, request)) : std::string()) + "  " + reason}});
  return true;
}

}  // namespace mock_gateway::detail
