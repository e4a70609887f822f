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

/// A FIFO queue of forced failures. Thread-safe.
class ForcedFailures {
 public:
  /// Without `times`, the failure applies until it is cleared. Throws GatewayError if `times` is 0. `owner` is the
  /// script document of the failure; 0 if there is none.
  void add(const Failure& failure, std::optional<std::size_t> times, FailureScope scope, std::uint64_t owner = 0);
  void clear();
  void clear_of(std::uint64_t owner);
  /// Removes the failures of exactly this scope.
  void clear(const FailureScope& scope);

  /// Takes the first failure for all requests or for this operation.
  std::optional<Failure> take_for_operation(const Operation& operation);
  std::optional<Failure> take_for_key(const std::string& id);
  std::optional<Failure> take_for_model(const std::string& id);
  struct Queued {
    Failure failure;
    /// How many more requests it answers; empty: until cleared.
    std::optional<std::size_t> left;
    FailureScope scope;
  };
  /// Returns the queued failures, oldest first.
  std::vector<Queued> queued() const;
  /// Counts additions and removals of failures.
  const ChangeCount& changes() const { return changes_; }

 private:
  struct Entry {
    Queued queued;
    std::uint64_t owner;
  };
  template <class Applies>
  std::optional<Failure> take(const Applies& applies);

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
