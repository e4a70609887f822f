// What the API has mounted, and which document replaces which.

#include "api_layer.hpp"

#include <algorithm>
#include <utility>

namespace mock_gateway {
namespace endpoint {
void ApiLayer::add(const std::vector<Stub>& stubs, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Stub& stub : stubs) stubs_.insert_or_assign(internal::id_of(stub), Mounted{stub, scope});
}

void ApiLayer::put(Gateway& gateway, const ScriptDocument& document, const Json& json) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (document_)
    document.replace(gateway, *document_);
  else
    document_ = document.mount(gateway);
  json_ = json;
  document_stubs_.clear();
  for (const Stub& stub : document_->stubs()) document_stubs_.insert(internal::id_of(stub));
}

void ApiLayer::keep(const Gateway& gateway, const LoadedScript& loaded, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::uint64_t owner = internal::owner_of(loaded);
  if (!scope.empty() && internal::has_chaos(loaded)) chaos_[owner] = scope;
  std::vector<std::pair<Operation, std::uint64_t>> replaced;
  for (const Operation& one : internal::operations_of(loaded)) {
    const auto [earlier, is_new] = operations_.try_emplace({one.method, one.path}, owner);
    if (is_new) continue;
    replaced.emplace_back(one, std::min(earlier->second, owner));
    earlier->second = std::max(earlier->second, owner);
  }
  internal::Inside(gateway).unmount(replaced);
}

Json ApiLayer::document() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return json_;
}

std::uint64_t ApiLayer::document_owner() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return document_ ? internal::owner_of(*document_) : 0;
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

void ApiLayer::remove_stubs(const Gateway& gateway, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Stub> removed;
  for (auto stub = stubs_.begin(); stub != stubs_.end();) {
    if (stub->second.scope != scope) {
      ++stub;
      continue;
    }
    removed.push_back(stub->second.stub);
    stub = stubs_.erase(stub);
  }
  internal::Inside(gateway).remove(removed);
}

void ApiLayer::remove_chaos(const Gateway& gateway, const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto document = chaos_.begin(); document != chaos_.end();) {
    if (document->second != scope) {
      ++document;
      continue;
    }
    internal::Inside(gateway).clear_chaos_of(document->first);
    document = chaos_.erase(document);
  }
}

void ApiLayer::forget_stub(std::uint64_t stub) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stubs_.erase(stub);
}

void ApiLayer::remove_operations(const Gateway& gateway) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::pair<Operation, std::uint64_t>> leaving;
  for (const auto& [name, owner] : std::exchange(operations_, {}))
    leaving.emplace_back(operation(name.first, name.second), owner);
  if (document_) {
    internal::forget_sections(*document_, {"/operations"});
    for (const Operation& one : internal::operations_of(*document_))
      leaving.emplace_back(one, internal::owner_of(*document_));
  }
  internal::Inside(gateway).unmount(leaving);
}

void ApiLayer::forget(const std::vector<std::string>& sections) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (document_) internal::forget_sections(*document_, sections);
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
