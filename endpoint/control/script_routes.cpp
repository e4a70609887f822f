// `/script`, `/states`, `/reset`.

#include <algorithm>
#include <array>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "../serving.hpp"
#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

constexpr char of_documents[] =
    "a script applies to all keys; mount for one key with POST /stubs?scope= and similar routes, or omit the scope";

constexpr std::array<const char*, 6> resettable = {"stubs", "states", "failures", "chaos", "connections", "journal"};

ControlAnswer show_script(Control& control, const ControlRequest&) {
  const ScriptState script = control.serving.script_state();
  Json stubs = Json::array();
  const auto add = [&stubs](const std::vector<Stub>& some) {
    for (const Stub& stub : some) {
      if (!internal::is_removed(stub)) stubs.push_back(internal::id_of(stub));
    }
  };
  if (control.serving.script()) add(control.serving.script()->stubs());
  add(control.layer.document_stubs());
  return {200, Json{{"files", script.files},
                    {"problems", as_json(script.problems)},
                    {"warnings", as_json(script.warnings)},
                    {"document", control.layer.document()},
                    {"stubs", std::move(stubs)}}};
}

/// Removes key secrets, which are shown only to the client that created the key.
Json without_secrets(Json document) {
  if (!document.is_object() || !document.contains("keys") || !document["keys"].is_array()) return document;
  for (Json& key : document["keys"])
    if (key.is_object() && key.contains("secret")) key["secret"] = "***";
  return document;
}

ControlAnswer put_script(Control& control, const ControlRequest& request) {
  const std::string check = request.value("check").value_or("0");
  if (check != "0" && check != "1") throw ControlError(400, "invalid_request", "?check= is 1, or left out");
  if (check == "1") {
    try {
      const internal::ScriptText script = read_script(control, request.body, "", "", false);
      return {200, Json{{"ok", true}, {"problems", as_json(script.document->warnings(control.gateway()))}}};
    } catch (const ControlError& error) {
      if (error.problems.empty()) throw;
      return {200, Json{{"ok", false}, {"problems", as_json(error.problems)}}};
    }
  }
  const internal::ScriptText script = read_script(control, request.body, "", "");
  control.layer.put(control.gateway(), *script.document, without_secrets(ControlBody(request.body).value()));
  return {200, Json{{"stubs", stubs_json(control, control.layer.document_stubs())},
                    {"warnings", as_json(script.document->warnings(control.gateway()))}}};
}

/// Whether the state machine belongs to a scope, although the request names none.
bool is_of_other_scope(const Control& control, const ControlRequest& request, const std::string& machine) {
  return control.scope_of(request).empty() && control.scopes.has(machine.substr(0, machine.find(':')));
}

/// Returns the states of the request's scope, or those of no scope.
std::map<std::string, std::string> states_of(const Control& control, const ControlRequest& request) {
  const std::string prefix = scoped_name(control.scope_of(request), "");
  std::map<std::string, std::string> its;
  for (const auto& [machine, state] : control.inside().states())
    if (machine.rfind(prefix, 0) == 0 && !is_of_other_scope(control, request, machine))
      its[machine.substr(prefix.size())] = state;
  return its;
}

ControlAnswer list_states(Control& control, const ControlRequest& request) {
  return {200, Json{{"states", states_of(control, request)}}};
}

ControlError no_such_machine(const ControlRequest& request, const std::map<std::string, std::string>& states) {
  const std::string& machine = request.parameters.at(0);
  std::vector<std::string> known;
  for (const auto& [name, state] : states) known.push_back(name);
  ControlError error = no_such("machine", machine, known);
  error.message = "no stub names the state machine \"" + internal::printable(machine, 60) +
                  "\", and it was never moved" + (known.empty() ? "" : internal::suggestion(machine, known));
  return error;
}

ControlAnswer show_state(Control& control, const ControlRequest& request) {
  const std::map<std::string, std::string> states = states_of(control, request);
  const auto found = states.find(request.parameters.at(0));
  if (found == states.end()) throw no_such_machine(request, states);
  return {200, Json{{"state", found->second}}};
}

