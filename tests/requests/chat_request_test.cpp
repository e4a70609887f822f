// Bodies that POST /v1/chat/completions accepts and rejects: each documented field, and invalid bodies.
// acceptance_test.cpp tests the options that change this.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/chat_wire.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace chat_request_test {

using mock_gateway::Acceptance;
using mock_gateway::ChatRequest;
using mock_gateway::Json;
using mock_gateway::wire::ResponseFormat;
using mock_gateway::wire::ToolChoice;
using test_support::ChatWire;
using test_support::check_refused;
using test_support::check_refused_at;
using test_support::check_taken;
using test_support::json_values;
using test_support::JsonValue;
using test_support::one_call;
using test_support::repeated;
using test_support::Response;
using test_support::said;
using test_support::weather_tool;
using test_support::with;

inline bool contains(const std::vector<std::string>& list, const std::string& value) {
  for (const std::string& entry : list) {
    if (entry == value) return true;
  }
  return false;
}

TEST_CASE("each optional field refuses each wrong type with the place, the expected and the actual type") {
  struct Field {
    std::string name;
    std::string expected;
    std::vector<std::string> taken;
    std::vector<std::string> other_error;  // types that are accepted, but whose value is another error
  };
  const std::vector<Field> fields = {
      {"stream", "a boolean", {"boolean", "null"}, {}},
      {"stream_options", "an object", {"object", "null"}, {}},
      {"temperature", "a number", {"integer", "fraction", "null"}, {}},
      {"top_p", "a number", {"integer", "fraction", "null"}, {}},
      {"max_tokens", "an integer", {"integer", "null"}, {}},
      {"presence_penalty", "a number", {"integer", "fraction", "null"}, {}},
      {"n", "an integer", {"integer", "null"}, {}},
      {"seed", "an integer", {"integer", "null"}, {}},
      {"stop", "an array of strings or a string", {"string", "array", "null"}, {}},
      {"tools", "an array", {"array", "null"}, {}},
      {"tool_choice", "a string or an object", {"null"}, {"string", "object"}},
      {"parallel_tool_calls", "a boolean", {"boolean", "null"}, {}},
      {"response_format", "an object", {"null"}, {"object"}},
      {"enable_thinking", "a boolean", {"boolean", "null"}, {}},
      {"repetition_penalty", "a number", {"integer", "fraction", "null"}, {}},
      {"logprobs", "a boolean", {"boolean", "null"}, {}},
      {"top_logprobs", "an integer", {"null"}, {"integer"}},
  };
  const ChatWire wire;
  for (const Field& field : fields) {
    for (const JsonValue& value : json_values()) {
      const std::string body = with("\"" + field.name + "\":" + value.json);
      if (contains(field.taken, value.type)) {
        check_taken(wire, body);
      } else if (!contains(field.other_error, value.type)) {
        check_refused(wire, body, "invalid_type", field.name + ": expected " + field.expected + ", got " + value.got);
      }
    }
  }
}

TEST_CASE("model and messages are required and have fixed types") {
  const ChatWire wire;
  check_refused(wire, "{}", "missing_required_parameter", "model: expected a string, got nothing");
  check_refused(wire, R"({"messages":[{"role":"user","content":"Hi"}]})", "missing_required_parameter",
                "model: expected a string, got nothing");
  check_refused(wire, R"({"model":"mock-model"})", "missing_required_parameter",
                "messages: expected an array, got nothing");
  check_refused(wire, R"({"model":"","messages":[{"role":"user","content":"Hi"}]})", "invalid_value",
                "model: expected a string that is not empty, got \"\"");
  check_refused(wire, said(""), "invalid_value", "messages: expected at least one message, got an empty array");
  for (const JsonValue& value : json_values()) {
    const std::string json = value.json;
    const std::string got = value.got;
    if (std::string(value.type) != "string") {
      check_refused(wire, R"({"messages":[{"role":"user","content":"Hi"}],"model":)" + json + "}", "invalid_type",
                    "model: expected a string, got " + got);
    }
    if (std::string(value.type) != "array") {
      check_refused(wire, R"({"model":"mock-model","messages":)" + json + "}", "invalid_type",
                    "messages: expected an array, got " + got);
    }
    if (std::string(value.type) != "object") {
      check_refused(wire, said(R"({"role":"user","content":"Hi"},)" + json), "invalid_type",
                    "messages[1]: expected an object, got " + got);
    }
  }
}

