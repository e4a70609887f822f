#pragma once

// Replies without faults, from which tests of faults and dialects build the expected bytes. This works because every
// gateway sends identical replies.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client.hpp"
#include "mock_gateway.hpp"
#include "printing.hpp"

namespace test_support {

/// The last chunk.
constexpr const char* terminator = "0\r\n\r\n";

/// Returns an HTTP chunk with these bytes. If `missing` is not 0, the chunk announces that many more bytes and ends
/// without them and without its line end.
inline std::string http_chunk(std::string_view bytes, std::size_t missing = 0) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size() + missing);
  return size + std::string(bytes) + (missing == 0 ? "\r\n" : "");
}

/// A gateway with a stopped clock and one scripted reply, and a connection on which one request was sent.
struct OneExchange {
  using Change = std::function<std::string(std::string request)>;

  explicit OneExchange(
      const mock_gateway::Reply& reply, bool streamed,
      const Change& change = [](std::string request) { return request; })
      : gateway(mock_gateway::Options{}.clock(clock).verify_on_destruction(false)),
        stub(gateway.chat().reply(reply)),
        connection(gateway) {
    connection.send(
        change(Http(gateway).format_chat(streamed ? mock_gateway::Json{{"stream", true}} : mock_gateway::Json{})));
  }

  /// Receives `size` bytes and checks that the gateway sent no more.
  std::string receive(std::size_t size) {
    const auto received = connection.receive_until([&](std::string_view bytes) { return bytes.size() >= size; });
    REQUIRE(gateway.journal().wait_for(1, std::chrono::seconds(5)));
    all += received.bytes;
    const std::size_t expected = all.size();
    CHECK(eventually([&] { return gateway.journal().last().bytes_sent() == expected; }));
    return received.bytes;
  }

  mock_gateway::ManualClock clock;
  mock_gateway::Gateway gateway;
  mock_gateway::Stub stub;
  RawConnection connection;
  std::string all;
};

/// A reply without faults, split into the parts that the gateway writes: the head, and either the events or the body.
struct Whole {
  std::string head;
  std::vector<std::string> pieces;
  bool chunked;

  /// Returns the bytes before byte `part` of piece `whole`; both count from 0.
  std::string up_to(std::size_t whole, std::size_t part, bool announces_all = false) const {
    std::string bytes = head;
    for (std::size_t i = 0; i < whole; ++i) bytes += framed(pieces[i]);
    if (part > 0) bytes += framed(pieces[whole].substr(0, part), announces_all ? pieces[whole].size() - part : 0);
    return bytes;
  }
  std::string from(std::size_t whole, std::size_t part) const {
    std::string bytes;
    for (std::size_t i = whole; i < pieces.size(); ++i)
      bytes += framed(i == whole ? pieces[i].substr(part) : pieces[i]);
    return bytes + (chunked ? terminator : "");
  }
  std::string framed(std::string_view bytes, std::size_t missing = 0) const {
    return chunked ? http_chunk(bytes, missing) : std::string(bytes);
  }
};

inline Whole unbroken(const mock_gateway::Reply& reply, bool streamed) {
  OneExchange on(reply, streamed);
  const Response response = on.connection.receive_response();
  REQUIRE(response.complete);
  Whole whole{response.head, {}, response.chunked};
  std::size_t at = 0;
  for (const std::size_t size : response.chunks) {
    whole.pieces.push_back(response.body.substr(at, size));
    at += size;
  }
  if (!response.chunked) whole.pieces.push_back(response.body);
  REQUIRE(whole.up_to(0, 0) + whole.from(0, 0) == response.raw);
  return whole;
}

}  // namespace test_support
