// expected: no member named

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().reply("Sunny.").named("weather");
#else
  gateway.chat().named("weather").reply("Sunny.");
#endif
}
