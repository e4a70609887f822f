// `/failures`, `/chaos`, `/connections`, `/operations`, `/listening`.

#include <set>
#include <string>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

Json or_null(const std::optional<std::size_t>& number) { return number ? Json(*number) : Json(); }

// Script sections that these routes mount and clear.
constexpr char failures_section[] = "failures";
constexpr char chaos_section[] = "chaos";
constexpr char connections_section[] = "connections";
constexpr char operations_section[] = "operations";

constexpr char of_connections[] =
    "a connection fault strikes before the client sends a key; break the replies of a scope with \"fault\" of a stub "
    "or with its /chaos, or omit the scope";
constexpr char of_operations[] =
    "a path is served to all keys; mount it under a path that only this test uses, and omit the scope";

/// Mounts the entries of a section. They are not tracked one by one, since clear() removes all.
template <const char* Section>
ControlAnswer mount(Control& control, const ControlRequest& request) {
  const std::string scope = control.scope_of(request);
  const internal::ScriptText script = read_script(control, request.body, scope, Section);
  control.layer.keep(control.gateway(), script.document->mount(control.gateway()), scope);
  return {201, Json{{"mounted", script.entries}}};
}

/// Clears a section, including entries of scripts and flags.
template <const char* Section, void (Gateway::*Clear)()>
ControlAnswer clear(Control& control, const ControlRequest&) {
  control.layer.forget({std::string("/") + Section});
  (control.gateway().*Clear)();
  return {};
}

/// Returns the requests that a failure applies to; null means all.
Json text_of(const Control& control, const FailureScope& scope) {
  switch (scope.kind()) {
    case FailureScope::Kind::all: break;
    case FailureScope::Kind::operation: return scope.name();
    case FailureScope::Kind::model: return "model \"" + scope.name() + "\"";
    case FailureScope::Kind::key:
      for (const ApiKey& key : control.gateway().keys().list())
        if (key.id == scope.name() && !key.description.empty()) return "key \"" + key.description + "\"";
      return "key \"" + scope.name() + "\"";
  }
  return nullptr;
}

ControlAnswer list_failures(Control& control, const ControlRequest& request) {
  const std::string scope = control.scope_of(request);
  Json list = Json::array();
  for (const auto& queued : control.inside().failures()) {
    const bool is_of_key = queued.scope.kind() == FailureScope::Kind::key;
    if (!scope.empty() && !(is_of_key && queued.scope.name() == scope)) continue;
    list.push_back(Json{{"text", std::to_string(queued.failure.status()) + " " + queued.failure.code()},
                        {"left", or_null(queued.left)},
                        {"for", text_of(control, queued.scope)}});
  }
  return {200, Json{{failures_section, std::move(list)}}};
}

ControlAnswer clear_failures(Control& control, const ControlRequest& request) {
  if (const std::string scope = control.scope_of(request); !scope.empty()) {
    control.gateway().clear_failures(for_key(scope));
    return {};
  }
  return clear<failures_section, &Gateway::clear_failures>(control, request);
}

ControlAnswer list_chaos(Control& control, const ControlRequest& request) {
  const std::string scope = control.scope_of(request);
  const auto is_wanted = [&](std::uint64_t owner) { return scope.empty() || control.layer.chaos_is_of(owner, scope); };
  return {200, Json{{chaos_section, control.inside().chaos(is_wanted)}}};
}

ControlAnswer clear_chaos(Control& control, const ControlRequest& request) {
  if (const std::string scope = control.scope_of(request); !scope.empty()) {
    control.layer.remove_chaos(control.gateway(), scope);
    return {};
  }
  return clear<chaos_section, &Gateway::clear_chaos>(control, request);
}

ControlAnswer list_connections(Control& control, const ControlRequest&) {
  return {200, Json{{connections_section, control.inside().connection_faults()}}};
}

ControlAnswer list_operations(Control& control, const ControlRequest&) {
  Json list = Json::array();
  const std::set<std::string> open = control.inside().open_operations();
  for (const Operation& one : control.inside().operations())
    list.push_back(Json{{"method", one.method}, {"path", one.path}, {"open", open.count(one.to_string()) > 0}});
  return {200, Json{{operations_section, std::move(list)}}};
}

ControlAnswer remove_operations(Control& control, const ControlRequest&) {
  control.layer.remove_operations(control.gateway());
  return {};
}

ControlAnswer show_listening(Control& control, const ControlRequest&) {
  return {200, Json{{"listening", control.listening.load()}}};
}

ControlAnswer set_listening(Control& control, const ControlRequest& request) {
  const Json body = request.object({"listening"});
  if (!body.contains("listening") || !body["listening"].is_boolean())
    throw request.invalid(body.contains("listening") ? "/listening" : "",
                          R"(expected {"listening": true} or {"listening": false})");
  const bool listening = body["listening"];
  if (listening)
    control.gateway().accept_connections();
  else
    control.gateway().refuse_connections();
  control.listening = listening;
  return show_listening(control, request);
}

}  // namespace

std::vector<ControlRoute> failure_routes() {
  return {
      {"POST", "/failures", {"scope"}, &mount<failures_section>},
      {"GET", "/failures", {"scope"}, &list_failures},
      {"DELETE", "/failures", {"scope"}, &clear_failures},
      {"POST", "/chaos", {"scope"}, &mount<chaos_section>},
      {"GET", "/chaos", {"scope"}, &list_chaos},
      {"DELETE", "/chaos", {"scope"}, &clear_chaos},
      {"POST", "/connections", {}, &mount<connections_section>, of_connections},
      {"GET", "/connections", {}, &list_connections, of_connections},
      {"DELETE", "/connections", {}, &clear<connections_section, &Gateway::clear_connection_faults>, of_connections},
      {"POST", "/operations", {}, &mount<operations_section>, of_operations},
      {"GET", "/operations", {}, &list_operations, of_operations},
      {"DELETE", "/operations", {}, &remove_operations, of_operations},
      {"GET", "/listening", {}, &show_listening, of_server},
      {"PUT", "/listening", {}, &set_listening, of_server}};
}

}  // namespace endpoint
}  // namespace mock_gateway
