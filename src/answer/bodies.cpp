// Error bodies, with the openai profile's codes and texts; the list of models.

#include "bodies.hpp"

#include <string_view>

#include "../core/text.hpp"
#include "../model/profile_traits.hpp"

namespace mock_gateway::detail {
namespace bodies {

void append_member(std::string& out, std::string_view name, std::string_view value) {
  text::append_json_string(out, name);
  out += ':';
  text::append_json_string(out, value);
}

/// The content of `error` in OpenAI's error bodies.
struct OpenAiError {
  std::string message;
  std::string type;
  std::string code;
};

std::string openai_type(int status) {
  if (status == 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/// OpenAI's spelling of the gateway's code. It distinguishes integers from decimals, which only the parameter shows.
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

OpenAiError openai_error(const Failure& failure) {
  if (failure.is_documented_authentication_failure()) {
    constexpr const char* type = "invalid_request_error";
    if (failure.status() == 401) return {"Incorrect API key provided.", type, "invalid_api_key"};
    if (failure.status() == 403) {
      return {"You have insufficient permissions for this operation.", type, "insufficient_permissions"};
    }
  }
  const bool type_chosen = failure.type() != "error";
  return {failure.message(), type_chosen ? failure.type() : openai_type(failure.status()), openai_code(failure)};
}

void append_model(std::string& out, const wire::Model& model, std::int64_t created) {
  out += '{';
  append_member(out, "id", model.id);
  out += R"(,"object":"model","created":)";
  out += std::to_string(created);
  out += ',';
  append_member(out, "owned_by", model.owner);
  out += '}';
}

}  // namespace bodies

std::string error_body(const Failure& failure, Profile profile) {
  if (failure.raw_body()) return *failure.raw_body();
  std::string out = R"({"error":{)";
  if (traits_of(profile).error_shape == ErrorShape::openai) {
    const bodies::OpenAiError error = bodies::openai_error(failure);
    bodies::append_member(out, "message", error.message);
    out += ',';
    bodies::append_member(out, "type", error.type);
    out += ',';
    if (failure.param().empty()) {
      out += R"("param":null)";
    } else {
      bodies::append_member(out, "param", failure.param());
    }
    out += ',';
    bodies::append_member(out, "code", error.code);
  } else {
    bodies::append_member(out, "code", failure.code());
    out += ',';
    bodies::append_member(out, "message", failure.message());
    out += ',';
    bodies::append_member(out, "type", failure.type());
  }
  return out += "}}";
}

std::string model_body(const wire::Model& model, std::int64_t created) {
  std::string out;
  bodies::append_model(out, model, created);
  return out;
}

std::string models_body(const std::vector<wire::Model>& models, std::int64_t created) {
  std::string out = R"({"object":"list","data":[)";
  for (const wire::Model& model : models) {
    if (out.back() != '[') out += ',';
    bodies::append_model(out, model, created);
  }
  return out += "]}";
}

}  // namespace mock_gateway::detail
