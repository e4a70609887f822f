// Tests with two of something, such as header fields, keys, faults, states or requests on a connection. Code that
// handles only the first fails them.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace second_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::End;
using test_support::has_part;
using test_support::Http;
using test_support::kinds;
using test_support::RawConnection;
using test_support::Response;
using Kind = Problem::Kind;

// --- In a request ----------------------------------------------------------------------------------------------------

TEST_CASE("any of several header fields with the same name identifies a test") {
  Gateway gateway;
  Http(gateway).with_header("X-Test", "other").with_header("X-Test", "mine").chat();
  CHECK(gateway.journal().in(with_header("x-test", "mine")).size() == 1);
  CHECK(gateway.journal().in(with_header("x-test", "other")).size() == 1);
  CHECK(gateway.journal().in(with_header("x-test", "third")).empty());
}

TEST_CASE("a second Transfer-Encoding field is refused") {
  Gateway gateway;
  const Http http = Http(gateway).with_header("Transfer-Encoding", "chunked");
  for (const bool twice : {false, true}) {
    RawConnection connection(gateway);
    connection.send((twice ? http.with_header("Transfer-Encoding", "chunked") : http).format("POST", "/v1/nowhere") +
                    "0\r\n\r\n");
    CHECK(connection.receive_response().status == (twice ? 501 : 404));
  }
}

TEST_CASE("a key is masked in every place of a body, a target and a header section") {
  Gateway gateway;
  const std::string key = gateway.api_key();
  const std::string foreign = "sk-foreign-0123456789abcdef0123456789";
  Http(gateway)
      .with_header("X-Note", key + " and " + key)
      .post("/v1/chat/completions?a=1&token=" + foreign + "&b=" + foreign,
            chat_body({{"user", key + ", " + foreign + ", " + key + ", " + foreign}}));
  const Exchange exchange = gateway.journal().last();
  for (const std::string& text : {exchange.raw(), exchange.body(), exchange.request().target, exchange.as_curl()}) {
    CHECK_FALSE(has_part(text, key));
    CHECK_FALSE(has_part(text, foreign));
  }
  CHECK(exchange.headers().find("X-Note") == "sk-*** and sk-***");
  CHECK(exchange.request().target == "/v1/chat/completions?a=1&token=sk-***&b=sk-***");
  CHECK(exchange.chat().body["user"] == "sk-***, sk-***, sk-***, sk-***");
}

// --- Keys and failures -----------------------------------------------------------------------------------------------

TEST_CASE("keys with the same description form one scope") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const CreatedKey first = gateway.keys().create("team");
  const CreatedKey second = gateway.keys().create("team");
  const CreatedKey other = gateway.keys().create("others");
  for (const CreatedKey& key : {first, second, other}) gateway.chat().when(key_is(key.id)).expect(2).reply("x");
  for (const CreatedKey& key : {first, second, other}) Http(gateway).with_key(key.secret).chat();
  CHECK(gateway.journal().in("team").size() == 2);
  CHECK(kinds(gateway.verify("team")) == std::vector<Kind>{Kind::unmet_expectation, Kind::unmet_expectation});
  CHECK(kinds(gateway.verify(second.id)) == std::vector<Kind>{Kind::unmet_expectation});
}

TEST_CASE("clearing the failures of one key, model or operation keeps those of another") {
  Gateway gateway{Options{}.model("one").model("two")};
  const CreatedKey second = gateway.keys().create("second");
  const std::string first = gateway.keys().list().front().id;
  const Http http(gateway);
  for (const std::string& id : {first, second.id}) gateway.fail_always(server_error(), for_key(id));
  gateway.clear_failures(for_key(first));
  CHECK(http.get("/v1/models").status == 200);
  CHECK(http.with_key(second.secret).get("/v1/models").status == 500);
  for (const char* const model : {"one", "two"}) gateway.fail_always(overloaded(), for_model(model));
  gateway.clear_failures(for_model("one"));
  CHECK(http.chat({{"model", "one"}}).status == 200);
  CHECK(http.chat({{"model", "two"}}).status == 529);
  gateway.fail_always(bad_gateway(), list_models());
  gateway.fail_always(bad_gateway(), chat_completions());
  gateway.clear_failures(list_models());
  CHECK(http.get("/v1/models").status == 200);
  CHECK(http.chat({{"model", "one"}}).status == 502);
}

