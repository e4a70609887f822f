// The parts of the library that depend on the system: sockets, threads, clocks and files. `.ci/run windows` compiles it
// with MinGW and runs it with wine. It runs on other systems too.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/script_files.hpp"
#include "support/threads.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;

TEST_CASE("one connection carries replies, streams and failures") {
  Gateway gateway;
  gateway.chat().reply("Paris.");
  const Http http = Http(gateway).keep_alive();
  CHECK(http.ask("What is the capital of France?") == "Paris.");
  CHECK(http.stream().joined_text() == "Paris.");
  gateway.fail_next(rate_limited(2s));
  CHECK(http.chat().header("Retry-After") == "2");
  CHECK(http.with_key("sk-wrong").chat().status == 401);
  CHECK(gateway.journal().count() == 4);
  CHECK(gateway.verify());
}

TEST_CASE("a stream arrives as the clock advances") {
  ManualClock clock;
  Gateway gateway{Options().clock(clock)};
  gateway.chat().reply(text("one two").every(1s));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  CHECK(connection.receive_until("\"one\"").found);
  REQUIRE(clock.wait_for_waits(1, 10s));
  clock.advance(1s);
  CHECK(connection.receive_until("\" two\"").found);
  clock.advance(1s);
  CHECK(connection.receive_until("[DONE]").found);
}

TEST_CASE("a reply waits in real time") {
  Gateway gateway;
  gateway.chat().reply(text("one").first_token_after(200ms));
  const auto began = std::chrono::steady_clock::now();
  CHECK(Http(gateway).chat().status == 200);
  CHECK(std::chrono::steady_clock::now() - began >= 190ms);
}

TEST_CASE("a reply breaks with FIN or RST after the bytes before") {
  Gateway gateway;
  for (const bool resets : {false, true}) {
    CAPTURE(resets);
    gateway.chat().reply(text("one two").fault(after_tokens(1), resets ? reset_connection() : close_connection()));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    const auto received = connection.receive_all();
    CHECK(received.bytes.find("\"one\"") != std::string::npos);
    CHECK(received.end == (resets ? End::reset : End::fin));
  }
}

TEST_CASE("a client that leaves is noticed") {
  ManualClock clock;
  Gateway gateway{Options().clock(clock)};
  gateway.chat().reply(text("one two").every(1h));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(connection.receive_until("\"one\"").found);
  connection.close();
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_left);
}

TEST_CASE("many clients are served in parallel, and large bodies arrive") {
  Gateway gateway;
  Gate gate;
  const std::string large(std::size_t{1} << 20, 'x');
  gateway.chat().reply(text(large).hold(gate, before_event(1)));
  std::atomic<int> complete{0};
  test_support::in_threads(21, [&](std::size_t number) {
    if (number == 20) {
      CHECK(gate.wait_until_reached(20, 30s));
      gate.open();
    } else if (Http(gateway).with_timeout(30s).chat(large).text() == large) {
      ++complete;
    }
  });
  CHECK(complete == 20);
}

TEST_CASE("a closed port refuses connections until it is opened again, and stop() ends connections") {
  Gateway gateway;
  RawConnection connection(gateway);
  gateway.refuse_connections();
  CHECK_THROWS(RawConnection(gateway));
  gateway.accept_connections();
  CHECK(Http(gateway).chat().status == 200);
  gateway.stop();
  CHECK(connection.receive_all().end != End::open);
  CHECK(Http(Gateway{Options().port(gateway.port())}).chat().status == 200);
}

TEST_CASE("a script is read from a file") {
  Gateway gateway;
  gateway.load(test_support::ScriptFile(R"({"mock_gateway": 1, "stubs": [{"reply": "From the file."}]})").path());
  CHECK(Http(gateway).ask("Hi") == "From the file.");
}
