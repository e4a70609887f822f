// A test program with Catch2; its main comes from the library Catch2WithMain.

#define MOCK_GATEWAY_ADAPTER_CATCH2
#include "mock_gateway.hpp"  // also includes Catch2

#include <chrono>

#include "chat_client.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using chat_client::ChatClient;

TEST_CASE("the client asks as it was told to") {
  Gateway gateway;  // at its end, problems that the test has not read fail it, with this line
  const Stub capital = gateway.chat().when(user_says("capital of France")).expect(1).reply("Paris.");
  chat_client::Settings settings;
  settings.temperature = 0.2;
  ChatClient client(gateway.base_url(), gateway.api_key(), chat_client::sleep_in_real_time, settings);

  CHECK(client.ask("What is the capital of France?") == "Paris.");
  const Exchange exchange = capital.last_call();
  CHECK(exchange.decision() == Decision::Kind::stub);
  CHECK(exchange.chat().temperature == 0.2);  // prints both values when they differ
}

TEST_CASE("the client comes back when the gateway lets it") {
  Gateway gateway;
  const Stub stub = gateway.chat().reply(rate_limited(1s), "Hello.");
  ChatClient client(gateway.base_url(), gateway.api_key());

  CHECK(client.ask("Hi") == "Hello.");
  REQUIRE(stub.wait_for_calls(2, 5s));  // prints the missing calls
  CHECK(gateway.verify());              // prints the problems
  CHECK(gateway.review());              // prints what the client should change
}
