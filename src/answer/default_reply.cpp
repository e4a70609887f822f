// The reply without stubs: text, demanded tool calls, JSON, reasoning; equality of requests (`content_fingerprint`).

#include "default_reply.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/json.hpp"
#include "../core/random.hpp"
#include "../model/failure.hpp"
#include "../model/reply_data.hpp"
#include "../model/request_error.hpp"
#include "schema_checker.hpp"
#include "words.hpp"

namespace mock_gateway::detail {
namespace default_replies {

/// Generates instances of a request's schemas within a common work limit.
class SchemaTexts {
 public:
  explicit SchemaTexts(const std::atomic<bool>* stopped)
      : budget_(schema::request_work_limit, stopped, schema::large_work_limit) {}

  /// Returns a JSON instance of the schema at the JSON path `place` in the request.
  std::string text_of(const Json& schema, const std::string& place, Random& random) {
    std::vector<std::string>& made = made_[place];
    // Reuses an earlier instance if another one might exceed the limit.
    if (!made.empty() && budget_.spent() + 2 * most_steps_ > schema::request_work_limit)
      return made[random.below(made.size())];
    const std::size_t before = budget_.spent();
    try {
      made.push_back(schema::instance_of(schema, random, budget_));
      most_steps_ = std::max(most_steps_, budget_.spent() - before);
      return made.back();
    } catch (const schema::Unsupported& unsupported) {
      const std::string path = place + unsupported.path;
      throw RequestError{failure(400, "unsupported_schema", path + ": " + unsupported.reason).param(path)};
    }
  }

 private:
  schema::Budget budget_;
  std::map<std::string, std::vector<std::string>> made_;  // instances by the schema's place
  std::size_t most_steps_ = 0;                            // steps of the most expensive instance
};

/// Returns a tool's parameters, restricted to objects, because arguments are always one.
Json object_schema(const Json& parameters) {
  const bool forbids_all = parameters.is_boolean() && !parameters.get<bool>();
  if (!parameters.is_object()) return forbids_all ? parameters : Json{{"type", "object"}};
  Json schema = parameters;
  const auto type = schema.find("type");
  const bool open = type == schema.end() ||
                    (type->is_array() && std::find(type->begin(), type->end(), Json("object")) != type->end());
  if (open) schema["type"] = "object";
  return schema;
}

/// Returns a call of a custom tool with words as input. Refuses a grammar, because words may not match it.
ScriptedToolCall custom_call_of(const ChatRequest& request, std::size_t tool, Random& random) {
  const Json& custom = request.body.at("tools").at(tool).at("custom");
  const auto format = custom.find("format");
  if (format != custom.end() && format->is_object() && format->value("type", Json("text")) != "text") {
    const std::string path = "tools[" + std::to_string(tool) + "].custom.format";
    throw RequestError{
        failure(400, "unsupported_schema", path + ": no input can be promised to follow it").param(path)};
  }
  return {request.tools[tool].name, words::sentence_text(random), "", true};
}

ScriptedToolCall call_of(const ChatRequest& request, std::size_t tool, SchemaTexts& schemas, Random& random) {
  if (request.tools[tool].custom) return custom_call_of(request, tool, random);
  const std::string place = "tools[" + std::to_string(tool) + "].function.parameters";
  const Json schema = object_schema(request.tools[tool].parameters);
  return {request.tools[tool].name, schemas.text_of(schema, place, random)};
}

std::vector<std::size_t> demanded_tools(const ChatRequest& request) {
  const std::vector<std::string>& allowed = request.tool_choice.allowed;
  std::vector<std::size_t> tools;
  for (std::size_t tool = 0; tool < request.tools.size(); ++tool) {
    const std::string& name = request.tools[tool].name;
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), name) != allowed.end()) tools.push_back(tool);
  }
  return tools;
}

