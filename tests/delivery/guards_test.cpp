// Guards against endless waits: the stall guard, messages of failed waits, forgotten sleeps, and functions of the test
// that advance the clock.

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/timing.hpp"

namespace guards_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::contains;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;
using test_support::time_of;
using Kind = Problem::Kind;

constexpr std::chrono::milliseconds patience = 5s;

inline Reply words() { return text("one two three"); }

inline SseDialect left_open(bool done = true) {
  SseDialect dialect = SseDialect().open_after_done(true).done(done);
  return dialect;
}

inline SseDialect pinging() {
  const SseDialect dialect = SseDialect().ping_every(5ms);
  return dialect;
}

/// Returns the seconds at the end of a message such as "…, for 2.0 s so far". Empty for other messages.
inline std::optional<double> seconds_at_end(const std::string& message) {
  const std::size_t begin = message.rfind(", for ");
  if (begin == std::string::npos || message.size() < 9 || message.substr(message.size() - 9) != " s so far") return {};
  const std::string number = message.substr(begin + 6, message.size() - 9 - begin - 6);
  if (number.size() < 3 || number[number.size() - 2] != '.') return {};
  return std::stod(number);
}

// --- The stall guard -------------------------------------------------------------------------------------------------

struct Endless {
  std::string name;
  Reply reply;
  bool streamed;
  End end;           // how the client sees the connection end
  std::string told;  // the problem in verify(), up to the duration
  std::string client = "was still waiting";
};

inline const std::vector<Endless>& endless() {
  static const std::vector<Endless> rows = {
      {"stall() after a token", words().fault(after_tokens(2), stall()), true, End::reset,
       "stalled as scripted after token 2"},
      {"stall() after an event", words().fault(after_events(1), stall()), true, End::reset,
       "stalled as scripted after event 1"},
      {"stall() inside an event", words().fault(inside_event(2, 9), stall()), true, End::reset,
       "stalled as scripted inside event 2, after 9 bytes"},
      {"stall() with pings", words().sse(pinging()).fault(after_tokens(2), stall()), true, End::reset,
       "stalled as scripted after token 2"},
      {"stall() of a plain reply", words().fault(before_headers(), stall()), false, End::reset,
       "stalled as scripted before headers"},
      {"stall(Duration::max())", words().fault(after_tokens(2), stall(Duration::max())), true, End::reset,
       "stalled as scripted after token 2"},
      {"half_close()", words().fault(after_tokens(2), half_close()), true, End::fin,
       "stayed half-closed as scripted after token 2", "had not closed its side"},
      {"open_after_done", words().sse(left_open()), true, End::reset, "kept its stream open as scripted after [DONE]",
       "had not closed its side"},
      {"open_after_done without [DONE]", words().sse(left_open(false)), true, End::reset,
       "kept its stream open as scripted at the end", "had not closed its side"},
  };
  return rows;
}

TEST_CASE("the stall guard ends each wait that would hang a client without a timeout, and verify() reports the wait") {
  const std::vector<Clock> clocks = {RealClock{}, ManualClock{}, InstantClock{}};
  for (const Endless& row : endless()) {
    for (std::size_t clock = 0; clock < clocks.size(); ++clock) {
      CAPTURE(row.name);
      CAPTURE(clock);
      Gateway gateway{Options{}.clock(clocks[clock]).stall_guard(50ms)};
      const Stub stub = gateway.chat().named("silent").reply(row.reply);
      RawConnection connection(gateway);
      std::optional<End> end;
      const auto time = time_of([&] {
        connection.send(Http(gateway).format_chat(row.streamed ? Json{{"stream", true}} : Json{}));
        end = connection.receive_all().end;
        CHECK(stub.last_call().outcome().kind == Outcome::Kind::guard_expired);
      });
      CHECK(time >= 50ms);
      CHECK(*end == row.end);
      const Exchange exchange = stub.last_call();
      CHECK(exchange.guard_expired());
      CHECK_FALSE(exchange.departure());
      const Verification verification = gateway.verify();
      REQUIRE(verification.problems().size() == 1);
      CHECK(verification.problems()[0].kind == Kind::guard_expired);
      CHECK(verification.problems()[0].exchanges == std::vector<std::uint64_t>{1});
      CHECK(contains(verification.message(),
                     "\n  exchange 1 " + row.told + " for 0.05 s; the client " + row.client + "\n"));
      CHECK(contains(verification.message(), "reply of \"silent\""));
      // The wait is mentioned only in the problem, not in a note.
      for (const std::string& note : verification.notes()) {
        CAPTURE(note);
        CHECK_FALSE(contains(note, "exchange 1"));
      }
    }
  }
}

