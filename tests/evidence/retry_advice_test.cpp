// Retry advice in failures. review() reports clients that ignore it and accepts clients that follow it.

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace retry_advice_test {

using namespace mock_gateway;
using namespace test_support;
using namespace std::chrono_literals;

std::string refusal_of(const std::function<void()>& code) {
  try {
    code();
    return "not refused";
  } catch (const GatewayError& error) {
    return error.what();
  }
}

/// Sends two requests and calls `wait` between them. Returns the text of the review.
std::string reviewed(Gateway& gateway, const std::function<void(const Response&)>& wait) {
  const Http http{gateway};
  wait(http.chat());
  http.chat();
  return without_counts(gateway.review().message());
}

void wait_until(std::chrono::system_clock::time_point time) {
  REQUIRE(eventually([time] { return std::chrono::system_clock::now() >= time; }));
}

std::chrono::system_clock::time_point read_date(const std::string& text) {
  const auto date = test_support::http_date(text);
  REQUIRE(date);
  return *date;
}

// --- A date ----------------------------------------------------------------------------------------------------------

TEST_CASE("a client that ignores a date is reported on the real clock") {
  Gateway gateway;
  gateway.chat().reply(rate_limited().retry_after_date(30s), "Hello.");
  const std::string message = reviewed(gateway, [](const Response&) {});
  CAPTURE(message);
  CHECK(message.find("retry_after_ignored (exchange 2 after 1): retried ") == 0);
  CHECK(message.find(" s before the date in Retry-After. Wait as long as the header says before retrying.") !=
        std::string::npos);
  CHECK(message.find("the machine's") == std::string::npos);
}

TEST_CASE("a client that waits until its machine's clock reaches the date gets no finding") {
  for (int i = 0; i < 2; ++i) {
    Gateway gateway;
    gateway.chat().reply(rate_limited().retry_after_date(0s), "Hello.");
    CHECK(reviewed(gateway, [](const Response& response) { wait_until(read_date(response.header("Retry-After"))); }) ==
          "clean: 2 exchanges judged");
  }
}

TEST_CASE("a date is never earlier than requested") {
  for (const Duration fraction : {Duration{0}, Duration{1ns}, Duration{500ms}, Duration{999999999ns}}) {
    CAPTURE(fraction.count());
    Gateway gateway{Options{}.clock(ManualClock{ManualClock::default_start + fraction})};
    gateway.fail_next(rate_limited().retry_after_date(1s));
    CHECK(Http{gateway}.chat().header("Retry-After") ==
          (fraction == Duration{0} ? "Mon, 01 Jan 2024 00:00:01 GMT" : "Mon, 01 Jan 2024 00:00:02 GMT"));
  }
}

TEST_CASE("a client that waits from the Date header to the date in Retry-After gets no finding") {
  // This clock is at least an hour ahead of the machine's, and does not move.
  const auto start = std::chrono::ceil<std::chrono::hours>(std::chrono::system_clock::now()) + 1h;
  Gateway gateway{Options{}.clock(ManualClock{TimePoint{start}})};
  gateway.chat().reply(rate_limited().retry_after_date(1s), "Hello.");
  CHECK(reviewed(gateway, [](const Response& response) {
          wait_until(std::chrono::system_clock::now() +
                     (read_date(response.header("Retry-After")) - read_date(response.header("Date"))));
        }) == "clean: 2 exchanges judged");
}

TEST_CASE("the catalogue's scenario with a date fails a client that does not wait") {
  const Scenario dated = scenario("retry-after-date");
  // Repeats the test if the machine paused, because the client may have retried after the date.
  bool retried_early = false;
  for (int i = 0; i < 10 && !retried_early; ++i) {
    Gateway gateway{dated.options()};
    dated.mount(gateway);
    std::string date;
    const std::string message =
        reviewed(gateway, [&](const Response& response) { date = response.header("Retry-After"); });
    retried_early = std::chrono::system_clock::now() < read_date(date) - 100ms;
    if (retried_early) CHECK(message.find("retry_after_ignored (exchange 2 after 1)") == 0);
  }
  CHECK(retried_early);
  Gateway gateway{dated.options()};
  dated.mount(gateway);
  CHECK(reviewed(gateway, [](const Response& response) { wait_until(read_date(response.header("Retry-After"))); }) ==
        "clean: 2 exchanges judged");
}

// --- A duration ------------------------------------------------------------------------------------------------------

TEST_CASE("the reported wait uses the clock that the client was judged by") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(rate_limited(60s), "Hello.");
  const std::string message =
      reviewed(gateway, [](const Response&) { wait_until(std::chrono::system_clock::now() + 700ms); });
  CAPTURE(message);
  CHECK(message.find("retry_after_ignored (exchange 2 after 1): retried after ") == 0);
  CHECK(message.find("retried after 0 s") == std::string::npos);
}

TEST_CASE("waiting for a response does not count as waiting after it" * doctest::skip(!test_support::tells_arrival)) {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(Reply(rate_limited(2s)).first_token_after(1s), "Hello.");
  const Http http{gateway};
  RawConnection connection{gateway};
  connection.send(http.format_chat());
  REQUIRE(clock.wait_for_waits(1, 10s));
  wait_until(std::chrono::system_clock::now() + 2100ms);
  clock.advance(1s);
  CHECK(connection.receive_response().status == 429);
  http.chat();
  CHECK(without_counts(gateway.review().message()).find("retry_after_ignored (exchange 2 after 1)") == 0);
}

