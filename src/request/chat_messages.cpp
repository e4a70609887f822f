// `messages` of a body: roles, content parts, tool calls and their results; their 400s and findings.

#include "chat_reader.hpp"

#include <set>
#include <string>
#include <string_view>

#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "../model/request_error.hpp"

namespace mock_gateway::detail {
namespace chat_fields {

void Reader::read_messages(const Json& value, const Path& path) {
  const Json::array_t& array = require_array(value, path);
  if (array.empty()) fail_value(path, "at least one message", value);
  request_.messages.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) read_message(array[index], Path(path, index));
}

std::string Reader::expected_role() const {
  return "one of " + quoted_list({"system", "user", "assistant", acceptance_.has(Extension::tool_role) ? "tool" : "",
                                  acceptance_.has(Extension::developer_role) ? "developer" : "",
                                  takes_function_role() ? "function" : ""});
}

/// Messages of role `function` belong to OpenAI's field `functions`.
bool Reader::takes_function_role() const {
  return acceptance_.has(Extension::openai_fields) || is_documented_by_service("functions");
}

std::string Reader::switched_off(const char* name) const {
  if (profile_.profile == Profile::openai) return std::string("the acceptance switch ") + name + " is off";
  return std::string("the acceptance switch ") + name + " accepts it, and so does the profile openai";
}

void Reader::read_message(const Json& value, const Path& path) {
  const Json::object_t& object = require_object(value, path);
  wire::Message& message = request_.messages.emplace_back();

  const Path role_path(path, "role");
  const Json* role = member(object, "role");
  if (role == nullptr) fail_missing(role_path, expected_role());
  if (!role->is_string()) fail_type(role_path, "a string", *role);
  message.role = role->get_ref<const std::string&>();
  const bool assistant = message.role == "assistant";
  const bool tool = acceptance_.has(Extension::tool_role) && message.role == "tool";
  const bool function = message.role == "function" && takes_function_role();
  const bool known = assistant || tool || function || message.role == "user" || message.role == "system" ||
                     (acceptance_.has(Extension::developer_role) && message.role == "developer");
  if (!known && message.role == "tool") {
    fail("invalid_value", role_path, expected_role(), R"("tool"; )" + switched_off("tool_role"));
  }
  if (!known && message.role == "developer")
    fail("invalid_value", role_path, expected_role(), R"("developer"; )" + switched_off("developer_role"));
  if (!known) fail_value(role_path, expected_role(), *role);
  if (message.role == "developer") note_extension(Extension::developer_role, role_path.to_string());
  if (function && !is_documented_by_service("functions"))
    note_extension(Extension::openai_fields, role_path.to_string());

  if (assistant) {
    const Path calls_path(path, "tool_calls");
    if (acceptance_.has(Extension::tool_calls_in_messages)) {
      if (const Json* calls = optional_member(object, "tool_calls")) read_tool_calls(*calls, calls_path, message);
    } else if (member(object, "tool_calls") != nullptr) {
      const std::string place = calls_path.to_string();
      throw RequestError{failure(400, "unknown_parameter",
                                 place + (profile_.profile == Profile::openai ? ": " : ": not a documented field; ") +
                                     switched_off("tool_calls_in_messages"))
                             .param(place)};
    }
  }
  read_content(member(object, "content"), Path(path, "content"), needs_no_content(object, message), message);
  if (const Json* name = optional_member(object, "name")) message.name = require_string(*name, Path(path, "name"));
  if (tool) {
    if (service_ != Profile::documented && member(object, "tool_call_id") == nullptr)
      breaks("tool_call_id_missing", Path(path, "tool_call_id").to_string());
    const Json& id = require_member(object, path, "tool_call_id", "a string");
    message.tool_call_id = require_string(id, Path(path, "tool_call_id"));
  }
}

void Reader::take_message(const Json& value) {
  if (!value.is_object()) return;
  const Json::object_t& object = value.get_ref<const Json::object_t&>();
  const auto take_string = [&object](std::string_view name, std::string& target) {
    const Json* string = member(object, name);
    if (string != nullptr && string->is_string()) target = string->get_ref<const std::string&>();
  };
  wire::Message& message = request_.messages.emplace_back();
  take_string("role", message.role);
  take_string("name", message.name);
  take_string("tool_call_id", message.tool_call_id);
  const Json* content = member(object, "content");
  if (content != nullptr && (content->is_string() || content->is_array())) message.content = *content;
  if (const Json* calls = member(object, "tool_calls")) {
    try {
      read_tool_calls(*calls, Path("tool_calls"), message);
    } catch (const RequestError&) {
      message.tool_calls.clear();
    }
  }
}

bool Reader::needs_no_content(const Json::object_t& object, const wire::Message& message) const {
  if (!acceptance_.has(Extension::null_content_with_tool_calls)) return false;
  if (!message.tool_calls.empty()) return true;
  if (!profile_.content_may_be_replaced) return false;
  if (message.role == "function") return true;
  if (message.role != "assistant") return false;
  // The profile's service sends these members instead of content, and clients send them back.
  for (const std::string_view name : {"refusal", "audio", "function_call"}) {
    const Json* value = member(object, name);
    if (value != nullptr && !value->is_null()) return true;
  }
  return false;
}

void Reader::read_content(const Json* value, const Path& path, bool may_be_null, wire::Message& message) {
  const bool parts = acceptance_.has(Extension::text_parts) || acceptance_.has(Extension::other_parts);
  const char* expected = parts ? "a string or an array of parts" : "a string";
  if (value == nullptr || value->is_null()) {
    if (may_be_null) return;
    // OpenAI has other texts for role developer.
    if (service_ != Profile::documented && message.role != "developer") breaks("content_missing", path.to_string());
    if (!message.tool_calls.empty()) {
      const std::string got = value == nullptr ? "nothing" : "null";
      fail(value == nullptr ? "missing_required_parameter" : "invalid_type", path, expected,
           got + "; " + switched_off("null_content_with_tool_calls"));
    }
    if (value == nullptr) fail_missing(path, expected);
    fail_type(path, expected, *value);
  }
  if (parts && value->is_array()) {
    // OpenAI accepts no parts, although its documentation asks for one.
    if (value->empty() && (service_ != Profile::openai || StrictAcceptance::takes_documented_fields(acceptance_)))
      fail_value(path, "at least one part", *value);
    check_parts(value->get_ref<const Json::array_t&>(), path);
  } else if (!value->is_string()) {
    fail_type(path, expected, *value);
  }
  message.content = *value;
}

void Reader::check_parts(const Json::array_t& parts, const Path& path) {
  for (std::size_t index = 0; index < parts.size(); ++index) {
    const Path part_path(path, index);
    const Json::object_t& part = require_object(parts[index], part_path);
    const Path type_path(part_path, "type");
    const Json& type = require_member(part, part_path, "type", "a string");
    const std::string& kind = require_string(type, type_path);
    const bool is_text = kind == "text";
    if (is_text ? !acceptance_.has(Extension::text_parts) : !acceptance_.has(Extension::other_parts)) {
      if (is_text) fail_value(type_path, "another type than \"text\"", type);
      fail("invalid_value", type_path, "\"text\"",
           "\"" + text::excerpt(kind, 60) + "\"; " + switched_off("other_parts"));
    }
    if (!is_text) note_extension(Extension::other_parts, type_path.to_string());
    if (is_text) require_string(require_member(part, part_path, "text", "a string"), Path(part_path, "text"));
    if (!profile_.checks_other_parts || (kind != "image_url" && kind != "input_audio" && kind != "file")) continue;
    const Path content_path(part_path, kind);
    const Json::object_t& content = require_object(require_member(part, part_path, kind, "an object"), content_path);
    const auto require_text = [&](std::string_view name) {
      require_string(require_member(content, content_path, name, "a string"), Path(content_path, name));
    };
    if (kind == "image_url") require_text("url");
    if (kind == "input_audio") {
      require_text("data");
      require_text("format");
    }
  }
}

void Reader::read_tool_calls(const Json& value, const Path& path, wire::Message& message) {
  const Json::array_t& array = require_array(value, path);
  message.tool_calls.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) {
    const Path call_path(path, index);
    const Json::object_t& call = require_object(array[index], call_path);
    wire::ToolCall& target = message.tool_calls.emplace_back();
    target.id = require_string(require_member(call, call_path, "id", "a string"), Path(call_path, "id"));
    target.custom = read_tool_type(call, call_path);
    const std::string_view kind = target.custom ? "custom" : "function";
    const std::string_view arguments = target.custom ? "input" : "arguments";
    const Path function_path(call_path, kind);
    const Json::object_t& function = require_object(require_member(call, call_path, kind, "an object"), function_path);
    target.name =
        require_string(require_member(function, function_path, "name", "a string"), Path(function_path, "name"));
    target.arguments =
        require_string(require_member(function, function_path, arguments, "a string"), Path(function_path, arguments));
  }
}

