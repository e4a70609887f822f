// expected: nodiscard

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.review();
#else
  if (!gateway.review()) throw GatewayError("something is wrong");
#endif
}
