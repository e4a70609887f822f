// Options::enforce: each rule of each service, byte by byte, with a request that it accepts; the findings without the
// switch; the switch in scripts and together with acceptances.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/chat_wire.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"

namespace enforce_test {

using namespace mock_gateway;
using detail::service_rules::Rule;
using test_support::chat_path;
using test_support::ChatWire;
using test_support::Response;
using test_support::said;
using test_support::with;

const std::string user = R"({"role":"user","content":"Hi"})";

inline std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ",") + part;
  return all;
}
inline std::string call(const std::string& id, const std::string& name = "f") {
  return R"({"id":")" + id + R"(","type":"function","function":{"name":")" + name + R"(","arguments":"not JSON"}})";
}
inline std::string calling(const std::vector<std::string>& calls) {
  return R"({"role":"assistant","content":null,"tool_calls":[)" + joined(calls) + "]}";
}
inline std::string result(const std::string& id) {
  return R"({"role":"tool","content":"21","tool_call_id":")" + id + R"("})";
}
inline std::string talk(const std::vector<std::string>& messages) { return said(joined(messages)); }
inline std::string tool(const std::string& name, const std::string& rest = "") {
  return R"({"type":"function","function":{"name":")" + name + "\"" + (rest.empty() ? "" : "," + rest) + "}}";
}
inline std::string tools(const std::vector<std::string>& all) { return R"("tools":[)" + joined(all) + "]"; }
inline std::string many_tools(std::size_t count) { return with(tools(std::vector<std::string>(count, tool("f")))); }
inline std::string parameters(const std::string& schema) {
  return with(tools({tool("f", R"("parameters":)" + schema)}));
}
inline std::string strict_tool(const std::string& schema) {
  return with(tools({tool("f"), tool("g", R"("strict":true,"parameters":)" + schema)}));
}
inline std::string format(const std::string& schema) {
  return with(R"("response_format":{"type":"json_schema","json_schema":{"name":"default","strict":true,"schema":)" +
              schema + "}}");
}
inline std::string model(const std::string& name, const std::string& body) {
  std::string changed = body;
  return changed.replace(changed.find("mock-model"), 10, name);
}
/// Returns the error body. `param` and `code` are JSON.
inline std::string error(const std::string& message, const std::string& param, const std::string& code) {
  std::string text;
  detail::text::append_json_string(text, message);
  return R"({"error":{"message":)" + text + R"(,"type":"invalid_request_error","param":)" + param + R"(,"code":)" +
         code + "}}";
}

struct Case {
  Profile service;
  const char* rule;
  std::string refused;
  std::string error;
  std::string accepted;
};

const std::string closed = R"("type":"object","additionalProperties":false)";
const std::string empty_tools =
    "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
const std::string required_text =
    "'required' is required to be supplied and to be an array including every key in properties. ";

