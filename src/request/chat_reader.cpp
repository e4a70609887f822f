// All fields of a body: order, allowed values, unknown fields and hints about them, findings about fields.

#include "chat_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "../model/request_error.hpp"

namespace mock_gateway::detail {
namespace chat_fields {

inline constexpr std::array<std::string_view, field_count> field_names = {"model",
                                                                          "messages",
                                                                          "stream",
                                                                          "stream_options",
                                                                          "temperature",
                                                                          "top_p",
                                                                          "max_tokens",
                                                                          "max_completion_tokens",
                                                                          "presence_penalty",
                                                                          "n",
                                                                          "seed",
                                                                          "stop",
                                                                          "tools",
                                                                          "tool_choice",
                                                                          "parallel_tool_calls",
                                                                          "response_format",
                                                                          "enable_thinking",
                                                                          "repetition_penalty",
                                                                          "logprobs",
                                                                          "top_logprobs"};

/// The maximum number of findings, for requests with thousands of unknown fields or duplicate keys.
inline constexpr std::size_t max_findings = 100;

void Reader::read(const std::vector<JsonDuplicate>& duplicates) {
  if (!duplicates.empty()) check_duplicates(duplicates);
  const Path root("body");
  collect(require_object(request_.body, root));
  if (service_ != Profile::documented) judge_fields();
  read_all(acceptance_.has(Extension::anything_with_model_and_messages));
  check_tool_messages();
  if (service_ != Profile::documented) judge();
  if (request_.temperature && request_.top_p) {
    add_finding(finding_kinds::temperature_and_top_p, "temperature and top_p are both given; set one of them.");
  }
  if (fields_[tool_choice] == nullptr && !request_.tools.empty()) {
    request_.tool_choice.mode = wire::ToolChoice::Mode::automatic;
  }
}

const Json* Reader::optional_member(const Json::object_t& object, std::string_view name) const {
  const Json* value = member(object, name);
  return value != nullptr && value->is_null() && is_absent_as_null(name) ? nullptr : value;
}

bool Reader::is_absent_as_null(std::string_view name) const {
  return acceptance_.has(Extension::null_as_absent) ||
         (StrictAcceptance::takes_documented_nulls(acceptance_) && profile_.nullable_fields.has(name));
}

void Reader::add_finding(const finding_kinds::Kind& kind, std::string message) const {
  if (request_.findings.size() < max_findings) request_.findings.push_back(kind.make(std::move(message)));
}

void Reader::note_extension(Extension extension, const std::string& place) const {
  const ExtensionRow& row = extensions[static_cast<std::size_t>(extension)];
  if (row.taken_by != TakenBy::openai || profile_.documented().has(row.extension)) return;
  add_finding(finding_kinds::beyond_documentation,
              place + ": documented by OpenAI but not by the gateway; accepted because of the acceptance switch " +
                  row.name + " takes it.");
}

void Reader::check_duplicates(const std::vector<JsonDuplicate>& duplicates) {
  for (const JsonDuplicate& duplicate : duplicates) {
    const std::string object = duplicate.object.empty() ? "body" : duplicate.object;
    const std::string what = object + ": the key \"" + text::excerpt(duplicate.key, 60) + "\" occurs more than once";
    if (!acceptance_.has(Extension::unknown_fields)) {
      throw RequestError{failure(400, "invalid_json", "invalid JSON: " + what).param(object)};
    }
    add_finding(finding_kinds::duplicate_key, what + "; the last one counts. Send it once.");
  }
}

void Reader::collect(const Json::object_t& body) {
  for (const auto& [key, value] : body) {
    const auto name = std::find(field_names.begin(), field_names.end(), key);
    const auto field = static_cast<std::size_t>(name - field_names.begin());
    if (limits_.enforced == Profile::openai && !value.is_null()) {
      const ProfileTraits& openai = traits_of(Profile::openai);
      if (field == field_count ? !openai.further_fields.has(key) : openai.own_fields.has(key))
        breaks("unknown_field", text::excerpt(key, 200));
    }
    if (field == field_count ||
        (!acceptance_.has(Extension::logprobs) && (field == logprobs || field == top_logprobs)) ||
        (!acceptance_.has(Extension::max_completion_tokens) && field == max_completion_tokens) || is_own_field(key)) {
      if (!is_documented_by_service(key)) unknown_field(text::excerpt(key, 60), key);
    } else if (!value.is_null() || !is_absent_as_null(key) || field == model || field == messages) {
      fields_[field] = &value;
    }
  }
}

bool Reader::is_documented_by_service(std::string_view name) const {
  return (acceptance_.has(Extension::unknown_fields) || StrictAcceptance::takes_documented_fields(acceptance_)) &&
         profile_.further_fields.has(name);
}

bool Reader::is_own_field(std::string_view name) const {
  return StrictAcceptance::takes_documented_fields(acceptance_) && profile_.own_fields.has(name);
}

void Reader::unknown_field(const std::string& path, std::string_view name) {
  const char* const advice = name == "frequency_penalty"       ? "use repetition_penalty instead"
                             : name == "max_completion_tokens" ? "use max_tokens instead"
                             : name == "repetition_penalty"    ? "use frequency_penalty instead"
                             : name == "enable_thinking"       ? "use reasoning_effort instead"
                                                               : "leave it out";
  const bool is_openais =
      acceptance_.has(Extension::openai_fields) && traits_of(Profile::openai).further_fields.has(name);
  if (is_openais) return note_extension(Extension::openai_fields, path);
  const std::string message = path + ": not a documented field; " + advice;
  if (!acceptance_.has(Extension::unknown_fields))
    throw RequestError{failure(400, "unknown_parameter", message).param(path)};
  add_finding(finding_kinds::unknown_field, message + ".");
}

void Reader::read_all(bool skips_invalid) {
  if (fields_[model] == nullptr) fail_missing(Path("model"), "a string");
  request_.model = require_string(*fields_[model], Path("model"));
  if (!skips_invalid) require_filled_string(*fields_[model], Path("model"));
  if (fields_[messages] == nullptr) fail_missing(Path("messages"), "an array");
  if (skips_invalid) {
    for (const Json& message : require_array(*fields_[messages], Path("messages"))) take_message(message);
  } else {
    read_messages(*fields_[messages], Path("messages"));
  }
  for (std::size_t field = stream; field < field_count; ++field) {
    if (fields_[field] == nullptr) continue;
    try {
      read_field(static_cast<Field>(field), *fields_[field]);
    } catch (const RequestError&) {
      if (!skips_invalid) throw;
      fields_[field] = nullptr;  // treat the field as absent
    }
  }
}

void Reader::read_field(Field field, const Json& value) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Path path(field_names[field]);
  switch (field) {
    case stream: request_.stream = require_boolean(value, path); break;
    case stream_options: read_stream_options(value, path); break;
    case temperature: read_temperature(value, path); break;
    case top_p: request_.top_p = require_number(value, path, 0, 1); break;
    case max_tokens: request_.max_tokens = require_integer(value, path, 1, largest); break;
    case max_completion_tokens: read_max_completion_tokens(value, path); break;
    case presence_penalty: request_.presence_penalty = require_number(value, path, -2, 2); break;
    case n: request_.n = require_integer(value, path, 1, limits_.max_n); break;
    case seed: request_.seed = require_integer(value, path, std::numeric_limits<std::int64_t>::min(), largest); break;
    case stop: read_stop(value, path); break;
    case tools: read_tools(value, path); break;
    case tool_choice: read_tool_choice(value, path); break;
    case parallel_tool_calls: request_.parallel_tool_calls = require_boolean(value, path); break;
    case response_format: read_response_format(value, path); break;
    case enable_thinking: request_.enable_thinking = require_boolean(value, path); break;
    case repetition_penalty: request_.repetition_penalty = require_number(value, path); break;
    case logprobs: request_.logprobs = require_boolean(value, path); break;
    case top_logprobs: read_top_logprobs(value, path); break;
    case model:
    case messages:
    case field_count: break;
  }
}

void Reader::read_max_completion_tokens(const Json& value, const Path& path) {
  if (fields_[max_tokens] != nullptr) {
    // The message is OpenAI's text.
    throw RequestError{failure(400, "invalid_parameter_combination",
                               "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
                           .param("max_tokens")};
  }
  note_extension(Extension::max_completion_tokens, path.to_string());
  request_.max_tokens = require_integer(value, path, 1, std::numeric_limits<std::int64_t>::max());
}

void Reader::read_stream_options(const Json& value, const Path& path) {
  const Json::object_t& options = require_object(value, path);
  if (const Json* include_usage = optional_member(options, "include_usage")) {
    request_.include_usage = require_boolean(*include_usage, Path(path, "include_usage"));
  }
  for (const auto& option : options) {
    if (option.first != "include_usage") {
      const std::string name = "stream_options." + option.first;
      if (!is_documented_by_service(name))
        unknown_field(path.to_string() + "." + text::excerpt(option.first, 60), name);
    }
  }
  if (!request_.stream) {
    if (!acceptance_.has(Extension::stream_options_without_stream)) {
      fail("invalid_value", path, "nothing unless stream is true", "an object");
    }
    add_finding(finding_kinds::stream_options_without_stream,
                "stream_options: without stream they have no effect; leave them out or set stream to true.");
  }
}

void Reader::read_temperature(const Json& value, const Path& path) {
  if (profile_.rejects_temperature_out_of_range) {
    request_.temperature = require_number(value, path, 0, 2);
    return;
  }
  request_.temperature = require_number(value, path);
  if (*request_.temperature < 0 || *request_.temperature > 2) {
    add_finding(finding_kinds::temperature_out_of_range,
                "temperature: " + value.dump() + " is outside 0 to 2, which other servers reject; stay within it.");
  }
}

void Reader::read_stop(const Json& value, const Path& path) {
  if (value.is_string() && acceptance_.has(Extension::stop_as_string)) {
    request_.stop.push_back(require_filled_string(value, path));
    if (!profile_.documents_stop_as_string)
      add_finding(finding_kinds::stop_as_string, "stop: documented as an array; send [\"…\"] in place of the string.");
    return;
  }
  if (!value.is_array()) {
    fail_type(path,
              acceptance_.has(Extension::stop_as_string) ? "an array of strings or a string" : "an array of strings",
              value);
  }
  const Json::array_t& array = value.get_ref<const Json::array_t&>();
  std::vector<std::string> sequences;
  sequences.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) {
    sequences.push_back(require_filled_string(array[index], Path(path, index)));
  }
  request_.stop = std::move(sequences);
}

std::string Reader::expected_tool_type() const {
  return acceptance_.has(Extension::custom_tools) ? "one of " + quoted_list({"function", "custom"}) : "\"function\"";
}

bool Reader::read_tool_type(const Json::object_t& object, const Path& path) const {
  const Path type_path(path, "type");
  const Json* type = member(object, "type");
  if (type == nullptr) fail_missing(type_path, expected_tool_type());
  const std::string& kind = require_string(*type, type_path);
  const bool custom = acceptance_.has(Extension::custom_tools) && kind == "custom";
  if (kind == "custom" && !custom)
    fail("invalid_value", type_path, expected_tool_type(), R"("custom"; )" + switched_off("custom_tools"));
  if (!custom && kind != "function") fail_value(type_path, expected_tool_type(), *type);
  if (custom) note_extension(Extension::custom_tools, type_path.to_string());
  return custom;
}

void Reader::read_tools(const Json& value, const Path& path) {
  const Json::array_t& array = require_array(value, path);
  if (array.empty())
    add_finding(finding_kinds::tools_empty,
                "tools: 0 tools, which OpenAI refuses with 400; leave tools out, or offer at least 1.");
  std::vector<wire::Tool> tools;
  tools.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) {
    const Path tool_path(path, index);
    const Json::object_t& object = require_object(array[index], tool_path);
    const bool custom = read_tool_type(object, tool_path);
    const std::string_view kind = custom ? "custom" : "function";
    const Path function_path(tool_path, kind);
    const Json::object_t& function =
        require_object(require_member(object, tool_path, kind, "an object"), function_path);

    wire::Tool& tool = tools.emplace_back();
    tool.custom = custom;
    tool.name =
        require_filled_string(require_member(function, function_path, "name", "a string"), Path(function_path, "name"));
    if (const Json* description = optional_member(function, "description")) {
      tool.description = require_string(*description, Path(function_path, "description"));
    }
    if (custom) {
      if (const Json* format = optional_member(function, "format"))
        require_object(*format, Path(function_path, "format"));
      continue;
    }
    if (const Json* parameters = optional_member(function, "parameters")) {
      require_object(*parameters, Path(function_path, "parameters"));
      tool.parameters = *parameters;
    }
    if (const Json* strict = optional_member(function, "strict")) {
      tool.strict = require_boolean(*strict, Path(function_path, "strict"));
    }
  }
  request_.tools = std::move(tools);
}

