// What the gateway says without a script: words that repeat, tools that are called, and forms of response_format.

#include <algorithm>
#include <cstdint>
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

/// Whether a call of weather_function() or time_tool() has arguments that the tool accepts.
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

TEST_CASE("without a script the same request gets the same words, streamed or not") {
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

TEST_CASE("a tool is called with an object wherever its parameters allow one") {
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

  const Response cut = http.chat({{"response_format", {{"type", "json_object"}}}, {"max_tokens", 2}});
  CHECK_FALSE(Json::accept(cut.text()));
  CHECK(cut.finish_reason() == "length");
}

TEST_CASE("a schema of which no instance can be promised is a 400 that names the place") {
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
  CHECK(Http(gateway).chat(tools).status == 200);  // nothing is made of it
}

TEST_CASE("an integer that no signed one can hold is no negative number to a schema") {
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

}  // namespace default_reply_test
