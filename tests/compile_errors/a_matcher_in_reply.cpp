// expected: pass matchers to when(...)

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().reply(user_says("weather"));
#else
  gateway.chat().when(user_says("weather")).reply("Sunny.");
#endif
}
