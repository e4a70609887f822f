#pragma once

// What the test programs of this folder have in common. They fail on purpose: check_output.py compares what they print
// with golden texts, which name the lines with a comment `// line: name`.

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/client.hpp"

namespace scenario {

/// A stub, and a request that it does not answer: verify() has something to find.
inline void ask_what_no_stub_answers(mock_gateway::Gateway& gateway) {
  gateway.chat().when(mock_gateway::user_says("weather")).named("weather").reply("Sunny.");  // line: stub
  test_support::Http(gateway).chat("wether?");
}

/// Uses gateways that have nothing to report: no problem, unverified, or a finding that fails no review.
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

/// Sends a request that has a finding, and returns its exchange when it has ended.
inline mock_gateway::Exchange ask_too_hot(mock_gateway::Gateway& gateway) {
  gateway.chat().reply("Hello.");
  test_support::Http(gateway).chat({{"temperature", 2.5}});
  const mock_gateway::Exchange exchange = gateway.journal().last();
  exchange.outcome();
  return exchange;
}

/// A stream that its script breaks off: verify() has nothing to complain of, and something to note.
inline void ask_for_a_stream_that_breaks_off(mock_gateway::Gateway& gateway) {
  using namespace mock_gateway;
  gateway.chat().reply(text("one two three").fault(after_tokens(2), close_connection()));
  test_support::Http(gateway).allow_incomplete().stream();
}

/// What the client of a test throws.
struct ClientGaveUp : std::runtime_error {
  ClientGaveUp() : std::runtime_error("the client gave up") {}
};

/// Whether the program was started to show what happens there.
inline bool wanted(const std::string& situation) {
  const char* const value = std::getenv("SITUATION");
  return value && value == situation;
}

/// A gateway that the program keeps until after the tests.
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
