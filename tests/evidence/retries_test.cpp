// Which requests review() considers retries, depending on their header fields and on body fields that name a user.

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace retries_test {

using namespace mock_gateway;
using namespace test_support;
using namespace std::chrono_literals;

using Fields = std::vector<std::pair<std::string, std::string>>;

const char* const count = "x-stainless-retry-count";
const char* const key = "Idempotency-Key";
const char* const two = "clean: 2 exchanges judged";

Http with(Http http, const Fields& fields) {
  for (const auto& [name, value] : fields) http = http.with_header(name, value);
  return http;
}

/// Returns the codes of errors and warnings.
/// Returns the codes of all findings but notes.
std::string codes(const Review& review) { return test_support::codes(review, Severity::warning); }

/// A gateway on a manual clock, and a client with one connection per request.
struct Wire {
  /// Sends a request that gets the failure, waits, sends the request again, and returns the review.
  Review asked_again(const Failure& failure, const Fields& first, Duration pause, const Fields& second) {
    gateway.chat().reply(failure, text("Hello"));
    with(http, first).chat();
    clock.advance(pause);
    with(http, second).chat();
    return gateway.review();
  }
  Review posted(const std::string& first, const std::string& second) {
    gateway.fail_always(rate_limited(60s), chat_completions());
    http.post(chat_path, first);
    http.post(chat_path, second);
    return gateway.review();
  }

  ManualClock clock;
  Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
  Http http{gateway};
};

// --- The order of requests -------------------------------------------------------------------------------------------

TEST_CASE("a retry on an older connection is recognized" * doctest::skip(!test_support::tells_arrival)) {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply(rate_limited(60s), "Hello.");
  const Http http{gateway};
  RawConnection spare{gateway};  // accepted first, as by a connection pool
  RawConnection first{gateway};
  first.send(http.format_chat());
  REQUIRE(first.receive_response().status == 429);
  spare.send(http.format_chat());
  REQUIRE(spare.receive_response().status == 200);
  CHECK(codes(gateway.review()) == "retry_after_ignored");
}

// --- New calls -------------------------------------------------------------------------------------------------------

struct Pair {
  const char* what;
  Fields first;
  Fields second;
  /// The expected findings. `early`: the second request comes before the end of Retry-After. `final`: it comes within a
  /// second after a 401. `later`: it comes after that second.
  const char* early;
  const char* final;
  const char* later;
};

/// Returns the header fields of two requests, with the expected findings for the second.
const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = {
      {"nothing", {}, {}, "retry_after_ignored", "retried_final_error", "retried_final_error"},
      {"the next number",
       {{count, "0"}},
       {{count, "1"}},
       "retry_after_ignored",
       "retried_final_error",
       "retried_final_error"},
      {"the key again",
       {{key, "a"}},
       {{key, "a"}},
       "retry_after_ignored",
       "retried_final_error",
       "retried_final_error"},
      {"0 twice", {{count, "0"}}, {{count, "0"}}, "asked_again_early", "asked_again_early", ""},
      {"0 after a retry", {{count, "2"}}, {{count, "0"}}, "asked_again_early", "asked_again_early", ""},
      {"0 after no number", {}, {{count, "0"}}, "asked_again_early", "asked_again_early", ""},
      {"0 and the key again",
       {{count, "0"}, {key, "a"}},
       {{count, "0"}, {key, "a"}},
       "asked_again_early",
       "asked_again_early",
       ""},
      {"another key", {{key, "a"}}, {{key, "b"}}, "asked_again_early", "asked_again_early", ""},
      {"a first key", {}, {{key, "b"}}, "asked_again_early", "asked_again_early", ""},
      {"the next number and another key",
       {{count, "0"}, {key, "a"}},
       {{count, "1"}, {key, "b"}},
       "retry_after_ignored idempotency_key_changed",
       "retried_final_error idempotency_key_changed",
       "retried_final_error idempotency_key_changed"},
      // A retry with a number of 1 or more must have the key of the previous attempt, even if it skips numbers.
      {"a number that does not fit and another key",
       {{count, "0"}, {key, "a"}},
       {{count, "2"}, {key, "b"}},
       "retry_after_ignored idempotency_key_changed",
       "retried_final_error idempotency_key_changed",
       "idempotency_key_changed"},
      {"the same number and another key",
       {{count, "1"}, {key, "a"}},
       {{count, "1"}, {key, "b"}},
       "retry_after_ignored idempotency_key_changed",
       "retried_final_error idempotency_key_changed",
       "idempotency_key_changed"},
      {"a number after none, and a first key",
       {},
       {{count, "1"}, {key, "b"}},
       "retry_after_ignored idempotency_key_changed",
       "retried_final_error idempotency_key_changed",
       "idempotency_key_changed"},
      {"the next number and a first key",
       {{count, "0"}},
       {{count, "1"}, {key, "b"}},
       "retry_after_ignored idempotency_key_changed",
       "retried_final_error idempotency_key_changed",
       "retried_final_error idempotency_key_changed"},
      {"a number that does not fit and the key again",
       {{count, "0"}, {key, "a"}},
       {{count, "2"}, {key, "a"}},
       "retry_after_ignored",
       "retried_final_error",
       ""},
      // These requests are marked neither as new calls nor as retries with the next number.
      {"a number that does not fit", {{count, "0"}}, {{count, "2"}}, "retry_after_ignored", "retried_final_error", ""},
      {"the same number", {{count, "1"}}, {{count, "1"}}, "retry_after_ignored", "retried_final_error", ""},
      {"no number any more", {{count, "0"}}, {}, "retry_after_ignored", "retried_final_error", ""},
      {"a number after none", {}, {{count, "1"}}, "retry_after_ignored", "retried_final_error", ""},
      {"no key any more", {{key, "a"}}, {}, "retry_after_ignored", "retried_final_error", ""},
  };
  return all;
}

