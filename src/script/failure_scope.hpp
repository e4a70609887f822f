// Which requests a forced failure may be for; its code is in `forced_failures.cpp`.

#pragma once

#include <string>
#include <utility>

#include "../model/operation.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// Which requests a forced failure answers.
class FailureScope {
 public:
  enum class Kind { all, operation, key, model };

  /// Every request.
  FailureScope() = default;
  // A move copies too, so that nothing is emptied.
  FailureScope(const FailureScope&) = default;
  FailureScope& operator=(const FailureScope&) = default;
  /// The requests of one operation; decided before the key is looked at.
  FailureScope(
      Operation operation);  // NOLINT: implicit, so that fail_next(f, 1, chat_completions()) reads as it should

  Kind kind() const { return kind_; }
  /// The operation as "POST /v1/…", the key's id or the model's id; empty for all.
  const std::string& name() const { return name_; }

 private:
  friend struct detail::Access;
  FailureScope(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  Kind kind_ = Kind::all;
  std::string name_;
};

/// Every request with this key, by its id, that is enabled and has the right to the operation; before its rate limit.
/// Throws GatewayError for something that looks like a secret.
FailureScope for_key(std::string id);
/// Every valid chat request for this model; before the script.
FailureScope for_model(std::string id);

}  // namespace mock_gateway
