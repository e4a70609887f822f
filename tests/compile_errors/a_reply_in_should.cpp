// expected: should(...) takes matchers

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().should(text("weather")).reply("Sunny.");
#else
  gateway.chat().should(user_says("weather")).reply("Sunny.");
#endif
}
