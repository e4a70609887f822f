// expected: a reply is a Reply, a string, a Failure, or a function

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().reply(42);
#else
  gateway.chat().reply("42");
#endif
}
