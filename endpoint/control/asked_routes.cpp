// `/asked`.

#include <utility>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

ControlAnswer list_asked(Control& control, const ControlRequest& request) {
  const RequestScope scope = requests_of(control.scope_of(request));
  const Duration wait = request.duration("wait").value_or(Duration::zero());
  Json asked = Json::array();
  control.waits.wait_for(wait, request, [&] {
    asked = control.inside().asked(scope);
    return !asked.empty();
  });
  return {200, Json{{"asked", std::move(asked)}}};
}

/// Returns the scope of a waiting request's key; empty if it has none or no longer waits.
std::string scope_of(const Control& control, std::uint64_t exchange) {
  const std::string key = control.inside().asking_key(exchange);
  return control.scopes.has(key) ? key : std::string();
}

ControlAnswer answer(Control& control, const ControlRequest& request) {
  const std::uint64_t exchange = request.id(0, "no_such_exchange", "exchange");
  const std::string scope = scope_of(control, exchange);
  const std::string wanted_scope = control.scope_of(request);
  if (!wanted_scope.empty() && !scope.empty() && scope != wanted_scope)
    throw not_of("exchange", "no_such_exchange", request.parameters.at(0), wanted_scope);
  const auto naming = control.gates.naming();
  internal::Gates gates = control.gates.known(scope);
  const ControlBody body(request.body);
  body.require_keys({"reply"});
  if (!body.has("reply")) throw body.error("", R"("reply" is missing, such as {"reply": "Hello."})");
  internal::Problems problems;
  const auto reply = body.json().reply(gates, problems);
  if (!problems.empty()) throw error_of("invalid_script", std::move(problems));
  switch (control.inside().answer(exchange, reply)) {
    case internal::Answered::yes: break;
    case internal::Answered::too_late:
      throw ControlError(409, "already_answered",
                         "exchange " + std::to_string(exchange) +
                             " is no longer waiting: it was answered, its client left, or its ten seconds ran out");
    case internal::Answered::unknown:
      throw ControlError(404, "no_such_exchange",
                         "no exchange " + std::to_string(exchange) +
                             " waits for a reply; GET /control/v1/asked?wait=5s lists the exchanges that do");
  }
  control.gates.add(scope, gates);
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
