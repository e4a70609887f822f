// Options that change what a chat request may contain: Acceptance with each extension enabled and disabled, strict and
// lenient.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/chat_wire.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace acceptance_test {

using mock_gateway::Acceptance;
using mock_gateway::ChatRequest;
using mock_gateway::Extension;
using mock_gateway::Options;
using mock_gateway::Profile;
using mock_gateway::wire::ToolChoice;
using test_support::ChatWire;
using test_support::check_refused;
using test_support::check_refused_at;
using test_support::check_taken;
using test_support::json_values;
using test_support::JsonValue;
using test_support::one_call;
using test_support::Response;
using test_support::said;
using test_support::weather_tool;
using test_support::with;

TEST_CASE("each extension of the request can be enabled and disabled separately") {
  struct Case {
    Extension switched;
    bool on_by_default;
    std::string body;
    const char* code;  // the error code if the extension is disabled
    std::string message;
  };
  const std::string allowed = R"(,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":)"
                              R"([{"type":"function","function":{"name":"get_weather"}}]}})";
  const std::string other_part = R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]})";
  const std::vector<Case> cases = {
      {Extension::unknown_fields, true, with(R"("user":"u")"), "unknown_parameter",
       "user: not a documented field; leave it out"},
      {Extension::unknown_fields, true, with(R"("frequency_penalty":1)"), "unknown_parameter",
       "frequency_penalty: not a documented field; use repetition_penalty instead"},
      {Extension::unknown_fields, true, with(R"("stream":true,"stream_options":{"chunk":1})"), "unknown_parameter",
       "stream_options.chunk: not a documented field; leave it out"},
      {Extension::tool_role, true, said(R"({"role":"tool","tool_call_id":"c","content":"21"})"), "invalid_value",
       R"(messages[0].role: expected one of "system", "user", "assistant", got "tool"; the acceptance switch )"
       "tool_role accepts it, and so does the profile openai"},
      {Extension::developer_role, false, said(R"({"role":"developer","content":"Hi"})"), "invalid_value",
       R"(messages[0].role: expected one of "system", "user", "assistant", "tool", got "developer"; the acceptance switch )"
       "developer_role accepts it, and so does the profile openai"},
      {Extension::null_content_with_tool_calls, true, said(R"({"role":"assistant","content":null,)" + one_call + "}"),
       "invalid_type",
       "messages[0].content: expected a string or an array of parts, got null; the acceptance switch "
       "null_content_with_tool_calls accepts it, and so does the profile openai"},
      {Extension::null_content_with_tool_calls, true, said(R"({"role":"assistant",)" + one_call + "}"),
       "missing_required_parameter",
       "messages[0].content: expected a string or an array of parts, got nothing; the acceptance switch "
       "null_content_with_tool_calls accepts it, and so does the profile openai"},
      {Extension::text_parts, true, said(R"({"role":"user","content":[{"type":"text","text":"Hi"}]})"), "invalid_type",
       "messages[0].content: expected a string, got an array"},
      {Extension::other_parts, false, said(other_part), "invalid_value",
       "messages[0].content[0].type: expected \"text\", got \"image_url\"; the acceptance switch other_parts accepts "
       "it, and so does the profile openai"},
      {Extension::tool_calls_in_messages, true, said(R"({"role":"assistant","content":"",)" + one_call + "}"),
       "unknown_parameter",
       "messages[0].tool_calls: not a documented field; the acceptance switch tool_calls_in_messages accepts it, and "
       "so does the profile openai"},
      {Extension::stop_as_string, true, with(R"("stop":"x")"), "invalid_type",
       "stop: expected an array of strings, got a string (\"x\")"},
      {Extension::tool_choice_required, true, with(weather_tool + R"(,"tool_choice":"required")"), "invalid_value",
       R"(tool_choice: expected one of "none", "auto" or an object that names a function, got "required")"},
      {Extension::allowed_tools, false, with(weather_tool + allowed), "invalid_value",
       "tool_choice.type: expected \"function\", got \"allowed_tools\"; the acceptance switch allowed_tools accepts "
       "it, and so does the profile openai"},
      {Extension::json_schema_without_schema, false,
       with(R"("response_format":{"type":"json_schema","json_schema":{"name":"answer"}})"),
       "missing_required_parameter",
       "response_format.json_schema.schema: expected an object, got nothing; the acceptance switch "
       "json_schema_without_schema accepts it, and so does the profile openai"},
      {Extension::null_as_absent, true, with(R"("stop":null)"), "invalid_type",
       "stop: expected an array of strings or a string, got null"},
      {Extension::stream_options_without_stream, true, with(R"("stream_options":{})"), "invalid_value",
       "stream_options: expected nothing unless stream is true, got an object"},
  };
  for (const Case& extension : cases) {
    INFO(extension.message);
    const ChatWire by_default{Acceptance()};
    extension.on_by_default ? check_taken(by_default, extension.body)
                            : check_refused(by_default, extension.body, extension.code, extension.message);
    check_taken(ChatWire(Acceptance().with(extension.switched)), extension.body);
    const ChatWire without(Acceptance().with(extension.switched, false));
    check_refused(without, extension.body, extension.code, extension.message);
    CHECK(ChatWire(Acceptance::strict()).post(extension.body).status == 400);
    // A request without the field is accepted.
    check_taken(without, with(""));
  }
}

