// The reported progress of a reply: bytes count only after they were passed to the connection.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/outlet.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace progress_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::has_part;
using test_support::Http;
using test_support::RawConnection;
using test_support::without_counts;

/// An outlet that records the reported progress at each write.
class Watching final : public test_support::WritesOnly {
 public:
  struct Write {
    std::string bytes;
    bool done_before;
    std::size_t events_before;
    std::size_t tokens_before;
    std::chrono::steady_clock::time_point at;
  };

  explicit Watching(const detail::DeliveryProgress& progress, std::size_t fails_at = 0)
      : progress_(progress), fails_at_(fails_at) {}

  std::optional<std::size_t> write_some(std::string_view bytes) override {
    writes.push_back(
        {std::string(bytes), progress_.done, progress_.events, progress_.tokens, std::chrono::steady_clock::now()});
    if (writes.size() == fails_at_) return std::nullopt;
    return bytes.size();
  }

  std::vector<Write> writes;

 private:
  const detail::DeliveryProgress& progress_;
  std::size_t fails_at_;
};

/// Two events of one token each, then [DONE].
Reply two_events() { return chunks({json_chunk({{"a", 1}}), json_chunk({{"b", 2}})}); }

SseDialect with_data_after_done() {
  const SseDialect dialect = SseDialect().after_done("{}");
  return dialect;
}

void stream(const Reply& reply, Watching& outlet, detail::DeliveryProgress& progress) {
  detail::Timeline timeline(detail::Access::state(InstantClock{}), nullptr);
  detail::PaceSchedule pace;
  detail::Delivery delivery(mock_gateway::detail::Access::data(reply), pace, outlet, timeline, timeline.now(),
                            progress);
  delivery.on_error_event([](const Failure& failure) { return failure.message(); });
  detail::ChunkEvents events(*mock_gateway::detail::Access::data(reply).chunks);
  delivery.stream("HEAD", events, true);
  delivery.advance();
}

TEST_CASE("[DONE] is reported only after its last byte was written") {
  const std::vector<std::pair<const char*, Reply>> replies = {
      {"due together", two_events()},
      {"event by event", two_events().write_each_event()},
      {"in one write", two_events().one_write()},
      {"in two writes", two_events().split_write(20)},
      {"byte by byte", two_events().slice_writes(1)},
      {"with a fault before", two_events().fault(before_done(), stall(1s))},
      {"with a fault inside [DONE]", two_events().fault(inside_event(3, 4), stall(1s))},
      {"after an error", two_events().fault(after_events(1), error_event(server_error()))},
      {"with data after it", two_events().sse(with_data_after_done())},
      {"with data after it, in one write", two_events().sse(with_data_after_done()).one_write()},
  };
  for (const auto& [what, reply] : replies) {
    const std::string shown = what;  // a structured binding cannot be captured
    CAPTURE(shown);
    detail::DeliveryProgress progress;
    Watching outlet(progress);
    stream(reply, outlet, progress);
    CHECK(progress.done);
    std::string sent;  // written before
    for (const Watching::Write& write : outlet.writes) {
      CHECK_FALSE((write.done_before && !has_part(sent, "[DONE]")));
      sent += write.bytes;
    }
    CHECK(has_part(sent, "[DONE]"));
  }
}

TEST_CASE("[DONE] is reported with its own time, even if more bytes follow") {
  const Reply reply = two_events().sse(with_data_after_done()).write_each_event();
  detail::DeliveryProgress progress;
  Watching outlet(progress);
  stream(reply, outlet, progress);
  std::size_t done = 0;
  while (done < outlet.writes.size() && !has_part(outlet.writes[done].bytes, "[DONE]")) ++done;
  REQUIRE(done + 1 < outlet.writes.size());
  CHECK(progress.done_at.load() >= outlet.writes[done].at);
  CHECK(progress.done_at.load() <= outlet.writes[done + 1].at);
}

TEST_CASE("events and tokens are reported only after they were written") {
  // The elements of the stream are the head, two events, [DONE] and the terminating chunk.
  for (const bool simple : {true, false}) {
    const Reply apart = two_events().write_each_event();
    const Reply reply = simple ? apart : apart.fault(at_end(), stall(1s));
    for (std::size_t fails_at = 1; fails_at <= 6; ++fails_at) {
      CAPTURE(simple);
      CAPTURE(fails_at);
      detail::DeliveryProgress progress;
      Watching outlet(progress, fails_at);
      stream(reply, outlet, progress);
      for (std::size_t i = 0; i < outlet.writes.size(); ++i)
        CHECK(outlet.writes[i].events_before == (i == 0 ? 0 : i - 1));
      CHECK(progress.events == (fails_at == 1 ? 0 : std::min<std::size_t>(fails_at - 2, 3)));
      CHECK(progress.done == (fails_at > 4));
    }
  }
}

