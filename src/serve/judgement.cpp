// What is known of a request while it is judged; the texts of 500 `internal_error`.

#include "judgement.hpp"

#include <utility>

#include "../evidence/diagnosis.hpp"
#include "../model/chat_parser.hpp"

namespace mock_gateway {
namespace detail {
namespace judgements {

Failure error(const char* message) { return failure(500, "internal_error", message); }

}  // namespace judgements

bool Judgement::fail(const Failure& failure, Decision::Kind kind) {
  answer.fail(failure, kind, gateway.settings.profile, timeline.now());
  return true;
}

bool Judgement::reject(const Failure& failure) {
  answer = Answer();
  return fail(failure, Decision::Kind::rejected);
}

bool Judgement::callback_failed(const std::string& what) {
  return internal_error(Decision::Kind::callback_failed, Problem::Kind::callback_failed,
                        judgements::error("a function of the test threw an exception; the gateway's journal has its "
                                          "text"),
                        what);
}

bool Judgement::answer_failed(const std::string& reason) {
  return internal_error(Decision::Kind::answer_failed, Problem::Kind::answer_failed,
                        judgements::error("the gateway could not make an answer; its journal has the reason"), reason);
}

bool Judgement::never_replied(const std::string& what) {
  // A client that tries again would only wait again.
  return internal_error(Decision::Kind::answer_failed, Problem::Kind::guard_expired,
                        judgements::error("the test was asked for this reply, and gave none in time; its stub says "
                                          "\"ask\"")
                            .should_retry(false),
                        what);
}

bool Judgement::internal_error(Decision::Kind decision, Problem::Kind kind, const Failure& error,
                               const std::string& reason) {
  fail(error, decision);
  answer.decision.detail = reason;
  problems.push_back({{kind, (chat ? brief(ChatCall(*chat, request)) : std::string()) + "  " + reason}});
  return true;
}

}  // namespace detail
}  // namespace mock_gateway
