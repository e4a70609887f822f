#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../core/change_count.hpp"
#include "../model/failure.hpp"
#include "failure_scope.hpp"

namespace mock_gateway::detail {

/// The queue of forced failures. Thread-safe.
class ForcedFailures {
 public:
  /// Forces a failure `times` times; without a value, until cleared. Throws GatewayError for 0 times. `owner` is
  /// the number of its script document; 0: none.
  void add(const Failure& failure, std::optional<std::size_t> times, FailureScope scope, std::uint64_t owner = 0);
  void clear();
  void clear_of(std::uint64_t owner);
  /// Removes the failures of exactly this scope.
  void clear(const FailureScope& scope);

  /// Takes the first failure with this scope. For an operation, also considers failures for every request.
  std::optional<Failure> take(FailureScope::Kind kind, const std::string& name);
  struct Queued {
    Failure failure;
    /// The remaining requests; empty: until cleared.
    std::optional<std::size_t> left;
    FailureScope scope;
  };
  std::vector<Queued> queued() const;
  const ChangeCount& changes() const { return changes_; }

 private:
  struct Entry {
    Queued queued;
    std::uint64_t owner;
  };

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
