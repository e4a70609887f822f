// The adapter may be asked for in several files of a program, and after a first include without it.
#include "mock_gateway.hpp"
#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include "mock_gateway.hpp"
#include "scenario.hpp"

using namespace mock_gateway;

TEST_CASE("a second file with the adapter reports once") {
  Gateway gateway;  // line: second file
  scenario::ask_what_no_stub_answers(gateway);
}
