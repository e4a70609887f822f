// Which documents share gates.

#include "gates.hpp"

#include <utility>

namespace mock_gateway {
namespace endpoint {

std::string scoped_name(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + ":" + name;
}

std::unique_lock<std::mutex> Gates::naming() {
  return files_ ? internal::lock_gate_names(*files_) : std::unique_lock<std::mutex>(naming_);
}

std::map<std::string, Gate> Gates::known(const std::string& scope) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = gates_.find(scope);
  std::map<std::string, Gate> known = found == gates_.end() ? std::map<std::string, Gate>() : found->second;
  if (!scope.empty() || !files_) return known;
  known.merge(internal::gates_of(*files_));
  return known;
}

void Gates::add(const std::string& scope, const std::map<std::string, Gate>& gates) {
  const std::lock_guard<std::mutex> lock(mutex_);
  gates_[scope].insert(gates.begin(), gates.end());
  if (!scope.empty() || !files_) return;
  // A script file that is reloaded uses the same gates.
  internal::add_gates(*files_, gates);
}

void Gates::forget(const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  gates_.erase(scope);
}

void Gates::reset() {
  for (const auto& [name, gate] : all({})) internal::reset(gate);
}

void Gates::share(const LoadedScript& files) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_ = files;
}

std::map<std::string, Gate> Gates::all(const std::string& scope) const {
  std::map<std::string, Gate> all = known(scope);
  if (!scope.empty()) return all;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [its_scope, gates] : gates_) {
    if (its_scope.empty()) continue;
    for (const auto& [name, gate] : gates) all.emplace(scoped_name(its_scope, name), gate);
  }
  return all;
}

}  // namespace endpoint
}  // namespace mock_gateway
