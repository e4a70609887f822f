// State after a reset or after the journal is cleared: the next test sees nothing of the previous test.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/timing.hpp"
#include "support/verification.hpp"

namespace reset_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::has_part;
using test_support::Http;
using test_support::kinds;
using test_support::RawConnection;
using test_support::Response;
using Kind = Problem::Kind;

// --- The journal -----------------------------------------------------------------------------------------------------

TEST_CASE("a cleared journal counts no evicted exchanges, and a review mentions no evictions") {
  for (const bool resets : {false, true}) {
    CAPTURE(resets);
    Gateway gateway{Options{}.journal_limits(2, 1 << 20)};
    const Http http = Http(gateway).keep_alive();
    for (int i = 0; i < 5; ++i) http.get("/v1/models");
    REQUIRE(gateway.journal().evicted() == 3);
    CHECK(has_part(gateway.review().message(), "3 exchanges were evicted before the review"));
    resets ? gateway.reset() : gateway.journal().clear();
    CHECK(gateway.journal().evicted() == 0);
    http.get("/v1/models");
    CHECK(gateway.journal().evicted() == 0);
    CHECK(gateway.review().message() == "clean: 1 exchange judged");
    for (int i = 0; i < 2; ++i) http.get("/v1/models");
    CHECK(gateway.journal().evicted() == 1);
  }
}

TEST_CASE("a cleared journal has its full byte limit again") {
  Gateway gateway{Options{}.journal_limits(1000, 20'000)};
  const Http http = Http(gateway).keep_alive();
  const std::string long_text(6000, 'x');
  for (int i = 0; i < 5; ++i) http.chat(Json(long_text));
  const std::size_t fit = gateway.journal().all().size();
  REQUIRE(fit > 1);
  REQUIRE(gateway.journal().evicted() > 0);
  gateway.journal().clear();
  for (std::size_t i = 0; i < fit; ++i) http.chat(Json(long_text));
  CHECK(gateway.journal().all().size() == fit);
  CHECK(gateway.journal().evicted() == 0);
}

TEST_CASE("a cleared journal has no connection faults") {
  Gateway gateway;
  gateway.next_connection(close_on_accept(), 2);
  CHECK(RawConnection(gateway).receive_all().bytes.empty());
  CHECK(gateway.journal().connection_hits().size() == 1);
  gateway.journal().clear();
  CHECK(gateway.journal().connection_hits().empty());
  CHECK(RawConnection(gateway).receive_all().bytes.empty());
  CHECK(gateway.journal().connection_hits().size() == 1);
}

TEST_CASE("the journal keeps as many connection faults as exchanges, the newest ones") {
  Gateway gateway{Options{}.journal_limits(3, 1 << 20)};
  gateway.next_connection(close_on_accept(), 5);
  for (int i = 0; i < 5; ++i) RawConnection(gateway).receive_all();
  const std::vector<ConnectionHit> hits = gateway.journal().connection_hits();
  REQUIRE(hits.size() == 3);
  CHECK(hits.front().connection_id == 3);
  CHECK(hits.back().connection_id == 5);
}

TEST_CASE("a wait for exchanges counts from the last clear") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 3; ++i) http.get("/v1/models");
  gateway.journal().clear();
  http.get("/v1/models");
  CHECK(gateway.journal().wait_for(1, 0s));
  CHECK(gateway.journal().wait_for(2, 0s).message() == "1 of 2 exchanges were recorded");
}

// --- Reports of verify() and the destructor --------------------------------------------------------------------------

TEST_CASE("a reset forgets problems over the limit and their count") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const Http http = Http(gateway).keep_alive();
  for (int test = 1; test <= 2; ++test) {
    CAPTURE(test);
    gateway.chat().when(user_says("a")).reply("x");
    for (int i = 0; i < 103; ++i) http.chat("b");
    const Verification verification = gateway.verify();
    CHECK(verification.problems().size() == 101);
    CHECK(verification.problems().back().text == "and 3 more problems of exchanges, not kept (unmatched)");
    gateway.reset();
    CHECK(gateway.verify().message() == "nothing is wrong");
  }
  gateway.chat().when(user_says("a")).reply("x");
  http.chat("b");
  CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::unmatched});
}

/// Creates a gateway, calls `use`, and destroys the gateway. Returns the destructor's report.
std::string report_of_destruction(const std::function<void(Gateway&)>& use) {
  static std::string reported;
  reported.clear();
  const detail::Reporter before = detail::reporter();
  detail::set_reporter([](const detail::Report& report) {
    reported += report.text;
    return true;
  });
  {
    Gateway gateway;
    use(gateway);
  }
  detail::set_reporter(before);
  return reported;
}

