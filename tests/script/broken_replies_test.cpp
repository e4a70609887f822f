// Replies that chaos or a connection broke: a retry gets them again, and they count once.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/threads.hpp"

namespace broken_replies_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::in_threads;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;

inline Options lenient() { return Options{}.verify_on_destruction(false); }

/// A client that accepts broken replies.
inline Http robust(const Gateway& gateway) { return Http(gateway).keep_alive().allow_incomplete(); }

TEST_CASE("a retry gets the reply that chaos broke, and the stub counts it once") {
  const Effect effects[] = {close_connection(),          reset_connection(), truncate(),        garbage("x"),
                            error_event(server_error()), skip_event(),       duplicate_event(), half_close()};
  for (const Effect& effect : effects) {
    CAPTURE(effect.to_string());
    Gateway gateway;
    gateway.chaos(Chaos(after_tokens(1), effect).first(2));
    const Stub stub =
        gateway.chat().in_state("door", "started").then_state("door", "next").expect(1).reply("one two", "three");
    gateway.chat().in_state("door", "next").expect(1).reply("four five");
    const Http http = Http(gateway).allow_incomplete();
    for (int i = 0; i < 2; ++i) {
      RawConnection client(gateway);
      client.send(Http(gateway).format_chat({{"stream", true}}));
      CHECK(client.receive_until("one").found);
      client.shutdown_write();
      client.receive_all();
    }
    CHECK(http.stream().joined_text() == "one two");
    CHECK(stub.calls() == 1);
    CHECK(stub.exchanges().size() == 3);
    CHECK(http.chat(Json("another")).text() == "four five");
    CHECK(gateway.verify());
  }
}

TEST_CASE("another request or key does not get the reply that chaos broke") {
  Gateway gateway{lenient()};
  gateway.chaos(Chaos(before_headers(), close_connection()).first(1).when(user_says("broken")));
  const Stub stub = gateway.chat().reply("one", "two", "three", "four");
  const CreatedKey other = gateway.keys().create("other");
  const Http http = robust(gateway);
  CHECK_FALSE(http.chat(Json("broken")).complete);
  CHECK(http.chat(Json("another")).text() == "two");
  CHECK_FALSE(http.with_key(other.secret).chat(Json("broken")).complete);
  CHECK(http.with_key(other.secret).chat(Json("broken")).text() == "three");
  CHECK(http.chat(Json("broken")).text() == "one");
  CHECK(http.chat(Json("broken")).text() == "four");
  CHECK(stub.calls() == 4);
}

TEST_CASE("a reply is used up if the chaos fault was not reached, or only delayed it") {
  Gateway gateway{lenient()};
  gateway.chaos(Chaos(after_tokens(9), reset_connection()));
  gateway.chaos(Chaos(after_tokens(1), stall(1ms)));
  gateway.chaos(Chaos(at_end(), stall(1ms)));
  gateway.chat().reply("one two", "three four", "five");
  for (const char* const expected : {"one two", "three four", "five"}) {
    CHECK(Http(gateway).stream().joined_text() == expected);
    REQUIRE(gateway.journal().wait_until_idle(patience));
  }
}

TEST_CASE("a client that gives up on a stall of chaos gets the same reply again") {
  ManualClock clock;
  Gateway gateway{lenient().clock(clock)};
  gateway.chaos(Chaos(after_tokens(1), stall(1h)).first(1));
  gateway.chat().reply("one two", "three");
  RawConnection client(gateway);
  client.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(clock.wait_for_waits(1, patience));
  SUBCASE("after it left") {
    client.close();
    REQUIRE(gateway.journal().last().outcome() == Outcome::Kind::client_left);
  }
  SUBCASE("before it leaves") {}
  CHECK(Http(gateway).stream().joined_text() == "one two");
  clock.advance(1h);
  CHECK(Http(gateway).stream().joined_text() == "three");
}

TEST_CASE("a reply with its own fault is used up") {
  Gateway gateway{lenient()};
  gateway.chaos(Chaos(after_tokens(9), reset_connection()));
  gateway.chaos(Chaos(after_events(1), stall(1ms)));
  gateway.chat().reply(text("one two").fault(after_tokens(1), close_connection()), text("three"));
  CHECK_FALSE(robust(gateway).stream().done());
  CHECK(Http(gateway).stream().joined_text() == "three");
}

TEST_CASE("a broken reply is not owed by a removed stub, nor after a reset") {
  for (const bool resets : {false, true}) {
    Gateway gateway{lenient()};
    gateway.chat().reply("below");
    gateway.chaos(Chaos(before_headers(), close_connection()).first(1));
    const Stub stub = gateway.chat().reply("one", "two");
    CHECK_FALSE(robust(gateway).chat().complete);
    resets ? gateway.reset() : stub.remove();
    if (resets) gateway.chat().reply("below");
    CHECK(Http(gateway).chat().text() == "below");
  }
}

TEST_CASE("every reply of a sequence arrives once although chaos breaks parallel equal requests") {
  constexpr std::size_t clients = 8;
  constexpr std::size_t each = 6;
  Gateway gateway{lenient()};
  gateway.chaos(Chaos(after_tokens(1), close_connection()).probability(0.5));
  Json replies = Json::array();
  for (std::size_t i = 0; i < clients * each; ++i) replies.push_back("reply " + std::to_string(i));
  gateway.load(Json{{"mock_gateway", 1}, {"stubs", {{{"expect", clients * each}, {"replies", replies}}}}});
  std::mutex mutex;
  std::multiset<std::string> got;
  in_threads(clients, [&](std::size_t) {
    const Http http = robust(gateway);
    for (std::size_t done = 0; done < each;) {
      const Response response = http.stream();
      if (!response.done()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      got.insert(response.joined_text());
      ++done;
    }
  });
  CHECK(got.size() == clients * each);
  CHECK(std::set<std::string>(got.begin(), got.end()).size() == got.size());
  CHECK(gateway.verify());
}

TEST_CASE("no fault of a connection uses up a reply") {
  const ConnectionFault faults[] = {reset_on_accept(),
                                    close_on_accept(),
                                    garbage_on_accept(),
                                    close_when_reused(),
                                    reset_when_reused(),
                                    reply_before_body(server_error()),
                                    reply_then_read_body(server_error())};
  for (const ConnectionFault& fault : faults) {
    CAPTURE(fault.to_string());
    Gateway gateway{lenient()};
    gateway.chat().reply("one", "two", "three");
    const bool reuses = fault.moment() == ConnectionFault::Moment::reused;
    const Http http = robust(gateway);
    if (reuses) CHECK(http.chat().text() == "one");
    gateway.next_connection(fault);
    if (fault.kind() == ConnectionFault::Kind::garbage_on_accept)
      CHECK_THROWS(http.chat());
    else
      CHECK(http.chat().status != 200);
    CHECK(http.chat().text() == (reuses ? "two" : "one"));
  }
}

}  // namespace broken_replies_test
