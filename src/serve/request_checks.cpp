// The accepted content types; the texts of 415, of 404 for a model, and of 400 `context_length_exceeded`.

#include "served_request.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../core/json_reader.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "../model/finding_kinds.hpp"
#include "../script/excerpts.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {
namespace content_type {

enum class Form { json, form, other };

/// Returns the coding of the body, such as gzip, or null.
const std::string* coding_of(const ReceivedRequest& request) {
  const std::string* const coding = value_of(request.headers, "Content-Encoding");
  return coding && !coding->empty() && !text::equals_ignoring_case(*coding, "identity") ? coding : nullptr;
}

Form form_of(const ReceivedRequest& request, const Acceptance& acceptance) {
  if (coding_of(request)) return Form::other;
  const std::string* const sent = value_of(request.headers, "Content-Type");
  if (!sent || sent->empty() || acceptance.has(Extension::anything_with_model_and_messages)) return Form::json;
  const std::size_t semicolon = sent->find(';');
  const std::string_view type = text::trim(std::string_view(*sent).substr(0, semicolon));
  if (text::equals_ignoring_case(type, "application/json"))
    return semicolon == std::string::npos || acceptance.has(Extension::content_type_parameters) ? Form::json
                                                                                                : Form::other;
  const bool is_form = text::equals_ignoring_case(type, "application/x-www-form-urlencoded");
  return is_form && acceptance.has(Extension::json_as_form) ? Form::form : Form::other;
}

}  // namespace content_type

bool may_hold_json(const ReceivedRequest& request, const Acceptance& acceptance) {
  return content_type::form_of(request, acceptance) != content_type::Form::other;
}

bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance) {
  const content_type::Form form = content_type::form_of(request, acceptance);
  return form == content_type::Form::json ||
         (form == content_type::Form::form && !read_json_if_valid(request.body).is_discarded());
}

Failure unsupported_content_type(const ReceivedRequest& request) {
  if (const std::string* const coding = content_type::coding_of(request))
    return failure(415, "unsupported_content_encoding",
                   "Content-Encoding: the gateway reads no compressed bodies, got \"" +
                       text::excerpt(text::as_utf8(*coding), 100) + "\"");
  const std::string sent = text::as_utf8(request.headers.find("Content-Type").value_or(""));
  return failure(415, "unsupported_content_type",
                 "Content-Type: expected application/json, got \"" + text::excerpt(sent, 100) + "\"");
}

bool may_use(const ApiKey& key, const std::string& model) {
  return key.models.empty() || std::find(key.models.begin(), key.models.end(), model) != key.models.end();
}

Failure model_not_found(const std::string& model, const GatewayState& gateway, const ApiKey& key) {
  constexpr std::size_t most = 5;
  std::vector<std::string> usable;
  for (const wire::Model& served : gateway.models.given())
    if (may_use(key, served.id)) usable.push_back(text::excerpt(served.id, 60));
  std::string others;
  for (std::size_t i = 0; i < std::min(usable.size(), most); ++i) others += (i == 0 ? "" : ", ") + usable[i];
  if (usable.size() > most) others += " and " + std::to_string(usable.size() - most) + " more";
  return failure(404, "model_not_found",
                 "the model \"" + text::as_utf8(model) + "\" does not exist; the gateway serves " + others +
                     "; --model, Options::model or \"models\" of a script add one")
      .param("model");
}

bool refuse_model(ServedRequest& served, const std::string& model) {
  if (!may_use(served.presented.key, model)) return served.reject(forbidden());
  GatewayState& gateway = served.gateway;
  if (!gateway.models.find(model)) return served.reject(model_not_found(model, gateway, served.presented.key));
  // Keys in the request are masked by now: a masked id is no model.
  if (model.find(secrets::masked) == std::string::npos) gateway.models.ask(model);
  const bool asks_for_answer = served.request.method == "POST";
  if (asks_for_answer && !gateway.models.is_named(model))
    served.findings.push_back(finding_kinds::unlisted_model.make(
        "model " + excerpts::quoted(model) +
        ": not listed, but the gateway serves any model. To serve only listed models, list them with --model, "
        "Options::model or \"models\" of a script."));
  return false;
}

std::optional<Failure> context_length_exceeded(const GatewayState& gateway, const ChatRequest& chat) {
  const std::optional<std::size_t> window = gateway.models.context_window(chat.model);
  if (!window) return std::nullopt;
  const std::uint64_t prompt = gateway.tokens.count_prompt(chat);
  const auto completion = static_cast<std::uint64_t>(std::max<std::int64_t>(chat.max_tokens.value_or(0), 0));
  if (prompt + completion <= *window) return std::nullopt;
  const std::string asked = completion == 0 ? "your messages resulted in " + std::to_string(prompt) + " tokens. "
                                            : "you requested " + std::to_string(prompt + completion) + " tokens (" +
                                                  std::to_string(prompt) + " in the messages, " +
                                                  std::to_string(completion) + " in the completion). ";
  return failure(400, "context_length_exceeded",
                 "This model's maximum context length is " + std::to_string(*window) + " tokens. However, " + asked +
                     "Please reduce the length of the messages" + (completion == 0 ? "." : " or completion."))
      .param("messages");
}

bool refuse_length(ServedRequest& served) {
  const auto busy = busy_with(served.connection, served.gateway.settings.tokenizer);
  const auto refusal = context_length_exceeded(served.gateway, *served.chat);
  return refusal && served.reject(*refusal);
}

}  // namespace mock_gateway::detail
