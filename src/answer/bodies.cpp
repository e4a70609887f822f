// Error bodies, with the openai profile's codes and texts; the list of models.

#include "bodies.hpp"

#include <utility>

#include "../core/json.hpp"
#include "../model/profile_traits.hpp"

namespace mock_gateway::detail {
namespace bodies {

/// Serializes JSON. Replaces bytes in strings that are not UTF-8.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string openai_type(int status) {
  if (status == 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/// Returns OpenAI's name for the gateway's error code. OpenAI has separate codes for integer and decimal limits.
std::string openai_code(const Failure& failure) {
  const std::string& param = failure.param();
  const bool below = failure.code() == "value_below_minimum";
  if (!param.empty() && (below || failure.code() == "value_above_maximum")) {
    const bool integer = param == "n" || param == "max_tokens" || param == "max_completion_tokens" || param == "seed" ||
                         param == "top_logprobs";
    return std::string(integer ? "integer" : "decimal") + (below ? "_below_min_value" : "_above_max_value");
  }
  if (failure.code() == "unknown_path") return "unknown_url";
  return failure.code();
}

/// Returns the content of `error` in OpenAI's error bodies.
Json openai_error(const Failure& failure) {
  const bool type_chosen = failure.type() != "error";
  Json error = {{"message", failure.message()},
                {"type", type_chosen ? failure.type() : openai_type(failure.status())},
                {"param", failure.param().empty() ? Json() : Json(failure.param())},
                {"code", openai_code(failure)}};
  const bool is_authentication = failure.is_documented_authentication_failure();
  if (is_authentication && failure.status() == 401) {
    error["message"] = "Incorrect API key provided.";
    error["type"] = "invalid_request_error";
    error["code"] = "invalid_api_key";
  } else if (is_authentication && failure.status() == 403) {
    error["message"] = "You have insufficient permissions for this operation.";
    error["type"] = "invalid_request_error";
    error["code"] = "insufficient_permissions";
  }
  return error;
}

Json json_of(const wire::Model& model, std::int64_t created) {
  return {{"id", model.id}, {"object", "model"}, {"created", created}, {"owned_by", model.owner}};
}

}  // namespace bodies

std::string error_body(const Failure& failure, Profile profile) {
  if (failure.raw_body()) return *failure.raw_body();
  Json error = {{"code", failure.code()}, {"message", failure.message()}, {"type", failure.type()}};
  if (traits_of(profile).error_shape == ErrorShape::openai) error = bodies::openai_error(failure);
  return bodies::text_of({{"error", std::move(error)}});
}

std::string model_body(const wire::Model& model, std::int64_t created) {
  return bodies::text_of(bodies::json_of(model, created));
}

std::string models_body(const std::vector<wire::Model>& models, std::int64_t created) {
  Json data = Json::array();
  for (const wire::Model& model : models) data.push_back(bodies::json_of(model, created));
  return bodies::text_of({{"object", "list"}, {"data", std::move(data)}});
}

}  // namespace mock_gateway::detail
