// Findings of review(): for each, a client that makes the mistake and a client that does not.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/timing.hpp"
#include "support/verification.hpp"

namespace review_test {

using namespace mock_gateway;
using namespace test_support;
using namespace std::chrono_literals;

/// A gateway on a manual clock, and a client with one connection per request.
struct Wire {
  explicit Wire(Options options = {}) : gateway(options.clock(clock)) {}

  /// Mounts the failure, sends a request, waits, and sends it again. Returns the text of the review.
  std::string retried_after(const Failure& failure, Duration pause) {
    gateway.chat().reply(failure, text("Hello"));
    http.chat();
    clock.advance(pause);
    http.chat();
    return without_counts(gateway.review().message());
  }
  std::string reviewed(const Json& extra) {
    http.chat(extra);
    return without_counts(gateway.review().message());
  }

  ManualClock clock;
  Gateway gateway;
  Http http{gateway};
};

const char* const one = "clean: 1 exchange judged";
const char* const two = "clean: 2 exchanges judged";

/// Returns the codes of errors and warnings.
/// Returns the codes of all findings but notes.
std::string codes(const Review& review) { return test_support::codes(review, Severity::warning); }

// --- Retries that come too early -------------------------------------------------------------------------------------

TEST_CASE("the finding for a client that retries before the end of Retry-After contains advice") {
  Wire wire;
  wire.gateway.chat().reply(text("a"), text("b"), rate_limited(120s), text("Hello"));
  wire.http.chat(Json("first"));
  wire.http.chat(Json("second"));
  wire.http.chat();
  wire.clock.advance(60500ms);
  CHECK(wire.http.ask("Hi") == "Hello");

  const Review review = wire.gateway.review();
  CHECK_FALSE(review);
  CHECK(
      without_counts(review.message()) ==
      "retry_after_ignored (exchange 4 after 3): retried after 60.5 s, but Retry-After was 120 s. Wait as long as the "
      "header says before retrying.");
  REQUIRE(review.findings().size() == 1);
  CHECK(review.findings()[0].severity == Severity::error);
  CHECK(review.findings()[0].exchanges == std::vector<std::uint64_t>{3, 4});
  std::ostringstream printed;
  printed << review;
  CHECK(printed.str() == review.message() + "\n");
}

TEST_CASE("a client that waits for Retry-After gets no finding, even if its timer is a millisecond early") {
  for (const Duration pause : {Duration{2s}, Duration{1999ms}, Duration{60s}}) {
    CAPTURE(pause.count());
    CHECK(Wire{}.retried_after(rate_limited(2s), pause) == two);
  }
  CHECK(Wire{}.retried_after(rate_limited(2s), 1990ms).find("retried after 1.99 s, but Retry-After was 2 s.") !=
        std::string::npos);
}

TEST_CASE("a client that waits long enough on the gateway's manual clock gets no finding") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const Http http{gateway};
  gateway.chat().reply(rate_limited(60s), text("Hello"));
  auto answer = std::async(std::launch::async, [&, clock]() mutable {
    const Response refused = http.chat();
    clock.sleep_for(std::chrono::seconds{std::stoi(refused.header("Retry-After"))});
    return http.ask("Hi");
  });
  REQUIRE(clock.wait_for_sleepers(1, patience));
  clock.advance_to_next_event();
  CHECK(answer.get() == "Hello");
  CHECK(gateway.review());
}

TEST_CASE("retry-after-ms has precedence over Retry-After, as in the SDKs") {
  const Failure both = rate_limited(600s).retry_after_ms(100250ms);
  CHECK(Wire{}.retried_after(both, 100250ms) == two);
  CHECK(
      Wire{}.retried_after(both, 40s) ==
      "retry_after_ignored (exchange 2 after 1): retried after 40 s, but retry-after-ms was 100.25 s. Wait as long as "
      "the header says before retrying.");
}

TEST_CASE("Retry-After counts for every failure and with a fraction, but not with an invalid value") {
  CHECK(Wire{}.retried_after(rate_limited(1500ms), 1400ms).find("Retry-After was 1.5 s.") != std::string::npos);
  CHECK(Wire{}.retried_after(service_unavailable().retry_after(3s), 1s).find("Retry-After was 3 s.") !=
        std::string::npos);
  for (const char* said : {"0", "-5", "soon", "2 seconds", "", ".", "Mon, 32 Foo 2024 00:00:00 GMT"}) {
    CAPTURE(said);
    CHECK(Wire{}.retried_after(rate_limited().retry_after(std::string(said)), 0s) == two);
  }
  CHECK(Wire{}.retried_after(rate_limited().without_retry_after(), 0s) == two);
  CHECK(Wire{}.retried_after(rate_limited(), 900ms).find("retried after 0.9 s, but Retry-After was 1 s.") !=
        std::string::npos);
  CHECK(Wire{}.retried_after(rate_limited().retry_after(std::string("99999999999999999999")), 1s).find("retry_after") ==
        0);
}

