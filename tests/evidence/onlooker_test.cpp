// Reports to an outside observer such as the control API: what is new in the journal, what a test leaves behind, when
// events left, what would answer a request.

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
using detail::Explanation;
using detail::JournalState;
using test_support::chat_body;
using test_support::has_part;
using test_support::Http;
using test_support::patience;
using test_support::Response;

detail::GatewayState& state_of(Gateway& gateway) { return *detail::Access::serving(gateway); }

TEST_CASE("each read of the journal returns what is new, once") {
  Gateway gateway;
  JournalState& journal = *state_of(gateway).journal;
  CHECK(journal.news(0).added.empty());
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
    const JournalState::News news = journal.news(number);
    for (const auto& record : news.added) ++seen[record->id];
    number = news.number;
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen.size() == clients * requests);
  for (const auto& [id, times] : seen) CHECK(times == 1);
}

TEST_CASE("a read after many evictions returns the kept exchanges") {
  Gateway gateway{Options{}.journal_limits(5, std::size_t{1} << 20)};
  const Http http(gateway);
  for (int i = 0; i < 12; ++i) http.chat();
  const JournalState::News news = state_of(gateway).journal->news(2);
  REQUIRE(news.added.size() == 5);
  CHECK(news.added.front()->id == 8);
  CHECK(news.added.back()->id == 12);
  CHECK(news.number == 12);
  CHECK(news.oldest == 8);
}

