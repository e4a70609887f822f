// When the gateway sends the bytes of a reply and how replies break: pace, clocks, gates, faults, SSE dialects.

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;

namespace delivery_test {

std::string streamed(const Gateway& gateway) { return Http(gateway).format_chat({{"stream", true}}); }

std::size_t events_in(std::string_view bytes) {
  std::size_t count = 0;
  for (std::size_t at = bytes.find("data: "); at != std::string_view::npos; at = bytes.find("data: ", at + 1)) ++count;
  return count;
}

/// Receives until `all` contains `count` events.
bool receives(RawConnection& connection, std::string& all, std::size_t count) {
  if (events_in(all) >= count) return true;
  const auto received =
      connection.receive_until([&](std::string_view fresh) { return events_in(all + std::string(fresh)) >= count; });
  all += received.bytes;
  return received.found;
}

// --- Pace on the manual clock ----------------------------------------------------------------------------------------

TEST_CASE("a paced stream advances only with the manual clock, one token per deadline") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  Stub stub = gateway.chat().reply(text("one two three").first_token_after(2s).every(500ms));
  RawConnection connection(gateway);
  connection.send(streamed(gateway));
  std::string all;
  REQUIRE(receives(connection, all, 1));  // the head and the role event are sent at once
  REQUIRE(clock.wait_for_waits(1, patience));
  CHECK(clock.waits()[0].deadline == ManualClock::default_start + 2s);
  clock.advance(1999ms);
  CHECK(stub.last_call().tokens_sent() == 0);
  clock.advance(1ms);
  CHECK(stub.last_call().tokens_sent() == 1);
  CHECK(clock.advance_to_next_event() == 500ms);
  CHECK(stub.last_call().tokens_sent() == 2);
  clock.advance(1h);
  const Exchange exchange = stub.last_call();
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(exchange.tokens_sent() == 3);
  CHECK(exchange.events_sent() == 6);  // role, three tokens, finish, [DONE]
  CHECK(*exchange.ended() - exchange.received() == 3s);
}

TEST_CASE("a plain reply is sent when a stream would send its last token") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("one two three").first_token_after(1s).every(100ms));
  const Http http(gateway);
  auto answer = std::async(std::launch::async, [&] { return http.ask("Hi"); });
  REQUIRE(clock.wait_for_waits(1, patience));
  CHECK(clock.advance_to_next_event() == 1200ms);
  CHECK(answer.get() == "one two three");
}

TEST_CASE("a long advance visits the deadlines of several streams in order") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().when(user_says("slow")).reply(text("a b c").first_token_after(30ms).every(30ms));
  gateway.chat().when(user_says("fast")).reply(text("a b c d e f").first_token_after(20ms).every(20ms));
  const Http http(gateway);
  RawConnection slow(gateway);
  RawConnection fast(gateway);
  slow.send(http.format_chat({{"stream", true}, {"messages", {{{"role", "user"}, {"content", "slow"}}}}}));
  fast.send(http.format_chat({{"stream", true}, {"messages", {{{"role", "user"}, {"content", "fast"}}}}}));
  REQUIRE(clock.wait_for_waits(2, patience));
  clock.advance(1s);
  REQUIRE(gateway.journal().wait_until_idle(patience));
  for (const Exchange& exchange : gateway.journal().all()) {
    const bool is_slow = exchange.body().find("slow") != std::string::npos;
    CHECK(*exchange.ended() == ManualClock::default_start + (is_slow ? 90ms : 120ms));
  }
  CHECK(clock.now() == ManualClock::default_start + 1s);
}

TEST_CASE("the real-time guard ends a forgotten wait on the manual clock, and the exchange records it") {
  ManualClock clock{ManualClock::default_start, 50ms};
  Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
  Stub stub = gateway.chat().reply(text("Hello.").first_token_after(1h));
  CHECK(Http(gateway).ask("Hi") == "Hello.");
  CHECK(stub.last_call().guard_expired());
}

