// Findings for clients that ignore the delay named in a body, retry when the daily quota is used up, repeat a request
// before its reply, or follow a redirect with their key.

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace retry_findings_test {

using namespace mock_gateway;
using namespace test_support;
using namespace std::chrono_literals;

const char* const count = "x-stainless-retry-count";
const char* const key = "Idempotency-Key";

/// Sends a request that gets this failure, waits, and retries with the client that `second` returns. Returns the
/// review.
Review asked_again(const Failure& failure, Duration pause, Http (*second)(const Http&) = nullptr) {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
  gateway.chat().reply(failure, text("Hello"));
  const Http http(gateway);
  http.chat();
  clock.advance(pause);
  (second ? second(http) : http).chat();
  return gateway.review();
}

Failure limited(const std::string& body) { return rate_limited().without_retry_after().body(body); }

Failure says(const std::string& message) {
  return rate_limited().without_retry_after().json_body(
      {{"error", {{"message", message}, {"code", "rate_limit_exceeded"}}}});
}

// --- A time in the body ----------------------------------------------------------------------------------------------

struct Asked {
  Failure failure;
  Duration time;
};

std::vector<Asked> bodies_with_a_time() {
  return {{limited(R"({"error":{"message":"m","details":[{"a":1},{"retryDelay":"10.3s"}]}})"), 10300ms},
          {limited(R"([{"error":{"details":[{"retryDelay" : "7s"}]}}])"), 7s},
          {says("Rate limit reached. Please try again in 30000ms. Visit us."), 30s},
          {says("Please try again in 9.5s."), 9500ms},
          {says("Please try again in 1m2s"), 62s},
          {says("Try again in 1h 0m 1s!"), 1h + 1s},
          {says("Please retry in 36.5s"), 36500ms},
          {says("Please retry after 20 seconds."), 20s},
          {says("Try again in 1 minute."), 1min},
          {says("Try again in 2 hours and a bit"), 2h}};
}

TEST_CASE("a client that retries before the time in the body of a 429 is reported") {
  for (const Asked& asked : bodies_with_a_time()) {
    CAPTURE(*asked.failure.raw_body());
    CHECK(codes(asked_again(asked.failure, asked.time - 5s)) == "retry_delay_in_body_ignored");
    CHECK(without_counts(asked_again(asked.failure, asked.time).message()) == "clean: 2 exchanges judged");
  }
  const Review review = asked_again(says("Please try again in 9.5s."), 2s);
  CHECK(without_counts(review.message()) ==
        "retry_delay_in_body_ignored (exchange 2 after 1): retried after 2 s, but the body of the 429 said 9.5 s. Wait "
        "that long before retrying: some services name the time only in the body.");
  CHECK(review.findings()[0].severity == Severity::warning);
  CHECK(review.findings()[0].fails_review);
}

TEST_CASE("other texts and times in other places do not ask a client to wait") {
  for (const char* const message :
       {"Try again later.", "Try again in a while", "Try again in 5 months", "try again in s", "try again in 0s",
        "try again in 99999999999999999h", "try again in 1..5s", ""}) {
    CAPTURE(message);
    CHECK(codes(asked_again(says(message), 0s)) == "");
  }
  CHECK(codes(asked_again(limited(R"({"retryDelay":"soon"})"), 0s)) == "");
  CHECK(codes(asked_again(limited(R"({"retryDelay":{"seconds":30}})"), 0s)) == "");
  CHECK(codes(asked_again(failure(503, "busy", "try again in 30s"), 0s)) == "");
  // A time in a header takes precedence over the body, even if its value is invalid.
  const Failure both = says("try again in 30s");
  CHECK(codes(asked_again(both.retry_after(10s), 5s)) == "retry_after_ignored");
  CHECK(codes(asked_again(both.retry_after(10s), 10s)) == "");
  CHECK(codes(asked_again(both.retry_after_ms(10s), 10s)) == "");
  CHECK(codes(asked_again(both.retry_after("soon"), 0s)) == "");
}

TEST_CASE("a new call before the time in a body is a finding that fails no review") {
  const Review review =
      asked_again(says("try again in 30s"), 5s, [](const Http& http) { return http.with_header(count, "0"); });
  CHECK(review);
  CHECK(without_counts(review.message()) ==
        "asked_again_early (exchange 2 after 1): sent the same request again after 5 s, as a new call "
        "(x-stainless-retry-count: 0); the body of the 429 said 30 s. Make the retry loop around the client wait as "
        "long as the body says. Ignore this if the test repeats the request on purpose.");
}

// --- A daily quota ---------------------------------------------------------------------------------------------------

TEST_CASE("a client that repeats a request after its daily quota is used up is reported") {
  for (const char* const body :
       {R"({"error":{"details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}})",
        R"({"error":{"message":"Rate limit reached on requests per day (RPD): Limit 200"}})",
        R"({"error":{"code":"tokens_per_day"}})",
        R"({"error":{"message":"Rate limit exceeded: free-models-per-day."}})", R"({"error":"your daily limit"})",
        "TPD exceeded"}) {
    CAPTURE(body);
    CHECK(codes(asked_again(limited(body), 59s)) == "daily_quota_retried");
    CHECK(codes(asked_again(limited(body), 60s)) == "");
    CHECK(codes(asked_again(limited(body).should_retry(true), 1s)) == "");
    CHECK(codes(asked_again(limited(body).retry_after(2s), 2s)) == "");
    CHECK(codes(asked_again(limited(std::string(body) + " try again in 20s"), 20s)) == "");
    CHECK(codes(asked_again(failure(503, "", "").body(body), 1s)) == "");
  }
  CHECK(codes(asked_again(limited("dailymotion, the httpd"), 1s)) == "");
  CHECK(without_counts(asked_again(says("daily limit"), 2s).message()) ==
        "daily_quota_retried (exchange 2 after 1): retried 2 s after 429 \"rate_limit_exceeded\", which names a daily "
        "quota. Report the error to the caller: a short wait does not restore the quota.");
}