std::string Reader::read_tool_name(const Json::object_t& object, const Path& path) const {
  const bool custom = read_tool_type(object, path);
  const std::string_view kind = custom ? "custom" : "function";
  const Path function_path(path, kind);
  const Json::object_t& function = require_object(require_member(object, path, kind, "an object"), function_path);
  const Path name_path(function_path, "name");
  const Json& name = require_member(function, function_path, "name", "a string");
  const std::string& text = require_filled_string(name, name_path);
  const bool exists = std::any_of(request_.tools.begin(), request_.tools.end(),
                                  [&](const wire::Tool& tool) { return tool.name == text && tool.custom == custom; });
  if (!exists) fail_value(name_path, custom ? "the name of a custom tool" : "the name of one of tools", name);
  return text;
}

void Reader::read_allowed_tools(const Json::object_t& object, const Path& path, wire::ToolChoice& choice) const {
  if (!acceptance_.has(Extension::allowed_tools)) {
    fail("invalid_value", Path(path, "type"), expected_tool_type(),
         R"("allowed_tools"; )" + switched_off("allowed_tools"));
  }
  note_extension(Extension::allowed_tools, path.to_string());
  const Path allowed_path(path, "allowed_tools");
  const Json::object_t& allowed =
      require_object(require_member(object, path, "allowed_tools", "an object"), allowed_path);
  const Path mode_path(allowed_path, "mode");
  const std::string expected = "one of " + quoted_list({"auto", "required"});
  const Json* const mode = member(allowed, "mode");
  if (mode == nullptr) fail_missing(mode_path, expected);
  const std::string& word = require_string(*mode, mode_path);
  if (word != "auto" && word != "required") fail_value(mode_path, expected, *mode);
  choice.mode = word == "auto" ? wire::ToolChoice::Mode::automatic : wire::ToolChoice::Mode::required;
  const Path tools_path(allowed_path, "tools");
  const Json& tools = require_member(allowed, allowed_path, "tools", "an array");
  const Json::array_t& array = require_array(tools, tools_path);
  if (array.empty()) fail_value(tools_path, "at least one tool", tools);
  for (std::size_t index = 0; index < array.size(); ++index) {
    const Path tool_path(tools_path, index);
    choice.allowed.push_back(read_tool_name(require_object(array[index], tool_path), tool_path));
  }
}