void Reader::check_tool_messages() {
  const std::vector<wire::Message>& messages = request_.messages;
  const auto place = [](std::size_t index) { return "messages[" + std::to_string(index) + "]"; };
  const auto quoted = [](const std::string& id) {
    std::string literal;
    text::append_json_string(literal, text::excerpt(id, 60));
    return literal;
  };
  std::set<std::string> known;
  for (std::size_t index = 0; index < messages.size(); ++index) {
    const wire::Message& message = messages[index];
    if (message.role == "tool" && known.count(message.tool_call_id) == 0) {
      add_finding(finding_kinds::tool_result_unknown_id,
                  place(index) + ".tool_call_id: no earlier call has the id " + quoted(message.tool_call_id) +
                      ". Send the id of the call, and keep the assistant message that contains the call.");
    }
    if (message.tool_calls.empty()) continue;
    std::set<std::string> answered;
    std::size_t end = index + 1;
    for (; end < messages.size() && messages[end].role == "tool"; ++end) answered.insert(messages[end].tool_call_id);
    std::string missing;
    std::size_t count = 0;
    for (const wire::ToolCall& call : message.tool_calls) {
      known.insert(call.id);
      if (!answered.insert(call.id).second) continue;
      if (++count <= 3) missing += (count == 1 ? "" : ", ") + quoted(call.id);
    }
    if (count == 0) continue;
    if (count > 3) missing += " and " + std::to_string(count - 3) + " more";
    add_finding(finding_kinds::tool_call_unanswered,
                place(index) + ".tool_calls: no tool message " +
                    (end < messages.size() ? "before " + place(end) : "up to the end of messages") + " answers " +
                    missing + ". Send each call's result right after the call.");
  }
}

}  // namespace chat_fields
}  // namespace mock_gateway::detail
