// expected: nodiscard

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().reply("Sunny.").scoped();
#else
  const ScopedStub stub = gateway.chat().reply("Sunny.").scoped();
#endif
}
