// A stub as JSON: its layer, conditions, what hides it.

#include "stub_json.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "../serving.hpp"
#include "core/access.hpp"
#include "core/text.hpp"
#include "keys/key_store.hpp"
#include "script/hiding.hpp"
#include "serve/gateway_state.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using detail::Script;
using detail::StubPlan;
using detail::StubState;

/// A text of the script's author, without keys.
std::string masked(const Control& control, std::string text) {
  control.state().keys->mask(text);
  return detail::text::as_utf8(text);
}

/// Whether it is the name of a file, and not that of a route by which stubs came.
bool names_file(std::string_view file) {
  return !file.empty() && file.substr(0, 4) != "PUT " && file.substr(0, 5) != "POST ";
}

/// What several stubs are shown by.
class Shown {
 public:
  explicit Shown(const Control& control) : control_(control), asked_(control.state().script->stubs()) {}

  const Script::Stubs& asked() const { return *asked_; }

  Json json(const StubState& stub) {
    const StubPlan& plan = stub.plan();
    const std::string layer = layer_of(stub);
    const SourceLocation where = stub.where();
    const bool has_place = layer != "flags";
    const std::size_t calls = stub.recorded();
    Json conditions = Json::array();
    for (const Matcher& matcher : plan.matchers) conditions.push_back(masked(control_, matcher.to_string()));
    for (const detail::MachineState& state : plan.in_states)
      conditions.push_back(masked(control_, "state machine \"" + state.machine + "\" is \"" + state.state + "\""));
    const std::optional<std::string> scope = control_.layer.scope_of(stub.id());
    const std::optional<Range>& expected = plan.expected_calls;
    return Json{{"id", stub.id()},
                {"name", plan.name.empty() ? Json() : Json(masked(control_, plan.name))},
                {"title", masked(control_, stub.title())},
                {"file", has_place && names_file(where.file) ? Json(detail::text::as_utf8(where.file)) : Json()},
                {"line", has_place && where.line > 0 ? Json(where.line) : Json()},
                {"calls", calls},
                {"expected", expected ? Json(expected->to_string()) : Json()},
                {"met", !expected || expected->contains(static_cast<double>(calls))},
                {"layer", layer},
                {"scope", scope ? Json(*scope) : Json()},
                {"hidden_by", hidden_by(stub)},
                {"conditions", std::move(conditions)}};
  }

 private:
  const char* layer_of(const StubState& stub) {
    if (control_.layer.has(stub.id())) return "api";
    if (!of_files_) {
      of_files_.emplace();
      if (control_.serving.script())
        for (const Stub& one : control_.serving.script()->stubs()) of_files_->insert(detail::Access::state(one).get());
    }
    return of_files_->count(&stub) > 0 ? "script" : "flags";
  }

  /// The id of the stub that keeps every request from this one; null when none does. Looks at those asked before it.
  Json hidden_by(const StubState& stub) {
    while (looked_at_ < asked_->size() && seen_.count(&stub) == 0) {
      const StubState& next = *(*asked_)[looked_at_++];
      seen_[&next] = hiding_.add(next.plan());
    }
    const auto seen = seen_.find(&stub);
    return seen != seen_.end() && seen->second ? Json((*asked_)[*seen->second]->id()) : Json();
  }

  const Control& control_;
  std::shared_ptr<const Script::Stubs> asked_;
  std::optional<std::set<const StubState*>> of_files_;  // once it was asked for
  detail::HidingStubs hiding_;
  std::size_t looked_at_ = 0;
  std::map<const StubState*, std::optional<std::size_t>> seen_;  // by what each is hidden
};

}  // namespace

Json stub_json(const Control& control, const std::shared_ptr<StubState>& stub) { return Shown(control).json(*stub); }

Json stubs_json(const Control& control, const std::optional<Scope>& scope, std::size_t behind, std::size_t most) {
  Shown shown(control);
  Json stubs = Json::array();
  std::size_t total = 0;
  for (const auto& stub : shown.asked()) {
    if (scope && control.layer.scope_of(stub->id()) != scope->id) continue;
    if (total++ >= behind && stubs.size() < most) stubs.push_back(shown.json(*stub));
  }
  return Json{{"stubs", std::move(stubs)}, {"total", total}};
}

Json script_of(const Control& control, const StubState& stub) {
  return stub.plan().json ? Json::parse(masked(control, *stub.plan().json)) : Json();
}

Json stubs_json(const Control& control, const std::vector<Stub>& stubs) {
  Shown shown(control);
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
