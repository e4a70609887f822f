// The texts that failed checks print, which should suffice to understand the failure.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace failure_text_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::has_part;
using test_support::Http;
using test_support::printed;
using test_support::RawConnection;

using Notes = std::vector<std::string>;

TEST_CASE("verify() notes the effects of scripted faults") {
  struct Row {
    Reply reply;
    bool streamed;
    std::string note;
  };
  const std::vector<Row> rows = {
      {text("one two three").fault(after_tokens(2), close_connection()), true, "broke off after token 2 as scripted"},
      {text("one two three").fault(after_events(2), reset_connection()), true,
       "broke off with a reset after event 2 as scripted"},
      {text("one two three").fault(before_headers(), close_connection()), false,
       "broke off before headers as scripted"},
      {text("one two three").fault(after_bytes(9), truncate()), false,
       "was truncated after byte 9 of the body as scripted"},
      {text("one two three").fault(after_tokens(1), garbage("?!")), true,
       "sent 2 bytes of garbage after token 1 as scripted"},
      {text("one two three").fault(after_tokens(1), stall(1ms)), true, "stalled after token 1 as scripted"},
      {text("one two three").fault(after_tokens(1), error_event(server_error())), true,
       "sent an error event after token 1 as scripted"},
      {text("one two three").fault(after_tokens(1), skip_event()).fault(after_tokens(2), duplicate_event()), true,
       "skipped an event after token 1 as scripted, sent an event twice after token 2 as scripted"},
      {text("one two three").fault(before_headers(), wrong_content_length(-5)), false,
       "announced a Content-Length wrong by -5 as scripted"},
      {text("one two three").fault(before_headers(), wrong_content_length(5)), false,
       "announced a Content-Length wrong by +5 as scripted"},
      {text("one two three").fault(after_tokens(2), half_close()), true, "was half-closed after token 2 as scripted"},
      {text("one two three").fault(after_events(1), garbage("?")), true,
       "sent 1 byte of garbage after event 1 as scripted"},
      {text("one two three").fault(at_end(), stall(1ms)), true, "stalled at the end as scripted"},
      {text("one two").finish_reason("length").fault(after_tokens(1), duplicate_event()), true,
       "sent an event twice after token 1 as scripted, finish_reason length was sent"},
      // There is no note of the finish_reason: the skipped event may have contained it.
      {text("one two").finish_reason("length").fault(after_tokens(1), skip_event()), true,
       "skipped an event after token 1 as scripted"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.note);
    Gateway gateway;
    gateway.chat().reply(row.reply);
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", row.streamed}}));
    connection.receive_response();
    connection.close();
    REQUIRE(gateway.journal().wait_until_idle(10s));
    const Verification verification = gateway.verify();
    CHECK(verification);
    CHECK(verification.notes() == Notes{"exchange 1 " + row.note});
    CHECK(verification.message() == "nothing is wrong\nexchange 1 " + row.note);
  }
}

TEST_CASE("verify() notes a sent finish_reason that means an incomplete reply") {
  Gateway gateway;
  gateway.chat().reply(text("one two three"));
  gateway.chat().when(user_says("filter")).reply(text("one").finish_reason("content_filter"));
  gateway.chat().when(user_says("tool")).reply(tool_call("f"));
  gateway.chat()
      .when(user_says("cut"))
      .reply(text("one two").finish_reason("length").fault(after_tokens(1), close_connection()));
  const Http http = Http(gateway).allow_incomplete();
  http.chat({{"max_tokens", 1}});
  http.stream({{"max_tokens", 2}});
  http.chat();
  http.chat("filter");
  http.chat("tool");
  Json cut = chat_body("cut");
  cut["stream"] = true;
  http.post(test_support::chat_path, cut);
  REQUIRE(gateway.journal().wait_until_idle(10s));
  CHECK(gateway.verify().notes() ==
        Notes{"exchange 1: finish_reason length was sent", "exchange 2: finish_reason length was sent",
              "exchange 4: finish_reason content_filter was sent", "exchange 6 broke off after token 1 as scripted"});
}

