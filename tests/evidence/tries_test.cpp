// Findings about the tries of a question: storms, no back-off, giving up; requests of a key inside its Retry-After; a
// key that a redirect loses. The head line of a review.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/verification.hpp"

namespace tries_test {

using namespace mock_gateway;
using namespace test_support;
using namespace std::chrono_literals;

/// A gateway on a manual clock, on which the client waits a second before each request.
struct Wire {
  explicit Wire(Options options = quiet()) : gateway(options.clock(clock)) {}

  void ask(int times, const Http& how, const char* what = "Hi") {
    for (int i = 0; i < times; ++i) {
      clock.advance(1s);
      how.chat(Json(what));
    }
  }
  void ask(int times, const char* what = "Hi") { ask(times, http, what); }

  ManualClock clock;
  Gateway gateway;
  Http http{gateway};
};

// --- Storms ----------------------------------------------------------------------------------------------------------

TEST_CASE("more than 10 tries of one question are a storm, which fails no review") {
  Wire wire;
  wire.gateway.chat().reply(service_unavailable());
  wire.ask(10);
  CHECK(codes(wire.gateway.review()) == "");
  wire.ask(15);
  const Review review = wire.gateway.review();
  REQUIRE(codes(review) == "retry_storm");
  CHECK(review);
  CHECK(review.findings()[0].severity == Severity::warning);
  CHECK(review.findings()[0].exchanges == std::vector<std::uint64_t>{1, 25});
  CHECK(
      review.message() ==
      "1 finding in 1 call, 25 tries, 25 injected faults\n"
      "retry_storm (exchange 25 after 1): asked the same question 25 times, each time after an error. Limit the tries "
      "to 10 at most; OpenAI's SDKs make 3 tries.");
}

TEST_CASE("new calls of an SDK with the same question count as tries, an answer in between ends them") {
  Wire wire;
  wire.gateway.fail_next(service_unavailable(), 12);
  wire.ask(12, wire.http.with_header("x-stainless-retry-count", "0"));
  CHECK(codes(wire.gateway.review()) == "retry_storm");

  Wire other;
  for (int i = 0; i < 3; ++i) {
    other.gateway.chat().reply(server_error(), server_error(), server_error(), server_error(), text("Hello"));
    other.ask(5);
  }
  CHECK(codes(other.gateway.review()) == "");
}

TEST_CASE("different questions, final errors, a missing page and answers are no storm") {
  Wire wire;
  wire.gateway.chat().reply("Hello");
  wire.ask(20);
  wire.gateway.chat().reply(service_unavailable());
  for (int i = 0; i < 20; ++i) wire.ask(1, std::to_string(i).c_str());
  wire.gateway.chat().reply(not_found());
  wire.ask(20);
  CHECK(codes(wire.gateway.review()) == "");
}

// --- No back-off -----------------------------------------------------------------------------------------------------

/// Sends the question on the real clock as often as there are replies. Returns the review.
template <class... Replies>
Review asked_at_once(const Replies&... replies) {
  Gateway gateway{quiet()};
  gateway.chat().reply(replies...);
  const Http http(gateway);
  for (std::size_t i = 0; i < sizeof...(replies); ++i) http.chat();
  return gateway.review();
}

TEST_CASE("two tries within 50 ms of errors that name no time are a finding that fails no review") {
  // A busy machine may take longer between the requests.
  std::string found;
  for (int i = 0; i < 100 && found.empty(); ++i) {
    const Review review = asked_at_once(server_error(), server_error(), text("Hello."));
    found = codes(review);
    CHECK(review);
    if (found.empty()) continue;
    CHECK(review.findings()[0].exchanges == std::vector<std::uint64_t>{1, 3});
    CHECK(review.findings()[0].message.find(
              "retried 2 times within 0.05 s of an error that names no time, once after ") == 0);
    CHECK(review.findings()[0].message.find(
              ". Wait before each try, longer every time; OpenAI's SDKs wait 0.5 s, then 1 s.") != std::string::npos);
  }
  CHECK(found == "no_backoff");
}

TEST_CASE("one quick retry, retries at a named time, and new calls do not lack a back-off") {
  CHECK(codes(asked_at_once(server_error(), text("Hello."), server_error(), text("Hello."))) == "");
  const Failure at_once = service_unavailable().retry_after(0s);
  CHECK(codes(asked_at_once(at_once, at_once, at_once, text("Hello."))) == "");
  const Failure garbage = rate_limited().retry_after("soon");
  CHECK(codes(asked_at_once(garbage, garbage, garbage, text("Hello."))) == "");
  Gateway gateway{quiet()};
  gateway.fail_always(server_error());
  const Http http = Http(gateway).with_header("x-stainless-retry-count", "0");
  for (int i = 0; i < 4; ++i) http.chat();
  CHECK(codes(gateway.review()) == "");
  CHECK(codes(asked_at_once(not_found(), not_found(), not_found(), text("Hello."))) == "");
}

TEST_CASE("retries on a manual clock do not lack a back-off") {
  Wire wire;
  wire.gateway.chat().reply(server_error(), server_error(), server_error(), text("Hello."));
  for (int i = 0; i < 4; ++i) wire.http.chat();
  CHECK(codes(wire.gateway.review()) == "");
}

// --- Giving up -------------------------------------------------------------------------------------------------------

/// Asks once, and reviews.
Review asked_once(const Reply& first, const Reply& second = text("Hello.")) {
  Wire wire;
  wire.gateway.chat().reply(first, second);
  wire.ask(1);
  return wire.gateway.review();
}

TEST_CASE("a client that asks once, although the sequence goes on after a 503, gives up") {
  const Review review = asked_once(service_unavailable().retry_after(1s));
  REQUIRE(codes(review) == "gave_up");
  CHECK(review);
  CHECK(review.findings()[0].severity == Severity::warning);
  CHECK(
      review.message() ==
      "1 finding in 1 call, 1 try, 1 injected fault\n"
      "gave_up (exchange 1): gave up after 503 \"service_unavailable\", which named 1 s, with 1 try, although the "
      "stub's sequence has an answer left. Retry such an error; OpenAI's SDKs make 3 tries. Ignore this if the caller "
      "should get the error.");
  for (const Failure& failure :
       {rate_limited(), server_error(), bad_gateway(), gateway_timeout(), rate_limited().without_retry_after(),
        rate_limited(60s), rate_limited(0s), rate_limited().retry_after("soon"), rate_limited().retry_after_ms(1s)}) {
    CAPTURE(failure.status());
    CHECK(codes(asked_once(failure)) == "gave_up");
  }
}

TEST_CASE("a client need not retry what is final, takes long, or has no answer after it") {
  for (const Failure& failure :
       {rate_limited(61s), rate_limited().retry_after_ms(61s), server_error().should_retry(false), unauthorized(),
        not_found(), request_timeout(), overloaded(), failure(501, "x", "x"),
        failure(429, "insufficient_quota", "x").without_retry_after(),
        rate_limited().without_retry_after().body("daily limit"),
        rate_limited().without_retry_after().body("try again in 2 hours")}) {
    CAPTURE(failure.status());
    CHECK(codes(asked_once(failure)) == "");
  }
  CHECK(codes(asked_once(server_error(), server_error())) == "");
  CHECK(codes(asked_once(text("Hello."), server_error())) == "");
}

TEST_CASE("a client has not given up if it asks again, in any way") {
  Wire wire;
  wire.gateway.chat().reply(service_unavailable(), text("Hello."));
  wire.ask(2);
  CHECK(codes(wire.gateway.review()) == "");

  // Another question gets the answer.
  Wire other;
  other.gateway.chat().reply(service_unavailable(), text("Hello."));
  other.ask(1, "one");
  other.ask(1, "two");
  CHECK(codes(other.gateway.review()) == "");

  // Another model is asked the same.
  Wire fallback{quiet().model("small").model("large")};
  fallback.gateway.chat().reply("Hello.");
  fallback.gateway.chat().when(model_is("large")).reply(service_unavailable(), text("Hello."));
  fallback.http.chat({{"model", "large"}});
  CHECK(codes(fallback.gateway.review()) == "gave_up");
  fallback.http.chat({{"model", "small"}});
  CHECK(codes(fallback.gateway.review()) == "");

  // Three tries are what the SDKs make.
  Wire patient;
  patient.gateway.chat().reply(server_error(), server_error(), server_error(), text("Hello."));
  patient.ask(2);
  CHECK(codes(patient.gateway.review()) == "gave_up");
  patient.ask(1);
  CHECK(codes(patient.gateway.review()) == "");
}

TEST_CASE("a single failure and a failure forced by the test leave no answer to ask for") {
  Wire wire;
  wire.gateway.chat().reply("Hello.");
  wire.gateway.fail_next(service_unavailable());
  wire.ask(1);
  wire.gateway.chat().reply(service_unavailable());
  wire.ask(1, "two");
  CHECK(codes(wire.gateway.review()) == "");
}

// --- Final errors ----------------------------------------------------------------------------------------------------

TEST_CASE("an error that names a time of at most a minute is not final") {
  for (const int status : {402, 403, 429}) {
    CAPTURE(status);
    const auto retried = [status](Duration named, Duration pause) {
      Wire wire;
      wire.gateway.chat().reply(failure(status, "insufficient_quota", "Slow down.").retry_after(named), text("Hello."));
      wire.http.chat();
      wire.clock.advance(pause);
      wire.http.chat();
      return codes(wire.gateway.review());
    };
    CHECK(retried(1s, 1s) == "");
    CHECK(retried(60s, 60s) == "");
    CHECK(retried(0s, 0s) == "");
    CHECK(retried(2s, 1s) == "retry_after_ignored");
    CHECK(retried(61s, 61s) == "retried_final_error");
  }
}

TEST_CASE("every default 429 has Retry-After: 1, unless it is left out") {
  Gateway gateway{quiet()};
  const Http http(gateway);
  const auto sent = [&](const Failure& failure) {
    gateway.chat().reply(failure);
    return http.chat().header("Retry-After");
  };
  CHECK(sent(rate_limited()) == "1");
  CHECK(sent(failure(429, "slow", "Slow down.")) == "1");
  CHECK(sent(rate_limited().without_retry_after()).empty());
}

// --- Other requests of a key -----------------------------------------------------------------------------------------

TEST_CASE("requests of a key before its Retry-After has passed are counted in a note") {
  Wire wire;
  const CreatedKey key = wire.gateway.keys().create("billing");
  const Http http = wire.http.with_key(key.secret);
  wire.gateway.chat().reply("Hello.");
  wire.gateway.fail_next(rate_limited(20s));
  wire.ask(1, http, "one");
  wire.ask(1, http, "two");
  wire.ask(2, http, "three");
  wire.ask(1, "another key");
  const Review review = wire.gateway.review();
  CHECK(review);
  CHECK(review.message() ==
        "clean: 5 exchanges judged (5 calls, 5 tries, 1 injected fault)\n"
        "note: key_used_while_limited (exchange 4 after 1): 3 other requests with key \"billing\" came before the 20 s "
        "that its 429 named had passed. Let all callers of a key wait that long.");
  wire.clock.advance(20s);
  wire.ask(1, http, "four");
  CHECK(wire.gateway.review().message().find("): 3 other requests") != std::string::npos);
}

TEST_CASE("a retry and the requests of other keys get no such note") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(2s), text("Hello."));
  wire.ask(2);
  CHECK(codes(wire.gateway.review()) == "retry_after_ignored");
  Wire patient;
  patient.gateway.chat().reply(rate_limited(2s), text("Hello."));
  patient.ask(1);
  patient.clock.advance(1s);
  patient.ask(1);
  patient.ask(1, "two");
  CHECK(codes(patient.gateway.review()) == "");
}