TEST_CASE("fields documented only by OpenAI are findings with Acceptance::openai(), but not in the openai profile") {
  struct Case {
    std::string body;
    std::string note;
  };
  const auto by = [](const std::string& place, const std::string& name) {
    return place + ": documented by OpenAI but not by the gateway; accepted because of the acceptance switch " + name +
           " takes it.";
  };
  const std::string custom = R"("tools":[{"type":"custom","custom":{"name":"shell"}}])";
  const std::vector<Case> cases = {
      {with(R"("user":"u")"), by("user", "openai_fields")},
      {with(R"("frequency_penalty":1)"), by("frequency_penalty", "openai_fields")},
      {with(R"("stream":true,"stream_options":{"include_obfuscation":false})"),
       by("stream_options.include_obfuscation", "openai_fields")},
      {with(R"("max_completion_tokens":5)"), by("max_completion_tokens", "max_completion_tokens")},
      {said(R"({"role":"developer","content":"Hi"})"), by("messages[0].role", "developer_role")},
      {said(R"({"role":"function","name":"f","content":"21"})"), by("messages[0].role", "openai_fields")},
      {said(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]})"),
       by("messages[0].content[0].type", "other_parts")},
      {with(custom), by("tools[0].type", "custom_tools")},
      {with(weather_tool + R"(,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":)"
                           R"([{"type":"function","function":{"name":"get_weather"}}]}})"),
       by("tool_choice", "allowed_tools")},
      {with(R"("response_format":{"type":"json_schema","json_schema":{"name":"answer"}})"),
       by("response_format.json_schema.schema", "json_schema_without_schema")},
  };
  for (const Case& one : cases) {
    CAPTURE(one.body);
    const ChatWire openai{Acceptance::openai()};
    check_taken(openai, one.body);
    const mock_gateway::Review review = openai.gateway.review();
    CHECK(review);
    REQUIRE(review.findings().size() == 1);
    CHECK(review.findings()[0].severity == mock_gateway::Severity::note);
    CHECK(review.findings()[0].code == "beyond_documentation");
    CHECK(review.findings()[0].message == one.note);
    const ChatWire of_profile{Options().profile(Profile::openai)};
    check_taken(of_profile, one.body);
    CHECK(of_profile.gateway.review().findings().empty());
  }
  // A field that OpenAI does not document either is a warning.
  CHECK(ChatWire{Acceptance::openai()}.findings(with(R"("foo":1)")) == "unknown_field");
  CHECK(ChatWire{Acceptance::openai()}.findings(with(R"("enable_thinking":true)")).empty());
}

TEST_CASE("without the logprobs extension the fields for logprobs are unknown") {
  Acceptance acceptance = Acceptance().with(Extension::logprobs, false);
  const ChatWire wire(acceptance);
  const std::string body = with(R"("logprobs":true,"top_logprobs":"many")");
  CHECK(wire.findings(body) == "unknown_field unknown_field");
  CHECK_FALSE(wire.understood(body).logprobs);
  acceptance = acceptance.with(Extension::unknown_fields, false);
  check_refused(ChatWire(acceptance), body, "unknown_parameter", "logprobs: not a documented field; leave it out");
}