TEST_CASE("setting the limit of all keys again restarts its window") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const Http http(gateway);
  gateway.keys().limit_rate_for_all(1, 10s);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 429);
  gateway.keys().limit_rate_for_all(1, 20s);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().header("Retry-After") == "20");
}

TEST_CASE("after a window all requests are available again, even if a refused request asks for the number") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock).profile(Profile::openai).limit(2, 10s)};
  const Http http(gateway);
  const std::string remaining = "x-ratelimit-remaining-requests";
  CHECK(http.chat().header(remaining) == "1");
  CHECK(http.chat().header(remaining) == "0");
  gateway.keys().disable(gateway.keys().list().front().id);
  CHECK(http.chat().header(remaining) == "0");
  clock.advance(10s);
  CHECK(http.chat().header(remaining) == "2");
}

// --- In a script -----------------------------------------------------------------------------------------------------

TEST_CASE("a stub waits for the states of several scenarios and changes several states") {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply("neither");
  gateway.chat()
      .in_state("order", "paid")
      .in_state("parcel", "packed")
      .then_state("order", "done")
      .then_state("parcel", "sent")
      .reply("both");
  gateway.set_state("order", "paid");
  CHECK(http.ask("x") == "neither");
  gateway.set_state("order", "started");
  gateway.set_state("parcel", "packed");
  CHECK(http.ask("x") == "neither");
  gateway.set_state("order", "paid");
  CHECK(http.ask("x") == "both");
  CHECK(gateway.state("order") == "done");
  CHECK(gateway.state("parcel") == "sent");
  CHECK(http.ask("x") == "neither");
}

TEST_CASE("a stub without calls reports every state that it waits for") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply("older");
  gateway.chat().named("both").in_state("order", "started").in_state("parcel", "packed").expect(1).reply("x");
  Http(gateway).chat();
  CHECK(has_part(
      gateway.verify().message(),
      ": this one waits for state machine \"order\" to be \"started\" and state machine \"parcel\" to be \"packed\""));
}

TEST_CASE("each unmet should() condition of a request is reported") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().should(temperature_is(0), stream_is(true), has_tool("f")).reply("x");
  Http(gateway).chat({{"temperature", 0}});
  const Verification verification = gateway.verify();
  REQUIRE(kinds(verification) == std::vector<Kind>{Kind::invalid});
  CHECK_FALSE(has_part(verification.message(), "temperature"));
  CHECK(has_part(verification.message(), "stream is true"));
  CHECK(has_part(verification.message(), "has tool \"f\""));
}

TEST_CASE("a second fault that was not reached is reported although the first was reached") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply(
      text("one two three").fault(after_tokens(1), skip_event()).fault(after_tokens(9), reset_connection()));
  CHECK(Http(gateway).stream().joined_text() == "one three");
  const Verification verification = gateway.verify();
  CHECK(kinds(verification) == std::vector<Kind>{Kind::fault_not_reached});
  CHECK(has_part(verification.message(), "reset the connection after 9 tokens"));
}

TEST_CASE("a stub that is called again after the next stub is out of order") {
  Gateway gateway;
  const Http http(gateway);
  const Stub first = gateway.chat().when(user_says("first")).reply("x");
  const Stub second = gateway.chat().when(user_says("second")).reply("x");
  http.chat("first");
  http.chat("second");
  CHECK(called_in_order(first, second));
  http.chat("first");
  CHECK_FALSE(called_in_order(first, second));
  CHECK(first.last_call().id() == 3);
}