TEST_CASE("the members of a message refuse each wrong type") {
  const ChatWire wire;
  for (const JsonValue& value : json_values()) {
    const std::string type = value.type;
    const std::string json = value.json;
    const std::string got = value.got;
    if (type != "string") {
      check_refused(wire, said(R"({"content":"Hi","role":)" + json + "}"), "invalid_type",
                    "messages[0].role: expected a string, got " + got);
      check_refused(wire, said(R"({"role":"tool","content":"21","tool_call_id":)" + json + "}"), "invalid_type",
                    "messages[0].tool_call_id: expected a string, got " + got);
      check_refused(wire, said(R"({"role":"user","content":[{"type":)" + json + "}]}"), "invalid_type",
                    "messages[0].content[0].type: expected a string, got " + got);
      check_refused(wire, said(R"({"role":"user","content":[{"type":"text","text":)" + json + "}]}"), "invalid_type",
                    "messages[0].content[0].text: expected a string, got " + got);
    }
    if (type != "string" && type != "array") {
      check_refused(wire, said(R"({"role":"user","content":)" + json + "}"), "invalid_type",
                    "messages[0].content: expected a string or an array of parts, got " + got);
    }
    if (type != "string" && type != "null") {
      check_refused(wire, said(R"({"role":"user","content":"Hi","name":)" + json + "}"), "invalid_type",
                    "messages[0].name: expected a string, got " + got);
    }
    if (type != "array" && type != "null") {
      check_refused(wire, said(R"({"role":"assistant","content":"Hi","tool_calls":)" + json + "}"), "invalid_type",
                    "messages[0].tool_calls: expected an array, got " + got);
    }
    if (type != "object") {
      check_refused(wire, said(R"({"role":"user","content":[)" + json + "]}"), "invalid_type",
                    "messages[0].content[0]: expected an object, got " + got);
    }
  }
}

TEST_CASE("the error for an invalid message names the place") {
  const ChatWire wire;
  const std::string roles = R"(expected one of "system", "user", "assistant", "tool", got )";
  const std::string content = "messages[0].content: expected a string or an array of parts, got ";
  check_refused(wire, said(R"({"role":"robot","content":"Hi"})"), "invalid_value",
                "messages[0].role: " + roles + "\"robot\"");
  check_refused(wire, said(R"({"role":"User","content":"Hi"})"), "invalid_value",
                "messages[0].role: " + roles + "\"User\"");
  check_refused(wire, said(R"({"content":"Hi"})"), "missing_required_parameter",
                "messages[0].role: " + roles + "nothing");
  check_refused(wire, said(R"({"role":"user"})"), "missing_required_parameter", content + "nothing");
  check_refused(wire, said(R"({"role":"assistant"})"), "missing_required_parameter", content + "nothing");
  check_refused(wire, said(R"({"role":"assistant","content":null})"), "invalid_type", content + "null");
  check_refused(wire, said(R"({"role":"assistant","content":null,"tool_calls":[]})"), "invalid_type", content + "null");
  check_refused(wire, said(R"({"role":"user","content":null,)" + one_call + "}"), "invalid_type", content + "null");
  check_refused(wire, said(R"({"role":"user","content":[]})"), "invalid_value",
                "messages[0].content: expected at least one part, got an empty array");
  check_refused(wire, said(R"({"role":"user","content":[{}]})"), "missing_required_parameter",
                "messages[0].content[0].type: expected a string, got nothing");
  check_refused(wire, said(R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text"}]})"),
                "missing_required_parameter", "messages[0].content[1].text: expected a string, got nothing");
  check_refused(wire, said(R"({"role":"tool","content":"21"})"), "missing_required_parameter",
                "messages[0].tool_call_id: expected a string, got nothing");

  const std::vector<std::pair<std::string, std::string>> calls = {
      {R"(1)", "messages[0].tool_calls[0]: expected an object, got a number (1)"},
      {R"({})", "messages[0].tool_calls[0].id: expected a string, got nothing"},
      {R"({"id":7})", "messages[0].tool_calls[0].id: expected a string, got a number (7)"},
      {R"({"id":"c"})", "messages[0].tool_calls[0].type: expected \"function\", got nothing"},
      {R"({"id":"c","type":true})", "messages[0].tool_calls[0].type: expected a string, got a boolean (true)"},
      {R"({"id":"c","type":"code"})", "messages[0].tool_calls[0].type: expected \"function\", got \"code\""},
      {R"({"id":"c","type":"function"})", "messages[0].tool_calls[0].function: expected an object, got nothing"},
      {R"({"id":"c","type":"function","function":"f"})",
       "messages[0].tool_calls[0].function: expected an object, got a string (\"f\")"},
      {R"({"id":"c","type":"function","function":{"arguments":"{}"}})",
       "messages[0].tool_calls[0].function.name: expected a string, got nothing"},
      {R"({"id":"c","type":"function","function":{"name":"f"}})",
       "messages[0].tool_calls[0].function.arguments: expected a string, got nothing"},
      {R"({"id":"c","type":"function","function":{"name":"f","arguments":{}}})",
       "messages[0].tool_calls[0].function.arguments: expected a string, got an object"},
  };
  for (const auto& wrong : calls) {
    const Response response =
        wire.post(said(R"({"role":"assistant","content":"","tool_calls":[)" + wrong.first + "]}"));
    INFO(wrong.first);
    CHECK(response.status == 400);
    CHECK(response.error_message() == wrong.second);
  }
}