TEST_CASE("the name of an unknown field is shown up to 60 bytes; of a longer name only the beginning is shown") {
  const ChatWire wire(Acceptance::strict());
  const auto check_named = [&](const std::string& field, const std::string& shown) {
    check_refused(wire, with("\"" + field + "\":1"), "unknown_parameter",
                  shown + ": not a documented field; leave it out");
  };
  const std::string whole(60, 'x');
  check_named(whole, whole);
  check_named(whole + "x", whole + "…");
  // A character that would cross the limit is dropped.
  check_named(whole.substr(1) + "é", whole.substr(1) + "…");
}

TEST_CASE("other content parts need a type, and their texts do not count as text of the message") {
  Acceptance acceptance = Acceptance().with(Extension::other_parts);
  const ChatWire wire(acceptance);
  const ChatRequest request =
      wire.understood(said(R"({"role":"user","content":[{"type":"image_url"},{"type":"text","text":"Hi"}]})"));
  CHECK(request.last_user_text() == "Hi");
  CHECK(request.messages[0].content.size() == 2);
  check_refused(wire, said(R"({"role":"user","content":[{"image_url":{}}]})"), "missing_required_parameter",
                "messages[0].content[0].type: expected a string, got nothing");
  acceptance = acceptance.with(Extension::text_parts, false);
  check_refused(ChatWire(acceptance), said(R"({"role":"user","content":[{"type":"text","text":"Hi"}]})"),
                "invalid_value", "messages[0].content[0].type: expected another type than \"text\", got \"text\"");
}

TEST_CASE("strict accepts all documented fields and no null") {
  const ChatWire wire(Acceptance::strict());
  check_taken(wire, with(""));
  check_taken(wire, with(R"("stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"max_tokens":5,)"
                         R"("presence_penalty":1,"n":1,"seed":1,"stop":["x"],"parallel_tool_calls":true,)"
                         R"("response_format":{"type":"json_object"},"enable_thinking":false,"repetition_penalty":1)"));
  check_taken(wire, with(R"("top_p":0.5,"tool_choice":"auto",)" + weather_tool));
  check_taken(wire, said(R"({"role":"system","content":"a"},{"role":"user","content":"b"},)"
                         R"({"role":"assistant","content":"c"},{"role":"user","content":"d"})"));
  for (const char* field :
       {"stream", "stream_options", "temperature", "top_p", "max_tokens", "presence_penalty", "n", "seed", "stop",
        "tools", "tool_choice", "parallel_tool_calls", "response_format", "enable_thinking", "repetition_penalty"}) {
    check_refused_at(wire, with("\"" + std::string(field) + "\":null"), "invalid_type",
                     std::string(field) + ": expected ");
  }
  for (const char* field : {"logprobs", "top_logprobs", "frequency_penalty", "user"}) {
    check_refused_at(wire, with("\"" + std::string(field) + "\":null"), "unknown_parameter",
                     std::string(field) + ": not a documented field");
  }
}

/// Sends a body and returns the message of its 400, in the error format of any profile.
std::string refusal(const ChatWire& wire, const std::string& body) {
  const Response response = wire.post(body);
  INFO(body);
  CHECK(response.status == 400);
  return response.json()["error"]["message"];
}