TEST_CASE("notes of scripted faults cover only the given scope, and list up to ten exchanges") {
  Gateway gateway;
  gateway.chat().reply(text("one two three"));
  for (int i = 0; i < 12; ++i) {
    Http(gateway).with_header("x-test", i < 11 ? "many" : "one").chat({{"max_tokens", 1}});
    const std::vector<std::string> notes = gateway.verify().notes();
    CHECK(notes.size() == std::min<std::size_t>(static_cast<std::size_t>(i) + 1, 11));
    if (i == 10) CHECK(notes.back() == "and 1 more exchange with faults, failures or the like");
  }
  REQUIRE(gateway.verify().notes().size() == 11);
  CHECK(gateway.verify().notes().back() == "and 2 more exchanges with faults, failures or the like");
  CHECK(gateway.verify(with_header("x-test", "one")).notes() == Notes{"exchange 12: finish_reason length was sent"});
}

TEST_CASE("an exchange reports which faults of its reply were reached") {
  Gateway gateway;
  gateway.chat().reply(
      text("one two").fault(after_tokens(1), duplicate_event()).fault(after_tokens(9), reset_connection()));
  Http(gateway).stream();
  const Exchange exchange = gateway.journal().last();
  REQUIRE(exchange.outcome() == Outcome::Kind::completed);
  REQUIRE(gateway.journal().wait_until_idle(10s));
  CHECK(exchange.faults() == std::vector<std::string>{"duplicate an event after 1 token",
                                                      "reset the connection after 9 tokens: not reached"});
  CHECK(exchange.summary() ==
        "#1 POST /v1/chat/completions 200 stub \"any request\" completed; fault duplicate an event after 1 token; "
        "fault reset the connection after 9 tokens: not reached");
  CHECK_FALSE(gateway.verify());
}

TEST_CASE("a printed result of several lines ends with a newline, its message does not") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("weather")).reply("Sunny.");
  CHECK(printed(gateway.review()) == "clean: no exchange was recorded");
  Http(gateway).with_header("Origin", "http://x").chat({{"stop", "END"}});
  const Verification verification = gateway.verify();
  CHECK(printed(verification) == verification.message() + "\n");
  CHECK(verification.message().back() != '\n');
  const Review review = gateway.review();
  CHECK(review.findings().size() == 2);
  CHECK(printed(review) == review.message() + "\n");
  const Review one = review.without("stop_as_string");
  CHECK(printed(one) == one.message() + "\n");
  ClientOutcome outcome;
  outcome.text = "else";
  const Verdict verdict = scenario("closed-in-stream").judge(outcome);
  CHECK(printed(verdict) == verdict.message() + "\n");
  outcome.text = "Zürich ";
  outcome.error = true;
  const Verdict handled = scenario("closed-in-stream").judge(outcome);
  CHECK(printed(handled) == handled.message());
}

TEST_CASE("a scenario's verdict escapes control characters, so that different texts look different") {
  const Scenario scenario = mock_gateway::scenario("crlf-line-ends");
  ClientOutcome outcome;
  outcome.text = scenario.text() + "\r\xe2\x80\xae\x9b";
  const std::string message = scenario.judge(outcome).message();
  CHECK(has_part(message, "\\r\\u202e\xef\xbf\xbd\""));
  CHECK_FALSE(has_part(message, "\r"));
  outcome.text = scenario.text();
  outcome.tool_calls = {{"call_1", "f\x1b", "{\"a\":\"\r\"}"}};
  const std::string of_calls = scenario.judge(outcome).message();
  CHECK(has_part(of_calls, "1 tool call: f\\u001b(\"{\\\"a\\\":\\\"\\r\\\"}\")"));
}

TEST_CASE("a scenario's verdict shows where two texts with the same beginning differ") {
  const Scenario scenario = mock_gateway::scenario("event-longer-than-64-kib");
  ClientOutcome outcome;
  outcome.text = scenario.text() + "!";
  CHECK(has_part(scenario.judge(outcome).message(), "  they differ "));
}

inline Stub mount_for(Gateway& gateway, const std::string& word) {
  return gateway.chat().when(user_says(word)).reply("about " + word);
}