TEST_CASE("when the client sends its next request, the stub has finished the previous one") {
  struct Ending {
    const char* what;
    Reply reply;
  };
  const std::vector<Ending> endings = {
      {"an answer", text("a b")},
      {"a failure", server_error()},
      {"a raw reply", raw_reply(200, "{}")},
      {"chunks", chunks({json_chunk({{"a", 1}})})},
      {"a close", text("a b").fault(after_tokens(1), close_connection())},
      {"a reset", text("a b").fault(before_headers(), reset_connection())},
      {"garbage", text("a b").fault(after_tokens(1), garbage("?"))},
      {"an error event", text("a b").fault(after_tokens(1), error_event(server_error()))},
  };
  for (const Ending& ending : endings) {
    for (const bool streamed : {false, true}) {
      CAPTURE(ending.what);
      CAPTURE(streamed);
      Gateway gateway{Options{}.verify_on_destruction(false)};
      const Stub stub = gateway.chat().reply(ending.reply);
      const Http http = Http(gateway).with_header("Connection", "close");
      for (int i = 0; i < 3; ++i) {
        RawConnection connection(gateway);
        connection.send(http.format_chat({{"stream", streamed}}));
        REQUIRE(connection.receive_all().end != End::open);
      }
      CHECK(stub.calls() == 3);
      CHECK(stub.peak_concurrency() == 1);
    }
  }
}

// --- Gates and waits -------------------------------------------------------------------------------------------------

TEST_CASE("a gate that was released twice lets two exchanges pass and holds the third") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(text("a").hold(gate, before_event(1)));
  gate.release();
  gate.release();
  const Http http(gateway);
  CHECK(http.ask("x") == "a");
  CHECK(http.ask("x") == "a");
  RawConnection third(gateway);
  third.send(http.format_chat());
  REQUIRE(gate.wait_until_reached(3, 10s));
  CHECK(gateway.journal().last().outcome(0s) == Outcome::Kind::pending);
  gate.release();
  CHECK(third.receive_response().status == 200);
}

TEST_CASE("a client that left while held uses up no release of the gate") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(text("a").hold(gate, before_token(1)));
  RawConnection first(gateway);
  RawConnection second(gateway);
  const std::string request = Http(gateway).format_chat({{"stream", true}});
  first.send(request);
  REQUIRE(gate.wait_until_reached(1, 10s));
  second.send(request);
  REQUIRE(gate.wait_until_reached(2, 10s));
  first.abort();
  CHECK(gateway.journal().at(1).outcome(10s) == Outcome::Kind::client_left);
  gate.release();
  CHECK(second.receive_response().done());
}

TEST_CASE("a reply with the same gate twice is held twice") {
  Gate gate;
  Gateway gateway;
  const Stub stub = gateway.chat().reply(text("a b c").hold(gate, before_token(2)).hold(gate, before_token(3)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  for (std::size_t i = 1; i <= 2; ++i) {
    REQUIRE(gate.wait_until_reached(i, 10s));
    CHECK(stub.last_call().tokens_sent() == i);
    gate.release();
  }
  CHECK(connection.receive_response().joined_text() == "a b c");
}

TEST_CASE("the clock drops the wait of a departed client, and keeps the others") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a b").every(1s));
  RawConnection first(gateway);
  RawConnection second(gateway);
  const std::string request = Http(gateway).format_chat({{"stream", true}});
  first.send(request);
  REQUIRE(clock.wait_for_waits(1, 10s));
  second.send(request);
  REQUIRE(clock.wait_for_waits(2, 10s));
  first.abort();
  CHECK(gateway.journal().at(1).outcome(10s) == Outcome::Kind::client_left);
  CHECK(clock.waits().size() == 1);
  clock.advance(1s);
  CHECK(second.receive_response().joined_text() == "a b");
  CHECK(clock.waits().empty());
}

TEST_CASE("two waits with the same deadline end in one advance of the clock, and the next waits too") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a b c").every(1s));
  std::vector<RawConnection> connections;
  for (int i = 0; i < 2; ++i) {
    connections.emplace_back(gateway);
    connections.back().send(Http(gateway).format_chat({{"stream", true}}));
  }
  REQUIRE(clock.wait_for_waits(2, 10s));
  for (std::size_t tokens = 2; tokens <= 3; ++tokens) {
    CHECK(clock.advance_to_next_event() == 1s);
    for (const Exchange& exchange : gateway.journal().all()) CHECK(exchange.tokens_sent() == tokens);
  }
  for (RawConnection& connection : connections) CHECK(connection.receive_response().joined_text() == "a b c");
  CHECK(clock.now() == ManualClock::default_start + 2s);
}

