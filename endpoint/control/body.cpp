// Errors about request bodies: invalid JSON and unknown keys.

#include "body.hpp"

#include <utility>

namespace mock_gateway {
namespace endpoint {

ControlBody::ControlBody(const std::string& text, const std::string& label) {
  if (text.empty()) throw ControlError(400, "invalid_json", "the request has no body, and this route needs one: JSON");
  internal::Problems problems;
  json_.emplace(text, label, problems);
  if (!problems.empty()) throw error_of("invalid_json", std::move(problems));
}

void ControlBody::require_keys(const std::vector<std::string>& keys) const {
  if (std::optional<ScriptProblem> problem = json_->unknown_key(keys))
    throw error_of("invalid_request", {std::move(*problem)});
}

ControlError ControlBody::error(const std::string& pointer, const std::string& message) const {
  return error_of("invalid_request", {json_->problem(pointer, message)});
}

}  // namespace endpoint
}  // namespace mock_gateway
