// Default replies, which need no script: words, tool calls, and the forms of response_format.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"

namespace default_reply_test {

using namespace mock_gateway;
using test_support::function_tool;
using test_support::Http;
using test_support::merged;
using test_support::Response;
using test_support::weather_function;
using test_support::with_usage;

inline Json time_tool() {
  return function_tool("get_time", {{"type", "object"},
                                    {"properties", {{"zone", {{"enum", {"UTC", "CET"}}}}}},
                                    {"required", {"zone"}},
                                    {"additionalProperties", false}});
}

/// Returns whether a call of weather_function() or time_tool() has arguments that the tool accepts.
inline bool satisfies_its_tool(const Json& call) {
  const Json arguments = Json::parse(call.at("function").at("arguments").get<std::string>());
  if (call["function"]["name"] == "get_weather") {
    return arguments.size() == 2 && arguments.at("city").is_string() &&
           arguments["city"].get<std::string>().size() >= 2 && arguments.at("days").is_number_integer() &&
           arguments["days"] >= 1 && arguments["days"] <= 7;
  }
  return call["function"]["name"] == "get_time" && arguments.size() == 1 &&
         (arguments.at("zone") == "UTC" || arguments["zone"] == "CET");
}

TEST_CASE("without a script equal requests get equal words, streamed or not") {
  Gateway gateway(Options{}.seed(7));
  const Http http(gateway);
  const Response first = http.chat({{"seed", 5}, {"n", 2}});
  const Response second = http.chat({{"seed", 5}, {"n", 2}});
  CHECK(first.json()["choices"] == second.json()["choices"]);
  CHECK(first.json()["id"] != second.json()["id"]);
  CHECK(first.text(0) != first.text(1));
  CHECK(http.stream(merged({{"seed", 5}, {"n", 2}}, with_usage)).joined_text(1) == first.text(1));
  CHECK(http.chat({{"seed", 6}, {"n", 2}}).text() != first.text());

  Gateway same(Options{}.seed(7));
  CHECK(Http(same).chat({{"seed", 5}, {"n", 2}}).json()["id"] == first.json()["id"]);
  CHECK(Http(same).chat({{"seed", 5}, {"n", 2}}).text() == first.text());
  Gateway other(Options{}.seed(8));
  CHECK(Http(other).chat({{"seed", 5}, {"n", 2}}).text() != first.text());
}

TEST_CASE("generated replies are the same on every machine and in every version") {
  const Json tools = {weather_function(), time_tool(), function_tool("ping", Json::object())};
  const Json required = {{"tools", tools}, {"tool_choice", "required"}};
  const Json shell = {{"type", "custom"}, {"custom", {{"name", "shell"}}}};
  const Json object = {{"response_format", {{"type", "json_object"}}}};
  struct Row {
    Json fields;
    std::string messages;
  };
  const Row rows[] = {
      {{{"seed", 1}},
       "Teacher girl side water minute ocean history lot summer between group bridge city world case with.\n"},
      {{{"seed", 2}, {"n", 2}},
       "Island stand result machine problem team market lesson the ocean bright great by hour garden show lot child "
       "meet father public stand person line.\n"
       "Call summer important record important engine list green clear plan hour system face pay body call bright pay "
       "time guy week eye door list.\n"},
      {{{"seed", 3}}, "Circle at begin result. Lose order tell history.\n"},
      {{{"seed", 4}},
       "Pay law water back bring. At station face signal window team day river information hour room draft.\n"},
      {{{"seed", -5}, {"enable_thinking", true}},
       "Game play write office money group public. Door ocean able hour give. > Important play number with change lead "
       "window party last right learn fact for. War begin value team old young play on.\n"},
      {merged({{"seed", 6}}, object),
       R"({"room":"Leave world hear and circle. Person study area value head circle model.","show":"Into )"
       R"(hand old on summer answer with island leave open keep test market shadow law tool right into )"
       R"(way.","page":"And early about record hour level line. Sit company include show good house )"
       R"(corner large side."})"
       "\n"},
      {merged({{"seed", 7}}, object),
       R"({"corner":"High lose move open forest over girl stand work value season station tell end great )"
       R"(number include find.","island":"New tell word paper bring body group by.","bright":"Money warm )"
       R"(health eye member evening from on book light color music next house winter force way include."})"
       "\n"},
      {merged({{"seed", 8}}, required), R"(call_47bQXwQzlI5BZFnc2ifjdwIz get_time {"zone":"UTC"})"
                                        "\n"},
      {merged({{"seed", 9}, {"parallel_tool_calls", true}}, required),
       "call_LG0vlyKqtsfIwnSYbyIBiCcc ping {}\n"
       R"(call_vqB2t1YReZCnHrU7Fo3RLlyi get_time {"zone":"UTC"})"
       "\n"},
      {merged({{"seed", 10}, {"parallel_tool_calls", true}}, required),
       "call_FxqjARbuqvup3Uww9SKEeBYY ping {}\n"
       R"(call_LJQzfn3DhtJUCDQtpZM16iTW get_time {"zone":"CET"})"
       "\n"},
      {{{"seed", 11}, {"tools", {shell}}, {"tool_choice", "required"}},
       "call_iVx4ggj6Rmn8KjJjacfxreoR shell Kind train garden world member same problem move car study begin child in "
       "moment first small right. Summer house minute line morning.\n"},
      {{{"temperature", 0.5}, {"stop", Json::array()}, {"metadata", {{"a", {1, -1, true, nullptr, "x"}}}}},
       "Party window parent and good model season important month group level house bridge from meet last river.\n"},
  };
  const Acceptance acceptance = Acceptance().with(Extension::custom_tools);
  for (const Row& row : rows) {
    CAPTURE(row.fields);
    Gateway gateway(Options{}.acceptance(acceptance));
    const Response response = Http(gateway).chat(row.fields);
    REQUIRE(response.status == 200);
    std::string messages;
    const Json body = response.json();
    for (const Json& choice : body["choices"]) {
      const Json& message = choice["message"];
      if (message.contains("reasoning_content")) messages += message["reasoning_content"].get<std::string>() + " > ";
      if (message["content"].is_string()) messages += message["content"].get<std::string>() + "\n";
      if (!message.contains("tool_calls")) continue;
      for (const Json& call : message["tool_calls"]) {
        const Json& what = call.contains("custom") ? call["custom"] : call["function"];
        messages += call["id"].get<std::string>() + " " + what["name"].get<std::string>() + " " +
                    what.value("arguments", what.value("input", "")) + "\n";
      }
    }
    CHECK(messages == row.messages);
  }
}