TEST_CASE("a client's sleep of an hour ends when the clock advances") {
  ManualClock clock;
  CHECK_FALSE(clock.wait_for_sleepers(1, 1ms));
  std::thread client([clock]() mutable { clock.sleep_for(1h); });
  REQUIRE(clock.wait_for_sleepers(1, patience));
  CHECK(clock.advance_to_next_event() == 1h);
  client.join();
  CHECK_THROWS_AS(clock.advance_to_next_event(), GatewayError);
  CHECK_THROWS_AS(clock.advance(-1s), GatewayError);
}

TEST_CASE("created and Date show the gateway's time") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  clock.advance(90s);
  const Response response = Http(gateway).chat();
  CHECK(response.json()["created"] == 1704067290);
  CHECK(response.header("Date") == "Mon, 01 Jan 2024 00:01:30 GMT");
}

// --- The instant and the real clock ----------------------------------------------------------------------------------

TEST_CASE("on the instant clock a slow reply is complete at once and records the scripted times") {
  Gateway gateway{Options{}.clock(InstantClock{})};
  Stub stub = gateway.chat().reply(text("one two three").first_token_after(1h).every(1h));
  const auto before = std::chrono::steady_clock::now();
  CHECK(Http(gateway).stream().joined_text() == "one two three");
  CHECK(std::chrono::steady_clock::now() - before < 10s);
  const Exchange exchange = stub.last_call();
  REQUIRE(exchange.outcome() == Outcome::Kind::completed);
  CHECK(*exchange.ended() - exchange.received() >= 3h);
}

TEST_CASE("a stall lasts as long as scripted, even if it begins late") {
  for (const bool streamed : {true, false}) {
    CAPTURE(streamed);
    Gateway gateway{Options{}.clock(InstantClock{})};
    const Stub stub = gateway.chat().reply(
        text("a b c").first_token_after(2h).every(1h).fault(streamed ? after_tokens(2) : before_headers(), stall(10h)));
    CHECK(Http(gateway).chat({{"stream", streamed}}).status == 200);
    const Exchange exchange = stub.last_call();
    REQUIRE(exchange.outcome() == Outcome::Kind::completed);
    CHECK(*exchange.ended() - exchange.received() >= (streamed ? 13h : 10h));
    CHECK(*exchange.ended() - exchange.received() <= 14h);
  }
}

TEST_CASE("on the instant clock a timed stall passes at once, but an unlimited stall waits") {
  Gateway gateway{Options{}.clock(InstantClock{})};
  gateway.chat().reply(text("a b").fault(after_tokens(1), stall(1h)), text("a b").fault(after_tokens(1), stall()));
  CHECK(Http(gateway).stream().joined_text() == "a b");
  RawConnection connection(gateway);
  connection.send(streamed(gateway));
  std::string all;
  REQUIRE(receives(connection, all, 2));
  CHECK(gateway.journal().last().outcome(20ms) == Outcome::Kind::pending);
}

TEST_CASE("on the real clock no token is sent before its time") {
  Gateway gateway;
  gateway.chat().reply(text("a b c d e").first_token_after(20ms).every(10ms));
  const auto before = std::chrono::steady_clock::now();
  CHECK(Http(gateway).stream().joined_text() == "a b c d e");
  CHECK(std::chrono::steady_clock::now() - before >= 60ms);
}

// --- Gates -----------------------------------------------------------------------------------------------------------

TEST_CASE("a gate holds a stream before a token until it is released") {
  Gate gate;
  Gateway gateway;
  Stub stub = gateway.chat().reply(text("a b c d").hold(gate, before_token(2)));
  RawConnection connection(gateway);
  connection.send(streamed(gateway));
  REQUIRE(gate.wait_until_reached(patience));
  std::string all;
  REQUIRE(receives(connection, all, 2));
  CHECK(stub.last_call().tokens_sent() == 1);
  gate.release();
  CHECK(stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK_FALSE(stub.last_call().guard_expired());
}

TEST_CASE("release() lets one exchange pass, open() lets all pass") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(text("a").hold(gate, before_event(1)));
  std::vector<RawConnection> connections;
  for (int i = 0; i < 5; ++i) {
    connections.emplace_back(gateway);
    connections.back().send(streamed(gateway));
  }
  REQUIRE(gate.wait_until_reached(5, patience));
  const auto completed = [&] {
    std::size_t count = 0;
    for (const Exchange& exchange : gateway.journal().all()) count += exchange.outcome(0s) == Outcome::Kind::completed;
    return count;
  };
  gate.release();
  REQUIRE(test_support::eventually([&] { return completed() == 1; }));
  gate.open();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(completed() == 5);
}

