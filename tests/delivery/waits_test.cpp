// Every kind of wait of an exchange: what ends the wait and how soon, how a test sees it, and the guards. This file
// runs alone, because it measures real time.

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/timing.hpp"

namespace waits_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::ConnectionOptions;
using test_support::End;
using test_support::eventually;
using test_support::Http;
using test_support::RawConnection;
using test_support::time_of;
using Time = std::chrono::steady_clock::duration;

constexpr double limit = 20;  // ms
constexpr int repeats = 12;
constexpr std::chrono::milliseconds patience = 5s;

/// Checks the maximum of a series of runs. A failed series is repeated at most twice, because other processes also take
/// wall time. With sanitizers only the shortest run counts.
template <class Run>
void check_below(double most, int runs, const Run& run) {
  if (test_support::sanitized) {
    CHECK(test_support::is_within(std::chrono::duration<double, std::milli>(most), run));
    return;
  }
  test_support::Series series = test_support::measure(runs, run);
  for (int again = 0; again < 2 && !series.is_below(most); ++again) series = test_support::measure(20, run);
  CAPTURE(series);
  CHECK(series.is_below(most));
}

// --- Kinds of waits --------------------------------------------------------------------------------------------------

/// What ends a wait, apart from stop() and the client.
enum class Ended { by_the_clock, by_the_gate, by_nothing_else };
/// Whether the wait ends when the client closes, even if the reply survives a half-close. If not, the gateway records
/// the close of such a reply's client and continues the wait.
enum class Closing { ends, is_noted };

struct Kind {
  std::string name;
  std::function<Reply(const Gate&)> reply;
  bool streamed;
  std::size_t events;  // the events that arrive before the wait; 0 for a plain reply
  Ended ended;
  Closing closing;
  /// The start of Outcome::waiting; empty without an exchange.
  std::string told;
  /// The name of the wait in ManualClock::waits(), or empty if the wait has no deadline.
  std::string listed = {};
  std::optional<ConnectionFault> fault = {};
  /// If not 0, the client reads nothing, and the gateway sends at least this many bytes.
  std::size_t unread = 0;
};

inline Reply words() { return text("one two three"); }

inline SseDialect pinging() {
  SseDialect dialect = SseDialect().ping_every(1h);
  return dialect;
}

inline SseDialect left_open() {
  const SseDialect dialect = SseDialect().open_after_done(true);
  return dialect;
}

inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kinds = {
      {"pace, before the first token", [](const Gate&) { return words().first_token_after(1h); }, true, 1,
       Ended::by_the_clock, Closing::is_noted, "waiting for token 1 for 0.", "token 1"},
      {"pace, between tokens", [](const Gate&) { return words().every(30min); }, true, 2, Ended::by_the_clock,
       Closing::is_noted, "waiting for token 2 for 0.", "token 2"},
      {"pace of a plain reply", [](const Gate&) { return words().first_token_after(1h); }, false, 0,
       Ended::by_the_clock, Closing::is_noted, "waiting for the whole reply for 0.", "the whole reply"},
      {"a hold before an event", [](const Gate& gate) { return words().hold(gate, before_event(2)); }, true, 1,
       Ended::by_the_gate, Closing::is_noted, "held before event 2 for 0."},
      {"a hold before a token of a plain reply", [](const Gate& gate) { return words().hold(gate, before_token(1)); },
       false, 0, Ended::by_the_gate, Closing::is_noted, "held before token 1 for 0."},
      {"stall()", [](const Gate&) { return words().fault(after_tokens(1), stall()); }, true, 2, Ended::by_nothing_else,
       Closing::ends, "stalled after token 1 for 0."},
      {"stall(duration)", [](const Gate&) { return words().fault(after_tokens(1), stall(1h)); }, true, 2,
       Ended::by_the_clock, Closing::is_noted, "stalled after token 1 for 0.", "a stall"},
      {"stall(gate)", [](const Gate& gate) { return words().fault(after_tokens(1), stall(gate)); }, true, 2,
       Ended::by_the_gate, Closing::is_noted, "stalled after token 1 for 0."},
      {"half_close", [](const Gate&) { return words().fault(after_tokens(1), half_close()); }, true, 2,
       Ended::by_nothing_else, Closing::ends, "half-closed after token 1 for 0."},
      {"open_after_done", [](const Gate&) { return words().sse(left_open()); }, true, 6, Ended::by_nothing_else,
       Closing::ends, "kept open after [DONE] for 0."},
      {"slow_body", [](const Gate&) { return words(); }, false, 0, Ended::by_the_clock, Closing::ends, "",
       "a slow body", slow_body(1000, 1h)},
      {"a ping in a pace", [](const Gate&) { return words().first_token_after(1h).sse(pinging()); }, true, 1,
       Ended::by_the_clock, Closing::is_noted, "waiting for token 1 for 0.", "a ping"},
      {"a ping in a hold", [](const Gate& gate) { return words().hold(gate, before_token(1)).sse(pinging()); }, true, 1,
       Ended::by_the_gate, Closing::is_noted, "held before token 1 for 0.", "a ping"},
      {"a ping in stall()", [](const Gate&) { return words().fault(after_events(1), stall()).sse(pinging()); }, true, 1,
       Ended::by_nothing_else, Closing::ends, "stalled after event 1 for 0.", "a ping"},
      {"the drain before a fault",
       [](const Gate&) { return raw_reply(200, std::string(50'000, 'x')).fault(at_end(), reset_connection()); },
       false,
       0,
       Ended::by_nothing_else,
       Closing::ends,
       "waiting for the client to read",
       "",
       {},
       50'000},
      {"sending to a client that does not read",
       [](const Gate&) { return raw_reply(200, std::string(8u << 20, 'x')); },
       false,
       0,
       Ended::by_nothing_else,
       Closing::ends,
       "waiting for the client to read",
       "",
       {},
       50'000},
  };
  return kinds;
}

enum class ClockKind { real, manual, instant };

inline const char* to_string(ClockKind kind) {
  return kind == ClockKind::real ? "real" : kind == ClockKind::manual ? "manual" : "instant";
}

/// An exchange during its wait.
struct Waiting {
  Waiting(const Kind& kind, ClockKind clock_kind, Duration guard = 10s, bool survives = false)
      : clock(ManualClock::default_start, guard),
        gate(guard),
        gateway(Options{}.clock(chosen(clock_kind)).verify_on_destruction(false)),
        connection(gateway, {kind.unread > 0 ? 4096 : 0}) {
    const Reply reply = kind.reply(gate);
    gateway.chat().reply(survives ? reply.survives_half_close() : reply);
    if (kind.fault) gateway.next_connection(*kind.fault);
    connection.send(Http(gateway).format_chat(kind.streamed ? Json{{"stream", true}} : Json{}));
    if (kind.fault) {
      REQUIRE(eventually([&] { return !gateway.journal().connection_hits().empty(); }));
    } else {
      REQUIRE(gateway.journal().wait_for(1, patience));
      exchange = gateway.journal().last();
    }
    // With a short guard the wait may already have ended, so it is not checked.
    if (clock_kind == ClockKind::manual && !kind.listed.empty() && guard >= patience)
      REQUIRE(clock.wait_for_waits(1, patience));
    if (kind.ended == Ended::by_the_gate) REQUIRE(gate.wait_until_delivered(patience));
    if (kind.unread > 0) REQUIRE(eventually([&] { return exchange->bytes_sent() >= kind.unread; }));
    // Reads everything, because a client that closes with unread bytes sends a reset.
    if (kind.events > 0) REQUIRE(receive_events(kind.events));
  }

  Clock chosen(ClockKind kind) const {
    if (kind == ClockKind::manual) return clock;
    if (kind == ClockKind::instant) return InstantClock{};
    return RealClock{};
  }

  bool receive_events(std::size_t count) {
    return connection
        .receive_until([&](std::string_view bytes) {
          std::size_t found = 0;
          for (std::size_t at = bytes.find("\n\n\r\n"); at != std::string_view::npos;
               at = bytes.find("\n\n\r\n", at + 1))
            ++found;
          return found == count;
        })
        .found;
  }

  bool has_ended() const {
    return exchange ? exchange->outcome(patience) != Outcome::Kind::pending
                    : static_cast<bool>(gateway.journal().wait_until_idle(patience));
  }

  ManualClock clock;
  Gate gate;
  Gateway gateway;
  RawConnection connection;
  std::optional<Exchange> exchange;  // empty until the request has arrived
};

/// Calls `check` for every kind of wait and every clock. Skips the instant clock for waits that it ends at once.
template <class Check>
void for_each(const Check& check) {
  for (const Kind& kind : kinds()) {
    for (const ClockKind clock : {ClockKind::real, ClockKind::manual, ClockKind::instant}) {
      // A wait with a deadline takes no time on the instant clock.
      if (clock == ClockKind::instant && !kind.listed.empty()) continue;
      const std::string clock_name = to_string(clock);
      CAPTURE(kind.name);
      CAPTURE(clock_name);
      check(kind, clock);
    }
  }
}

// --- How soon a wait ends --------------------------------------------------------------------------------------------

TEST_CASE("every wait ends within 20 ms of the gateway's stop") {
  for_each([](const Kind& kind, ClockKind clock) {
    check_below(limit, repeats, [&]() -> Time {
      Waiting waiting(kind, clock);
      const Time time = time_of([&] { waiting.gateway.stop(); });
      CHECK(waiting.has_ended());
      return time;
    });
  });
}

TEST_CASE("every wait ends within 20 ms of its client's reset") {
  for_each([](const Kind& kind, ClockKind clock) {
    check_below(limit, repeats, [&]() -> Time {
      Waiting waiting(kind, clock);
      const Time time = time_of([&] {
        waiting.connection.abort();
        CHECK(waiting.has_ended());
      });
      if (waiting.exchange && kind.ended != Ended::by_nothing_else)
        CHECK(waiting.exchange->outcome() == Outcome::Kind::client_left);
      return time;
    });
  });
}

TEST_CASE("every wait ends within 20 ms of its client's FIN") {
  for_each([](const Kind& kind, ClockKind clock) {
    check_below(limit, repeats, [&]() -> Time {
      Waiting waiting(kind, clock);
      const Time time = time_of([&] {
        waiting.connection.close();
        CHECK(waiting.has_ended());
      });
      if (waiting.exchange && kind.ended != Ended::by_nothing_else) {
        CHECK(waiting.exchange->outcome() == Outcome::Kind::client_left);
        CHECK(waiting.exchange->departure()->how == Departure::How::closed);
      }
      CHECK(waiting.clock.waits().empty());
      return time;
    });
  });
}

TEST_CASE("a half-close is recorded within 20 ms, and does not end the waits of a reply that survives it") {
  for_each([](const Kind& kind, ClockKind clock) {
    check_below(limit, repeats, [&]() -> Time {
      Waiting waiting(kind, clock, 10s, true);
      const Time time = time_of([&] {
        waiting.connection.shutdown_write();
        if (kind.closing == Closing::is_noted) CHECK(waiting.exchange->wait_for_client_to_leave(patience));
        if (kind.closing == Closing::ends && kind.unread == 0) CHECK(waiting.has_ended());
      });
      if (kind.closing == Closing::is_noted) CHECK(waiting.exchange->outcome(0ms) == Outcome::Kind::pending);
      waiting.connection.close();
      return time;
    });
  });
}

TEST_CASE("every wait ends within 20 ms of an advance to its deadline or the opening of its gate") {
  for_each([](const Kind& kind, ClockKind clock) {
    if (kind.ended == Ended::by_nothing_else) return;
    if (kind.ended == Ended::by_the_clock && clock != ClockKind::manual) return;
    check_below(limit, repeats, [&]() -> Time {
      Waiting waiting(kind, clock);
      const Time time = time_of([&] {
        if (kind.ended == Ended::by_the_clock)
          waiting.clock.advance(1h);
        else
          waiting.gate.open();
        CHECK(waiting.has_ended());
      });
      CHECK(waiting.gateway.journal().last().outcome() == Outcome::Kind::completed);
      CHECK((kind.streamed ? waiting.connection.receive_until("\r\n0\r\n\r\n").found
                           : waiting.connection.receive_response().complete));
      return time;
    });
  });
}

TEST_CASE("a ping comes within 20 ms of the advance to its due time") {
  for (const Kind& kind : kinds()) {
    if (kind.listed != "a ping" || kind.ended == Ended::by_the_clock) continue;
    CAPTURE(kind.name);
    check_below(limit, repeats, [&]() -> Time {
      Waiting waiting(kind, ClockKind::manual);
      return time_of([&] {
        waiting.clock.advance(1h);
        CHECK(waiting.connection.receive_until(": ping\n\n\r\n").found);
      });
    });
  }
}

TEST_CASE("a connection that is being read or drained ends within 20 ms of a stop, close or reset") {
  enum class Act { stop, close, reset };
  struct State {
    std::string name;
    std::function<void(Gateway&, RawConnection&)> reach;
  };
  const std::vector<State> states = {
      {"idle",
       [](Gateway& gateway, RawConnection& connection) {
         connection.send(Http(gateway).format_chat());
         REQUIRE(connection.receive_response().complete);
       }},
      {"in the middle of a head",
       [](Gateway&, RawConnection& connection) { connection.send("POST /v1/chat/completions HTTP/1.1\r\nHo"); }},
      {"in the middle of a body",
       [](Gateway& gateway, RawConnection& connection) {
         const std::string request = Http(gateway).format_chat();
         connection.send(request.substr(0, request.size() - 1));
       }},
      {"draining the rest of a rejected body",
       [](Gateway& gateway, RawConnection& connection) {
         gateway.next_connection(reply_before_body(unauthorized()));
         const std::string request = Http(gateway).format_chat();
         connection.send(request.substr(0, request.size() - 1));
         REQUIRE(connection.receive_all().end == End::fin);
       }},
  };
  for (const State& state : states) {
    for (const Act act : {Act::stop, Act::close, Act::reset}) {
      CAPTURE(state.name);
      check_below(limit, repeats, [&]() -> Time {
        Gateway gateway;
        RawConnection connection(gateway);
        state.reach(gateway, connection);
        return time_of([&] {
          if (act == Act::stop) gateway.stop();
          if (act == Act::close) connection.close();
          if (act == Act::reset) connection.abort();
          CHECK(gateway.journal().wait_until_idle(patience));
        });
      });
    }
  }
}

// --- How a test sees a wait ------------------------------------------------------------------------------------------

TEST_CASE("the outcome and the summary of a pending exchange say what it waits for") {
  for_each([](const Kind& kind, ClockKind clock) {
    if (kind.told.empty()) return;
    if (kind.name == std::string_view("the drain before a fault") && !test_support::tells_delivery) return;
    Waiting waiting(kind, clock);
    CHECK(eventually([&] { return waiting.exchange->outcome(0ms).waiting.rfind(kind.told, 0) == 0; }));
    const std::string summary = waiting.exchange->summary();
    CAPTURE(summary);
    CHECK(summary.find(" pending: " + kind.told) != std::string::npos);
  });
}

TEST_CASE("timed waits are listed by name and deadline, nearest first") {
  for (const Kind& kind : kinds()) {
    if (kind.listed.empty()) continue;
    CAPTURE(kind.name);
    Waiting waiting(kind, ClockKind::manual);
    const auto waits = waiting.clock.waits();
    REQUIRE(waits.size() == 1);
    CHECK(waits[0].name == kind.listed);
    CHECK(waits[0].deadline - ManualClock::default_start == (kind.listed == "token 2" ? 30min : 60min));
    waiting.connection.abort();
    CHECK(eventually([&] { return waiting.clock.waits().empty(); }));
  }
}

TEST_CASE("waits with the same deadline are listed in the order of their start, and end together") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a").first_token_after(1s));
  std::vector<RawConnection> clients;
  std::vector<std::future<void>> sleepers;
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(gateway);
    clients.back().send(Http(gateway).format_chat({{"stream", true}}));
    expected.push_back("token 1");
    REQUIRE(clock.wait_for_waits(expected.size(), patience));
    sleepers.push_back(std::async(std::launch::async, [clock]() mutable { clock.sleep_for(1s); }));
    expected.push_back("sleep_for");
    REQUIRE(clock.wait_for_waits(expected.size(), patience));
  }
  std::vector<std::string> names;
  for (const auto& pending : clock.waits()) names.push_back(pending.name);
  CHECK(names == expected);
  clock.advance(1s);
  for (std::future<void>& sleeper : sleepers) CHECK(sleeper.wait_for(patience) == std::future_status::ready);
  for (RawConnection& client : clients) CHECK(client.receive_response().done());
  CHECK(clock.waits().empty());
  CHECK(gateway.verify());
}

TEST_CASE("one list contains the waits of several exchanges and of a client's sleep") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("a").first_token_after(3s), text("a b").every(2s).first_token_after(2s));
  const std::string request = Http(gateway).format_chat({{"stream", true}});
  RawConnection first(gateway);
  first.send(request);
  REQUIRE(clock.wait_for_waits(1, patience));
  RawConnection second(gateway);
  second.send(request);
  REQUIRE(clock.wait_for_waits(2, patience));
  auto sleeper = std::async(std::launch::async, [clock]() mutable { clock.sleep_for(1s); });
  const Wait wait = clock.wait_for_waits(3, patience);
  REQUIRE(wait);
  CHECK(wait.message() == "3 waits are pending on the manual clock; sleep_for; token 1; token 1");
  std::vector<Duration> deadlines;
  for (const auto& pending : clock.waits()) deadlines.push_back(pending.deadline - ManualClock::default_start);
  CHECK(deadlines == std::vector<Duration>{1s, 2s, 3s});
  clock.advance(2s);
  sleeper.get();
  REQUIRE(clock.waits().size() == 2);
  CHECK(clock.waits()[0].name == "token 1");
  CHECK(clock.waits()[1].name == "token 2");
  CHECK(clock.waits()[1].deadline == ManualClock::default_start + 4s);
  clock.advance(2s);
  CHECK(clock.waits().empty());
}