void Reader::read_tool_choice(const Json& value, const Path& path) {
  wire::ToolChoice choice;
  if (value.is_string()) {
    const std::string& mode = value.get_ref<const std::string&>();
    if (mode == "none") {
      choice.mode = wire::ToolChoice::Mode::none;
    } else if (mode == "auto") {
      choice.mode = wire::ToolChoice::Mode::automatic;
    } else if (mode == "required" && acceptance_.has(Extension::tool_choice_required)) {
      choice.mode = wire::ToolChoice::Mode::required;
      if (request_.tools.empty()) fail("invalid_value", path, "tools for \"required\"", "none");
    } else {
      fail_value(path,
                 "one of " +
                     quoted_list({"none", "auto", acceptance_.has(Extension::tool_choice_required) ? "required" : ""}) +
                     " or an object that names a function",
                 value);
    }
  } else if (value.is_object()) {
    const Json::object_t& object = value.get_ref<const Json::object_t&>();
    const Json* const type = member(object, "type");
    if (type != nullptr && type->is_string() && type->get_ref<const std::string&>() == "allowed_tools") {
      read_allowed_tools(object, path, choice);
    } else {
      choice.mode = wire::ToolChoice::Mode::named;
      choice.name = read_tool_name(object, path);
    }
  } else {
    fail_type(path, "a string or an object", value);
  }
  request_.tool_choice = std::move(choice);
}

