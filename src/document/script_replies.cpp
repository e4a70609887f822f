// The script keys of replies, tool calls, raw replies, chunks and holds, and which of these keys exclude each other.

#include <iterator>  // begin, end, size
#include <set>
#include <string_view>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../gateway/catalogue.hpp"
#include "../gateway/catalogue_entries.hpp"
#include "../model/reply_data.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
namespace script_types {

Reply& reply_of(void* target) { return *static_cast<Reply*>(target); }

inline constexpr ScriptRow tool_call_rows[] = {
    {"name", &text, "the function, or the custom tool", nullptr, true},
    {"arguments", &json_object, "its arguments; {} unless set", nullptr},
    {"malformed_arguments", &text, "its arguments as text, valid or not", nullptr},
    {"input", &text, "the input of a custom tool", nullptr},
    {"id", &text, "the call's id; generated unless set", nullptr},
};
inline constexpr ScriptTable tool_call_table{
    "tool_call", tool_call_rows, std::size(tool_call_rows),
    R"("not":{"anyOf":[{"required":["arguments","malformed_arguments"]},{"required":["arguments","input"]},)"
    R"({"required":["malformed_arguments","input"]}]})"};

ScriptType tool_call_type() { return {"object", nullptr, &tool_call_table}; }
ScriptType tool_calls_type() {
  return {"list of tool calls", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/tool_call"}})"};
}

void set_tool_call(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, tool_call_table);
  const std::string& name = script_values::text_of(node.at("name"));
  const std::string id = node.find("id") ? script_values::text_of(node.at("id")) : std::string();
  Reply& reply = reply_of(target);
  const char* const kind = script_reading::one_key(node, {"arguments", "malformed_arguments", "input"});
  if (!kind)
    reply = reply.tool_call(name, Json::object(), id);
  else if (std::string_view(kind) == "arguments")
    reply = reply.tool_call(name, node.at(kind).value, id);
  else if (std::string_view(kind) == "input")
    reply = reply.custom_tool_call(name, script_values::text_of(node.at(kind)), id);
  else
    reply = reply.malformed_tool_call(name, script_values::text_of(node.at(kind)), id);
}

void set_tool_calls(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value.is_array() && node.value.empty()) script_reading::fail(node, "the list needs at least one tool call");
  reader.read_list(node, &set_tool_call, target);
}

void set_headers(ScriptReader& reader, const ScriptNode& node, void* target) {
  reply_of(target) = script_values::with_headers(reader, node, reply_of(target));
}

void set_usage_json(ScriptReader&, const ScriptNode& node, void* target) {
  reply_of(target) = reply_of(target).usage(node.value);
}

void set_usage(ScriptReader& reader, const ScriptNode& node, void* target) {
  reply_of(target) = reply_of(target).usage(read_value<TokenUsage>(reader, node));
}

inline constexpr ScriptRow extra_chunk_rows[] = {
    {"number", &positive, "the chunk, counted from 1", nullptr, true},
    {"fields", &json_object, "the members to merge into it (RFC 7396)", nullptr, true},
};
inline constexpr ScriptTable extra_chunk_table{"extra_chunk", extra_chunk_rows, std::size(extra_chunk_rows)};

ScriptType extra_chunks_type() {
  return {"list of objects", R"({"type":"array","items":"$rows"})", &extra_chunk_table};
}

void set_extra_chunk(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, extra_chunk_table);
  reply_of(target) =
      reply_of(target).extra_chunk(read_value<std::size_t>(reader, node.at("number")), node.at("fields").value);
}