// --- What ends a forgotten wait --------------------------------------------------------------------------------------

TEST_CASE("the guard ends a forgotten wait, and verify() reports the wait") {
  for (const Kind& kind : kinds()) {
    if (kind.ended == Ended::by_nothing_else) continue;
    CAPTURE(kind.name);
    check_below(50 + limit, 3, [&]() -> Time {
      Waiting waiting(kind, ClockKind::manual, 50ms);
      const Time time = time_of([&] { CHECK(waiting.has_ended()); });
      const Exchange exchange = waiting.gateway.journal().last();
      CHECK(exchange.outcome() == Outcome::Kind::completed);
      CHECK(exchange.guard_expired());
      const Verification verification = waiting.gateway.verify();
      REQUIRE(verification.problems().size() == 1);
      CHECK(verification.problems()[0].kind == Problem::Kind::guard_expired);
      return time;
    });
  }
}

TEST_CASE("all waits of an exchange end when the first guard expires") {
  const Gate never(50ms);
  std::string many;
  for (int i = 0; i < 40; ++i) many += "word ";
  struct Row {
    std::string name;
    Reply reply;
    std::optional<ConnectionFault> fault;
  };
  const std::vector<Row> rows = {
      {"a pace of many tokens", text(many).every(1s), {}},
      {"a pace with pings", text(many).every(1s).sse(pinging()), {}},
      {"many holds and stalls",
       text(many)
           .hold(never, before_event(2))
           .hold(never, before_token(2))
           .hold(never, before_token(3))
           .hold(never, before_token(4))
           .fault(after_tokens(5), stall(never))
           .fault(after_tokens(6), stall(1h))
           .every(1s),
       {}},
      {"a slow body", text(many).every(1s), slow_body(1, 1s)},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    check_below(50 + limit, 3, [&]() -> Time {
      Gateway gateway{Options{}.clock(ManualClock{ManualClock::default_start, 50ms}).verify_on_destruction(false)};
      gateway.chat().reply(row.reply);
      if (row.fault) gateway.next_connection(*row.fault);
      const Http http(gateway);
      const Time time = time_of([&] { CHECK(http.stream().done()); });
      CHECK(gateway.journal().last().guard_expired());
      CHECK(time >= 50ms);
      return time;
    });
  }
}

