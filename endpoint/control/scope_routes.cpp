// `/scopes`, `/verify`, `/review`; the end of a scope.

#include <utility>

#include "../serving.hpp"
#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

ControlAnswer verify(Control& control, const ControlRequest& request) {
  return {200, as_json(control.gateway().verify(requests_of(control.scope_of(request))))};
}

ControlAnswer review(Control& control, const ControlRequest& request) {
  return {200, as_json(control.gateway().review(requests_of(control.scope_of(request))))};
}

/// Shortens the name of a test to the limit of keys' names, 256 bytes: its beginning and its end.
std::string shortened(const std::string& name) {
  constexpr std::size_t part = 125;
  if (internal::name_length_error(name).empty()) return name;
  std::size_t end = name.size() - part;
  while ((static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) ++end;  // not within a character
  return internal::text::excerpt(name, part) + name.substr(end);
}

ControlAnswer create_scope(Control& control, const ControlRequest& request) {
  const Json body = request.object({"name"});
  std::string name;
  if (body.contains("name")) {
    if (!body["name"].is_string()) throw request.invalid("/name", "expected a text, such as the name of the test");
    name = shortened(body["name"].get_ref<const std::string&>());
  }
  const CreatedKey key = control.gateway().keys().create(name);
  control.scopes.add(key.id, key.description);
  return {201, Json{{"id", key.id},
                    {"name", internal::text::as_utf8(key.description)},
                    {"api_key", key.secret},
                    {"base_url", control.gateway().base_url()}}};
}

ControlAnswer list_scopes(Control& control, const ControlRequest&) {
  Json scopes = Json::array();
  for (const auto& [id, name] : control.scopes.all())
    scopes.push_back(Json{{"id", id}, {"name", internal::text::as_utf8(name)}});
  return {200, Json{{"scopes", std::move(scopes)}}};
}

/// Removes everything that belongs to a scope.
void forget(Control& control, const std::string& id) {
  const internal::Inside inside = control.inside();
  control.layer.remove_stubs(control.gateway(), id);
  control.layer.remove_chaos(control.gateway(), id);
  inside.forget_removed(RequestScope(id));
  inside.forget_states(scoped_name(id, ""), id);
  control.gateway().clear_failures(for_key(id));
  // Open the scope's gates: requests that wait at them would wait forever.
  for (auto& [name, gate] : control.gates.known(id)) gate.open();
  inside.answer_all(RequestScope(id), Failure(500, "scope_ended", "the test that was asked for this reply has ended"));
  control.gates.forget(id);
  const Keys keys = control.gateway().keys();
  if (keys.find(id).state != KeyState::deleted) keys.remove(id);
  inside.forget_exchanges(RequestScope(id));
}

ControlAnswer end(Control& control, const ControlRequest& request) {
  const std::string id = control.scopes.id_of(request.parameters.at(0));
  const Json body = request.object({"counts"});
  const Json counts = body.value("counts", Json(true));
  if (!counts.is_boolean()) throw request.invalid("/counts", "expected true or false");
  // If two requests end the scope, only one succeeds.
  if (!control.scopes.remove(id)) throw control.scopes.unknown(id);
  const std::string name = control.gateway().keys().find(id).description;
  const Verification verification = control.gateway().verify(id);
  const Review review = control.gateway().review(id);
  bool ok = static_cast<bool>(verification);
  // Like --fail-on error, the default.
  for (const Finding& finding : review.findings()) ok = ok && finding.severity != Severity::error;
  // If anything failed, the message has only failures.
  std::string message;
  const bool is_clean = review.findings().empty() || review.findings().front().code == "unlisted_model";
  if (!verification || is_clean) message = verification.message();
  if (!is_clean) message += (message.empty() ? "" : "\n\n") + review.message();
  Json answer{{"ok", ok},
              {"message", internal::text::as_utf8(message)},
              {"verify", as_json(verification)},
              {"review", as_json(review)}};
  if (counts.get<bool>())
    control.serving.add_closed(
        {{verification.problems(), review.findings(), review.judged()}, id, name, std::move(message)});
  forget(control, id);
  return {200, std::move(answer)};
}

}  // namespace

std::vector<ControlRoute> scope_routes() {
  return {
      {"GET", "/verify", {"scope"}, &verify},
      {"GET", "/review", {"scope"}, &review},
      {"GET", "/scopes", {}, &list_scopes, of_server},
      {"POST", "/scopes", {}, &create_scope, of_server},
      {"DELETE", "/scopes/{id}", {}, &end, "the path names the scope"},
  };
}

}  // namespace endpoint
}  // namespace mock_gateway