inline std::vector<Case> openai_cases() {
  constexpr Profile openai = Profile::openai;
  const std::string long_id(41, 'i');
  const std::string good_id(40, 'i');
  return {
      {openai, "unknown_field", with(R"("zzz_unknown":1)"),
       error("Unknown parameter: 'zzz_unknown'.", R"("zzz_unknown")", R"("unknown_parameter")"),
       with(R"("metadata":{"a":"b"},"user":"u","logprobs":true,"max_completion_tokens":9,"reasoning_effort":"low")")},
      {openai, "unknown_field", with(R"("enable_thinking":true)"),
       error("Unknown parameter: 'enable_thinking'.", R"("enable_thinking")", R"("unknown_parameter")"),
       with(R"("zzz_unknown":null)")},
      {openai, "tool_calls_empty", talk({user, R"({"role":"assistant","content":"Hi","tool_calls":[]})"}),
       error("Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty "
             "array instead.",
             R"("messages[1].tool_calls")", R"("empty_array")"),
       talk({user, R"({"role":"assistant","content":"Hi","tool_calls":null})"})},
      {openai, "tool_call_id_too_long", talk({user, user, calling({call(long_id)}), result(long_id)}),
       error("Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but "
             "got a string with length 41 instead.",
             R"("messages[2].tool_calls[0].id")", R"("string_above_max_length")"),
       talk({user, calling({call(good_id)}), result(good_id)})},
      {openai, "tool_call_id_too_long", talk({user, calling({call("a")}), result(long_id)}),
       error("Invalid 'messages[2].tool_call_id': string too long. Expected a string with maximum length 40, but got a "
             "string with length 41 instead.",
             R"("messages[2].tool_call_id")", R"("string_above_max_length")"),
       talk({user, calling({call("a")}), result("a")})},
      {openai, "tools_empty", with(R"("tools":[])"), error(empty_tools, R"("tools")", R"("empty_array")"),
       with(R"("tools":null)")},
      {openai, "tools_too_many", many_tools(129),
       error("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length "
             "129 instead.",
             R"("tools")", R"("array_above_max_length")"),
       many_tools(128)},
      {openai, "tools_too_many", talk({user, calling(std::vector<std::string>(129, call("a")))}),
       error("Invalid 'messages[1].tool_calls': array too long. Expected an array with maximum length 128, but got an "
             "array with length 129 instead.",
             R"("messages[1].tool_calls")", R"("array_above_max_length")"),
       talk({user, calling({call("a"), call("b")}), result("b"), result("a")})},
      {openai, "tool_name_invalid", with(tools({tool("get weather")})),
       error("Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the "
             "pattern '^[a-zA-Z0-9_-]+$'.",
             R"("tools[0].function.name")", R"("invalid_value")"),
       with(tools({tool("get_Weather-2")}))},
      {openai, "tool_name_invalid", talk({user, calling({call("a", "f.g")}), result("a")}),
       error("Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that "
             "matches the pattern '^[a-zA-Z0-9_-]+$'.",
             R"("messages[1].tool_calls[0].function.name")", R"("invalid_value")"),
       talk({user, calling({call("a")}), result("a")})},
      {openai, "tool_name_too_long", with(tools({tool("f"), tool(std::string(74, 'f'))})),
       error("Invalid 'tools[1].function.name': string too long. Expected a string with maximum length 64, but got a "
             "string with length 74 instead.",
             R"("tools[1].function.name")", R"("string_above_max_length")"),
       with(tools({tool(std::string(64, 'f'))}))},
      {openai, "tool_schema_invalid", parameters(R"({"properties":{"a":{"type":"string"}}})"),
       error(
           R"(Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.)",
           R"("tools[0].function.parameters")", R"("invalid_function_parameters")"),
       parameters("{}")},
      {openai, "tool_schema_invalid", parameters(R"({"type":"array","items":{}})"),
       error(
           R"(Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.)",
           R"("tools[0].function.parameters")", R"("invalid_function_parameters")"),
       parameters(R"({"type":"object","properties":{}})")},
      {openai, "tool_schema_invalid", parameters(R"({"type":"object"})"),
       error("Invalid schema for function 'f': In context=(), object schema missing properties.",
             R"("tools[0].function.parameters")", R"("invalid_function_parameters")"),
       parameters(R"({"type":"object","additionalProperties":{"type":"string"}})")},
      {openai, "tool_schema_invalid", parameters(R"({"type":"string"})"),
       error(
           R"(Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.)",
           R"("tools[0].function.parameters")", R"("invalid_function_parameters")"),
       parameters(R"({"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}})")},
      {openai, "tool_schema_invalid",
       parameters(R"({"type":"object","properties":{"a":{"type":"string"},"paths":{"type":"array"}}})"),
       error("Invalid schema for function 'f': In context=('properties', 'paths'), array schema missing items.",
             R"("tools[0].function.parameters")", R"("invalid_function_parameters")"),
       parameters(R"({"type":"object","properties":{"paths":{"type":"array","items":{}},)"
                  R"("pair":{"type":"array","prefixItems":[]},"any":{"type":["array","null"]}}})")},
      {openai, "tool_schema_open", strict_tool(R"({"type":"object","properties":{}})"),
       error("Invalid schema for function 'g': In context=(), 'additionalProperties' is required to be supplied and to "
             "be false.",
             R"("tools[1].function.parameters")", R"("invalid_function_parameters")"),
       strict_tool("{" + closed + R"(,"properties":{}})")},
      {openai, "tool_schema_open",
       strict_tool("{" + closed + R"(,"required":["l"],"properties":{"l":{"type":"array","items":{"anyOf":[)" +
                   R"({"type":"string"},{"type":["object","null"],"properties":{}}]}}}})"),
       error("Invalid schema for function 'g': In context=('properties', 'l', 'items', 'anyOf', '1'), "
             "'additionalProperties' is required to be supplied and to be false.",
             R"("tools[1].function.parameters")", R"("invalid_function_parameters")"),
       with(tools({tool("g", R"("strict":false,"parameters":{"type":"object","properties":{"a":{}}})")}))},
      {openai, "tool_schema_optional",
       strict_tool("{" + closed +
                   R"(,"properties":{"sql":{"type":"string"},"params":{"type":"string"}},)"
                   R"("required":["sql"]})"),
       error("Invalid schema for function 'g': In context=(), " + required_text + "Missing 'params'.",
             R"("tools[1].function.parameters")", R"("invalid_function_parameters")"),
       strict_tool("{" + closed + R"(,"properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{)" +
                   closed + R"(,"properties":{"b":{"type":["string","null"]}},"required":["b"]}}})")},
      {openai, "tool_schema_optional", strict_tool("{" + closed + R"(,"properties":{"a":{}},"required":["a","b"]})"),
       error("Invalid schema for function 'g': In context=(), " + required_text + "Extra required key 'b' supplied.",
             R"("tools[1].function.parameters")", R"("invalid_function_parameters")"),
       strict_tool("{" + closed + R"(,"properties":{"a":{}},"required":["a"]})")},
      {openai, "tool_choice_without_tools", with(R"("tool_choice":"none")"),
       error("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
             R"("tool_choice")", "null"),
       with(R"("tool_choice":null)")},
      {openai, "parallel_tool_calls_without_tools", with(R"("parallel_tool_calls":false)"),
       error("Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are "
             "specified.",
             R"("parallel_tool_calls")", "null"),
       with(tools({tool("f")}) + R"(,"parallel_tool_calls":false,"tool_choice":"required")")},
      {openai, "parallel_tool_calls_null", with(tools({tool("f")}) + R"(,"parallel_tool_calls":null)"),
       error("Invalid type for 'parallel_tool_calls': expected a boolean, but got null instead.",
             R"("parallel_tool_calls")", R"("invalid_type")"),
       with(tools({tool("f")}) + R"(,"parallel_tool_calls":true)")},
      {openai, "messages_empty", said(""),
       error("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array "
             "instead.",
             R"("messages")", R"("empty_array")"),
       talk({user})},
      {openai, "top_logprobs_without_logprobs", with(R"("top_logprobs":2)"),
       error("The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", R"("top_logprobs")", "null"),
       with(R"("logprobs":true,"top_logprobs":2)")},
      {openai, "tool_call_id_missing",
       talk({user, calling({call("a")}), result("a"), R"({"role":"tool","content":"21"})"}),
       error("Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
             R"("messages.[3].tool_call_id")", "null"),
       talk({user, calling({call("a")}), result("a")})},
      {openai, "decimal_too_small", with(R"("frequency_penalty":-2.5)"),
       error("Invalid 'frequency_penalty': decimal below minimum value. Expected a value >= -2, but got -2.5 instead.",
             R"("frequency_penalty")", R"("decimal_below_min_value")"),
       with(R"("frequency_penalty":-2)")},
      {openai, "decimal_too_small", with(R"("temperature":-0.1)"),
       error("Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -0.1 instead.",
             R"("temperature")", R"("decimal_below_min_value")"),
       with(R"("temperature":0)")},
      {openai, "decimal_too_large", with(R"("frequency_penalty":3)"),
       error("Invalid 'frequency_penalty': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
             R"("frequency_penalty")", R"("decimal_above_max_value")"),
       with(R"("frequency_penalty":2)")},
      {openai, "decimal_too_large", with(R"("temperature":3)"),
       error("Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
             R"("temperature")", R"("decimal_above_max_value")"),
       with(R"("temperature":2,"presence_penalty":2)")},
      {openai, "integer_too_small", with(R"("max_tokens":0)"),
       error("Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
             R"("max_tokens")", R"("integer_below_min_value")"),
       with(R"("max_tokens":1)")},
      {openai, "integer_too_small", with(R"("max_completion_tokens":-1)"),
       error("Invalid 'max_completion_tokens': integer below minimum value. Expected a value >= 1, but got -1 instead.",
             R"("max_completion_tokens")", R"("integer_below_min_value")"),
       with(R"("max_completion_tokens":9223372036854775807)")},
      {openai, "integer_too_large", with(R"("n":130)"),
       error("Invalid 'n': integer above maximum value. Expected a value <= 128, but got 130 instead.", R"("n")",
             R"("integer_above_max_value")"),
       with(R"("n":128)")},
      {openai, "max_tokens_twice", with(R"("max_tokens":5,"max_completion_tokens":5)"),
       error("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", R"("max_tokens")",
             R"("invalid_parameter_combination")"),
       with(R"("max_tokens":5,"max_completion_tokens":null)")},
      {openai, "response_schema_open", format(R"({"type":"object","properties":{}})"),
       error("Invalid schema for response_format 'default': In context=(), 'additionalProperties' is required to be "
             "supplied and to be false.",
             R"("response_format")", "null"),
       format("{" + closed + R"(,"properties":{}})")},
      {openai, "response_schema_optional",
       format("{" + closed + R"(,"required":[],"properties":{},"$defs":{"A":{)" + closed +
              R"(,"properties":{"a":{}}}}})"),
       error(
           "Invalid schema for response_format 'default': In context=('$defs', 'A'), " + required_text + "Missing 'a'.",
           R"("response_format")", "null"),
       format("{" + closed + R"(,"required":["a"],"properties":{"a":{"type":"string"}}})")},
      {openai, "json_not_asked_for", with(R"("response_format":{"type":"json_object"})"),
       error("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
             R"("messages")", "null"),
       talk({R"({"role":"system","content":[{"type":"text","text":"Answer in Json."}]})", user})
           .replace(1, 0, R"("response_format":{"type":"json_object"},)")},
      {openai, "stops_too_many", with(R"("stop":["a","b","c","d","e"])"),
       error("Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 "
             "instead.",
             R"("stop")", R"("array_above_max_length")"),
       with(R"("stop":["a","b","c","d"])")},
      {openai, "stream_options_without_stream", with(R"("stream_options":{"include_usage":true},"stream":false)"),
       error("The 'stream_options' parameter is only allowed when 'stream' is enabled.", R"("stream_options")", "null"),
       with(R"("stream_options":{"include_usage":true},"stream":true)")},
      {openai, "tool_result_unknown_id", talk({user, calling({call("a")}), result("a"), user, result("a")}),
       error("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
             "'tool_calls'.",
             R"("messages.[4].role")", "null"),
       talk({user, calling({call("a")}), result("a"), user, calling({call("a")}), result("a")})},
      {openai, "tool_result_unknown_id", talk({user, calling({call("call_a")}), result("call_x")}),
       error("Invalid parameter: 'tool_call_id' of 'call_x' not found in 'tool_calls' of previous message.",
             R"("messages.[2].tool_call_id")", "null"),
       talk({user, calling({call("call_x")}), result("call_x")})},
      {openai, "tool_result_repeated",
       talk({user, calling({call("call_x"), call("b")}), result("call_x"), result("call_x")}),
       error("Invalid parameter: Duplicate value for 'tool_call_id' of 'call_x', in messages[2] and messages[3].",
             R"("messages.[3].tool_call_id")", "null"),
       talk({user, calling({call("same"), call("same")}), result("same"), result("same")})},
      {openai, "tool_call_unanswered",
       talk({user, calling({call("call_a"), call("c"), call("call_b")}), result("c"), user}),
       error("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
             "'tool_call_id'. The following tool_call_ids did not have response messages: call_a, call_b",
             R"("messages.[3].role")", "null"),
       talk({user, calling({call("a")}), result("a"), user})},
      {openai, "tool_call_unanswered", talk({user, calling({call("a")})}),
       error("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
             "'tool_call_id'. The following tool_call_ids did not have response messages: a",
             R"("messages")", "null"),
       talk({user, calling({call("a")}), result("a")})},
      {openai, "content_missing", talk({user, R"({"role":"assistant","content":null})"}),
       error("Invalid value for 'content': expected a string, got null.", R"("messages.[1].content")", "null"),
       talk({user, R"({"role":"assistant","content":null,"refusal":"No."})", R"({"role":"user","content":[]})",
             R"({"role":"user","content":""})"})},
      {openai, "content_missing", talk({R"({"role":"user"})"}),
       error("Invalid value for 'content': expected a string, got null.", R"("messages.[0].content")", "null"),
       talk({user})},
  };
}

