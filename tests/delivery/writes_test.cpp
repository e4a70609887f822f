// Writes: events that are due together are sent in one write. Tests what starts a new write. Tests that an exchange
// records at least the bytes that the client has read.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/timing.hpp"

namespace writes_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;

/// Returns how many TCP segments with data the client's kernel has received, or nothing if the system does not report
/// it. Each small write is one segment, because TCP_NODELAY is set.
std::optional<unsigned> segments(const RawConnection& connection) {
#ifdef __linux__
  // The offset of tcpi_data_segs_in in <linux/tcp.h>, which cannot be included: it conflicts with <netinet/tcp.h>,
  // whose tcp_info lacks this field.
  constexpr std::size_t place = 152;
  unsigned char info[256] = {};
  socklen_t size = sizeof info;
  unsigned count = 0;
  if (::getsockopt(connection.descriptor(), IPPROTO_TCP, TCP_INFO, info, &size) == 0 && size >= place + sizeof count) {
    std::memcpy(&count, info + place, sizeof count);
    return count;
  }
#else
  static_cast<void>(connection);
#endif
  return std::nullopt;
}

/// A gateway on a manual clock and a client that has requested a stream from it. Equal replies have equal bytes.
struct Stream {
  explicit Stream(const Reply& reply, test_support::ConnectionOptions options = {})
      : gateway(Options{}.clock(clock).verify_on_destruction(false)),
        stub(gateway.chat().reply(reply)),
        connection(gateway, options) {
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(stub.wait_for_calls(1, patience));
  }

  /// Receives the response and returns its bytes.
  std::string rest() { return connection.receive_response().raw; }
  void check_segments(unsigned expected) const {
    if (const auto count = segments(connection)) CHECK(*count == expected);
  }

  ManualClock clock;
  Gateway gateway;
  Stub stub;
  RawConnection connection;
};

SseDialect gzipped() {
  const SseDialect dialect = SseDialect().gzip(true);
  return dialect;
}

TEST_CASE("a stream without a pace is one segment, or one segment per event if a setting asks for that") {
  for (const Reply& reply : {text("one two"), text("one two").sse(gzipped()), text("one two").every(0s)}) {
    Stream together(reply);
    Stream apart(reply.write_each_event());
    const std::string bytes = together.rest();
    CHECK(bytes == apart.rest());
    CHECK(bytes.size() > 500);
    together.check_segments(1);
    apart.check_segments(7);  // the head, the role, two tokens, the finish, [DONE] and the end of the body
  }
}

TEST_CASE("each event of a stream is a separate chunk") {
  Stream stream(text("one two"));
  const Response response = stream.connection.receive_response();
  std::string_view body = std::string_view(response.raw).substr(response.raw.find("\r\n\r\n") + 4);
  std::size_t chunks = 0;
  for (; body.substr(0, 3) != "0\r\n"; ++chunks) {
    const std::size_t size = std::stoul(std::string(body), nullptr, 16);
    const std::size_t begin = body.find("\r\n") + 2;
    CHECK(body.substr(begin, 6) == "data: ");
    CHECK(body.substr(begin + size - 2, 4) == "\n\n\r\n");
    body.remove_prefix(begin + size + 2);
  }
  CHECK(chunks == 5);
}

TEST_CASE("an HTTP/1.0 client gets a stream without a pace in one segment") {
  Gateway gateway;
  gateway.chat().reply("one two");
  RawConnection connection(gateway);
  std::string request = Http(gateway).format_chat({{"stream", true}});
  request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
  connection.send(request);
  const auto received = connection.receive_all();
  CHECK(received.end == test_support::End::fin);
  CHECK(received.bytes.find("[DONE]") != std::string::npos);
  if (const auto count = segments(connection)) CHECK(*count == 1);
}

TEST_CASE("waits, gates, stalls and pings separate writes") {
  SUBCASE("a wait") {
    Stream stream(text("one two three").first_token_after(1s));
    CHECK(stream.connection.receive_until("\n\n\r\n").found);  // the role event
    REQUIRE(stream.clock.wait_for_waits(1, patience));
    stream.check_segments(1);
    stream.clock.advance(1s);
    CHECK(stream.connection.receive_until("0\r\n\r\n").found);
    stream.check_segments(2);
  }
  SUBCASE("a gate") {
    Gate gate;
    Stream stream(text("one two three").hold(gate, before_token(2)));
    REQUIRE(gate.wait_until_reached(patience));
    CHECK(stream.stub.last_call().tokens_sent() == 1);
    CHECK(stream.connection.receive_until("\"one\"").found);
    gate.open();
    CHECK(stream.connection.receive_until("0\r\n\r\n").found);
    stream.check_segments(2);
  }
  SUBCASE("a stall") {
    Stream stream(text("one two three").fault(after_tokens(2), stall(1s)));
    REQUIRE(stream.clock.wait_for_waits(1, patience));
    CHECK(stream.connection.receive_until("\" two\"").found);
    stream.clock.advance(1s);
    CHECK(stream.connection.receive_until("0\r\n\r\n").found);
    stream.check_segments(2);
  }
  SUBCASE("a ping") {
    const SseDialect dialect = SseDialect().ping_every(1s);
    Stream stream(text("one two three").sse(dialect).first_token_after(2500ms));
    REQUIRE(stream.clock.wait_for_waits(1, patience));
    stream.clock.advance(2500ms);
    CHECK(stream.connection.receive_until("0\r\n\r\n").found);
    stream.check_segments(4);
  }
  SUBCASE("raw bytes") {
    Stream stream(
        chunks({raw_bytes("data: {\"a\""), raw_bytes(":1}\n\n"), json_chunk({{"b", 2}}), json_chunk({{"c", 3}})}));
    CHECK(stream.connection.receive_until("0\r\n\r\n").found);
    stream.check_segments(4);  // the head, each of two raw elements, and the rest
  }
}