TEST_CASE("the stall guard is in real time: 120 s by default, positive, std::nullopt for none") {
  CHECK(mock_gateway::detail::Access::data(Options{}).stall_guard == std::optional<Duration>(120s));
  for (const Duration wrong : {Duration{0}, Duration{-1}})
    CHECK_THROWS_WITH_AS(Gateway{Options{}.stall_guard(wrong)},
                         "mock_gateway: Options: stall_guard must be positive; std::nullopt turns it off",
                         GatewayError);
  for (const std::optional<Duration> guard : {std::optional<Duration>(), std::optional<Duration>(Duration::max())}) {
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock).stall_guard(guard)};
    gateway.chat().reply(words().fault(after_tokens(2), stall()));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(connection.receive_until("two").found);
    clock.advance(24h * 365);
    CHECK(gateway.journal().last().outcome(50ms) == Outcome::Kind::pending);
    connection.abort();
    CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_left);
    CHECK(gateway.verify());
  }
}

TEST_CASE("a stall that ends before a short guard is no problem") {
  Gateway gateway{Options{}.stall_guard(1ms)};
  Gate gate;
  gateway.chat().reply(words().fault(after_tokens(1), stall(20ms)),
                       words().fault(after_tokens(1), stall(gate)).hold(gate, before_token(3)).every(10ms));
  CHECK(Http(gateway).stream().joined_text() == "one two three");
  auto held = std::async(std::launch::async, [&] { return Http(gateway).stream().joined_text(); });
  REQUIRE(gate.wait_until_delivered(patience));
  CHECK(gateway.journal().last().outcome(20ms) == Outcome::Kind::pending);
  gate.open();
  CHECK(held.get() == "one two three");
  CHECK(gateway.verify());
}

// --- The message of a failing wait -----------------------------------------------------------------------------------

TEST_CASE("the message of a failed wait names the stalled exchange, the place and the duration") {
  const Gate gate;
  struct Row {
    std::string name;
    Reply reply;
    std::string said;
    std::string pending;
    std::string last = "two";  // the last token before the wait
  };
  const std::vector<Row> rows = {
      {"stall()", words().fault(after_tokens(2), stall()), "stalls as scripted after token 2", "stalled after token 2"},
      {"stall(duration)", words().fault(after_tokens(2), stall(1h)), "stalls as scripted after token 2",
       "stalled after token 2"},
      {"stall(gate)", words().fault(after_tokens(2), stall(gate)), "stalls as scripted after token 2",
       "stalled after token 2"},
      {"half_close()", words().fault(after_tokens(2), half_close()), "stays half-closed as scripted after token 2",
       "half-closed after token 2"},
      {"open_after_done", words().sse(left_open()), "keeps its stream open as scripted after [DONE]",
       "kept open after [DONE]", "[DONE]"},
      {"a hold", words().hold(gate, before_token(3)), "is held as scripted before token 3", "held before token 3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Gateway gateway{Options{}.verify_on_destruction(false)};
    const Stub stub = gateway.chat().named("silent").reply(row.reply);
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(connection.receive_until(row.last).found);
    const Exchange exchange = stub.last_call();
    const std::string says = "; exchange 1 " + row.said + ", for ";
    REQUIRE(test_support::eventually([&] { return contains(stub.wait_for_calls(2, 0ms).message(), says); }));
    for (const Wait& failed : {stub.wait_for_calls(2, 0ms), gateway.journal().wait_for(2, 0ms)}) {
      CHECK_FALSE(failed);
      CHECK(contains(failed.message(), says));
      CHECK(seconds_at_end(failed.message()));
    }
    for (const Wait& failed : {gateway.journal().wait_until_idle(0ms), exchange.wait_for_client_to_leave(0ms)}) {
      CHECK_FALSE(failed);
      CHECK(contains(failed.message(), " pending: " + row.pending + " for 0."));
    }
    CHECK(contains(stub.wait_for_calls(2, 0ms).message(), "\"silent\""));
    connection.abort();
    CHECK(exchange.outcome() != Outcome::Kind::pending);
    CHECK_FALSE(contains(stub.wait_for_calls(2, 0ms).message(), "as scripted"));
  }
}

TEST_CASE("a place in a reply has the same name in the messages during a wait and after it") {
  const std::pair<Trigger, std::string> rows[] = {
      {after_events(1), "after event 1"},
      {after_tokens(2), "after token 2"},
      {after_bytes(10), "after byte 10 of the body"},
      {after_bytes(1), "after byte 1 of the body"},
      {after_headers(), "after headers"},
      {before_headers(), "before headers"},
      {inside_event(1, 3), "inside event 1, after 3 bytes"},
      {before_done(), "before [DONE]"},
      {at_end(), "at the end"},
  };
  for (const auto& [trigger, name] : rows) {
    const std::string& place_of_row = name;  // CAPTURE needs a variable that a lambda can capture
    CAPTURE(place_of_row);
    Gateway gateway{Options{}.stall_guard(10min).verify_on_destruction(false)};
    gateway.chat().reply(words().fault(trigger, stall()));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    const auto says = [&] { return gateway.journal().wait_for(2, 0ms).message(); };
    REQUIRE(test_support::eventually(
        [&] { return contains(says(), "exchange 1 stalls as scripted " + place_of_row + ", for "); }));
    connection.abort();
    REQUIRE(gateway.journal().wait_until_idle(10s));
    const std::vector<std::string> notes = gateway.verify().notes();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == "exchange 1 stalled " + place_of_row + " as scripted");
  }
}

