// expected: it is called fault now

#include "mock_gateway.hpp"

using namespace mock_gateway;

Reply broken();

Reply broken() {
#ifndef MENDED
  return text("Sunny.").fail(after_tokens(1), reset_connection());
#else
  return text("Sunny.").fault(after_tokens(1), reset_connection());
#endif
}