TEST_CASE("the guard ends a hold at a forgotten gate, and the exchange records it") {
  Gate gate{50ms};
  Gateway gateway{Options{}.verify_on_destruction(false)};
  Stub stub = gateway.chat().reply(text("a").hold(gate, before_event(1)));
  CHECK(Http(gateway).stream().joined_text() == "a");
  CHECK(stub.last_call().guard_expired());
}

TEST_CASE("a client that leaves while a gate holds its reply is recorded as having left") {
  Gate gate;
  Gateway gateway;
  Stub stub = gateway.chat().reply(text("a b c d").hold(gate, before_token(2)));
  RawConnection connection(gateway);
  connection.send(streamed(gateway));
  REQUIRE(gate.wait_until_reached(patience));
  SUBCASE("by closing") { connection.close(); }
  SUBCASE("by a reset") { connection.abort(); }
  CHECK(stub.last_call().wait_for_client_to_leave(patience));
  CHECK(stub.last_call().tokens_sent() == 1);
  gate.open();
}

TEST_CASE("a client that only closed its sending side still gets a whole reply that survives this") {
  Gate gate;
  Gateway gateway;
  Stub stub = gateway.chat().reply(text("a b").hold(gate, before_token(1)).survives_half_close());
  RawConnection connection(gateway);
  connection.send(streamed(gateway));
  connection.shutdown_write();
  REQUIRE(gate.wait_until_reached(patience));
  CHECK(stub.last_call().wait_for_client_to_leave(patience));
  gate.open();
  CHECK(connection.receive_response().joined_text() == "a b");
  CHECK(stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK(stub.last_call().client_closed_its_side());
}

// --- Faults ----------------------------------------------------------------------------------------------------------

struct Break {
  Trigger trigger;
  std::size_t events;  // the number of complete events that arrive
  bool head;
};

TEST_CASE("a stream breaks exactly at the scripted place, and everything before it arrives") {
  const std::vector<Break> breaks = {
      {before_headers(), 0, false}, {after_headers(), 0, true}, {after_events(1), 1, true}, {after_events(3), 3, true},
      {after_tokens(2), 3, true},   {before_done(), 5, true},   {at_end(), 6, true},
  };
  for (const Effect& effect : {close_connection(), reset_connection()}) {
    for (const Break& where : breaks) {
      CAPTURE(where.trigger.to_string());
      CAPTURE(effect.to_string());
      Gateway gateway;
      Stub stub = gateway.chat().reply(text("one two three").fault(where.trigger, effect));
      RawConnection connection(gateway);
      connection.send(streamed(gateway));
      const auto received = connection.receive_all();
      CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
      CHECK(events_in(received.bytes) == where.events);
      CHECK((received.bytes.find("HTTP/1.1 200 OK") == 0) == where.head);
      CHECK(received.bytes.find("0\r\n\r\n") == std::string::npos);
      const Outcome outcome = stub.last_call().outcome();
      CHECK(outcome == Outcome::Kind::broken_by_fault);
      CHECK(outcome.events == where.events);
    }
  }
}

TEST_CASE("faults inside one event happen in byte order, not in script order") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(
      text("one two three").fault(inside_event(2, 30), reset_connection()).fault(inside_event(2, 10), stall(gate)));
  RawConnection connection(gateway);
  connection.send(streamed(gateway));
  REQUIRE(gate.wait_until_delivered(patience));
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.outcome(0s) == Outcome::Kind::pending);
  gate.open();
  const auto received = connection.receive_all();
  CHECK(received.end == End::reset);
  CHECK(events_in(received.bytes) == 2);  // the second event is incomplete
  CHECK(received.bytes.find("one") == std::string::npos);
  CHECK(exchange.outcome() == Outcome::Kind::broken_by_fault);
}