TEST_CASE("times below a millisecond are printed exactly") {
  const std::pair<Duration, std::string> rows[] = {
      {500us, "stall for 0.5 ms"},  {1ns, "stall for 0.000001 ms"}, {10ms, "stall for 10 ms"},
      {1500us, "stall for 1.5 ms"}, {2h, "stall for 7200000 ms"},
  };
  for (const auto& [duration, name] : rows) CHECK(stall(duration).to_string() == name);

  ManualClock clock(ManualClock::default_start, 1ms);
  Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
  clock.sleep_for(500us);
  CHECK(contains(gateway.verify().message(), "ManualClock::sleep_for(0.0005 s)"));
}

TEST_CASE("the duration of a stall is reported in real time on any clock") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(words().fault(after_tokens(2), stall()));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(connection.receive_until("two").found);
  clock.advance(1h);
  CHECK_FALSE(gateway.journal().wait_until_idle(300ms));
  const Wait wait = gateway.journal().wait_for(2, 0ms);
  const auto seconds = seconds_at_end(wait.message());
  REQUIRE(seconds);
  CHECK(*seconds >= 0.2);
  CHECK(*seconds < 600);
}

TEST_CASE("the message of a failed wait names up to three stalled exchanges; that of a successful wait names none") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(words().hold(gate, before_token(2)));
  std::vector<RawConnection> connections;
  for (std::size_t i = 1; i <= 5; ++i) {
    connections.emplace_back(gateway);
    connections.back().send(Http(gateway).format_chat());
    REQUIRE(gate.wait_until_reached(i, patience));
  }
  const std::string message = gateway.journal().wait_for(6, 0ms).message();
  for (const char* const named : {"; exchange 1 is held", "; exchange 2 is held", "; exchange 3 is held"})
    CHECK(contains(message, named));
  CHECK_FALSE(contains(message, "exchange 4"));
  CHECK(contains(message, "; and 2 more wait as scripted"));
  CHECK(gateway.journal().wait_for(5, 0ms).message() == "5 exchanges recorded");
  gate.open();
  CHECK(gateway.journal().wait_until_idle(patience).message() == "no request is under way");
}

// --- Forgotten sleeps ------------------------------------------------------------------------------------------------