TEST_CASE("strict under the openai profile accepts exactly what OpenAI documents") {
  const std::vector<Options> orders = {Options{}.profile(Profile::openai).acceptance(Acceptance::strict()),
                                       Options{}.acceptance(Acceptance::strict()).profile(Profile::openai)};
  for (const Options& options : orders) {
    const ChatWire wire(options);
    // These are the messages of an agent.
    const std::string result = R"({"role":"tool","tool_call_id":"c","content":"21"})";
    for (const char* content : {R"("content":"",)", R"("content":null,)", ""}) {
      CAPTURE(content);
      check_taken(wire,
                  said(R"({"role":"developer","content":"a"},{"role":"user","content":"b"},{"role":"assistant",)" +
                       std::string(content) + one_call + "}," + result));
    }
    check_taken(wire, said(R"({"role":"user","content":[{"type":"text","text":"Hi"},)"
                           R"({"type":"image_url","image_url":{"url":"data:,"}}]})"));
    for (const char* field :
         {R"("stop":"x")", R"("logprobs":true,"top_logprobs":2)", R"("max_completion_tokens":5)", R"("user":"u")",
          R"("frequency_penalty":1)", R"("reasoning_effort":"low")", R"("metadata":{"a":"b"})", R"("store":true)",
          R"("stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false})"})
      check_taken(wire, with(field));
    check_taken(wire, with(weather_tool + R"(,"tool_choice":"required")"));
    check_taken(wire, with(R"("tools":[{"type":"custom","custom":{"name":"shell"}}])"));
    for (const char* mode : {"auto", "required"})
      check_taken(wire, with(weather_tool + R"(,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":")" +
                             mode + R"(","tools":[{"type":"function","function":{"name":"get_weather"}}]}})"));
    check_taken(wire, with(R"("response_format":{"type":"json_schema","json_schema":{"name":"answer"}})"));
    check_taken(wire, with(R"("tools":[{"type":"function","function":{"name":"f","strict":null}}])"));
    for (const char* field : {"audio",
                              "frequency_penalty",
                              "logit_bias",
                              "logprobs",
                              "max_completion_tokens",
                              "max_tokens",
                              "metadata",
                              "modalities",
                              "n",
                              "prediction",
                              "presence_penalty",
                              "reasoning_effort",
                              "seed",
                              "service_tier",
                              "stop",
                              "store",
                              "stream",
                              "stream_options",
                              "temperature",
                              "top_logprobs",
                              "top_p"}) {
      CAPTURE(field);
      check_taken(wire, with("\"" + std::string(field) + "\":null"));
    }
    CHECK(wire.http.get("/v1/models/mock-model").status == 200);

    for (const char* field : {"tools", "tool_choice", "parallel_tool_calls", "response_format"})
      CHECK(refusal(wire, with("\"" + std::string(field) + "\":null")).find(std::string(field) + ": expected ") == 0);
    CHECK(refusal(wire, with(R"("top_k":1)")) == "top_k: not a documented field; leave it out");
    CHECK(refusal(wire, with(R"("repetition_penalty":1)")) ==
          "repetition_penalty: not a documented field; use frequency_penalty instead");
    CHECK(refusal(wire, with(R"("enable_thinking":true)")) ==
          "enable_thinking: not a documented field; use reasoning_effort instead");
    CHECK(refusal(wire, with(R"("stream_options":{})")).find("stream_options: expected nothing unless") == 0);
    CHECK(refusal(wire, with(R"("n":1,"n":1)")).find("invalid JSON: body: the key") == 0);
  }
  // Other profiles do not consider OpenAI's documentation.
  for (const auto& [profile, code] : {std::pair{Profile::documented, "unknown_parameter"},
                                      {Profile::dashscope, "invalid_parameter_error"},
                                      {Profile::deepseek, "invalid_request_error"}})
    check_refused_at(ChatWire(Options{}.profile(profile).acceptance(Acceptance::strict())),
                     said(R"({"role":"assistant","content":"",)" + one_call + "}"), code,
                     "messages[0].tool_calls: not a documented field; the acceptance switch tool_calls_in_messages");
}

TEST_CASE("a switch set after Acceptance::strict() is obeyed in every profile") {
  const std::string agent = said(R"({"role":"assistant","content":"",)" + one_call + "}");
  const auto under_openai = [](const Acceptance& acceptance) {
    return ChatWire(Options{}.profile(Profile::openai).acceptance(acceptance));
  };
  CHECK(refusal(under_openai(Acceptance::strict().with(Extension::tool_calls_in_messages, false)), agent) ==
        "messages[0].tool_calls: the acceptance switch tool_calls_in_messages is off");
  check_taken(ChatWire(Acceptance::strict().with(Extension::tool_calls_in_messages)), agent);
  check_taken(under_openai(Acceptance::strict().with(Extension::unknown_fields)),
              with(R"("top_k":1,"enable_thinking":true)"));
  CHECK(refusal(under_openai(Acceptance::strict().with(Extension::unknown_fields, false)), with(R"("user":"u")")) ==
        "user: not a documented field; leave it out");
  check_taken(under_openai(Acceptance::strict().with(Extension::null_as_absent)), with(R"("tools":null)"));
  CHECK(refusal(under_openai(Acceptance::strict().with(Extension::null_as_absent, false)), with(R"("stop":null)"))
            .find("stop: expected ") == 0);
  CHECK_FALSE(Acceptance::strict().has(Extension::tool_calls_in_messages));
}

