// Faults of a connection before a request, the queue of faults, and the record of a client that leaves.
// request_faults_test.cpp tests faults around a request.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/struck_client.hpp"
#include "support/timing.hpp"

namespace connection_faults_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::head_of;
using test_support::Http;
using test_support::is_within;
using test_support::patience;
using test_support::RawConnection;
using test_support::seen;
using test_support::time_of;
namespace net = test_support::net;

constexpr int repeats = 10;

/// Connects to the gateway. Returns 0 or the error number.
int connect_error(const Gateway& gateway) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(gateway.port()));
  inet_pton(AF_INET, gateway.host().c_str(), &address.sin_addr);
  const int socket = net::open(AF_INET, 0);
  const int failed = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = failed == 0 ? 0 : net::last_error();
  net::close(socket);
  return error;
}

std::vector<std::string> hits(const Gateway& gateway) {
  std::vector<std::string> names;
  for (const ConnectionHit& hit : gateway.journal().connection_hits()) names.push_back(hit.fault.to_string());
  return names;
}

// --- On accept -------------------------------------------------------------------------------------------------------

TEST_CASE("a connection is reset on accept, and the next one is served") {
  Gateway gateway;
  const Http http(gateway);
  for (int run = 0; run < repeats; ++run) {
    gateway.next_connection(reset_on_accept(), 2);
    for (const std::string& request : {std::string(), http.format_chat()}) {
      const auto received = seen(gateway, request);
      CHECK(received.bytes == "");
      CHECK(received.end == End::reset);
    }
    CHECK(gateway.journal().connection_hits().size() == static_cast<std::size_t>(2 * run + 2));
    CHECK(http.chat().status == 200);
  }
  CHECK(gateway.journal().count() == repeats);
  CHECK(gateway.journal().connection_hits().back().fault.kind() == ConnectionFault::Kind::reset_on_accept);
  CHECK(gateway.verify());
}

TEST_CASE("a connection is closed on accept with a FIN, even if its client sends") {
  Gateway gateway;
  const Http http(gateway);
  for (int run = 0; run < repeats; ++run) {
    gateway.next_connection(close_on_accept(), 3);
    for (const std::string& request : {std::string(), http.format_chat(), http.format_chat(std::string(200000, 'x'))}) {
      const auto received = seen(gateway, request);
      CHECK(received.bytes == "");
      CHECK(received.end == End::fin);
    }
    CHECK(http.chat().status == 200);
  }
  CHECK(gateway.journal().count() == repeats);
  CHECK(hits(gateway).size() == 3 * repeats);
}

TEST_CASE("a client that connects to a port without HTTP gets all the garbage and then FIN") {
  Gateway gateway;
  const Http http(gateway);
  const std::string binary("\0\xff\x16\x03garbage", 11);
  for (int run = 0; run < repeats; ++run) {
    gateway.next_connection(garbage_on_accept());
    gateway.next_connection(garbage_on_accept(binary));
    const auto banner = seen(gateway);
    CHECK(banner.bytes == "SSH-2.0-OpenSSH_9.2p1\r\n");
    CHECK(banner.end == End::fin);
    const auto bytes = seen(gateway, http.format_chat());
    CHECK(bytes.bytes == binary);
    CHECK(bytes.end == End::fin);
  }
  CHECK(gateway.journal().count() == 0);
}

TEST_CASE("faults apply to connections in the order of accept, one fault each") {
  Gateway gateway;
  for (int run = 0; run < repeats; ++run) {
    for (int i = 0; i < 5; ++i) gateway.next_connection(garbage_on_accept("number " + std::to_string(i)));
    std::vector<RawConnection> connections;
    for (int i = 0; i < 6; ++i) connections.emplace_back(gateway);
    connections[5].send(Http(gateway).format_chat());
    for (int i = 0; i < 5; ++i)
      CHECK(connections[static_cast<std::size_t>(i)].receive_all().bytes == "number " + std::to_string(i));
    CHECK(connections[5].receive_response().status == 200);
  }
}

// --- The port --------------------------------------------------------------------------------------------------------

