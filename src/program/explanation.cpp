// How a request would be answered if it were sent.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../answer/default_reply.hpp"
#include "../evidence/diagnosis.hpp"
#include "../model/request_error.hpp"
#include "../request/chat_parser.hpp"
#include "../serve/served_request.hpp"
#include "internal.hpp"

namespace mock_gateway::internal {
namespace {

using namespace detail;  // NOLINT: for the many parts of the judge

struct Explanation {
  /// `stub`, `default_reply`, `unmatched` or `rejected`.
  Decision::Kind decision = Decision::Kind::unmatched;
  /// The stub that would answer, or would refuse because it must never be called; null if there is none.
  std::shared_ptr<StubState> stub = nullptr;
  /// The closest stubs when none answers; three at most.
  std::vector<NearMiss> near_misses = {};
  /// The diagnosis, or the message of the error.
  std::string message = {};
};

/// Throws RequestError for a schema or grammar that the default reply cannot satisfy.
void require_default_reply(const GatewayState& gateway, const ChatRequest& chat) {
  static_cast<void>(default_reply(chat, fingerprint_of(gateway, chat)));
}

/// Throws RequestError as require_default_reply() does.
void answer(const GatewayState& gateway, const ChatCall& call, Explanation& explanation) {
  const auto has_default_reply = [&] {
    require_default_reply(gateway, call.chat());
    return true;
  };
  Script::MatcherInProgress in_progress;
  const std::optional<Script::Choice> choice =
      gateway.script->choose(call, in_progress, has_default_reply, Script::Purpose::forecast);
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

Explanation explanation_of(const GatewayState& gateway, const ReceivedRequest& request, const ApiKey& key) {
  Explanation explanation;
  try {
    const ChatRequest chat =
        parse_chat_request(request.body, gateway.settings.acceptance, gateway.settings.chat_limits);
    if (!may_use(key, chat.model))
      refuse(forbidden(), explanation);
    else if (!gateway.models.find(chat.model))
      refuse(model_not_found(chat.model, gateway, key), explanation);
    else if (const auto too_long = context_length_exceeded(gateway, chat))
      refuse(*too_long, explanation);
    else
      answer(gateway, ChatCall(chat, request, &gateway.tokens), explanation);
  } catch (const RequestError& error) {
    refuse(error.failure, explanation);
  }
  return explanation;
}

}  // namespace

Json Inside::explain(const std::string& body, const ApiKey& key) const {
  ReceivedRequest imagined;
  imagined.method = chat_completions().method;
  imagined.target = chat_completions().path;
  imagined.headers.add("Content-Type", "application/json");
  imagined.body = body;
  imagined.key_id = key.id;
  imagined.key_description = key.description;
  Explanation explanation = explanation_of(state_, imagined, key);
  mask(explanation.message);
  Json near_misses = Json::array();
  for (NearMiss& miss : explanation.near_misses) {
    for (std::string* const text : texts_of(miss)) mask(*text);
    near_misses.push_back(as_json(miss));
    near_misses.back()["exchange"] = nullptr;
  }
  return Json{{"decision", to_string(explanation.decision)},
              {"stub", explanation.stub ? reference(*explanation.stub) : Json()},
              {"near_misses", std::move(near_misses)},
              {"message", text::as_utf8(explanation.message)}};
}

}  // namespace mock_gateway::internal