TEST_CASE("tool_choice may allow a subset of the tools, and a response_format may have no schema") {
  const ChatWire wire(Acceptance::openai());
  const std::string two_tools =
      R"("tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"g"}}],"tool_choice":)";
  const auto allowed = [&](const std::string& what) {
    return with(two_tools + R"({"type":"allowed_tools","allowed_tools":)" + what + "}");
  };
  const std::string f = R"({"type":"function","function":{"name":"f"}})";
  const std::string g = R"({"type":"custom","custom":{"name":"g"}})";
  const ChatRequest any = wire.understood(allowed(R"({"mode":"auto","tools":[)" + f + "," + g + "]}"));
  CHECK(any.tool_choice.mode == ToolChoice::Mode::automatic);
  CHECK(any.tool_choice.allowed == std::vector<std::string>{"f", "g"});
  const ChatRequest one = wire.understood(allowed(R"({"mode":"required","tools":[)" + g + "]}"));
  CHECK(one.tool_choice.mode == ToolChoice::Mode::required);
  CHECK(one.tool_choice.allowed == std::vector<std::string>{"g"});
  CHECK(wire.understood(with(two_tools + "\"auto\"")).tool_choice.allowed.empty());

  const std::string place = "tool_choice.allowed_tools";
  check_refused(wire, with(two_tools + R"({"type":"allowed_tools"})"), "missing_required_parameter",
                place + ": expected an object, got nothing");
  check_refused(wire, allowed(R"({"tools":[)" + f + "]}"), "missing_required_parameter",
                place + R"(.mode: expected one of "auto", "required", got nothing)");
  check_refused(wire, allowed(R"({"mode":"none","tools":[)" + f + "]}"), "invalid_value",
                place + R"(.mode: expected one of "auto", "required", got "none")");
  check_refused(wire, allowed(R"({"mode":"auto"})"), "missing_required_parameter",
                place + ".tools: expected an array, got nothing");
  check_refused(wire, allowed(R"({"mode":"auto","tools":[]})"), "invalid_value",
                place + ".tools: expected at least one tool, got an empty array");
  check_refused(wire, allowed(R"({"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]})"),
                "invalid_value", place + R"(.tools[0].function.name: expected the name of one of tools, got "g")");

  const ChatRequest free = wire.understood(
      with(R"("response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true}})"));
  REQUIRE(free.response_format);
  CHECK(free.response_format->schema.is_null());
  CHECK(free.response_format->name == "answer");
  check_refused_at(wire, with(R"("response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":1}})"),
                   "invalid_type", "response_format.json_schema.schema: expected an object");
}

TEST_CASE("lenient accepts any JSON with model and messages, and obeys valid fields") {
  const ChatWire wire(Acceptance::lenient());
  for (const JsonValue& value : json_values()) {
    for (const char* field : {"stream_options", "temperature", "top_p", "max_tokens", "presence_penalty", "n", "seed",
                              "stop", "tools", "tool_choice", "parallel_tool_calls", "response_format",
                              "enable_thinking", "repetition_penalty", "logprobs", "top_logprobs", "anything"}) {
      check_taken(wire, with("\"" + std::string(field) + "\":" + value.json));
    }
    check_taken(wire, said(value.json));
    check_taken(wire, said(R"({"role":)" + std::string(value.json) + R"(,"content":)" + value.json +
                           R"(,"tool_calls":)" + value.json + "}"));
  }
  check_taken(wire, said(""));
  const ChatRequest request = wire.understood(
      R"({"model":"mock-model","messages":[7,{"role":"robot","content":"Hi"},{"role":"user","content":"Ho"}],)"
      R"("temperature":"hot","top_p":7,"n":0,"max_tokens":5,"seed":1.5,"tool_choice":"required","stop":["a",1]})");
  REQUIRE(request.messages.size() == 2);
  CHECK(request.messages[0].role == "robot");
  CHECK(request.last_user_text() == "Ho");
  CHECK(request.temperature == std::nullopt);
  CHECK(request.top_p == std::nullopt);
  CHECK(request.n == 1);
  CHECK(request.max_tokens == 5);
  CHECK(request.seed == std::nullopt);
  CHECK(request.stop.empty());
  CHECK(request.tool_choice.mode == ToolChoice::Mode::none);

  check_refused(wire, "{}", "missing_required_parameter", "model: expected a string, got nothing");
  check_refused(wire, R"({"model":"mock-model"})", "missing_required_parameter",
                "messages: expected an array, got nothing");
  check_refused(wire, R"({"model":1,"messages":[]})", "invalid_type", "model: expected a string, got a number (1)");
  check_refused(wire, R"({"model":"mock-model","messages":{}})", "invalid_type",
                "messages: expected an array, got an object");
  check_refused_at(wire, "[", "invalid_json", "invalid JSON at line 1, column 2: ");
  check_refused_at(wire, "[1]", "invalid_type", "body: expected an object");
}