/// Returns the calls that `tool_choice` demands: one, unless the request allows several at once and has several tools.
std::vector<ScriptedToolCall> demanded_calls(const ChatRequest& request, SchemaTexts& schemas, Random& random) {
  std::vector<ScriptedToolCall> calls;
  const std::size_t tools = request.tools.size();
  if (request.tool_choice.mode == wire::ToolChoice::Mode::named) {
    std::size_t tool = 0;
    while (tool < tools && request.tools[tool].name != request.tool_choice.name) ++tool;
    if (tool == tools) return {{request.tool_choice.name, "{}"}};
    calls.push_back(call_of(request, tool, schemas, random));
  } else if (request.tool_choice.mode == wire::ToolChoice::Mode::required) {
    const std::vector<std::size_t> demanded = demanded_tools(request);
    if (demanded.empty()) return calls;
    const std::size_t first = static_cast<std::size_t>(random.below(demanded.size()));
    calls.push_back(call_of(request, demanded[first], schemas, random));
    if (request.parallel_tool_calls.value_or(false) && demanded.size() > 1) {
      const std::size_t step = 1 + static_cast<std::size_t>(random.below(demanded.size() - 1));
      calls.push_back(call_of(request, demanded[(first + step) % demanded.size()], schemas, random));
    }
  }
  return calls;
}

Json object_of_words(Random& random) {
  Json object = Json::object();
  const std::size_t members = 2 + static_cast<std::size_t>(random.below(3));
  while (object.size() < members) object[words::word(random)] = words::sentence_text(random);
  return object;
}

std::string text_of(const ChatRequest& request, SchemaTexts& schemas, Random& random) {
  if (!request.response_format || request.response_format->kind == wire::ResponseFormat::Kind::text) {
    return words::sentence_text(random);
  }
  const bool has_schema = request.response_format->kind == wire::ResponseFormat::Kind::json_schema &&
                          !request.response_format->schema.is_null();
  if (!has_schema) return object_of_words(random).dump();
  return schemas.text_of(request.response_format->schema, "response_format.json_schema.schema", random);
}

/// Adds the number of the bytes or parts that follow, so that different data cannot give the same input to the hash.
std::uint64_t add_count(std::size_t count, std::uint64_t basis) {
  return fingerprint(std::to_string(count) + ':', basis);
}

std::uint64_t fingerprint_of(const std::string& string, std::uint64_t basis) {
  return fingerprint(string, add_count(string.size(), basis));
}

/// Adds a member and all values in it. Each begins with its type and size, so that different values differ. Not
/// recursive, because clients choose the nesting.
std::uint64_t fingerprint_of(const std::string& member, const Json& content, std::uint64_t hash) {
  std::vector<std::pair<const std::string*, const Json*>> parts = {{&member, &content}};  // the last is next
  while (!parts.empty()) {
    const auto [name, value] = parts.back();
    parts.pop_back();
    if (name != nullptr) hash = fingerprint_of(*name, hash);
    const char kind = static_cast<char>(value->type());
    hash = fingerprint({&kind, 1}, hash);
    if (value->is_string()) {
      hash = fingerprint_of(value->get_ref<const std::string&>(), hash);
    } else if (!value->is_structured()) {
      hash = fingerprint(value->dump(), hash);
    } else {
      hash = add_count(value->size(), hash);
      const auto first = static_cast<std::ptrdiff_t>(parts.size());
      for (auto part = value->begin(); part != value->end(); ++part)
        parts.emplace_back(value->is_object() ? &part.key() : nullptr, &*part);
      std::reverse(parts.begin() + first, parts.end());
    }
  }
  return hash;
}

}  // namespace default_replies

Reply default_reply(const ChatRequest& request, std::uint64_t seed, const std::atomic<bool>* stopped) {
  Random random(seed);
  default_replies::SchemaTexts schemas(stopped);
  ReplyData reply;
  for (std::int64_t index = 0; index < request.n; ++index) {
    ScriptedChoice choice;
    if (request.enable_thinking.value_or(false)) choice.thinking = words::sentence_text(random);
    choice.tool_calls = default_replies::demanded_calls(request, schemas, random);
    if (choice.tool_calls.empty()) choice.text = default_replies::text_of(request, schemas, random);
    reply.choices.push_back(std::move(choice));
  }
  return Reply(std::move(reply));
}

std::uint64_t content_fingerprint(const ChatRequest& request) {
  std::uint64_t hash = fingerprint({});
  for (auto member = request.body.begin(); member != request.body.end(); ++member) {
    if (member.key() == "stream" || member.key() == "stream_options") continue;
    hash = default_replies::fingerprint_of(member.key(), *member, hash);
  }
  return hash;
}

}  // namespace mock_gateway::detail
