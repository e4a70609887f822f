// Faults around a request: unsolicited interim responses, bodies that the gateway reads slowly, replies before the
// body.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/struck_client.hpp"
#include "support/timing.hpp"

namespace request_faults_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::body_of;
using test_support::End;
using test_support::head_of;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::seen;
using test_support::time_of;
using test_support::with_expect;

constexpr int repeats = 10;

TEST_CASE("an interim response comes before the reply and does not change its bytes") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply("Hello.");
  const Http http(gateway);
  const std::string usual = seen(gateway, http.with_header("Connection", "close").format_chat()).bytes;
  const std::size_t bytes = gateway.journal().last().bytes_sent();
  CHECK(bytes == usual.size());
  const auto id = [](std::string raw) { return raw.substr(0, raw.find("\"id\"")); };
  for (int run = 0; run < repeats; ++run) {
    for (const auto& [fault, interim] : std::vector<std::pair<ConnectionFault, std::string>>{
             {unsolicited_continue(), "HTTP/1.1 100 Continue\r\n\r\n"},
             {early_hints(),
              "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; "
              "rel=preload; as=style\r\n\r\n"},
             {early_hints(wire::Headers{{"X-A", "1"}, {"X-A", "2"}}),
              "HTTP/1.1 103 Early Hints\r\nX-A: 1\r\nX-A: 2\r\n\r\n"}}) {
      gateway.next_connection(fault);
      RawConnection connection(gateway);
      connection.send(http.with_header("Connection", "close").format_chat());
      const auto received = connection.receive_all();
      CHECK(received.bytes.substr(0, interim.size()) == interim);
      CHECK(id(received.bytes.substr(interim.size())) == id(usual));
      CHECK(received.bytes.size() == interim.size() + usual.size());
      CHECK(received.end == End::fin);
      const Exchange exchange = gateway.journal().last();
      CHECK(exchange.outcome() == Outcome::Kind::completed);
      CHECK(exchange.bytes_sent() == bytes);
      REQUIRE(exchange.connection_fault());
      CHECK(exchange.connection_fault()->kind() == fault.kind());
    }
  }
  CHECK_FALSE(gateway.journal().at(1).connection_fault());
}

TEST_CASE("an interim response arrives before a fault that replaces the reply") {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  for (int run = 0; run < repeats; ++run) {
    for (const Effect& effect : {close_connection(), reset_connection(), half_close()}) {
      CAPTURE(effect.to_string());
      Gateway gateway;
      gateway.chat().reply(text("a").fault(before_headers(), effect));
      gateway.next_connection(unsolicited_continue());
      const auto received = seen(gateway, Http(gateway).format_chat());
      CHECK(received.bytes == interim);
      CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
    }
  }
}

TEST_CASE("an interim response leaves the connection open for the next request") {
  Gateway gateway;
  const Http http(gateway);
  gateway.next_connection(unsolicited_continue(), 2);
  RawConnection connection(gateway);
  for (const std::vector<int>& statuses : {std::vector<int>{100, 200}, {100, 200}, {200}}) {
    connection.send(http.format_chat());
    for (const int status : statuses) CHECK(connection.receive_response().status == status);
  }
  CHECK(connection.end() == End::open);
  CHECK(gateway.journal().connection_hits().size() == 2);
}

TEST_CASE("a slow body is read in steps on the gateway's clock, with Content-Length and in chunks") {
  const std::string body = test_support::chat_body().dump();
  for (const bool chunked : {false, true}) {
    CAPTURE(chunked);
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock)};
    const Http http(gateway);
    std::string request = http.format_chat();
    std::size_t size = body.size();
    if (chunked) {
      char digits[20];
      std::snprintf(digits, sizeof digits, "%zx", body.size());
      const std::string framed = std::string(digits) + "\r\n" + body + "\r\n0\r\n\r\n";
      size = framed.size();
      request = head_of(request);
      const std::size_t length = request.find("Content-Length");
      request = request.substr(0, length) + "Transfer-Encoding: chunked\r\n\r\n" + framed;
    }
    gateway.next_connection(slow_body(10, 1s));
    RawConnection connection(gateway);
    connection.send(request);
    const std::size_t turns = (size + 9) / 10;
    for (std::size_t turn = 1; turn <= turns; ++turn) {
      REQUIRE(clock.wait_for_waits(1, patience));
      CHECK(clock.waits()[0].name == "a slow body");
      CHECK(gateway.journal().count() == 0);
      CHECK(clock.advance_to_next_event() == 1s);
    }
    CHECK(connection.receive_response().status == 200);
    const Exchange exchange = gateway.journal().last();
    CHECK(exchange.body() == body);
    CHECK(exchange.received() == ManualClock::default_start + std::chrono::seconds(turns));
    CHECK(exchange.connection_fault()->to_string() == "slow body, 10 bytes at a time");
    // The next request on the connection is read without delay.
    connection.send(http.format_chat());
    CHECK(connection.receive_response().status == 200);
  }
}