TEST_CASE("the content of a request decides the generated reply; streaming does not") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const std::string text = http.chat().text();
  CHECK(http.chat({{"stream", false}}).text() == text);
  CHECK(http.stream({{"stream_options", {{"include_usage", false}}}}).joined_text() == text);
  const Json others[] = {{{"user", "a"}},
                         {{"user", "b"}},
                         {{"a", "user"}},
                         {{"user", ""}},
                         {{"user", {"a"}}},
                         {{"user", {{"a", "b"}}}},
                         {{"user", {"a", "b"}}},
                         {{"user", {"ab"}}},
                         {{"user", {{"a"}, "b"}}},
                         {{"user", {{"a", 1}, {"b", 2}}}},
                         {{"user", {{"a", {{"b", 2}}}}}},
                         {{"user", 1}},
                         {{"user", 2}},
                         {{"user", true}},
                         {{"user", false}},
                         {{"user", nullptr}},
                         {{"user", Json::array()}},
                         {{"user", Json::object()}},
                         {{"stream_option", Json::object()}}};
  std::set<std::string> texts = {text};
  for (const Json& other : others) texts.insert(http.chat(other).text());
  CHECK(texts.size() == 1 + std::size(others));
}

TEST_CASE("a hundred seeds give a hundred texts of printable words") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  std::set<std::string> texts;
  for (int seed = 0; seed < 100; ++seed) {
    const std::string text = http.chat({{"seed", seed}}).text();
    CHECK(text.size() > 10);
    CHECK(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c <= '~'; }));
    texts.insert(text);
  }
  CHECK(texts.size() >= 95);
}

