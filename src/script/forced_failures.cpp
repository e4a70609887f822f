// The queue of forced failures: `fail_next` and `fail_always`.

#include "forced_failures.hpp"

#include <algorithm>  // find_if, remove_if
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../keys/secrets.hpp"

namespace mock_gateway {

FailureScope::FailureScope(Operation operation) : kind_(Kind::operation), name_(operation.to_string()) {}

FailureScope for_key(std::string id) {
  if (detail::secrets::looks_like_key(id)) {
    throw GatewayError("for_key takes a key's id, not its secret; CreatedKey::id and Keys::list() show it");
  }
  if (id.empty()) throw GatewayError("for_key needs a key's id; Keys::list() shows them");
  return detail::Access::make<FailureScope>(FailureScope::Kind::key, std::move(id));
}

FailureScope for_model(std::string id) {
  if (id.empty()) throw GatewayError("for_model needs a model's id");
  return detail::Access::make<FailureScope>(FailureScope::Kind::model, std::move(id));
}

namespace detail {
namespace forced_failures {

/// Returns the key's id if the scope is a key; otherwise empty.
std::string key_of(const FailureScope& scope) {
  return scope.kind() == FailureScope::Kind::key ? scope.name() : std::string();
}

}  // namespace forced_failures

void ForcedFailures::add(const Failure& failure, std::optional<std::size_t> times, FailureScope scope,
                         std::uint64_t owner) {
  if (times && *times == 0) {
    throw GatewayError("fail_next(failure, 0) would force nothing; fail_always(failure) lasts until clear_failures()");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  changes_.note_for(forced_failures::key_of(scope));
  entries_.push_back(Entry{{failure, times, std::move(scope)}, owner});
}

void ForcedFailures::clear_of(std::uint64_t owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto leaves = [this, owner](const Entry& entry) {
    if (entry.owner == owner) changes_.note_for(forced_failures::key_of(entry.queued.scope));
    return entry.owner == owner;
  };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), leaves), entries_.end());
}

void ForcedFailures::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.clear();
  changes_.note();
}

void ForcedFailures::clear(const FailureScope& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto in_scope = [&scope](const Entry& entry) {
    return entry.queued.scope.kind() == scope.kind() && entry.queued.scope.name() == scope.name();
  };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), in_scope), entries_.end());
  changes_.note_for(forced_failures::key_of(scope));
}

std::optional<Failure> ForcedFailures::take(FailureScope::Kind kind, const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const FailureScope& scope = entry.queued.scope;
    if (scope.kind() == FailureScope::Kind::all) return kind == FailureScope::Kind::operation;
    return scope.kind() == kind && scope.name() == name;
  });
  if (found == entries_.end()) return std::nullopt;
  Queued& queued = found->queued;
  Failure failure = queued.failure;
  if (queued.left && --*queued.left == 0) entries_.erase(found);
  return failure;
}

std::vector<ForcedFailures::Queued> ForcedFailures::queued() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Queued> queued;
  for (const Entry& entry : entries_) queued.push_back(entry.queued);
  return queued;
}

}  // namespace detail
}  // namespace mock_gateway