// --- Redirects -------------------------------------------------------------------------------------------------------

TEST_CASE("a client that loses its key on a redirect to the same server is told so") {
  const std::string chat = "/v1/chat/completions";
  const std::string moved = chat + "?moved=1";
  for (const auto& [location, target] :
       std::vector<std::pair<std::string, std::string>>{{moved, moved},
                                                        {"http://localhost:PORT" + moved, moved},
                                                        {"//127.0.0.1:PORT" + moved, moved},
                                                        {"?moved=1", moved},
                                                        {"completions?moved=1", moved},
                                                        {"completions?to=http://x/", chat + "?to=http://x/"},
                                                        {chat, chat},
                                                        {"completions", chat},
                                                        {"http://127.0.0.1:PORT" + chat, chat}}) {
    std::string named = location;
    CAPTURE(named);
    Gateway gateway{quiet()};
    if (const std::size_t port = named.find("PORT"); port != std::string::npos)
      named.replace(port, 4, std::to_string(gateway.port()));
    gateway.fail_next(failure(307, "", "").body("").header("Location", named));
    const Http http(gateway);
    CHECK(http.chat().status == 307);
    CHECK(http.without_key().post(target, chat_body()).status == 401);
    const Review review = gateway.review();
    REQUIRE(codes(review) == "key_lost_in_redirect");
    CHECK(review);
    CHECK(review.findings()[0].exchanges == std::vector<std::uint64_t>{1, 2});
    CHECK(review.findings()[0].message ==
          "refused with 401 for its missing key, which the redirected request had: the redirect to this same server "
          "lost it. Keep the Authorization header when scheme, host and port of a redirect are the same.");
  }
}

