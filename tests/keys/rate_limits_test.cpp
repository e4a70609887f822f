// Rate limits of a key, a group and all keys: refusals, Retry-After, and which requests count.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/threads.hpp"

namespace rate_limits_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::contains;
using test_support::error_of;
using test_support::Http;
using test_support::in_threads;
using test_support::Response;

TEST_CASE("a rate limit refuses excess requests with the exact remaining Retry-After") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock)};
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit(2, 10s));
  const Http http = Http(gateway).with_key(key.secret);
  CHECK(http.chat().status == 200);  // the window begins here
  clock.advance(4s);
  CHECK(http.chat().status == 200);

  const Response refused = http.chat();
  CHECK(refused.status == 429);
  CHECK(refused.reason == "Too Many Requests");
  CHECK(refused.error_code() == "rate_limit_exceeded");
  CHECK(refused.error_type() == "error");
  CHECK(refused.error_message() != "");
  CHECK(refused.header("Retry-After") == "6");
  CHECK(Http(gateway).chat().status == 200);  // each key counts its own requests

  clock.advance(2500ms);
  CHECK(http.stream().header("Retry-After") == "4");  // 3.5 s, rounded up
  clock.advance(3500ms - 1ns);
  CHECK(http.chat().header("Retry-After") == "1");
  clock.advance(1ns);
  CHECK(http.chat().status == 200);  // a new window begins here, not at a multiple of 10 s
  clock.advance(9s);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().header("Retry-After") == "1");
  clock.advance(60s);
  CHECK(http.chat().status == 200);
}

TEST_CASE("a client that retries exactly after Retry-After is served") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock).limit(1, 7300ms)};
  const Http http(gateway);
  CHECK(http.chat().status == 200);
  for (int round = 0; round < 3; ++round) {
    clock.advance(1100ms);
    const Response refused = http.chat();
    REQUIRE(refused.status == 429);
    clock.advance(std::chrono::seconds(std::stoi(refused.header("Retry-After"))));
    CHECK(http.chat().status == 200);
  }
}

TEST_CASE("a limit for all keys is shared; if a key's own limit is exceeded too, the longer wait is sent") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock)};
  gateway.keys().limit_rate_for_all(2, 60s);
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit(1, 10s));
  const Http limited = Http(gateway).with_key(key.secret);
  CHECK(limited.chat().status == 200);
  CHECK(limited.chat().header("Retry-After") ==
        "10");  // refused by the key's own limit, so the common limit does not count it
  CHECK(Http(gateway).chat().status == 200);
  CHECK(Http(gateway).chat().header("Retry-After") == "60");
  CHECK(limited.chat().header("Retry-After") == "60");
  clock.advance(10s);
  CHECK(limited.chat().header("Retry-After") ==
        "50");  // refused by the common limit, so the key's own limit does not count it
  gateway.keys().unlimit_rate_for_all();
  CHECK(limited.chat().status == 200);
  CHECK(limited.chat().header("Retry-After") == "10");
}

TEST_CASE("the requests of a group's keys count together against each key's limit") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock).profile(Profile::openai)};
  const KeyOptions team = KeyOptions{}.limit(2, 10s).limit_group("team");
  const CreatedKey one = gateway.keys().create("one", team);
  const CreatedKey two = gateway.keys().create("two", team);
  const CreatedKey wide = gateway.keys().create("wide", KeyOptions{}.limit(3, 10s).limit_group("team"));
  const CreatedKey apart = gateway.keys().create("apart", KeyOptions{}.limit(2, 10s));
  const CreatedKey free = gateway.keys().create("free", KeyOptions{}.limit_group("team"));
  const auto ask = [&](const CreatedKey& key) { return Http(gateway).with_key(key.secret).chat(); };
  CHECK(ask(one).header("x-ratelimit-remaining-requests") == "1");
  CHECK(ask(two).header("x-ratelimit-remaining-requests") == "0");
  CHECK(ask(one).status == 429);
  CHECK(ask(two).status == 429);
  CHECK(ask(free).status == 200);
  CHECK(ask(wide).status == 200);
  CHECK(ask(wide).status == 429);
  CHECK(ask(apart).status == 200);
  CHECK(gateway.keys().find(one.id).limit_group == "team");
  clock.advance(10s);
  CHECK(ask(two).status == 200);
  gateway.keys().limit_rate(one.id, 1, 10s);  // resets the group's window
  CHECK(ask(one).status == 200);
  CHECK(ask(one).status == 429);
  CHECK(ask(two).status == 200);
}

TEST_CASE("setting a limit again restarts its window, and removing it ends it") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock)};
  const std::string id = gateway.keys().list().front().id;
  const Http http(gateway);
  gateway.keys().limit_rate(id, 1, 10s);
  CHECK(gateway.keys().find(id).limit->requests == 1);
  CHECK(gateway.keys().find(id).limit->window == 10s);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 429);
  gateway.keys().limit_rate(id, 1, 20s);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().header("Retry-After") == "20");
  gateway.keys().unlimit_rate(id);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 200);
}