inline std::vector<Case> other_cases() {
  constexpr Profile dashscope = Profile::dashscope;
  constexpr Profile deepseek = Profile::deepseek;
  const std::string off = R"("thinking":{"type":"disabled"})";
  const std::string on = R"("thinking":{"type":"enabled"})";
  const std::string offered = tools({tool("f")});
  const std::string forgotten = talk({user, calling({call("a")}), result("a")});
  std::string kept = forgotten;
  kept.replace(kept.find(R"("content":null)"), 14, R"("reasoning_content":"","content":null)");
  const auto adding = [](const std::string& fields, std::string body) { return body.insert(1, fields + ","); };
  const std::string invalid = R"("invalid_request_error")";
  const std::string code = R"("invalid_parameter_error")";
  return {
      {dashscope, "tools_empty", with(R"("tools":[])"), error("[] is too short - 'tools'", "null", code),
       with(offered)},
      {dashscope, "thinking_without_stream", with(R"("enable_thinking":true)"),
       error("parameter.enable_thinking must be set to false for non-streaming calls", "null", code),
       with(R"("enable_thinking":true,"stream":true)")},
      {dashscope, "thinking_without_stream", model("qwen-plus", with(R"("enable_thinking":true)")),
       error("parameter.enable_thinking must be set to false for non-streaming calls", "null", code),
       model("qwen3.5-plus", with(R"("enable_thinking":true)"))},
      {dashscope, "tool_choice_while_thinking",
       with(offered + R"(,"enable_thinking":true,"stream":true,"tool_choice":"required")"),
       error("<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
             "required or object in thinking mode",
             "null", code),
       with(offered + R"(,"enable_thinking":true,"stream":true,"tool_choice":"auto")")},
      {dashscope, "tool_choice_while_thinking",
       with(offered + R"(,"enable_thinking":true,"stream":true,)"
                      R"("tool_choice":{"type":"function","function":{"name":"f"}})"),
       error("<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
             "required or object in thinking mode",
             "null", code),
       with(offered + R"(,"enable_thinking":false,"tool_choice":{"type":"function","function":{"name":"f"}})")},
      {dashscope, "tool_name_too_long", with(tools({tool(std::string(65, 'f'))})),
       error("<400> InternalError.Algo.InvalidParameter: The length of the tool name cannot exceed 64.", "null", code),
       with(tools({tool(std::string(64, 'f'))}))},
      {dashscope, "tool_result_unknown_id", talk({user, result("a")}),
       error(
           "<400> InternalError.Algo.InvalidParameter: messages with role \"tool\" must be a response to a preceeding "
           "message with \"tool_calls\".",
           "null", code),
       forgotten},
      {dashscope, "tool_call_unanswered", talk({user, calling({call("a")}), result("b"), user}),
       error("<400> InternalError.Algo.InvalidParameter: An assistant message with \"tool_calls\" must be followed by "
             "tool messages responding to each \"tool_call_id\". The following tool_call_ids did not have response "
             "messages: messages[3].role",
             "null", code),
       forgotten},
      {deepseek, "tool_result_unknown_id", talk({user, result("a")}),
       error("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'", "null", invalid),
       forgotten},
      {deepseek, "tool_name_invalid", with(tools({tool("get weather")})),
       error("Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the "
             "pattern '^[a-zA-Z0-9_-]+$'.",
             "null", invalid),
       with(tools({tool("get_Weather-2")}))},
      {deepseek, "tool_name_too_long", with(tools({tool(std::string(65, 'f'))})),
       error("Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a "
             "string with length 65 instead.",
             "null", invalid),
       with(tools({tool(std::string(64, 'f'))}))},
      {deepseek, "json_not_asked_for", with(R"("response_format":{"type":"json_object"})"),
       error("Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.", "null",
             invalid),
       talk({R"({"role":"user","content":"JSON?"})"}).replace(1, 0, R"("response_format":{"type":"json_object"},)")},
      {deepseek, "reasoning_not_returned", adding(offered, model("moonshotai/kimi-k2.5", forgotten)),
       error("The `reasoning_content` in the thinking mode must be passed back to the API.", "null", invalid),
       adding(offered + "," + off, model("moonshotai/kimi-k2.5", forgotten))},
      {deepseek, "tools_empty", with(R"("tools":[])"), error(empty_tools, "null", invalid), with(offered)},
      {deepseek, "tool_choice_while_thinking", with(offered + "," + on + R"(,"tool_choice":"required")"),
       error("Thinking mode does not support this tool_choice", "null", invalid),
       with(offered + R"(,"tool_choice":"required")")},
      {deepseek, "tool_choice_while_thinking", model("deepseek-v4-pro", with(offered + R"(,"tool_choice":"required")")),
       error("Thinking mode does not support this tool_choice", "null", invalid),
       model("deepseek-v4-pro", with(offered + "," + off + R"(,"tool_choice":"required")"))},
      {deepseek, "reasoning_not_returned", adding(offered + "," + on, forgotten),
       error("The `reasoning_content` in the thinking mode must be passed back to the API.", "null", invalid),
       adding(offered + "," + on, kept)},
      {deepseek, "reasoning_not_returned", adding(offered, model("deepseek-v4-flash", forgotten)),
       error("The `reasoning_content` in the thinking mode must be passed back to the API.", "null", invalid),
       model("deepseek-v4-flash", forgotten)},
      {deepseek, "tool_call_unanswered", talk({user, calling({call("a")}), result("b")}),
       error("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
             "'tool_call_id'. (insufficient tool messages following tool_calls message)",
             "null", invalid),
       talk({user, calling({call("a"), call("b")}), result("b"), result("a")})},
      {deepseek, "tool_call_unanswered", talk({user, calling({call("a")}), user}),
       error("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
             "'tool_call_id'. (insufficient tool messages following tool_calls message)",
             "null", invalid),
       forgotten},
  };
}