TEST_CASE("a write has at most 64 KiB, even if more bytes are due") {
  std::vector<StreamChunk> elements(2000, json_chunk({{"word", std::string(100, 'x')}}));
  elements.push_back(json_chunk({{"word", std::string(200'000, 'y')}}));
  detail::DeliveryProgress progress;
  Watching outlet(progress);
  stream(chunks(elements), outlet, progress);
  CHECK(progress.events == elements.size() + 1);
  CHECK(progress.done);
  std::string sent;
  for (const Watching::Write& write : outlet.writes) sent += write.bytes;
  std::string expected;
  {
    detail::DeliveryProgress ignored;
    Watching apart(ignored);
    stream(chunks(elements).write_each_event(), apart, ignored);
    CHECK(apart.writes.size() == elements.size() + 3);  // head, [DONE], the end of the body
    for (const Watching::Write& write : apart.writes) expected += write.bytes;
  }
  CHECK((sent == expected));
  CHECK(outlet.writes.size() <= sent.size() / 65536 + 3);
  // An event that exceeds the limit is written in one piece.
  for (const Watching::Write& write : outlet.writes) {
    const bool of_one_event = !has_part(write.bytes, "xxx");
    CHECK((write.bytes.size() <= 65536 || of_one_event));
  }
}

TEST_CASE("a client that never got [DONE] gets no finding for leaving the stream open") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(
      chunks({json_chunk({{"a", 1}})}).sse(with_data_after_done()).one_write().hold(gate, before_event(3)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.bytes_sent() == 0);
  CHECK_FALSE(mock_gateway::detail::Access::record(exchange).progress.done);
  gate.open();
  CHECK(connection.receive_response().complete);
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(mock_gateway::detail::Access::record(exchange).progress.done);
}

TEST_CASE("a client gets no finding for an open stream while [DONE] is in the gateway's send queue" *
          doctest::skip(!test_support::tells_delivery)) {
  // The reply exceeds what the client's system accepts, but fits into the buffers of the gateway's system.
  const Reply large = chunks({raw_bytes("data: " + std::string(std::size_t{512} << 10, 'x') + "\n\n")});
  const std::pair<const char*, Reply> replies[] = {
      {"the stream stays open", large.sse(SseDialect().open_after_done(true))},
      {"it stalls", large.fault(at_end(), stall())},
      {"the gateway closes it", large.fault(at_end(), close_connection())},
  };
  for (const auto& [what, reply] : replies) {
    const std::string shown = what;  // a structured binding cannot be captured
    CAPTURE(shown);
    Gateway gateway;
    gateway.chat().reply(reply);
    RawConnection client(gateway, {65536});
    client.send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(gateway.journal().wait_for(1, 10s));
    const Exchange exchange = gateway.journal().last();
    const auto& progress = mock_gateway::detail::Access::record(exchange).progress;
    REQUIRE(test_support::eventually([&] { return progress.done.load(); }));
    const auto handed_over = std::chrono::steady_clock::now();
    REQUIRE(test_support::eventually([&] { return std::chrono::steady_clock::now() - handed_over > 600ms; }));
    CHECK(gateway.review().findings().empty());
    REQUIRE(client.receive_until("data: [DONE]\n\n").found);
    client.close();
    CHECK(exchange.outcome() != Outcome::Kind::pending);
    CHECK(without_counts(gateway.review().message()) == "clean: 1 exchange judged");
  }
}

TEST_CASE("durations of waits are printed in seconds with one decimal, even if they last hours") {
  using Wait = detail::ScriptedWait;
  for (const Duration ago : {Duration{0}, Duration(990ms), Duration(1001ms), Duration(9'999ms), Duration(10'005ms),
                             Duration(59'960ms), Duration(61'050ms), Duration(3'600'500ms), Duration(90'061'010ms)}) {
    CAPTURE(ago);
    const auto began = std::chrono::steady_clock::now() - ago;
    const std::string shown = Wait{Wait::Kind::stall, "after token 2", {}, began}.under_way();
    const Duration latest = std::chrono::steady_clock::now() - began;
    CAPTURE(shown);
    const std::string before = "stalls as scripted after token 2, for ";
    REQUIRE(shown.substr(0, before.size()) == before);
    const std::string number = shown.substr(before.size(), shown.size() - before.size() - 9);
    CHECK(shown.substr(before.size() + number.size()) == " s so far");
    REQUIRE(number.find('.') == number.size() - 2);
    const long long tenths =
        std::stoll(number.substr(0, number.size() - 2)) * 10 + std::stoll(number.substr(number.size() - 1));
    CHECK(tenths >= ago / 100ms);
    CHECK(tenths <= latest / 100ms);
  }
  const std::pair<Duration, const char*> over[] = {{1500ms, "1.5"}, {10s, "10"}, {60'050ms, "60.05"}, {2h, "7200"}};
  for (const auto& [lasted, expected] : over)
    CHECK(Wait{Wait::Kind::hold, "before token 2"}.in_vain(lasted) ==
          "was held as scripted before token 2 for " + std::string(expected) + " s; the client was still waiting");
}

// --- Lateness --------------------------------------------------------------------------------------------------------

/// An outlet that ends waits and accepts bytes only when the test says so.
class LooksLate final : public test_support::WritesOnly {
 public:
  std::optional<std::size_t> write_some(std::string_view bytes) override { return takes ? bytes.size() : 0; }
  WaitState check_wait(detail::Pending& pending, OnClientClosed) override {
    return looks && pending.is_over() ? WaitState::done : WaitState::not_yet;
  }
  WaitState check_room() override { return takes ? WaitState::done : WaitState::not_yet; }
  std::shared_ptr<detail::Wake> waker() override { return std::make_shared<WokenByTest>(); }

  bool looks = true;
  bool takes = true;

 private:
  struct WokenByTest final : detail::Wake {
    void wake() noexcept override {}
  };
};

TEST_CASE("lateness counts from the due time or, if that is later, from the end of another wait") {
  struct Case {
    const char* what;
    bool gateway_is_slow;
    bool client_is_slow;
    bool is_overdue;
    bool is_held;
  };
  for (const Case& tried :
       {Case{"a gateway that is slow", true, false, false, false},
        Case{"a gateway that is slow with what is overdue", true, false, true, false},
        Case{"a client that does not read", false, true, false, false}, Case{"a gate", false, false, false, true}}) {
    CAPTURE(tried.what);
    Gate gate;
    Reply reply = chunks({json_chunk({{"a", 1}}), json_chunk({{"b", 2}}).at(1ms)});
    // In a reply with a fault, even an unreached fault, each event waits for its turn.
    reply = tried.is_held ? reply.hold(gate, before_event(1)) : reply.fault(after_events(9), stall(1s));
    detail::Timeline timeline(detail::Access::state(RealClock{}), nullptr);
    detail::PaceSchedule pace;
    detail::DeliveryProgress progress;
    LooksLate outlet;
    outlet.looks = !tried.gateway_is_slow && !tried.is_held;
    outlet.takes = !tried.client_is_slow;
    const TimePoint start = timeline.now() - (tried.is_overdue ? Duration(1h) : Duration(0));
    detail::Delivery delivery(detail::Access::data(reply), pace, outlet, timeline, start, progress);
    detail::ChunkEvents events(*detail::Access::data(reply).chunks);
    delivery.stream("HEAD", events, true);
    CHECK_FALSE(delivery.advance());
    CHECK(progress.lateness == 0);
    const TimePoint late = timeline.now() + 21ms;
    while (timeline.now() < late) std::this_thread::yield();
    const TimePoint goes_on = timeline.now();
    gate.open();
    outlet.looks = outlet.takes = true;
    while (!delivery.advance()) {
    }
    const Duration lateness(progress.lateness);
    CHECK(lateness <= timeline.now() - (tried.gateway_is_slow ? late - 21ms - 1s : goes_on));
    if (tried.gateway_is_slow) CHECK(lateness >= 20ms);
  }
}

TEST_CASE("a paced reply reports its lateness, which is zero on the instant clock") {
  const auto ask = [](const Options& options, bool stream) {
    Gateway gateway(options.pace(Pace().every(2ms)));
    gateway.chat().reply(text("one two three"));
    Http(gateway).chat({{"stream", stream}});
    REQUIRE(gateway.journal().wait_until_idle(10s));
    const Exchange exchange = gateway.journal().last();
    CHECK(exchange.lateness() < *exchange.ended() - exchange.received());
    return exchange.lateness();
  };
  for (const bool stream : {false, true}) {
    CAPTURE(stream);
    CHECK(ask(Options(), stream) > 0s);
    CHECK(ask(Options().clock(InstantClock()), stream) == 0s);
  }

  ManualClock clock;
  Gateway gateway(Options().clock(clock).pace(Pace().every(1s)));
  gateway.chat().reply(text("one two three"));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(test_support::eventually([&] { return !clock.waits().empty(); }));
  clock.advance(10s);  // far beyond the due time of the next token
  CHECK(connection.receive_response().complete);
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::completed);
  CHECK(gateway.journal().last().lateness() == 0s);
}

}  // namespace progress_test
