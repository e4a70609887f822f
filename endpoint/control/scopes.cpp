// The active scopes; names within a scope.

#include "scopes.hpp"

#include <algorithm>
#include <utility>

namespace mock_gateway {
namespace endpoint {

std::string scoped_name(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + ":" + name;
}

void Scopes::add(Scope scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  scopes_.push_back(std::move(scope));
}

bool Scopes::remove(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(scopes_.begin(), scopes_.end(), [&id](const Scope& scope) { return scope.id == id; });
  if (found == scopes_.end()) return false;
  scopes_.erase(found);
  return true;
}

std::optional<Scope> Scopes::find(const std::string& id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Scope& scope : scopes_)
    if (scope.id == id) return scope;
  return std::nullopt;
}

std::vector<Scope> Scopes::all() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return scopes_;
}

}  // namespace endpoint
}  // namespace mock_gateway