TEST_CASE("a key is not lost without a redirect, if it was missing before, or if the redirect kept it") {
  Gateway gateway{quiet()};
  const Http http(gateway);
  const std::string target = "/v1/chat/completions?moved=1";
  http.chat();
  http.without_key().post(target, chat_body());
  gateway.fail_next(failure(307, "", "").body("").header("Location", target));
  http.without_key().chat();
  http.without_key().post(target, chat_body());
  http.chat();
  CHECK(http.post(target, chat_body()).status == 200);
  gateway.fail_next(failure(307, "", "").body("").header("Location", target));
  http.chat();
  CHECK(http.post(target, chat_body()).status == 200);
  CHECK(http.without_key().post(target, chat_body()).status == 401);
  gateway.fail_next(failure(307, "", "").body("").header("Location", "/v1/chat/completions"));
  http.chat();
  CHECK(http.chat().status == 200);
  CHECK(http.without_key().chat().status == 401);
  CHECK(codes(gateway.review()) == "");
}

// --- The whole review ------------------------------------------------------------------------------------------------

TEST_CASE("errors come first, then warnings, and notes last, with unlisted models once") {
  Gateway gateway{quiet().any_model()};
  const Http http(gateway);
  http.chat({{"model", "a"}});
  http.chat({{"model", "b"}, {"user", "u"}});
  http.chat({{"model", "a"}, {"tools", Json::array()}});
  gateway.fail_next(unauthorized(), 2);
  http.chat();
  http.chat();
  http.post("/v1/v1/models", Json::object());
  const Review review = gateway.review();
  CHECK(codes(review) == "retried_final_error request_refused unknown_field tools_empty unlisted_model");
  CHECK(review.findings().back().exchanges == std::vector<std::uint64_t>{1});
  CHECK(review.findings().back().message.find("model \"a\": not listed, ") == 0);
  CHECK(review.findings().back().message.find(
            " 2 more requests asked for an unlisted model, the last in exchange 3.") != std::string::npos);
  CHECK(review.message().find("5 findings in 5 calls, 6 tries, 2 injected faults\nretried_final_error") == 0);
}