TEST_CASE("numbers have inclusive bounds") {
  const ChatWire wire;
  for (const char* fields :
       {R"("top_p":0)", R"("top_p":1)", R"("top_p":0.0)", R"("presence_penalty":-2)", R"("presence_penalty":2)",
        R"("presence_penalty":-2.0)", R"("max_tokens":1)", R"("max_tokens":9223372036854775807)", R"("n":1)",
        R"("n":128,"max_tokens":1)", R"("logprobs":true,"top_logprobs":0)", R"("logprobs":true,"top_logprobs":20)",
        R"("seed":0)", R"("seed":9223372036854775807)", R"("seed":-9223372036854775808)", R"("repetition_penalty":-1)",
        R"("repetition_penalty":1e300)", R"("temperature":-1)", R"("temperature":1e300)"}) {
    check_taken(wire, with(fields));
  }
  const char* below = "value_below_minimum";
  const char* above = "value_above_maximum";
  check_refused(wire, with(R"("top_p":-0.1)"), below, "top_p: expected at least 0.0, got -0.1");
  check_refused(wire, with(R"("top_p":1.1)"), above, "top_p: expected at most 1.0, got 1.1");
  check_refused(wire, with(R"("presence_penalty":-2.1)"), below, "presence_penalty: expected at least -2.0, got -2.1");
  check_refused(wire, with(R"("presence_penalty":3)"), above, "presence_penalty: expected at most 2.0, got 3");
  check_refused(wire, with(R"("max_tokens":0)"), below, "max_tokens: expected at least 1, got 0");
  check_refused(wire, with(R"("max_tokens":-5)"), below, "max_tokens: expected at least 1, got -5");
  check_refused(wire, with(R"("n":0)"), below, "n: expected at least 1, got 0");
  check_refused(wire, with(R"("n":129)"), above, "n: expected at most 128, got 129");
  check_refused(wire, with(R"("logprobs":true,"top_logprobs":-1)"), below, "top_logprobs: expected at least 0, got -1");
  check_refused(wire, with(R"("logprobs":true,"top_logprobs":21)"), above, "top_logprobs: expected at most 20, got 21");
}

TEST_CASE("numbers beyond 64 bits and beyond double are refused, not wrapped around") {
  const ChatWire wire;
  check_refused(wire, with(R"("seed":9223372036854775808)"), "value_above_maximum",
                "seed: expected at most 9223372036854775807, got 9223372036854775808");
  check_refused_at(wire, with(R"("seed":18446744073709551616)"), "value_above_maximum", "seed: expected at most ");
  check_refused_at(wire, with(R"("seed":-9223372036854775809)"), "value_below_minimum",
                   "seed: expected at least -9223372036854775808, got ");
  check_refused_at(wire, with(R"("max_tokens":1e30)"), "value_above_maximum", "max_tokens: expected at most ");
  check_refused_at(wire, with(R"("n":-1e300)"), "value_below_minimum", "n: expected at least 1, got ");
  check_refused_at(wire, with(R"("n":99999999999999999999999999)"), "value_above_maximum", "n: expected at most 128");
  check_refused_at(wire, with(R"("temperature":1e999)"), "invalid_json", "invalid JSON at line 1, column 81: ");
}

TEST_CASE("5.0 is accepted as an integer, 5.5 is not") {
  const ChatWire wire;
  const ChatRequest request = wire.understood(with(R"("n":2.0,"max_tokens":5.0,"seed":-1e3)"));
  CHECK(request.n == 2);
  CHECK(request.max_tokens == 5);
  CHECK(request.seed == -1000);
  for (const char* field : {"n", "max_tokens", "seed"}) {
    check_refused(wire, with("\"" + std::string(field) + "\":5.5"), "invalid_type",
                  std::string(field) + ": expected an integer, got a number (5.5)");
  }
}

TEST_CASE("stop contains non-empty strings") {
  const ChatWire wire;
  CHECK(wire.understood(with(R"("stop":["a","b"])")).stop == std::vector<std::string>{"a", "b"});
  check_taken(wire, with("\"stop\":[\"x\"" + repeated(",\"x\"", 99) + "]"));
  check_refused(wire, with(R"("stop":["a",""])"), "invalid_value",
                "stop[1]: expected a string that is not empty, got \"\"");
  check_refused(wire, with(R"("stop":"")"), "invalid_value", "stop: expected a string that is not empty, got \"\"");
  for (const JsonValue& value : json_values()) {
    if (std::string(value.type) == "string") continue;
    check_refused(wire, with("\"stop\":[" + std::string(value.json) + "]"), "invalid_type",
                  "stop[0]: expected a string, got " + std::string(value.got));
  }
}