inline std::vector<Case> all_cases() {
  std::vector<Case> all = openai_cases();
  for (Case& one : other_cases()) all.push_back(std::move(one));
  return all;
}

/// Returns the error with the ids that DashScope adds, which the header repeats.
inline std::string with_ids(const Case& one, const Response& response) {
  if (one.service != Profile::dashscope) return one.error;
  const std::string id = response.header("x-request-id");
  return one.error.substr(0, one.error.size() - 1) + R"(,"id":"chatcmpl-)" + id + R"(","request_id":")" + id + "\"}";
}
/// Whether the profile refuses the request in its own words, without the switch.
inline bool is_refused_anyway(const Case& one) {
  const std::set<std::string> rules = {"content_missing",     "max_tokens_twice",  "messages_empty",
                                       "integer_too_small",   "integer_too_large", "top_logprobs_without_logprobs",
                                       "tool_call_id_missing"};
  return rules.count(one.rule) > 0 || one.refused.find("temperature") != std::string::npos;
}

inline Options enforcing(Profile service) {
  return Options().enforce(service).any_model().verify_on_destruction(false);
}
inline Options shaped(Profile service) { return Options().profile(service).any_model().verify_on_destruction(false); }

inline std::set<std::string> codes_of(const Review& review) {
  std::set<std::string> codes;
  for (const Finding& finding : review.findings()) codes.insert(finding.code);
  return codes;
}