TEST_CASE("the pace of a reply starts after its slow body on the manual and the instant clock") {
  const auto size = static_cast<std::chrono::seconds::rep>(test_support::chat_body().dump().size());
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a").first_token_after(5s));
  gateway.next_connection(slow_body(1, 1s));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  REQUIRE(clock.wait_for_waits(1, patience));
  CHECK(time_of([&] { clock.advance(1h); }) < 5s);
  CHECK(connection.receive_response().status == 200);
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.received() == ManualClock::default_start + std::chrono::seconds(size));
  CHECK(*exchange.first_byte() == exchange.received() + 5s);
  CHECK_FALSE(exchange.guard_expired());

  Gateway instant{Options{}.clock(InstantClock{})};
  instant.next_connection(slow_body(1, 1h));
  CHECK(time_of([&] { CHECK(Http(instant).chat().status == 200); }) < 5s);
}

TEST_CASE("a slow body slows its sender down") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const std::string request = Http(gateway).format_chat(std::string(4u << 20, 'x'));
  gateway.next_connection(slow_body(1u << 18, 1s));
  RawConnection connection(gateway);
  const int small = 65536;
  test_support::net::set_option(connection.descriptor(), SOL_SOCKET, SO_SNDBUF, small);
  auto sent = std::async(std::launch::async, [&] { return connection.send(request); });
  REQUIRE(clock.wait_for_waits(1, patience));
  CHECK(sent.wait_for(50ms) == std::future_status::timeout);
  for (int turn = 0; turn < 17 && sent.wait_for(0s) == std::future_status::timeout; ++turn) {
    REQUIRE(clock.wait_for_waits(1, patience));
    clock.advance(1s);
  }
  CHECK(test_support::eventually([&] {
    if (clock.wait_for_waits(1, 0s)) clock.advance(1s);
    return gateway.journal().count() == 1;
  }));
  CHECK(sent.get());
  CHECK(connection.receive_response().status == 200);
  CHECK(gateway.journal().last().body().size() > (4u << 20));
}

TEST_CASE("the guard ends a slow body if the test forgets to advance the clock, and verify() reports it") {
  ManualClock clock{ManualClock::default_start, 20ms};
  Gateway gateway{Options{}.clock(clock)};
  gateway.next_connection(slow_body(1000, 1s));
  CHECK(Http(gateway).chat().status == 200);
  CHECK(gateway.journal().last().guard_expired());
  const Verification verification = gateway.verify();
  REQUIRE(verification.problems().size() == 1);
  CHECK(verification.problems()[0].kind == Problem::Kind::guard_expired);
  CHECK(verification.problems()[0].text.find(
            "exchange 1 read its body slowly: the manual clock was not advanced in time") != std::string::npos);
}

TEST_CASE("a reply before the body comes without 100 Continue, and then FIN") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const Http http(gateway);
  const std::string request = with_expect(http.format_chat());
  const std::string body = R"({"error":{"code":"body_too_large","message":"too large","type":"error"}})";
  const std::string expected =
      "HTTP/1.1 413 Content Too Large\r\nContent-Type: "
      "application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nConnection: close\r\n\r\n" + body;
  const std::string large = http.format_chat(std::string(6u << 20, 'x'));
  for (int run = 0; run < repeats; ++run) {
    gateway.next_connection(reply_before_body(failure(413, "body_too_large", "too large")), 3);
    // Sends only the head, the head with a part of the body, or a body that exceeds the buffers.
    for (const std::string& sent : {head_of(request), request.substr(0, request.size() - 5), large}) {
      const auto received = seen(gateway, sent);
      CHECK(received.bytes == expected);
      CHECK(received.end == End::fin);
      const Exchange exchange = gateway.journal().last();
      CHECK(exchange.outcome() == Outcome::Kind::completed);
      CHECK(exchange.decision() == Decision::Kind::forced_failure);
      CHECK(exchange.decision().detail == "413 body_too_large");
      CHECK(exchange.status() == 413);
      CHECK(exchange.body() == "");
      CHECK(exchange.connection_fault()->to_string() == "413 before the body");
    }
  }
}