TEST_CASE("the error for an invalid tool names the place") {
  const ChatWire wire;
  struct Case {
    const char* tools;
    const char* code;
    const char* message;
  };
  const std::vector<Case> cases = {
      {R"([7])", "invalid_type", "tools[0]: expected an object, got a number (7)"},
      {R"([{}])", "missing_required_parameter", "tools[0].type: expected \"function\", got nothing"},
      {R"([{"type":1}])", "invalid_type", "tools[0].type: expected a string, got a number (1)"},
      {R"([{"type":"web"}])", "invalid_value", "tools[0].type: expected \"function\", got \"web\""},
      {R"([{"type":"function"}])", "missing_required_parameter", "tools[0].function: expected an object, got nothing"},
      {R"([{"type":"function","function":"f"}])", "invalid_type",
       "tools[0].function: expected an object, got a string (\"f\")"},
      {R"([{"type":"function","function":{}}])", "missing_required_parameter",
       "tools[0].function.name: expected a string, got nothing"},
      {R"([{"type":"function","function":{"name":null}}])", "invalid_type",
       "tools[0].function.name: expected a string, got null"},
      {R"([{"type":"function","function":{"name":""}}])", "invalid_value",
       "tools[0].function.name: expected a string that is not empty, got \"\""},
      {R"([{"type":"function","function":{"name":"f","description":1}}])", "invalid_type",
       "tools[0].function.description: expected a string, got a number (1)"},
      {R"([{"type":"function","function":{"name":"f","parameters":true}}])", "invalid_type",
       "tools[0].function.parameters: expected an object, got a boolean (true)"},
      {R"([{"type":"function","function":{"name":"f","parameters":"{}"}}])", "invalid_type",
       "tools[0].function.parameters: expected an object, got a string (\"{}\")"},
      {R"([{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g","strict":"yes"}}])",
       "invalid_type", "tools[1].function.strict: expected a boolean, got a string (\"yes\")"},
  };
  for (const Case& wrong : cases) {
    check_refused(wire, with("\"tools\":" + std::string(wrong.tools)), wrong.code, wrong.message);
  }
}

TEST_CASE("tool_choice names a mode or one of the tools") {
  const ChatWire wire;
  const auto choice = [](const std::string& json) { return with(weather_tool + ",\"tool_choice\":" + json); };
  const auto understood = [&](const std::string& body) { return wire.understood(body).tool_choice; };
  CHECK(understood(with("")).mode == ToolChoice::Mode::none);
  CHECK(understood(with(weather_tool)).mode == ToolChoice::Mode::automatic);
  CHECK(understood(choice("\"auto\"")).mode == ToolChoice::Mode::automatic);
  CHECK(understood(choice("\"none\"")).mode == ToolChoice::Mode::none);
  CHECK(understood(choice("\"required\"")).mode == ToolChoice::Mode::required);
  const ToolChoice named = understood(choice(R"({"type":"function","function":{"name":"get_weather"}})"));
  CHECK(named.mode == ToolChoice::Mode::named);
  CHECK(named.name == "get_weather");
  check_taken(wire, with(R"("tool_choice":"none")"));

  check_refused(
      wire, choice("\"any\""), "invalid_value",
      R"(tool_choice: expected one of "none", "auto", "required" or an object that names a function, got "any")");
  check_refused(wire, choice("{}"), "missing_required_parameter",
                "tool_choice.type: expected \"function\", got nothing");
  check_refused(wire, choice(R"({"type":"tool"})"), "invalid_value",
                "tool_choice.type: expected \"function\", got \"tool\"");
  check_refused(wire, choice(R"({"type":"function"})"), "missing_required_parameter",
                "tool_choice.function: expected an object, got nothing");
  check_refused(wire, choice(R"({"type":"function","function":{}})"), "missing_required_parameter",
                "tool_choice.function.name: expected a string, got nothing");
  check_refused(wire, choice(R"({"type":"function","function":{"name":1}})"), "invalid_type",
                "tool_choice.function.name: expected a string, got a number (1)");
  check_refused(wire, choice(R"({"type":"function","function":{"name":"get_time"}})"), "invalid_value",
                "tool_choice.function.name: expected the name of one of tools, got \"get_time\"");
  check_refused(wire, with(R"("tool_choice":"required")"), "invalid_value",
                "tool_choice: expected tools for \"required\", got none");
  check_refused(wire, with(R"("tools":[],"tool_choice":"required")"), "invalid_value",
                "tool_choice: expected tools for \"required\", got none");
  check_refused(wire, with(R"("tool_choice":{"type":"function","function":{"name":"f"}})"), "invalid_value",
                "tool_choice.function.name: expected the name of one of tools, got \"f\"");
}