TEST_CASE("a single request before the end of Retry-After is a finding, with any retry number") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.what);
    CHECK(codes(Wire().asked_again(rate_limited(60s), pair.first, 59s, pair.second)) == pair.early);
    const std::string in_time = codes(Wire().asked_again(rate_limited(60s), pair.first, 60s, pair.second));
    CHECK(in_time ==
          (std::string(pair.early).find("key_changed") == std::string::npos ? "" : "idempotency_key_changed"));
  }
}

TEST_CASE("any repetition within a second of a final error is a finding; later, only a retry is") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.what);
    CHECK(codes(Wire().asked_again(unauthorized(), pair.first, 900ms, pair.second)) == pair.final);
    CHECK(codes(Wire().asked_again(unauthorized(), pair.first, 1s, pair.second)) == pair.later);
  }
}

TEST_CASE("a request may be repeated at once after a temporary error that names no time") {
  for (const Pair& pair : pairs()) {
    if (std::string(pair.early).find("key_changed") != std::string::npos) continue;
    CAPTURE(pair.what);
    CHECK(without_counts(Wire().asked_again(server_error(), pair.first, 0s, pair.second).message()) == two);
    CHECK(without_counts(Wire().asked_again(bad_request().should_retry(true), pair.first, 0s, pair.second).message()) ==
          two);
  }
}

