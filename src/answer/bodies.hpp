#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../model/failure.hpp"
#include "../model/profile.hpp"

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

/// Returns the body of an error answer: scripted, or else `{"error":{"code","message","type"}}`. The openai profile
/// sends `{"error":{"message","type","param","code"}}`, with OpenAI's texts for documented failures.
std::string error_body(const Failure& failure, Profile profile);

/// Returns `{"id", "object":"model", "created", "owned_by"}`.
std::string model_body(const wire::Model& model, std::int64_t created);
/// Returns `{"object":"list","data":[…]}`.
std::string models_body(const std::vector<wire::Model>& models, std::int64_t created);

}  // namespace detail

}  // namespace mock_gateway
