// `/asked`.

#include <utility>

#include "body.hpp"
#include "document/script_sections.hpp"
#include "evidence/diagnosis.hpp"
#include "evidence_routes.hpp"
#include "serve/gateway_state.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

Json asked_json(const Control& control, const detail::AskedRequest& asked) {
  StubReference stub = detail::reference_to(*asked.stub);
  control.state().keys->mask(stub.name);
  control.state().keys->mask(stub.title);
  Json json;
  json["exchange"] = asked.exchange;
  json["stub"] = as_json(stub);
  json["request"] = Json::parse(asked.request.body, nullptr, false);
  if (json["request"].is_discarded()) json["request"] = nullptr;  // its masked keys made something else of it
  json["since"] = as_json(asked.since);
  return json;
}

ControlAnswer list_asked(Control& control, const ControlRequest& request) {
  const RequestScope scope = requests_of(control.scope_of(request));
  const Duration wait = request.duration("wait").value_or(Duration::zero());
  const detail::AskedRequests& board = control.state().asked;
  control.waits.wait_until(deadline_of(wait), request, [&] { return board.any(scope); });
  Json asked = Json::array();
  for (const detail::AskedRequest& one : board.list(scope)) asked.push_back(asked_json(control, one));
  return {200, Json{{"asked", std::move(asked)}}};
}

/// The step that a body's "reply" is. Throws ControlError.
struct Read {
  detail::ReplyStep step;
  std::map<std::string, Gate> gates;
};

void read_step(detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
  detail::ReplyStep& step = *static_cast<detail::ReplyStep*>(target);
  step = detail::read_reply(reader, node);
  if (step.asks) detail::script_reading::fail(node, "\"ask\" is what is being answered: say the reply itself");
}

Read read(const ControlBody& body, std::map<std::string, Gate> gates) {
  body.require_keys({"reply"});
  const detail::ScriptNode root{body.value(), ""};
  if (!root.find("reply")) throw body.error({"", R"("reply" is missing, such as {"reply": "Hello."})"});
  Read read{{}, std::move(gates)};
  std::vector<ScriptProblem> problems;
  detail::ScriptReader reader(body.source(), problems, read.gates);
  reader.guarded(root.at("reply"), &read_step, &read.step);
  if (problems.empty()) return read;
  for (ScriptProblem& problem : problems) body.unwrap(problem);
  throw error_of("invalid_script", std::move(problems));
}

/// The scope whose key sent the request that waits; empty: none, or it waits no more.
std::string scope_of(const Control& control, std::uint64_t exchange) {
  for (const detail::AskedRequest& asked : control.state().asked.list({}))
    if (asked.exchange == exchange && control.scopes.find(asked.request.key_id)) return asked.request.key_id;
  return {};
}

ControlAnswer answer(Control& control, const ControlRequest& request) {
  const std::uint64_t exchange = request.id(0, "no_such_exchange", "exchange");
  const std::string scope = scope_of(control, exchange);
  const std::optional<Scope> wanted_scope = control.scope_of(request);
  if (wanted_scope && !scope.empty() && scope != wanted_scope->id)
    throw not_of("exchange", "no_such_exchange", request.parameters.at(0), *wanted_scope);
  const auto naming = control.gates.naming();
  Read wanted = read(ControlBody(request.body), control.gates.known(scope));
  switch (control.state().asked.answer(exchange, std::move(wanted.step))) {
    case detail::AskedRequests::Answered::yes: break;
    case detail::AskedRequests::Answered::too_late:
      throw ControlError(409, "already_answered",
                         "exchange " + std::to_string(exchange) +
                             " waits no more: it was answered, its client left, or its ten seconds were over");
    case detail::AskedRequests::Answered::unknown:
      throw ControlError(404, "no_such_exchange",
                         "no exchange " + std::to_string(exchange) +
                             " waits for a reply; GET /control/v1/asked?wait=5s shows those that do");
  }
  control.gates.add(scope, wanted.gates);
  return {};
}

}  // namespace

std::vector<ControlRoute> asked_routes() {
  return {
      {"GET", "/asked", {"wait", "scope"}, &list_asked},
      {"POST", "/asked/{exchange}", {"scope"}, &answer},
  };
}

}  // namespace endpoint
}  // namespace mock_gateway