void Reader::read_response_format(const Json& value, const Path& path) {
  const Json::object_t& object = require_object(value, path);
  const Path type_path(path, "type");
  const Json& type = require_member(object, path, "type", "a string");
  const std::string& kind = require_string(type, type_path);
  wire::ResponseFormat format;
  if (kind == "text") {
    format.kind = wire::ResponseFormat::Kind::text;
  } else if (kind == "json_object") {
    format.kind = wire::ResponseFormat::Kind::json_object;
  } else if (kind == "json_schema") {
    format.kind = wire::ResponseFormat::Kind::json_schema;
    const Path schema_path(path, "json_schema");
    const Json::object_t& description =
        require_object(require_member(object, path, "json_schema", "an object"), schema_path);
    format.name =
        require_filled_string(require_member(description, schema_path, "name", "a string"), Path(schema_path, "name"));
    const Path place(schema_path, "schema");
    const bool is_optional = acceptance_.has(Extension::json_schema_without_schema);
    if (const Json* schema = is_optional ? optional_member(description, "schema") : member(description, "schema")) {
      require_object(*schema, place);
      format.schema = *schema;
    } else if (is_optional) {
      note_extension(Extension::json_schema_without_schema, place.to_string());
    } else {
      fail("missing_required_parameter", place, "an object", "nothing; " + switched_off("json_schema_without_schema"));
    }
    const Json* strict = member(description, "strict");
    if (strict != nullptr && !strict->is_null()) {
      format.strict = require_boolean(*strict, Path(schema_path, "strict"));
    }
    if (const Json* about = optional_member(description, "description")) {
      require_string(*about, Path(schema_path, "description"));
    }
  } else {
    fail_value(type_path, "one of " + quoted_list({"text", "json_object", "json_schema"}), type);
  }
  request_.response_format = std::move(format);
}

void Reader::read_top_logprobs(const Json& value, const Path& path) {
  const std::int64_t count = require_integer(value, path, 0, 20);
  if (!request_.logprobs) fail("invalid_value", path, "nothing unless logprobs is true", value.dump());
  request_.top_logprobs = count;
}

}  // namespace chat_fields
}  // namespace mock_gateway::detail
