// expected: body(...) takes text; json_body(...) takes JSON

#include "mock_gateway.hpp"

using namespace mock_gateway;

void script(Gateway& gateway);

void script(Gateway& gateway) {
#ifndef MENDED
  gateway.fail_next(server_error().body(Json{{"error", "down"}}));
#else
  gateway.fail_next(server_error().json_body(Json{{"error", "down"}}));
#endif
}
