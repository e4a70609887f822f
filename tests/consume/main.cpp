// The smallest program that uses the library from two files: what a user writes on the first day.
#include <iostream>

#include "mock_gateway.hpp"

std::string second_base_url();

int main() {
  mock_gateway::Gateway gateway;
  gateway.chat().reply("Hello.");
  const std::string first = gateway.base_url();
  const std::string second = second_base_url();
  std::cout << MOCK_GATEWAY_VERSION << ' ' << first << ' ' << second << '\n';
  const bool well = first.rfind("http://127.0.0.1:", 0) == 0 && second.rfind("http://127.0.0.1:", 0) == 0;
  return well && first != second ? 0 : 1;
}