TEST_CASE("response_format is text, json_object or a named schema") {
  const ChatWire wire;
  const auto format = [](const std::string& json) { return with("\"response_format\":" + json); };
  check_taken(wire, format(R"({"type":"text"})"));
  check_taken(wire, format(R"({"type":"json_object"})"));
  check_taken(wire, format(R"({"type":"json_schema","json_schema":{"name":"x","schema":{},"strict":null}})"));
  const ChatRequest request = wire.understood(format(
      R"({"type":"json_schema","json_schema":{"name":"city","schema":{"type":"string"},"strict":true,"description":"d"}})"));
  REQUIRE(request.response_format.has_value());
  CHECK(request.response_format->kind == ResponseFormat::Kind::json_schema);
  CHECK(request.response_format->name == "city");
  CHECK(request.response_format->schema == Json{{"type", "string"}});
  CHECK(request.response_format->strict);

  check_refused(wire, format("{}"), "missing_required_parameter",
                "response_format.type: expected a string, got nothing");
  check_refused(wire, format(R"({"type":5})"), "invalid_type",
                "response_format.type: expected a string, got a number (5)");
  check_refused(wire, format(R"({"type":"xml"})"), "invalid_value",
                R"(response_format.type: expected one of "text", "json_object", "json_schema", got "xml")");
  const auto schema = [&](const std::string& json) {
    return format(R"({"type":"json_schema","json_schema":)" + json + "}");
  };
  check_refused(wire, format(R"({"type":"json_schema"})"), "missing_required_parameter",
                "response_format.json_schema: expected an object, got nothing");
  check_refused(wire, schema("[]"), "invalid_type",
                "response_format.json_schema: expected an object, got an empty array");
  check_refused(wire, schema(R"({"schema":{}})"), "missing_required_parameter",
                "response_format.json_schema.name: expected a string, got nothing");
  check_refused(wire, schema(R"({"name":1,"schema":{}})"), "invalid_type",
                "response_format.json_schema.name: expected a string, got a number (1)");
  check_refused(wire, schema(R"({"name":"x"})"), "missing_required_parameter",
                "response_format.json_schema.schema: expected an object, got nothing; the acceptance switch "
                "json_schema_without_schema accepts it, and so does the profile openai");
  check_refused(wire, schema(R"({"name":"x","schema":"{}"})"), "invalid_type",
                "response_format.json_schema.schema: expected an object, got a string (\"{}\")");
  check_refused(wire, schema(R"({"name":"x","schema":{},"strict":1})"), "invalid_type",
                "response_format.json_schema.strict: expected a boolean, got a number (1)");
  check_refused(wire, schema(R"({"name":"x","schema":{},"description":1})"), "invalid_type",
                "response_format.json_schema.description: expected a string, got a number (1)");
}

TEST_CASE("stream_options and top_logprobs depend on stream and logprobs") {
  const ChatWire wire;
  check_refused(wire, with(R"("stream":true,"stream_options":{"include_usage":"yes"})"), "invalid_type",
                "stream_options.include_usage: expected a boolean, got a string (\"yes\")");
  check_refused(wire, with(R"("top_logprobs":2)"), "invalid_value",
                "top_logprobs: expected nothing unless logprobs is true, got 2");
  check_refused(wire, with(R"("logprobs":false,"top_logprobs":0)"), "invalid_value",
                "top_logprobs: expected nothing unless logprobs is true, got 0");
  // The order of the fields does not matter.
  const ChatRequest request = wire.understood(
      with(R"("stream_options":{"include_usage":true},"top_logprobs":2,"logprobs":true,"stream":true)"));
  CHECK(request.include_usage);
  CHECK(request.top_logprobs == 2);
  CHECK(request.findings.empty());
}

TEST_CASE("invalid JSON is refused with line and column") {
  const ChatWire wire;
  check_refused(wire, "", "invalid_json", "invalid JSON: the body is empty");
  struct Case {
    std::string body;
    const char* place;
  };
  const std::vector<Case> cases = {
      {"   ", "line 1, column 4"},
      {R"({"model":"mock-model")", "line 1, column 22"},               // unterminated
      {R"({"model":"mock)", "line 1, column 15"},                      // in a string
      {with("").substr(0, with("").size() - 1), "line 1, column 66"},  // without the last byte
      {with(R"("temperature":NaN)"), "line 1, column 81"},
      {with(R"("temperature":Infinity)"), "line 1, column 81"},
      {with(R"("temperature":-Infinity)"), "line 1, column 82"},
      {with("") + " x", "line 1, column 68"},      // trailing bytes
      {with("") + with(""), "line 1, column 67"},  // garbage
      {with("") + std::string(1, '\0') + "x", "line 1, column 67"},
      {"{\n  \"model\": \"mock-model\",\n  'messages': []\n}", "line 3, column 3"},  // quotes
      {"{\"model\":\n\"mock-model\",}", "line 2, column 14"},                        // comma
      {"{\"model\" \"mock-model\"}", "line 1, column 10"},                           // no colon
      {"// Hi\n" + with(""), "line 1, column 1"},                                    // comment
      {"model=mock-model", "line 1, column 1"},
      {"{\"model\":\"a\xff\"}", "line 1, column 12"},         // not UTF-8
      {"{\"model\":\"\xc3\xbc\xc3\"}", "line 1, column 13"},  // truncated character
      {"{\"model\":\"\xed\xa0\x80\"}", "line 1, column 12"},  // a surrogate
      {"{\"model\":\"\xc0\xaf\"}", "line 1, column 11"},      // overlong encoding
      {"{\"\xff\":1}", "line 1, column 3"},                   // in a key
      {"{\"model\":\"a\tb\"}", "line 1, column 12"},          // control character
      {R"({"model":"\ud800"})", "line 1, column 17"},         // half a surrogate pair
      {R"({"n":01})", "line 1, column 7"},
  };
  for (const Case& wrong : cases) {
    const Response response = wire.post(wrong.body);
    INFO(wrong.body.substr(0, 300));
    CHECK(response.status == 400);
    CHECK(response.error_code() == "invalid_json");
    const std::string beginning = "invalid JSON at " + std::string(wrong.place) + ": ";
    CHECK(response.error_message().substr(0, beginning.size()) == beginning);
    CHECK(response.error_message().size() > beginning.size());
  }
}

