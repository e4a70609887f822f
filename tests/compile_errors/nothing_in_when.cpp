// expected: when(...) needs at least one matcher

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().when().reply("Sunny.");
#else
  gateway.chat().reply("Sunny.");
#endif
}