TEST_CASE("tool_choice decides whether the default reply calls a tool") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const Json tools = {{"tools", {weather_function(), time_tool()}}};
  const auto calls = [&](const Json& fields) {
    const Response plain = http.chat(merged(tools, fields));
    REQUIRE(plain.status == 200);
    CHECK(http.stream(merged(tools, fields)).joined_message() == plain.message());
    const Json message = plain.message();
    const Json found = message.contains("tool_calls") ? message["tool_calls"] : Json::array();
    CHECK(plain.finish_reason() == (found.empty() ? "stop" : "tool_calls"));
    CHECK((plain.text() == "") == !found.empty());
    for (const Json& call : found) CHECK(satisfies_its_tool(call));
    return found;
  };
  CHECK(calls(Json::object()).empty());
  CHECK(calls({{"tool_choice", "auto"}}).empty());
  CHECK(calls({{"tool_choice", "none"}}).empty());

  std::set<std::string> called;
  for (int seed = 0; seed < 10; ++seed) {
    const Json required = calls({{"tool_choice", "required"}, {"seed", seed}});
    REQUIRE(required.size() == 1);
    called.insert(required[0]["function"]["name"].get<std::string>());
    const Json named =
        calls({{"tool_choice", {{"type", "function"}, {"function", {{"name", "get_time"}}}}}, {"seed", seed}});
    REQUIRE(named.size() == 1);
    CHECK(named[0]["function"]["name"] == "get_time");
  }
  CHECK(called == std::set<std::string>{"get_time", "get_weather"});
}

TEST_CASE("parallel_tool_calls decides whether the default reply calls several tools at once") {
  Gateway gateway;
  const Json fields = {{"tools", {weather_function(), time_tool()}}, {"tool_choice", "required"}};
  const auto calls = [&](bool parallel) {
    return Http(gateway).chat(merged(fields, {{"parallel_tool_calls", parallel}})).message()["tool_calls"];
  };
  CHECK(calls(false).size() == 1);
  const Json several = calls(true);
  REQUIRE(several.size() == 2);
  CHECK(several[0]["function"]["name"] != several[1]["function"]["name"]);
  CHECK(several[0]["id"] != several[1]["id"]);
  for (const Json& call : several) CHECK(satisfies_its_tool(call));
  const Json one = {{"tools", {weather_function()}}, {"tool_choice", "required"}, {"parallel_tool_calls", true}};
  CHECK(Http(gateway).chat(one).message()["tool_calls"].size() == 1);
}

TEST_CASE("the default reply calls only allowed tools") {
  Gateway gateway(Options{}.acceptance(Acceptance::openai()));
  const Http http = Http(gateway).keep_alive();
  const Json tools = {weather_function(), function_tool("ping", Json::object()), time_tool()};
  const auto called = [&](const char* mode, const std::vector<std::string>& names, int seed) {
    Json allowed = Json::array();
    for (const std::string& name : names) allowed.push_back({{"type", "function"}, {"function", {{"name", name}}}});
    const Json choice = {{"type", "allowed_tools"}, {"allowed_tools", {{"mode", mode}, {"tools", allowed}}}};
    const Response answer =
        http.chat({{"tools", tools}, {"tool_choice", choice}, {"parallel_tool_calls", true}, {"seed", seed}});
    REQUIRE(answer.status == 200);
    std::set<std::string> found;
    for (const Json& call : answer.message().value("tool_calls", Json::array())) found.insert(call["function"]["name"]);
    return found;
  };
  for (int seed = 0; seed < 10; ++seed) {
    CHECK(called("auto", {"ping"}, seed).empty());
    CHECK(called("required", {"ping"}, seed) == std::set<std::string>{"ping"});
    CHECK(called("required", {"get_time", "get_weather"}, seed) == std::set<std::string>{"get_time", "get_weather"});
  }
}