TEST_CASE("a gateway's own token limit per day counts as a used-up quota for requests that exceed it") {
  const ManualClock clock;
  Gateway gateway{Options{}.clock(clock).limit_tokens(10, 24h).verify_on_destruction(false)};
  const Http http(gateway);
  for (int i = 0; i < 2; ++i) CHECK(http.chat({{"max_tokens", 90}}).status == 429);
  CHECK(codes(gateway.review()) == "daily_quota_retried");
}

// --- Requests repeated before their reply ----------------------------------------------------------------------------

/// A gateway whose first reply waits at a gate.
struct Slow {
  Slow() { gateway.chat().reply(text("late").hold(gate, before_token(1)), text("Hello")); }
  ~Slow() { gate.open(); }

  /// Sends a request without reading the response.
  RawConnection ask(const Http& how, bool streamed = false) {
    RawConnection connection(gateway);
    connection.send(how.format_chat(streamed ? Json{{"stream", true}} : Json{}));
    const std::size_t before = asked++;
    REQUIRE(eventually([&] { return gateway.journal().count() == before + 1; }));
    return connection;
  }
  void wait_until_it_knows() { REQUIRE(gateway.journal().last().wait_for_client_to_leave(10s)); }
  Http numbered(const char* number) const { return http.with_header(count, number); }

  Gateway gateway{Options{}.verify_on_destruction(false)};
  Gate gate;
  Http http{gateway};
  std::size_t asked = 0;
};

TEST_CASE("a numbered retry is reported if the first attempt is still running or was abandoned") {
  for (const bool leaves : {false, true}) {
    CAPTURE(leaves);
    Slow slow;
    RawConnection first = slow.ask(slow.numbered("0"));
    if (leaves) {
      first.close();
      slow.wait_until_it_knows();
    }
    CHECK(slow.numbered("1").chat().status == 200);
    slow.gate.open();
    if (!leaves) CHECK(first.receive_response().complete);
    const Review review = slow.gateway.review();
    REQUIRE(codes(review) == "resent_after_own_timeout");
    CHECK(review.findings()[0].exchanges == std::vector<std::uint64_t>{1, 2});
    CHECK(review.findings()[0].severity == Severity::warning);
    CHECK(review.findings()[0].message ==
          std::string("sent the request again (x-stainless-retry-count: 1)") +
              (leaves ? " after giving up on the first one" : " while the first one was still running") +
              ", without an Idempotency-Key: a server may run, and charge for, both. Use a longer timeout, or send one "
              "Idempotency-Key with every attempt of a call.");
  }
}