TEST_CASE("a client that sends its body after an early reply still reads the reply and then the end") {
  Gateway gateway;
  const std::string request = with_expect(Http(gateway).format_chat());
  for (int run = 0; run < 20; ++run) {
    gateway.next_connection(reply_before_body(unauthorized()));
    RawConnection connection(gateway);
#ifdef TCP_QUICKACK
    // The gateway must not wait for the acknowledgement of its response.
    const int on = 1;
    test_support::net::set_option(connection.descriptor(), IPPROTO_TCP, TCP_QUICKACK, on);
#endif
    connection.send(head_of(request));
    REQUIRE(gateway.journal().wait_for(static_cast<std::size_t>(run) + 1, patience));
    REQUIRE(gateway.journal().last().outcome() == Outcome::Kind::completed);
    // A closed connection would answer the first part of the body with RST. Then sending the second part would fail.
    // So this shows that the gateway still reads.
    const std::string body = body_of(request);
    CHECK(connection.send(body.substr(0, body.size() / 2)));
    CHECK(connection.send(body.substr(body.size() / 2)));
    const auto received = connection.receive_all();
    CHECK(received.bytes.find("HTTP/1.1 401 Unauthorized\r\n") == 0);
    CHECK(received.end == End::fin);
  }
}

TEST_CASE("after an early 401 the same request is answered on a new connection") {
  Gateway gateway;
  const std::string request = with_expect(Http(gateway).format_chat());
  gateway.next_connection(reply_before_body(unauthorized()));
  CHECK(seen(gateway, head_of(request)).bytes.find("HTTP/1.1 401 Unauthorized\r\n") == 0);
  RawConnection connection(gateway);
  connection.send(head_of(request));
  CHECK(connection.receive_response().status == 100);
  connection.send(body_of(request));
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("after an early reply the body is read, and the connection serves the next request") {
  Gateway gateway;
  const Http http(gateway);
  const std::string request = http.format_chat();
  const std::string body = body_of(request);
  const std::string chunked = "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunks = "5\r\nabcde\r\n0\r\nx-trailer: 1\r\n\r\n";
  for (const auto& sent : {std::pair{head_of(request), body}, std::pair{chunked, chunks}}) {
    const std::string& head = sent.first;
    const std::string& rest = sent.second;
    CAPTURE(head);
    for (int run = 0; run < 20; ++run) {
      gateway.next_connection(reply_then_read_body(failure(413, "too_large", "too large")));
      RawConnection connection(gateway);
      connection.send(head);
      const auto early = connection.receive_response();
      CHECK(early.status == 413);
      CHECK(early.head.find("\r\nConnection: ") == std::string::npos);
      REQUIRE(gateway.journal().wait_until_idle(patience));
      CHECK(gateway.journal().last().connection_fault()->to_string() == "413 before the body, which is read then");
      CHECK(gateway.journal().last().body().empty());
      // The body looks like a request but is not answered. The next request is answered as usual.
      connection.send(rest.substr(0, 3));
      connection.send(rest.substr(3) + request);
      CHECK(connection.receive_response().status == 200);
      CHECK(gateway.journal().last().body() == body);
    }
  }
}

TEST_CASE("the connection closes after an early reply if the end of the body is unknown") {
  Gateway gateway{Options{}.max_body(1000)};
  const std::string request = Http(gateway).format_chat();
  const std::string head = "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n";
  for (const std::string& sent :
       {head_of(with_expect(request)), head + "Content-Length: 1001\r\n\r\n", head + "Connection: close\r\n\r\n"}) {
    CAPTURE(sent);
    gateway.next_connection(reply_then_read_body(unauthorized()));
    const auto received = seen(gateway, sent);
    CHECK(received.bytes.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(received.end == End::fin);
  }
  // The first chunk shows that this body is too long or invalid.
  for (const char* const chunks : {"3e9\r\n", "zz\r\n"}) {
    CAPTURE(chunks);
    gateway.next_connection(reply_then_read_body(unauthorized()));
    RawConnection connection(gateway);
    connection.send(head + "Transfer-Encoding: chunked\r\n\r\n");
    CHECK(connection.receive_response().status == 401);
    connection.send(chunks);
    CHECK(connection.receive_all().end == End::fin);
  }
}

}  // namespace request_faults_test
