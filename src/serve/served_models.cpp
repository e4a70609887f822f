// The models that requests may name, and the models listed if every model is served.

#include "served_models.hpp"

#include <algorithm>
#include <utility>

#include "../script/field_matchers.hpp"

namespace mock_gateway::detail {
namespace served_models {

bool has(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

const wire::Model* given(const std::vector<wire::Model>& models, const std::string& id) {
  for (const wire::Model& model : models)
    if (model.id == id) return &model;
  return nullptr;
}

}  // namespace served_models

ServedModels::ServedModels(std::vector<wire::Model> given, bool any, const Script& script)
    : given_(std::move(given)), any_(any), script_(script) {}

std::optional<wire::Model> ServedModels::find(const std::string& id) const {
  if (const wire::Model* const model = served_models::given(given_, id)) return *model;
  if (!any_ || id.empty()) return std::nullopt;
  return wire::Model{id};
}

std::optional<std::size_t> ServedModels::context_window(const std::string& id) const {
  const wire::Model* const model = served_models::given(given_, id);
  return model ? model->context_window : std::nullopt;
}

std::vector<wire::Model> ServedModels::listed() const {
  std::vector<wire::Model> all = given_;
  if (!any_) return all;
  std::set<std::string> ids;
  for (const wire::Model& model : given_) ids.insert(model.id);
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& id : more)
      if (ids.insert(id).second) all.push_back(wire::Model{id});
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  add(named());
  add(asked_);
  return all;
}

bool ServedModels::is_named(const std::string& id) const {
  if (served_models::given(given_, id)) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return served_models::has(named(), id);
}

void ServedModels::ask(const std::string& id) {
  if (!any_ || id.empty() || id.size() > longest_asked) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (asked_.size() < most_asked && !served_models::has(asked_, id)) asked_.push_back(id);
}

void ServedModels::forget_asked() {
  const std::lock_guard<std::mutex> lock(mutex_);
  asked_.clear();
}

const std::vector<std::string>& ServedModels::named() const {
  const std::uint64_t changes = script_.changes().total();
  if (named_at_ == changes) return named_;
  auto stubs = *script_.stubs();
  std::sort(stubs.begin(), stubs.end(), [](const auto& one, const auto& other) { return one->id() < other->id(); });
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const auto& stub : stubs)
    for (const Matcher& matcher : stub->plan().matchers) add_models(matcher, ids);
  ids.erase(std::remove_if(ids.begin(), ids.end(), [&seen](const std::string& id) { return !seen.insert(id).second; }),
            ids.end());
  named_ = std::move(ids);
  named_at_ = changes;
  return named_;
}

}  // namespace mock_gateway::detail
