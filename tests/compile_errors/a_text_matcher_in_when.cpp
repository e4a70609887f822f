// expected: when(...) takes matchers

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().when(contains("weather")).reply("Sunny.");
#else
  gateway.chat().when(user_says(contains("weather"))).reply("Sunny.");
#endif
}