TEST_CASE("a closed port gives ECONNREFUSED, keeps existing connections, and can be opened again") {
  Gateway gateway;
  const int port = gateway.port();
  const Http kept = Http(gateway).keep_alive();
  REQUIRE(kept.chat().status == 200);
  for (int run = 0; run < repeats; ++run) {
    gateway.refuse_connections();
    gateway.refuse_connections();
    for (int attempt = 0; attempt < 3; ++attempt) CHECK(connect_error(gateway) == net::was_refused);
    CHECK(kept.chat().status == 200);
    CHECK_THROWS_AS(Gateway(Options{}.port(port)), GatewayError);
    gateway.accept_connections();
    CHECK(gateway.port() == port);
    CHECK(Http(gateway).chat().status == 200);
  }
  CHECK(gateway.journal().last().connection_id() > 1);
  CHECK(kept.chat().status == 200);
  CHECK(gateway.journal().last().connection_id() == 1);
}

TEST_CASE("reset() opens the port, and a gateway with a closed port stops as fast as others") {
  CHECK(is_within(50ms, [] {
    Gateway gateway;
    gateway.refuse_connections();
    gateway.reset();
    const Http http(gateway);
    CHECK(http.chat().status == 200);
    RawConnection open(gateway);
    open.send(http.format_chat());
    REQUIRE(open.receive_response().status == 200);
    gateway.refuse_connections();
    const auto taken = time_of([&] { gateway.stop(); });
    CHECK(open.receive_all().end == End::fin);
    gateway.accept_connections();
    gateway.refuse_connections();
    CHECK(connect_error(gateway) == net::was_refused);
    return taken;
  }));
}

// --- When reused -----------------------------------------------------------------------------------------------------

TEST_CASE("an idle connection ends when the first byte of its next request arrives") {
  for (int run = 0; run < repeats; ++run) {
    for (const bool resets : {false, true}) {
      CAPTURE(resets);
      Gateway gateway;
      const Http http(gateway);
      gateway.next_connection(resets ? reset_when_reused() : close_when_reused());
      RawConnection connection(gateway);
      connection.send(http.format_chat());
      CHECK(connection.receive_response().status == 200);
      CHECK(hits(gateway).empty());
      // One byte suffices to trigger the fault.
      connection.send(run % 2 == 0 ? "P" : http.format_chat());
      const auto received = connection.receive_all();
      CHECK(received.bytes == "");
      CHECK(received.end == (resets ? End::reset : End::fin));
      CHECK(hits(gateway) == std::vector<std::string>{resets ? "reset when reused" : "close when reused"});
      CHECK(gateway.journal().connection_hits()[0].connection_id == gateway.journal().last().connection_id());
      CHECK(http.chat().status == 200);
      CHECK(gateway.journal().count() == 2);
      CHECK(gateway.verify());
    }
  }
}

TEST_CASE("a fault on reuse also applies to an already idle connection, but not to a new one") {
  Gateway gateway;
  const Http http(gateway);
  RawConnection idle(gateway);
  idle.send(http.format_chat());
  REQUIRE(idle.receive_response().status == 200);
  gateway.next_connection(close_when_reused());
  CHECK(http.chat().status == 200);
  idle.send(http.format_chat());
  CHECK(idle.receive_all().end == End::fin);
}

/// Returns a connection whose second request triggers the fault while the first reply is unread.
inline RawConnection reused_unread(Gateway& gateway, const ConnectionFault& fault) {
  gateway.chat().reply(raw_reply(200, std::string(1u << 20, 'x')));
  gateway.next_connection(fault);
  test_support::ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection connection(gateway, small);
  const std::string request = Http(gateway).format_chat();
  connection.send(request + request);
  REQUIRE(test_support::eventually([&] { return !gateway.journal().connection_hits().empty(); }));
  return connection;
}

TEST_CASE("a connection that is reset when reused delivers its first reply to a client that reads late" *
          doctest::skip(!test_support::tells_delivery)) {
  for (int run = 0; run < repeats; ++run) {
    Gateway gateway;
    RawConnection connection = reused_unread(gateway, reset_when_reused());
    CHECK(connection.receive_response().complete);
    CHECK(connection.receive_all().end == End::reset);
  }
}