TEST_CASE("the clock's guard ends a client's forgotten sleep and removes it from all lists") {
  ManualClock clock{ManualClock::default_start, 30ms};
  CHECK(time_of([&] { clock.sleep_for(1h); }) >= 30ms);
  CHECK(clock.waits().empty());
  const Wait sleepers = clock.wait_for_sleepers(1, 0ms);
  CHECK_FALSE(sleepers);
  CHECK(sleepers.message() == "0 of 1 callers are inside ManualClock::sleep_for");
  CHECK_FALSE(clock.wait_for_waits(1, 0ms));
  CHECK_THROWS_AS(clock.advance_to_next_event(), GatewayError);
  // On a clock whose guard has not expired, the sleep counts as a sleeper.
  ManualClock long_guard;
  auto sleeper = std::async(std::launch::async, [long_guard]() mutable { long_guard.sleep_for(1s); });
  REQUIRE(long_guard.wait_for_sleepers(1, patience));
  long_guard.advance(1s);
  sleeper.get();
  CHECK_FALSE(long_guard.wait_for_sleepers(1, 0ms));
}

TEST_CASE("a failed wait for sleepers explains that a date in Retry-After uses the gateway's clock") {
  const auto waits_after = [](ManualClock clock, const Reply& reply) {
    Gateway gateway{Options{}.clock(clock)};
    gateway.chat().reply(reply);
    CHECK(Http(gateway).chat().status == 429);
    return clock.wait_for_sleepers(1, 0ms).message();
  };
  const std::string nobody = "0 of 1 callers are inside ManualClock::sleep_for";
  const std::string advice =
      " for a client that reads the machine's clock: send retry_after with a duration, or start the clock at the "
      "machine's time";
  const Reply dated = rate_limited().retry_after_date(60s);
  CHECK(waits_after(ManualClock{}, dated) ==
        nobody +
            "; the date in Retry-After, Mon, 01 Jan 2024 00:01:00 GMT, comes from the gateway's clock, and has passed" +
            advice);
  const TimePoint ahead{std::chrono::ceil<std::chrono::hours>(std::chrono::system_clock::now()) + 24h};
  CHECK(
      contains(waits_after(ManualClock{ahead}, dated), ", comes from the gateway's clock, and is far ahead" + advice));
  // The advice is missing if the clock equals the machine's, if no date was sent, or if the date has passed.
  const TimePoint machine = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  CHECK(waits_after(ManualClock{machine}, dated) == nobody);
  CHECK(waits_after(ManualClock{}, rate_limited(60s)) == nobody);
  CHECK(waits_after(ManualClock{}, rate_limited().retry_after("Sun, 06 Nov 1994 08:49:37 GMT")) == nobody);
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(dated);
  Http(gateway).chat();
  CHECK(contains(clock.wait_for_waits(1, 0ms).message(), "0 of 1 waits are pending on the manual clock; the date in "));
  clock.advance(60s);
  CHECK(clock.wait_for_sleepers(1, 0ms).message() == nobody);
}

TEST_CASE("verify() of each gateway on the clock reports a sleep that the guard ended, until a reset") {
  ManualClock clock{ManualClock::default_start, 20ms};
  Gateway one{Options{}.clock(clock)};
  Gateway other{Options{}.clock(clock)};
  Gateway of_no_sleeper{Options{}.clock(ManualClock{})};
  clock.sleep_for(1500ms);
  Gateway later{Options{}.clock(clock)};
  for (Gateway* const gateway : {&one, &other}) {
    const Verification verification = gateway->verify();
    REQUIRE(verification.problems().size() == 1);
    CHECK(verification.problems()[0].kind == Kind::guard_expired);
    CHECK(verification.message() ==
          "a wait ran into its real-time guard  ManualClock::sleep_for(1.5 s)\n"
          "  the manual clock was not advanced in time");
    CHECK(gateway->verify(with_header("x-test", "1")));
  }
  CHECK(later.verify());
  CHECK(of_no_sleeper.verify());
  other.reset();
  CHECK(other.verify());
  clock.sleep_for(2s);
  CHECK(contains(one.verify().message(), "  2 sleeps, the last ManualClock::sleep_for(2 s)\n"));
  CHECK(contains(other.verify().message(), "  ManualClock::sleep_for(2 s)\n"));
  CHECK_FALSE(later.verify());
}

// --- Functions of a test that advance the clock ----------------------------------------------------------------------