TEST_CASE("a new call that comes too early is reported with its time, and fails no review") {
  const Fields first_try = {{count, "0"}};
  const Review limited = Wire().asked_again(rate_limited(3600s), first_try, 7ms, first_try);
  CHECK(limited);
  CHECK(without_counts(limited.message()) ==
        "asked_again_early (exchange 2 after 1): sent the same request again after 0.007 s, as a new call "
        "(x-stainless-retry-count: 0); Retry-After was 3600 s. Make the retry loop around the client wait as long as "
        "the header says. Ignore this if the test repeats the request on purpose.");
  REQUIRE(limited.findings().size() == 1);
  CHECK(limited.findings()[0].severity == Severity::warning);
  CHECK(limited.findings()[0].exchanges == std::vector<std::uint64_t>{1, 2});
  CHECK(without_counts(limited.without("asked_again_early").message()) == two);

  // The pauses of the manual clock must exceed the real time of two requests, which also counts.
  CHECK(without_counts(
            Wire().asked_again(rate_limited().retry_after_ms(9500ms), {{key, "a"}}, 9s, {{key, "b"}}).message()) ==
        "asked_again_early (exchange 2 after 1): sent the same request again after 9 s, as a new call (a new "
        "Idempotency-Key); retry-after-ms was 9.5 s. Make the retry loop around the client wait as long as the header "
        "says. "
        "Ignore this if the test repeats the request on purpose.");
  CHECK(without_counts(Wire().asked_again(unauthorized(), first_try, 900ms, first_try).message()) ==
        "asked_again_early (exchange 2 after 1): sent the same request again 0.9 s after 401 \"unauthorized\", as a "
        "new call "
        "(x-stainless-retry-count: 0). Make the retry loop around the client report the error. Ignore this if the test "
        "repeats the request on purpose.");
}

TEST_CASE("a new call before the date in Retry-After also comes too early") {
  const auto start = std::chrono::ceil<std::chrono::hours>(std::chrono::system_clock::now()) + 1h;
  ManualClock clock{TimePoint{start}};
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(rate_limited().retry_after_date(500s), text("Hello"));
  const Http http = Http{gateway}.with_header(count, "0");
  http.chat();
  clock.advance(200s);
  http.chat();
  const Review review = gateway.review();
  CHECK(review);
  CHECK(without_counts(review.message())
            .find("asked_again_early (exchange 2 after 1): sent the same request again 300 s before the date in "
                  "Retry-After, as a new call (x-stainless-retry-count: 0).") == 0);
}

TEST_CASE("a review with a failing and a tolerated finding fails, and prints both") {
  Wire wire;
  const Http http = wire.http.with_header(count, "0");
  wire.gateway.chat().reply(rate_limited(60s));
  http.chat({{"stop", "x"}});
  http.chat({{"stop", "x"}});
  const Review review = wire.gateway.review();
  CHECK_FALSE(review);
  CHECK(codes(review) == "stop_as_string stop_as_string asked_again_early");
  CHECK(review.without("stop_as_string"));
  CHECK_FALSE(review.without("asked_again_early"));
}

TEST_CASE("a wrapper gets a finding for each of its retries until it gets a reply") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(60s), rate_limited(60s), text("Hello"));
  const Http http = wire.http.with_header(count, "0");
  for (int i = 0; i < 4; ++i) {
    http.chat();
    wire.clock.advance(10ms);
  }
  const Review review = wire.gateway.review();
  REQUIRE(codes(review) == "asked_again_early asked_again_early");
  CHECK(review.findings()[0].exchanges == std::vector<std::uint64_t>{1, 2});
  CHECK(review.findings()[1].exchanges == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("a wrapper around a retrying client gets a finding when it retries after the client's last attempt") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(2s), rate_limited(60s), text("Hello"));
  wire.http.with_header(count, "0").chat();
  wire.clock.advance(2s);
  wire.http.with_header(count, "1").chat();
  wire.clock.advance(1s);
  wire.http.with_header(count, "0").chat();
  const Review review = wire.gateway.review();
  REQUIRE(codes(review) == "asked_again_early");
  CHECK(review.findings()[0].exchanges == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("a call is not too early if another call in parallel still waits for its retry") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(2s), text("Hello"));
  wire.http.with_header(count, "0").chat();
  wire.clock.advance(1s);
  wire.http.with_header(count, "0").chat();
  wire.clock.advance(1s);
  wire.http.with_header(count, "1").chat();
  CHECK(codes(wire.gateway.review()) == "");
}

