#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../model/failure.hpp"
#include "../model/operation.hpp"

namespace mock_gateway {

/// Which requests a forced failure answers.
class FailureScope {
 public:
  enum class Kind { all, operation, key, model };

  FailureScope() = default;
  /// Of one operation, decided before the key is looked at.
  FailureScope(
      Operation operation);  // NOLINT: implicit, so that fail_next(f, 1, chat_completions()) reads as it should

  Kind kind() const { return kind_; }
  /// The operation as "POST /v1/…", the key's id or the model's id; empty for all.
  const std::string& name() const { return name_; }

 private:
  friend FailureScope for_key(std::string id);
  friend FailureScope for_model(std::string id);
  Kind kind_ = Kind::all;
  std::string name_;
};

/// Every request with this key, by its id, that is enabled and has the right to the operation; before its rate limit.
/// Throws GatewayError for something that looks like a secret.
FailureScope for_key(std::string id);
/// Every valid chat request for this model; before the script.
FailureScope for_model(std::string id);

namespace detail {

/// Failures forced on requests, first queued, first served. Thread-safe.
class ForcedFailures {
 public:
  /// `times` nothing: until cleared. Throws GatewayError when it is 0.
  void add(const Failure& failure, std::optional<std::size_t> times, FailureScope scope);
  void clear();
  /// Those that were queued for exactly this scope.
  void clear(const FailureScope& scope);

  /// The first failure queued for all or for this operation.
  std::optional<Failure> take_for_operation(const Operation& operation);
  std::optional<Failure> take_for_key(const std::string& id);
  std::optional<Failure> take_for_model(const std::string& id);
  /// How often failures were forced or cleared.
  std::uint64_t changes() const { return changes_; }

 private:
  struct Entry {
    Failure failure;
    std::optional<std::size_t> left;
    FailureScope scope;
  };
  template <class Applies>
  std::optional<Failure> take(const Applies& applies);

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace detail

}  // namespace mock_gateway