TEST_CASE("a plain reply breaks before its head, after its head, or after its body") {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply(text("a").fault(before_headers(), close_connection()),
                       text("a").fault(after_headers(), reset_connection()),
                       text("a").fault(at_end(), reset_connection()));
  const auto receive = [&] {
    RawConnection connection(gateway);
    connection.send(http.format_chat());
    return connection.receive_all();
  };
  const auto nothing = receive();
  CHECK(nothing.bytes.empty());
  CHECK(nothing.end == End::fin);
  const auto head = receive();
  CHECK(head.bytes.size() > 4);
  CHECK(head.bytes.substr(head.bytes.size() - 4) == "\r\n\r\n");
  CHECK(head.end == End::reset);
  const auto whole = receive();
  CHECK(whole.bytes.find("\"content\":\"a\"") != std::string::npos);
  CHECK(whole.end == End::reset);
}

TEST_CASE("a failure can have a fault, such as a 503 whose body never arrives") {
  Gateway gateway;
  gateway.chat().reply(Reply(service_unavailable()).fault(after_headers(), close_connection()));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  const auto received = connection.receive_all();
  CHECK(received.bytes.find("HTTP/1.1 503 Service Unavailable\r\n") == 0);
  CHECK(received.bytes.substr(received.bytes.size() - 4) == "\r\n\r\n");
  CHECK(received.end == End::fin);
}

TEST_CASE("a reply continues after a timed stall; an unlimited stall lasts until the client leaves") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  Stub stub = gateway.chat().reply(text("a b").fault(after_tokens(1), stall(1min)),
                                   text("a b").fault(after_tokens(1), stall()));
  RawConnection first(gateway);
  first.send(streamed(gateway));
  REQUIRE(clock.wait_for_waits(1, patience));
  CHECK(stub.last_call().tokens_sent() == 1);
  clock.advance(1min);
  CHECK(first.receive_response().joined_text() == "a b");

  RawConnection second(gateway);
  second.send(streamed(gateway));
  std::string all;
  REQUIRE(receives(second, all, 2));
  clock.advance(24h);
  const Exchange exchange = stub.last_call();
  CHECK(exchange.outcome(20ms) == Outcome::Kind::pending);
  second.close();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.outcome().events == 2);
}

TEST_CASE("a plain request counts as concurrent until its last byte is sent, even if the reply stalls") {
  Gateway gateway;
  Gate gate;
  const Stub stub = gateway.chat().reply(text("one two").fault(after_bytes(5), stall(gate)));
  std::vector<std::future<std::string>> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(std::async(std::launch::async, [&] { return Http(gateway).ask("x"); }));
  REQUIRE(gate.wait_until_reached(2, 10s));
  CHECK(stub.peak_concurrency() == 2);
  gate.open();
  for (auto& client : clients) CHECK(client.get() == "one two");
}

TEST_CASE("a stalled stream does not delay other clients") {
  Gateway gateway;
  gateway.chat().reply("quick");
  gateway.chat().when(user_says("stall")).reply(text("a").fault(after_headers(), stall()));
  std::vector<RawConnection> stalled;
  for (int i = 0; i < 100; ++i) {
    stalled.emplace_back(gateway);
    stalled.back().send(
        Http(gateway).format_chat({{"stream", true}, {"messages", {{{"role", "user"}, {"content", "stall"}}}}}));
  }
  REQUIRE(gateway.journal().wait_for(100, 10s));
  CHECK(Http(gateway).ask("Hi") == "quick");
}

TEST_CASE("setting an impossible fault throws") {
  CHECK_THROWS_AS(after_events(0), GatewayError);
  CHECK_THROWS_AS(after_tokens(0), GatewayError);
  CHECK_THROWS_AS(before_token(0), GatewayError);
  CHECK_THROWS_AS(stall(0s), GatewayError);
  CHECK_THROWS_AS(stall(-1s), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(text("a").every(-1ms)), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(text("a").first_token_after(-1ms)), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(Reply(server_error()).fault(after_tokens(1), close_connection())), GatewayError);
}