TEST_CASE(
    "a connection that is closed when reused shows the first reply and then the close to a client that reads late") {
  Gateway gateway{Options{}.write_timeout(100ms)};
  RawConnection connection = reused_unread(gateway, close_when_reused());
  // Waits longer than the gateway waits for the client to read.
  const auto hit = std::chrono::steady_clock::now();
  test_support::eventually([&] { return std::chrono::steady_clock::now() - hit >= 300ms; });
  CHECK(connection.receive_response().complete);
  CHECK(connection.receive_all().end == End::fin);
}

// --- The queue -------------------------------------------------------------------------------------------------------

TEST_CASE("faults are used first in, first out: the first fault waits for a connection at its moment") {
  Gateway gateway;
  const Http http(gateway);
  gateway.next_connection(unsolicited_continue());
  gateway.next_connection(reset_on_accept());
  gateway.next_connection(close_when_reused());
  RawConnection connection(gateway);
  connection.send(http.format_chat());
  CHECK(connection.receive_response().status == 100);
  CHECK(connection.receive_response().status == 200);
  connection.send(http.format_chat());
  CHECK(connection.receive_response().status == 200);
  CHECK(seen(gateway).end == End::reset);
  connection.send(http.format_chat());
  CHECK(connection.receive_all().end == End::fin);
  CHECK(hits(gateway) == std::vector<std::string>{"unsolicited 100 Continue", "reset on accept", "close when reused"});
}

TEST_CASE("verify() reports an unused connection fault with the line that queued it") {
  Gateway gateway;
  gateway.next_connection(reset_on_accept(), 3);
  const int line = __LINE__ - 1;
  seen(gateway);
  gateway.next_connection(early_hints());
  const Verification verification = gateway.verify();
  REQUIRE(verification.problems().size() == 2);
  CHECK(verification.problems()[0].kind == Problem::Kind::fault_not_reached);
  CHECK(verification.problems()[0].where.line == line);
  CHECK(verification.problems()[0].text ==
        "a fault was never reached  next connection: reset on accept "
        "(connection_faults_test.cpp:" +
            std::to_string(line) + ")\n  2 of 3 are left");
  CHECK(verification.problems()[1].text ==
        "a fault was never reached  next connection: 103 Early Hints "
        "(connection_faults_test.cpp:" +
            std::to_string(line + 3) + ")\n  no connection reached it");
  CHECK(gateway.verify(RequestScope("default key")));
}

