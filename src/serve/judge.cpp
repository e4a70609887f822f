// The order of checks of every request, and what a head decides; 401, 403, 404, 405, 429; mounted handlers. The
// words: `src/model/failure.cpp`.

#include "judge.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../answer/bodies.hpp"
#include "../core/text.hpp"
#include "../model/http_reply.hpp"
#include "../model/profile_traits.hpp"
#include "../model/request_error.hpp"
#include "chat_judge.hpp"
#include "content_type.hpp"
#include "model_check.hpp"
#include "profile_headers.hpp"
#include "tester_code.hpp"

namespace mock_gateway {
namespace detail {
namespace checks {

// Each check returns whether it has answered.

/// What the connection, or a fault that strikes it, leaves no choice about.
bool connection(Judgement& judgement) {
  const IncomingRequest& incoming = judgement.incoming;
  if (incoming.turned_away) return judgement.reject(*incoming.turned_away);
  if (incoming.malformed) return judgement.fail(*incoming.malformed, Decision::Kind::malformed);
  if (incoming.is_answered_before_body())
    return judgement.fail(*incoming.fault->failure(), Decision::Kind::forced_failure);
  return false;
}

bool forced(Judgement& judgement, const std::optional<Failure>& failure) {
  return failure && judgement.fail(*failure, Decision::Kind::forced_failure);
}

bool failure_of_operation(Judgement& judgement) {
  return forced(judgement, judgement.gateway.failures.take_for_operation(judgement.route.operation));
}

std::optional<Failure> refusal_of_key(const KeyStore::Presented& presented) {
  using Status = KeyStore::CredentialStatus;
  switch (presented.status) {
    case Status::enabled: return std::nullopt;
    case Status::disabled: return forbidden();
    case Status::missing:
    case Status::malformed:
    case Status::unknown:
    case Status::deleted: break;
  }
  return unauthorized();
}

/// Whether the key may use the operation. Of a path that does not exist that is not asked.
std::optional<Failure> refusal_of_rights(const Route& route, const ApiKey& key) {
  if (route.kind == Route::Kind::unknown || route.kind == Route::Kind::wrong_method) return std::nullopt;
  const std::vector<Operation>& operations = key.operations;
  if (operations.empty() || std::find(operations.begin(), operations.end(), route.operation) != operations.end())
    return std::nullopt;
  return forbidden();
}

bool failure_of_key(Judgement& judgement) {
  return forced(judgement, judgement.gateway.failures.take_for_key(judgement.presented.key.id));
}

bool rate_limit(Judgement& judgement) {
  // All exchanges share the window, and none the time that another has spent ahead of the instant clock.
  const auto left = judgement.gateway.keys->take(judgement.presented.key.id, judgement.gateway.clock.now());
  if (!left) return false;
  // Rounded up: a client that comes back after whole seconds must not be a moment too early. Only the end of the
  // longest window is no whole second that a Duration can say.
  constexpr auto longest = std::chrono::floor<std::chrono::seconds>(Duration::max());
  const Failure refusal = rate_limited(std::min(std::chrono::ceil<std::chrono::seconds>(*left), longest));
  const bool in_milliseconds = traits_of(judgement.gateway.settings.profile).retry_after_ms;
  return judgement.reject(in_milliseconds ? refusal.retry_after_ms(*left) : refusal);
}

std::optional<Failure> refusal_of_path(const Operations& operations, const Route& route,
                                       const ReceivedRequest& request) {
  switch (route.kind) {
    case Route::Kind::unknown: {
      const std::string near = operations.near_path(request.path());
      return failure(404, "unknown_path",
                     text::as_utf8("no operation at " + request.path() + (near.empty() ? "" : "; " + near)));
    }
    case Route::Kind::wrong_method:
      return failure(
                 405, "method_not_allowed",
                 request.method + " is not allowed at " + text::as_utf8(request.path()) + "; allowed: " + route.allow)
          .header("Allow", route.allow);
    case Route::Kind::chat:
    case Route::Kind::models:
    case Route::Kind::model:
    case Route::Kind::mounted: break;
  }
  return std::nullopt;
}

bool rejected(Judgement& judgement, const std::optional<Failure>& refusal) {
  return refusal && judgement.reject(*refusal);
}

bool key(Judgement& judgement) { return rejected(judgement, refusal_of_key(judgement.presented)); }

bool rights(Judgement& judgement) {
  return rejected(judgement, refusal_of_rights(judgement.route, judgement.presented.key));
}

bool path(Judgement& judgement) {
  return rejected(judgement, refusal_of_path(judgement.gateway.operations, judgement.route, judgement.request));
}

/// What was decided when there was only the head. Its other checks have just been made again, and may be of another
/// mind: a key was enabled meanwhile.
bool body_unread(Judgement& judgement) {
  const IncomingRequest& incoming = judgement.incoming;
  return rejected(judgement, incoming.refused) || rejected(judgement, incoming.body_too_large);
}

/// The order is the documented one.
bool refuse(Judgement& judgement) {
  if (connection(judgement)) return true;
  judgement.route = judgement.gateway.operations.find(judgement.request.method, judgement.request.path());
  return failure_of_operation(judgement) || key(judgement) || rights(judgement) || failure_of_key(judgement) ||
         rate_limit(judgement) || path(judgement) || body_unread(judgement);
}

}  // namespace checks

namespace judge_operations {

void models(Judgement& judgement) {
  const GatewayState& gateway = judgement.gateway;
  std::vector<wire::Model> usable;
  for (const wire::Model& model : gateway.settings.models)
    if (may_use(judgement.presented.key, model.id)) usable.push_back(model);
  judgement.answer.decision.kind = Decision::Kind::models;
  judgement.answer.body = models_body(usable, gateway.started);
}

void model(Judgement& judgement) {
  const std::string id = text::percent_decode(judgement.route.model).value_or(judgement.route.model);
  if (refuse_model(judgement, id)) return;
  judgement.answer.decision = {Decision::Kind::models, id};
  judgement.answer.body = model_body(*judgement.gateway.find_model(id), judgement.gateway.started);
}

void mounted(Judgement& judgement) {
  const Route& route = judgement.route;
  const std::string name = route.operation.to_string();
  std::optional<HttpReply> reply;
  const auto thrown = guarded(judgement.connection, "the handler of " + name,
                              [&] { reply.emplace((*route.handler)(judgement.request)); });
  if (thrown) {
    judgement.callback_failed("the handler of " + name + " threw: " + *thrown);
    return;
  }
  Answer& answer = judgement.answer;
  answer.decision = {Decision::Kind::handler, name};
  if (reply->failure()) {
    answer.become(*reply->failure(), judgement.gateway.settings.profile, judgement.timeline.now());
    return;
  }
  answer.status = reply->status();
  answer.body = reply->body();
  answer.content_type = reply->content_type();
  answer.headers = reply->headers();
}

void ask(Judgement& judgement) {
  switch (judgement.route.kind) {
    case Route::Kind::chat: return judge_chat(judgement);
    case Route::Kind::models: return models(judgement);
    case Route::Kind::model: return model(judgement);
    case Route::Kind::mounted: return mounted(judgement);
    case Route::Kind::wrong_method:
    case Route::Kind::unknown: return;  // the check of the path has answered
  }
}

void answer(Judgement& judgement) {
  try {
    ask(judgement);
  } catch (const RequestError& error) {
    judgement.reject(error.failure);
  } catch (const std::exception& exception) {
    judgement.answer = Answer();
    judgement.answer_failed(exception.what());
  }
}

}  // namespace judge_operations

std::optional<Failure> refusal_of_head(const GatewayState& gateway, const IncomingRequest& head) {
  const ReceivedRequest& request = head.request;
  const Acceptance& acceptance = gateway.settings.acceptance;
  const KeyStore::Presented presented = gateway.keys->look_at(request.headers, acceptance.bearer_in_any_case());
  const Route route = gateway.operations.find(request.method, request.path());
  if (auto refusal = checks::refusal_of_key(presented)) return refusal;
  if (auto refusal = checks::refusal_of_rights(route, presented.key)) return refusal;
  if (auto refusal = checks::refusal_of_path(gateway.operations, route, request)) return refusal;
  if (route.kind == Route::Kind::chat && !may_hold_json(request, acceptance)) return unsupported_content_type(request);
  return std::nullopt;
}

void judge(Judgement& judgement) {
  if (!checks::refuse(judgement)) judge_operations::answer(judgement);
  add_profile_headers(judgement);
}

}  // namespace detail
}  // namespace mock_gateway
