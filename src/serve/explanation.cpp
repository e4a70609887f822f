// How a request would be answered if it were sent.

#include "explanation.hpp"

#include <optional>
#include <utility>

#include "../answer/default_reply.hpp"
#include "../evidence/diagnosis.hpp"
#include "../model/request_error.hpp"
#include "../request/chat_parser.hpp"
#include "request_checks.hpp"

namespace mock_gateway::detail {
namespace explanations {

/// Throws RequestError for a schema or grammar that the default reply cannot satisfy.
void require_default_reply(const GatewayState& gateway, const ChatRequest& chat) {
  static_cast<void>(default_reply(chat, fingerprint_of(gateway, chat)));
}

/// Throws RequestError as require_default_reply() does.
void answer(const GatewayState& gateway, const ChatCall& call, Explanation& explanation) {
  const std::optional<Script::Choice> choice = gateway.script->would_choose(call, [&] {
    require_default_reply(gateway, call.chat());
    return true;
  });
  if (!choice || (!choice->stub && gateway.settings.unmatched_get_default_reply)) {
    require_default_reply(gateway, call.chat());
    explanation.decision = Decision::Kind::default_reply;
    explanation.message = "no stub answers, and the default reply does";
    if (!choice) return;
  }
  const bool must_not_be_asked = choice->stub && choice->stub->plan().replies.empty();
  if (choice->reply || must_not_be_asked) {
    explanation.decision = Decision::Kind::stub;
    explanation.stub = choice->stub;
    explanation.message =
        choice->stub->title() + (must_not_be_asked ? " must never be asked: the answer is a 422" : " answers");
    return;
  }
  Diagnosis diagnosis = diagnose(call, *choice, gateway.script->states());
  if (explanation.decision == Decision::Kind::unmatched) explanation.message = std::move(diagnosis.text);
  explanation.near_misses = std::move(diagnosis.near_misses);
}

void refuse(const Failure& failure, Explanation& explanation) {
  explanation.decision = Decision::Kind::rejected;
  explanation.message = failure.message();
}

}  // namespace explanations

Explanation explain(const GatewayState& gateway, const ReceivedRequest& request, const ApiKey& key) {
  Explanation explanation;
  try {
    const ChatRequest chat =
        parse_chat_request(request.body, gateway.settings.acceptance, gateway.settings.chat_limits);
    if (!may_use(key, chat.model))
      explanations::refuse(forbidden(), explanation);
    else if (!gateway.models.find(chat.model))
      explanations::refuse(model_not_found(chat.model, gateway, key), explanation);
    else
      explanations::answer(gateway, ChatCall(chat, request), explanation);
  } catch (const RequestError& error) {
    explanations::refuse(error.failure, explanation);
  }
  gateway.keys->mask(explanation.message);
  for (NearMiss& near : explanation.near_misses)
    for (std::string* const text : texts_of(near)) gateway.keys->mask(*text);
  return explanation;
}

}  // namespace mock_gateway::detail