ScriptType faults() { return {"list of faults", R"({"type":"array","items":{"$ref":"#/$defs/fault"}})"}; }

void set_fault(ScriptReader& reader, const ScriptNode& node, void* target) {
  auto [trigger, effect] = read_fault(reader, node);
  reply_of(target) = reply_of(target).fault(std::move(trigger), std::move(effect));
}

inline constexpr ScriptRow hold_rows[] = {
    {"gate", &name_text, "the gate's name", nullptr, true, R"("minLength":1)"},
    {"before_token", &positive, "before the token with this number", nullptr},
    {"before_event", &positive, "before the event with this number", nullptr},
};
inline constexpr ScriptTable hold_table{"hold", hold_rows, std::size(hold_rows),
                                        R"("oneOf":[{"required":["before_token"]},{"required":["before_event"]}])"};

ScriptType hold() {
  return {"object, or a list of them", R"({"anyOf":["$rows",{"type":"array","items":"$rows"}]})", &hold_table};
}

void set_hold(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value.is_array()) return reader.read_list(node, &set_hold, target);
  reader.read_strictly(node, hold_table);
  const Gate gate = reader.gate(script_values::name_of(node.at("gate")));
  const std::string_view place = script_reading::only_key(node, {"before_token", "before_event"}, "a hold");
  const auto number = read_value<std::size_t>(reader, node.at(place.data()));
  reply_of(target) = reply_of(target).hold(gate, place == "before_token" ? before_token(number) : before_event(number));
}

// The keys that determine the kind of a reply. Each kind has a function that reads and checks its value.

inline constexpr const char* exclusive_kinds[] = {"choices",  "failure", "raw_reply", "chunks",
                                                  "scenario", "default", "ask"};
inline constexpr const char* content_kinds[] = {"text", "json_text", "refusal", "thinking", "tool_call", "tool_calls"};

inline constexpr ScriptRow raw_reply_rows[] = {
    {"status", &whole, "from 200 to 599; 200 unless set", nullptr, false, R"("minimum":200,"maximum":599)"},
    {"json", &any, "a body of JSON, in compact form", nullptr},
    {"body", &text, "a body of text", nullptr},
    {"base64", &base64, "a body of any bytes", nullptr},
    {"content_type", &text, "its Content-Type; application/json unless set", nullptr},
};
inline constexpr ScriptTable raw_reply_table{
    "raw_reply", raw_reply_rows, std::size(raw_reply_rows),
    R"("not":{"anyOf":[{"required":["json","body"]},{"required":["json","base64"]},{"required":["body","base64"]}]})"};
inline constexpr ScriptRow chunk_rows[] = {
    {"json", &any, "an event whose data is this JSON", nullptr},
    {"raw_bytes", &text, "this text unchanged, without `data:` around it", nullptr, false, R"("minLength":1)"},
    {"raw_base64", &base64, "these bytes unchanged", nullptr},
    {"event", &text, "the lines of an event without data", nullptr},
    {"at", &duration, "when it is sent: the time since the request was complete", nullptr},
};
inline constexpr ScriptTable chunk_table{
    "chunk", chunk_rows, std::size(chunk_rows),
    R"("oneOf":[{"required":["json"]},{"required":["raw_bytes"]},{"required":["raw_base64"]},{"required":["event"]}])"};

ScriptType raw_reply_type() { return {"object", nullptr, &raw_reply_table}; }
ScriptType chunks_type() { return {"list of elements", R"({"type":"array","items":"$rows"})", &chunk_table}; }
ScriptType choices_type() {
  return {"list of replies", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/reply"}})"};
}
/// Returns a reply without the keys that only apply to completions.
ScriptType written_reply() {
  return {"object",
          R"({"propertyNames":{"not":{"enum":["interleaved","logprobs","finish_reason","finish_in_last_chunk","model",)"
          R"("usage","usage_json","extra","extra_message","extra_chunks","verbatim"]}}})"};
}
ScriptType scenario_type() { return {"name of a scenario", R"({"type":"string"})"}; }

inline constexpr ScriptRow reply_rows[] = {
    {"text", &text, "text", nullptr},
    {"json_text", &any, "text that is this JSON, in compact form", nullptr},
    {"refusal", &text, "a refusal", nullptr},
    {"thinking", &text, "reasoning, sent before the content", nullptr},
    {"tool_call", &tool_call_type, "a tool call", nullptr},
    {"tool_calls", &tool_calls_type, "tool calls", nullptr},
    {"choices", &choices_type, "several choices, each a reply", nullptr},
    {"failure", &failure, "a failure; its setters are keys beside it", nullptr},
    {"raw_reply", &raw_reply_type, "a whole answer, sent unchanged", nullptr},
    {"chunks", &chunks_type, "a stream, sent unchanged; one element per event", nullptr},
    {"scenario", &scenario_type, "the answer of a scenario of the catalogue", nullptr},
    {"default", &yes, "the default reply of a gateway without stubs", nullptr},
    {"ask", &yes, "a reply that the test supplies through the control API while the request waits", nullptr},

    {"interleaved", &yes, "interleaves streamed tool calls", &SetBy<&Reply::interleaved>::apply},
    {"logprobs", &logprobs, "the log probabilities of the tokens", &SetBy<&Reply::logprobs>::apply},
    {"finish_reason", &text, "the finish_reason of every choice", &SetBy<&Reply::finish_reason>::apply},
    {"finish_in_last_chunk", &yes, "streams the finish_reason with the last content",
     &SetBy<&Reply::finish_in_last_chunk>::apply},
    {"model", &text, "the model that the reply names", &SetBy<&Reply::model>::apply},
    {"usage", &token_usage, "the usage that the reply reports", &set_usage},
    {"usage_json", &any, "any JSON as its usage", &set_usage_json},
    {"extra", &json_object, "fields that are merged into the body, or into every chunk", &SetBy<&Reply::extra>::apply},
    {"extra_message", &json_object, "fields that are merged into each message", &SetBy<&Reply::extra_message>::apply},
    {"extra_chunks", &extra_chunks_type, "fields that are merged into one chunk",
     &script_values::apply_each<&set_extra_chunk>},
    {"verbatim", &yes, "ignores the request's stop and max_tokens", &SetBy<&Reply::verbatim>::apply},
    {"template", &yes, "fills places such as `{{request.last_user_text}}` from the request",
     &SetBy<&Reply::templated>::apply},
    {"headers", &headers, "response headers", &set_headers},
    {"early_hints", &headers, "a response 103 with these headers before the reply", &SetBy<&Reply::early_hints>::apply},
    {"every", &timing, "time between one token and the next", &SetBy<&Reply::every>::apply},
    {"first_token_after", &timing, "time to the first token", &SetBy<&Reply::first_token_after>::apply},
    {"tokens_per_second", &rate, "the speed, starting at the first token", &SetBy<&Reply::tokens_per_second>::apply},
    {"chunked", &chunking, "how the stream is cut into deltas", &SetBy<&Reply::chunked>::apply},
    {"faults", &faults, "what breaks the reply, and where", &script_values::apply_each<&set_fault>},
    {"hold", &hold, "a gate that holds the reply", &set_hold},
    {"survives_half_close", &yes, "goes on when the client closes its side (FIN)",
     &SetBy<&Reply::survives_half_close>::apply},
    {"sse", &dialect, "how its events are written", &SetBy<&Reply::sse>::apply},
    {"write_each_event", &yes, "a write for each event", &SetBy<&Reply::write_each_event>::apply},
    {"slice_writes", &positive, "the largest number of bytes per write", &SetBy<&Reply::slice_writes>::apply},
    {"one_write", &yes, "one write for the whole reply", &SetBy<&Reply::one_write>::apply},
    {"split_write", &positive, "two writes; the first has this many bytes", &SetBy<&Reply::split_write>::apply},
    {"http_chunks_of", &positive, "the largest number of bytes per HTTP chunk of a stream",
     &SetBy<&Reply::http_chunks_of>::apply},
};
inline constexpr ScriptTable reply_table{
    "reply", reply_rows, std::size(reply_rows),
    R"("oneOf":[{"anyOf":[{"required":["text"]},{"required":["json_text"]},{"required":["refusal"]},)"
    R"({"required":["thinking"]},{"required":["tool_call"]},{"required":["tool_calls"]}]},)"
    R"({"required":["choices"]},{"required":["failure"]},{"required":["raw_reply"]},{"required":["chunks"]},)"
    R"({"required":["scenario"]},{"required":["default"]},{"required":["ask"]}],"dependentRequired":{)"
    R"("$failure_setter":["failure"],"content_type":["error_body"]},"not":{"anyOf":[{"required":["text",)"
    R"("json_text"]},{"required":["text","refusal"]},{"required":["json_text","refusal"]},{"required":["usage",)"
    R"("usage_json"]},{"required":["every","tokens_per_second"]},{"required":["error_body","error_json"]},)"
    R"({"required":["retry_after","retry_after_text"]},{"required":["failure","template"]},)"
    R"({"required":["chunks","template"]}]},)"
    R"("dependentSchemas":{"failure":{"$ref":"#/$defs/written_reply"},)"
    R"("raw_reply":{"$ref":"#/$defs/written_reply"},"chunks":{"$ref":"#/$defs/written_reply"},)"
    R"("scenario":{"propertyNames":{"pattern":"^(scenario|comment|[$]schema|x-.*)$"}},)"
    R"("default":{"propertyNames":{"pattern":"^(default|comment|[$]schema|x-.*)$"}},)"
    R"("ask":{"propertyNames":{"pattern":"^(ask|comment|[$]schema|x-.*)$"}}})",
    &failure_setters};

ScriptType reply() { return {"text, or object", R"({"anyOf":[{"type":"string"},"$rows"]})", &reply_table}; }

Reply empty_reply() {
  ReplyData data;
  data.choices.emplace_back();
  return Reply(std::move(data));
}

Reply completion(ScriptReader& reader, const ScriptNode& node) {
  Reply reply = empty_reply();
  int content_keys = 0;
  for (const char* key : {"text", "json_text", "refusal"}) content_keys += node.find(key) ? 1 : 0;
  if (content_keys > 1) script_reading::fail(node, "\"text\", \"json_text\" and \"refusal\" cannot be combined");
  if (node.find("text")) reply = reply.text(script_values::text_of(node.at("text")));
  if (node.find("json_text")) reply = mock_gateway::json_text(node.at("json_text").value);
  if (node.find("refusal")) {
    reply = mock_gateway::refusal(script_values::text_of(node.at("refusal")));
    reader.refer(ScriptReference::Kind::refusal, "", node.at("refusal").pointer);
  }
  if (node.find("thinking")) reply = reply.thinking(script_values::text_of(node.at("thinking")));
  if (node.find("tool_call")) reader.guarded(node.at("tool_call"), &set_tool_call, &reply);
  if (node.find("tool_calls")) reader.guarded(node.at("tool_calls"), &set_tool_calls, &reply);
  return reply;
}

Reply raw_answer(ScriptReader& reader, const ScriptNode& node) {
  reader.read_strictly(node, raw_reply_table);
  const int status = node.find("status") ? read_value<int>(reader, node.at("status")) : 200;
  const std::string type =
      node.find("content_type") ? script_values::text_of(node.at("content_type")) : std::string("application/json");
  return raw_reply(status, script_values::body_of(node, script_reading::one_key(node, {"json", "body", "base64"})),
                   type);
}

void add_chunk(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, chunk_table);
  const std::string_view kind =
      script_reading::only_key(node, {"json", "raw_bytes", "raw_base64", "event"}, "an element of chunks");
  const ScriptNode value = node.at(kind.data());
  auto& elements = *static_cast<std::vector<StreamChunk>*>(target);
  const auto push = [&](const StreamChunk& element) {
    elements.push_back(node.find("at") ? element.at(script_values::pace_time(reader, node.at("at"))) : element);
  };
  if (kind == "json") return push(json_chunk(value.value));
  if (kind == "event") {
    try {
      return push(event(script_values::text_of(value)));
    } catch (const GatewayError&) {
      script_reading::fail(value,
                           "expected the lines of an event without data, separated by \"\\n\", such as \"id: 7\"; "
                           "\"json\" is one with data, and \"raw_bytes\" any bytes");
    }
  }
  if (kind == "raw_base64" && script_values::decode_base64(value).empty())
    script_reading::fail(value, "expected at least one byte");
  push(raw_bytes(kind == "raw_bytes" ? script_values::text_of(value) : script_values::decode_base64(value)));
}