/// Whether a rule only repeats a finding that there is without it.
inline bool is_known(const std::string& rule) {
  const auto& kinds = detail::finding_kinds::all;
  return std::any_of(kinds.begin(), kinds.end(), [&rule](const auto& kind) { return rule == kind.code; });
}

TEST_CASE("an enforced service refuses what the real one refuses, with its error body, and nothing else") {
  for (const Case& one : all_cases()) {
    ChatWire wire(enforcing(one.service));
    INFO(one.refused.substr(0, 300));
    const Response refused = wire.post(one.refused);
    CHECK(refused.status == 400);
    CHECK(refused.header("Content-Type") == "application/json");
    CHECK(refused.body == with_ids(one, refused));
    const Exchange exchange = wire.gateway.journal().last();
    CHECK(exchange.decision() == Decision::Kind::rejected);
    CHECK(exchange.decision().detail == "400 " + std::string(one.rule));
    CHECK(codes_of(wire.gateway.review()).count("request_refused") == 1);
    wire.gateway.reset();  // the rules stay
    const Response again = wire.post(one.refused);
    CHECK(again.body == with_ids(one, again));
    wire.gateway.reset();
    INFO(one.accepted.substr(0, 300));
    const Response accepted = wire.post(one.accepted);
    CHECK_MESSAGE(accepted.status == 200, accepted.body);
    std::set<std::string> codes = codes_of(wire.gateway.review());
    for (const char* const usual : {"unlisted_model", "unknown_field", "beyond_documentation"}) codes.erase(usual);
    CHECK(codes == std::set<std::string>());
  }
}