TEST_CASE("a repeated request counts as new if the test changed the gateway, with any retry number") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.what);
    Wire wire;
    wire.gateway.fail_next(rate_limited(60s));
    with(wire.http, pair.first).chat();
    wire.gateway.fail_next(unauthorized());
    with(wire.http, pair.second).chat();
    CHECK(without_counts(wire.gateway.review().message()) == two);
  }
}

TEST_CASE("the second request is no retry if the test changed anything for its key in between") {
  enum class Whose { nobody, second, all };
  struct Change {
    const char* what;
    std::function<void(Gateway&)> make;
    Whose whose;
  };
  const auto stub = [](const Matcher& who) {
    return [who](Gateway& gateway) { static_cast<void>(gateway.chat().when(who).reply("Hello")); };
  };
  const std::vector<Change> changes = {
      {"nothing", [](Gateway&) {}, Whose::nobody},
      {"a question", [](Gateway& gateway) { static_cast<void>(gateway.keys().list()); }, Whose::nobody},
      {"a new key", [](Gateway& gateway) { gateway.keys().create("new"); }, Whose::nobody},
      {"a key's description", [](Gateway& gateway) { gateway.keys().set_description("key_2", "other"); },
       Whose::second},
      {"a disabled key", [](Gateway& gateway) { gateway.keys().disable("key_2"); }, Whose::second},
      {"an enabled key", [](Gateway& gateway) { gateway.keys().enable("key_2"); }, Whose::second},
      {"a key's models", [](Gateway& gateway) { gateway.keys().limit_models("key_2", {"mock-model"}); }, Whose::second},
      {"a key's operations", [](Gateway& gateway) { gateway.keys().limit_operations("key_2", {list_models()}); },
       Whose::second},
      {"a key's limit", [](Gateway& gateway) { gateway.keys().limit_rate("key_2", 9, 1s); }, Whose::second},
      {"no limit for a key", [](Gateway& gateway) { gateway.keys().unlimit_rate("key_2"); }, Whose::second},
      {"a limit for all keys", [](Gateway& gateway) { gateway.keys().limit_rate_for_all(9, 1s); }, Whose::all},
      {"no limit for all keys", [](Gateway& gateway) { gateway.keys().unlimit_rate_for_all(); }, Whose::all},
      {"a stub", [](Gateway& gateway) { gateway.chat().reply("Hello"); }, Whose::all},
      {"a stub of a key", stub(key_is("key_2")), Whose::second},
      {"a stub of a key by its description", stub(key_is("second") && user_says("x")), Whose::second},
      {"a stub of either key", stub(key_is("key_2") || key_is("key_1")), Whose::all},
      {"a stub of all but a key", stub(!key_is("key_2")), Whose::all},
      {"a state machine", [](Gateway& gateway) { gateway.set_state("order", "paid"); }, Whose::all},
      {"a forced failure", [](Gateway& gateway) { gateway.fail_next(overloaded()); }, Whose::all},
      {"one of a key", [](Gateway& gateway) { gateway.fail_next(overloaded(), 1, for_key("key_2")); }, Whose::second},
      {"one that stays", [](Gateway& gateway) { gateway.fail_always(overloaded(), for_key("key_2")); }, Whose::second},
      {"one of a model", [](Gateway& gateway) { gateway.fail_next(overloaded(), 1, for_model("mock-model")); },
       Whose::all},
      {"cleared failures of a key", [](Gateway& gateway) { gateway.clear_failures(for_key("key_2")); }, Whose::second},
      {"chaos", [](Gateway& gateway) { gateway.chaos(Chaos(overloaded()).nth(9)); }, Whose::all},
      {"chaos of a key", [](Gateway& gateway) { gateway.chaos(Chaos(overloaded()).nth(9).when(key_is("key_2"))); },
       Whose::second},
      {"cleared chaos", [](Gateway& gateway) { gateway.clear_chaos(); }, Whose::all},
      {"a fault of a connection", [](Gateway& gateway) { gateway.every_connection(reset_when_reused()); }, Whose::all},
      {"cleared faults of connections", [](Gateway& gateway) { gateway.clear_connection_faults(); }, Whose::all},
      {"an operation",
       [](Gateway& gateway) {
         gateway.on("POST", "/v1/images/generations", [](const ReceivedRequest&) { return HttpReply(200, "{}"); });
       },
       Whose::all},
  };
  for (const Change& change : changes) {
    CAPTURE(change.what);
    Wire wire;
    const Http other = wire.http.with_key(wire.gateway.keys().create("second").secret);
    wire.gateway.fail_always(unauthorized(), list_models());
    const auto ask = [&] {
      CHECK(wire.http.get("/v1/models").status == 401);
      CHECK(other.get("/v1/models").status == 401);
    };
    ask();
    change.make(wire.gateway);
    ask();
    CHECK(codes(wire.gateway.review("key_1")) == (change.whose == Whose::all ? "" : "retried_final_error"));
    CHECK(codes(wire.gateway.review("key_2")) == (change.whose == Whose::nobody ? "retried_final_error" : ""));
  }
}

