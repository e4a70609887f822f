// expected: nodiscard

#include "mock_gateway.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace mock_gateway;

Reply broken();

Reply broken() {
  Reply reply = text("Sunny.");
#ifndef MENDED
  reply.fail(after_tokens(1), reset_connection());
#else
  reply = reply.fail(after_tokens(1), reset_connection());
#endif
  return reply;
}
