// What goes wrong on a connection before a request and around one, and what the
// gateway knows of a client that leaves.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/timing.hpp"

namespace connection_faults_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::is_within;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;
using test_support::time_of;

constexpr int repeats = 10;

/// 0, or why a connection to this address fails.
int connect_error(const Gateway& gateway) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(gateway.port()));
  inet_pton(AF_INET, gateway.host().c_str(), &address.sin_addr);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const int error = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  ::close(socket);
  return error;
}

/// What a client sees that connects and reads, or sends a request and then
/// reads.
RawConnection::Received seen(const Gateway& gateway, const std::string& request = {}) {
  try {
    RawConnection connection(gateway);
    // Linux tells of a reset once: who writes to it first learns it there, and
    // reads the end of the stream.
    if (!request.empty() && !connection.send(request) && errno == ECONNRESET) return {"", End::reset, true};
    return connection.receive_all();
  } catch (const std::runtime_error& error) {
    // The reset may be faster than the return of connect.
    if (std::string(error.what()).find("reset") == std::string::npos) throw;
    return {"", End::reset, true};
  }
}

std::vector<std::string> hits(const Gateway& gateway) {
  std::vector<std::string> names;
  for (const ConnectionHit& hit : gateway.journal().connection_hits()) names.push_back(hit.fault.to_string());
  return names;
}

std::string with_expect(const std::string& request) {
  return std::string(request).insert(request.find("Content-Length"), "Expect: 100-continue\r\n");
}

