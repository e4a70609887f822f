#include "scenario.hpp"
// An adapter may be requested after a first include without it, and more than once.
#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include "mock_gateway.hpp"
// Including it again changes nothing.
#include "mock_gateway.hpp"

#include <thread>

#include "shared_cases.hpp"

namespace {

TEST_CASE("a gateway may end on another thread") {
  std::thread([] {
    Gateway gateway;  // line: thread
    ask_what_no_stub_answers(gateway);
  }).join();
}

TEST_CASE("exchanges and enumerations print themselves") {
  Gateway gateway;
  const Exchange exchange = scenario::ask_too_hot(gateway);
  CAPTURE(exchange);
  CHECK(exchange.decision().kind == Decision::Kind::unmatched);
  CHECK(exchange.outcome().kind == Outcome::Kind::client_left);
  CHECK(exchange.chat().tool_choice.mode == wire::ToolChoice::Mode::named);
  CHECK(exchange.chat().findings.at(0).severity == Severity::error);
  CHECK(wire::ResponseFormat::Kind::json_object == wire::ResponseFormat::Kind::json_schema);
  CHECK(KeyState::enabled == KeyState::disabled);
  CHECK(Profile::documented == Profile::openai);
  CHECK(Problem::Kind::unmatched == Problem::Kind::invalid);
}

TEST_CASE("a check that failed for it shows what a script did") {
  Gateway gateway;
  ask_for_a_stream_that_breaks_off(gateway);
  CHECK_FALSE(gateway.verify());
}

TEST_CASE("notes of a gateway outlive it") {
  {
    Gateway gateway(Options{}.verify_on_destruction(false));  // line: gone
    ask_for_a_stream_that_breaks_off(gateway);
  }
  FAIL_CHECK("after the gateway");
}

}  // namespace
