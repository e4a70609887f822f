// Records of clients that close early, late or only their sending side, and of slow clients.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <string_view>

#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace leaving_test {

using namespace mock_gateway;
using namespace test_support;
using namespace std::chrono_literals;

/// Returns whether exactly the events up to the first token have arrived. A test reads all of them before it closes:
/// with unread bytes, close() would send RST instead of FIN.
inline bool has_first_token(std::string_view received) {
  const std::size_t token = received.find("\"a\"");
  return token != std::string_view::npos && received.find("\n\n\r\n", token) == received.size() - 4;
}

// --- Early -----------------------------------------------------------------------------------------------------------

TEST_CASE("a client that leaves before its plain reply is recorded as having left") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("too late").first_token_after(3s));
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat());
  REQUIRE(clock.wait_for_waits(1, 10s));
  const Exchange exchange = gateway.journal().last();
  client.close();
  CHECK(exchange.outcome(10s) == Outcome::Kind::client_left);
  CHECK(clock.waits().empty());
  REQUIRE(exchange.departure().has_value());
  CHECK(exchange.departure()->how == Departure::How::closed);
  CHECK(exchange.departure()->delivered == 0);
}

TEST_CASE("a client that leaves before the last token of a stream is recorded as having left") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a b").every(1s));
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(client.receive_until(has_first_token).found);
  REQUIRE(clock.wait_for_waits(1, 10s));
  client.close();
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.outcome(10s) == Outcome::Kind::client_left);
  CHECK(exchange.departure()->tokens == 1);
}

TEST_CASE("a client that leaves during a function of the test is recorded as having left") {
  Gateway gateway;
  RawConnection client(gateway);
  gateway.chat().reply([&](const ChatRequest&) -> Reply {
    client.close();
    return text("nobody reads this");
  });
  client.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 10s));
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.client_closed_its_side());
}

TEST_CASE("a client that leaves a stream of HTTP/1.0 during a wait has left at once") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a b").every(1s));
  RawConnection client(gateway);
  std::string request = Http(gateway).format_chat({{"stream", true}});
  client.send(request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0"));
  REQUIRE(client.receive_until("\"a\"").found);
  REQUIRE(clock.wait_for_waits(1, 10s));
  client.close();
  CHECK(gateway.journal().last().outcome(10s) == Outcome::Kind::client_left);
}

TEST_CASE("a client that half-closes after two requests gets the first reply, and leaves the second") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("first").first_token_after(3s));
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat() + Http(gateway).format_chat());
  client.shutdown_write();
  REQUIRE(clock.wait_for_waits(1, 10s));
  REQUIRE(gateway.journal().last().wait_for_client_to_leave(10s));
  CHECK(gateway.journal().last().outcome(0s) == Outcome::Kind::pending);
  clock.advance(3s);
  CHECK(client.receive_response().text() == "first");
  REQUIRE(gateway.journal().wait_for(2, 10s));
  CHECK(gateway.journal().at(1).outcome(10s) == Outcome::Kind::completed);
  CHECK(gateway.journal().at(2).outcome(10s) == Outcome::Kind::client_left);
  CHECK(client.receive_all().bytes.empty());
}

TEST_CASE("a half-closed client gets a reply that needs no wait") {
  Gateway gateway;
  gateway.chat().reply(text(std::string(4u << 20, 'x')));
  RawConnection client(gateway, {4096});
  client.send(Http(gateway).format_chat());
  client.shutdown_write();
  REQUIRE(gateway.journal().wait_for(1, 10s));
  const Exchange exchange = gateway.journal().last();
  REQUIRE(eventually([&] { return exchange.outcome(0s).waiting == "waiting for the client to read"; }));
  CHECK(exchange.summary().find("pending: waiting for the client to read") != std::string::npos);
  CHECK(client.receive_response().complete);
  CHECK(exchange.outcome() == Outcome::Kind::completed);
}

TEST_CASE("a half-closing client that still reads gets a plain reply that survives this") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("still here").first_token_after(3s).survives_half_close());
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat());
  client.shutdown_write();
  REQUIRE(clock.wait_for_waits(1, 10s));
  const Exchange exchange = gateway.journal().last();
  REQUIRE(exchange.wait_for_client_to_leave(10s));
  clock.advance(3s);
  CHECK(client.receive_response().text() == "still here");
  CHECK(exchange.outcome() == Outcome::Kind::completed);
}