TEST_CASE("a retry without a number is reported if the client closed the first request before its reply") {
  Slow slow;
  slow.ask(slow.http).close();
  slow.wait_until_it_knows();
  CHECK(slow.http.chat().status == 200);
  slow.gate.open();
  const Review review = slow.gateway.review();
  REQUIRE(codes(review) == "resent_after_own_timeout");
  CHECK(review.findings()[0].message.find("sent the request again after giving up on the first one, without") == 0);
}

TEST_CASE("a client that abandons a stalled request and retries it is reported") {
  const Scenario stalled = scenario("stalled-before-headers");
  Gateway gateway{stalled.options()};
  stalled.mount(gateway);
  const Http http(gateway);
  for (int i = 1; i <= 2; ++i) {
    RawConnection connection(gateway);
    connection.send(http.format_chat());
    REQUIRE(eventually([&] { return gateway.journal().count() == static_cast<std::size_t>(i); }));
    connection.close();
    REQUIRE(gateway.journal().last().wait_for_client_to_leave(10s));
  }
  CHECK(codes(gateway.review()) == "resent_after_own_timeout");
}

TEST_CASE("a client that repeats its Idempotency-Key, or sends other or parallel requests, is not reported") {
  {
    Slow slow;
    const RawConnection first = slow.ask(slow.numbered("0").with_header(key, "a"));
    slow.numbered("1").with_header(key, "a").chat();
    slow.gate.open();
    CHECK(codes(slow.gateway.review()) == "");
  }
  {
    Slow slow;
    slow.ask(slow.http).close();
    slow.wait_until_it_knows();
    slow.http.chat(Json("Something else"));
    slow.numbered("0").chat();
    slow.gate.open();
    CHECK(codes(slow.gateway.review()) == "");
  }
  {
    Slow slow;
    const RawConnection first = slow.ask(slow.http);
    slow.http.chat();
    slow.gate.open();
    CHECK(codes(slow.gateway.review()) == "");
  }
}

TEST_CASE("a client may close a stream that has begun and request it again") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  Gate gate;
  gateway.chat().reply(text("a b").hold(gate, before_token(2)), text("a b"));
  const Http http(gateway);
  RawConnection first(gateway);
  first.send(http.format_chat({{"stream", true}}));
  REQUIRE(first.receive_until("\"a\"").found);
  first.close();
  REQUIRE(gateway.journal().last().wait_for_client_to_leave(10s));
  CHECK(http.stream().status == 200);
  gate.open();
  CHECK(codes(gateway.review()) == "");
}

TEST_CASE("a retry after an error or after a connection that the gateway broke off is not reported") {
  for (const Reply& broken : {Reply(server_error()), text("a").fault(before_headers(), close_connection()),
                              text("a").fault(before_headers(), reset_connection())}) {
    Gateway gateway{Options{}.verify_on_destruction(false)};
    gateway.chat().reply(broken, text("Hello"), broken, text("Hello"));
    const Http http = Http(gateway).allow_incomplete();
    http.with_header(count, "0").chat();
    http.with_header(count, "1").chat();
    http.chat();
    http.chat();
    CHECK(codes(gateway.review()) == "");
  }
}

// --- A redirect followed with the key --------------------------------------------------------------------------------

/// Two gateways with different keys; the first redirects to the second.
struct Moved {
  explicit Moved(int status = 307, const std::string& path = "/v1/chat/completions?b=1") {
    gateway.chat().reply(
        failure(status, "", "").body("").header("Location", to.base_url().substr(0, to.base_url().size() - 3) + path));
  }