TEST_CASE("a date in Retry-After is judged to the second") {
  // The gateway's clock is ahead of the machine's, so the date is never in a client's past.
  const auto start = std::chrono::ceil<std::chrono::hours>(std::chrono::system_clock::now()) + 1h;
  const auto retried = [&](Duration pause) {
    ManualClock clock{TimePoint{start}};
    Gateway gateway{Options{}.clock(clock)};
    gateway.chat().reply(rate_limited().retry_after_date(500s), text("Hello"));
    Http{gateway}.chat();
    clock.advance(pause);
    Http{gateway}.chat();
    return without_counts(gateway.review().message());
  };
  CHECK(retried(200s) ==
        "retry_after_ignored (exchange 2 after 1): retried 300 s before the date in Retry-After. Wait as long as the "
        "header says before retrying. The gateway's clock differs from the machine's clock. A client that ignores the "
        "Date header compares the date with the machine's clock.");
  CHECK(retried(400s) ==
        "retry_after_ignored (exchange 2 after 1): retried 100 s before the date in Retry-After. Wait as long as the "
        "header says before retrying. The gateway's clock differs from the machine's clock. A client that ignores the "
        "Date header compares the date with the machine's clock.");
  CHECK(retried(499997ms).find("retried 0.003 s before the date") != std::string::npos);
  CHECK(retried(499998ms) == two);
  CHECK(retried(500s) == two);
}

TEST_CASE("a date in Retry-After counts in every supported year, including the first and the last") {
  const std::string finding = "retry_after_ignored (exchange 2 after 1): retried ";
  const auto retried = [](const std::string& date) {
    return Wire{}.retried_after(rate_limited().header("Retry-After", date), 0s);
  };
  for (const char* date : {"Wed, 01 Jan 2199 00:00:00 GMT", "Wed, 01 Jan 2200 00:00:00 GMT",
                           "Wed, 31 Dec 2200 23:59:59 GMT", "Wed, 31 Dec 2200 23:59:60 GMT"}) {
    CAPTURE(date);
    CHECK(retried(date).substr(0, finding.size()) == finding);
  }
  // Past dates and invalid dates request no wait.
  for (const char* date :
       {"Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 31 Dec 1969 23:59:59 GMT", "Thu, 01 Jan 2201 00:00:00 GMT",
        "Wed, 00 Jan 2200 00:00:00 GMT", "Wed, 32 Jan 2200 00:00:00 GMT", "Wed, 01 Jan 2200 24:00:00 GMT",
        "Wed, 01 Jan 2200 00:60:00 GMT", "Wed, 01 Jan 2200 00:00:61 GMT", "Wed, 01 jan 2200 00:00:00 GMT",
        "Wed, 01 Jan 2200 00:00:00 UTC"}) {
    CAPTURE(date);
    CHECK(retried(date) == two);
  }
}

TEST_CASE("a date in the client's past requires no wait, for any time on the gateway's clock") {
  CHECK(Wire{}.retried_after(rate_limited().retry_after_date(60s), 0s) == two);
}

TEST_CASE("a client that really sleeps gets no finding although the gateway's clock is stopped") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited().retry_after_ms(50ms), text("Hello"));
  wire.http.chat();
  const auto back = std::chrono::steady_clock::now() + 50ms;
  REQUIRE(eventually([&] { return std::chrono::steady_clock::now() >= back; }));
  wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message()) == two);
}

TEST_CASE("retries after the gateway's own rate limit are judged like those after a scripted 429") {
  Wire wire{Options{}.limit(1, 10s)};
  wire.http.chat();
  wire.http.chat();
  wire.clock.advance(4s);
  wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message()) ==
        "retry_after_ignored (exchange 3 after 2): retried after 4 s, but Retry-After was 10 s. Wait as long as the "
        "header says before retrying.");
  wire.gateway.reset();
  wire.clock.advance(6s);
  wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message()) == one);
}

// --- Retries of final errors -----------------------------------------------------------------------------------------

TEST_CASE("retrying a permanent error is a finding") {
  CHECK(Wire{}.retried_after(unauthorized(), 1s) ==
        "retried_final_error (exchange 2 after 1): retried after 401 \"unauthorized\", but a retry cannot fix this "
        "error. Use another key, or report the error to the caller.");
  for (const Failure& failure : {bad_request(), forbidden(), mock_gateway::failure(402, "insufficient_quota", "Pay."),
                                 mock_gateway::failure(429, "insufficient_quota", "Pay.").retry_after(61s)}) {
    CAPTURE(failure.status());
    CHECK(Wire{}
              .retried_after(failure, 1h)
              .find("retried_final_error (exchange 2 after 1): retried after " + std::to_string(failure.status())) ==
          0);
  }
}

TEST_CASE("retrying a temporary error, or a response that asks for a retry, is not a finding") {
  for (const Failure& failure :
       {not_found(), request_timeout(), conflict(), rate_limited(), server_error(), overloaded(),
        mock_gateway::failure(402, "payment_pending", "Wait."), bad_request().should_retry(true)}) {
    CAPTURE(failure.status());
    CHECK(Wire{}.retried_after(failure, 1s) == two);
  }
}