TEST_CASE("a tool is called with an object if its parameters allow one") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const Json named = {{"type", "function"}, {"function", {{"name", "f"}}}};
  const Json members = {{"a", {{"type", "integer"}}}};
  for (const Json& type : {Json{"object", "null"}, Json{"null", "object"}, Json{"string", "integer", "object"},
                           Json{"null", "array", "boolean", "object"}, Json::array({"object"}), Json("object")}) {
    CAPTURE(type);
    const Json tool = function_tool("f", {{"type", type}, {"properties", members}, {"required", {"a"}}});
    const Json untyped = function_tool("f", {{"properties", members}, {"required", {"a"}}});
    for (int seed = 0; seed < 10; ++seed) {
      for (const Json& choice : {Json("required"), named}) {
        for (const Json& one : {tool, untyped}) {
          const Json fields = {{"tools", Json::array({one})}, {"tool_choice", choice}, {"seed", seed}};
          const Json call = http.chat(fields).message()["tool_calls"][0];
          const Json arguments = Json::parse(call["function"]["arguments"].get<std::string>());
          REQUIRE(arguments.is_object());
          CHECK(arguments["a"].is_number_integer());
        }
      }
    }
  }
}

TEST_CASE("a tool without parameters is called with an empty object") {
  Gateway gateway;
  const Json bare = {{"type", "function"}, {"function", {{"name", "ping"}}}};
  for (const Json& tool : {bare, function_tool("ping", Json::object()),
                           function_tool("ping", {{"type", "object"}, {"properties", Json::object()}})}) {
    const Response response = Http(gateway).chat({{"tools", Json::array({tool})}, {"tool_choice", "required"}});
    CHECK(response.message()["tool_calls"][0]["function"]["arguments"] == "{}");
  }
}

TEST_CASE("response_format decides the form of the default reply") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  const Json schema = {{"type", "object"},
                       {"properties",
                        {{"name", {{"type", "string"}, {"maxLength", 8}}},
                         {"rating", {{"type", "number"}, {"minimum", 0}, {"maximum", 5}}},
                         {"tags", {{"type", "array"}, {"items", {{"enum", {"a", "b"}}}}, {"minItems", 1}}}}},
                       {"required", {"name", "rating", "tags"}},
                       {"additionalProperties", false}};
  for (int seed = 0; seed < 10; ++seed) {
    const Json object = Json::parse(http.chat({{"seed", seed}, {"response_format", {{"type", "json_object"}}}}).text());
    CHECK(object.is_object());
    CHECK(object.size() > 0);

    const Json format = {{"type", "json_schema"},
                         {"json_schema", {{"name", "review"}, {"schema", schema}, {"strict", true}}}};
    const Response response = http.chat({{"seed", seed}, {"response_format", format}});
    const Json instance = Json::parse(response.text());
    CHECK(instance.size() == 3);
    CHECK(instance["name"].get<std::string>().size() <= 8);
    CHECK(instance["rating"] >= 0);
    CHECK(instance["rating"] <= 5);
    CHECK(instance["tags"].size() >= 1);
    for (const Json& tag : instance["tags"]) CHECK((tag == "a" || tag == "b"));
    CHECK(http.stream({{"seed", seed}, {"response_format", format}}).joined_text() == response.text());
  }
  CHECK_FALSE(Json::accept(http.chat({{"response_format", {{"type", "text"}}}}).text()));

  Gateway lenient(Options{}.acceptance(Acceptance().with(Extension::json_schema_without_schema)));
  const Json free = {{"type", "json_schema"}, {"json_schema", {{"name", "review"}}}};
  CHECK(Json::parse(Http(lenient).chat({{"response_format", free}}).text()).is_object());

  const Response cut = http.chat({{"response_format", {{"type", "json_object"}}}, {"max_tokens", 2}});
  CHECK_FALSE(Json::accept(cut.text()));
  CHECK(cut.finish_reason() == "length");
}

