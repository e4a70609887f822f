// A stub as JSON: its conditions, and the stub that hides it.

#include <map>
#include <string_view>

#include "../core/access.hpp"
#include "../keys/key_store.hpp"
#include "../script/hiding.hpp"
#include "../serve/gateway_state.hpp"
#include "internal.hpp"

namespace mock_gateway::internal {
namespace {

/// Whether this is a file name rather than the control API's route that mounted the stub ("POST stubs").
bool names_file(std::string_view file) {
  return !file.empty() && file.substr(0, 4) != "PUT " && file.substr(0, 5) != "POST ";
}

}  // namespace

struct StubViewer::Impl {
  explicit Impl(const Gateway& gateway) : state(*detail::Access::serving(gateway)), mounted(state.script->stubs()) {}

  std::string masked(std::string text) const {
    state.keys->mask(text);
    return text::as_utf8(text);
  }

  /// Returns the id of the stub that hides this one; null if there is none.
  Json hidden_by(std::uint64_t id) {
    while (examined < mounted->size() && hiders.count(id) == 0) {
      const detail::StubState& next = *(*mounted)[examined++];
      const std::optional<std::size_t> hider = hiding.add(next.plan());
      hiders[next.id()] = hider ? (*mounted)[*hider]->id() : 0;
    }
    const auto found = hiders.find(id);
    return found != hiders.end() && found->second != 0 ? Json(found->second) : Json();
  }

  const detail::GatewayState& state;
  const std::shared_ptr<const detail::Script::Stubs> mounted;
  detail::HidingStubs hiding = {};
  std::size_t examined = 0;
  std::map<std::uint64_t, std::uint64_t> hiders = {};  // stub -> the stub that hides it, or 0
};

StubViewer::StubViewer(const Gateway& gateway) : impl_(std::make_unique<Impl>(gateway)) {}
StubViewer::~StubViewer() = default;

std::vector<Stub> StubViewer::stubs() const {
  std::vector<Stub> stubs;
  for (const auto& stub : *impl_->mounted) stubs.emplace_back(stub, impl_->state.script, impl_->state.journal);
  return stubs;
}

Json StubViewer::json(const Stub& stub) {
  const detail::StubState& state = *detail::Access::state(stub);
  const detail::StubPlan& plan = state.plan();
  const SourceLocation where = state.where();
  const std::size_t calls = state.recorded();
  Json conditions = Json::array();
  for (const Matcher& matcher : plan.matchers) conditions.push_back(impl_->masked(matcher.to_string()));
  for (const detail::MachineState& one : plan.in_states)
    conditions.push_back(impl_->masked("state machine \"" + one.machine + "\" is \"" + one.state + "\""));
  const std::optional<Range>& expected = plan.expected_calls;
  return Json{{"id", state.id()},
              {"name", plan.name.empty() ? Json() : Json(impl_->masked(plan.name))},
              {"title", impl_->masked(state.title())},
              {"file", names_file(where.file) ? Json(text::as_utf8(where.file)) : Json()},
              {"line", where.line > 0 ? Json(where.line) : Json()},
              {"calls", calls},
              {"expected", expected ? Json(expected->to_string()) : Json()},
              {"met", !expected || expected->contains(static_cast<double>(calls))},
              {"hidden_by", impl_->hidden_by(state.id())},
              {"conditions", std::move(conditions)}};
}

}  // namespace mock_gateway::internal