TEST_CASE("on the real clock a pace continues after a gate's guard has expired") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  Stub stub = gateway.chat().reply(text("a b c").every(20ms).hold(Gate(10ms), before_token(1)));
  const Time time = time_of([&] { CHECK(Http(gateway).stream().joined_text() == "a b c"); });
  CHECK(stub.last_call().guard_expired());
  CHECK(time >= 40ms);
}

TEST_CASE("an advance waits for a blocked exchange until one guard expires, not until one expires per deadline") {
  check_below(50 + 2 * limit, 3, [&]() -> Time {
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    ManualClock clock{ManualClock::default_start, 50ms};
    Gateway gateway{
        Options{}.clock(clock).verify_on_destruction(false).on_exchange([released](const Exchange& exchange) {
          if (exchange.body().find("blocks") != std::string::npos) released.wait();
        })};
    gateway.chat().reply(text("a b c d e f g h i j k l m n o p q r s t").first_token_after(2ms).every(1ms));
    gateway.chat().when(user_says("blocks")).reply(text("a").first_token_after(1ms));
    const Http http(gateway);
    RawConnection blocked(gateway);
    blocked.send(http.format_chat("blocks"));
    RawConnection paced(gateway);
    paced.send(http.format_chat({{"stream", true}}));
    REQUIRE(clock.wait_for_waits(2, patience));
    const Time time = time_of([&] { clock.advance(1s); });
    release.set_value();
    CHECK(paced.receive_response().complete);
    return time;
  });
}