TEST_CASE("a schema with an unsupported keyword gets a 400 that names its location") {
  Gateway gateway(Options{}.profile(Profile::openai));
  const Json schema = {{"type", "object"}, {"properties", {{"a", {{"if", {{"type", "string"}}}}}}}};
  const Response format = Http(gateway).chat(
      {{"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "x"}, {"schema", schema}}}}}});
  CHECK(format.status == 400);
  CHECK(format.error_code() == "unsupported_schema");
  CHECK(format.json()["error"]["param"] == "response_format.json_schema.schema/properties/a/if");
  CHECK(format.error_message().find("response_format.json_schema.schema/properties/a/if") == 0);

  const Json tools = {{"tools", {weather_function(), function_tool("f", schema)}}};
  const Response tool =
      Http(gateway).chat(merged(tools, {{"tool_choice", {{"type", "function"}, {"function", {{"name", "f"}}}}}}));
  CHECK(tool.status == 400);
  CHECK(tool.json()["error"]["param"] == "tools[1].function.parameters/properties/a/if");
  CHECK(Http(gateway).chat(tools).status == 200);  // the default reply generates no instance for this schema
}

TEST_CASE("a schema does not treat an unsigned integer beyond the signed range as negative") {
  Gateway gateway;
  const auto instance_of = [&](const Json& integer) {
    const Json schema = {{"type", "object"}, {"required", {"a"}}, {"properties", {{"a", integer}}}};
    return Http(gateway).chat(
        {{"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "x"}, {"schema", schema}}}}}});
  };
  constexpr std::uint64_t largest = 18446744073709551615u;
  CHECK(instance_of({{"enum", {-1}}, {"const", largest}}).status == 400);
  const Response found = instance_of({{"enum", {largest}}, {"not", {{"const", -1}}}});
  CHECK(found.status == 200);
  CHECK(Json::parse(found.text())["a"] == largest);
}

TEST_CASE("a character generated for a pattern is never half of a surrogate pair") {
  Gateway gateway(Options{}.profile(Profile::openai));
  struct Row {
    std::string pattern;
    const char* made;  // null if no text can be generated
  };
  const Row rows[] = {
      {"^[\\ud7ff]$", "\xed\x9f\xbf"},
      {"^[\\ud7ff-\\udfff]$", "\xed\x9f\xbf"},
      {"^[\\ud800]$", nullptr},
      {"^[\\ud801]$", nullptr},
      {"^[\\ud800-\\udfff]$", nullptr},
      {"^[\\udbff]$", nullptr},
      {"^[\\udc00]$", nullptr},
      {"^[\\udfff]$", nullptr},
      {"^[\\ue000]$", "\xee\x80\x80"},
      {"^[\\ue000\\ud800]$", "\xee\x80\x80"},
      {"^[\\udfff\\uffff]$", "\xef\xbf\xbf"},
      {"^[\\udbff\\udfff]$", "\xf4\x8f\xbf\xbf"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    const Json schema = {{"type", "object"},
                         {"required", {"a"}},
                         {"properties", {{"a", {{"type", "string"}, {"pattern", row.pattern}}}}}};
    const Response response = Http(gateway).chat(
        {{"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "x"}, {"schema", schema}}}}}});
    CHECK(response.status == (row.made ? 200 : 400));
    if (row.made && response.status == 200) CHECK(Json::parse(response.text())["a"] == row.made);
    if (!row.made) CHECK(response.error_code() == "unsupported_schema");
  }
}

}  // namespace default_reply_test
