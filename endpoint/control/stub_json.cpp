#include "stub_json.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "../serving.hpp"
#include "core/access.hpp"
#include "core/text.hpp"
#include "keys/key_store.hpp"
#include "serve/gateway_state.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using detail::Script;
using detail::StubPlan;
using detail::StubState;

/// Whether one stub answers, at any time, all that another one matches.
bool hides(const StubPlan& hiding, const StubPlan& hidden) {
  if (hiding.at_most || !hiding.in_states.empty()) return false;
  return std::all_of(hiding.matchers.begin(), hiding.matchers.end(), [&hidden](const Matcher& matcher) {
    return std::any_of(hidden.matchers.begin(), hidden.matchers.end(),
                       [&matcher](const Matcher& other) { return other.to_string() == matcher.to_string(); });
  });
}

/// The id of the stub that keeps every request from this one; null when none does.
Json hidden_by(const Script::Stubs& asked, const StubState& stub) {
  for (const auto& earlier : asked) {
    if (earlier.get() == &stub) break;
    if (hides(earlier->plan(), stub.plan())) return earlier->id();
  }
  return nullptr;
}

/// A text of the script's author, without keys.
std::string masked(const Control& control, std::string text) {
  control.state().keys->mask(text);
  return detail::text::as_utf8(text);
}

bool is_in(const std::vector<Stub>& stubs, const StubState& stub) {
  return std::any_of(stubs.begin(), stubs.end(),
                     [&stub](const Stub& one) { return detail::Access::state(one).get() == &stub; });
}

/// What several stubs are shown by.
struct Shown {
  explicit Shown(const Control& its_control) : control(its_control), asked(its_control.state().script->stubs()) {
    if (control.serving.script()) of_files = control.serving.script()->stubs();
  }

  const char* layer_of(const StubState& stub) const {
    if (control.layer.has(stub.id())) return "api";
    return is_in(of_files, stub) ? "script" : "flags";
  }

  Json json(const StubState& stub) const {
    const StubPlan& plan = stub.plan();
    const char* const layer = layer_of(stub);
    const SourceLocation where = stub.where();
    const bool has_file = layer == std::string("script") && *where.file != '\0';
    const std::size_t calls = stub.recorded();
    Json conditions = Json::array();
    for (const Matcher& matcher : plan.matchers) conditions.push_back(masked(control, matcher.to_string()));
    for (const detail::MachineState& state : plan.in_states)
      conditions.push_back(masked(control, "state machine \"" + state.machine + "\" is \"" + state.state + "\""));
    const std::optional<std::string> scope = control.layer.scope_of(stub.id());
    const std::optional<Range>& expected = plan.expected_calls;
    return Json{{"id", stub.id()},
                {"name", plan.name.empty() ? Json() : Json(masked(control, plan.name))},
                {"title", masked(control, stub.title())},
                {"file", has_file ? Json(detail::text::as_utf8(where.file)) : Json()},
                {"line", where.line > 0 && layer != std::string("flags") ? Json(where.line) : Json()},
                {"calls", calls},
                {"expected", expected ? Json(expected->to_string()) : Json()},
                {"met", !expected || expected->contains(static_cast<double>(calls))},
                {"layer", layer},
                {"scope", scope ? Json(*scope) : Json()},
                {"hidden_by", hidden_by(*asked, stub)},
                {"conditions", std::move(conditions)}};
  }

  const Control& control;
  std::shared_ptr<const Script::Stubs> asked;
  std::vector<Stub> of_files;
};

}  // namespace

Json stub_json(const Control& control, const std::shared_ptr<StubState>& stub) { return Shown(control).json(*stub); }

Json stubs_json(const Control& control, const std::optional<Scope>& scope) {
  const Shown shown(control);
  Json stubs = Json::array();
  for (const auto& stub : *shown.asked)
    if (!scope || control.layer.scope_of(stub->id()) == scope->id) stubs.push_back(shown.json(*stub));
  return stubs;
}

Json stubs_json(const Control& control, const std::vector<Stub>& stubs) {
  const Shown shown(control);
  Json all = Json::array();
  for (const Stub& stub : stubs) all.push_back(shown.json(*detail::Access::state(stub)));
  return all;
}

std::shared_ptr<StubState> require_stub(const Control& control, std::uint64_t id) {
  const std::shared_ptr<const Script::Stubs> asked = control.state().script->stubs();
  for (const auto& stub : *asked)
    if (stub->id() == id) return stub;
  throw ControlError(404, "no_such_stub",
                     "there is no stub " + std::to_string(id) + "; it may have been removed, or its script replaced");
}

}  // namespace endpoint
}  // namespace mock_gateway