TEST_CASE("reports tell stubs from the same source line apart by their matchers") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const Stub weather = mount_for(gateway, "weather");
  const std::string alone = weather.title();
  CHECK_FALSE(has_part(alone, "weather"));
  const Stub time = mount_for(gateway, "time");
  CHECK(weather.title() == alone + " (user text contains \"weather\")");
  CHECK(time.title() == alone + " (user text contains \"time\")");
  const Stub elsewhere = gateway.chat().when(user_says("elsewhere")).reply("x");
  CHECK_FALSE(has_part(elsewhere.title(), "user text"));
  Http(gateway).chat("wether");
  CHECK(has_part(gateway.verify().message(), "never called: " + time.title()));
}

TEST_CASE("a finding explains that a date on a manual clock does not fit the client's clock") {
  // If the gateway's clock is behind the machine's, every date is in the client's past.
  ManualClock clock{TimePoint{std::chrono::hours{24 * 365 * 80}}};
  Gateway gateway{Options{}.clock(clock)};
  gateway.fail_next(rate_limited().retry_after_date(1h));
  Http(gateway).chat();
  Http(gateway).chat();
  const Review review = gateway.review();
  REQUIRE(review.findings().size() == 1);
  CHECK(review.findings()[0].code == "retry_after_ignored");
  CHECK(
      has_part(review.message(), "A client that ignores the Date header compares the date with the machine's clock."));

  Gateway real;
  real.fail_next(rate_limited().retry_after_date(1h));
  Http(real).chat();
  Http(real).chat();
  CHECK(has_part(real.review().message(), "before the date in Retry-After"));
  CHECK_FALSE(has_part(real.review().message(), "not the machine's"));
}

TEST_CASE("a scenario knows whether it happened to an exchange") {
  const auto befalls = [](const char* name, const Json& fields, bool struck_before = false) {
    const Scenario scenario = mock_gateway::scenario(name);
    Gateway gateway{scenario.options()};
    scenario.mount(gateway);
    if (struck_before) gateway.chaos(Chaos(before_headers(), reset_connection()));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat(fields));
    connection.receive_response();
    connection.close();
    static_cast<void>(gateway.journal().wait_until_idle(10s));
    return scenario.happened_to(gateway.journal().last());
  };
  CHECK(befalls("usage-chunk-without-choices", {{"stream", true}}));
  CHECK_FALSE(befalls("usage-chunk-without-choices", {{"stream", false}}));
  CHECK_FALSE(befalls("usage-chunk-without-choices", {{"stream", true}, {"model", "unknown"}}));
  CHECK(befalls("closed-in-stream", {{"stream", true}}));
  CHECK_FALSE(befalls("closed-in-stream", {{"stream", true}}, true));
  CHECK(befalls("server-error-then-answer", {}));
  CHECK_FALSE(befalls("early-hints", {}));
}

TEST_CASE("a scenario has not happened if the client left before the fault, even if the test asks before that") {
  const Scenario scenario = mock_gateway::scenario("closed-in-stream");
  ManualClock clock;
  Gateway gateway{scenario.options(Options{}.clock(clock).pace(Pace().first_token_after(1s)))};
  scenario.mount(gateway);
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gateway.journal().wait_for(1, 10s));
  REQUIRE(clock.wait_for_waits(1, 10s));
  auto happened = std::async(std::launch::async, [&] { return scenario.happened_to(gateway.journal().last()); });
  connection.abort();
  CHECK_FALSE(happened.get());
}

TEST_CASE("at most twenty problems and twenty notes are shown, and the others are counted") {
  for (const std::size_t count : {19U, 20U, 21U, 22U}) {
    CAPTURE(count);
    const std::string more = count > 20 ? std::to_string(count - 20) : "";
    Gateway gateway{Options{}.verify_on_destruction(false)};
    for (std::size_t i = 0; i < count; ++i) gateway.chat().when(user_says("never")).reply("x");
    const Verification noted = gateway.verify();
    CHECK(noted.notes().size() == count);
    CHECK(has_part(noted.message(), " more note") == (count > 20));
    const std::string end = count > 20 ? "\nand " + more + (count == 21 ? " more note" : " more notes") : "";
    CHECK(noted.message().substr(noted.message().size() - end.size()) == end);

    gateway.reset();
    for (std::size_t i = 0; i < count; ++i) gateway.chat().when(user_says("never")).expect(1).reply("x");
    const Verification told = gateway.verify();
    CHECK(told.problems().size() == count);
    CHECK(told.message().find(std::to_string(count) + " problems\n\n") == 0);
    CHECK(has_part(told.message(), "\n\nand " + more + " more") == (count > 20));
  }
}

