// The test suite of the agent: a loop of several turns with tools, end to end.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include "mock_gateway.hpp"

#include <stdexcept>
#include <string>

#include "agent.hpp"

using namespace mock_gateway;
using agent::Agent;
using agent::AgentError;

namespace {

const Json city = {{"type", "object"}, {"properties", {{"city", {{"type", "string"}}}}}, {"required", {"city"}}};

agent::Tool weather_tool() {
  return {"get_weather", "The weather of a city", city, [](const Json& arguments) {
            const std::string name = arguments.at("city");
            if (name == "Atlantis") throw std::runtime_error("no such city");
            return name + ": 21 degrees";
          }};
}

}  // namespace

TEST_CASE("the agent answers at once when the model needs no tool") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  gateway.chat().when(user_says("Hello")).should(!has_tool("get_weather")).expect(1).reply("Hi.");
  CHECK(agent.run("Hello") == "Hi.");
  CHECK(gateway.verify());
}

TEST_CASE("the agent calls a tool and answers with its result") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  agent.add_tool(weather_tool());
  const Stub asked = gateway.chat()
                         .when(has_tool("get_weather"), !last_is_tool_result())
                         .expect(1)
                         .reply(tool_call("get_weather", {{"city", "Paris"}}));
  const Stub answered =
      gateway.chat().when(tool_result("get_weather", contains("21"))).expect(1).reply("It is 21 degrees.");
  CHECK(agent.run("Weather in Paris?") == "It is 21 degrees.");
  CHECK(called_in_order(asked, answered));
  CHECK(gateway.verify());
  CHECK(gateway.review());
}

TEST_CASE("the agent answers each of several calls by its id") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  agent.add_tool(weather_tool());
  agent.add_tool({"get_time", "The time in a city", city, [](const Json&) { return "noon"; }});
  gateway.chat()
      .when(tool_result("get_weather", "21"), tool_result("get_time", equals("noon")), messages_are(4))
      .reply("21 degrees at noon.");
  gateway.chat()
      .when(turns_are(1), messages_are(1))
      .reply(tool_call("get_weather", {{"city", "Paris"}}).tool_call("get_time", {{"city", "Paris"}}));
  CHECK(agent.run("Weather and time in Paris?") == "21 degrees at noon.");
  CHECK(gateway.verify());
  CHECK(gateway.review());
}

TEST_CASE("the agent continues over several turns") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  agent.add_tool(weather_tool());
  const Stub stub =
      gateway.chat().reply(tool_call("get_weather", {{"city", "Paris"}}), tool_call("get_weather", {{"city", "Rome"}}),
                           "Rome is as warm as Paris.", then_nothing_more());
  CHECK(agent.run("Where is it warmer?") == "Rome is as warm as Paris.");
  CHECK(stub.calls() == 3);
  CHECK(stub.last_call().chat().messages.back().text() == "Rome: 21 degrees");
  CHECK(gateway.review());
}

TEST_CASE("a failed, unknown or malformed tool call is reported to the model, not to the caller") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  agent.add_tool(weather_tool());
  gateway.chat().when(any_message_says("error: ")).reply("I could not find out.");
  SUBCASE("it fails") {
    gateway.chat().when(messages_are(1)).reply(tool_call("get_weather", {{"city", "Atlantis"}}));
    agent.run("Weather in Atlantis?");
    CHECK(agent.messages()[2]["content"] == "error: no such city");
  }
  SUBCASE("it is unknown") {
    gateway.chat().when(messages_are(1)).reply(tool_call("get_tides"));
    agent.run("When is low tide?");
    CHECK(agent.messages()[2]["content"] == "error: there is no tool get_tides");
  }
  SUBCASE("its arguments are truncated") {
    gateway.chat().when(messages_are(1)).reply(malformed_tool_call("get_weather", R"({"city": "Par)"));
    CHECK(agent.run("Weather in Paris?") == "I could not find out.");
  }
  CHECK(gateway.verify());
  CHECK(gateway.review());
}

TEST_CASE("the agent gives up when the model never stops calling tools") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  agent.add_tool(weather_tool());
  const Stub stub = gateway.chat().reply(tool_call("get_weather", {{"city", "Paris"}}));
  CHECK_THROWS_AS(agent.run("Weather?", 3), AgentError);
  CHECK(stub.calls() == 3);
}

TEST_CASE("an error of the gateway ends the loop") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  agent.add_tool(weather_tool());
  gateway.chat().reply(tool_call("get_weather", {{"city", "Paris"}}), unauthorized(), then_nothing_more());
  CHECK_THROWS_AS(agent.run("Weather?"), AgentError);
  CHECK(gateway.verify());
}