TEST_CASE("a negative duration throws, with a hint how to send it anyway") {
  const std::string one = "; header(\"Retry-After\", \"-1\") sends a negative one";
  CHECK(refusal_of([] { (void)rate_limited(-2s); }) ==
        "mock_gateway: retry_after takes a duration of 0 or more, not -2 s" + one);
  CHECK(refusal_of([] { (void)server_error().retry_after(-1ms); }) ==
        "mock_gateway: retry_after takes a duration of 0 or more, not -0.001 s" + one);
  CHECK(refusal_of([] { (void)server_error().retry_after_ms(Duration{-1}); }) ==
        "mock_gateway: retry_after_ms takes a duration of 0 or more, not -0.000000001 s; header(\"retry-after-ms\", "
        "\"-1\") sends a negative one");
  CHECK(refusal_of([] {
          (void)server_error().retry_after_date(Duration::min());
        }).find("header(\"Retry-After\", \"-1\") a negative number") != std::string::npos);
  Gateway gateway;
  gateway.fail_next(rate_limited(2s).header("Retry-After", "-1"));
  CHECK(Http{gateway}.chat().all("Retry-After") == std::vector<std::string>{"-1"});
}

// --- Two fields with the same name -----------------------------------------------------------------------------------

TEST_CASE("setting a header replaces all headers of that name, adding one keeps them") {
  Gateway gateway;
  const Http http{gateway};
  using Values = std::vector<std::string>;
  const auto sent = [&](const Reply& reply, const char* name) {
    gateway.chat().reply(reply);
    return http.chat().all(name);
  };
  CHECK(sent(rate_limited(2s).header("Retry-After", "soon"), "Retry-After") == Values{"soon"});
  CHECK(sent(rate_limited(2s).header("retry-AFTER", "soon"), "Retry-After") == Values{"soon"});
  CHECK(sent(Reply(rate_limited(2s)).header("retry-after", "soon"), "Retry-After") == Values{"soon"});
  CHECK(sent(rate_limited().retry_after_date(2s).header("retry-after", "soon"), "Retry-After") == Values{"soon"});
  CHECK(sent(rate_limited().header("retry-after", "soon").retry_after(3s), "Retry-After") == Values{"3"});
  CHECK(sent(rate_limited().retry_after_ms(2ms).header("Retry-After-MS", "x"), "retry-after-ms") == Values{"x"});
  CHECK(sent(rate_limited().should_retry(true).header("X-Should-Retry", "x"), "x-should-retry") == Values{"x"});
  CHECK(sent(text("a").header("x-a", "1").header("X-A", "2"), "x-a") == Values{"2"});
  CHECK(sent(raw_reply(200, "a").header("content-type", "b/c").header("Content-Type", "d/e"), "content-type") ==
        Values{"d/e"});

  CHECK(sent(rate_limited(2s).add_header("retry-after", "soon"), "Retry-After") == Values{"2", "soon"});
  CHECK(sent(Reply(rate_limited(2s)).add_header("retry-after", "soon"), "Retry-After") == Values{"2", "soon"});
  CHECK(sent(rate_limited(2s).add_header("retry-after", "soon").header("Retry-After", "1"), "retry-after") ==
        Values{"1"});
  CHECK(sent(rate_limited(2s).add_header("retry-after", "soon").retry_after_date(1h), "retry-after").size() == 1);
  CHECK(sent(text("a").header("x-a", "1").add_header("X-A", "2"), "x-a") == Values{"1", "2"});

  const auto mounted = [&](const HttpReply& reply, const char* name) {
    gateway.on("GET", "/v1/x", [reply](const ReceivedRequest&) { return reply; });
    return http.get("/v1/x").all(name);
  };
  CHECK(mounted(HttpReply(rate_limited(2s)).header("retry-after", "soon"), "Retry-After") == Values{"soon"});
  CHECK(mounted(HttpReply(rate_limited(2s)).add_header("retry-after", "soon"), "Retry-After") == Values{"2", "soon"});
  CHECK(mounted(HttpReply(Json(1)).header("x-a", "1").header("X-A", "2"), "x-a") == Values{"2"});
  CHECK(mounted(HttpReply(Json(1)).header("x-a", "1").add_header("X-A", "2"), "x-a") == Values{"1", "2"});
  CHECK_THROWS_AS(static_cast<void>(server_error().add_header("x a", "1")), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(text("a").add_header("x-a", "1\r\n")), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(HttpReply(Json(1)).add_header("x-a", "1\n")), GatewayError);
}

TEST_CASE("a client may obey any of several contradicting fields") {
  const auto judged = [](const Failure& failure) {
    Gateway gateway{Options{}.clock(ManualClock())};
    gateway.chat().reply(failure, "Hello.");
    const Review review = [&] {
      Http{gateway}.chat();
      Http{gateway}.chat();
      return gateway.review();
    }();
    return review ? "clean" : review.findings().at(0).code;
  };
  CHECK(judged(rate_limited(600s)) == "retry_after_ignored");
  CHECK(judged(rate_limited(600s).add_header("retry-after", "600")) == "retry_after_ignored");
  CHECK(judged(rate_limited(600s).add_header("retry-after", "soon")) == "clean");
  CHECK(judged(rate_limited(600s).add_header("retry-after", "0")) == "clean");
  CHECK(judged(rate_limited().header("Retry-After", "soon").add_header("Retry-After", "600")) == "clean");
  CHECK(judged(rate_limited(600s).retry_after_ms(600s).add_header("retry-after-ms", "0")) == "clean");
  CHECK(judged(rate_limited(600s).add_header("retry-after", "0").retry_after_ms(600s)) == "retry_after_ignored");
  CHECK(judged(bad_request()) == "retried_final_error");
  CHECK(judged(bad_request().should_retry(false).add_header("x-should-retry", "true")) == "clean");
}

}  // namespace retry_advice_test