TEST_CASE("the destructor reports problems after a reset, even if equal problems were read before the reset") {
  const auto fail = [](Gateway& gateway) {
    gateway.chat().when(user_says("a")).reply("x");
    const Http http = Http(gateway).keep_alive();
    for (int i = 0; i < 103; ++i) http.chat("b");
  };
  const std::string unread = report_of_destruction(fail);
  CHECK(has_part(unread, "101 problems"));
  CHECK(report_of_destruction([&](Gateway& gateway) {
          fail(gateway);
          CHECK_FALSE(gateway.verify());
        }) == "");
  CHECK(has_part(report_of_destruction([&](Gateway& gateway) {
                   fail(gateway);
                   CHECK_FALSE(gateway.verify());
                   gateway.reset();
                   fail(gateway);
                 }),
                 "101 problems"));
}

TEST_CASE("verify() returns the same problems when called again") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("a")).expect(1).reply("x");
  Http(gateway).chat("b");
  const std::string once = gateway.verify().message();
  CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::unmatched, Kind::unmet_expectation});
  CHECK(gateway.verify().message() == once);
}

TEST_CASE("review() returns the same findings when called again") {
  Gateway gateway;
  Http(gateway).chat({{"user", "u"}});
  const std::string once = gateway.review().message();
  CHECK(has_part(once, "unknown_field (exchange 1)"));
  CHECK(gateway.review().message() == once);
}

TEST_CASE("an unmet expectation of a removed stub is reported until the reset") {
  Gateway gateway;
  { const ScopedStub scoped = gateway.chat().expect(1).reply("unused").scoped(); }
  CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::unmet_expectation});
  gateway.reset();
  CHECK(gateway.verify().message() == "nothing is wrong");
}

TEST_CASE("a reply under way at a reset ends normally, and its unreached faults are no problem of the next test") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("a b").hold(gate, before_token(2)).fault(after_tokens(9), reset_connection()));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  gateway.reset();
  gate.open();
  CHECK(connection.receive_response().joined_text() == "a b");
  REQUIRE(gateway.journal().wait_until_idle(10s));
  CHECK(gateway.verify().message() == "nothing is wrong");
}

TEST_CASE("a request that is being matched during a reset gets no stub of the previous test") {
  Gateway gateway;
  std::promise<void> begun;
  std::promise<void> go_on;
  gateway.chat()
      .when(matching("slow",
                     [&](const ChatRequest&) {
                       begun.set_value();
                       go_on.get_future().wait();
                       return true;
                     }))
      .reply("of the test before");
  auto late = std::async(std::launch::async, [&] { return Http(gateway).chat(); });
  begun.get_future().wait();
  gateway.reset();
  go_on.set_value();
  CHECK(late.get().body.find("of the test before") == std::string::npos);
}

// --- Repeated requests -----------------------------------------------------------------------------------------------

TEST_CASE("equal requests get different replies, and the same sequence of replies again after a reset") {
  const ManualClock clock;
  Gateway gateway{Options{}.clock(clock).profile(Profile::openai)};
  const Http http(gateway);
  const auto asked = [&] {
    std::vector<std::string> answers;
    for (int i = 0; i < 3; ++i) {
      answers.push_back(http.chat().raw);
      answers.push_back(http.stream().raw);
      answers.push_back(http.get("/v1/nowhere").raw);
    }
    return answers;
  };
  const std::vector<std::string> first = asked();
  for (std::size_t i = 3; i < first.size(); ++i) CHECK(first[i] != first[i - 3]);
  CHECK(asked() != first);
  gateway.reset();
  CHECK(asked() == first);
}

TEST_CASE("after a reset, requests that share a counter get the same sequence of replies again") {
  // This many different requests have their own counters; further requests share counters.
  constexpr std::uint64_t counters = 65'536;
  const ManualClock clock;
  Gateway gateway{Options{}.clock(clock).profile(Profile::openai)};
  const auto replies_with_shared_counters = [&] {
    for (std::uint64_t request = 1; request <= counters; ++request)
      mock_gateway::detail::Access::serving(gateway)->occurrences.next(request);
    const auto ask = [&gateway] { return Http(gateway).chat().raw; };
    return std::vector<std::string>{ask(), ask(), ask()};
  };
  const std::vector<std::string> first = replies_with_shared_counters();
  CHECK(first[0] != first[1]);
  CHECK(first[1] != first[2]);
  gateway.reset();
  CHECK(replies_with_shared_counters() == first);
}

}  // namespace reset_test