TEST_CASE("the error of a long body does not quote it") {
  const ChatWire wire;
  const Response unterminated = wire.post("{\"model\":\"" + std::string(1000000, 'x'));
  CHECK(unterminated.error_code() == "invalid_json");
  CHECK(unterminated.body.size() < 500);
  const Response wrong = wire.post(with("\"temperature\":\"" + std::string(1000000, 'x') + "\""));
  CHECK(wrong.error_code() == "invalid_type");
  CHECK(wrong.body.size() < 500);
}

TEST_CASE("an error quotes a value of a body up to 60 bytes; of a longer value it quotes the beginning") {
  const ChatWire wire;
  for (const std::size_t length : {std::size_t{60}, std::size_t{61}}) {
    CAPTURE(length);
    const std::string whole(length, 'x');
    const std::string shown = length == 60 ? whole : std::string(60, 'x') + "\u2026";
    const auto finding = [&](const std::string& body) {
      CHECK(wire.findings(body) != "");
      return wire.gateway.journal().last().findings().back().message;
    };
    check_refused(wire, with("\"temperature\":\"" + whole + "\""), "invalid_type",
                  "temperature: expected a number, got a string (\"" + shown + "\")");
    check_refused(wire, said(R"({"content":"Hi","role":")" + whole + "\"}"), "invalid_value",
                  R"(messages[0].role: expected one of "system", "user", "assistant", "tool", got ")" + shown + '"');
    CHECK(finding(with(R"("stream":true,"stream_options":{")" + whole + "\":1}")) ==
          "stream_options." + shown + ": not a documented field; leave it out.");
    CHECK(wire.findings(with(R"("user":{")" + whole + "\":1,\"" + whole + "\":2}")) == "duplicate_key unknown_field");
    CHECK(wire.gateway.journal().last().findings()[0].message ==
          "user: the key \"" + shown + "\" occurs more than once; the last one counts. Send it once.");
    CHECK(finding(said(R"({"role":"tool","content":"21","tool_call_id":")" + whole + "\"}")) ==
          "messages[0].tool_call_id: no earlier call has the id \"" + shown +
              "\". Send the id of the call, and keep the assistant message that contains the call.");
    CHECK(finding(said(
              R"({"role":"assistant","content":"","tool_calls":[{"id":")" + whole +
              R"(","type":"function","function":{"name":"f","arguments":""}}]},{"role":"user","content":"Hi"})")) ==
          "messages[0].tool_calls: no tool message before messages[1] answers \"" + shown +
              "\". Send each call's result right after the call.");
  }
}

TEST_CASE("an integer written as a fraction is limited to 64 bits too") {
  const ChatWire wire;
  CHECK(wire.understood(with(R"("seed":9223372036854774784.0)")).seed == 9223372036854774784);
  CHECK(wire.understood(with(R"("seed":-9223372036854774784.0)")).seed == -9223372036854774784);
  check_refused_at(wire, with(R"("seed":9223372036854775808.0)"), "value_above_maximum", "seed: expected at most ");
  check_refused_at(wire, with(R"("seed":-9223372036854775808.0)"), "value_below_minimum", "seed: expected at least ");
  check_refused(wire, with(R"("max_tokens":0.0)"), "value_below_minimum", "max_tokens: expected at least 1, got 0.0");
  check_refused(wire, with(R"("n":129.0)"), "value_above_maximum", "n: expected at most 128, got 129.0");
}

TEST_CASE("JSON that is not an object is refused") {
  const ChatWire wire;
  for (const JsonValue& value : json_values()) {
    if (std::string(value.type) == "object") continue;
    check_refused(wire, value.json, "invalid_type", "body: expected an object, got " + std::string(value.got));
  }
}