TEST_CASE("a client that closes after [DONE] but before the end of the body counts as served completely") {
  Gateway gateway;
  const Gate gate;
  gateway.chat().reply(text("a b").fault(at_end(), stall(1h)), text("a b").fault(at_end(), stall()),
                       text("a b").fault(at_end(), stall(gate)),
                       text("a b").sse(SseDialect().after_done("more")).hold(gate, before_event(6)));
  for (int i = 0; i < 4; ++i) {
    RawConnection client(gateway);
    client.send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(client.receive_until("data: [DONE]\n\n\r\n").found);
    client.close();
    CHECK(gateway.journal().last().outcome() == Outcome::Kind::completed);
  }
}

TEST_CASE("a client that cancels and asks again gets no error finding") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a b").first_token_after(1h), Reply(rate_limited(60s)), text("a b").first_token_after(1h),
                       "Hello");
  for (int i = 0; i < 2; ++i) {
    RawConnection client(gateway);
    client.send(Http(gateway).format_chat(Json("question " + std::to_string(i))));
    REQUIRE(clock.wait_for_waits(1, 10s));
    client.close();
    REQUIRE(gateway.journal().last().outcome(10s) == Outcome::Kind::client_left);
    CHECK(Http(gateway).chat(Json("question " + std::to_string(i))).complete);
  }
  for (const Finding& finding : gateway.review().findings()) CHECK(finding.severity != Severity::error);
  CHECK(gateway.verify());
}

// --- Inside the body of a plain reply --------------------------------------------------------------------------------

/// Returns whether exactly the head and five bytes of the body have arrived. A test reads all of them before it closes:
/// with unread bytes, close() would send RST instead of FIN.
inline bool has_head_and_five_bytes(std::string_view received) {
  const std::size_t head = received.find("\r\n\r\n");
  return head != std::string_view::npos && received.size() == head + 4 + 5;
}

TEST_CASE("a client that leaves during the body of a plain reply") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const Reply reply = text("one two").fault(after_bytes(5), stall(1s));
  bool survives = false;
  SUBCASE("is recorded as having left") {}
  SUBCASE("is recorded as served completely if the reply survives this, and the client still reads") {
    survives = true;
  }
  gateway.chat().reply(survives ? reply.survives_half_close() : reply);
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat());
  REQUIRE(client.receive_until(has_head_and_five_bytes).found);
  REQUIRE(clock.wait_for_waits(1, 10s));
  const Exchange exchange = gateway.journal().last();
  client.shutdown_write();
  REQUIRE(exchange.wait_for_client_to_leave(10s));
  CHECK(exchange.departure()->how == Departure::How::closed);
  if (!survives) {
    CHECK(exchange.outcome() == Outcome::Kind::client_left);
    return;
  }
  clock.advance(1s);
  client.receive_until("]}");
  CHECK(exchange.outcome() == Outcome::Kind::completed);
}

TEST_CASE("a client that leaves during an error's body need not follow the error's advice") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(Reply(rate_limited(60s)).fault(after_bytes(5), stall(1s)), text("Hello"));
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat());
  REQUIRE(client.receive_until(has_head_and_five_bytes).found);
  REQUIRE(clock.wait_for_waits(1, 10s));
  const Exchange exchange = gateway.journal().last();
  client.close();
  REQUIRE(exchange.outcome(10s) == Outcome::Kind::client_left);
  CHECK(Http(gateway).chat().status == 200);
  CHECK(without_counts(gateway.review().message()) == "clean: 2 exchanges judged");
}

// --- Exchanges that the gateway does not wait for --------------------------------------------------------------------

