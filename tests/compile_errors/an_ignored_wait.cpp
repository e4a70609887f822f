// expected: nodiscard

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.journal().wait_for(1, std::chrono::seconds(1));
#else
  if (!gateway.journal().wait_for(1, std::chrono::seconds(1))) throw GatewayError("nothing came");
#endif
}