TEST_CASE("every rule has a case, and every rule of this test exists") {
  std::set<std::pair<std::string, std::string>> rows;
  std::set<std::pair<std::string, std::string>> cases;
  for (const Rule& rule : detail::service_rules::rules) rows.emplace(to_string(rule.service), rule.name);
  for (const Case& one : all_cases()) cases.emplace(to_string(one.service), one.rule);
  CHECK(rows == cases);
  for (const auto& row : rows) CHECK(std::count(finding_codes().begin(), finding_codes().end(), row.second) == 1);
}

TEST_CASE("without the switch, the profile's gateway answers and has a finding that names the switch") {
  for (const Case& one : all_cases()) {
    if (is_refused_anyway(one)) continue;
    INFO(one.refused.substr(0, 300));
    const ChatWire wire(shaped(one.service));
    const Response response = wire.post(one.refused);
    if (std::string(one.rule) == "unknown_field" && one.refused.find("enable_thinking") != std::string::npos) continue;
    CHECK_MESSAGE(response.status == 200, response.body);
    const Review review = wire.gateway.review();
    const std::vector<Finding>& findings = review.findings();
    const auto named = [&one](const Finding& finding) { return finding.code == one.rule; };
    if (is_known(one.rule)) continue;  // reported as in every profile
    REQUIRE(std::count_if(findings.begin(), findings.end(), named) == 1);
    const Finding& finding = *std::find_if(findings.begin(), findings.end(), named);
    const std::string end = " refuses it with 400. --enforce " + to_string(one.service) + " does the same.";
    CHECK(finding.message.substr(finding.message.size() - end.size()) == end);
    const std::string quoted = Json::parse(one.error)["error"]["message"];
    CHECK(finding.message.find(quoted.substr(0, quoted.size() - 1)) == 0);
    CHECK_FALSE(finding.fails_review);
    const bool is_note = finding.code == "tool_call_id_too_long";
    CHECK(finding.severity == (is_note ? Severity::note : Severity::warning));
    CHECK(codes_of(review.without(one.rule)).count(one.rule) == 0);
    const ChatWire silent(shaped(one.service).without_finding(one.rule));
    silent.post(one.refused);
    CHECK(codes_of(silent.gateway.review()).count(one.rule) == 0);
  }
}