TEST_CASE("an empty list of tools is a finding that fails no review, in every profile") {
  for (const Profile profile : {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek}) {
    Gateway gateway{quiet().profile(profile)};
    const Http http(gateway);
    http.chat({{"tools", Json::array()}});
    CHECK(gateway.review().message() ==
          "1 finding in 1 call, 1 try, 0 injected faults\n"
          "tools_empty (exchange 1): tools: 0 tools, which OpenAI refuses with 400; leave tools out, or offer at least "
          "1.");
    CHECK(gateway.review());
  }
}

TEST_CASE("the head line counts calls, tries and injected faults") {
  Wire wire;
  wire.gateway.chat().reply(server_error(), text("Hello."));
  wire.ask(2);
  wire.gateway.chat().reply(text("a b").fault(before_headers(), close_connection()), text("a b"));
  for (int i = 0; i < 2; ++i) wire.http.allow_incomplete().chat(Json("two"));
  wire.gateway.chat().reply("three");
  wire.ask(1, "three");
  CHECK(wire.gateway.review().message() == "clean: 5 exchanges judged (3 calls, 5 tries, 2 injected faults)");
}

TEST_CASE("equal requests count as separate calls if they overlap, or if the client sent only a part of them") {
  Gateway gateway{quiet()};
  Gate gate;
  const Stub stub = gateway.chat().reply(text("a").hold(gate, before_token(1)), text("b"));
  const Http http(gateway);
  RawConnection first(gateway);
  first.send(http.format_chat("Hi"));
  REQUIRE(stub.wait_for_calls(1, patience));
  CHECK(http.chat("Hi").text() == "b");
  first.close();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  for (int i = 0; i < 2; ++i) {
    RawConnection part(gateway);
    part.send(http.format_chat("Bye").substr(0, 200));
    part.close();
    REQUIRE(gateway.journal().wait_for(3 + static_cast<std::size_t>(i), patience));
    REQUIRE(gateway.journal().wait_until_idle(patience));
  }
  CHECK(gateway.review().message() == "clean: 4 exchanges judged");
}

}  // namespace tries_test