TEST_CASE("nesting is accepted up to 512 levels and refused beyond 512") {
  const ChatWire wire;
  const auto nested = [](std::size_t levels) {
    return with("\"x\":" + std::string(levels, '[') + std::string(levels, ']'));
  };
  check_taken(wire, nested(511));  // the body itself is the first level
  check_refused(wire, nested(512), "invalid_json",
                "invalid JSON at line 1, column 582: more than 512 levels of nesting");
  check_refused_at(wire, nested(10000), "invalid_json", "invalid JSON at line 1, column 582: more than 512 levels");
  check_refused_at(wire, std::string(10000, '['), "invalid_json", "invalid JSON at line 1, column 513: ");
  check_refused_at(wire, repeated("{\"a\":", 10000), "invalid_json", "invalid JSON at line 1, column 2561: ");
  check_refused_at(wire, repeated("{\"messages\":[", 10000), "invalid_json", "invalid JSON at line 1, column ");
  check_taken(wire, with(""));
}

TEST_CASE("the last of repeated keys counts and is a finding; strict refuses repeated keys") {
  const std::string body =
      R"({"model":"other","model":"mock-model","messages":[{"role":"user","content":"a","content":"b"}]})";
  const ChatWire wire;
  const ChatRequest request = wire.understood(body);
  CHECK(request.model == "mock-model");
  CHECK(request.last_user_text() == "b");
  CHECK(wire.findings(body) == "duplicate_key duplicate_key");
  CHECK(wire.gateway.journal().last().findings()[0].message ==
        "messages[0]: the key \"content\" occurs more than once; the last one counts. Send it once.");
  check_refused(ChatWire(Acceptance::strict()), body, "invalid_json",
                "invalid JSON: messages[0]: the key \"content\" occurs more than once");
}

TEST_CASE("a body with very many keys is answered normally, with a limited number of findings") {
  std::string fields = "\"k\":0";
  for (int i = 0; i < 50000; ++i) fields += ",\"k" + std::to_string(i) + "\":0";
  const ChatWire wire;
  const Response response = wire.post(with(fields + ",\"k\":1"));
  CHECK(response.status == 200);
  CHECK(wire.gateway.journal().last().findings().size() == 100);
}

TEST_CASE("accepted fields that should be changed are findings") {
  const ChatWire wire;
  CHECK(wire.findings(with("")) == "");
  CHECK(wire.findings(with(R"("user":"u")")) == "unknown_field");
  CHECK(wire.gateway.journal().last().findings()[0].message == "user: not a documented field; leave it out.");
  CHECK(wire.findings(with(R"("frequency_penalty":1)")) == "unknown_field");
  CHECK(wire.gateway.journal().last().findings()[0].message ==
        "frequency_penalty: not a documented field; use repetition_penalty instead.");
  CHECK(wire.findings(with(R"("user":"u","metadata":{},"top_k":5)")) == "unknown_field unknown_field unknown_field");
  CHECK(wire.findings(with(R"("stream":true,"stream_options":{"chunk":1})")) == "unknown_field");
  CHECK(wire.findings(with(R"("stop":"x")")) == "stop_as_string");
  CHECK(wire.findings(with(R"("stream_options":{"include_usage":true})")) == "stream_options_without_stream");
  CHECK(wire.findings(with(R"("temperature":2.1)")) == "temperature_out_of_range");
  CHECK(wire.findings(with(R"("temperature":-0.1)")) == "temperature_out_of_range");
  CHECK(wire.findings(with(R"("temperature":2)")) == "");
  CHECK(wire.findings(with(R"("temperature":1,"top_p":1)")) == "temperature_and_top_p");
  // Undocumented members of nested objects are accepted without a finding.
  CHECK(wire.findings(said(R"({"role":"user","content":"Hi","annotations":[],"x":null})")) == "");
}

TEST_CASE("the finding about unanswered tool calls names each call once, and at most three calls") {
  const ChatWire wire;
  const auto missing = [&](const std::vector<std::string>& ids, const std::string& answered) {
    Json calls = Json::array();
    for (const std::string& id : ids) {
      calls.push_back({{"id", id}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}});
    }
    const Json assistant = {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", calls}};
    const Json result = {{"role", "tool"}, {"tool_call_id", answered}, {"content", "21"}};
    CHECK(wire.findings(said(assistant.dump() + "," + result.dump())) == "tool_call_unanswered");
    const std::string message = wire.gateway.journal().last().findings()[0].message;
    const std::string before = "messages[0].tool_calls: no tool message up to the end of messages answers ";
    const std::string after = ". Send each call's result right after the call.";
    CHECK(message.substr(0, before.size()) == before);
    CHECK(message.substr(message.size() - after.size()) == after);
    return message.substr(before.size(), message.size() - before.size() - after.size());
  };
  CHECK(missing({"a", "b"}, "a") == R"("b")");
  CHECK(missing({"a", "b", "c"}, "b") == R"("a", "c")");
  CHECK(missing({"a", "b", "c", "d"}, "d") == R"("a", "b", "c")");
  CHECK(missing({"a", "b", "c", "d", "e"}, "a") == R"("b", "c", "d" and 1 more)");
  CHECK(missing({"a", "b", "c", "d", "e", "f"}, "f") == R"("a", "b", "c" and 2 more)");
  CHECK(missing({"a", "b", "b", "a", "c"}, "c") == R"("a", "b")");
}

