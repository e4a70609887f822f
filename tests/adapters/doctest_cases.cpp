#include "scenario.hpp"
// The adapter may be asked for after a first include without it, and more than once.
#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include "mock_gateway.hpp"
// The second time changes nothing.
#include "mock_gateway.hpp"

#include <chrono>
#include <optional>
#include <thread>

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

TEST_CASE("a gateway may end on another thread") {
  std::thread([] {
    Gateway gateway;  // line: thread
    ask_what_no_stub_answers(gateway);
  }).join();
}

TEST_CASE("a gateway with nothing wrong reports nothing") { scenario::do_nothing_wrong(); }

TEST_CASE("values print themselves") {
  Gateway gateway;
  const Exchange exchange = scenario::ask_too_hot(gateway);
  const ChatRequest request = exchange.chat();
  CAPTURE(exchange);
  CHECK(exchange.decision().kind == Decision::Kind::unmatched);
  CHECK(exchange.outcome().kind == Outcome::Kind::client_left);
  CHECK(request.tool_choice.mode == wire::ToolChoice::Mode::named);
  CHECK(wire::ResponseFormat::Kind::json_object == wire::ResponseFormat::Kind::json_schema);
  CHECK(Profile::documented == Profile::openai);
  CHECK(request.findings.at(0).severity == Severity::error);
  CHECK(Problem::Kind::unmatched == Problem::Kind::invalid);
  CHECK(request.temperature == 0.5);
  CHECK(request.top_p == 0.5);
  CHECK(request.temperature == std::nullopt);
  CHECK(std::optional(KeyState::enabled) == KeyState::disabled);
  CHECK(Duration(20ms) == 60s);
  CHECK(std::chrono::duration<double>(0.25) == 90min);
  CHECK(ManualClock::default_start == ManualClock::default_start + 1500us);
  CHECK(gateway.review());
  CHECK(gateway.journal().wait_for(2, 1ms));
}

TEST_CASE("a check that failed for it shows what a script did") {
  Gateway gateway;
  ask_for_a_stream_that_breaks_off(gateway);
  CHECK_FALSE(gateway.verify());
}

TEST_CASE("notes come once, at the end of a test that failed for something else") {
  Gateway gateway;  // line: noted
  ask_for_a_stream_that_breaks_off(gateway);
  CHECK(gateway.verify());
  CHECK(gateway.journal().count() == 2);
  CHECK(gateway.journal().count() == 3);
}

TEST_CASE("notes of a gateway outlive it") {
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

TEST_CASE("a test that passes has no notes") {
  ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  CHECK(gateway_of_several_tests().verify());
}

TEST_CASE("a test that fails has only its own notes of a shared gateway") {
  ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  FAIL_CHECK("exchange 2 is below");
}

TEST_CASE("a failed run of a test with subcases has only its own notes") {
  Gateway gateway;  // line: runs
  SUBCASE("the first passes") { ask_for_a_stream_that_breaks_off(gateway); }
  SUBCASE("the second fails") {
    gateway.chat().reply(text("one").finish_reason("length"));
    test_support::Http(gateway).chat();
    FAIL_CHECK("length");
  }
  SUBCASE("the third passes") { ask_for_a_stream_that_breaks_off(gateway); }
}

}  // namespace