TEST_CASE("only what a test leaves behind is forgotten") {
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
  CHECK_THROWS_WITH_AS(gateway.journal().at(1), doctest::Contains("forgotten with its test's key"), GatewayError);
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

TEST_CASE("a running exchange of a forgotten test is forgotten at its end") {
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

TEST_CASE("events have the time of their sending and their size") {
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
  // Never before its time; later if the machine was busy.
  CHECK(tokens[0] >= 99ms);
  CHECK(tokens[1] >= 149ms);
  CHECK(tokens[2] >= 199ms);
  // Only the chunk of size 0 follows the last event.
  CHECK(bytes == response.raw.size() - response.head.size() - std::string("0\r\n\r\n").size());
}

TEST_CASE("of many events the first are available, with their times") {
  Gateway gateway{Options{}.keep_answers(true)};
  gateway.chat().reply(text("abcdef").chunked(by_characters(1)));
  CHECK(Http(gateway).stream().done());
  REQUIRE(gateway.journal().wait_until_idle(patience));
  const auto& log = *detail::Access::record(gateway.journal().last()).progress.log;
  CHECK(log.events(4).size() == 4);
  CHECK(log.events(1000).size() == gateway.journal().last().events_sent());
}

TEST_CASE("a manual clock reports what fired, in order") {
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
  CHECK(held->over());
  CHECK_FALSE(held->guard_expired());
  CHECK(detail::counts(gate).reached == 0);
  CHECK_FALSE(gate.wait_until_delivered(0s));
  for (const bool open : {false, true}) {
    open ? gate.open() : gate.release();
    detail::reset(gate);
    CHECK_FALSE(detail::counts(gate).open);
    const auto next = arrive();
    CHECK_FALSE(next->over());
    CHECK(detail::counts(gate).reached == 1);
    CHECK(gate.wait_until_delivered(0s));
  }
}

/// A gateway with some stubs that explains requests without receiving them.
class Explaining {
 public:
  Explaining() : gateway_(Options{}.model("mock-model").model("deep").verify_on_destruction(false)) {
    key_ = gateway_.keys().create("mine", KeyOptions().models({"mock-model"}));
    gateway_.chat().named("weather").when(user_says("weather"), has_tool("get_weather")).reply("sunny");
    gateway_.chat().named("once").when(user_says("once")).times(1).reply("one");
    gateway_.chat().named("done").when(user_says("over")).reply("a", then_nothing_more());
    gateway_.chat().named("never").when(user_says("never")).never();
    gateway_.chat().named("state").when(user_says("state")).in_state("m", "moved").reply("state");
    gateway_.chat().named("own").when(key_is("mine"), user_says("mine")).reply("own");
  }

  Explanation explain(const Json& extra, bool with_key = false) {
    ReceivedRequest request;
    request.method = "POST";
    request.target = "/v1/chat/completions";
    request.body =
        extra.is_object() && extra.contains("raw") ? extra["raw"].get<std::string>() : chat_body(extra).dump();
    const ApiKey key = gateway_.keys().find(with_key ? key_.id : gateway_.keys().list().front().id);
    request.key_id = key.id;
    request.key_description = key.description;
    return detail::explain(state_of(gateway_), request, key);
  }
  Gateway& gateway() { return gateway_; }

 private:
  Gateway gateway_;
  CreatedKey key_;
};

TEST_CASE("a request that is not sent is explained without side effects") {
  Explaining explaining;
  const Explanation once = explaining.explain("once");
  CHECK(once.decision == Decision::Kind::stub);
  REQUIRE(once.stub);
  CHECK(once.stub->plan().name == "once");
  CHECK(explaining.explain("once").decision == Decision::Kind::stub);
  CHECK(once.stub->calls() == 0);
  CHECK(explaining.gateway().journal().count() == 0);

  CHECK(Http(explaining.gateway()).ask("once") == "one");
  const Explanation again = explaining.explain("once");
  CHECK(again.decision == Decision::Kind::unmatched);
  CHECK(again.stub == nullptr);
  REQUIRE_FALSE(again.near_misses.empty());
  CHECK(has_part(again.message, "exhausted after 1 call"));
}

TEST_CASE("an explanation equals the real response") {
  Explaining explaining;
  const Explanation near = explaining.explain("weather?");
  CHECK(near.decision == Decision::Kind::unmatched);
  CHECK(near.near_misses.front().stub.name == "weather");
  CHECK(has_part(near.message, "1 of 2"));
  const Response sent = Http(explaining.gateway()).chat("weather?");
  CHECK(has_part(sent.error_message(), near.message));

  const Explanation never = explaining.explain("never");
  CHECK(never.decision == Decision::Kind::stub);
  CHECK(has_part(never.message, "must never be asked"));

  CHECK(explaining.explain("state").decision == Decision::Kind::unmatched);
  explaining.gateway().set_state("m", "moved");
  CHECK(explaining.explain("state").decision == Decision::Kind::stub);

  CHECK(explaining.explain("over").decision == Decision::Kind::stub);
  CHECK(Http(explaining.gateway()).ask("over") == "a");
  const Explanation over = explaining.explain("over");
  CHECK(over.decision == Decision::Kind::unmatched);
  CHECK(has_part(over.message, "nothing more after 1 call"));

  const Explanation broken = explaining.explain({{"temperature", "hot"}});
  CHECK(broken.decision == Decision::Kind::rejected);
  CHECK(broken.message == Http(explaining.gateway()).chat({{"temperature", "hot"}}).error_message());
  CHECK(explaining.explain({{"raw", "{"}}).decision == Decision::Kind::rejected);
  CHECK(explaining.explain({{"model", "none"}}).message ==
        Http(explaining.gateway()).chat({{"model", "none"}}).error_message());
}

TEST_CASE("an explanation stops like the real evaluation: at an exhausted stub, in that stub's state only") {
  Explaining explaining;
  Gateway& gateway = explaining.gateway();
  const Http http(gateway);
  gateway.chat().when(user_says("two")).in_state("a", "on").in_state("b", "on").reply("new", then_nothing_more());
  gateway.chat().when(user_says("two")).priority(-1).reply("old");
  const auto explained = [&] {
    const Explanation explanation = explaining.explain("two");
    return explanation.stub ? std::to_string(explanation.stub->plan().priority) : "none";
  };
  const auto answered = [&] {
    const Response response = http.chat("two");
    return response.status == 200 ? response.text() : response.error_code();
  };
  CHECK(explained() == "-1");
  CHECK(answered() == "old");
  gateway.set_state("a", "on");
  gateway.set_state("b", "on");
  CHECK(explained() == "0");
  CHECK(answered() == "new");
  CHECK(explained() == "none");
  CHECK(answered() == "no_stub_matched");
  for (const char* machine : {"a", "b"}) {
    gateway.set_state(machine, "off");
    CHECK(explained() == "-1");
    CHECK(answered() == "old");
    gateway.set_state(machine, "on");
    CHECK(explained() == "none");
    CHECK(answered() == "no_stub_matched");
  }
}

TEST_CASE("an explanation masks keys, in stubs and requests") {
  Explaining explaining;
  const std::string secret = explaining.gateway().api_key();
  const std::string foreign = "sk-foreign-0123456789abcdef0123456789";
  explaining.gateway()
      .chat()
      .named("for " + secret)
      .when(user_says("weather of " + foreign), user_says(secret))
      .reply("x");
  const Explanation explanation = explaining.explain("weather? " + secret + " " + foreign);
  CHECK(explanation.decision == Decision::Kind::unmatched);
  std::string shown = explanation.message;
  for (const NearMiss& near : explanation.near_misses) {
    shown += near.stub.name + near.stub.title + near.passed_over;
    for (const NearMiss::Condition& condition : near.conditions) shown += condition.expected + condition.actual;
  }
  CHECK(has_part(shown, "for sk-***"));
  CHECK(has_part(shown, "weather of sk-***"));
  CHECK(has_part(shown, "weather? sk-*** sk-***"));
  CHECK_FALSE(has_part(shown, secret));
  CHECK_FALSE(has_part(shown, foreign));
  CHECK_FALSE(has_part(explaining.explain({{"model", secret}}).message, secret));
}

TEST_CASE("an explanation is for the key that would send the request") {
  Explaining explaining;
  CHECK(explaining.explain("mine", true).decision == Decision::Kind::stub);
  const Explanation other = explaining.explain("mine");
  CHECK(other.decision == Decision::Kind::unmatched);
  for (const NearMiss& near : other.near_misses) CHECK(near.stub.name != "own");
  CHECK(explaining.explain({{"model", "deep"}}, true).decision == Decision::Kind::rejected);
}

TEST_CASE("the default reply answers without a stub, and unmatched requests if so configured") {
  Gateway empty;
  ReceivedRequest request;
  request.body = chat_body().dump();
  const ApiKey key = empty.keys().list().front();
  CHECK(detail::explain(state_of(empty), request, key).decision == Decision::Kind::default_reply);
  Gateway lenient{Options{}.unmatched(Unmatched::gets_default_reply)};
  lenient.chat().when(user_says("else")).reply("else");
  const Explanation explanation = detail::explain(state_of(lenient), request, lenient.keys().list().front());
  CHECK(explanation.decision == Decision::Kind::default_reply);
  CHECK(explanation.near_misses.size() == 1);
}

}  // namespace onlooker_test
