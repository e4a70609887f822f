// Notes of verify(): facts that help an author understand why a test failed.

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/timing.hpp"

namespace notes_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::eventually;
using test_support::has_part;
using test_support::Http;
using test_support::RawConnection;

using Notes = std::vector<std::string>;

TEST_CASE("verify() notes unusual features of a stream") {
  struct Row {
    SseDialect dialect;
    std::string note;
  };
  const SseDialect plain;
  const std::vector<Row> rows = {
      {plain.line_end("\r"), "lines ended with CR"},
      {plain.line_end("\r\n"), "lines ended with CRLF"},
      {plain.space_after_colon(false), "no space followed the colon of a field"},
      {plain.done(false), "[DONE] was left out"},
      {plain.content_type("text/plain"), "the Content-Type was different"},
      {plain.content_type(""), "the Content-Type was different"},
      {plain.byte_order_mark(true), "a byte order mark came first"},
      {plain.event("completion"), "events had a name"},
      {plain.ids(true), "events had an id"},
      {plain.retry(1s), "the first event had a retry field"},
      {plain.multi_line_data(true), "an event had several lines of data"},
      {plain.comment("PROCESSING"), "a comment came before each event"},
      {plain.final_blank_line(false), "the final blank line was left out"},
      {plain.after_done("{}"), "an event followed [DONE]"},
      {plain.open_after_done(true), "the stream stayed open after its end"},
      {plain.trailer("x-a: b"), "trailer fields followed the last chunk"},
      {plain.gzip(true), "the stream was compressed"},
      {plain.line_end("\r\n").done(false).final_blank_line(false),
       "lines ended with CRLF, [DONE] was left out, the final blank line was left out"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.note);
    Gateway gateway;
    gateway.chat().reply(text("one two").sse(row.dialect));
    Http(gateway).chat();  // a plain reply has no events
    RawConnection client(gateway);
    client.send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(
        client.receive_until([](std::string_view bytes) { return bytes.find("two") != std::string_view::npos; }).found);
    client.close();
    REQUIRE(gateway.journal().wait_until_idle(10s));
    const Verification verification = gateway.verify();
    CHECK(verification);
    CHECK(verification.notes() == Notes{"exchange 2: " + row.note});
  }
  Gateway gateway;
  gateway.chat().reply(text("one two").sse(plain.ping_every(1h).ping(": still here")));
  Http(gateway).stream();
  CHECK(gateway.verify().notes().empty());
}

TEST_CASE("verify() notes only the fault of a stream that broke off, not its missing end") {
  Gateway gateway;
  gateway.chat().reply(text("one two three")
                           .sse(SseDialect().line_end("\r").done(false).final_blank_line(false))
                           .fault(after_tokens(2), close_connection()));
  Http(gateway).allow_incomplete().stream();
  REQUIRE(gateway.journal().wait_until_idle(10s));
  CHECK(gateway.verify().notes() == Notes{"exchange 1 broke off after token 2 as scripted, lines ended with CR"});
}

TEST_CASE("verify() notes several choices, and several tool calls in one choice") {
  Gateway gateway;
  gateway.chat().reply("one");
  gateway.chat().when(user_says("two")).reply(choices("one", "two"));
  gateway.chat().when(user_says("call")).reply(tool_call("f").tool_call("g").tool_call("h"));
  gateway.chat().when(user_says("short")).reply(choices("one", text("two").finish_reason("length")));
  Http(gateway).stream();
  Http(gateway).chat({{"n", 3}});
  const auto ask = [&](const char* said) {
    return Http(gateway).chat({{"n", 2}, {"messages", {{{"role", "user"}, {"content", said}}}}});
  };
  ask("two");
  Http(gateway).chat("call");
  ask("short");
  CHECK(gateway.verify().notes() == Notes{"exchange 2: 3 choices were sent", "exchange 3: 2 choices were sent",
                                          "exchange 4: 3 tool calls were sent in one choice",
                                          "exchange 5: finish_reason length was sent, 2 choices were sent"});
}