TEST_CASE("reset() forgets queued and used faults") {
  Gateway gateway;
  gateway.next_connection(reset_on_accept(), 2);
  seen(gateway);
  gateway.reset();
  CHECK(gateway.verify());
  CHECK(hits(gateway).empty());
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("a fault for every connection lasts until it is cleared, after the queued faults") {
  Gateway gateway;
  const Http http(gateway);
  gateway.every_connection(close_on_accept());
  gateway.every_connection(reset_on_accept());  // replaces the fault for the same moment
  gateway.next_connection(garbage_on_accept("SSH"));
  CHECK(seen(gateway).bytes == "SSH");
  for (int run = 0; run < repeats; ++run) CHECK(seen(gateway).end == End::reset);
  CHECK(hits(gateway).size() == repeats + 1);
  gateway.clear_connection_faults();
  CHECK(http.chat().status == 200);
  // The reuse of a connection and its request are separate moments.
  gateway.every_connection(unsolicited_continue());
  gateway.every_connection(reset_when_reused());
  for (int run = 0; run < repeats; ++run) {
    RawConnection connection(gateway);
    connection.send(http.format_chat());
    CHECK(connection.receive_response().status == 100);
    CHECK(connection.receive_response().status == 200);
    connection.send("P");
    CHECK(connection.receive_all().end == End::reset);
  }
  gateway.reset();
  CHECK(http.chat().status == 200);
  // Clearing also removes queued faults. verify() does not report them as unused.
  gateway.next_connection(reset_on_accept());
  gateway.every_connection(reset_on_accept());
  gateway.clear_connection_faults();
  CHECK(http.chat().status == 200);
  CHECK(gateway.verify());
}

TEST_CASE("setting an impossible connection fault throws") {
  Gateway gateway;
  CHECK_THROWS_AS(gateway.next_connection(reset_on_accept(), 0), GatewayError);
  CHECK_THROWS_AS(garbage_on_accept(""), GatewayError);
  CHECK_THROWS_AS(slow_body(0, 1s), GatewayError);
  CHECK_THROWS_AS(slow_body(1, 0s), GatewayError);
  CHECK_THROWS_AS(early_hints(wire::Headers{{"X-A", "1\r\nX-B: 2"}}), GatewayError);
}

// --- Bounded waits ---------------------------------------------------------------------------------------------------

/// Opens a connection whose fault waits for the client or the clock.
RawConnection pending(Gateway& gateway, const ConnectionFault& fault) {
  const std::string request = Http(gateway).format_chat();
  gateway.next_connection(fault);
  RawConnection connection(gateway);
  if (fault.moment() == ConnectionFault::Moment::reused) {
    connection.send(request);
    REQUIRE(connection.receive_response().status == 200);
  }
  connection.send(fault.failure() ? head_of(request) : request);
  REQUIRE(test_support::eventually([&] { return !gateway.journal().connection_hits().empty(); }));
  // Waits until the bytes of a large fault fill the system's buffers.
  std::size_t arrived = 0;
  int times_the_same = 0;
  REQUIRE(test_support::eventually([&] {
    const std::size_t now = net::unread(connection.descriptor());
    times_the_same = std::exchange(arrived, now) == now ? times_the_same + 1 : 0;
    return times_the_same == 10;
  }));
  return connection;
}

const std::vector<ConnectionFault>& all_faults() {
  // The size exceeds the system's buffers. It is smaller with sanitizers, which check each byte.
  constexpr std::size_t large = (test_support::sanitized ? 8u : 16u) << 20;
  static const std::vector<ConnectionFault> faults = {reset_on_accept(),
                                                      close_on_accept(),
                                                      garbage_on_accept(),
                                                      garbage_on_accept(std::string(large, 'x')),
                                                      close_when_reused(),
                                                      reset_when_reused(),
                                                      unsolicited_continue(),
                                                      early_hints(),
                                                      slow_body(1, 1h),
                                                      reply_before_body(unauthorized()),
                                                      reply_then_read_body(unauthorized())};
  return faults;
}

TEST_CASE("a gateway stops at once during a connection fault") {
  for (const ConnectionFault& fault : all_faults()) {
    CAPTURE(fault.to_string());
    CHECK(is_within(20ms, [&] {
      Gateway gateway{Options{}.clock(ManualClock{})};
      RawConnection connection = pending(gateway, fault);
      return time_of([&] { gateway.stop(); });
    }));
  }
}

TEST_CASE("a slow body ends when its client leaves, and is malformed unless it is complete") {
  for (const bool whole : {false, true}) {
    for (const bool resets : {false, true}) {
      CAPTURE(whole);
      CAPTURE(resets);
      ManualClock clock;
      Gateway gateway{Options{}.clock(clock)};
      const std::string request = Http(gateway).format_chat();
      CHECK(is_within(20ms, [&] {
        gateway.next_connection(slow_body(1, 1h));
        RawConnection connection(gateway);
        connection.send(whole ? request : request.substr(0, request.size() - 1));
        REQUIRE(clock.wait_for_waits(1, patience));
        return time_of([&] {
          resets ? connection.abort() : connection.close();
          REQUIRE(gateway.journal().wait_until_idle(patience));
        });
      }));
      CHECK((gateway.journal().last().decision() == Decision::Kind::malformed) == !whole);
    }
  }
}

TEST_CASE("a client that half-closes gets the reply to its slow body") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.next_connection(slow_body(1, 1h));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  REQUIRE(clock.wait_for_waits(1, patience));
  connection.shutdown_write();
  CHECK(connection.receive_response().status == 200);
  CHECK(gateway.journal().last().departure()->how == Departure::How::closed);
}

// --- Actions of the client -------------------------------------------------------------------------------------------

