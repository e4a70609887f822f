// The adapter may be asked for in several files of a program, and after a first include without it.
#include "mock_gateway.hpp"
#define MOCK_GATEWAY_ADAPTER_GTEST
#include "mock_gateway.hpp"
#include "scenario.hpp"

using namespace mock_gateway;

TEST(SecondFile, ReportsOnce) {
  Gateway gateway;  // line: second file
  scenario::ask_what_no_stub_answers(gateway);
}
