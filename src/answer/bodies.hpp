#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../model/failure.hpp"
#include "../model/profile.hpp"
#include "completion.hpp"

namespace mock_gateway {

namespace wire {

struct Model {
  std::string id;
  std::string owner = "mock_gateway";
  /// The maximum tokens of a prompt and its max_tokens together, if limited.
  std::optional<std::size_t> context_window = {};
};

}  // namespace wire

namespace detail {

/// The values of an error answer besides the failure.
struct ErrorContext {
  Profile profile = Profile::documented;
  std::string request_id = {};
  /// True if the test sent the failure. Then the profile keeps the code that the test has chosen.
  bool scripted = true;
  /// The completion whose stream the error ends, or null.
  const Completion* stream = nullptr;
};

/// Returns the body of an error answer, or the data of an `event`: scripted, or else in the profile's form.
std::string error_body(const Failure& failure, const ErrorContext& context, bool event = false);

/// Returns `{"id", "object":"model", "created", "owned_by"}`.
std::string model_body(const wire::Model& model, std::int64_t created);
/// Returns `{"object":"list","data":[…]}`.
std::string models_body(const std::vector<wire::Model>& models, std::int64_t created);

}  // namespace detail

}  // namespace mock_gateway