TEST_CASE("a departure records the last event, the delay, the delivered bytes and the kind of close") {
  for (int run = 0; run < repeats; ++run) {
    for (const bool resets : {false, true}) {
      CAPTURE(resets);
      ManualClock clock;
      Gateway gateway{Options{}.clock(clock)};
      Gate gate;
      Stub stub = gateway.chat().reply(text("a b c d").every(1s).hold(gate, before_token(3)));
      RawConnection connection(gateway);
      connection.send(Http(gateway).format_chat({{"stream", true}}));
      REQUIRE(clock.wait_for_waits(1, patience));
      clock.advance(1s);
      REQUIRE(gate.wait_until_reached(patience));
      const auto received = connection.receive_until([](std::string_view bytes) {
        return bytes.find("\"content\":\" b\"") != std::string_view::npos && bytes.substr(bytes.size() - 2) == "\r\n";
      });
      REQUIRE(received.found);
      const Exchange exchange = stub.last_call();
      CHECK_FALSE(exchange.departure());
      clock.advance(3s);
      resets ? connection.abort() : connection.close();
      REQUIRE(exchange.wait_for_client_to_leave(patience));
      const std::optional<Departure> departure = exchange.departure();
      REQUIRE(departure);
      CHECK(departure->how == (resets ? Departure::How::reset : Departure::How::closed));
      CHECK(departure->events == 3);
      CHECK(departure->tokens == 2);
      CHECK(departure->bytes == received.bytes.size());
      CHECK(departure->delivered == received.bytes.size());
      CHECK(departure->at == ManualClock::default_start + 4s);
      CHECK(departure->after_last_write == 3s);
      CHECK_FALSE(exchange.reused_connection());
      gate.open();
      clock.advance(1min);
      CHECK(exchange.outcome() == Outcome::Kind::client_left);
      CHECK(exchange.departure()->events == 3);
    }
  }
}

TEST_CASE("a departure noticed while writing distinguishes close and reset too" *
          doctest::skip(!test_support::tells_delivery)) {
  const std::string flood(16u << 20, 'x');
  for (const bool resets : {false, true}) {
    CAPTURE(resets);
    Gateway gateway;
    gateway.chat().reply(failure(200, "", "").body(flood, "text/plain"));
    test_support::ConnectionOptions small;
    small.receive_buffer = 4096;
    RawConnection connection(gateway, small);
    connection.send(Http(gateway).format_chat());
    REQUIRE(gateway.journal().wait_for(1, patience));
    const Exchange exchange = gateway.journal().last();
    // Waits until more is sent than the client's kernel accepts, so that it has acknowledged the head.
    REQUIRE(test_support::eventually([&] { return exchange.bytes_sent() > 100'000; }));
    // Closing with unread bytes also sends a reset.
    resets ? connection.abort() : connection.close();
    CHECK(exchange.outcome() == Outcome::Kind::client_left);
    REQUIRE(exchange.departure());
    CHECK(exchange.departure()->how == Departure::How::reset);
    CHECK(exchange.departure()->delivered < exchange.departure()->bytes);
    CHECK(exchange.departure()->bytes < flood.size());
  }
}

TEST_CASE("the time since the last write counts from the last byte, even inside a large body") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(raw_reply(200, std::string(16u << 20, 'x')));
  test_support::ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection connection(gateway, small);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, patience));
  const Exchange exchange = gateway.journal().last();
  REQUIRE(test_support::eventually([&] { return exchange.bytes_sent() > 100'000; }));
  clock.advance(5s);
  const std::size_t sent = exchange.bytes_sent();
  // Waits, because the client's kernel frees space some time after the client has read.
  REQUIRE(test_support::eventually([&] {
    connection.receive_until([](std::string_view bytes) { return bytes.size() >= 100'000; });
    return exchange.bytes_sent() > sent;
  }));
  connection.abort();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.departure()->after_last_write == 0s);
}

TEST_CASE("a client that stays is not recorded as having left") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  CHECK(http.stream().done());
  CHECK(http.stream().done());
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.reused_connection());
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK_FALSE(exchange.departure());
}

}  // namespace connection_faults_test
