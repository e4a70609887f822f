// Internal data for the control API: new exchanges of the journal, remains of a test, and the times of sent events.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace onlooker_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using detail::JournalState;
using test_support::chat_body;
using test_support::has_part;
using test_support::Http;
using test_support::patience;
using test_support::Response;

detail::GatewayState& state_of(Gateway& gateway) { return *detail::Access::serving(gateway); }

TEST_CASE("each read of the journal returns only the exchanges since the last read") {
  Gateway gateway;
  JournalState& journal = *state_of(gateway).journal;
  CHECK(journal.changes_since(0).added.empty());
  constexpr int clients = 4;
  constexpr int requests = 100;
  std::atomic<int> left{clients};
  std::vector<std::thread> threads;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&] {
      const Http http = Http(gateway).keep_alive();
      for (int i = 0; i < requests; ++i) http.chat();
      --left;
    });
  }
  std::map<std::uint64_t, int> seen;
  std::uint64_t number = 0;
  for (bool last = false; !last;) {
    last = left == 0;
    const JournalState::Changes changes = journal.changes_since(number);
    for (const auto& record : changes.added) ++seen[record->id];
    number = changes.number;
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen.size() == clients * requests);
  for (const auto& [id, times] : seen) CHECK(times == 1);
}

TEST_CASE("a read of the journal after many evictions returns the exchanges that are left") {
  Gateway gateway{Options{}.journal_limits(5, std::size_t{1} << 20)};
  const Http http(gateway);
  for (int i = 0; i < 12; ++i) http.chat();
  const JournalState::Changes changes = state_of(gateway).journal->changes_since(2);
  REQUIRE(changes.added.size() == 5);
  CHECK(changes.added.front()->id == 8);
  CHECK(changes.added.back()->id == 12);
  CHECK(changes.number == 12);
  CHECK(changes.oldest == 8);
}

TEST_CASE("forgetting a test removes its data and no other test's") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("known")).reply("yes");
  const CreatedKey mine = gateway.keys().create("mine");
  const CreatedKey other = gateway.keys().create("other");
  const Http my_client = Http(gateway).with_key(mine.secret);
  const Http other_client = Http(gateway).with_key(other.secret);
  my_client.chat("strange");
  other_client.chat("strange too");
  my_client.chat("known");
  other_client.chat("known");
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK_FALSE(gateway.verify(mine.id));

  state_of(gateway).journal->forget(mine.id);
  CHECK(gateway.verify(mine.id));
  CHECK_FALSE(gateway.verify(other.id));
  CHECK(gateway.journal().in(mine.id).empty());
  CHECK(gateway.journal().in(other.id).size() == 2);
  CHECK(gateway.journal().evicted() == 0);
  CHECK(gateway.journal().at(2).request().key_id == other.id);
  CHECK_THROWS_WITH_AS(gateway.journal().at(1), doctest::Contains("removed together with its test's key"),
                       GatewayError);
  my_client.chat("known");
  CHECK(gateway.journal().last().id() == 5);
  state_of(gateway).journal->forget(RequestScope());
  CHECK(gateway.verify());
  CHECK_THROWS_AS(gateway.journal().at(5), GatewayError);
}

TEST_CASE("problems over the limit and their count are forgotten with their test") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("known")).reply("yes");
  const CreatedKey mine = gateway.keys().create("mine");
  const CreatedKey other = gateway.keys().create("other");
  const Http my_client = Http(gateway).with_key(mine.secret).keep_alive();
  const Http other_client = Http(gateway).with_key(other.secret).keep_alive();
  for (int i = 0; i < 101; ++i) other_client.chat("strange");
  for (int i = 0; i < 103; ++i) my_client.chat("strange");
  const Verification verification = gateway.verify(mine.id);
  CHECK(verification.problems().size() == 101);
  CHECK(verification.problems().back().text == "and 3 more problems of exchanges, not kept (unmatched)");
  CHECK(gateway.verify().problems().back().text == "and 4 more problems of exchanges, not kept (unmatched)");
  state_of(gateway).journal->forget(mine.id);
  CHECK(gateway.verify(mine.id).message() == "nothing is wrong");
  CHECK(gateway.verify().problems().size() == 101);
  CHECK(gateway.verify().problems().back().text == "and 1 more problem of exchanges, not kept (unmatched)");
  my_client.chat("strange");
  const std::vector<Problem> next = gateway.verify(mine.id).problems();
  REQUIRE(next.size() == 1);
  CHECK(next[0].exchanges.size() == 1);
}

