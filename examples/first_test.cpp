// The smallest complete test: a client, a gateway, and what became of their exchange.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include "mock_gateway.hpp"  // and doctest

#include <httplib.h>

using namespace mock_gateway;
using namespace std::chrono_literals;

/// The code under test. Any client will do that takes a base address and a key.
static httplib::Result ask(const Gateway& gateway, const char* question) {
  httplib::Client client(gateway.host(), gateway.port());
  client.set_bearer_token_auth(gateway.api_key());
  const Json request = {{"model", "mock-model"}, {"messages", {{{"role", "user"}, {"content", question}}}}};
  return client.Post("/v1/chat/completions", request.dump(), "application/json");
}

TEST_CASE("the client reports what the gateway said") {
  Gateway gateway;  // a real endpoint on 127.0.0.1 at a free port, ready now
  gateway.chat().when(user_says("capital of France")).reply("Paris.");
  const auto answer = ask(gateway, "What is the capital of France?");
  REQUIRE(answer);
  CHECK(Json::parse(answer->body)["choices"][0]["message"]["content"] == "Paris.");
  CHECK(gateway.journal().last().chat().last_user_text() == "What is the capital of France?");

  gateway.fail_next(rate_limited(2s));  // the next request gets 429 with Retry-After: 2
  CHECK(ask(gateway, "And of Italy?")->status == 429);
  CHECK(gateway.verify());  // everything went as scripted
  CHECK(gateway.review());  // and the client did nothing wrong
}