ControlAnswer set_state(Control& control, const ControlRequest& request) {
  const Json body = request.object({"state"});
  if (!body.contains("state") || !body["state"].is_string())
    throw request.invalid(body.contains("state") ? "/state" : "",
                          R"(expected the new state of the machine, such as {"state": "paid"})");
  request.require_name("", request.parameters.at(0));
  request.require_name("/state", body["state"].get_ref<const std::string&>());
  const std::string& machine = request.parameters.at(0);
  if (is_of_other_scope(control, request, machine)) throw no_such_machine(request, states_of(control, request));
  control.inside().set_state(scoped_name(control.scope_of(request), machine), body["state"], control.scope_of(request));
  return {200, Json{{"state", body["state"]}}};
}

bool has_part(const std::vector<std::string>& what, const char* part) {
  return std::find(what.begin(), what.end(), part) != what.end();
}

/// Resets the parts of a scope, which stays active.
void reset_scope(Control& control, const std::string& id, const std::vector<std::string>& what) {
  const internal::Inside inside = control.inside();
  if (has_part(what, "stubs")) {
    control.layer.remove_stubs(control.gateway(), id);
    inside.forget_removed(RequestScope(id));
  }
  if (has_part(what, "states")) inside.forget_states(scoped_name(id, ""), id);
  if (has_part(what, "failures")) control.gateway().clear_failures(for_key(id));
  if (has_part(what, "chaos")) control.layer.remove_chaos(control.gateway(), id);
  if (has_part(what, "journal")) inside.forget_exchanges(RequestScope(id));
  if (has_part(what, "stubs"))
    for (const auto& [name, gate] : control.gates.known(id)) internal::reset(gate);
}

ControlAnswer reset(Control& control, const ControlRequest& request) {
  const Json body = request.object({"what"});
  std::vector<std::string> what(resettable.begin(), resettable.end());
  if (body.contains("what")) {
    what.clear();
    const Json& wanted = body["what"];
    const std::vector<std::string> known(resettable.begin(), resettable.end());
    if (!wanted.is_array()) throw request.invalid("/what", "expected a list, such as [\"stubs\", \"journal\"]");
    for (std::size_t index = 0; index < wanted.size(); ++index) {
      const std::string part = wanted[index].is_string() ? wanted[index].get<std::string>() : wanted[index].dump();
      if (std::find(known.begin(), known.end(), part) == known.end())
        throw request.invalid("/what/" + std::to_string(index),
                              "nothing that can be reset" + internal::suggestion(part, known));
      what.push_back(part);
    }
  }
  const std::string scope = control.scope_of(request);
  if (!scope.empty()) {
    if (body.contains("what") && has_part(what, "connections"))
      throw request.invalid("/what", "connection faults belong to no scope; omit \"connections\" or the scope");
    what.erase(std::remove(what.begin(), what.end(), "connections"), what.end());
  }
  const auto has = [&what](const char* part) { return has_part(what, part); };
  std::vector<std::string> sections;
  Json done = Json::array();
  Json kept = Json::array();
  for (const char* part : resettable) {
    (has(part) ? done : kept).push_back(part);
    if (has(part)) sections.push_back(std::string("/") + part);
  }
  for (const char* part : {"keys", "operations", "scopes"}) kept.push_back(part);
  if (!scope.empty()) {
    reset_scope(control, scope, what);
    return {200, Json{{"reset", std::move(done)}, {"kept", std::move(kept)}}};
  }
  control.layer.forget(sections);
  if (has("connections")) control.listening = true;
  control.serving.reset(what);
  if (has("stubs")) control.gates.reset();  // last, when earlier stubs can no longer reach a gate
#ifdef __GLIBC__
  ::malloc_trim(0);  // malloc keeps freed memory otherwise
#endif
  return {200, Json{{"reset", std::move(done)}, {"kept", std::move(kept)}}};
}

}  // namespace

std::vector<ControlRoute> script_routes() {
  return {{"GET", "/script", {}, &show_script, of_documents},  {"PUT", "/script", {"check"}, &put_script, of_documents},
          {"GET", "/states", {"scope"}, &list_states},         {"GET", "/states/{machine}", {"scope"}, &show_state},
          {"PUT", "/states/{machine}", {"scope"}, &set_state}, {"POST", "/reset", {"scope"}, &reset}};
}

}  // namespace endpoint
}  // namespace mock_gateway