TEST_CASE("the first twenty unmet expectations and hidden stubs are explained") {
  for (const std::size_t count : {1U, 19U, 20U, 21U, 40U}) {
    CAPTURE(count);
    Gateway gateway{Options{}.verify_on_destruction(false)};
    for (std::size_t i = 0; i < count; ++i) gateway.chat().when(user_says("Hi")).expect(1).reply("x");
    gateway.chat().reply("newest");
    Http(gateway).chat();
    const std::vector<Problem> problems = gateway.verify().problems();
    REQUIRE(problems.size() == count);
    for (std::size_t i = 0; i < count; ++i) CHECK(problems[i].near_misses.size() == (i < 20 ? 1 : 0));

    gateway.reset();
    for (std::size_t i = 0; i < count; ++i) gateway.chat().when(user_says("Hi")).reply("x");
    gateway.chat().reply("newest");
    Http(gateway).chat();
    const std::vector<std::string> notes = gateway.verify().notes();
    REQUIRE(notes.size() == count);
    for (std::size_t i = 0; i < count; ++i)
      CHECK(notes[i].substr(0, notes[i].find(':')) == (i < 20 ? "always hidden" : "never called"));
  }
}

TEST_CASE("one running exchange is reported in the singular, several in the plural") {
  struct Row {
    std::size_t held;   // exchanges that a hold makes wait; notes list up to ten of them
    std::size_t paced;  // exchanges that wait for the pace of their reply
    std::string note;   // the last note of verify()
    std::string open;   // from the text of review()
    std::string under_way;
  };
  const Row rows[] = {
      {0, 1, "1 exchange is still under way", "1 exchange is still open", "1 request is under way"},
      {0, 2, "2 exchanges are still under way", "2 exchanges are still open", "2 requests are under way"},
      {1, 1, "1 more exchange is still under way", "2 exchanges are still open", "2 requests are under way"},
      {1, 2, "2 more exchanges are still under way", "3 exchanges are still open", "3 requests are under way"},
      {11, 0, "1 more exchange is still under way", "11 exchanges are still open", "11 requests are under way"},
      {12, 0, "2 more exchanges are still under way", "12 exchanges are still open", "12 requests are under way"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.held);
    CAPTURE(row.paced);
    ManualClock clock;
    Gate gate;
    Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
    gateway.chat().reply(text("a").first_token_after(1s));
    gateway.chat().when(user_says("held")).reply(text("a").hold(gate, before_event(1)));
    std::vector<RawConnection> clients;
    for (std::size_t i = 0; i < row.held + row.paced; ++i) {
      clients.emplace_back(gateway);
      clients.back().send(Http(gateway).format_chat(Json(i < row.held ? "held" : "paced")));
    }
    REQUIRE(clock.wait_for_waits(row.paced, 10s));
    if (row.held > 0) REQUIRE(gate.wait_until_reached(row.held, 10s));
    REQUIRE(gateway.journal().wait_for(row.held + row.paced, 10s));
    CHECK(gateway.verify().notes().back() == row.note);
    CHECK(has_part(gateway.review().message(), row.open));
    CHECK(gateway.journal().wait_until_idle(0ms).message().find(row.under_way) == 0);
    gate.open();
    clock.advance(1s);
    for (RawConnection& client : clients) CHECK(client.receive_response().complete);
  }
}

TEST_CASE("a stub with too many calls lists twenty exchanges and counts the others") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().expect(0).reply("x");
  const Http http = Http(gateway).keep_alive();
  std::string ids;
  for (int id = 1; id <= 21; ++id) {
    http.chat();
    if (id <= 20) ids += (id == 1 ? " " : ", ") + std::to_string(id);
    const std::string message = gateway.verify().message();
    const std::string expected = (id == 1 ? "\n  exchange" : "\n  exchanges") + ids + (id > 20 ? ", …" : "");
    CHECK(message.substr(message.find('\n')) == expected);
  }
  CHECK(gateway.verify().problems().at(0).exchanges.size() == 21);
}

}  // namespace failure_text_test