// --- Dialects --------------------------------------------------------------------------------------------------------

TEST_CASE("a dialect decides line ends, the space after the colon, [DONE] and the content type") {
  Gateway gateway;
  const SseDialect dialect =
      SseDialect().line_end("\r\n").space_after_colon(false).done(false).content_type("text/event-stream");
  gateway.chat().reply(text("a").sse(dialect));
  const Response response = Http(gateway).stream();
  CHECK(response.header("Content-Type") == "text/event-stream");
  CHECK(response.body.find("data:{\"id\"") == 0);
  CHECK(response.body.find("}\r\n\r\ndata:{") != std::string::npos);
  CHECK(response.body.find("[DONE]") == std::string::npos);
}

TEST_CASE("each event is a separate chunk") {
  Gateway gateway;
  gateway.chat().reply("one two three");
  const Response response = Http(gateway).stream();
  CHECK(response.chunks.size() == response.events().size());
}

// --- Clocks and gates together ---------------------------------------------------------------------------------------

TEST_CASE("a sleeper that an advance has woken no longer counts as a sleeper") {
  ManualClock clock;
  std::thread client([clock]() mutable {
    for (int nap = 0; nap < 200; ++nap) clock.sleep_for(1s);
  });
  for (int nap = 0; nap < 200; ++nap) {
    REQUIRE(clock.wait_for_sleepers(1, patience));
    REQUIRE(clock.advance_to_next_event() == 1s);
  }
  client.join();
  CHECK(clock.now() == ManualClock::default_start + 200s);
}

TEST_CASE("an advance visits each deadline of a paced stream, and an open gate between tokens changes nothing") {
  for (int run = 0; run < 20; ++run) {
    ManualClock clock;
    Gate gate;
    gate.open();
    Gateway gateway{Options{}.clock(clock)};
    Stub stub = gateway.chat().reply(text("a b c d e").first_token_after(1s).every(1s).hold(gate, before_token(2)));
    RawConnection connection(gateway);
    connection.send(streamed(gateway));
    REQUIRE(clock.wait_for_waits(1, patience));
    clock.advance(100s);
    REQUIRE(stub.last_call().outcome() == Outcome::Kind::completed);
    CHECK(*stub.last_call().ended() == ManualClock::default_start + 5s);
  }
}

TEST_CASE("the pace starts when the request is complete, even if the reply function takes long") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply([clock](const ChatRequest&) mutable {
    clock.advance(500ms);
    return text("Hello.").first_token_after(500ms);
  });
  CHECK(Http(gateway).ask("Hi") == "Hello.");
  CHECK(clock.now() == ManualClock::default_start + 500ms);
}

TEST_CASE("an unlimited wait is possible") {
  ManualClock clock{ManualClock::default_start, Duration::max()};
  Gate gate{Duration::max()};
  Gateway gateway{Options{}.clock(clock).read_timeout(Duration::max()).write_timeout(Duration::max())};
  Stub stub = gateway.chat().reply(
      text("a b").first_token_after(1s).hold(gate, before_token(2)).fault(after_tokens(2), close_connection()));
  RawConnection connection(gateway);
  connection.send(streamed(gateway));
  REQUIRE(clock.wait_for_waits(1, Duration::max()));
  clock.advance(1s);
  REQUIRE(gate.wait_until_reached(Duration::max()));
  gate.open();
  CHECK(connection.receive_all().end == End::fin);
  CHECK(stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
  CHECK_FALSE(stub.last_call().guard_expired());
}

TEST_CASE("a hold before a token holds a plain reply as a whole, if the reply has that token") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(text("one two").hold(gate, before_token(3)), text("one two").hold(gate, before_token(2)));
  const Http http(gateway);
  CHECK(http.ask("Hi") == "one two");
  CHECK(gateway.verify().problems().size() == 1);  // there is no third token
  auto answer = std::async(std::launch::async, [&] { return http.ask("Hi"); });
  REQUIRE(gate.wait_until_reached(patience));
  CHECK(gateway.journal().last().bytes_sent() == 0);
  gate.open();
  CHECK(answer.get() == "one two");
}

}  // namespace delivery_test