TEST_CASE("requests that the service accepts cause no finding of a rule") {
  for (const Case& one : all_cases()) {
    INFO(one.accepted.substr(0, 300));
    const ChatWire wire(shaped(one.service));
    CHECK(wire.post(one.accepted).status == 200);
    const std::set<std::string> codes = codes_of(wire.gateway.review());
    for (const Rule& rule : detail::service_rules::rules)
      if (!is_known(rule.name)) CHECK(codes.count(rule.name) == 0);
  }
}

TEST_CASE("the documented profile and the profiles of other services report no rule") {
  const ChatWire documented(Options().any_model().acceptance(Acceptance::openai()).verify_on_destruction(false));
  for (const Case& one : all_cases()) documented.post(one.refused);
  const std::set<std::string> codes = codes_of(documented.gateway.review());
  for (const Rule& rule : detail::service_rules::rules)
    if (!is_known(rule.name)) CHECK(codes.count(rule.name) == 0);
  const ChatWire deepseek(shaped(Profile::deepseek));
  deepseek.post(with(R"("stop":["a","b","c","d","e"],"tool_choice":"auto")"));
  deepseek.post(with(R"("enable_thinking":true)"));
  CHECK(codes_of(deepseek.gateway.review()) == std::set<std::string>());
}

TEST_CASE("the finding of a rule in full") {
  const ChatWire wire(shaped(Profile::openai));
  wire.post(with(R"("stop":["a","b","c","d","e"])"));
  wire.post(with(R"("tool_choice":"auto")"));
  CHECK(wire.gateway.review().message() ==
        "2 findings in 2 calls, 2 tries, 0 injected faults\n"
        "stops_too_many (exchange 1): Invalid 'stop': array too long. Expected an array with maximum length 4, but got "
        "an array with length 5 instead; OpenAI refuses it with 400. --enforce openai does the same.\n"
        "tool_choice_without_tools (exchange 2): Invalid value for 'tool_choice': 'tool_choice' is only allowed when "
        "'tools' are specified; OpenAI refuses it with 400. --enforce openai does the same.");
  CHECK(wire.gateway.review());
}

