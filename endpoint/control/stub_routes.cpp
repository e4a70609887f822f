// `/stubs`; stubs as JSON, with layer and scope.

#include <limits>
#include <set>

#include "../serving.hpp"
#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Converts several stubs, with shared lookups.
class Shown {
 public:
  explicit Shown(const Control& control) : control_(control), viewer_(control.gateway()) {}

  std::vector<Stub> asked() const { return viewer_.stubs(); }

  Json json(const Stub& stub) {
    const std::uint64_t id = internal::id_of(stub);
    const std::string layer = layer_of(id);
    const std::optional<std::string> scope = control_.layer.scope_of(id);
    Json json = viewer_.json(stub);
    json["layer"] = layer;
    json["scope"] = scope ? Json(*scope) : Json();
    if (layer == "flags") json["file"] = json["line"] = nullptr;
    return json;
  }

 private:
  const char* layer_of(std::uint64_t id) {
    if (control_.layer.has(id)) return "api";
    if (!of_files_) {
      of_files_.emplace();
      if (control_.serving.script())
        for (const Stub& one : control_.serving.script()->stubs()) of_files_->insert(internal::id_of(one));
    }
    return of_files_->count(id) > 0 ? "script" : "flags";
  }

  const Control& control_;
  internal::StubViewer viewer_;
  std::optional<std::set<std::uint64_t>> of_files_;  // computed on first use
};

ControlAnswer mount_stubs(Control& control, const ControlRequest& request) {
  const std::string scope = control.scope_of(request);
  const internal::ScriptText script = read_script(control, request.body, scope, "stubs");
  const std::vector<Stub> stubs = script.document->mount(control.gateway()).stubs();
  control.layer.add(stubs, scope);
  return {201, Json{{"stubs", stubs_json(control, stubs)},
                    {"warnings", as_json(script.document->warnings(control.gateway()))}}};
}

/// Lists a page of stubs in the order of evaluation. "total" is the number of all; with a scope, only its stubs.
ControlAnswer list_stubs(Control& control, const ControlRequest& request) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t behind = request.number("behind", 0, any).value_or(0);
  const std::uint64_t most = request.number("limit", 1, any).value_or(any);
  const std::string scope = control.scope_of(request);
  Shown shown(control);
  Json stubs = Json::array();
  std::size_t total = 0;
  for (const Stub& stub : shown.asked()) {
    if (!scope.empty() && control.layer.scope_of(internal::id_of(stub)) != scope) continue;
    if (total++ >= behind && stubs.size() < most) stubs.push_back(shown.json(stub));
  }
  return {200, Json{{"stubs", std::move(stubs)}, {"total", total}}};
}

/// Returns the stub of the path. Throws ControlError `no_such_stub`, also for another scope's stub.
Stub stub_of(const Control& control, const ControlRequest& request) {
  const std::uint64_t id = request.id(0, "no_such_stub", "stub");
  const std::string scope = control.scope_of(request);
  const internal::StubViewer mounted(control.gateway());
  for (const Stub& stub : mounted.stubs()) {
    if (internal::id_of(stub) != id) continue;
    if (scope.empty() || control.layer.scope_of(id) == scope) return stub;
    throw not_of("stub", "no_such_stub", request.parameters.at(0), scope);
  }
  throw ControlError(404, "no_such_stub",
                     "there is no stub " + std::to_string(id) + "; it may have been removed, or its script replaced");
}

ControlAnswer show_stub(Control& control, const ControlRequest& request) {
  const auto stub = stub_of(control, request);
  Json shown = Shown(control).json(stub);
  shown["script"] = internal::script_of(control.gateway(), stub);
  return {200, std::move(shown)};
}

ControlAnswer remove_stub(Control& control, const ControlRequest& request) {
  const auto stub = stub_of(control, request);
  Json shown = Shown(control).json(stub);
  stub.remove();
  control.layer.forget_stub(internal::id_of(stub));
  return {200, std::move(shown)};
}

ControlAnswer wait_for_stub(Control& control, const ControlRequest& request) {
  using namespace std::chrono_literals;
  const auto stub = stub_of(control, request);
  const std::uint64_t calls = request.number("calls", 1, std::numeric_limits<std::uint32_t>::max()).value_or(1);
  const Duration within = request.duration("within").value_or(Duration(1s));
  const bool reached = control.waits.wait_for(within, request, [&] { return stub.calls() >= calls; });
  Json message;
  if (!reached) message = stub.wait_for_calls(static_cast<std::size_t>(calls), 0s).message();
  return {200, Json{{"reached", reached}, {"message", message}, {"stub", Shown(control).json(stub)}}};
}

}  // namespace

Json stubs_json(const Control& control, const std::vector<Stub>& stubs) {
  Shown shown(control);
  Json all = Json::array();
  for (const Stub& stub : stubs) all.push_back(shown.json(stub));
  return all;
}

std::vector<ControlRoute> stub_routes() {
  return {{"POST", "/stubs", {"scope"}, &mount_stubs},
          {"GET", "/stubs", {"behind", "limit", "scope"}, &list_stubs},
          {"GET", "/stubs/{id}", {"scope"}, &show_stub},
          {"DELETE", "/stubs/{id}", {"scope"}, &remove_stub},
          {"GET", "/stubs/{id}/wait", {"calls", "within", "scope"}, &wait_for_stub}};
}

}  // namespace endpoint
}  // namespace mock_gateway