  Gateway to{quiet()};
  Gateway gateway{quiet().seed(2)};
  Http there = Http("127.0.0.1", to.port(), gateway.api_key());
};

TEST_CASE("both gateways report a client that follows a redirect with its key") {
  Moved moved;
  CHECK(Http(moved.gateway).chat().status == 307);
  CHECK(codes(moved.gateway.review()) == "");
  moved.there.post("/v1/chat/completions?b=1", chat_body());
  const Review of_gateway = moved.gateway.review();
  const Review of_target = moved.to.review();
  REQUIRE(codes(of_gateway) == "key_sent_to_other_origin");
  CHECK(of_gateway.findings()[0].severity == Severity::error);
  const auto url = [](const Gateway& gateway) { return "http://127.0.0.1:" + std::to_string(gateway.port()); };
  CHECK(without_counts(of_gateway.message()) ==
        "key_sent_to_other_origin (exchange 1): the client followed the redirect and sent the key to the gateway "
        "at " +
            url(moved.to) +
            " (exchange 1 there). Drop the Authorization header when a redirect leads to another origin.");
  CHECK(without_counts(of_target.message()) ==
        "key_sent_to_other_origin (exchange 1): sent with the key of the gateway at " + url(moved.gateway) +
            " (exchange 1 there), which had redirected the client here. Drop the Authorization "
            "header when a redirect leads to another origin.");
  CHECK(codes(moved.gateway.review().without("key_sent_to_other_origin")) == "");
  CHECK(without_counts(moved.gateway.review().message()).find("sk-") == std::string::npos);
}

TEST_CASE("a client with no key, another key or another request is not reported after a redirect") {
  Moved moved;
  const char* const target = "/v1/chat/completions?b=1";
  moved.there.post(target, chat_body());  // before the redirect
  CHECK(Http(moved.gateway).chat().status == 307);
  moved.there.without_key().post(target, chat_body());
  moved.there.with_key("sk-another-0123456789abcdef").post(target, chat_body());
  moved.there.post("/v1/chat/completions", chat_body());
  moved.there.post(target, chat_body("Something else"));
  moved.there.get(target);  // 307 keeps the method
  CHECK(codes(moved.gateway.review()) == "");
  CHECK(codes(moved.to.review().without("request_refused")) == "");
}

TEST_CASE("a key sent after a redirect from POST to GET, or to another name of this machine, is reported") {
  Moved moved(303, "/v1/models");
  CHECK(Http(moved.gateway).chat().status == 303);
  moved.there.get("/v1/models");
  CHECK(codes(moved.gateway.review()) == "key_sent_to_other_origin");

  Gateway to{quiet()};
  Gateway gateway{quiet()};  // the same seed, and therefore the same key
  const std::string location = "HTTP://LOCALHOST:" + std::to_string(to.port()) + "/v1/chat/completions#top";
  gateway.fail_next(failure(308, "", "").body("").header("Location", location));
  CHECK(Http(gateway).chat().status == 308);
  Http(to).chat();
  CHECK(codes(gateway.review()) == "key_sent_to_other_origin");
}

TEST_CASE("following a redirect within one gateway or to a destroyed gateway is not a mistake") {
  auto gone = std::make_unique<Gateway>(quiet());
  Gateway gateway{quiet()};
  const Http http(gateway);
  gateway.fail_next(failure(307, "", "").body("").header("Location", "/v1/chat/completions"));
  CHECK(http.chat().status == 307);
  CHECK(http.chat().status == 200);
  gateway.fail_next(failure(307, "", "").body("").header("Location", gateway.base_url() + "/chat/completions"));
  CHECK(http.chat().status == 307);
  CHECK(http.chat().status == 200);
  gateway.fail_next(failure(307, "", "").body("").header("Location", gone->base_url() + "/chat/completions"));
  CHECK(http.chat().status == 307);
  Http(*gone).chat();
  gone.reset();
  CHECK(codes(gateway.review()) == "");
}

}  // namespace retry_findings_test
