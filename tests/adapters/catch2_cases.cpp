#define MOCK_GATEWAY_ADAPTER_CATCH2
#include "scenario.hpp"
// Asking for it again changes nothing.
#include "mock_gateway.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>

using namespace mock_gateway;
using namespace std::chrono_literals;
using scenario::ask_for_a_stream_that_breaks_off;
using scenario::ask_what_no_stub_answers;

namespace {

const scenario::AfterTheRun after_the_run;

TEST_CASE("a request that no stub answers fails the test where the gateway was made") {
  Gateway gateway;  // line: unmatched
  ask_what_no_stub_answers(gateway);
}

TEST_CASE("while an exception unwinds, what the gateway found is a message") {
  Gateway gateway;  // line: unwinding
  ask_what_no_stub_answers(gateway);
  throw scenario::ClientGaveUp();  // NOLINT: on purpose
}

TEST_CASE("while a REQUIRE unwinds, what the gateway found is a message") {
  Gateway gateway;  // line: require
  ask_what_no_stub_answers(gateway);
  REQUIRE(gateway.journal().count() == 2);
}

TEST_CASE("what a check has shown is not reported again") {
  Gateway gateway;
  ask_what_no_stub_answers(gateway);
  CHECK(gateway.verify());
}

TEST_CASE("a gateway with nothing wrong reports nothing") {
  Gateway gateway;
  gateway.chat().reply("Hello.");
  test_support::Http(gateway).chat("Hi");
  Gateway unverified(Options{}.verify_on_destruction(false));
  ask_what_no_stub_answers(unverified);
  Gateway asked_again;
  scenario::ask_again_after_a_refusal(asked_again);
}

TEST_CASE("values print themselves") {
  Gateway gateway;
  gateway.chat().reply("Hello.");
  test_support::Http(gateway).chat({{"temperature", 2.5}});
  const Exchange exchange = gateway.journal().last();
  const ChatRequest request = exchange.chat();
  exchange.outcome();
  CAPTURE(exchange);
  CHECK(exchange.decision() == Decision::Kind::unmatched);
  CHECK(exchange.decision().kind == Decision::Kind::unmatched);
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.outcome().kind == Outcome::Kind::client_left);
  CHECK(request.temperature == 0.5);
  CHECK(request.top_p == 0.5);
  CHECK(request.temperature == std::nullopt);
  CHECK(request.tool_choice.mode == wire::ToolChoice::Mode::named);
  CHECK(request.body == Json{{"model", "mock-model"}});
  CHECK(wire::ResponseFormat::Kind::json_object == wire::ResponseFormat::Kind::json_schema);
  CHECK(std::optional(KeyState::enabled) == KeyState::disabled);
  CHECK(Profile::documented == Profile::openai);
  CHECK(request.findings.at(0).severity == Severity::error);
  CHECK(Problem::Kind::unmatched == Problem::Kind::invalid);
  CHECK(Duration(20ms) == 60s);
  CHECK(std::chrono::duration<double>(0.25) == 90min);
  CHECK(ManualClock::default_start == ManualClock::default_start + 1500us);
  CHECK(gateway.review());
  CHECK(gateway.journal().wait_for(2, 1ms));
  CAPTURE(request.findings.at(0));
  FAIL_CHECK("a finding is above");
}

TEST_CASE("what a script did is told beside a check that failed for it") {
  Gateway gateway;
  ask_for_a_stream_that_breaks_off(gateway);
  CHECK_FALSE(gateway.verify());
}

TEST_CASE("what a script did is told at the end of a test that failed for something else, once") {
  Gateway gateway;  // line: noted
  ask_for_a_stream_that_breaks_off(gateway);
  CHECK(gateway.verify());
  CHECK(gateway.journal().count() == 2);
  CHECK(gateway.journal().count() == 3);
}

TEST_CASE("what was asked again early is told at the end of a test that failed for something else, once") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};  // line: asked again
  scenario::ask_again_after_a_refusal(gateway, [&] { clock.advance(20s); });
  CHECK(gateway.review());
  CHECK(gateway.journal().count() == 3);
}

TEST_CASE("of a test that passed nothing is told") {
  Gateway gateway;
  ask_for_a_stream_that_breaks_off(gateway);
  CHECK(gateway.verify());
}

TEST_CASE("what a script did is told whatever is left of the gateway when the check fails") {
  {
    Gateway gateway(Options{}.verify_on_destruction(false));  // line: gone
    ask_for_a_stream_that_breaks_off(gateway);
  }
  FAIL_CHECK("after the gateway");
}

Gateway& gateway_of_several_tests() {
  static Gateway gateway;  // line: several
  return gateway;
}

TEST_CASE("a gateway of several tests, in one that passes") {
  ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  CHECK(gateway_of_several_tests().verify());
}

TEST_CASE("a gateway of several tests, in one that fails, tells of this one") {
  for (int i = 0; i < 11; ++i) ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  FAIL_CHECK("ten exchanges are below, and how many more there are");
}

TEST_CASE("of a test that runs several times, what belongs to the failed run is told") {
  Gateway gateway;  // line: runs
  SECTION("the first passes") { ask_for_a_stream_that_breaks_off(gateway); }
  SECTION("the second fails") {
    gateway.chat().reply(text("one").finish_reason("length"));
    test_support::Http(gateway).chat();
    FAIL_CHECK("length");
  }
  SECTION("the third passes") { ask_for_a_stream_that_breaks_off(gateway); }
}

}  // namespace
