// The order of the checks of every request, and the checks of a head; 401, 403, 404, 405; mounted handlers; embeddings;
// GET /health. Texts: `src/model/failure.cpp`.

#include "served_request.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../answer/bodies.hpp"
#include "../answer/embeddings.hpp"
#include "../core/text.hpp"
#include "../model/finding_kinds.hpp"
#include "../model/http_reply.hpp"
#include "../model/profile_traits.hpp"
#include "../model/request_error.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {
namespace checks {

// Each check returns whether it has answered the request.

/// Answers connections beyond the limit, malformed requests, and requests whose fault answers before the body.
bool connection(ServedRequest& served) {
  const IncomingRequest& incoming = served.incoming;
  if (incoming.turned_away) return served.reject(*incoming.turned_away);
  if (incoming.malformed) return served.fail(*incoming.malformed, Decision::Kind::malformed);
  if (incoming.is_answered_before_body())
    return served.fail(*incoming.fault->failure(), Decision::Kind::forced_failure);
  return false;
}

bool forced(ServedRequest& served, const std::optional<Failure>& failure) {
  return failure && served.fail(*failure, Decision::Kind::forced_failure);
}

std::optional<Failure> refusal_of_key(const KeyStore::Presented& presented) {
  using Status = KeyStore::CredentialStatus;
  switch (presented.status) {
    case Status::enabled: return std::nullopt;
    case Status::disabled: return forbidden();
    case Status::missing:
    case Status::malformed:
    case Status::different:
    case Status::unknown:
    case Status::deleted: break;
  }
  return unauthorized();
}

/// Returns why the key is refused, for the journal. The answer does not say it.
std::string reason_of_key(const KeyStore::Presented& presented) {
  using Status = KeyStore::CredentialStatus;
  switch (presented.status) {
    case Status::missing: return "no key was sent";
    case Status::malformed: return "the Authorization field is not \"Bearer KEY\"";
    case Status::different: return "different keys were sent in several header fields";
    case Status::unknown: return "the gateway has no such key";
    case Status::deleted: return "the key is deleted" + (presented.key.ended.empty() ? "" : ": " + presented.key.ended);
    case Status::disabled: return "the key is disabled";
    case Status::enabled: break;
  }
  return "the key may not use this operation";
}

/// Returns the refusal if the key may not use the operation. Not checked for unknown paths and wrong methods.
std::optional<Failure> refusal_of_rights(const Route& route, const ApiKey& key) {
  if (route.kind == Route::Kind::unknown || route.kind == Route::Kind::wrong_method) return std::nullopt;
  const std::vector<Operation>& operations = key.operations;
  if (operations.empty() || std::find(operations.begin(), operations.end(), route.operation) != operations.end())
    return std::nullopt;
  return forbidden();
}

std::optional<Failure> refusal_of_path(const Operations& operations, const Route& route,
                                       const ReceivedRequest& request) {
  switch (route.kind) {
    case Route::Kind::unknown: {
      const std::string hint = operations.near_path(request.path());
      return failure(404, "unknown_path",
                     text::as_utf8("no operation at " + request.path() + "; " +
                                   (hint.empty() ? "the gateway serves " + operations.served() +
                                                       "; Gateway::on or \"operations\" of a script mount others"
                                                 : hint)));
    }
    case Route::Kind::wrong_method:
      return failure(
                 405, "method_not_allowed",
                 request.method + " is not allowed at " + text::as_utf8(request.path()) + "; allowed: " + route.allow)
          .header("Allow", route.allow);
    case Route::Kind::chat:
    case Route::Kind::models:
    case Route::Kind::model:
    case Route::Kind::embeddings:
    case Route::Kind::mounted: break;
  }
  return std::nullopt;
}

/// `refusal` is an optional or a HeapOptional of a failure.
template <class Refusal>
bool rejected(ServedRequest& served, const Refusal& refusal) {
  return refusal && served.reject(*refusal);
}

/// Refuses a key that is not valid, or not for the operation. An open operation needs none.
bool key(ServedRequest& served) {
  if (served.route.open) return false;
  if (!rejected(served, refusal_of_key(served.presented)) &&
      !rejected(served, refusal_of_rights(served.route, served.presented.key)))
    return false;
  served.answer.refusal = reason_of_key(served.presented);
  return true;
}

/// Fails the request if a failure is forced for its operation, by its name or its path as sent.
bool forced_for_operation(ServedRequest& served) {
  ForcedFailures& failures = served.gateway.failures;
  const Operation& named = served.route.operation;
  constexpr FailureScope::Kind kind = FailureScope::Kind::operation;
  if (forced(served, failures.take(kind, named.to_string()))) return true;
  // With the base path "/", the path "/health" has the name "/v1/health". A test may name either.
  return served.route.kind == Route::Kind::unknown && named.path != path_of(served.request) &&
         forced(served, failures.take(kind, named.method + " " + served.request.path()));
}

/// Runs the checks in the documented order.
bool refuse(ServedRequest& served) {
  if (connection(served)) return true;
  GatewayState& gateway = served.gateway;
  served.route = gateway.operations.find(served.request.method, path_of(served.request));
  return forced_for_operation(served) || key(served) ||
         forced(served, gateway.failures.take(FailureScope::Kind::key, served.presented.key.id)) ||
         take_request(served) || rejected(served, refusal_of_path(gateway.operations, served.route, served.request)) ||
         // A request that was refused by its head stays refused, because its body was not read. The checks above may
         // pass by now, for example if the test has enabled the key.
         rejected(served, served.incoming.refused) || rejected(served, served.incoming.body_too_large);
}

}  // namespace checks