void add_choice(ScriptReader& reader, const ScriptNode& node, void* target) {
  std::set<std::string> fitting = {"logprobs", "finish_reason"};
  fitting.insert(std::begin(exclusive_kinds), std::end(exclusive_kinds));
  fitting.insert(std::begin(content_kinds), std::end(content_kinds));
  if (node.value.is_object()) {
    for (const auto& [key, value] : node.value.get_ref<const Json::object_t&>()) {
      if (reply_table.find(key) && fitting.count(key) == 0)
        script_reading::fail(node.member(key, value), "\"" + key + "\" goes beside \"choices\", for all of them");
    }
  }
  const ReplyStep step = read_reply(reader, node);
  if (step.reply && node.value.is_object() && (node.find("failure") || node.find("raw_reply") || node.find("chunks")))
    script_reading::fail(node, "a choice must be a completion, not a failure, a raw reply or chunks");
  if (!step.reply) script_reading::fail(node, "a choice must be a completion, and have only its content");
  static_cast<std::vector<Reply>*>(target)->push_back(*step.reply);
}

/// Answers like the stubs of the mounted scenario, which distinguish stream requests.
ReplyStep scenario_step(const ScriptNode& node) {
  const Scenario found = script_reading::checked(node, [&] { return scenario(script_values::text_of(node)); });
  const ScenarioRow* const row = Access::data(found).row;
  if (row->has_connection_faults() || row->has(catalogue_parts::then_answer))
    script_reading::fail(
        node, "the scenario \"" + found.name() +
                  "\" needs more than one reply; serve it with `mock-gateway --scenario` or Scenario::mount");
  return share<const ReplyFunction>([row](const ChatRequest& chat) { return row->reply(chat.stream); });
}