TEST_CASE("removing a stub counts as a change for the keys that the stub could answer") {
  for (const bool of_key : {true, false}) {
    Wire wire;
    const Http other = wire.http.with_key(wire.gateway.keys().create("second").secret);
    wire.gateway.fail_always(unauthorized(), list_models());
    const Matcher who = of_key ? key_is("second") : user_says("x");
    const Stub stub = wire.gateway.chat().when(who).reply("Hello");
    const auto ask = [&] {
      for (const Http& http : {wire.http, other}) CHECK(http.get("/v1/models").status == 401);
    };
    ask();
    stub.remove();
    ask();
    CHECK(codes(wire.gateway.review("key_1")) == (of_key ? "retried_final_error" : ""));
    CHECK(codes(wire.gateway.review("key_2")) == "");
  }
}

TEST_CASE("parallel calls are not too early, nor are other calls of the same burst") {
  Wire wire;
  const Http http = wire.http.with_header(count, "0");
  wire.gateway.chat().reply(rate_limited(60s));
  const Reply late = Reply(rate_limited(60s)).fault(before_headers(), stall(5s));
  wire.gateway.chat().times(3).reply(rate_limited(60s), late, late);
  CHECK(http.chat().status == 429);  // part of the burst; answered before the others arrived
  std::vector<RawConnection> connections;
  for (int i = 0; i < 2; ++i) {
    connections.emplace_back(wire.gateway);
    connections.back().send(http.format_chat());
    REQUIRE(wire.clock.wait_for_waits(static_cast<std::size_t>(i) + 1, 5s));
  }
  CHECK(http.chat().status == 429);  // at the same time as the two others
  wire.clock.advance(5s);
  for (RawConnection& connection : connections) CHECK(connection.receive_response().status == 429);
  CHECK(codes(wire.gateway.review()) == "");
  wire.clock.advance(1s);
  http.chat();  // no other call is under way
  CHECK(codes(wire.gateway.review()) == "asked_again_early");
}

TEST_CASE("a call during a stream of an equal request counts as parallel, not as too early") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(60s));
  wire.gateway.chat().times(1).reply(text("a b").every(1h));
  const Http http = wire.http.with_header(count, "0");
  RawConnection stream(wire.gateway);
  stream.send(http.format_chat({{"stream", true}}));
  REQUIRE(stream.receive_until("\"a\"").found);
  http.stream();
  wire.clock.advance(1s);
  http.stream();
  CHECK(codes(wire.gateway.review()) == "");
}

