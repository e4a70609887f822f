// The fields of an embeddings request, the limits of inputs and dimensions; findings about unknown fields.

#include "embedding_request.hpp"

#include <algorithm>
#include <array>

#include "../core/json_reader.hpp"
#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "../model/finding_kinds.hpp"
#include "../model/request_error.hpp"
#include "chat_fields.hpp"

namespace mock_gateway::detail {
namespace embedding_request {

using namespace chat_fields;

inline constexpr std::array<std::string_view, 5> documented = {"model", "input", "encoding_format", "dimensions",
                                                               "user"};
/// OpenAI's limit.
inline constexpr std::size_t most_inputs = 2048;
/// Twice the size of the largest known model.
inline constexpr std::int64_t most_dimensions = 8192;
inline constexpr std::int64_t largest_token = 0x7fffffff;
inline constexpr const char* expected_input = "a string, an array of strings, or tokens";

EmbeddingInput input_of(const Json& value, const Path& path) {
  if (value.is_string()) return {require_filled_string(value, path), {}};
  if (!value.is_array()) fail_type(path, expected_input, value);
  const Json::array_t& tokens = require_array(value, path);
  if (tokens.empty()) fail_value(path, "at least one token", value);
  EmbeddingInput input;
  for (std::size_t index = 0; index < tokens.size(); ++index)
    input.tokens.push_back(require_integer(tokens[index], Path(path, index), 0, largest_token));
  return input;
}

void read_input(const Json& value, EmbeddingRequest& request) {
  const Path path("input");
  if (!value.is_array() || (!value.empty() && value[0].is_number())) {
    request.inputs.push_back(input_of(value, path));
    return;
  }
  const Json::array_t& all = require_array(value, path);
  if (all.empty() || all.size() > most_inputs)
    fail("invalid_value", path, "1 to " + std::to_string(most_inputs) + " inputs", std::to_string(all.size()));
  for (std::size_t index = 0; index < all.size(); ++index)
    request.inputs.push_back(input_of(all[index], Path(path, index)));
}

void read_format(const Json& value, EmbeddingRequest& request) {
  const Path path("encoding_format");
  const std::string& format = require_string(value, path);
  if (format != "float" && format != "base64") fail_value(path, R"("float" or "base64")", value);
  request.base64 = format == "base64";
}

}  // namespace embedding_request

EmbeddingRequest parse_embedding_request(std::string_view body, const Acceptance& acceptance) {
  using namespace embedding_request;
  if (body.empty()) throw RequestError{failure(400, "invalid_json", "invalid JSON: the body is empty")};
  Json parsed;
  try {
    parsed = read_json(body, JsonReadOptions());
  } catch (const JsonError& error) {
    throw RequestError{failure(400, "invalid_json", error.what())};
  }
  EmbeddingRequest request;
  const Json::object_t& fields = require_object(parsed, Path("body"));
  const auto sent = [&](std::string_view name) {
    const Json* value = member(fields, name);
    return value != nullptr && value->is_null() && acceptance.has(Extension::null_as_absent) ? nullptr : value;
  };
  for (const auto& [name, value] : fields) {
    if (std::find(documented.begin(), documented.end(), name) != documented.end()) continue;
    const std::string shown = text::excerpt(name, 60);
    const std::string message = shown + ": OpenAI documents no such field of embeddings; leave it out";
    if (!acceptance.has(Extension::unknown_fields))
      throw RequestError{failure(400, "unknown_parameter", message).param(shown)};
    request.findings.push_back(finding_kinds::unknown_field.make(message + "."));
    if (request.findings.size() >= 100) break;
  }
  if (sent("model") == nullptr) fail_missing(Path("model"), "a string");
  request.model = require_filled_string(*sent("model"), Path("model"));
  if (sent("input") == nullptr) fail_missing(Path("input"), expected_input);
  read_input(*sent("input"), request);
  if (const Json* format = sent("encoding_format")) read_format(*format, request);
  if (const Json* dimensions = sent("dimensions"))
    request.dimensions = static_cast<std::size_t>(require_integer(*dimensions, Path("dimensions"), 1, most_dimensions));
  if (const Json* user = sent("user")) require_string(*user, Path("user"));
  return request;
}

}  // namespace mock_gateway::detail