TEST_CASE("parallel on_exchange functions can advance the clock without waiting for their own exchange") {
  ManualClock clock;
  std::atomic<int> ended{0};
  Gateway gateway{Options{}.clock(clock).on_exchange([clock, &ended](const Exchange&) mutable {
    ++ended;
    CHECK(test_support::eventually([&] { return ended >= 2; }));
    clock.advance(1s);
  })};
  // While one advance waits for the third reply, the fourth reply becomes due. The other advance waits for that reply.
  gateway.chat().reply(text("a b").every(1s), text("a b").every(1s), text("a b c d").every(300ms).first_token_after(1s),
                       text("a b c d").every(400ms).first_token_after(1s));
  std::vector<RawConnection> connections;
  for (std::size_t i = 1; i <= 4; ++i) {
    connections.emplace_back(gateway);
    connections.back().send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(clock.wait_for_waits(i, patience));
  }
  CHECK(time_of([&] { clock.advance(1s); }) < 5s);  // the guard is 10 s
  // Both exchanges advanced the clock when they ended, and the test's advance waited for both.
  CHECK(clock.now() >= ManualClock::default_start + 2s);
  clock.advance(1h);
  CHECK(connections[0].receive_response().joined_text() == "a b");
  CHECK(connections[1].receive_response().joined_text() == "a b");
  CHECK(connections[2].receive_response().joined_text() == "a b c d");
  CHECK(connections[3].receive_response().joined_text() == "a b c d");
  CHECK(gateway.verify());
}

TEST_CASE("an advance of the clock in on_exchange waits for its effects on other exchanges") {
  ManualClock clock;
  std::promise<std::size_t> seen;
  Gateway* under_test = nullptr;
  const auto callback = [clock, &seen, &under_test](const Exchange& exchange) mutable {
    if (exchange.id() != 1) return;
    clock.advance(2s);
    seen.set_value(under_test->journal().at(2).tokens_sent());
  };
  Gateway gateway{Options{}.clock(clock).on_exchange(callback)};
  under_test = &gateway;
  gateway.chat().reply(text("a b").every(1s), text("a b c d e").first_token_after(2s).every(1s));
  const std::string request = Http(gateway).format_chat({{"stream", true}});
  RawConnection first(gateway);
  first.send(request);
  REQUIRE(clock.wait_for_waits(1, patience));
  RawConnection second(gateway);
  second.send(request);
  REQUIRE(clock.wait_for_waits(2, patience));
  CHECK(time_of([&] { clock.advance(1s); }) < 5s);
  CHECK(seen.get_future().get() == 2);
  clock.advance(1h);
  CHECK(second.receive_response().done());
}

TEST_CASE("a sleep of zero returns at once") {
  ManualClock clock;
  CHECK(time_of([&] {
          clock.sleep_for(0s);
          clock.sleep_for(-1s);
        }) < 5s);  // the guard is 10 s
  CHECK(clock.waits().empty());
}

TEST_CASE("an advance waits for an exchange whose on_exchange it wakes from a sleep") {
  ManualClock clock;
  std::promise<void> advanced;
  std::promise<std::future_status> seen;
  Gateway gateway{Options{}.clock(clock).on_exchange([&, clock](const Exchange&) mutable {
    clock.sleep_for(1s);
    // The advance waits for this function, so it cannot have returned yet.
    seen.set_value(advanced.get_future().wait_for(100ms));
  })};
  gateway.chat().reply(text("a b").every(1s));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(clock.wait_for_waits(1, patience));
  clock.advance(1s);
  REQUIRE(clock.wait_for_sleepers(1, patience));
  clock.advance(1s);
  advanced.set_value();
  CHECK(seen.get_future().get() == std::future_status::timeout);
  CHECK(gateway.verify());
}

