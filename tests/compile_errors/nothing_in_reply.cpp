// expected: reply(...) needs at least one reply

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().when(user_says("weather")).reply();
#else
  gateway.chat().when(user_says("weather")).reply("Sunny.");
#endif
}