TEST_CASE("verify() notes which exchanges got a failure, and which keys were refused") {
  Gateway gateway;
  const CreatedKey removed = gateway.keys().create("billing service");
  const CreatedKey disabled = gateway.keys().create("sk-0123456789abcdefghijklmnop");
  gateway.keys().remove(removed.id);
  gateway.keys().disable(disabled.id);
  const CreatedKey lister = gateway.keys().create("", KeyOptions{}.operations({list_models()}).secret("sk-lister"));
  gateway.chat().reply(rate_limited(), raw_reply(503, "busy", "text/plain"), "well");
  gateway.fail_next(server_error());
  for (int i = 0; i < 4; ++i) Http(gateway).chat();
  Http(gateway).with_key(removed.secret).chat();
  Http(gateway).with_key(disabled.secret).chat();
  Http(gateway).with_key("sk-of-nobody").chat();
  Http(gateway).with_key(lister.secret).chat();
  Http(gateway).without_key().chat();
  Http(gateway).chat({{"temperature", "hot"}});  // refused; review() reports it
  const Notes notes = gateway.verify().notes();
  CHECK(notes ==
        Notes{"exchange 1 was answered with 500 internal_error, a forced failure",
              "exchange 2 was answered with 429 rate_limit_exceeded as scripted",
              "exchange 3 was answered with 503 as scripted",
              "exchange 5 was refused with 401 unauthorized, key \"billing service\": the key is deleted",
              "exchange 6 was refused with 403 unauthorized, key \"sk-***\": the key is disabled",
              "exchange 7 was refused with 401 unauthorized: the gateway has no such key",
              "exchange 8 was refused with 403 unauthorized, key \"key_4\": the key may not use this operation",
              "exchange 9 was refused with 401 unauthorized: no key was sent"});
}

TEST_CASE("verify() notes refusals by limits and unknown models; other failures are problems") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const CreatedKey limited = gateway.keys().create("limited");
  gateway.keys().limit_rate(limited.id, 1, 1h);
  gateway.chat().when(user_says("Hi")).reply("well");
  gateway.chat().when(user_says("secret")).never();
  for (int i = 0; i < 2; ++i) Http(gateway).with_key(limited.secret).chat("Hi");
  Http(gateway).chat({{"model", "unknown"}});
  Http(gateway).chat("a secret");  // a problem, like the next request
  Http(gateway).chat("no stub");
  gateway.chaos(Chaos(server_error()));
  Http(gateway).chat("Hi");  // reported in the note about chaos
  const Notes notes = gateway.verify().notes();
  REQUIRE(notes.size() == 3);
  CHECK(notes[0].find("chaos: ") == 0);
  CHECK(notes[1] ==
        "exchange 2 was refused with 429 rate_limit_exceeded, key \"limited\": The rate limit is exceeded. "
        "Try again after the time in Retry-After.");
  CHECK(notes[2] == "exchange 3 was refused with 404 model_not_found, key \"default key\"");
}

TEST_CASE("verify() notes connections with a fault, up to ten of them") {
  Gateway gateway;
  gateway.chat().reply("well");
  gateway.next_connection(close_when_reused());
  RawConnection client(gateway);
  for (int i = 0; i < 2; ++i) {
    client.send(Http(gateway).format_chat());
    client.receive_response();
  }
  CHECK(gateway.verify().notes() == Notes{"connection 1 had a scripted fault: close when reused"});
  CHECK(gateway.verify(RequestScope(gateway.keys().list().front().id)).notes().empty());  // it belongs to no key
  gateway.every_connection(close_on_accept());
  for (int i = 0; i < 12; ++i) RawConnection(gateway).receive_all();
  REQUIRE(eventually([&] { return gateway.journal().connection_hits().size() == 13; }));
  CHECK(gateway.verify().notes().size() == 11);
  CHECK(gateway.verify().notes().back() == "and 3 more connections with scripted faults");
}

TEST_CASE("during a hang verify() reports what exchanges wait for, and how many others are under way") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("a b c").fault(after_tokens(2), stall()));
  gateway.chat().when(user_says("held")).reply(text("a").hold(gate, before_token(1)));
  std::promise<void> go_on;
  std::promise<void> called;
  gateway.chat().when(user_says("function")).reply([&](const ChatRequest&) {
    called.set_value();
    go_on.get_future().wait();
    return text("a");
  });
  RawConnection stalled(gateway);
  stalled.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(stalled.receive_until(" b").found);
  RawConnection waiting(gateway);
  waiting.send(Http(gateway).format_chat("held"));
  REQUIRE(gate.wait_until_reached(10s));
  RawConnection busy(gateway);
  busy.send(Http(gateway).format_chat("function"));
  called.get_future().wait();
  const Verification verification = gateway.verify();
  go_on.set_value();
  CHECK(verification);
  CHECK(verification.open() == 3);
  const Notes notes = verification.notes();
  REQUIRE(notes.size() == 4);
  CHECK(notes[0].find("never called: ") == 0);  // the running function's stub counts no call yet
  CHECK(notes[1].find("exchange 1 stalls as scripted after token 2, for ") == 0);
  CHECK(notes[2].find("exchange 2 is held as scripted before token 1, for ") == 0);
  CHECK(notes[3] == "1 more exchange is still under way");
  CHECK(verification.message().find("nothing is wrong\n") == 0);
  // A verification for one key notes only that key's exchanges.
  CHECK(gateway.verify(with_header("x-test", "other")).notes().empty());
  gateway.stop();
}