TEST_CASE("a reply function can advance the clock and sleep, even while an advance waits for its exchange") {
  enum class Act { advances, sleeps };
  for (const Act act : {Act::advances, Act::sleeps}) {
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock)};
    gateway.chat().reply([clock, act](const ChatRequest&) mutable -> Reply {
      act == Act::advances ? clock.advance(1s) : clock.sleep_for(1s);
      return text("later");
    });
    gateway.chat().when(user_says("count")).reply(text("a b c d e").every(1s));
    RawConnection other(gateway);
    other.send(Http(gateway).format_chat({{"messages", {{{"role", "user"}, {"content", "count"}}}}, {"stream", true}}));
    REQUIRE(other.receive_until("\"a\"").found);
    gateway.next_connection(slow_body(1'000'000, 1s));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat());
    REQUIRE(clock.wait_for_waits(2, patience));
    CHECK(time_of([&] { clock.advance(2s); }) < 5s);  // the guard is 10 s
    CHECK(connection.receive_response().text() == "later");
    clock.advance(1h);
    CHECK(other.receive_until("[DONE]").found);
    CHECK(gateway.verify());
  }
}

// --- Gates -----------------------------------------------------------------------------------------------------------

TEST_CASE("an exchange whose guard has expired passes further gates without using their releases") {
  const Gate never(20ms);
  Gate gate;
  gate.release();
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply(
      words().hold(never, before_token(1)).hold(gate, before_token(2)).fault(after_tokens(2), stall(gate)),
      words().hold(gate, before_token(2)));
  const Http http(gateway);
  CHECK(http.stream().joined_text() == "one two three");
  CHECK(http.stream().joined_text() == "one two three");
  CHECK_FALSE(gateway.journal().last().guard_expired());
  CHECK(gate.wait_until_reached(3, 0ms));
  CHECK_FALSE(gate.wait_until_reached(4, 0ms));
}

TEST_CASE("an expired gate lets every exchange pass, and the report names the gate, the place and the time") {
  const Gate gate("first", 300ms);
  Gateway gateway;
  gateway.chat().reply(words().hold(gate, before_token(2)), words().fault(after_tokens(1), stall(gate)), words());
  std::vector<RawConnection> held;
  const auto time = time_of([&] {
    for (int i = 0; i < 2; ++i) {
      held.emplace_back(gateway);
      held.back().send(Http(gateway).format_chat({{"stream", true}}));
      REQUIRE(gate.wait_until_reached(held.size(), patience));
    }
    for (RawConnection& one : held) CHECK(one.receive_response().done());
  });
  CHECK(time >= 300ms);
  const Verification verification = gateway.verify();
  CHECK(verification.problems().size() == 2);
  CHECK(contains(verification.message(), "exchange 1 was held as scripted at gate \"first\" before token 2 for 0."));
  CHECK(contains(verification.message(), "exchange 2 stalled as scripted at gate \"first\" after token 1 for 0."));
  CHECK(contains(verification.message(), " s: the gate was not opened in time"));
  for (const std::uint64_t id : {1u, 2u}) CHECK(gateway.journal().at(id).guard_expired());
}

TEST_CASE("an exchange passes a gate that has expired, and does not count as held") {
  const Gate gate(20ms);
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply(words().hold(gate, before_token(2)));
  CHECK(Http(gateway).stream().done());
  CHECK(Http(gateway).stream().done());
  CHECK(gateway.journal().at(1).guard_expired());
  CHECK_FALSE(gateway.journal().at(2).guard_expired());
}

TEST_CASE("the report about a manual clock that nobody advances names the place and the time") {
  Gateway gateway{Options{}.clock(ManualClock(ManualClock::default_start, 20ms))};
  gateway.chat().reply(words().every(1s));
  CHECK(Http(gateway).stream().done());
  const std::string message = gateway.verify().message();
  CAPTURE(message);
  CHECK(contains(message, "exchange 1 waited for token 2 for 0."));
  CHECK(contains(message, " s: the manual clock was not advanced in time"));
}

TEST_CASE("a test's wait for a gate ends when an exchange with an expired guard passes the gate") {
  const Gate never(20ms);
  const Gate gate;
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply(words().hold(never, before_token(1)).hold(gate, before_token(2)));
  std::promise<void> waits;
  std::future<void> begun = waits.get_future();
  auto reached = std::async(std::launch::async, [&] {
    waits.set_value();
    return static_cast<bool>(gate.wait_until_reached(1, 1min));
  });
  begun.get();
  CHECK(Http(gateway).stream().joined_text() == "one two three");
  CHECK(reached.wait_for(20s) == std::future_status::ready);
  CHECK(reached.get());
}

}  // namespace guards_test