namespace judge_operations {

void models(ServedRequest& served) {
  const GatewayState& gateway = served.gateway;
  std::vector<wire::Model> usable;
  for (wire::Model& model : gateway.models.listed())
    if (may_use(served.presented.key, model.id)) usable.push_back(std::move(model));
  served.answer.decision.kind = Decision::Kind::models;
  served.answer.body = models_body(usable, gateway.started);
}

void model(ServedRequest& served) {
  const std::string id = text::percent_decode(served.route.model).value_or(served.route.model);
  if (refuse_model(served, id)) return;
  served.answer.decision = {Decision::Kind::models, id};
  served.answer.body = model_body(*served.gateway.models.find(id), served.gateway.started);
}

/// Checks in the order of chat requests: content type, body, model, failures forced for the model, token limits.
void embeddings(ServedRequest& served) {
  GatewayState& gateway = served.gateway;
  const ServeSettings& settings = gateway.settings;
  if (!allows_json(served.request, settings.acceptance)) {
    served.reject(unsupported_content_type(served.request));
    return;
  }
  EmbeddingRequest request = parse_embedding_request(served.request.body, settings.acceptance);
  served.findings = std::move(request.findings);
  if (refuse_model(served, request.model)) return;
  if (!traits_of(settings.profile).documents_embeddings)
    served.findings.push_back(finding_kinds::beyond_documentation.make(
        served.route.operation.to_string() + ": documented by OpenAI but not by the gateway."));
  if (checks::forced(served, gateway.failures.take(FailureScope::Kind::model, request.model))) return;
  if (take_tokens_of_embeddings(served, request)) return;
  served.answer.decision = {Decision::Kind::embeddings, request.model};
  served.answer.body = embeddings_body(request, gateway.tokens);
  if (served.answer.tokens) served.answer.tokens->keep_all();
}

void mounted(ServedRequest& served) {
  const Route& route = served.route;
  const std::string name = route.operation.to_string();
  std::optional<HttpReply> reply;
  const auto thrown =
      guarded(served.connection, "the handler of " + name, [&] { reply.emplace((*route.handler)(served.request)); });
  if (thrown) {
    served.callback_failed("the handler of " + name + " threw: " + *thrown);
    return;
  }
  Answer& answer = served.answer;
  answer.decision = {Decision::Kind::handler, name};
  if (reply->delivery()) {
    answer.delivery.reply = reply->delivery();
    strike_delivery(served, {});
  }
  if (reply->failure()) {
    served.become(*reply->failure(), true);
    return;
  }
  answer.status = reply->status();
  answer.body = reply->body();
  answer.content_type = reply->content_type();
  answer.headers = reply->headers();
}

void ask(ServedRequest& served) {
  switch (served.route.kind) {
    case Route::Kind::chat: return judge_chat(served);
    case Route::Kind::models: return models(served);
    case Route::Kind::model: return model(served);
    case Route::Kind::embeddings: return embeddings(served);
    case Route::Kind::mounted: return mounted(served);
    case Route::Kind::wrong_method:
    case Route::Kind::unknown: return;  // answered by the check of the path
  }
}

void answer(ServedRequest& served) {
  try {
    if (!served.asked) ask(served);
    if (served.asked) judge_asked(served);
  } catch (const RequestError& error) {
    served.reject(error.failure);
  } catch (const TokenizerThrew& threw) {
    served.answer.restart();
    served.callback_failed(threw.what());
  } catch (const std::exception& exception) {
    served.answer.restart();
    served.answer_failed(exception.what());
  }
}

}  // namespace judge_operations

std::optional<Failure> refusal_of_head(const GatewayState& gateway, const IncomingRequest& head) {
  const ReceivedRequest& request = head.request;
  const Acceptance& acceptance = gateway.settings.acceptance;
  const KeyStore::Presented presented =
      gateway.keys->present(request.headers, acceptance.has(Extension::bearer_in_any_case), std::nullopt);
  const Route route = gateway.operations.find(request.method, path_of(request));
  if (!route.open) {
    if (auto refusal = checks::refusal_of_key(presented)) return refusal;
    if (auto refusal = checks::refusal_of_rights(route, presented.key)) return refusal;
  }
  if (auto refusal = checks::refusal_of_path(gateway.operations, route, request)) return refusal;
  const bool takes_json = route.kind == Route::Kind::chat || route.kind == Route::Kind::embeddings;
  if (takes_json && !may_hold_json(request, acceptance)) return unsupported_content_type(request);
  return std::nullopt;
}

bool is_health_check(const GatewayState& gateway, const IncomingRequest& incoming) {
  const ReceivedRequest& request = incoming.request;
  if (!gateway.settings.serves_health || path_of(request) != "/health") return false;
  if (request.method != "GET" && request.method != "HEAD") return false;
  if (incoming.malformed || incoming.turned_away || incoming.is_body_unread || incoming.is_answered_before_body())
    return false;
  const auto forced = gateway.failures.queued();
  const std::string name = request.method + " /health";
  return gateway.operations.find(request.method, "/health").kind == Route::Kind::unknown &&
         std::none_of(forced.begin(), forced.end(), [&name](const auto& one) { return one.scope.name() == name; });
}

bool judge(ServedRequest& served) {
  if (served.asked || (!answer_preflight(served) && !checks::refuse(served))) judge_operations::answer(served);
  if (served.asked) return false;
  add_cross_origin_headers(served);
  add_profile_headers(served);
  return true;
}

}  // namespace mock_gateway::detail
