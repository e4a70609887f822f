#pragma once

// Shared by the test programs of this folder, which fail on purpose. check_output.py compares their output with golden
// texts, which refer to lines with a comment `// line: name`.

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/client.hpp"

namespace scenario {

/// Sends a request that matches no stub, so that verify() reports problems.
inline void ask_what_no_stub_answers(mock_gateway::Gateway& gateway) {
  gateway.chat().when(mock_gateway::user_says("weather")).named("weather").reply("Sunny.");  // line: stub
  test_support::Http(gateway).chat("wether?");
}

/// Uses gateways that report nothing: no problem, unverified, or a finding that does not fail the review.
inline void do_nothing_wrong() {
  using namespace mock_gateway;
  Gateway gateway;
  gateway.chat().reply("Hello.");
  test_support::Http(gateway).chat("Hi");
  Gateway unverified(Options{}.verify_on_destruction(false));
  ask_what_no_stub_answers(unverified);
  Gateway asked_again;
  asked_again.chat().expect(2).reply(rate_limited(std::chrono::hours{1}), "Hello.");
  const auto client = test_support::Http(asked_again).with_header("x-stainless-retry-count", "0");
  if (client.chat("Hi").status != 429 || client.ask("Hi") != "Hello.") throw std::runtime_error("another answer");
  const Review review = asked_again.review();
  if (!review || review.findings().size() != 1) throw std::runtime_error(review.message());
}

/// Sends a request with a finding, waits for its end, and returns its exchange.
inline mock_gateway::Exchange ask_too_hot(mock_gateway::Gateway& gateway) {
  gateway.chat().reply("Hello.");
  test_support::Http(gateway).chat({{"temperature", 2.5}});
  const mock_gateway::Exchange exchange = gateway.journal().last();
  exchange.outcome();
  return exchange;
}

/// Requests a stream that its script truncates: verify() reports no problem but a note.
inline void ask_for_a_stream_that_breaks_off(mock_gateway::Gateway& gateway) {
  using namespace mock_gateway;
  gateway.chat().reply(text("one two three").fault(after_tokens(2), close_connection()));
  test_support::Http(gateway).allow_incomplete().stream();
}

/// The exception of a test's client.
struct ClientGaveUp : std::runtime_error {
  ClientGaveUp() : std::runtime_error("the client gave up") {}
};

/// Whether the program was started to show this situation.
inline bool wanted(const std::string& situation) {
  const char* const value = std::getenv("SITUATION");
  return value && value == situation;
}

/// A gateway that lives until after the tests.
struct AfterTheRun {
  AfterTheRun() = default;
  AfterTheRun(const AfterTheRun&) = delete;
  AfterTheRun& operator=(const AfterTheRun&) = delete;
  ~AfterTheRun() {
    if (!wanted("after the run")) return;
    mock_gateway::Gateway gateway;  // line: after the run
    ask_what_no_stub_answers(gateway);
  }
};

}  // namespace scenario