TEST_CASE("a limit that was removed and set again has a new window, for a key and for all keys") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock)};
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit(1, 10s));
  const Http http = Http(gateway).with_key(key.secret);
  CHECK(http.chat().status == 200);
  gateway.keys().unlimit_rate(key.id);
  gateway.keys().limit_rate(key.id, 1, 10s);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 429);
  gateway.keys().unlimit_rate(key.id);
  gateway.keys().limit_rate_for_all(1, 10s);
  CHECK(http.chat().status == 200);
  gateway.keys().unlimit_rate_for_all();
  gateway.keys().limit_rate_for_all(1, 10s);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 429);
}

TEST_CASE("the openai profile reports the rest of a key's own limit, or of the common limit if there is none") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock).profile(Profile::openai)};
  const Http http(gateway);
  const auto limit_headers = [](const Response& response) {
    return response.header("x-ratelimit-limit-requests") + " " + response.header("x-ratelimit-remaining-requests") +
           " " + response.header("x-ratelimit-reset-requests");
  };
  CHECK_FALSE(http.chat().has("x-ratelimit-limit-requests"));
  gateway.keys().limit_rate_for_all(5, 60s);
  CHECK(limit_headers(http.chat()) == "5 4 1m0s");
  clock.advance(20s);
  CHECK(limit_headers(http.chat()) == "5 3 40s");
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit(2, 10s));
  CHECK(limit_headers(http.with_key(key.secret).chat()) == "2 1 10s");
  CHECK(limit_headers(http.chat()) == "5 1 40s");  // counts the other key's request too
  clock.advance(40s);
  CHECK(limit_headers(http.chat()) == "5 4 1m0s");
}

TEST_CASE("a limit counts every request with a valid key, whatever its response") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock).limit(3, 10s)};
  const Http http(gateway);
  CHECK(http.without_key().chat().status == 401);
  CHECK(http.get("/v1/nothing").status == 404);
  CHECK(http.post(chat_path, "{").status == 400);
  CHECK(http.get("/v1/models").status == 200);
  CHECK(http.get("/v1/models").status == 429);
}

TEST_CASE("an infinite limit sends the largest possible Retry-After") {
  ManualClock clock;
  const Gateway gateway{Options{}.clock(clock).limit(1, Duration::max())};
  const Http http(gateway);
  CHECK(http.chat().status == 200);
  const Response refused = http.chat();
  CHECK(refused.status == 429);
  CHECK(refused.header("Retry-After") == "9223372036");
  CHECK(gateway.journal().count() == 2);
}

TEST_CASE("setting an impossible limit throws") {
  const Gateway gateway;
  const std::string id = gateway.keys().list().front().id;
  CHECK(contains(error_of([&] { gateway.keys().limit_rate(id, 0, 1s); }), "at least 1 request"));
  CHECK(contains(error_of([&] { gateway.keys().limit_rate(id, 1, 0s); }), "longer than 0"));
  CHECK(contains(error_of([&] { gateway.keys().limit_rate_for_all(1, -1s); }), "longer than 0"));
  CHECK(contains(error_of([&] { gateway.keys().create("", KeyOptions{}.limit(0, 1s)); }), "at least 1 request"));
  CHECK_THROWS_AS(Gateway{Options{}.limit(0, 1s)}, GatewayError);
}

TEST_CASE("a request counts at its arrival on the gateway's clock, even if its body is read slowly") {
  for (const bool limits_all : {true, false}) {
    CAPTURE(limits_all);
    const Options options = Options{}.clock(InstantClock{}).profile(Profile::openai);
    Gateway gateway{limits_all ? options.limit(3, 60s) : options};
    Http http(gateway);
    if (!limits_all) http = http.with_key(gateway.keys().create("", KeyOptions{}.limit(3, 60s)).secret);
    gateway.next_connection(slow_body(1, 1h));
    const Response slow = http.chat();
    CHECK(slow.status == 200);
    CHECK(slow.header("x-ratelimit-remaining-requests") == "2");
    CHECK(http.chat().status == 200);
    gateway.next_connection(slow_body(1, 1h));
    CHECK(http.chat().header("x-ratelimit-remaining-requests") == "0");
    gateway.next_connection(slow_body(1, 1h));
    for (int i = 0; i < 2; ++i) {
      const Response refused = http.chat();
      REQUIRE(refused.status == 429);
      CHECK(std::stoi(refused.header("Retry-After")) <= 60);
    }
  }
}

TEST_CASE("requests of many threads are counted one by one") {
  const ManualClock clock;
  const Gateway gateway{Options{}.clock(clock).limit(25, 10s)};
  std::atomic<int> accepted{0};
  std::atomic<int> refused{0};
  in_threads(4, [&](std::size_t) {
    const Http http = Http(gateway).keep_alive();
    for (int request = 0; request < 10; ++request) {
      const int status = http.get("/v1/models").status;
      if (status == 200) ++accepted;
      if (status == 429) ++refused;
    }
  });
  CHECK(accepted == 25);
  CHECK(refused == 15);
}

}  // namespace rate_limits_test