TEST_CASE("every field of a request is parsed") {
  const ChatWire wire;
  const ChatRequest request = wire.understood(
      R"({"model":"mock-model","messages":[{"role":"system","content":"Be brief.","name":"boss"},)"
      R"({"role":"user","content":[{"type":"text","text":"Hi "},{"type":"text","text":"there"}]},)"
      R"({"role":"assistant","content":null,)" +
      one_call + R"(},{"role":"tool","tool_call_id":"call_1","content":"21"}],"stream":true,)" +
      R"("stream_options":{"include_usage":true},"temperature":0.2,"max_tokens":9,"presence_penalty":-1,"n":2,)"
      R"("seed":7,"stop":["END"],)" +
      weather_tool + R"(,"tool_choice":"none","parallel_tool_calls":false,"response_format":{"type":"text"},)" +
      R"("enable_thinking":true,"repetition_penalty":1.1,"logprobs":true,"top_logprobs":3,"user":"u"})");
  CHECK(request.model == "mock-model");
  REQUIRE(request.messages.size() == 4);
  CHECK(request.messages[0].role == "system");
  CHECK(request.messages[0].name == "boss");
  CHECK(request.messages[1].content.is_array());
  CHECK(request.messages[1].text() == "Hi there");
  CHECK(request.messages[2].content.is_null());
  CHECK(request.messages[2].text() == "");
  REQUIRE(request.messages[2].tool_calls.size() == 1);
  CHECK(request.messages[2].tool_calls[0].id == "call_1");
  CHECK(request.messages[2].tool_calls[0].name == "f");
  CHECK(request.messages[2].tool_calls[0].json() == Json{{"a", 1}});
  CHECK(request.messages[3].tool_call_id == "call_1");
  CHECK(request.last_user_text() == "Hi there");
  CHECK(request.stream);
  CHECK(request.include_usage);
  CHECK(request.temperature == 0.2);
  CHECK(request.top_p == std::nullopt);
  CHECK(request.max_tokens == 9);
  CHECK(request.presence_penalty == -1.0);
  CHECK(request.n == 2);
  CHECK(request.seed == 7);
  CHECK(request.stop == std::vector<std::string>{"END"});
  REQUIRE(request.tools.size() == 1);
  CHECK(request.has_tool("get_weather"));
  CHECK_FALSE(request.has_tool("get_time"));
  CHECK(request.tools[0].description == "Weather of a city");
  CHECK(request.tools[0].parameters["type"] == "object");
  CHECK(request.tools[0].strict);
  CHECK(request.tool_choice.mode == ToolChoice::Mode::none);
  CHECK(request.parallel_tool_calls == false);
  REQUIRE(request.response_format.has_value());
  CHECK(request.response_format->kind == ResponseFormat::Kind::text);
  CHECK(request.enable_thinking == true);
  CHECK(request.repetition_penalty == 1.1);
  CHECK(request.logprobs);
  CHECK(request.top_logprobs == 3);
  CHECK(request.body["user"] == "u");
  CHECK(request.body.begin().key() == "model");
}

TEST_CASE("absent optional fields are empty, and null counts as absent") {
  const ChatWire wire;
  const std::string nulls =
      R"("stream":null,"stream_options":null,"temperature":null,"top_p":null,"max_tokens":null,"presence_penalty":null,)"
      R"("n":null,"seed":null,"stop":null,"tools":null,"tool_choice":null,"parallel_tool_calls":null,)"
      R"("response_format":null,"enable_thinking":null,"repetition_penalty":null,"logprobs":null,"top_logprobs":null)";
  for (const std::string& body : {with(""), with(nulls)}) {
    const ChatRequest request = wire.understood(body);
    CHECK_FALSE(request.stream);
    CHECK_FALSE(request.include_usage);
    CHECK(request.temperature == std::nullopt);
    CHECK(request.top_p == std::nullopt);
    CHECK(request.max_tokens == std::nullopt);
    CHECK(request.presence_penalty == std::nullopt);
    CHECK(request.n == 1);
    CHECK(request.seed == std::nullopt);
    CHECK(request.stop.empty());
    CHECK(request.tools.empty());
    CHECK(request.tool_choice.mode == ToolChoice::Mode::none);
    CHECK(request.parallel_tool_calls == std::nullopt);
    CHECK_FALSE(request.response_format.has_value());
    CHECK(request.enable_thinking == std::nullopt);
    CHECK(request.repetition_penalty == std::nullopt);
    CHECK_FALSE(request.logprobs);
    CHECK(request.findings.empty());
  }
  check_taken(wire, said(R"({"role":"assistant","content":"Hi","name":null,"tool_calls":null,"refusal":null})"));
  check_taken(wire, with(R"("tools":[{"type":"function","function":)"
                         R"({"name":"f","description":null,"parameters":null,"strict":null}}])"));
  check_taken(wire, with(R"("stream":true,"stream_options":{"include_usage":null})"));
}

}  // namespace chat_request_test
