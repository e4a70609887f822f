// Scopes of forced failures; their code is in `forced_failures.cpp`.

#pragma once

#include <string>
#include <utility>

#include "../model/operation.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// The set of requests that a forced failure answers.
class FailureScope {
 public:
  enum class Kind { all, operation, key, model };

  /// Every request.
  FailureScope() = default;
  // Moving copies, so that a moved-from scope stays valid.
  FailureScope(const FailureScope&) = default;
  FailureScope& operator=(const FailureScope&) = default;
  /// The requests of one operation, before their key is checked.
  FailureScope(
      Operation operation);  // NOLINT: implicit, so that fail_next(f, 1, chat_completions()) reads as it should

  Kind kind() const { return kind_; }
  /// The operation as "POST /v1/…", the key's id or the model's id; empty for every request.
  const std::string& name() const { return name_; }

 private:
  friend struct detail::Access;
  FailureScope(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  Kind kind_ = Kind::all;
  std::string name_;
};

/// Returns the scope of requests with this key, by id. The failure comes after the checks of the key's state and
/// rights, and before its rate limit. Throws GatewayError for a value that looks like a secret.
FailureScope for_key(std::string id);
/// Returns the scope of valid chat requests for this model. The failure comes before the script.
FailureScope for_model(std::string id);

}  // namespace mock_gateway
