// expected: a reply is a Reply, a string, a Failure, or a function

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.chat().reply([](int count) { return text(std::to_string(count)); });
#else
  gateway.chat().reply([](const ChatRequest& request) { return text(request.last_user_text()); });
#endif
}
