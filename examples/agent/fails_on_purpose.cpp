// Tests that fail on purpose, to show their messages: each message explains the failure.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include "mock_gateway.hpp"

#include <future>
#include <string>

#include "agent.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using agent::Agent;
using agent::AgentError;

TEST_CASE("a typing error in the prompt") {
  Gateway gateway;
  const CreatedKey key = gateway.keys().create("billing service");
  Agent agent{gateway.base_url(), key.secret};
  agent.add_tool({"get_weather", "The weather of a city", Json::object(), [](const Json&) { return "21"; }});
  gateway.chat().named("greeting").when(!has_tool("get_weather")).reply("Hello.");
  gateway.chat()
      .named("weather question")
      .when(has_tool("get_weather"), model_is("mock-model"), user_says("weather"))
      .reply("Sunny.");
  CHECK_THROWS_AS(agent.run("wether in Paris?"), AgentError);  // without a call of verify(): the gateway reports it
}

TEST_CASE("a client that does not wait") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  Agent agent{gateway.base_url(), gateway.api_key()};
  gateway.chat().reply(rate_limited(2s), "Hello.");
  CHECK_THROWS_AS(agent.run("Hi"), AgentError);
  clock.advance(500ms);
  CHECK(agent.run("Hi") == "Hello.");
  CHECK(gateway.review());
}

TEST_CASE("an agent that accepts a truncated answer") {
  Gateway gateway;
  Agent agent{gateway.base_url(), gateway.api_key()};
  gateway.chat().reply(text("It is 21 degrees and").finish_reason("length"));
  CHECK_THROWS_AS(agent.run("The weather?"), AgentError);
}