std::string head_of(const std::string& request) { return request.substr(0, request.find("\r\n\r\n") + 4); }
std::string body_of(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

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

TEST_CASE(
    "a connection is closed on accept with a FIN, whether its client "
    "speaks or not") {
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

TEST_CASE("something that is no HTTP server has the port: garbage whole, then FIN") {
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

TEST_CASE(
    "connections are struck in the order in which they are accepted, and "
    "each only once") {
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

TEST_CASE(
    "a gateway that refuses connections gives ECONNREFUSED, keeps those "
    "it has, and opens the same port again") {
  Gateway gateway;
  const int port = gateway.port();
  const Http kept = Http(gateway).keep_alive();
  REQUIRE(kept.chat().status == 200);
  for (int run = 0; run < repeats; ++run) {
    gateway.refuse_connections();
    gateway.refuse_connections();
    for (int attempt = 0; attempt < 3; ++attempt) CHECK(connect_error(gateway) == ECONNREFUSED);
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

TEST_CASE(
    "reset opens the port, and a gateway that refuses is stopped as fast "
    "as another") {
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
    CHECK(connect_error(gateway) == ECONNREFUSED);
    return taken;
  }));
}

// --- When reused -----------------------------------------------------------------------------------------------------

TEST_CASE("an idle connection ends as the first byte of its next request arrives") {
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
      // The first byte alone does it.
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

TEST_CASE(
    "a connection that was idle before the fault was queued is struck "
    "too, a new one is not") {
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

TEST_CASE("a connection that is reset when reused has delivered its first reply, however late the client reads it") {
  for (int run = 0; run < repeats; ++run) {
    Gateway gateway;
    gateway.chat().reply(raw_reply(200, std::string(1u << 20, 'x')));
    gateway.next_connection(reset_when_reused());
    test_support::ConnectionOptions small;
    small.receive_buffer = 4096;
    RawConnection connection(gateway, small);
    const std::string request = Http(gateway).format_chat();
    connection.send(request + request);
    REQUIRE(test_support::eventually([&] { return !gateway.journal().connection_hits().empty(); }));
    CHECK(connection.receive_response().complete);
    CHECK(connection.receive_all().end == End::reset);
  }
}

// --- Around a request ------------------------------------------------------------------------------------------------

TEST_CASE(
    "an interim response comes before the reply, byte for byte, and is "
    "no part of it") {
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

TEST_CASE("an interim response has arrived when a fault takes the place of the reply") {
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
  CHECK(hits(gateway).size() == 2);
}

TEST_CASE(
    "a body is read so many bytes after each gap of the gateway's clock, "
    "in each framing") {
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
    // The next request on the connection is read at once.
    connection.send(http.format_chat());
    CHECK(connection.receive_response().status == 200);
  }
}

TEST_CASE(
    "a slow body and the pace of its reply are one schedule, on the "
    "manual and on the instant clock") {
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

TEST_CASE("the sender of a large body is slowed down") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const std::string request = Http(gateway).format_chat(std::string(4u << 20, 'x'));
  gateway.next_connection(slow_body(1u << 18, 1s));
  RawConnection connection(gateway);
  const int small = 65536;
  setsockopt(connection.descriptor(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
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

TEST_CASE(
    "a slow body that nobody advances is ended by the guard, and verify "
    "tells it") {
  ManualClock clock{ManualClock::default_start, 20ms};
  Gateway gateway{Options{}.clock(clock)};
  gateway.next_connection(slow_body(1000, 1s));
  CHECK(Http(gateway).chat().status == 200);
  CHECK(gateway.journal().last().guard_expired());
  const Verification verification = gateway.verify();
  REQUIRE(verification.problems().size() == 1);
  CHECK(verification.problems()[0].kind == Problem::Kind::guard_expired);
}

TEST_CASE(
    "a final status comes before the body, without 100 Continue, and "
    "then FIN") {
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
    // Only the headers; headers and a part of the body; a body larger than the
    // buffers on the way.
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

TEST_CASE("a client that sends its body after an early status still reads it, and then the end") {
  Gateway gateway;
  const std::string request = with_expect(Http(gateway).format_chat());
  for (int run = 0; run < 20; ++run) {
    gateway.next_connection(reply_before_body(unauthorized()));
    RawConnection connection(gateway);
#ifdef TCP_QUICKACK
    // So that the gateway does not wait for the acknowledgement of its answer anyway.
    const int on = 1;
    setsockopt(connection.descriptor(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
#endif
    connection.send(head_of(request));
    REQUIRE(gateway.journal().wait_for(static_cast<std::size_t>(run) + 1, patience));
    REQUIRE(gateway.journal().last().outcome() == Outcome::Kind::completed);
    // A gateway that had closed the connection would answer the first with RST, and the second could not be sent.
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

TEST_CASE("after an early status the body is read, and the connection serves the next request") {
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
      // What looks like a request in the body is none, and the next one is answered as ever.
      connection.send(rest.substr(0, 3));
      connection.send(rest.substr(3) + request);
      CHECK(connection.receive_response().status == 200);
      CHECK(gateway.journal().last().body() == body);
    }
  }
}

TEST_CASE("the connection closes after an early status where nobody knows where its body ends") {
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
  // Only its chunks show that this one is too long, or wrong.
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

// --- The queue -------------------------------------------------------------------------------------------------------

TEST_CASE(
    "faults strike first in, first out: the first waits for a connection "
    "at its place") {
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

TEST_CASE(
    "verify tells the fault that no connection came to, with the line "
    "that queued it") {
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
            std::to_string(line + 3) + ")\n  no connection came to it");
  CHECK(gateway.verify(RequestScope("default key")));
}

TEST_CASE("reset forgets the faults that wait and those that struck") {
  Gateway gateway;
  gateway.next_connection(reset_on_accept(), 2);
  seen(gateway);
  gateway.reset();
  CHECK(gateway.verify());
  CHECK(hits(gateway).empty());
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("every connection is struck until the faults are cleared, after those that were queued") {
  Gateway gateway;
  const Http http(gateway);
  gateway.every_connection(close_on_accept());
  gateway.every_connection(reset_on_accept());  // in place of the other, which is of the same moment
  gateway.next_connection(garbage_on_accept("SSH"));
  CHECK(seen(gateway).bytes == "SSH");
  for (int run = 0; run < repeats; ++run) CHECK(seen(gateway).end == End::reset);
  CHECK(hits(gateway).size() == repeats + 1);
  gateway.clear_connection_faults();
  CHECK(http.chat().status == 200);
  // A connection that is reused has a moment of its own, and so has its request.
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
  // Those that wait are cleared too, and nobody misses them.
  gateway.next_connection(reset_on_accept());
  gateway.every_connection(reset_on_accept());
  gateway.clear_connection_faults();
  CHECK(http.chat().status == 200);
  CHECK(gateway.verify());
}

TEST_CASE("what can never strike is refused where it is written") {
  Gateway gateway;
  CHECK_THROWS_AS(gateway.next_connection(reset_on_accept(), 0), GatewayError);
  CHECK_THROWS_AS(garbage_on_accept(""), GatewayError);
  CHECK_THROWS_AS(slow_body(0, 1s), GatewayError);
  CHECK_THROWS_AS(slow_body(1, 0s), GatewayError);
  CHECK_THROWS_AS(early_hints(wire::Headers{{"X-A", "1\r\nX-B: 2"}}), GatewayError);
}

// --- Bounded waits ---------------------------------------------------------------------------------------------------

/// Brings a connection to where its fault waits for the client or the clock.
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
  // What does not fit the system's buffers is sent until they are full.
  int arrived = 0;
  int times_the_same = 0;
  REQUIRE(test_support::eventually([&] {
    int now = 0;
    ::ioctl(connection.descriptor(), FIONREAD, &now);
    times_the_same = std::exchange(arrived, now) == now ? times_the_same + 1 : 0;
    return times_the_same == 10;
  }));
  return connection;
}

const std::vector<ConnectionFault>& all_faults() {
  // More than the system's buffers hold. A sanitizer looks at each byte.
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

TEST_CASE("a gateway stops at once while a connection is struck") {
  for (const ConnectionFault& fault : all_faults()) {
    CAPTURE(fault.to_string());
    CHECK(is_within(20ms, [&] {
      Gateway gateway{Options{}.clock(ManualClock{})};
      RawConnection connection = pending(gateway, fault);
      return time_of([&] { gateway.stop(); });
    }));
  }
}

TEST_CASE(
    "a slow body ends as soon as its client leaves, and is no exchange "
    "unless it came whole") {
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
      if (!whole) CHECK(gateway.journal().count() == 0);
    }
  }
}

TEST_CASE(
    "a client that closed only its sending side gets the reply to its "
    "slow body") {
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

// --- What the client did ---------------------------------------------------------------------------------------------

TEST_CASE(
    "a departure tells after which event, how long after, how much was "
    "delivered, and how") {
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

TEST_CASE("a departure that shows only in writing tells closed from reset too") {
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
    // More than the client's kernel takes, which has acknowledged the head before.
    REQUIRE(test_support::eventually([&] { return exchange.bytes_sent() > 100'000; }));
    // Closing with bytes unread is a reset, too.
    resets ? connection.abort() : connection.close();
    CHECK(exchange.outcome() == Outcome::Kind::client_left);
    REQUIRE(exchange.departure());
    CHECK(exchange.departure()->how == Departure::How::reset);
    CHECK(exchange.departure()->delivered < exchange.departure()->bytes);
    CHECK(exchange.departure()->bytes < flood.size());
  }
}

TEST_CASE("the time since the last write counts from the last byte, also in the middle of a large body") {
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
  // The client's kernel gives room a while after the client has read.
  REQUIRE(test_support::eventually([&] {
    connection.receive_until([](std::string_view bytes) { return bytes.size() >= 100'000; });
    return exchange.bytes_sent() > sent;
  }));
  connection.abort();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.departure()->after_last_write == 0s);
}

TEST_CASE("who stays has not left") {
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