TEST_CASE("the gateway does not wait for an exchange that survives the FIN of its client, although it is held") {
  Gateway gateway;
  Gate gate(1min);
  const Stub stub = gateway.chat().reply(text("a b").hold(gate, before_token(2)).survives_half_close());
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  REQUIRE_FALSE(gateway.journal().wait_until_idle(0s));
  REQUIRE(client.receive_until(has_first_token).found);
  client.close();
  CHECK(gateway.journal().wait_until_idle(10s));
  CHECK(stub.last_call().outcome(0s) == Outcome::Kind::pending);
  CHECK(without_counts(gateway.review().message()) == "clean: 1 exchange judged");
  CHECK(gateway.verify().message() == "nothing is wrong");

  SUBCASE("stop() then ends the exchange as left by its client") {
    gateway.stop();
    CHECK(stub.last_call().outcome() == Outcome::Kind::client_left);
  }
  SUBCASE("a reset by the client's system then ends the exchange") {
    gate.open();
    CHECK(stub.last_call().outcome() == Outcome::Kind::client_left);
  }
  CHECK(gateway.journal().wait_until_idle(10s));
}

TEST_CASE("the reply to a client that half-closed can be completed") {
  Gateway gateway;
  Gate gate(1min);
  gateway.chat().reply(
      text("a b").hold(gate, before_token(2)).fault(after_tokens(3), close_connection()).survives_half_close());
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat({{"stream", true}}));
  client.shutdown_write();
  REQUIRE(gate.wait_until_reached(10s));
  REQUIRE(gateway.journal().wait_until_idle(10s));
  gate.open();
  CHECK(client.receive_response().done());
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  REQUIRE(gateway.verify().problems().size() == 1);
  CHECK(gateway.verify().problems()[0].kind == Problem::Kind::fault_not_reached);
}

TEST_CASE("the gateway waits for a half-closed client while the client accepts bytes after the hold") {
  Gateway gateway;
  Gate gate(1min);
  // The chunk exceeds the system's buffers for a client that does not read. It is a raw chunk, because counting tokens
  // would take time.
  const StreamChunk large = raw_bytes("data: " + std::string(std::size_t{8} << 20, 'x') + "\n\n");
  gateway.chat().reply(chunks({large}).hold(gate, before_event(1)).survives_half_close());
  ConnectionOptions small;
  small.receive_buffer = 65536;
  RawConnection client(gateway, small);
  client.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  client.shutdown_write();
  REQUIRE(gateway.journal().last().wait_for_client_to_leave(10s));
  REQUIRE(gateway.journal().wait_until_idle(10s));
  gate.open();
  REQUIRE(client.receive_until("xxx", 10s).found);
  CHECK_FALSE(gateway.journal().wait_until_idle(0s));
  CHECK(gateway.journal().last().outcome(0s) == Outcome::Kind::pending);
  client.abort();
  CHECK(gateway.journal().wait_until_idle(10s));
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_left);
}

TEST_CASE("an exchange ends at once if its client leaves after the last byte") {
  Gateway gateway;
  gateway.chat().reply(text("a b").fault(at_end(), stall(1h)));
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat());
  CHECK(client.receive_response().text() == "a b");
  client.close();
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_left);
}