/// Returns the key that chooses the kind; for a completion, its first key with content. Empty if there is none.
std::string_view kind_of(const ScriptNode& node) {
  const char* const whole = script_reading::one_key(node, {std::begin(exclusive_kinds), std::end(exclusive_kinds)});
  for (const char* key : content_kinds) {
    if (!node.find(key)) continue;
    if (!whole) return key;
    script_reading::require_not_both(node, whole, key);
  }
  return whole ? whole : "";
}

[[noreturn]] void fail_without_kind(const ScriptNode& node) {
  std::string all;
  for (const char* key : content_kinds) all += std::string(key) + ", ";
  for (const char* key : exclusive_kinds) all += (key == exclusive_kinds[0] ? "" : ", ") + std::string(key);
  script_reading::fail(node, "a reply needs one of: " + all);
}

/// Returns the reply without the settings that apply to every kind.
Reply bare_reply(ScriptReader& reader, const ScriptNode& node, std::string_view kind) {
  if (kind == "failure") return read_failure(reader, node);
  if (kind == "raw_reply") return raw_answer(reader, node.at("raw_reply"));
  if (kind == "chunks") {
    std::vector<StreamChunk> elements;
    reader.read_list(node.at("chunks"), &add_chunk, &elements);
    return chunks(std::move(elements));
  }
  if (kind != "choices") return completion(reader, node);
  std::vector<Reply> parts;
  const std::size_t noted = reader.noted();
  reader.read_list(node.at("choices"), &add_choice, &parts);
  reader.require_none_since(noted);
  if (parts.empty()) script_reading::fail(node.at("choices"), "the list needs at least one choice");
  return join_choices(parts);
}

