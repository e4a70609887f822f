// expected: nodiscard

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
  Failure failure = rate_limited();
#ifndef MENDED
  failure.retry_after(std::chrono::seconds(1));
#else
  failure = failure.retry_after(std::chrono::seconds(1));
#endif
  gateway.fail_next(failure);
}