TEST_CASE("verify() notes the test's own stubs, not those that a catalogue scenario mounts") {
  for (const char* name : {"closed-in-stream", "server-error-then-answer", "crlf-line-ends"}) {
    CAPTURE(name);
    const Scenario scenario = mock_gateway::scenario(name);
    Gateway gateway{scenario.options()};
    scenario.mount(gateway);
    CHECK(gateway.verify().notes().empty());
    Http(gateway).allow_incomplete().chat();
    for (const std::string& note : gateway.verify().notes()) {
      CHECK_FALSE(has_part(note, "never called"));
      CHECK_FALSE(has_part(note, "hidden"));
      CHECK_FALSE(has_part(note, "catalogue.cpp"));
    }
    gateway.chat().named("mine").when(user_says("mine")).reply("x");
    CHECK(has_part(gateway.verify().message(), "never called: \"mine\""));
  }
}

TEST_CASE("verify() ignores the stubs of every scenario of the catalogue") {
  for (const Scenario& scenario : catalogue()) {
    CAPTURE(scenario.name());
    Gateway gateway{scenario.options()};
    scenario.mount(gateway);
    CHECK(gateway.verify().message().find("called") == std::string::npos);
  }
}

TEST_CASE("verify() and review() return at once in a reply function, although its request is under way") {
  Gateway gateway;
  std::size_t open = 0;
  Duration took{};
  gateway.chat().reply([&](const ChatRequest&) {
    const auto began = std::chrono::steady_clock::now();
    open = gateway.verify().open();
    CHECK(gateway.review());
    took = std::chrono::steady_clock::now() - began;
    return text("well");
  });
  CHECK(test_support::is_within(
      1s,  // verify() and review() would each wait this long
      [&] {
        CHECK(Http(gateway).ask("Hi") == "well");
        CHECK(open == 1);
        return took;
      },
      1));
}

// --- A gateway shared by several tests -------------------------------------------------------------------------------

/// Returns the text that an adapter prints at the end of a failed test.
inline std::string told_of_failed_test() {
  std::string told;
  for (const detail::TestNotes& notes : detail::take_notes()) told += notes.text + "\n";
  return told;
}

TEST_CASE("a failed test reports chaos in its own requests, not in earlier tests") {
  Gateway gateway{Options{}.seed(7)};
  gateway.chat().reply("well");
  gateway.chaos(Chaos(server_error()).first(1));
  Http(gateway).chat();
  CHECK(has_part(told_of_failed_test(), "chaos: seed 7, 1 rule, 1 of 1 request struck"));
  detail::pass_over_notes();
  CHECK(told_of_failed_test().empty());
  detail::pass_over_notes();
  Http(gateway).chat();
  CHECK(has_part(told_of_failed_test(), "chaos: seed 7, 1 rule, 1 of 2 requests struck"));
  detail::pass_over_notes();
  gateway.clear_chaos();
  detail::pass_over_notes();
  Http(gateway).chat();
  CHECK(told_of_failed_test().empty());
  // An explicit call still reports it.
  CHECK(has_part(gateway.verify().message(), "no rules left, 1 of 2 requests struck"));
}

TEST_CASE("each failed test counts its own further exchanges with notes, not those of earlier tests") {
  Gateway gateway;
  gateway.chat().reply(text("one").finish_reason("length"));
  for (int test = 0; test < 3; ++test) {
    CAPTURE(test);
    detail::pass_over_notes();
    for (int i = 0; i < 12; ++i) Http(gateway).chat();
    const std::string told = told_of_failed_test();
    CHECK(std::count(told.begin(), told.end(), '\n') == 11);
    CHECK(has_part(told, "exchange " + std::to_string(12 * test + 1) + ": finish_reason length was sent\n"));
    CHECK(has_part(told, "exchange " + std::to_string(12 * test + 10) + ": finish_reason length was sent\n"));
    CHECK(has_part(told, "\nand 2 more exchanges with faults, failures or the like\n"));
    CHECK(told_of_failed_test().empty());  // an adapter in several files asks once per file
  }
}

TEST_CASE("a failed test reports its own connection faults, not those of earlier tests") {
  Gateway gateway;
  const auto strike = [&](std::size_t count) {
    const std::size_t before = gateway.journal().connection_hits().size();
    for (std::size_t i = 0; i < count; ++i) RawConnection(gateway).receive_all();
    REQUIRE(eventually([&] { return gateway.journal().connection_hits().size() == before + count; }));
  };
  gateway.every_connection(close_on_accept());
  strike(12);
  const std::string first = told_of_failed_test();
  CHECK(has_part(first,
                 "connection 10 had a scripted fault: close on accept\nand 2 more connections with scripted faults\n"));
  detail::pass_over_notes();
  strike(1);
  CHECK(told_of_failed_test() == "connection 13 had a scripted fault: close on accept\n");
  detail::pass_over_notes();
  CHECK(told_of_failed_test().empty());
}

