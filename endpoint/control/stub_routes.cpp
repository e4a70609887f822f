// `/stubs`.

#include <limits>

#include "control.hpp"
#include "script_text.hpp"
#include "stub_json.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

ControlAnswer mount_stubs(Control& control, const ControlRequest& request) {
  const std::optional<Scope> scope = control.scope_of(request);
  const std::string id = scope ? scope->id : std::string();
  const ScriptText script = read_script(control, request.body, {"POST stubs", "stubs", id});
  const std::vector<Stub> stubs = script.document.mount(control.gateway()).stubs();
  control.layer.add(stubs, id);
  return {201, Json{{"stubs", stubs_json(control, stubs)},
                    {"warnings", as_json(script.document.warnings(control.gateway()))}}};
}

ControlAnswer list_stubs(Control& control, const ControlRequest& request) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t behind = request.number("behind", 0, any).value_or(0);
  const std::uint64_t most = request.number("limit", 1, any).value_or(any);
  return {200, stubs_json(control, control.scope_of(request), behind, most)};
}

/// Returns the stub of the path. Throws ControlError `no_such_stub`, also for another scope's stub.
Stub stub_of(const Control& control, const ControlRequest& request) {
  const std::uint64_t id = request.id(0, "no_such_stub", "stub");
  const std::optional<Scope> scope = control.scope_of(request);
  Stub stub = require_stub(control, id);
  if (scope && control.layer.scope_of(id) != scope->id)
    throw not_of("stub", "no_such_stub", request.parameters.at(0), *scope);
  return stub;
}

ControlAnswer show_stub(Control& control, const ControlRequest& request) {
  const auto stub = stub_of(control, request);
  Json shown = stub_json(control, stub);
  shown["script"] = internal::script_of(control.gateway(), stub);
  return {200, std::move(shown)};
}

ControlAnswer remove_stub(Control& control, const ControlRequest& request) {
  const auto stub = stub_of(control, request);
  Json shown = stub_json(control, stub);
  stub.remove();
  control.layer.forget_stub(internal::id_of(stub));
  return {200, std::move(shown)};
}

ControlAnswer wait_for_stub(Control& control, const ControlRequest& request) {
  using namespace std::chrono_literals;
  const auto stub = stub_of(control, request);
  const std::uint64_t calls = request.number("calls", 1, std::numeric_limits<std::uint32_t>::max()).value_or(1);
  const Duration within = request.duration("within").value_or(Duration(1s));
  const auto deadline = std::chrono::steady_clock::now() + within;
  const bool reached = control.waits.wait_until(deadline, request, [&] { return stub.calls() >= calls; });
  Json message;
  if (!reached) message = stub.wait_for_calls(static_cast<std::size_t>(calls), 0s).message();
  return {200, Json{{"reached", reached}, {"message", message}, {"stub", stub_json(control, stub)}}};
}

}  // namespace

std::vector<ControlRoute> stub_routes() {
  return {{"POST", "/stubs", {"scope"}, &mount_stubs},
          {"GET", "/stubs", {"behind", "limit", "scope"}, &list_stubs},
          {"GET", "/stubs/{id}", {"scope"}, &show_stub},
          {"DELETE", "/stubs/{id}", {"scope"}, &remove_stub},
          {"GET", "/stubs/{id}/wait", {"calls", "within", "scope"}, &wait_for_stub}};
}

}  // namespace endpoint
}  // namespace mock_gateway