TEST_CASE("sending the same wrong key twice is a retry of a final error, sending two wrong keys is not") {
  Wire wire;
  wire.http.with_key("sk-wrong").chat();
  wire.http.with_key("sk-wrong-as-well").chat();
  wire.http.without_key().chat();
  CHECK(wire.gateway.review());
  wire.http.with_key("sk-wrong").chat();
  CHECK(codes(wire.gateway.review()) == "retried_final_error");
  CHECK(wire.gateway.review().findings()[0].exchanges == std::vector<std::uint64_t>{1, 4});
}

// --- Requests that are not retries -----------------------------------------------------------------------------------

TEST_CASE("a request is not a retry if the test has enabled its key in between") {
  Wire wire;
  const CreatedKey key = wire.gateway.keys().create("billing service");
  const Http http = wire.http.with_key(key.secret);
  wire.gateway.keys().disable(key.id);
  CHECK(http.chat().status == 403);
  wire.gateway.keys().enable(key.id);
  CHECK(http.chat().status == 200);
  CHECK(without_counts(wire.gateway.review().message()) == two);
}

TEST_CASE("a request is not a retry if the test has changed stubs or forced failures in between") {
  Wire wire;
  wire.gateway.fail_next(forbidden());
  wire.http.chat();
  wire.gateway.fail_next(forbidden());
  wire.http.chat();
  wire.gateway.chat().reply(bad_request());
  wire.http.chat();
  wire.gateway.chat().reply("Hello");
  wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 4 exchanges judged");
}

TEST_CASE("review() trusts the retry numbers that a client sends") {
  Wire wire;
  wire.gateway.fail_always(unauthorized());
  const auto numbered = [&](const char* number) { wire.http.with_header("x-stainless-retry-count", number).chat(); };
  numbered("0");
  numbered("0");
  CHECK(wire.gateway.review());
  numbered("1");
  CHECK(codes(wire.gateway.review()) == "retried_final_error asked_again_early");
}

TEST_CASE("a numbered retry of parallel calls is a finding only if it is too early for each of the calls") {
  const auto reviewed = [](Duration first_pause, Duration second_pause) {
    Wire wire;
    wire.gateway.chat().reply(rate_limited(2s));
    const Http http = wire.http;
    http.with_header("x-stainless-retry-count", "0").chat();
    wire.clock.advance(1s);
    http.with_header("x-stainless-retry-count", "0").chat();
    wire.clock.advance(first_pause);
    http.with_header("x-stainless-retry-count", "1").chat();
    wire.clock.advance(second_pause);
    http.with_header("x-stainless-retry-count", "1").chat();
    return codes(wire.gateway.review());
  };
  CHECK(reviewed(1s, 1s) == "");
  CHECK(reviewed(500ms, 5s) == "retry_after_ignored");
  CHECK(reviewed(1s, 500ms) == "retry_after_ignored");
}

TEST_CASE("parallel calls are not retries of each other, but each may be retried too early") {
  Wire wire;
  wire.gateway.chat().reply("Hello");
  wire.gateway.chat().times(3).reply(Reply(rate_limited(60s)).fault(before_headers(), stall(5s)));
  std::vector<RawConnection> connections;
  for (int i = 0; i < 3; ++i) {
    connections.emplace_back(wire.gateway);
    connections.back().send(wire.http.format_chat());
  }
  REQUIRE(wire.clock.wait_for_waits(3, patience));
  wire.clock.advance(5s);
  for (RawConnection& connection : connections) CHECK(connection.receive_response().status == 429);
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 3 exchanges judged");
  wire.clock.advance(1s);
  wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message())
            .find("retry_after_ignored (exchange 4 after 3): retried after 1 s") == 0);
}

TEST_CASE("parallel calls that hit a limit get no finding if each waits, in any order") {
  Wire wire{Options{}.limit(2, 60s)};
  for (int i = 0; i < 5; ++i) CHECK(wire.http.chat().status == (i < 2 ? 200 : 429));
  wire.clock.advance(60s);
  for (int i = 0; i < 3; ++i) {
    CHECK(wire.http.chat().status == (i < 2 ? 200 : 429));
    wire.clock.advance(300ms);
  }
  CHECK(codes(wire.gateway.review()) == "");
}

TEST_CASE("calls that are refused together get no finding if they retry together in time") {
  Wire wire;
  wire.gateway.fail_next(rate_limited(60s), 3);
  for (int i = 0; i < 3; ++i) CHECK(wire.http.chat().status == 429);
  wire.clock.advance(60s);
  for (int i = 0; i < 3; ++i) CHECK(wire.http.chat().status == 200);
  CHECK(codes(wire.gateway.review()) == "");
}

TEST_CASE("a client that retries at once several times gets a finding each time") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(60s));
  for (int i = 0; i < 3; ++i) {
    wire.clock.advance(std::chrono::milliseconds{i});
    wire.http.chat();
  }
  CHECK(
      without_counts(wire.gateway.review().message()) ==
      "retry_after_ignored (exchange 2 after 1): retried after 0.001 s, but Retry-After was 60 s. Wait as long as the "
      "header says before retrying. (1 more like it, the last in exchange 3)");
}