TEST_CASE("an enforced service decides the profile, unless it is set") {
  const ChatWire implied(enforcing(Profile::openai));
  CHECK(implied.http.with_key("sk-wrong").chat().error_code() == "invalid_api_key");
  const ChatWire set(Options().profile(Profile::documented).enforce(Profile::openai).verify_on_destruction(false));
  CHECK(set.http.with_key("sk-wrong").chat().error_code() == "unauthorized");
  CHECK(set.post(with(R"("tools":[])")).body == error(empty_tools, R"("tools")", R"("empty_array")"));
  CHECK(set.post(with(R"("metadata":{})")).status == 200);
  const ChatWire mixed(Options().profile(Profile::openai).enforce(Profile::deepseek).verify_on_destruction(false));
  CHECK(mixed.post(with(R"("tools":[])")).body == error(empty_tools, "null", R"("invalid_request_error")"));
  CHECK(mixed.post(with(R"("tool_choice":"auto")")).status == 200);
}

TEST_CASE("rules are enforced with every acceptance, after its own refusals") {
  for (const Acceptance& acceptance :
       {Acceptance(), Acceptance::openai(), Acceptance::strict(), Acceptance::lenient()}) {
    const ChatWire wire(enforcing(Profile::openai).acceptance(acceptance));
    for (const Case& one : openai_cases()) {
      INFO(one.refused.substr(0, 300));
      const std::string rule = one.rule;
      const Response response = wire.post(one.refused);
      const bool is_lenient = acceptance.has(Extension::anything_with_model_and_messages);
      if ((rule == "content_missing" || rule == "tool_call_id_missing") && is_lenient) {
        CHECK(response.status == (rule == "content_missing" ? 200 : 400));  // 400: another rule
        continue;
      }
      CHECK(response.status == 400);
      CHECK(response.body == one.error);
    }
    CHECK(wire.post(with("")).status == 200);
  }
}

TEST_CASE("a request with several mistakes gets one error, and one of the wrong type gets the gateway's") {
  const ChatWire wire(enforcing(Profile::openai));
  CHECK(wire.post(with(R"("stop":["a","b","c","d","e"],"tools":[],"zzz":1)")).error_message() ==
        "Unknown parameter: 'zzz'.");
  CHECK(wire.post(with(R"("stop":["a","b","c","d","e"],"tools":[])")).error_message() == empty_tools);
  CHECK(wire.post(with(R"("tools":{},"stop":["a","b","c","d","e"])")).error_code() == "invalid_type");
  CHECK(wire.post(with(R"("tool_choice":"required")")).error_message() ==
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.");
  CHECK(wire.post("{}").error_code() == "missing_required_parameter");
  CHECK(wire.post("[]").error_code() == "invalid_type");
  const std::string developer = R"({"role":"developer","content":null})";
  CHECK(wire.post(said(developer)).error_code() == "invalid_type");
}

TEST_CASE("content without parts is accepted by the openai profile, but not by strict acceptance") {
  const std::string body = said(R"({"role":"user","content":[]})");
  const ChatWire wire(shaped(Profile::openai));
  CHECK(wire.findings(body) == "");
  CHECK(wire.gateway.journal().last().chat().last_user_text() == "");
  CHECK(ChatWire(shaped(Profile::openai).acceptance(Acceptance::strict())).post(body).status == 400);
  CHECK(ChatWire(shaped(Profile::documented)).post(body).status == 400);
}

TEST_CASE("only services with rules can be enforced, in C++ and in scripts") {
  CHECK_THROWS_WITH_AS(Options().enforce(Profile::documented),
                       "mock_gateway: no rules are known for the profile documented; enforce one of openai, dashscope, "
                       "deepseek",
                       GatewayError);
  CHECK(detail::service_rules::services() == std::vector<std::string>{"openai", "dashscope", "deepseek"});
  const ScriptDocument script =
      ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1, "gateway": {"enforce": "openai"}})"));
  ChatWire wire(script.options().verify_on_destruction(false));
  CHECK(wire.post(with(R"("tools":[])")).body == error(empty_tools, R"("tools")", R"("empty_array")"));
  // Mounting other scripts changes no option.
  ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1, "stubs": [{"reply": "Hi"}]})")).mount(wire.gateway);
  CHECK(wire.post(with(R"("tools":[])")).status == 400);
  CHECK(wire.post(with("")).status == 200);
}

}  // namespace enforce_test
