#include "chat_request.hpp"

#include <algorithm>
#include <ostream>

#include "../core/json_reader.hpp"
#include "../core/text.hpp"
#include "chat_fields.hpp"
#include "chat_parser.hpp"
#include "chat_reader.hpp"
#include "failure.hpp"
#include "request_error.hpp"

namespace mock_gateway {
namespace detail {

ChatRequest parse_chat_request(std::string_view body, const Acceptance& acceptance, const ChatLimits& limits) {
  if (body.empty()) throw RequestError{failure(400, "invalid_json", "invalid JSON: the body is empty")};
  ChatRequest request;
  std::vector<JsonDuplicate> duplicates;
  JsonReadOptions options;
  options.duplicates = &duplicates;
  try {
    request.body = read_json(body, options);
  } catch (const JsonError& error) {
    throw RequestError{failure(400, "invalid_json", error.what())};
  }
  chat_fields::Reader(acceptance, limits, request).read(duplicates);
  return request;
}

}  // namespace detail

Json ToolCall::json() const {
  Json value = detail::read_json_if_valid(arguments);
  return value.is_discarded() ? Json() : value;
}

Message::Message() = default;
Message::Message(const Message&) = default;
Message::Message(Message&&) noexcept = default;
Message& Message::operator=(const Message&) = default;
Message& Message::operator=(Message&&) noexcept = default;
Message::~Message() = default;

std::string Message::text() const {
  if (content.is_string()) return content.get_ref<const std::string&>();
  std::string joined;
  if (!content.is_array()) return joined;
  for (const Json& part : content) {
    if (!part.is_object()) continue;
    const auto& members = part.get_ref<const Json::object_t&>();
    const Json* type = detail::chat_fields::member(members, "type");
    const Json* value = detail::chat_fields::member(members, "text");
    if (type != nullptr && *type == "text" && value != nullptr && value->is_string()) {
      joined += value->get_ref<const std::string&>();
    }
  }
  return joined;
}

Tool::Tool() = default;
Tool::Tool(const Tool&) = default;
Tool::Tool(Tool&&) noexcept = default;
Tool& Tool::operator=(const Tool&) = default;
Tool& Tool::operator=(Tool&&) noexcept = default;
Tool::~Tool() = default;

ResponseFormat::ResponseFormat() = default;
ResponseFormat::ResponseFormat(const ResponseFormat&) = default;
ResponseFormat::ResponseFormat(ResponseFormat&&) noexcept = default;
ResponseFormat& ResponseFormat::operator=(const ResponseFormat&) = default;
ResponseFormat& ResponseFormat::operator=(ResponseFormat&&) noexcept = default;
ResponseFormat::~ResponseFormat() = default;

ChatRequest::ChatRequest() = default;
ChatRequest::ChatRequest(const ChatRequest&) = default;
ChatRequest::ChatRequest(ChatRequest&&) noexcept = default;
ChatRequest& ChatRequest::operator=(const ChatRequest&) = default;
ChatRequest& ChatRequest::operator=(ChatRequest&&) noexcept = default;
ChatRequest::~ChatRequest() = default;

std::string ChatRequest::last_user_text() const {
  const auto last =
      std::find_if(messages.rbegin(), messages.rend(), [](const Message& message) { return message.role == "user"; });
  return last == messages.rend() ? std::string{} : last->text();
}

bool ChatRequest::has_tool(std::string_view name) const { return tool(name) != nullptr; }

const Tool* ChatRequest::tool(std::string_view name) const {
  const auto found = std::find_if(tools.begin(), tools.end(), [name](const Tool& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

std::string to_string(ToolChoice::Mode mode) {
  switch (mode) {
    case ToolChoice::Mode::none: return "none";
    case ToolChoice::Mode::automatic: return "automatic";
    case ToolChoice::Mode::required: return "required";
    case ToolChoice::Mode::named: return "named";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, ToolChoice::Mode mode) { return out << to_string(mode); }

std::string to_string(ResponseFormat::Kind kind) {
  switch (kind) {
    case ResponseFormat::Kind::text: return "text";
    case ResponseFormat::Kind::json_object: return "json_object";
    case ResponseFormat::Kind::json_schema: return "json_schema";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, ResponseFormat::Kind kind) { return out << to_string(kind); }

}  // namespace mock_gateway