TEST_CASE("a running exchange of a forgotten test is removed when it ends") {
  Gate gate;
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply(text("one two").hold(gate, before_token(2)).fault(after_tokens(9), stall()));
  std::thread client([&] { Http(gateway).stream(); });
  REQUIRE(gate.wait_until_reached(patience));
  state_of(gateway).journal->forget(RequestScope());
  CHECK(gateway.journal().all().size() == 1);
  gate.open();
  client.join();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().all().empty());
  CHECK(gateway.verify().problems().empty());
  CHECK(Http(gateway).chat().status == 200);
  CHECK(gateway.journal().all().size() == 1);
}

TEST_CASE("each event records its size and when it was sent") {
  Gateway gateway{Options{}.clock(InstantClock{}).keep_answers(true)};
  gateway.chat().reply(text("one two three").first_token_after(100ms).every(50ms));
  const Response response = Http(gateway).stream();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  const detail::ExchangeRecord& record = detail::Access::record(gateway.journal().last());
  REQUIRE(record.progress.log);
  const auto times = record.progress.log->events(1024);
  CHECK(times.size() == response.events().size());
  std::size_t bytes = 0;
  std::vector<Duration> tokens;
  for (const auto& event : times) {
    bytes += event.bytes;
    if (event.token) tokens.push_back(event.at);
  }
  REQUIRE(tokens.size() == 3);
  // An event is never sent early, but may be late if the machine is busy.
  CHECK(tokens[0] >= 99ms);
  CHECK(tokens[1] >= 149ms);
  CHECK(tokens[2] >= 199ms);
  // Only the chunk of size 0 follows the last event.
  CHECK(bytes == response.raw.size() - response.head.size() - std::string("0\r\n\r\n").size());
}

TEST_CASE("a stream with many events keeps the times of the first ones") {
  Gateway gateway{Options{}.keep_answers(true)};
  gateway.chat().reply(text("abcdef").chunked(by_characters(1)));
  CHECK(Http(gateway).stream().done());
  REQUIRE(gateway.journal().wait_until_idle(patience));
  const auto& log = *detail::Access::record(gateway.journal().last()).progress.log;
  CHECK(log.events(4).size() == 4);
  CHECK(log.events(1000).size() == gateway.journal().last().events_sent());
}

TEST_CASE("a manual clock reports the timers that fired, in order") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("one two three").first_token_after(1s).every(1s));
  CHECK(detail::is_manual(clock));
  CHECK_FALSE(detail::is_instant(clock));
  CHECK(detail::is_instant(InstantClock{}));
  CHECK_FALSE(detail::is_manual(InstantClock{}));
  std::thread client([&] { Http(gateway).stream(); });
  REQUIRE(clock.wait_for_waits(1, patience));
  const Clock handle = clock;
  REQUIRE(detail::pending_waits(handle).size() == 1);
  const TimePoint first = detail::pending_waits(handle).front().deadline;
  const auto fired = detail::advance_manual(handle, 10s);
  client.join();
  REQUIRE(fired.size() == 3);
  CHECK(fired[0].name == "token 1");
  CHECK(fired[0].deadline == first);
  CHECK(fired[2].name == "token 3");
  CHECK(fired[2].deadline == first + 2s);
  CHECK(detail::pending_waits(handle).empty());
}

TEST_CASE("a gate reports arrivals, waiting exchanges and whether it is open") {
  Gate gate;
  Gateway gateway;
  gateway.chat().reply(text("one two").hold(gate, before_token(2)));
  std::thread client([&] { Http(gateway).stream(); });
  REQUIRE(gate.wait_until_reached(patience));
  CHECK(detail::counts(gate).reached == 1);
  CHECK(detail::counts(gate).waiting == 1);
  CHECK_FALSE(detail::counts(gate).open);
  gate.open();
  client.join();
  CHECK(detail::counts(gate).waiting == 0);
  CHECK(detail::counts(gate).open);
}

TEST_CASE("resetting a gate releases its exchanges and clears its counts") {
  struct CountedWake final : detail::Wake {
    void wake() noexcept override { ++count; }
    int count = 0;
  };
  Gate gate;
  const auto wake = std::make_shared<CountedWake>();
  const auto arrive = [&] {
    return std::make_unique<detail::GateWait>(detail::Access::state(gate), wake, [] { return true; });
  };
  const auto held = arrive();
  detail::reset(gate);
  CHECK(wake->count == 1);
  CHECK(held->is_over());
  CHECK_FALSE(held->guard_expired());
  CHECK(detail::counts(gate).reached == 0);
  CHECK_FALSE(gate.wait_until_delivered(0s));
  for (const bool open : {false, true}) {
    open ? gate.open() : gate.release();
    detail::reset(gate);
    CHECK_FALSE(detail::counts(gate).open);
    const auto next = arrive();
    CHECK_FALSE(next->is_over());
    CHECK(detail::counts(gate).reached == 1);
    CHECK(gate.wait_until_delivered(0s));
  }
}

}  // namespace onlooker_test
