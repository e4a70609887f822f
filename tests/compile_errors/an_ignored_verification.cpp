// expected: nodiscard

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.verify();
#else
  if (!gateway.verify()) throw GatewayError("something is wrong");
#endif
}