void require_written(const ScriptNode& node, std::string_view kind) {
  for (const char* key : {"interleaved", "logprobs", "finish_reason", "finish_in_last_chunk", "model", "usage",
                          "usage_json", "extra", "extra_message", "extra_chunks", "verbatim"}) {
    if (node.find(key))
      script_reading::fail(node.at(key), "\"" + std::string(key) + "\" has no meaning beside \"" + std::string(kind) +
                                             "\", which is sent as it is written");
  }
}

void require_alone(const ScriptNode& node, std::string_view kind) {
  for (const auto& [key, value] : node.value.get_ref<const Json::object_t&>()) {
    if (key != kind && !script_reading::is_remark(key))
      script_reading::fail(node.member(key, value),
                           "\"" + key + "\" has no meaning beside \"" + std::string(kind) + "\"");
  }
}

}  // namespace script_types

std::vector<wire::ToolCall> read_tool_calls(ScriptReader& reader, const ScriptNode& node) {
  Reply reply = script_types::empty_reply();
  script_types::set_tool_calls(reader, node, &reply);
  std::vector<wire::ToolCall> calls;
  for (const ScriptedToolCall& call : Access::data(reply).choices.front().tool_calls)
    calls.push_back({call.id, call.name, call.arguments});
  return calls;
}

ReplyStep read_reply(ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) return share<const Reply>(node.value.get<std::string>());
  if (!node.value.is_object()) script_reading::fail_expected(node, "a text, or an object");
  const std::size_t noted = reader.noted();
  const std::string_view kind = script_types::kind_of(node);
  if (kind.empty()) {
    // First report a misspelled key, which is more helpful than that the key is missing.
    reader.read_strictly(node, script_types::reply_table, nullptr, false);
    script_types::fail_without_kind(node);
  }
  if (kind == "scenario" || kind == "default" || kind == "ask") script_types::require_alone(node, kind);
  if (kind == "scenario") return script_types::scenario_step(node.at("scenario"));
  if (kind == "default") {
    script_values::require_yes(node.at("default"));
    return ReplyStep();
  }
  if (kind == "ask") {
    script_values::require_yes(node.at("ask"));
    return ReplyStep::asked();
  }
  if (kind != "failure") require_no_failure_key(node, true);
  if (kind == "failure" || kind == "raw_reply" || kind == "chunks") script_types::require_written(node, kind);
  script_reading::require_not_both(node, "every", "tokens_per_second");
  script_reading::require_not_both(node, "usage", "usage_json");
  Reply reply = script_types::bare_reply(reader, node, kind);
  reader.read_object(node, script_types::reply_table, &reply);
  reader.require_none_since(noted);
  return share<const Reply>(std::move(reply));
}

}  // namespace mock_gateway::detail
