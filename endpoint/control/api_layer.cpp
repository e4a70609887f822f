// What the API has mounted, and what replaces it.

#include "api_layer.hpp"

#include <algorithm>
#include <utility>

#include "core/access.hpp"
#include "document/loaded_document.hpp"
#include "serve/gateway_state.hpp"

namespace mock_gateway {
namespace endpoint {
void ApiLayer::add(const std::vector<Stub>& stubs, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Stub& stub : stubs) stubs_.insert_or_assign(detail::Access::state(stub)->id(), Mounted{stub, scope});
}

void ApiLayer::put(Gateway& gateway, const ScriptDocument& document, const Json& json) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (document_)
    document.replace(gateway, *document_);
  else
    document_ = document.mount(gateway);
  json_ = json;
  document_stubs_.clear();
  for (const Stub& stub : document_->stubs()) document_stubs_.insert(detail::Access::state(stub)->id());
}

void ApiLayer::keep(detail::GatewayState& state, const LoadedScript& loaded, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto& document = detail::Access::state(loaded);
  const std::lock_guard<std::mutex> of_document(document->mutex);
  if (!scope.empty() && document->sections.count("/chaos") > 0) chaos_[document->owner] = scope;
  std::vector<detail::Operations::Owned> replaced;
  for (const Operation& one : document->operations) {
    const auto [earlier, is_new] = operations_.try_emplace({one.method, one.path}, document->owner);
    if (is_new) continue;
    replaced.push_back({one, std::min(earlier->second, document->owner)});
    earlier->second = std::max(earlier->second, document->owner);
  }
  state.operations.unmount(replaced);
}

Json ApiLayer::document() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return json_;
}

std::uint64_t ApiLayer::document_owner() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return document_ ? detail::Access::state(*document_)->owner : 0;
}

std::vector<Stub> ApiLayer::document_stubs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return document_ ? document_->stubs() : std::vector<Stub>();
}

bool ApiLayer::has(std::uint64_t stub) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stubs_.count(stub) > 0 || document_stubs_.count(stub) > 0;
}

std::optional<std::string> ApiLayer::scope_of(std::uint64_t stub) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = stubs_.find(stub);
  if (found == stubs_.end() || found->second.scope.empty()) return std::nullopt;
  return found->second.scope;
}

bool ApiLayer::chaos_is_of(std::uint64_t document, const std::string& scope) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = chaos_.find(document);
  return found != chaos_.end() && found->second == scope;
}

void ApiLayer::remove_stubs(detail::GatewayState& state, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  detail::Script::Stubs removed;
  for (auto stub = stubs_.begin(); stub != stubs_.end();) {
    if (stub->second.scope != scope) {
      ++stub;
      continue;
    }
    removed.push_back(detail::Access::state(stub->second.stub));
    stub = stubs_.erase(stub);
  }
  state.script->remove(removed);
}

void ApiLayer::remove_chaos(detail::GatewayState& state, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto document = chaos_.begin(); document != chaos_.end();) {
    if (document->second != scope) {
      ++document;
      continue;
    }
    state.chaos->clear_of(document->first);
    document = chaos_.erase(document);
  }
}

void ApiLayer::forget_stub(std::uint64_t stub) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stubs_.erase(stub);
}

void ApiLayer::remove_operations(detail::GatewayState& state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<detail::Operations::Owned> leaving;
  for (const auto& [name, owner] : std::exchange(operations_, {}))
    leaving.push_back({operation(name.first, name.second), owner});
  if (document_) {
    const auto& loaded = detail::Access::state(*document_);
    loaded->forget({"/operations"});
    const std::lock_guard<std::mutex> of_document(loaded->mutex);
    for (const Operation& one : std::exchange(loaded->operations, {})) leaving.push_back({one, loaded->owner});
  }
  state.operations.unmount(leaving);
}

void ApiLayer::forget(const std::vector<std::string>& sections) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (document_) detail::Access::state(*document_)->forget(sections);
  const auto has = [&sections](const char* one) {
    return std::find(sections.begin(), sections.end(), one) != sections.end();
  };
  if (has("/chaos")) chaos_.clear();
  if (!has("/stubs")) return;
  stubs_.clear();
  document_stubs_.clear();
  json_ = nullptr;
}

}  // namespace endpoint
}  // namespace mock_gateway
