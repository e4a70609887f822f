// The parsed chat request: texts of its enums, the 400 of an empty or invalid body.

#include "chat_request.hpp"

#include <algorithm>
#include <ostream>

#include "../core/json_reader.hpp"
#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "../model/request_error.hpp"
#include "chat_fields.hpp"
#include "chat_parser.hpp"
#include "chat_reader.hpp"

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

Json wire::ToolCall::json() const {
  Json value = detail::read_json_if_valid(arguments);
  return value.is_discarded() ? Json() : value;
}

std::string wire::Message::text() const {
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

std::string ChatRequest::last_user_text() const {
  const auto last = std::find_if(messages.rbegin(), messages.rend(),
                                 [](const wire::Message& message) { return message.role == "user"; });
  return last == messages.rend() ? std::string{} : last->text();
}

bool ChatRequest::has_tool(std::string_view name) const { return tool(name) != nullptr; }

const wire::Tool* ChatRequest::tool(std::string_view name) const {
  const auto found =
      std::find_if(tools.begin(), tools.end(), [name](const wire::Tool& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

std::string wire::to_string(wire::ToolChoice::Mode mode) {
  switch (mode) {
    case wire::ToolChoice::Mode::none: return "none";
    case wire::ToolChoice::Mode::automatic: return "automatic";
    case wire::ToolChoice::Mode::required: return "required";
    case wire::ToolChoice::Mode::named: return "named";
  }
  return "unknown";
}

std::ostream& wire::operator<<(std::ostream& out, wire::ToolChoice::Mode mode) { return out << to_string(mode); }

std::string wire::to_string(wire::ResponseFormat::Kind kind) {
  switch (kind) {
    case wire::ResponseFormat::Kind::text: return "text";
    case wire::ResponseFormat::Kind::json_object: return "json_object";
    case wire::ResponseFormat::Kind::json_schema: return "json_schema";
  }
  return "unknown";
}

std::ostream& wire::operator<<(std::ostream& out, wire::ResponseFormat::Kind kind) { return out << to_string(kind); }

}  // namespace mock_gateway