TEST_CASE("parallel calls that retry after the requested time get no finding, each with its number and key") {
  Wire wire;
  wire.gateway.fail_next(rate_limited(60s), 3);
  const auto ask = [&](int call, const char* number) {
    with(wire.http, {{count, number}, {key, std::to_string(call)}}).chat();
  };
  for (int call = 0; call < 3; ++call) ask(call, "0");
  wire.clock.advance(60s);
  for (int call = 3; call-- > 0;) ask(call, "1");
  CHECK(codes(wire.gateway.review()) == "");
}

TEST_CASE("a test that expects the 429 and then repeats the request passes") {
  Gateway gateway;
  gateway.chat().expect(2).reply(rate_limited(3600s), text("Hello"));
  const Http http = Http{gateway}.with_header(count, "0");
  CHECK(http.chat().status == 429);
  CHECK(http.ask("Hi") == "Hello");
  CHECK(gateway.verify());
  CHECK(gateway.review());
}

// --- Keys of calls ---------------------------------------------------------------------------------------------------

TEST_CASE("a retry with a new Idempotency-Key gets its own warning, even if the first reply was cut off") {
  const std::string message =
      "idempotency_key_changed (exchange 2 after 1): a retry (x-stainless-retry-count: 1) with a different "
      "Idempotency-Key than the previous attempt, so a server cannot recognize it as the same call. Use the same key "
      "for every attempt of a call.";
  for (const Reply& reply : {Reply(server_error()), Reply(text("Hello")).fault(before_headers(), reset_connection()),
                             Reply(text("Hello")).fault(after_bytes(10), close_connection())}) {
    for (const char* const second : {"a", "b"}) {
      CAPTURE(second);
      Wire wire;
      wire.gateway.chat().reply(reply, text("Hello"));
      with(wire.http.allow_incomplete(), {{count, "0"}, {key, "a"}}).chat();
      with(wire.http, {{count, "1"}, {key, second}}).chat();
      const Review review = wire.gateway.review();
      CHECK(without_counts(review.message()) == (std::string(second) == "a" ? two : message));
      CHECK(static_cast<bool>(review) == (std::string(second) == "a"));
      if (!review) CHECK(review.findings()[0].severity == Severity::warning);
    }
  }
}

TEST_CASE("a retry with an Idempotency-Key after an attempt without one gets its own message") {
  for (const char* const number : {"1", "2"}) {
    CAPTURE(number);
    CHECK(without_counts(
              Wire().asked_again(server_error(), {{count, "0"}}, 0s, {{count, number}, {key, "b"}}).message()) ==
          "idempotency_key_changed (exchange 2 after 1): a retry (x-stainless-retry-count: " + std::string(number) +
              ") with an Idempotency-Key that the previous attempt did not have, so a server cannot recognize it as "
              "the same call. Send the same key with every attempt of a call.");
  }
}

TEST_CASE("an attempt after a success or after a change by the test may have a new key") {
  Wire wire;
  wire.gateway.chat().reply(text("Hello"), server_error(), text("Hello"));
  const auto ask = [&](const char* number, const char* name) {
    with(wire.http, {{count, number}, {key, name}}).chat();
  };
  ask("0", "a");
  ask("1", "b");
  wire.gateway.set_state("order", "paid");
  ask("2", "c");
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 3 exchanges judged");
}

// --- Differences between two requests --------------------------------------------------------------------------------

TEST_CASE("header fields do not make a retry a different request") {
  for (const char* const name :
       {"X-Attempt", "X-Retry-Attempt", "X-Amzn-Trace-Id", "X-Timestamp", "X-Signature", "X-Test", "User-Agent",
        "Accept", "Date", "traceparent", "X-Request-Id", "sentry-trace", "Cookie"}) {
    CAPTURE(name);
    CHECK(codes(Wire().asked_again(rate_limited(60s), {{name, "1"}}, 1s, {{name, "2"}})) == "retry_after_ignored");
    CHECK(codes(Wire().asked_again(unauthorized(), {{name, "1"}}, 1h, {})) == "retried_final_error");
  }
}