/// Reads a connection until the stream ends. Returns the size of each read in bytes.
std::vector<std::size_t> reads_of_stream(const RawConnection& connection) {
  std::string all;
  std::vector<std::size_t> reads;
  while (all.find("\r\n0\r\n\r\n") == std::string::npos) {
    const std::string bytes = connection.receive_once();
    REQUIRE(bytes != "");
    all += bytes;
    reads.push_back(bytes.size());
  }
  return reads;
}

#ifdef __linux__
TEST_CASE("each slice of a reply is a separate read, over IPv4, IPv6 and both") {
  for (const auto& pair : {std::pair("127.0.0.1", "127.0.0.1"), std::pair("::1", "::1"), std::pair("::", "127.0.0.1"),
                           std::pair("::", "::1")}) {
    const auto* const host = pair.first;
    const auto* const address = pair.second;
    CAPTURE(host);
    CAPTURE(address);
    Gateway gateway{Options{}.host(host)};
    gateway.chat().reply(text("one two").slice_writes(7));
    RawConnection connection(address, gateway.port());
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    const std::vector<std::size_t> reads = reads_of_stream(connection);
    CHECK(reads.size() > 100);
    CHECK(*std::max_element(reads.begin(), reads.end()) == 7);
  }
}
#endif

#ifdef __linux__
TEST_CASE("the gateway waits two seconds in total for a client that reads slowly, then sends the rest") {
  Gateway gateway;
  const Stub stub = gateway.chat().reply(text("one two").slice_writes(1));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(stub.wait_for_calls(1, patience));
  const Exchange exchange = stub.last_call();
  int reads = 0;
  const auto took = test_support::time_of([&] {
    while (exchange.outcome(20ms) != Outcome::Kind::completed) {
      REQUIRE(connection.receive_once() != "");
      ++reads;
    }
  });
  CHECK(took >= 1900ms);
  CHECK(reads <= 110);
}

TEST_CASE(
    "the next slice is sent when the client has read the previous slice, without waiting for a delayed "
    "acknowledgement") {
  Gateway gateway;
  gateway.chat().reply(text("one two").slice_writes(200));
  RawConnection connection(gateway);
  std::vector<std::chrono::nanoseconds> times;
  // The system delays each acknowledgement by 40 ms when requests and responses alternate.
  for (int i = 0; i < 40; ++i) {
    times.push_back(test_support::time_of([&] {
      connection.send(Http(gateway).format_chat());
      REQUIRE(connection.receive_response().complete);
    }));
  }
  CHECK(*std::min_element(times.begin() + 20, times.end()) < 20ms);
}
#endif

TEST_CASE("the gateway waits a second in total for a client that does not read, not a second per slice") {
  Gateway gateway;
  const Stub stub = gateway.chat().reply(text("one two").slice_writes(1));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(stub.wait_for_calls(1, patience));
  CHECK(stub.last_call().outcome(10s) == Outcome::Kind::completed);
  CHECK(connection.receive_response().complete);
}

TEST_CASE("a client that has read a whole stream is recorded with all its events") {
  Gateway gateway;
  gateway.chat().reply("one two three");
  RawConnection connection(gateway);
  for (int i = 0; i < 200; ++i) {
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    const Response response = connection.receive_response();
    const Exchange exchange = gateway.journal().last();
    REQUIRE(exchange.bytes_sent() == response.raw.size());
    REQUIRE(exchange.events_sent() == 6);
    REQUIRE(exchange.tokens_sent() == 3);
  }
}

TEST_CASE("the exchange of a client that leaves during a large write records the events that the connection accepted") {
  std::string words;
  for (int word = 0; word < 30'000; ++word) words += "word ";
  const std::string whole = Stream(text(words)).rest();
  test_support::ConnectionOptions small;
  small.receive_buffer = 4096;
  // The connection accepts only a part of the write of six megabytes that one_write() makes.
  for (const Reply& reply : {text(words), text(words).one_write()}) {
    Stream left(reply, small);
    const Exchange exchange = left.stub.last_call();
    CHECK(test_support::eventually([&] { return exchange.bytes_sent() > 100'000; }));
    left.connection.abort();
    REQUIRE(exchange.wait_for_client_to_leave(patience));
    const Departure departure = *exchange.departure();
    REQUIRE(departure.bytes < whole.size());
    const std::string_view taken = std::string_view(whole).substr(0, departure.bytes);
    std::size_t events = 0;
    for (std::size_t at = 0; (at = taken.find("\n\n\r\n", at)) != std::string_view::npos; ++at) ++events;
    CHECK(departure.events == events);
    CHECK(departure.tokens == events - 1);
    CHECK(exchange.outcome() == Outcome::Kind::client_left);
  }
}

}  // namespace writes_test
