#pragma once

// The tests that doctest and Catch2 share. Their programs include this file after the adapter. Catch2's name for
// SUBCASE is SECTION.

#include <chrono>
#include <optional>

#include "scenario.hpp"

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

TEST_CASE("a gateway with nothing wrong reports nothing") { scenario::do_nothing_wrong(); }

TEST_CASE("values print themselves") {
  Gateway gateway;
  const ChatRequest request = scenario::ask_too_hot(gateway).chat();
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

TEST_CASE("notes come once, at the end of a test that failed for something else") {
  Gateway gateway;  // line: noted
  ask_for_a_stream_that_breaks_off(gateway);
  CHECK(gateway.verify());
  CHECK(gateway.journal().count() == 2);
  CHECK(gateway.journal().count() == 3);
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

TEST_CASE("a failed run of a test has only its own notes") {
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