TEST_CASE("another key, method, target or body makes a different request") {
  Wire wire;
  const CreatedKey other = wire.gateway.keys().create("other");
  wire.gateway.fail_always(unauthorized());
  wire.http.chat();
  wire.http.with_key(other.secret).chat();
  wire.http.with_key("sk-nobody").chat();
  wire.http.with_key("sk-nobody-else").chat();
  wire.http.chat(Json("Other"));
  wire.http.stream();
  wire.http.get("/v1/models");
  wire.http.get("/v1/models?page=2");
  wire.http.request("HEAD", "/v1/models");
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 9 exchanges judged");
}

TEST_CASE("body fields that name the user make no difference at any position; every other field does") {
  const std::string head = R"("model":"mock-model","messages":[{"role":"user","content":"Hi"}])";
  const std::string plain = "{" + head + "}";
  const std::vector<std::string> equal = {
      "{" + head + R"(,"user":"a"})",
      R"({"user":"b",)" + head + "}",
      R"({"model":"mock-model", "user" : "c" ,"messages":[{"role":"user","content":"Hi"}]})",
      "{" + head + R"(,"metadata":{"try":"1","of":[{"user":"}"}]}})",
      "{" + head +
          R"(,"metadata":null,"safety_identifier":"x","prompt_cache_key":"\",\"seed\":1}","user":"u","user":"v"})",
      " { " + head + "\n}\r\n",
  };
  for (const std::string& body : equal) {
    CAPTURE(body);
    CHECK(codes(Wire().posted(plain, body)).find("retry_after_ignored") != std::string::npos);
    CHECK(codes(Wire().posted(body, plain)).find("retry_after_ignored") != std::string::npos);
  }
  const std::vector<std::string> others = {
      "{" + head + R"(,"seed":1})",
      "{" + head + R"(,"users":"a"})",
      "{" + head + R"(,"User":"a"})",
      R"({"model":"mock-model","messages":[{"role":"user","content":"Hi","user":"a"}]})",
      R"({"model":"mock-model","messages":[{"role":"user","content":"Hi!"}]})",
      R"({"messages":[{"role":"user","content":"Hi"}],"model":"mock-model"})",
      R"({"model":"mock-model","messages":[{"role":"user","content":"Hi"}],"user":"a")",  // invalid JSON
      R"(["user","a"])",
      "",
  };
  for (const std::string& body : others) {
    CAPTURE(body);
    CHECK(codes(Wire().posted(plain, body)).find("retry") == std::string::npos);
    CHECK(codes(Wire().posted(body, plain)).find("retry") == std::string::npos);
  }
}

TEST_CASE("bodies that are not JSON objects are compared byte by byte, and deeply nested bodies quickly") {
  const auto found = [](const std::string& first, const std::string& second) {
    return codes(Wire().posted(first, second)).find("retry_after_ignored") != std::string::npos;
  };
  for (const char* const body : {"", "{", "{}", "[]", "{\"user\"", "{\"user\":\"\\", "{,}", "user=a", "\"user\""}) {
    CAPTURE(body);
    CHECK(found(body, body));
    CHECK_FALSE(found(body, std::string(body) + "x"));
  }
  const std::string deep = std::string(500'000, '[');
  CHECK(found("{\"user\":" + deep, "{\"user\":" + deep));
  CHECK_FALSE(found("{\"user\":" + deep, "{\"user\":" + deep + "["));
  const std::string closed = std::string(500'000, '[') + std::string(500'000, ']');
  CHECK(found("{\"user\":" + closed + "}", "{\"user\":" + closed + "}"));
  CHECK_FALSE(found("{\"user\":" + closed + "}", "{\"user\":1}"));  // nested deeper than the gateway's limit
  CHECK_FALSE(found("{\"seed\":" + closed + "}", "{\"seed\":1}"));
}

}  // namespace retries_test
