// Stubs as JSON, with layer and scope.

#include "stub_json.hpp"

#include <set>

#include "../serving.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Converts several stubs, with shared lookups.
class Shown {
 public:
  explicit Shown(const Control& control) : control_(control), viewer_(control.gateway()) {}

  const std::vector<Stub>& asked() const { return viewer_.stubs(); }

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

}  // namespace

Json stub_json(const Control& control, const Stub& stub) { return Shown(control).json(stub); }

Json stubs_json(const Control& control, const std::optional<Scope>& scope, std::size_t behind, std::size_t most) {
  Shown shown(control);
  Json stubs = Json::array();
  std::size_t total = 0;
  for (const Stub& stub : shown.asked()) {
    if (scope && control.layer.scope_of(internal::id_of(stub)) != scope->id) continue;
    if (total++ >= behind && stubs.size() < most) stubs.push_back(shown.json(stub));
  }
  return Json{{"stubs", std::move(stubs)}, {"total", total}};
}

Json stubs_json(const Control& control, const std::vector<Stub>& stubs) {
  Shown shown(control);
  Json all = Json::array();
  for (const Stub& stub : stubs) all.push_back(shown.json(stub));
  return all;
}

Stub require_stub(const Control& control, std::uint64_t id) {
  const internal::StubViewer mounted(control.gateway());
  for (const Stub& stub : mounted.stubs())
    if (internal::id_of(stub) == id) return stub;
  throw ControlError(404, "no_such_stub",
                     "there is no stub " + std::to_string(id) + "; it may have been removed, or its script replaced");
}

}  // namespace endpoint
}  // namespace mock_gateway