TEST_CASE("a long wait is noted once while it lasts and once at its end") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("a b c").fault(after_tokens(2), stall(gate)));
  detail::pass_over_notes();
  RawConnection stalled(gateway);
  stalled.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(stalled.receive_until(" b").found);
  const std::string stalls = "exchange 1 stalls as scripted after token 2, for ";
  const Verification first = gateway.verify();
  REQUIRE(has_part(first.message(), stalls));  // the test prints it
  REQUIRE(eventually(
      [&] { return gateway.verify().notes() != first.notes(); }));  // the note changes a tenth of a second later
  CHECK(told_of_failed_test().empty());
  gate.open();
  REQUIRE(stalled.receive_until("[DONE]").found);
  REQUIRE(gateway.journal().wait_until_idle(10s));
  detail::pass_over_notes();
  CHECK(told_of_failed_test().empty());  // it belongs to an earlier test
  CHECK(gateway.verify().notes() == Notes{"exchange 1 stalled after token 2 as scripted"});
}

TEST_CASE("a failed test reports its own tolerated findings, each once") {
  ManualClock clock;
  Options options = Options{}.clock(clock).verify_on_destruction(false);
  const std::string finding =
      "asked_again_early (exchange 2 after 1): sent the same request again after 20 s, as a new call "
      "(x-stainless-retry-count: 0); Retry-After was 60 s. Make the retry loop around the client wait as long as the "
      "header says. Ignore this if the test repeats the request on purpose.\n";
  const auto ask = [&](const Gateway& gateway) {
    Http(gateway).with_header("x-stainless-retry-count", "0").chat({{"stop", "x"}});  // this finding fails a review
    clock.advance(20s);
  };
  std::optional<Gateway> gateway{std::in_place, options};
  gateway->chat().reply(rate_limited(60s));
  detail::pass_over_notes();
  for (int i = 0; i < 2; ++i) ask(*gateway);
  const Review review = gateway->review();
  CHECK_FALSE(review.without("asked_again_early"));
  const std::string told = told_of_failed_test();
  CHECK(has_part(told, finding));
  CHECK_FALSE(has_part(told, "stop_as_string"));
  detail::pass_over_notes();
  CHECK_FALSE(has_part(told_of_failed_test(), "asked_again_early"));  // it belongs to an earlier test

  detail::pass_over_notes();
  ask(*gateway);
  CHECK(has_part(gateway->review().message(), "(1 more like it, the last in exchange 3)"));  // the test prints it
  CHECK_FALSE(has_part(told_of_failed_test(), "asked_again_early"));

  detail::want_notes();  // as an adapter does
  detail::pass_over_notes();
  ask(*gateway);
  gateway.reset();
  const std::string after_its_end = told_of_failed_test();
  CHECK(has_part(after_its_end, "asked_again_early (exchange 4 after 3)"));
  CHECK_FALSE(has_part(after_its_end, "(exchange 3 after 2)"));

  detail::pass_over_notes();
  gateway.emplace(options);
  gateway->chat().reply(rate_limited(60s));
  for (int i = 0; i < 30; ++i) ask(*gateway);
  const std::string often = told_of_failed_test();
  CHECK(has_part(often, "asked_again_early (exchange 2 after 1)"));
  CHECK(has_part(often, "on purpose. (28 more like it, the last in exchange 30)\n"));
  CHECK(has_part(often, "\nexchange 1 was answered with 429 "));
  CHECK(told_of_failed_test().empty());  // an adapter in several files asks once per file
  detail::pass_over_notes();
  CHECK_FALSE(has_part(told_of_failed_test(), "asked_again_early"));

  detail::pass_over_notes();
  gateway.emplace(options.without_finding("asked_again_early"));
  gateway->chat().reply(rate_limited(60s));
  for (int i = 0; i < 2; ++i) ask(*gateway);
  CHECK_FALSE(has_part(told_of_failed_test(), "asked_again_early"));
  detail::pass_over_notes();
}

TEST_CASE("reset() clears the notes of a gateway") {
  Gateway gateway{Options{}.seed(7)};
  const auto ask = [&] {
    gateway.chat().reply("well");
    gateway.chaos(Chaos(server_error()).first(1));
    Http(gateway).chat();
    return told_of_failed_test();
  };
  detail::pass_over_notes();
  const std::string first = ask();
  CHECK(has_part(first, "1 of 1 request struck"));
  detail::pass_over_notes();
  gateway.reset();
  CHECK(ask() == first);
}

}  // namespace notes_test