TEST_CASE("lenient ignores a field of a wrong type and the fields that depend on it") {
  const ChatWire wire(Acceptance::lenient());
  for (const std::string choice : {"7", "[]", "null", R"("sometimes")", R"({"type":"function"})",
                                   R"({"type":"function","function":{"name":"another"}})"}) {
    CAPTURE(choice);
    const ChatRequest request = wire.understood(with(weather_tool + ",\"tool_choice\":" + choice));
    CHECK(request.tools.size() == 1);
    CHECK(request.tool_choice.mode == ToolChoice::Mode::automatic);
    CHECK(request.tool_choice.name.empty());
  }
  for (const std::string bad : {"\"many\"", "0", "1.5", "null", "{}"}) {
    CAPTURE(bad);
    CHECK(wire.understood(with("\"max_tokens\":" + bad + ",\"max_completion_tokens\":2")).max_tokens == 2);
    CHECK(wire.understood(with("\"max_completion_tokens\":" + bad + ",\"max_tokens\":3")).max_tokens == 3);
    CHECK(wire.understood(with("\"max_completion_tokens\":" + bad)).max_tokens == std::nullopt);
  }
  CHECK(wire.understood(with(R"("tools":7,"tool_choice":"required")")).tool_choice.mode == ToolChoice::Mode::none);
  CHECK(wire.understood(with(R"("logprobs":"yes","top_logprobs":2)")).top_logprobs == 0);
  CHECK(wire.findings(with(R"("temperature":"hot","top_p":0.5)")) == "");
}

TEST_CASE("lenient ignores tool calls unless all are valid") {
  const ChatWire wire(Acceptance::lenient());
  const ChatRequest request =
      wire.understood(R"({"model":"mock-model","messages":[{"role":"assistant","content":"","tool_calls":[)"
                      R"({"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call_2"}]},)"
                      R"({"role":"user","content":"Ho"}]})");
  REQUIRE(request.messages.size() == 2);
  CHECK(request.messages[0].role == "assistant");
  CHECK(request.messages[0].tool_calls.empty());
}

TEST_CASE("lenient stays lenient when single extensions are disabled") {
  Acceptance acceptance = Acceptance::strict();
  acceptance = acceptance.with(Extension::anything_with_model_and_messages);
  check_taken(ChatWire(acceptance), with(R"("user":"u","stop":"x","temperature":null,"n":1,"n":2)"));
}

TEST_CASE("an option sets the largest n") {
  const ChatWire wire(Options{}.max_n(2));
  check_taken(wire, with(R"("n":2)"));
  check_refused(wire, with(R"("n":3)"), "value_above_maximum", "n: expected at most 2, got 3");
}

TEST_CASE("the openai profile refuses a temperature outside 0 to 2 and names the param") {
  const ChatWire wire(Options{}.profile(Profile::openai));
  check_taken(wire, with(R"("temperature":0)"));
  check_taken(wire, with(R"("temperature":2)"));
  for (const char* temperature : {"-0.1", "2.1"}) {
    const Response response = wire.post(with("\"temperature\":" + std::string(temperature)));
    CHECK(response.status == 400);
    CHECK(response.json()["error"]["param"] == "temperature");
  }
  const Response response = wire.post(said(R"({"role":"robot","content":"Hi"})"));
  CHECK(response.status == 400);
  CHECK(response.json()["error"]["param"] == "messages[0].role");
}

}  // namespace acceptance_test
