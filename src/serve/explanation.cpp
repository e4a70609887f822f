// What a request would be answered that is not sent.

#include "explanation.hpp"

#include <algorithm>  // all_of
#include <utility>

#include "../answer/default_reply.hpp"
#include "../core/text.hpp"
#include "../evidence/diagnosis.hpp"
#include "../model/chat_parser.hpp"
#include "../model/request_error.hpp"
#include "../script/matcher_node.hpp"
#include "chat_judge.hpp"
#include "model_check.hpp"

namespace mock_gateway {
namespace detail {
namespace explanations {

bool in_states(const StubPlan& plan, const Script::States& states) {
  return std::all_of(plan.in_states.begin(), plan.in_states.end(), [&states](const MachineState& wanted) {
    return Script::state_in(states, wanted.machine) == wanted.state;
  });
}

/// Chooses as Script::choose does: the stub is the one that answers, or that has nothing more; null without one.
std::shared_ptr<StubState> chosen(const Script::Stubs& stubs, const ChatCall& call, const Script::States& states) {
  for (const auto& stub : stubs) {
    const Comparison comparison = compare(*stub, call, {}, states);
    if (!comparison.matches()) continue;
    const bool keeps_it = stub->exhausted() && stub->plan().nothing_more && in_states(stub->plan(), states);
    if (comparison.passed_over.empty() || keeps_it) return stub;
  }
  return nullptr;
}

/// Throws RequestError for a schema or grammar of which the default reply can make no instance.
void answer(const GatewayState& gateway, const ChatCall& call, Explanation& explanation) {
  const Script::States states = gateway.script->states();
  Script::Choice choice;
  choice.considered = gateway.script->stubs(call.http());
  choice.stub = chosen(*choice.considered, call, states);
  const auto require_default_reply = [&] {
    static_cast<void>(default_reply(call.chat(), fingerprint_of(gateway, call.chat())));
  };
  if (choice.stub && !choice.stub->exhausted()) {
    const StubPlan& plan = choice.stub->plan();
    if (!plan.replies.empty() && step_of(plan, choice.stub->calls()).is_default()) require_default_reply();
    explanation.decision = Decision::Kind::stub;
    explanation.stub = choice.stub;
    const bool never = choice.stub->plan().replies.empty();
    explanation.message = choice.stub->title() + (never ? " must never be asked: the answer is a 422" : " answers");
    return;
  }
  if (choice.considered->empty() || (!choice.stub && gateway.settings.unmatched_get_default_reply)) {
    require_default_reply();
    explanation.decision = Decision::Kind::default_reply;
    explanation.message = "no stub answers, and the default reply does";
    if (choice.considered->empty()) return;
  }
  Diagnosis diagnosis = diagnose(call, choice, states);
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
    else if (!gateway.find_model(chat.model))
      explanations::refuse(model_not_found(chat.model), explanation);
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

}  // namespace detail
}  // namespace mock_gateway
