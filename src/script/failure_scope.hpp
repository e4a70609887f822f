// The requests that a forced failure applies to; the code is in `forced_failures.cpp`.

#pragma once

#include <string>
#include <utility>

#include "../model/operation.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// The requests that a forced failure answers.
class FailureScope {
 public:
  enum class Kind { all, operation, key, model };

  /// Every request.
  FailureScope() = default;
  // A move copies, so that the moved-from value stays valid.
  FailureScope(const FailureScope&) = default;
  FailureScope& operator=(const FailureScope&) = default;
  /// The requests of one operation. They get the failure before the check of the key.
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

/// The requests with this key, by id or description, if it is enabled and may use the operation. They get the failure
/// before the check of its rate limit. Throws GatewayError for a secret; fail_next and fail_always throw it for a
/// description that several keys have.
FailureScope for_key(std::string id_or_description);
/// The valid chat requests for this model. They get the failure before a stub is chosen.
FailureScope for_model(std::string id);

}  // namespace mock_gateway
