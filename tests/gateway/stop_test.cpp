// How fast a gateway stops with many open connections. This file runs alone, because it measures real time.

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/timing.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::Http;
using test_support::RawConnection;

namespace stop_test {

const std::string flood(8u << 20, 'x');
/// Returns how long stop() takes with these connections open. Closing the clients afterwards does not count.
std::chrono::steady_clock::duration stop_with(std::size_t idle, std::size_t streams, std::size_t half_sent,
                                              std::size_t not_reading) {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply("Hello.");
  gateway.chat().when(user_says("stall")).reply(text("one two").fault(after_events(1), stall()));
  gateway.chat().when(user_says("flood")).reply(failure(200, "", "").body(flood, "text/plain"));

  std::vector<RawConnection> connections;
  const auto open = [&](std::size_t count, const std::string& request, auto options) {
    const std::size_t first = connections.size();
    for (std::size_t i = 0; i < count; ++i) {
      connections.emplace_back(gateway, options);
      connections.back().send(request);
    }
    return first;
  };
  const std::string chat = http.format_chat();
  const test_support::ConnectionOptions plain;
  const std::size_t first_idle = open(idle, chat, plain);
  const std::size_t first_stream =
      open(streams, http.format_chat(Json{{"stream", true}, {"messages", {{{"role", "user"}, {"content", "stall"}}}}}),
           plain);
  open(half_sent, chat.substr(0, chat.size() - 5), plain);
  test_support::ConnectionOptions small;
  small.receive_buffer = 4096;
  open(not_reading, http.format_chat("flood"), small);

  for (std::size_t i = 0; i < idle; ++i) REQUIRE(connections[first_idle + i].receive_response().status == 200);
  for (std::size_t i = 0; i < streams; ++i) REQUIRE(connections[first_stream + i].receive_until("\n\n").found);
  REQUIRE(gateway.journal().wait_for(idle + streams + not_reading, 10s));

  return test_support::time_of([&] { gateway.stop(); });
}

}  // namespace stop_test

TEST_CASE("a gateway stops within 50 ms with any open connections") {
  const int runs = test_support::sanitized ? 5 : 50;
#ifdef _WIN32
  constexpr double limit = 100;  // wine's server handles each call
#else
  constexpr double limit = 50;
#endif
  // The maximum of a series must be below the limit. A failed series is repeated at most twice, because other processes
  // also take wall time.
  for (int series = 1;; ++series) {
    const auto times = test_support::measure(runs, [] { return stop_test::stop_with(100, 100, 100, 5); });
    MESSAGE("stop " << times);
    if (test_support::sanitized || times.is_below(limit)) break;
    REQUIRE_MESSAGE(series < 3, "the maximum was the limit or more in three series");
  }
}

TEST_CASE("a gateway without clients can be stopped or destroyed right after its start") {
  for (int run = 0; run < 50; ++run) {
    Gateway gateway;
    if (run % 2 == 0) gateway.stop();
  }
  Gateway stopped_twice;
  stopped_twice.stop();
  CHECK_NOTHROW(stopped_twice.stop());
}
