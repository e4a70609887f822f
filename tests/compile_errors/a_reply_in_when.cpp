// expected: pass replies to reply(...)

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().when(text("weather")).reply("Sunny.");
#else
  gateway.chat().when(user_says("weather")).reply("Sunny.");
#endif
}
