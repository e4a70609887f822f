// A test program with GoogleTest; its main comes from the library gtest_main.

#define MOCK_GATEWAY_ADAPTER_GTEST
#include "mock_gateway.hpp"  // also includes GoogleTest

#include <chrono>

#include "chat_client.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using chat_client::ChatClient;

TEST(ChatClient, TheClientAsksAsItWasToldTo) {
  Gateway gateway;  // at its end, problems that the test has not read fail it, with this line
  const Stub capital = gateway.chat().when(user_says("capital of France")).expect(1).reply("Paris.");
  chat_client::Settings settings;
  settings.temperature = 0.2;
  ChatClient client(gateway.base_url(), gateway.api_key(), chat_client::sleep_in_real_time, settings);

  EXPECT_EQ(client.ask("What is the capital of France?"), "Paris.");
  const Exchange exchange = capital.last_call();
  EXPECT_EQ(exchange.decision(), Decision::Kind::stub);
  EXPECT_EQ(exchange.chat().temperature, 0.2);  // prints both values when they differ
}

TEST(ChatClient, TheClientComesBackWhenTheGatewayLetsIt) {
  Gateway gateway;
  const Stub stub = gateway.chat().reply(rate_limited(1s), "Hello.");
  ChatClient client(gateway.base_url(), gateway.api_key());

  EXPECT_EQ(client.ask("Hi"), "Hello.");
  ASSERT_TRUE(stub.wait_for_calls(2, 5s));  // prints the missing calls
  EXPECT_TRUE(gateway.verify());            // prints the problems
  EXPECT_TRUE(gateway.review());            // prints what the client should change
}