TEST_CASE("reports for a key do not wait for the exchange of a client that left") {
  Gateway gateway;
  Gate gate(1min);
  gateway.chat().reply(text("a b").hold(gate, before_token(2)));
  const CreatedKey key = gateway.keys().create("mine");
  RawConnection client(gateway);
  client.send(Http(gateway).with_key(key.secret).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  REQUIRE(client.receive_until(has_first_token).found);
  client.close();
  REQUIRE(gateway.journal().last().wait_for_client_to_leave(10s));
  CHECK(gateway.verify(RequestScope("mine")).notes().empty());
  CHECK(gateway.review(RequestScope("mine")).open() == 0);
}

// --- Late ------------------------------------------------------------------------------------------------------------

TEST_CASE("closing a stream long after [DONE] is a finding, as is never closing it") {
  Gateway gateway;
  gateway.chat().reply(text("a b").sse([] {
    const SseDialect dialect = SseDialect().open_after_done(true);
    return dialect;
  }()));
  RawConnection client(gateway);
  client.send(Http{gateway}.format_chat({{"stream", true}}));
  REQUIRE(client.receive_until("data: [DONE]\n\n").found);
  REQUIRE(eventually([&] { return codes(gateway.review()) == "stream_left_open"; }));
  client.close();
  REQUIRE(gateway.journal().last().outcome() == Outcome::Kind::completed);
  CHECK(codes(gateway.review()) == "stream_left_open");
}

TEST_CASE("a half-closed client that reads to the end of its stream did not leave it open") {
  Gateway gateway;
  gateway.chat().reply("a b");
  RawConnection client(gateway);
  client.send(Http{gateway}.format_chat({{"stream", true}}));
  client.shutdown_write();
  CHECK(client.receive_response().done());
  CHECK(without_counts(gateway.review().message()) == "clean: 1 exchange judged");
}

// --- Slow ------------------------------------------------------------------------------------------------------------

TEST_CASE("a slow but steady client is not cut off and gets no finding" *
          doctest::skip(!test_support::tells_delivery)) {
  constexpr auto timeout = 400ms;
  // Repeats the test if the machine paused, because the client paused then too.
  bool paused = true;
  for (int i = 0; i < 20 && paused; ++i) {
    Gateway gateway{Options{}.write_timeout(timeout)};
    gateway.chat().reply(text(std::string(8 << 20, 'x')));
    RawConnection client(gateway, {65536});
    client.send(Http{gateway}.format_chat());
    // Each read is much smaller than the space that the system wants free before it allows another write.
    REQUIRE(client.receive_until("HTTP/1.1 200").found);
    paused = false;
    auto last = std::chrono::steady_clock::now();
    const auto end = last + 5 * timeout;
    while (last < end && !paused) {
      const std::size_t count = client.receive_once(16384).size();
      test_support::detail::pause(20ms);
      const auto now = std::chrono::steady_clock::now();
      paused = now - last > timeout / 2;
      if (!paused) REQUIRE(count > 0);
      last = now;
    }
    if (paused) continue;
    CHECK(gateway.journal().last().outcome(0s) == Outcome::Kind::pending);
    client.receive_until([](std::string_view received) { return !received.empty() && received.back() == '}'; });
    CHECK(gateway.journal().last().outcome() == Outcome::Kind::completed);
    CHECK(without_counts(gateway.review().message()) == "clean: 1 exchange judged");
  }
  CHECK_FALSE(paused);
}

// --- Requests before the end of the previous reply -------------------------------------------------------------------

TEST_CASE("a request sent before the end of a stream on its connection is a finding" *
          doctest::skip(!test_support::tells_arrival)) {
  Gateway gateway;
  Gate gate(1min);
  gateway.chat().reply("second");
  gateway.chat().times(1).reply(text("a b").hold(gate, before_token(2)));
  RawConnection client(gateway);
  client.send(Http{gateway}.format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  client.send(Http{gateway}.format_chat(Json("another")));
  const auto sent = std::chrono::steady_clock::now();
  REQUIRE(eventually([&] { return std::chrono::steady_clock::now() - sent > 10ms; }));
  gate.open();
  CHECK(client.receive_response().done());
  CHECK(client.receive_response().text() == "second");
  REQUIRE(without_counts(gateway.review().message()) ==
          "pipelined_request (exchange 2 after 1): sent on a connection whose stream had not finished, so the request "
          "waited for the stream to end. Use another connection, or close the stream first.");
  CHECK(gateway.review().findings()[0].severity == Severity::warning);
  CHECK(gateway.review().findings()[0].fails_review);
}

TEST_CASE("two requests in one packet are a finding if the first reply is a stream, even a short one") {
  Gateway gateway;
  gateway.chat().reply("a");
  RawConnection client(gateway);
  client.send(Http{gateway}.format_chat({{"stream", true}}) + Http{gateway}.format_chat(Json("another")));
  CHECK(client.receive_response().done());
  CHECK(client.receive_response().text() == "a");
  CHECK(codes(gateway.review()) == "pipelined_request");
}

TEST_CASE("a request right after the end of a stream on its connection gets no finding") {
  Gateway gateway;
  gateway.chat().reply("a b");
  const Http http = Http{gateway}.keep_alive();
  for (int i = 0; i < 200; ++i) {
    const Json body = std::to_string(i);
    CHECK((i % 2 == 0 ? http.stream(body).done() : http.chat(body).complete));
  }
  CHECK(without_counts(gateway.review().message()) == "clean: 200 exchanges judged");
}

}  // namespace leaving_test
