// The data of a request while it is served; how an answer becomes a failure; the texts of 500 `internal_error`.

#include "served_request.hpp"

#include <utility>

#include "../answer/bodies.hpp"
#include "../evidence/diagnosis.hpp"
#include "../model/profile_traits.hpp"
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

const std::string& ServedRequest::request_id() {
  const std::string_view form = traits_of(gateway.settings.profile).request_id;
  if (request_id_.empty() && !form.empty()) {
    const std::uint64_t hash =
        detail::fingerprint(request.body, detail::fingerprint(request.target, gateway.settings.seed));
    request_id_ = make_id(form, Random(hash ^ gateway.occurrences.next(hash)), timeline.now());
  }
  return request_id_;
}

void ServedRequest::become(const Failure& failure, bool scripted) {
  answer.status = failure.status();
  answer.error_code = failure.code();
  answer.headers = failure.headers(timeline.now());
  const std::string header(traits_of(gateway.settings.profile).id_header);
  answer.body =
      error_body(failure, {gateway.settings.profile, answer.headers.find(header).value_or(request_id()), scripted});
  const bool is_json = !answer.body.empty() && (answer.body.front() == '{' || answer.body.front() == '"');
  answer.content_type = failure.raw_body() ? failure.content_type()
                        : is_json          ? "application/json"
                                           : "text/plain; charset=utf-8";
}

bool ServedRequest::fail(const Failure& failure, Decision::Kind kind) {
  answer.delivery = DeliveryPlan();
  answer.decision = {kind, std::to_string(failure.status()) + " " + failure.code()};
  const bool documented = kind == Decision::Kind::rejected || kind == Decision::Kind::malformed;
  answer.refusal = documented ? failure.message() : std::string();
  become(failure, kind == Decision::Kind::forced_failure);
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