TEST_CASE("a client that does not read delays an advance only briefly" * doctest::skip(!test_support::tells_delivery)) {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(chunks({raw_bytes(std::string(50'000, 'x'))})
                           .fault(after_events(1), stall(1s))
                           .fault(after_events(1), reset_connection()));
  RawConnection connection(gateway, {4096});
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(clock.wait_for_waits(1, patience));
  CHECK(time_of([&] { clock.advance(1s); }) < 5s);  // the guard is 10 s
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
  CHECK(connection.receive_all().end == End::reset);
  CHECK(exchange.outcome() == Outcome::Kind::broken_by_fault);
}

// --- Gates -----------------------------------------------------------------------------------------------------------

TEST_CASE("when a gate reports delivery, the client has everything before the gate and nothing more") {
  std::vector<std::string> pieces;  // the head of the stream and the bytes of each chunk
  {
    Gateway gateway{Options{}.clock(ManualClock{})};
    gateway.chat().reply(words());
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    const test_support::Response whole = connection.receive_response();
    pieces.push_back(whole.head);
    for (std::size_t at = whole.head.size(), next; at < whole.raw.size(); at = next) {
      next = whole.raw.find("\n\n\r\n", at);
      next = next == std::string::npos ? whole.raw.size() : next + 4;
      pieces.push_back(whole.raw.substr(at, next - at));
    }
  }
  REQUIRE(pieces.size() == 1 + 6 + 1);  // head; role, three tokens, finish, [DONE]; the terminating chunk
  struct Row {
    HoldPoint place;
    std::size_t pieces;
  };
  std::vector<Row> rows;
  for (std::size_t event = 1; event <= 6; ++event) rows.push_back({before_event(event), event});
  for (std::size_t token = 1; token <= 3; ++token) rows.push_back({before_token(token), token + 1});
  for (const Row& row : rows) {
    CAPTURE(row.place.number());
    std::string before;
    std::string after;
    for (std::size_t i = 0; i < pieces.size(); ++i) (i < row.pieces ? before : after) += pieces[i];
    Gate gate;
    Gateway gateway{Options{}.clock(ManualClock{})};
    gateway.chat().reply(words().hold(gate, row.place));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    const Wait wait = gate.wait_until_delivered(patience);
    REQUIRE(wait);
    CHECK(wait.message() == "1 of 1 exchanges have reached the gate, 1 with everything before it delivered");
    CHECK(test_support::net::unread(connection.descriptor()) == before.size());
    CHECK(gateway.journal().last().bytes_sent() == before.size());
    CHECK(connection.receive_until([&](std::string_view bytes) { return bytes.size() >= before.size(); }).bytes ==
          before);
    gate.release();
    CHECK(connection.receive_until([&](std::string_view bytes) { return bytes.size() >= after.size(); }).bytes ==
          after);
  }
}

TEST_CASE("while the client does not read, a gate is reached but not delivered" *
          doctest::skip(!test_support::tells_delivery)) {
  for (const bool stalls : {false, true}) {
    Gate gate;
    Gateway gateway;
    const Reply large = chunks({raw_bytes(std::string(50'000, 'x')), raw_bytes("y")});
    Stub stub =
        gateway.chat().reply(stalls ? large.fault(after_events(1), stall(gate)) : large.hold(gate, before_event(2)));
    RawConnection connection(gateway, {4096});
    connection.send(Http(gateway).format_chat());
    REQUIRE(gate.wait_until_reached(patience));
    const Wait early = gate.wait_until_delivered(30ms);
    CHECK_FALSE(early);
    CHECK(early.message() == "1 of 1 exchanges have reached the gate, 0 with everything before it delivered");
    const std::size_t sent = stub.last_call().bytes_sent();
    CHECK(test_support::net::unread(connection.descriptor()) < sent);
    connection.receive_until([&](std::string_view bytes) { return bytes.size() >= sent; });
    CHECK(gate.wait_until_delivered(patience));
    gate.open();
    CHECK(stub.last_call().outcome() == Outcome::Kind::completed);
  }
}

TEST_CASE("a gate counts the exchanges that it holds, not an exchange that left before delivery" *
          doctest::skip(!test_support::tells_delivery)) {
  Gate gate;
  Gateway gateway;
  const Reply large = chunks({raw_bytes(std::string(50'000, 'x')), raw_bytes("y")}).hold(gate, before_event(2));
  gateway.chat().reply(large);
  const std::string request = Http(gateway).format_chat();
  RawConnection reads(gateway);
  reads.send(request);
  REQUIRE(gate.wait_until_delivered(patience));
  RawConnection leaves(gateway, {4096});
  leaves.send(request);
  REQUIRE(gate.wait_until_reached(2, patience));
  const Exchange exchange = gateway.journal().last();
  leaves.abort();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.departure()->delivered < exchange.departure()->bytes);
  CHECK_FALSE(gate.wait_until_delivered(2, 30ms));
  RawConnection reads_too(gateway);
  reads_too.send(request);
  REQUIRE(gate.wait_until_reached(3, patience));
  CHECK(gate.wait_until_delivered(2, patience));
  gate.open();
}

TEST_CASE("a held plain reply has nothing to send before its gate, so the gate reports delivery at once") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(words().hold(gate, before_token(2)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gate.wait_until_delivered(patience));
  CHECK(test_support::net::unread(connection.descriptor()) == 0);
  gate.open();
  CHECK(connection.receive_response().complete);
}

TEST_CASE("release() lets only the longest-held exchange pass") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(words().hold(gate, before_token(2)));
  std::vector<RawConnection> connections;
  const std::string request = Http(gateway).format_chat({{"stream", true}});
  for (std::size_t i = 0; i < 4; ++i) {
    connections.emplace_back(gateway);
    connections.back().send(request);
    REQUIRE(gate.wait_until_reached(i + 1, patience));
  }
  REQUIRE(gate.wait_until_delivered(4, patience));
  const std::vector<Exchange> held = gateway.journal().all();
  for (std::size_t i = 0; i < 3; ++i) {
    gate.release();
    CHECK(connections[i].receive_response().joined_text() == "one two three");
    for (std::size_t j = i + 1; j < 4; ++j) {
      CHECK(held[j].outcome(0ms) == Outcome::Kind::pending);
      CHECK(held[j].tokens_sent() == 1);
    }
  }
  gate.open();
  CHECK(connections[3].receive_response().joined_text() == "one two three");
  // This gate is released before an exchange arrives, and later opened for all.
  Gate early;
  early.release();
  gateway.chat().reply(words().hold(early, before_token(2)));
  CHECK(Http(gateway).stream().done());
  connections[0].send(request);
  REQUIRE(early.wait_until_reached(2, patience));
  CHECK(gateway.journal().last().outcome(0ms) == Outcome::Kind::pending);
  early.open();
  CHECK(connections[0].receive_response().complete);
  CHECK(Http(gateway).stream().done());
}

}  // namespace waits_test
