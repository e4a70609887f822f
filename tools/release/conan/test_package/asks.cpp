// Tests that a package works: a client sends a request to a gateway and prints the response.
#include <httplib.h>

#include <iostream>

#include "mock_gateway.hpp"

int main() {
  using namespace mock_gateway;
  Gateway gateway;
  gateway.chat().when(user_says("capital of France")).reply("Paris.");

  httplib::Client client(gateway.host(), gateway.port());
  client.set_bearer_token_auth(gateway.api_key());
  const Json request = {{"model", "mock-model"},
                        {"messages", {{{"role", "user"}, {"content", "What is the capital of France?"}}}}};
  const auto answer = client.Post("/v1/chat/completions", request.dump(), "application/json");
  if (!answer || answer->status != 200) return 1;
  const std::string said = Json::parse(answer->body)["choices"][0]["message"]["content"];
  std::cout << "mock_gateway " << MOCK_GATEWAY_VERSION << (MOCK_GATEWAY_HEADER_ONLY ? " in the header" : ", compiled")
            << ", cpp-httplib " << CPPHTTPLIB_VERSION << ": " << said << '\n';
  return said == "Paris." && gateway.verify() ? 0 : 1;
}