// --- Requests on a connection ----------------------------------------------------------------------------------------

TEST_CASE("a client that leaves before the second reply began is recorded without bytes and waiting time") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  Gate gate;
  gateway.chat().reply("first", text("second").hold(gate, before_event(1)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  REQUIRE(connection.receive_response().status == 200);
  REQUIRE(gateway.journal().wait_until_idle(10s));  // waits until the time of the last write is recorded
  clock.advance(1min);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gate.wait_until_reached(10s));
  connection.abort();
  const Exchange exchange = gateway.journal().last();
  REQUIRE(exchange.wait_for_client_to_leave(10s));
  CHECK(exchange.position() == 2);
  CHECK(exchange.departure()->bytes == 0);
  CHECK(exchange.departure()->after_last_write == 0s);
  CHECK_FALSE(exchange.first_byte());
}

TEST_CASE("a client that abandons the second reply on its connection is recorded as having left") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply("first", text("too late").first_token_after(3s));
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat());
  REQUIRE(client.receive_response().status == 200);
  client.send(Http(gateway).format_chat());
  REQUIRE(clock.wait_for_waits(1, 10s));
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.position() == 2);
  client.close();
  REQUIRE(exchange.wait_for_client_to_leave(10s));
  clock.advance(3s);
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
}

TEST_CASE("a guard that ended the first request's slow body is not reported for the second") {
  ManualClock clock{ManualClock::default_start, 20ms};
  Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
  gateway.next_connection(slow_body(1000, 1s));
  const Http http = Http(gateway).keep_alive();
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 200);
  const std::vector<Exchange> exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 2);
  CHECK(exchanges[1].connection_id() == exchanges[0].connection_id());
  CHECK(exchanges[0].guard_expired());
  CHECK_FALSE(exchanges[1].guard_expired());
  CHECK_FALSE(exchanges[1].connection_fault());
}

TEST_CASE("both requests that a client sends before it half-closes record the half-close") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("first").hold(gate, before_event(1)), text("second"));
  RawConnection connection(gateway);
  const std::string request = Http(gateway).format_chat();
  connection.send(request + request);
  connection.shutdown_write();
  REQUIRE(gate.wait_until_reached(10s));
  const Exchange first = gateway.journal().last();
  REQUIRE(first.wait_for_client_to_leave(10s));
  gate.open();
  CHECK(connection.receive_response().text() == "first");
  CHECK(connection.receive_response().text() == "second");
  CHECK(gateway.journal().last().id() == 2);
  CHECK(gateway.journal().last().client_closed_its_side());
}

TEST_CASE("a sweep allows steps without requests between other steps") {
  Gateway gateway;
  const std::string request = Http(gateway).with_header("Connection", "close").format_chat({{"stream", true}});
  std::size_t calls = 0;
  const auto asks_every_other_time = [&] {
    if (++calls > 1 && calls % 2 == 1) return;
    RawConnection connection(gateway);
    connection.send(request);
    connection.receive_all();
  };
  std::vector<std::size_t> exchanges;
  for (const auto& broken : gateway.sweep("a", asks_every_other_time, SweepOptions{}.limit(4)))
    exchanges.push_back(broken.exchanges().size());
  CHECK(exchanges == std::vector<std::size_t>{1, 0, 1, 0});
}

}  // namespace second_test
