// What breaks each rule of `service_rules.hpp`; the 400 of the service, or a finding.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "../model/request_error.hpp"
#include "chat_reader.hpp"
#include "service_rules.hpp"

namespace mock_gateway::detail {
namespace service_rules {

std::vector<std::string> services() {
  std::vector<std::string> names;
  for (const Rule& rule : rules)
    if (names.empty() || names.back() != to_string(rule.service)) names.push_back(to_string(rule.service));
  return names;
}

/// Returns the member, or JSON null.
const Json& at(const Json& json, std::string_view key) {
  static const Json null;
  const Json* value = json.is_object() ? chat_fields::member(json.get_ref<const Json::object_t&>(), key) : nullptr;
  return value == nullptr ? null : *value;
}

bool contains(const Json& array, const Json& value) {
  return array.is_array() && std::find(array.begin(), array.end(), value) != array.end();
}

std::string in_quotes(std::string_view text) { return "'" + text::excerpt(text, 200) + "'"; }

std::string too_long(const char* what, std::size_t most, std::size_t length) {
  return std::to_string(most) + ", but got " + what + " with length " + std::to_string(length);
}

/// Returns the error of a schema, but not of its inner schemas; empty if it is valid.
using SchemaCheck = std::string (*)(const Json& schema);

/// Checks a schema and the schemas in it. `context` is its place as the elements of a tuple of Python.
std::string fault_in(const Json& schema, SchemaCheck check, const std::string& context = "") {
  if (!schema.is_object()) return {};
  if (const std::string fault = check(schema); !fault.empty())
    return "In context=(" + context + (context == "'items'" ? ",), " : "), ") + fault;
  const std::string before = context + (context.empty() ? "'" : ", '");
  std::string fault = fault_in(at(schema, "items"), check, before + "items'");
  for (const char* const key : {"properties", "anyOf", "$defs"})
    for (const auto& inner : at(schema, key).items())
      if (fault.empty()) fault = fault_in(inner.value(), check, before + key + "', " + in_quotes(inner.key()));
  return fault;
}

bool is_object_schema(const Json& schema) {
  return at(schema, "type") == "object" || contains(at(schema, "type"), "object");
}

std::string open_object(const Json& schema) {
  if (!is_object_schema(schema) || at(schema, "additionalProperties") == false) return {};
  return "'additionalProperties' is required to be supplied and to be false.";
}

std::string optional_property(const Json& schema) {
  const std::string rule =
      "'required' is required to be supplied and to be an array including every key in properties.";
  const Json& required = at(schema, "required");
  const Json& properties = at(schema, "properties");
  if (!is_object_schema(schema)) return {};
  for (const auto& property : properties.items())
    if (!contains(required, property.key())) return rule + " Missing " + in_quotes(property.key()) + ".";
  for (const Json& key : required)
    if (key.is_string() && at(properties, key.get_ref<const std::string&>()).is_null())
      return rule + " Extra required key " + in_quotes(key.get<std::string>()) + " supplied.";
  return {};
}

std::string untyped_array(const Json& schema) {
  const bool has_items = !at(schema, "items").is_null() || !at(schema, "prefixItems").is_null();
  return at(schema, "type") == "array" && !has_items ? "array schema missing items." : "";
}

/// OpenAI accepts an empty object. It is not known what it says about references, unions and maps.
std::string fault_in_parameters(const Json& schema) {
  const Json& type = at(schema, "type");
  if (!schema.is_object() || schema.empty()) return {};
  if ((type.is_null() && !schema.contains("$ref")) || (type.is_string() && type != "object"))
    return "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"" +
           (type.is_null() ? "None" : text::excerpt(type.get<std::string>(), 200)) + "\"'.";
  if (type == "object" && !schema.contains("properties") && !schema.contains("$ref") && !schema.contains("anyOf") &&
      !at(schema, "additionalProperties").is_object())
    return "In context=(), object schema missing properties.";
  return fault_in(schema, &untyped_array);
}

struct Range {
  const char* name;
  std::int64_t least;
  std::int64_t most;
  bool is_integer = false;
};

inline constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
inline constexpr Range ranges[] = {
    {"temperature", 0, 2},         {"top_p", 0, 1},
    {"presence_penalty", -2, 2},   {"frequency_penalty", -2, 2},
    {"n", 1, 128, true},           {"max_tokens", 1, any_number, true},
    {"top_logprobs", 0, 20, true}, {"max_completion_tokens", 1, any_number, true},
};

/// Models of version 4 think unless the request says otherwise, and so do Kimi's.
bool deepseek_thinks(const ChatRequest& request) {
  const Json& type = at(at(request.body, "thinking"), "type");
  const bool usually =
      request.model.rfind("deepseek-v4", 0) == 0 || request.model.find("kimi-k2.") != std::string::npos;
  return type.is_null() ? usually : type == "enabled";
}

}  // namespace service_rules

namespace chat_fields {

void Reader::breaks(std::string_view name, std::string at, const std::string& got) const {
  const bool is_enforced = limits_.enforced != Profile::documented;
  const auto rule = std::find_if(std::begin(service_rules::rules), std::end(service_rules::rules),
                                 [&](const auto& row) { return row.service == service_ && row.name == name; });
  if (rule == std::end(service_rules::rules)) return;
  const auto is_it = [name](const auto& finding) { return finding.code == name; };
  const bool is_known = std::any_of(finding_kinds::all.begin(), finding_kinds::all.end(), is_it) ||
                        std::any_of(request_.findings.begin(), request_.findings.end(), is_it);
  if (!is_enforced && is_known) return;
  std::string message = rule->text;
  for (std::size_t mark = 0; (mark = message.find('{', mark)) != message.npos;) {
    const std::string& value = message.compare(mark, 4, "{at}") == 0 ? at : got;
    message.replace(mark, message.find('}', mark) + 1 - mark, value);
    mark += value.size();
  }
  if (!is_enforced) {
    const char* const title = service_ == Profile::openai      ? "OpenAI"
                              : service_ == Profile::dashscope ? "DashScope"
                                                               : "DeepSeek";
    message = message.substr(0, message.find_last_not_of('.') + 1) + "; " + title + " refuses it with 400. --enforce " +
              to_string(service_) + " does the same.";
    return add_finding({rule->name, rule->severity, false}, std::move(message));
  }
  // OpenAI writes the path differently in errors without a code.
  if (rule->code == nullptr && at.rfind("messages[", 0) == 0) at.insert(8, ".");
  Failure refusal = failure(400, rule->name, message);
  // The form of DashScope's profile has the id of the request.
  if (service_ == Profile::dashscope && profile_.profile == service_) throw RequestError{refusal};
  Json error = {{"message", message}, {"type", "invalid_request_error"}, {"param", nullptr}, {"code", nullptr}};
  if (service_ == Profile::openai) error["param"] = at;
  if (rule->code != nullptr) error["code"] = rule->code;
  throw RequestError{refusal.json_body({{"error", std::move(error)}})};
}

void Reader::judge_fields() const {
  const auto has = [this](Field field) { return fields_[field] != nullptr && !fields_[field]->is_null(); };
  if (has(messages) && *fields_[messages] == Json::array()) breaks("messages_empty", "messages");
  if (!has(tools) && has(tool_choice)) breaks("tool_choice_without_tools", "tool_choice");
  if (!has(tools) && has(parallel_tool_calls)) breaks("parallel_tool_calls_without_tools", "parallel_tool_calls");
  const auto calls = request_.body.find("parallel_tool_calls");
  if (calls != request_.body.end() && calls->is_null()) breaks("parallel_tool_calls_null", "parallel_tool_calls");
  if (has(top_logprobs) && !(has(logprobs) && *fields_[logprobs] == true))
    breaks("top_logprobs_without_logprobs", "top_logprobs");
  if (has(stream_options) && !(has(stream) && *fields_[stream] == true))
    breaks("stream_options_without_stream", "stream_options");
  if (has(max_tokens) && !service_rules::at(request_.body, "max_completion_tokens").is_null())
    breaks("max_tokens_twice", "max_tokens");
  for (const service_rules::Range& range : service_rules::ranges) {
    const Json& value = service_rules::at(request_.body, range.name);
    const std::int64_t most = range.name == std::string_view("n") ? limits_.max_n : range.most;
    const double number = value.is_number() ? value.get<double>() : 1.0;  // 1 is in every range
    const bool is_small = number < static_cast<double>(range.least);
    if (!is_small && number <= static_cast<double>(most)) continue;
    const std::string got = std::to_string(is_small ? range.least : most) + ", but got " + value.dump();
    if (range.is_integer && is_small)
      breaks("integer_too_small", range.name, got);
    else if (range.is_integer)
      breaks("integer_too_large", range.name, got);
    else if (is_small)
      breaks("decimal_too_small", range.name, got);
    else
      breaks("decimal_too_large", range.name, got);
  }
}

void Reader::judge_name(const std::string& name, const Path& path) const {
  constexpr const char* allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (name.find_first_not_of(allowed) != std::string::npos) breaks("tool_name_invalid", path.to_string());
  judge_length("tool_name_too_long", name, 64, path);
}

void Reader::judge_length(std::string_view rule, const std::string& text, std::size_t most, const Path& path) const {
  const std::size_t length = text::code_points(text);
  if (length > most) breaks(rule, path.to_string(), service_rules::too_long("a string", most, length));
}

void Reader::judge_message(const wire::Message& message, const Json& sent, const Path& path) const {
  const Path calls_path(path, "tool_calls");
  const Json& calls = service_rules::at(sent, "tool_calls");
  const std::size_t count = message.tool_calls.size();
  if (calls.is_array() && calls.empty()) breaks("tool_calls_empty", calls_path.to_string());
  if (count > 128) breaks("tools_too_many", calls_path.to_string(), service_rules::too_long("an array", 128, count));
  for (std::size_t index = 0; index < count; ++index) {
    const Path call_path(calls_path, index);
    const wire::ToolCall& call = message.tool_calls[index];
    judge_length("tool_call_id_too_long", call.id, 40, Path(call_path, "id"));
    if (!call.custom) judge_name(call.name, Path(Path(call_path, "function"), "name"));
  }
  judge_length("tool_call_id_too_long", message.tool_call_id, 40, Path(path, "tool_call_id"));
  if (count > 0 && fields_[tools] != nullptr && service_rules::at(sent, "reasoning_content").is_null() &&
      service_rules::deepseek_thinks(request_))
    breaks("reasoning_not_returned", path.to_string());
}

void Reader::judge_tools() const {
  const std::size_t count = request_.tools.size();
  if (fields_[tools] != nullptr && count == 0) breaks("tools_empty", "tools");
  if (count > 128) breaks("tools_too_many", "tools", service_rules::too_long("an array", 128, count));
  const Path tools_path("tools");
  for (std::size_t index = 0; index < count; ++index) {
    const wire::Tool& tool = request_.tools[index];
    const Path tool_path(tools_path, index);
    const Path path(tool_path, "function");
    if (tool.custom) continue;
    judge_name(tool.name, Path(path, "name"));
    const auto judge = [&](const char* rule, const std::string& fault) {
      const std::string got = service_rules::in_quotes(tool.name) + ": " + fault;
      if (!fault.empty()) breaks(rule, Path(path, "parameters").to_string(), got);
    };
    judge("tool_schema_invalid", service_rules::fault_in_parameters(tool.parameters));
    if (!tool.strict) continue;
    judge("tool_schema_open", service_rules::fault_in(tool.parameters, &service_rules::open_object));
    judge("tool_schema_optional", service_rules::fault_in(tool.parameters, &service_rules::optional_property));
  }
}

void Reader::judge_response_format() const {
  if (!request_.response_format) return;
  const wire::ResponseFormat& format = *request_.response_format;
  const auto judge = [&](const char* rule, const std::string& fault) {
    if (!fault.empty()) breaks(rule, "response_format", service_rules::in_quotes(format.name) + ": " + fault);
  };
  if (format.strict) judge("response_schema_open", service_rules::fault_in(format.schema, &service_rules::open_object));
  if (format.strict)
    judge("response_schema_optional", service_rules::fault_in(format.schema, &service_rules::optional_property));
  // Names and arguments of tool calls count too, because it is not known whether OpenAI looks there.
  if (format.kind == wire::ResponseFormat::Kind::json_object &&
      text::lower_ascii(fields_[messages]->dump()).find("json") == std::string::npos)
    breaks("json_not_asked_for", "messages");
}

void Reader::judge_pairs() const {
  std::vector<std::pair<std::string, std::size_t>> calls;  // before the tool messages: ids, and their results or 0
  for (std::size_t index = 0; index <= request_.messages.size(); ++index) {
    const bool is_end = index == request_.messages.size();
    const auto place = [index](const char* member) { return "messages[" + std::to_string(index) + "]." + member; };
    if (is_end || request_.messages[index].role != "tool") {
      std::string missing;
      for (const auto& call : calls)
        if (call.second == 0) missing += (missing.empty() ? "" : ", ") + text::excerpt(call.first, 200);
      if (!missing.empty()) breaks("tool_call_unanswered", is_end ? "messages" : place("role"), missing);
      calls.clear();
      if (is_end) return;
      for (const wire::ToolCall& call : request_.messages[index].tool_calls) calls.emplace_back(call.id, 0);
      continue;
    }
    const std::string& id = request_.messages[index].tool_call_id;
    auto call = std::find(calls.begin(), calls.end(), std::pair(id, std::size_t{0}));
    if (call == calls.end())
      call = std::find_if(calls.begin(), calls.end(), [&id](const auto& one) { return one.first == id; });
    if (calls.empty())
      breaks("tool_result_unknown_id", place("role"),
             "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
    else if (call == calls.end() && service_ != Profile::openai)
      continue;  // refused for the call without a result
    else if (call == calls.end())
      breaks("tool_result_unknown_id", place("tool_call_id"),
             "'tool_call_id' of " + service_rules::in_quotes(id) + " not found in 'tool_calls' of previous message.");
    else if (call->second != 0)
      breaks("tool_result_repeated", place("tool_call_id"),
             service_rules::in_quotes(id) + ", in messages[" + std::to_string(call->second) + "] and messages[" +
                 std::to_string(index) + "]");
    else
      call->second = index;
  }
}

void Reader::judge() const {
  const Json& sent = *fields_[messages];
  const Path messages_path("messages");
  for (std::size_t index = 0; index < request_.messages.size() && sent.size() == request_.messages.size(); ++index)
    judge_message(request_.messages[index], sent[index], Path(messages_path, index));
  judge_tools();
  judge_response_format();
  const std::size_t stops = request_.stop.size();
  if (stops > 4) breaks("stops_too_many", "stop", service_rules::too_long("an array", 4, stops));
  const bool thinks = request_.enable_thinking.value_or(false);
  // DashScope's newer models think without streaming too.
  if (thinks && !request_.stream && request_.model.rfind("qwen3.", 0) != 0)
    breaks("thinking_without_stream", "enable_thinking");
  const Json& choice = service_rules::at(request_.body, "tool_choice");
  if ((choice == "required" || choice.is_object()) &&
      (service_ == Profile::dashscope ? thinks : service_rules::deepseek_thinks(request_)))
    breaks("tool_choice_while_thinking", "tool_choice");
  judge_pairs();
}

}  // namespace chat_fields
}  // namespace mock_gateway::detail