TEST_CASE("a retry on the same connection is recognized") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(60s));
  const Http http = wire.http.keep_alive();
  for (int i = 0; i < 3; ++i) http.chat();
  CHECK(codes(wire.gateway.review()) == "retry_after_ignored retry_after_ignored");
}

TEST_CASE("a retry after a response that never arrived is allowed") {
  Wire wire;
  wire.gateway.chat().reply(Reply(rate_limited(60s)).fault(before_headers(), reset_connection()), text("Hello"));
  wire.http.allow_incomplete().chat();
  wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message()) == two);
}

// --- Tools -----------------------------------------------------------------------------------------------------------

Json call(const char* id) {
  return {{"id", id}, {"type", "function"}, {"function", {{"name", "get_weather"}, {"arguments", "{}"}}}};
}
Json calls(const std::vector<Json>& all) { return {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", all}}; }
Json result(const char* id) { return {{"role", "tool"}, {"tool_call_id", id}, {"content", "21"}}; }
Json said(const char* role) { return {{"role", role}, {"content", "Hi"}}; }
Json conversation(const std::vector<Json>& messages) { return Json{{"messages", messages}}; }

TEST_CASE("a tool call without its result is a finding") {
  CHECK(Wire{}.reviewed(conversation({said("user"), calls({call("a")}), said("user")})) ==
        "tool_call_unanswered (exchange 1): messages[1].tool_calls: no tool message before messages[2] answers \"a\". "
        "Send each call's result right after the call.");
  CHECK(Wire{}.reviewed(conversation({said("user"), calls({call("a"), call("b"), call("c")}), result("b")})) ==
        "tool_call_unanswered (exchange 1): messages[1].tool_calls: no tool message up to the end of messages answers "
        "\"a\", \"c\". Send each call's result right after the call.");
  CHECK(Wire{}
            .reviewed(conversation({calls({call("a"), call("b"), call("c"), call("d"), call("e")})}))
            .find("answers \"a\", \"b\", \"c\" and 2 more.") != std::string::npos);
}

TEST_CASE("a tool result without its call is a finding") {
  CHECK(Wire{}.reviewed(conversation({said("user"), calls({call("a")}), result("a"), result("x")})) ==
        "tool_result_unknown_id (exchange 1): messages[3].tool_call_id: no earlier call has the id \"x\". Send the id "
        "of the call, and keep the assistant message that contains the call.");
  CHECK(Wire{}.reviewed(conversation({said("user"), result("a")})).find("tool_result_unknown_id (exchange 1)") == 0);
}

TEST_CASE("tool calls with their results get no finding, in any order and over several rounds") {
  CHECK(Wire{}.reviewed(
            conversation({said("system"), said("user"), calls({call("a"), call("b")}), result("b"), result("a"),
                          calls({call("c")}), result("c"), said("assistant"), said("user")})) == one);
}

// --- Streams ---------------------------------------------------------------------------------------------------------

TEST_CASE("a stream that its client keeps open after [DONE] is a finding") {
  Gateway gateway;
  gateway.chat().reply(text("a b").fault(at_end(), stall()));
  RawConnection client(gateway);
  client.send(Http{gateway}.format_chat({{"stream", true}}));
  REQUIRE(client.receive_until("data: [DONE]\n\n").found);
  CHECK(without_counts(gateway.review().message()) ==
        "stream_left_open (exchange 1): the stream was still open half a second after [DONE]. Close it at [DONE] "
        "instead of waiting for the connection to end.\n1 exchange is still open");
  const Review review = gateway.review();
  CHECK(review.findings()[0].severity == Severity::error);
  CHECK(review.findings()[0].fails_review);
}

TEST_CASE("a stream that only the gateway ended after [DONE] is a finding") {
  Gateway gateway;
  gateway.chat().reply(text("a b").fault(at_end(), stall(600ms)));
  CHECK(Http{gateway}.stream().done());
  CHECK(codes(gateway.review()) == "stream_left_open");
}

TEST_CASE("a stream that its client closes at [DONE], or that ends there, gets no finding") {
  // Repeats the test if the machine paused, because the client was late then.
  bool paused = true;
  for (int i = 0; i < 20 && paused; ++i) {
    Gateway gateway;
    gateway.chat().reply(text("a b"), text("a b").fault(at_end(), stall()),
                         text("a b").fault(at_end(), close_connection()));
    const auto taken = time_of([&] {
      CHECK(Http{gateway}.stream().done());
      {
        RawConnection client(gateway);
        client.send(Http{gateway}.format_chat({{"stream", true}}));
        REQUIRE(client.receive_until("data: [DONE]\n\n").found);
      }
      Http{gateway}.allow_incomplete().stream();
    });
    const std::string message = without_counts(gateway.review().message());
    paused = taken >= 500ms && message != "clean: 3 exchanges judged";
    if (!paused) CHECK(message == "clean: 3 exchanges judged");
  }
  CHECK_FALSE(paused);
}

TEST_CASE("a client that stops reading without closing gets a finding; one that closes does not") {
  {
    Gateway gateway{Options{}.write_timeout(200ms)};
    gateway.chat().reply(text(std::string(8 << 20, 'x')));
    RawConnection client(gateway, {4096});
    client.send(Http{gateway}.format_chat({{"stream", true}}));
    REQUIRE(gateway.journal().wait_for(1, patience));
    CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_stalled);
    CHECK(without_counts(gateway.review().message()) ==
          "stream_abandoned (exchange 1): the client stopped reading and left the connection open until the gateway "
          "gave up. Close a stream when it is no longer needed.");
    CHECK(gateway.review().findings()[0].severity == Severity::error);
  }
  Gateway gateway;
  gateway.chat().reply(text(std::string(8 << 20, 'x')));
  {
    RawConnection client(gateway, {4096});
    client.send(Http{gateway}.format_chat({{"stream", true}}));
    REQUIRE(client.receive_until("HTTP/1.1 200").found);
  }
  REQUIRE(gateway.journal().wait_until_idle(10s));  // review() itself waits for at most a second
  CHECK(without_counts(gateway.review().message()) == one);
}

// --- Keys ------------------------------------------------------------------------------------------------------------

TEST_CASE("a key in the query is a finding, whether or not it is the gateway's") {
  Wire wire;
  wire.http.get("/v1/models?api_key=" + wire.gateway.api_key());
  CHECK(without_counts(wire.gateway.review().message()) ==
        "key_in_query (exchange 1): the request target contains a key, and targets are often logged. Send the key only "
        "in the Authorization header.");
  wire.http.without_key().get("/v1/models?page=2&key=sk%2Dsomebodys-real-key-1234");
  const Review review = wire.gateway.review();
  CHECK(codes(review) == "key_in_query key_in_query");
  CHECK(wire.gateway.journal().last().request().target == "/v1/models?page=2&key=sk-***");
}

TEST_CASE("a key in the body is a finding, whether or not it is the gateway's") {
  Wire wire;
  CHECK(wire.reviewed(Json("My key:\n" + wire.gateway.api_key())) ==
        "key_in_body (exchange 1): the body contains a key. Send the key only in the Authorization header.");
  wire.gateway.reset();
  const std::string foreign = "sk-somebodys-real-key-1234";
  wire.http.with_key(foreign).chat(Json("(" + foreign + ")"));
  CHECK(codes(wire.gateway.review()) == "key_in_body");
}

TEST_CASE("a key is found anywhere, even a short key among words that only contain it") {
  Wire wire;
  wire.gateway.keys().create("short", KeyOptions{}.secret("sk-1"));
  const std::string key = wire.gateway.api_key();
  const std::vector<std::string> texts = {key + " task-1", "task-1 " + key, "task-1 " + key + " task-1", "sk-1 task-1"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    wire.gateway.reset();
    CHECK(wire.reviewed(Json(text)).substr(0, 11) == "key_in_body");
    wire.gateway.reset();
    std::string target = "/v1/models?q=" + text;
    std::replace(target.begin(), target.end(), ' ', '+');
    wire.http.get(target);
    CHECK(codes(wire.gateway.review()) == "key_in_query");
  }
}

TEST_CASE("a key in its header, a masked key and similar words get no finding") {
  Wire wire;
  wire.gateway.keys().create("short", KeyOptions{}.secret("sk-1"));
  wire.http.get("/v1/models?task-1=2&key=sk-***&flag&=");
  wire.http.chat(Json("task-1, desk-bound, sk-12, sk-***, Bearer sk-..."));
  wire.http.with_header("x-api-key", wire.gateway.api_key()).chat(Json("Another."));
  wire.http.with_authorization("Basic password").chat(Json("My password"));
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 4 exchanges judged");
}

TEST_CASE("a request from a browser is a finding") {
  Wire wire;
  wire.http.with_header("Origin", "https://app.example").chat();
  CHECK(without_counts(wire.gateway.review().message()) ==
        "browser_request (exchange 1): Origin is \"https://app.example\", so a browser sent the request. Keep keys on "
        "a server and let the page call that server.");
}

TEST_CASE("a key used by different products is a finding") {
  Wire wire;
  const CreatedKey key = wire.gateway.keys().create("billing service");
  const Http http = wire.http.with_key(key.secret);
  http.with_header("User-Agent", "OpenAI/Python 3.54.0").chat();
  http.with_header("User-Agent", "curl/7.88.1").chat();
  CHECK(without_counts(wire.gateway.review().message()) ==
        "key_shared (exchange 2 after 1): key \"billing service\" is used by \"OpenAI/Python 3.54.0\" and "
        "\"curl/7.88.1\". Create a key for each service.");
  CHECK(wire.gateway.review().findings()[0].severity == Severity::warning);
  http.with_header("User-Agent", "OpenAI/JS 6.1").chat();
  CHECK(without_counts(wire.gateway.review().message()).find("\"curl/7.88.1\" and \"OpenAI/JS 6.1\". Create") !=
        std::string::npos);
  http.with_header("User-Agent", "go-http-client/1.1").chat();
  CHECK(without_counts(wire.gateway.review().message()).find("\"OpenAI/JS 6.1\" and 1 more. Create") !=
        std::string::npos);
}

TEST_CASE("User-Agents that share a product count as one user of a key") {
  Wire wire;
  const CreatedKey key = wire.gateway.keys().create("service");
  const Http http = wire.http.with_key(key.secret);
  for (const char* const agent : {"app/1 core/2", "core/2 net/3", "net/4 tls/5", "tls/6"})
    http.with_header("User-Agent", agent).chat();
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 4 exchanges judged");
  for (const char* const agent : {"curl/8", "curl/8 zlib/1", "zlib/2"}) http.with_header("User-Agent", agent).chat();
  CHECK(without_counts(wire.gateway.review().message()) ==
        "key_shared (exchange 5 after 1): key \"service\" is used by \"app/1 core/2\" and \"curl/8\". Create a key "
        "for each service.");
}

TEST_CASE("another version, SDK part or key, or a missing User-Agent, does not count as another user of a key") {
  Wire wire;
  const CreatedKey key = wire.gateway.keys().create("other");
  for (const char* agent : {"OpenAI/Python 3.54.0", "AsyncOpenAI/Python 3.54.0", "OpenAI/Python 3.55.0", ""}) {
    wire.http.with_header("User-Agent", agent).chat();
  }
  wire.http.chat();
  for (const char* agent : {"ai/6.0.326 ai-sdk/provider-utils/4.0.62 runtime/node.js/v20.20.2",
                            "ai-sdk/openai-compatible/2.0.87 ai-sdk/provider-utils/4.0.62 runtime/node.js/v22"}) {
    wire.http.with_key(key.secret).with_header("User-Agent", agent).chat();
  }
  wire.http.with_key("sk-unknown").with_header("User-Agent", "wget/1").chat();
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 8 exchanges judged");
}

// --- Bodies ----------------------------------------------------------------------------------------------------------

TEST_CASE("a review lists accepted fields that the client should change") {
  CHECK(Wire{}.reviewed({{"user", "u"}}) == "unknown_field (exchange 1): user: not a documented field; leave it out.");
  CHECK(Wire{}.reviewed({{"stop", "x"}}) ==
        "stop_as_string (exchange 1): stop: documented as an array; send [\"…\"] in place of the string.");
  CHECK(Wire{}.reviewed({{"temperature", 3}}) ==
        "temperature_out_of_range (exchange 1): temperature: 3 is outside 0 to 2, which other servers reject; stay "
        "within it.");
  CHECK(Wire{}.reviewed({{"temperature", 1}, {"top_p", 1}}) ==
        "temperature_and_top_p (exchange 1): temperature and top_p are both given; set one of them.");
  CHECK(Wire{}.reviewed({{"stream_options", {{"include_usage", true}}}}) ==
        "stream_options_without_stream (exchange 1): stream_options: without stream they have no effect; leave them "
        "out or set stream to true.");
  Wire wire;
  wire.http.post(chat_path, R"({"model":"mock-model","n":1,"n":1,"messages":[{"role":"user","content":"Hi"}]})");
  CHECK(without_counts(wire.gateway.review().message()) ==
        "duplicate_key (exchange 1): body: the key \"n\" occurs more than once; the last one counts. Send it once.");
  CHECK(wire.gateway.review().findings()[0].severity == Severity::warning);
}

TEST_CASE("a request with only documented fields gets no finding") {
  Wire wire;
  CHECK(wire.reviewed({{"stop", {"x"}}, {"temperature", 1}, {"seed", 7}}) == one);
  wire.http.stream({{"stream_options", {{"include_usage", true}}}, {"top_p", 1}});
  CHECK(without_counts(wire.gateway.review().message()) == two);
}

// --- The review ------------------------------------------------------------------------------------------------------

TEST_CASE("each finding has its documented severity, and three kinds of findings fail no review") {
  Wire wire{Options{}.any_model().acceptance(Acceptance().with(Extension::openai_fields))};
  wire.gateway.chat().reply("Hello");
  for (const char* const said : {"limited", "called anew"})
    wire.gateway.chat().when(user_says(said)).reply(rate_limited(60s), "Hello");
  wire.gateway.chat().when(user_says("broken")).reply(server_error(), "Hello");
  wire.gateway.chat().when(user_says("refused")).reply(unauthorized(), "Hello");
  const auto tried = [&](const char* number, const char* key) {
    return wire.http.with_header("x-stainless-retry-count", number).with_header("Idempotency-Key", key);
  };
  for (int i = 0; i < 2; ++i) wire.http.chat("limited");
  for (int i = 0; i < 2; ++i) wire.http.chat("refused");
  for (int i = 0; i < 2; ++i) tried("0", "a").chat("called anew");
  tried("0", "a").chat("broken");
  tried("1", "b").chat("broken");
  wire.http.chat(conversation({said("user"), calls({call("a")}), said("user")}));
  wire.http.chat(conversation({said("user"), result("a")}));
  wire.http.chat({{"user", "u"}, {"mood", "calm"}, {"stop", "x"}, {"temperature", 3}});
  wire.http.chat({{"model", "gpt-4o-mini"}});
  wire.http.chat({{"temperature", 1}, {"top_p", 1}, {"stream_options", {{"include_usage", true}}}});
  wire.http.post(chat_path, R"({"model":"mock-model","n":1,"n":1,"messages":[{"role":"user","content":"Hi"}]})");
  wire.http.get("/v1/models?key=" + wire.gateway.api_key());
  wire.http.chat(Json(wire.gateway.api_key()));
  wire.http.with_header("Origin", "http://x").with_header("User-Agent", "browser/1").chat();
  wire.http.with_header("User-Agent", "curl/8").chat();
  wire.http.get("/v1/v1/models");
  std::map<std::string, std::string> found;
  for (const Finding& finding : wire.gateway.review().findings())
    found[finding.code] = to_string(finding.severity) + (finding.fails_review ? "" : ", fails no review");
  // Missing here, with their own tests: stream_left_open, stream_abandoned, pipelined_request, the four findings of
  // retry_findings_test.cpp, five of tries_test.cpp and 21 of enforce_test.cpp.
  const std::map<std::string, std::string> documented = {{"request_refused", "error"},
                                                         {"retry_after_ignored", "error"},
                                                         {"retried_final_error", "error"},
                                                         {"asked_again_early", "warning, fails no review"},
                                                         {"key_used_while_limited", "note, fails no review"},
                                                         {"idempotency_key_changed", "warning"},
                                                         {"tool_call_unanswered", "error"},
                                                         {"tool_result_unknown_id", "error"},
                                                         {"key_in_query", "error"},
                                                         {"key_in_body", "error"},
                                                         {"browser_request", "error"},
                                                         {"key_shared", "warning"},
                                                         {"unlisted_model", "note, fails no review"},
                                                         {"beyond_documentation", "note, fails no review"},
                                                         {"unknown_field", "warning"},
                                                         {"stop_as_string", "warning"},
                                                         {"temperature_out_of_range", "warning"},
                                                         {"temperature_and_top_p", "warning"},
                                                         {"stream_options_without_stream", "warning"},
                                                         {"duplicate_key", "warning"}};
  CHECK(found == documented);
  CHECK(found.size() + 40 == finding_codes().size());
}

TEST_CASE("a repeated finding is counted, not printed again") {
  Wire wire;
  wire.http.chat({{"user", "a"}});
  CHECK(without_counts(wire.gateway.review().message()) ==
        "unknown_field (exchange 1): user: not a documented field; leave it out.");
  wire.http.chat({{"user", "b"}});
  CHECK(without_counts(wire.gateway.review().message()) ==
        "unknown_field (exchange 1): user: not a documented field; leave it out. (1 more like it, the last in exchange "
        "2)");
  wire.http.chat({{"user", "c"}});
  CHECK(wire.gateway.review().findings().size() == 3);
  CHECK(without_counts(wire.gateway.review().message()) ==
        "unknown_field (exchange 1): user: not a documented field; leave it out. (2 more like it, the last in exchange "
        "3)");
}

TEST_CASE("retries after different errors are told separately") {
  Wire wire;
  for (const char* const code : {"a", "b"}) {
    wire.gateway.fail_next(mock_gateway::failure(400, code, "No."), 2);
    for (int i = 0; i < 2; ++i) wire.http.chat();
  }
  const std::string message = wire.gateway.review().message();
  CHECK(has_part(message, "retried_final_error (exchange 2 after 1): retried after 400 \"a\""));
  CHECK(has_part(message, "retried_final_error (exchange 4 after 3): retried after 400 \"b\""));
}

TEST_CASE("findings of one severity come in the order of exchanges") {
  Wire wire;
  wire.gateway.chat().reply(rate_limited(2s));
  wire.http.chat({{"user", "u"}});
  wire.http.chat({{"user", "u"}});
  wire.http.chat({{"stop", "x"}});
  CHECK(codes(wire.gateway.review()) == "retry_after_ignored unknown_field unknown_field stop_as_string");
}

TEST_CASE("a test can disable findings by code, in the options or for one review") {
  Wire wire{Options{}.without_finding("unknown_field")};
  wire.http.chat({{"user", "u"}, {"stop", "x"}});
  const Review review = wire.gateway.review();
  CHECK(codes(review) == "stop_as_string");
  CHECK(review.without("stop_as_string"));
  CHECK(without_counts(review.without("stop_as_string").message()) == one);
  CHECK_FALSE(review.without("unknown_field"));
}

TEST_CASE("codes disabled in the options are also disabled in a review of one key or header") {
  Wire wire{Options{}.without_finding("unknown_field").without_finding("stop_as_string")};
  const CreatedKey mine = wire.gateway.keys().create("mine");
  const Http http = wire.http.with_key(mine.secret).with_header("x-test", "7");
  http.chat({{"user", "u"}, {"stop", "x"}, {"temperature", 3}});
  for (const RequestScope& scope :
       {RequestScope(), RequestScope(mine.id), RequestScope("mine"), with_header("x-test", "7")})
    CHECK(codes(wire.gateway.review(scope)) == "temperature_out_of_range");
  CHECK(wire.gateway.review(mine.id).without("temperature_out_of_range"));
}

TEST_CASE("an unknown code is refused with a list of all codes") {
  Gateway gateway;
  std::string list;
  for (const std::string& code : finding_codes()) list += (list.empty() ? "" : ", ") + code;
  const std::string message = "mock_gateway: there is no finding \"unknown_fields\"; the codes are " + list;
  CHECK_THROWS_WITH_AS(gateway.review().without("unknown_fields"), message.c_str(), GatewayError);
  CHECK_THROWS_WITH_AS(Gateway(Options{}.without_finding("unknown_fields")), message.c_str(), GatewayError);
}

TEST_CASE("tests that share a gateway review their own requests, by key and by header") {
  Wire wire;
  const CreatedKey mine = wire.gateway.keys().create("mine");
  const CreatedKey other = wire.gateway.keys().create("other");
  wire.http.with_key(mine.secret).chat();
  wire.http.with_key(other.secret).chat({{"user", "u"}});
  CHECK(without_counts(wire.gateway.review(mine.id).message()) ==
        "clean: 1 exchange with key \"" + mine.id + "\" judged");
  CHECK(wire.gateway.review("mine"));
  CHECK(codes(wire.gateway.review(other.id)) == "unknown_field");
  CHECK(without_counts(wire.gateway.review("nobody").message()) ==
        "clean: no exchange with key \"nobody\" was recorded");

  wire.http.with_header("x-test", "7").chat();
  wire.http.with_header("x-test", "8").chat({{"stop", "x"}});
  CHECK(without_counts(wire.gateway.review(with_header("x-test", "7")).message()) ==
        "clean: 1 exchange with header x-test: 7 judged");
  CHECK(codes(wire.gateway.review(with_header("X-Test", "8"))) == "stop_as_string");
}

TEST_CASE("a review reports how many exchanges were evicted") {
  Wire wire{Options{}.journal_limits(2, 1 << 20)};
  for (int i = 0; i < 3; ++i) wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message()) ==
        "clean: 2 exchanges judged; 1 exchange was evicted before the review");
  for (int i = 0; i < 2; ++i) wire.http.chat();
  CHECK(without_counts(wire.gateway.review().message()) ==
        "clean: 2 exchanges judged; 3 exchanges were evicted before the review");
  wire.http.chat({{"user", "u"}});
  CHECK(without_counts(wire.gateway.review().message()) ==
        "unknown_field (exchange 6): user: not a documented field; leave it out.\n4 exchanges were evicted before the "
        "review");
}

TEST_CASE("a review reports open exchanges, and waits only for its own") {
  Wire wire;
  const CreatedKey mine = wire.gateway.keys().create("mine");
  wire.gateway.chat().reply(text("a b").every(1h));
  RawConnection client(wire.gateway);
  client.send(wire.http.format_chat({{"stream", true}}));
  REQUIRE(client.receive_until("\"a\"").found);
  CHECK(without_counts(wire.gateway.review().message()) == "clean: 1 exchange judged; 1 exchange is still open");
  wire.http.with_key(mine.secret).get("/v1/models");
  // If one of its own exchanges were open, review() would wait for a second.
  CHECK(is_within(
      1s, [&] { return time_of([&] { CHECK(wire.gateway.review(mine.id).open() == 0); }); }, 1));
}

TEST_CASE("a review without requests says so") {
  Gateway gateway;
  CHECK(without_counts(gateway.review().message()) == "clean: no exchange was recorded");
}

TEST_CASE("no finding shows a secret") {
  Wire wire;
  const std::string key = wire.gateway.api_key();
  wire.gateway.fail_next(unauthorized(), 2, chat_completions());
  const Http agent = wire.http.with_header("User-Agent", key + "/1").with_header("Origin", "https://" + key);
  for (int i = 0; i < 2; ++i) agent.chat();
  wire.http.with_header("User-Agent", "curl/8")
      .chat({{key, 1}, {"messages", Json::array({said("user"), result(key.c_str())})}});
  wire.http.get("/v1/models?" + key);
  const Review review = wire.gateway.review();
  CHECK(codes(review) ==
        "browser_request browser_request retried_final_error tool_result_unknown_id key_in_body key_in_query "
        "unknown_field key_shared");
  CHECK(without_counts(review.message()).find(key) == std::string::npos);
  for (const Finding& finding : review.findings()) CHECK(finding.message.find(key) == std::string::npos);
}

}  // namespace review_test
