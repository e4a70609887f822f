// Pace: when the gateway sends the tokens of a reply, by gap or speed, fixed or random. chunking_test.cpp tests how
// replies are cut.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"
#include "support/text.hpp"

namespace pace_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::RawConnection;
using test_support::refused;

using Times = std::vector<std::int64_t>;  // in nanoseconds, which doctest can print

inline Times times(std::initializer_list<Duration> durations) {
  Times result;
  for (const Duration duration : durations) result.push_back(duration.count());
  return result;
}

Json asking(const std::string& words) { return {{"messages", {{{"role", "user"}, {"content", words}}}}}; }

/// A gateway on a manual clock that advances from deadline to deadline.
class Stepped {
 public:
  explicit Stepped(Options options = {}) : gateway(options.clock(clock)), http(gateway) {}
  explicit Stepped(const Reply& reply, Options options = {}) : Stepped(std::move(options)) {
    gateway.chat().reply(reply);
  }

  /// Returns when the gateway sends each token of a stream, relative to the request.
  Times stream(Json fields = Json::object()) {
    fields["stream"] = true;
    const Exchange exchange = send(fields);
    Times result;
    for (;;) {
      const bool more = goes_on(exchange);
      const std::int64_t now = (clock.now() - exchange.received()).count();
      while (result.size() < exchange.tokens_sent()) result.push_back(now);
      if (!more) return result;
      clock.advance_to_next_event();
    }
  }
  /// Returns when the gateway sends a plain reply, relative to the request.
  std::int64_t plain(Json fields = Json::object()) {
    fields["stream"] = false;
    const Exchange exchange = send(fields);
    while (goes_on(exchange)) clock.advance_to_next_event();
    return (*exchange.first_byte() - exchange.received()).count();
  }

  ManualClock clock;
  Gateway gateway;
  Http http;

 private:
  Exchange send(const Json& fields) {
    connections_.emplace_back(gateway);
    connections_.back().send(http.format_chat(fields));
    REQUIRE(gateway.journal().wait_for(connections_.size(), 10s));
    return gateway.journal().last();
  }
  /// Waits until the exchange waits for the clock or has ended. Returns whether it waits.
  bool goes_on(const Exchange& exchange) const {
    const auto ended = [&] { return exchange.outcome(0s) != Outcome::Kind::pending; };
    REQUIRE(test_support::eventually([&] { return ended() || !clock.waits().empty(); }));
    return !ended();
  }

  std::vector<RawConnection> connections_;
};

inline std::string letters(std::size_t tokens) {
  std::string result = "a";
  for (std::size_t count = 1; count < tokens; ++count) result += " a";
  return result;
}

template <class Number>
inline double mean_of(const std::vector<Number>& numbers) {
  double sum = 0;
  for (const Number number : numbers) sum += static_cast<double>(number);
  return sum / static_cast<double>(numbers.size());
}

template <class Number>
inline double deviation_of(const std::vector<Number>& numbers) {
  const double mean = mean_of(numbers);
  double sum = 0;
  for (const Number number : numbers)
    sum += (static_cast<double>(number) - mean) * (static_cast<double>(number) - mean);
  return std::sqrt(sum / static_cast<double>(numbers.size()));
}

inline double median_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

inline Times gaps_of(const Times& times) {
  Times gaps;
  for (std::size_t index = 1; index < times.size(); ++index) gaps.push_back(times[index] - times[index - 1]);
  return gaps;
}

// --- Exact times -----------------------------------------------------------------------------------------------------

struct Paced {
  Reply reply;
  Times times;
};

inline std::vector<Paced> exact() {
  return {
      {text("a b c").first_token_after(2s).every(500ms), times({2s, 2500ms, 3s})},
      {text("a b c").every(500ms), times({0s, 500ms, 1s})},
      {text("a b c").first_token_after(2s), times({2s, 2s, 2s})},
      {text("a b c").first_token_after(uniform(7ms, 7ms)).every(normal(5ms, 0ms)), times({7ms, 12ms, 17ms})},
      {text("a b c").every(log_normal(3ms, 0)), times({0ms, 3ms, 6ms})},
      {text("a b c d").tokens_per_second(50), times({0ms, 20ms, 40ms, 60ms})},
      {text("a b c d").first_token_after(1s).tokens_per_second(3), times({1s, 1333333333ns, 1666666667ns, 2s})},
      {text("a b c d e f").every(recorded({10ms, 30ms})), times({0ms, 10ms, 40ms, 50ms, 80ms, 90ms})},
      {text("a b c d").tokens_per_second(recorded({10, 100})), times({0ms, 100ms, 110ms, 210ms})},
      {text("a b c").tokens_per_second(uniform(10, 10)), times({0ms, 100ms, 200ms})},
      // The last setting takes precedence.
      {text("a b").tokens_per_second(50).every(1ms), times({0ms, 1ms})},
      {text("a b").every(1ms).tokens_per_second(50), times({0ms, 20ms})},
      {text("a b").every(1ms).every(2ms), times({0ms, 2ms})},
      {text("a b").pace(Pace().first_token_after(3ms).every(2ms)), times({3ms, 5ms})},
      {text("a b").every(1ms).pace(Pace().first_token_after(3ms)), times({3ms, 4ms})},
      // A gap counts deltas, a speed counts tokens.
      {text("a b c d e").every(10ms).chunked(by_tokens(2)), times({0ms, 10ms, 20ms})},
      {text("a b c d e").tokens_per_second(50).chunked(by_tokens(2)), times({0ms, 40ms, 60ms})},
      {text("abcd").every(10ms).chunked(by_characters()), times({0ms, 10ms, 20ms, 30ms})},
      {text("abcd").tokens_per_second(50).chunked(by_characters()), times({0ms, 5ms, 10ms, 15ms})},
      {text("ab cde").tokens_per_second(recorded({10, 20})).chunked(by_pieces({"a", "b cd", "e"})),
       times({0ms, 125ms, 137500us})},
      {thinking("a").text("b").tool_call("f").every(1s), times({0s, 1s, 2s})},
      {choices(text("a b"), text("c d")).every(1s), times({0s, 1s, 2s, 3s})},
  };
}

TEST_CASE("first token, gaps and speed match the reply to the nanosecond") {
  for (const Paced& row : exact()) {
    CAPTURE(row.times);
    Stepped on(row.reply);
    const std::size_t choices = mock_gateway::detail::Access::data(row.reply).choices.size();
    CHECK(on.stream({{"n", choices}}) == row.times);
  }
}

TEST_CASE("a plain reply is sent when a stream would send its last token") {
  for (const Paced& row : exact()) {
    CAPTURE(row.times);
    Stepped on(row.reply);
    const std::size_t choices = mock_gateway::detail::Access::data(row.reply).choices.size();
    CHECK(on.plain({{"n", choices}}) == row.times.back());
  }
  Stepped drawn(text(letters(20)).first_token_after(uniform(1s, 2s)).tokens_per_second(log_normal(50, 1)));
  Stepped same(text(letters(20)).first_token_after(uniform(1s, 2s)).tokens_per_second(log_normal(50, 1)));
  CHECK(drawn.plain() == same.stream().back());
  Stepped cut(text(letters(20)).tokens_per_second(normal(50, 20)).chunked(by_bytes(7)));
  Stepped same_cut(text(letters(20)).tokens_per_second(normal(50, 20)).chunked(by_bytes(7)));
  CHECK(cut.plain() == same_cut.stream().back());
}

TEST_CASE("a speed of thirty tokens per second is exact in a long reply") {
  Stepped on(text(letters(301)).tokens_per_second(30));
  const Times all = on.stream();
  REQUIRE(all.size() == 301);
  for (std::size_t second = 0; second <= 10; ++second)
    CHECK(all[30 * second] == static_cast<std::int64_t>(second) * 1'000'000'000);
}

TEST_CASE("lateness does not accumulate: after a hold the late tokens are sent at once, the next at its own time") {
  Gate gate;
  Stepped on(text("a b c d").every(1s).hold(gate, before_token(2)));
  RawConnection connection(on.gateway);
  connection.send(on.http.format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  on.clock.advance(2500ms);
  gate.open();
  REQUIRE(on.clock.wait_for_waits(1, 10s));
  CHECK(on.gateway.journal().last().tokens_sent() == 3);
  CHECK(on.clock.waits()[0].deadline == ManualClock::default_start + 3s);
  on.clock.advance_to_next_event();
  CHECK(connection.receive_response().joined_text() == "a b c d");
}

TEST_CASE("a list of times to the first token is used in turn and then starts again") {
  Stepped on(text("a").first_token_after(recorded({1s, 2s})));
  CHECK(on.plain() == times({1s})[0]);
  CHECK(on.stream() == times({2s}));
  CHECK(on.plain(asking("other")) == times({1s})[0]);  // a different request
  CHECK(on.plain() == times({1s})[0]);
  Stepped three(text("a").first_token_after(recorded({1s, 2s, 3s})));
  for (const Duration time : {1s, 2s, 3s, 1s}) CHECK(three.plain() == times({time})[0]);
}

TEST_CASE("a raw reply and a failure have a time to the first byte, chunks have gaps") {
  Stepped raw(raw_reply(503, "later").first_token_after(2s));
  CHECK(raw.plain() == times({2s})[0]);
  Stepped failed(Reply(service_unavailable()).first_token_after(recorded({3s})));
  CHECK(failed.plain() == times({3s})[0]);
  const Json delta = {{"choices", {{{"index", 0}, {"delta", {{"content", "a b c"}}}}}}};
  const Reply three = chunks({json_chunk(delta), json_chunk(delta), raw_bytes(": ping\n\n"), json_chunk(delta)});
  Stepped gaps(three.every(recorded({1s, 2s})));
  CHECK(gaps.stream() == times({0s, 1s, 3s}));
  Stepped speed(three.tokens_per_second(4));
  CHECK(speed.stream() == times({0ms, 250ms, 500ms}));
}

TEST_CASE("an empty reply is sent at the time of the first token") {
  Stepped on(text("").first_token_after(2s).tokens_per_second(10).chunked(by_words()));
  CHECK(on.plain() == times({2s})[0]);
}

TEST_CASE("on the instant clock a random pace takes no time, but the exchange records the times") {
  Gateway gateway{Options{}.clock(InstantClock{})};
  Stub stub = gateway.chat().reply(text(letters(100)).every(uniform(1h, 2h)));
  const auto before = std::chrono::steady_clock::now();
  CHECK(Http(gateway).stream().joined_text() == letters(100));
  CHECK(std::chrono::steady_clock::now() - before < 10s);
  const Exchange exchange = stub.last_call();
  REQUIRE(exchange.outcome() == Outcome::Kind::completed);
  CHECK(*exchange.ended() - exchange.received() >= 99h);
  CHECK(*exchange.ended() - exchange.received() < 199h);
}

// --- Distributions ---------------------------------------------------------------------------------------------------

template <class Drawn>
std::vector<double> draws(const Drawn& drawn, std::size_t count = 200'000) {
  const detail::Distribution& distribution = detail::Access::distribution(drawn);
  mock_gateway::detail::Random random(7);
  std::vector<double> numbers;
  for (std::size_t index = 0; index < count; ++index) numbers.push_back(distribution.draw(random, index));
  return numbers;
}

/// Returns random draws of a duration, in milliseconds.
inline std::vector<double> milliseconds(const Timing& timing) {
  std::vector<double> numbers = draws(timing);
  for (double& number : numbers) number /= 1e6;
  return numbers;
}

inline bool all_within(const std::vector<double>& numbers, double least, double most) {
  return std::all_of(numbers.begin(), numbers.end(), [&](double n) { return n >= least && n <= most; });
}

// The seed is fixed, so these tests cannot fail by chance. The tolerances are about five standard deviations of the
// estimate.
TEST_CASE("the normal distribution has its four moments") {
  mock_gateway::detail::Random random(1);
  std::vector<double> first, third, fourth;
  for (int index = 0; index < 200'000; ++index) {
    const double number = random.normal();
    first.push_back(number);
    third.push_back(number * number * number);
    fourth.push_back(number * number * number * number);
  }
  CHECK(std::abs(mean_of(first)) < 0.012);
  CHECK(std::abs(deviation_of(first) - 1) < 0.008);
  CHECK(std::abs(mean_of(third)) < 0.045);
  CHECK(std::abs(mean_of(fourth) - 3) < 0.12);
  const auto within_one = std::count_if(first.begin(), first.end(), [](double n) { return std::abs(n) < 1; });
  CHECK(std::abs(static_cast<double>(within_one) / 200'000 - 0.6827) < 0.006);
}

TEST_CASE("uniform times are equally likely between their bounds") {
  const std::vector<double> drawn = milliseconds(uniform(10ms, 50ms));
  CHECK(all_within(drawn, 10, 50));
  CHECK(std::abs(mean_of(drawn) - 30) < 0.13);
  CHECK(std::abs(deviation_of(drawn) - 40 / std::sqrt(12)) < 0.08);
  for (const double quarter : {20, 30, 40}) {
    const auto below = std::count_if(drawn.begin(), drawn.end(), [&](double n) { return n < quarter; });
    CHECK(std::abs(static_cast<double>(below) / 200'000 - (quarter - 10) / 40) < 0.006);
  }
  const std::vector<double> rates = draws(uniform(20, 80));
  CHECK(all_within(rates, 20, 80));
  CHECK(std::abs(mean_of(rates) - 50) < 0.2);
}

TEST_CASE("normal times have their mean and deviation, and are clamped at the same distance on both sides") {
  const std::vector<double> drawn = milliseconds(normal(100ms, 20ms));
  CHECK(std::abs(mean_of(drawn) - 100) < 0.25);
  CHECK(std::abs(deviation_of(drawn) - 20) < 0.16);
  const std::vector<double> wide = milliseconds(normal(10ms, 20ms));
  CHECK(all_within(wide, 0, 20));
  CHECK(std::abs(mean_of(wide) - 10) < 0.1);
  const auto clamped = [&](double bound) { return static_cast<double>(std::count(wide.begin(), wide.end(), bound)); };
  CHECK(std::abs(clamped(0) / 200'000 - 0.3085) < 0.006);
  CHECK(std::abs(clamped(20) / 200'000 - 0.3085) < 0.006);
  const std::vector<double> rates = draws(normal(50, 100));
  CHECK(all_within(rates, 5, 95));
  CHECK(std::abs(mean_of(rates) - 50) < 0.5);
}

TEST_CASE("log-normal times have their median and a long tail that raises the mean") {
  std::vector<double> drawn = milliseconds(log_normal(20ms, 0.5));
  CHECK(std::abs(median_of(drawn) - 20) < 0.15);
  CHECK(std::abs(mean_of(drawn) - 20 * std::exp(0.125)) < 0.15);
  for (double& number : drawn) number = std::log(number);
  CHECK(std::abs(mean_of(drawn) - std::log(20)) < 0.006);
  CHECK(std::abs(deviation_of(drawn) - 0.5) < 0.004);
  CHECK(all_within(milliseconds(log_normal(24h * 30, 5)), 0, 30.0 * 24 * 3600 * 1000));
  CHECK(std::abs(median_of(draws(log_normal(50, 1))) - 50) < 0.8);
}

TEST_CASE("the gaps of a stream follow its distribution") {
  Stepped on(text(letters(2001)).every(log_normal(20ms, 0.5)));
  std::vector<double> logarithms;
  for (const std::int64_t gap : gaps_of(on.stream())) logarithms.push_back(std::log(static_cast<double>(gap) / 1e6));
  REQUIRE(logarithms.size() == 2000);
  CHECK(std::abs(mean_of(logarithms) - std::log(20)) < 0.06);
  CHECK(std::abs(deviation_of(logarithms) - 0.5) < 0.04);
}

// --- Repeatability ---------------------------------------------------------------------------------------------------

const Reply drawn_reply = text(letters(5)).first_token_after(uniform(10ms, 50ms)).every(normal(20ms, 5ms));

TEST_CASE("the same seed repeats the same times, on every machine") {
  Stepped on(drawn_reply);
  const Times expected = {40978866, 55370556, 74553590, 101680802, 119096796};
  const Times all = on.stream();
  REQUIRE(all.size() == 5);
  for (std::size_t token = 0; token < 5; ++token)
    CHECK(std::abs(all[token] - expected[token]) <= 1);  // allows 1 ns of rounding, see Random
}

TEST_CASE("times depend on the seed, the request and its occurrence") {
  Stepped first(drawn_reply);
  Stepped second(drawn_reply);
  Stepped seeded(drawn_reply, Options{}.seed(2));
  const Times once = first.stream();
  const Times twice = first.stream();
  CHECK(once != twice);
  CHECK(gaps_of(once) != gaps_of(twice));
  CHECK(second.plain() == once.back());
  CHECK(second.stream() == twice);
  const Times other_seed = seeded.stream();
  CHECK(other_seed != once);
  CHECK(other_seed != twice);
  CHECK(seeded.stream(asking("other")) != other_seed);
}

TEST_CASE("every random part of a pace differs by request and by occurrence") {
  const Pace drawn[] = {Pace().first_token_after(uniform(1s, 2s)), Pace().every(uniform(10ms, 20ms)),
                        Pace().tokens_per_second(uniform(10, 100)), Pace().tokens_per_second(normal(50, 10)),
                        Pace().first_token_after(1s).tokens_per_second(uniform(10, 100))};
  for (const Pace& pace : drawn) {
    const Reply reply = text("a b c d e");
    const auto scripted = [&](const Options& options) { return Stepped(reply.pace(pace), options); };
    Stepped on = scripted(Options{});
    const Times once = on.stream();
    const Times twice = on.stream();
    const Times other = on.stream(asking("other"));
    CHECK(once != twice);
    CHECK(once != other);
    CHECK(twice != other);
    CHECK(scripted(Options{}).stream() == once);
    CHECK(scripted(Options{}.seed(2)).stream() != once);
    CHECK(on.plain(asking("other")) != other.back());
    Stepped by_gateway(reply, Options{}.pace(pace));
    CHECK(by_gateway.stream() == once);
    CHECK(by_gateway.stream() == twice);
  }
}

TEST_CASE("times do not depend on the order of requests") {
  Stepped one(drawn_reply);
  Stepped other(drawn_reply);
  const Times x = one.stream(asking("x"));
  const Times y = one.stream(asking("y"));
  CHECK(x != y);
  CHECK(other.stream(asking("y")) == y);
  CHECK(other.stream(asking("x")) == x);

  Stepped both(drawn_reply);
  std::vector<RawConnection> connections;
  for (const char* const words : {"y", "x"}) {
    Json fields = asking(words);
    fields["stream"] = true;
    connections.emplace_back(both.gateway);
    connections.back().send(both.http.format_chat(fields));
  }
  REQUIRE(both.clock.wait_for_waits(2, 10s));
  both.clock.advance(1h);
  for (const Exchange& exchange : both.gateway.journal().all()) {
    REQUIRE(exchange.outcome() == Outcome::Kind::completed);
    const bool is_x = exchange.chat().last_user_text() == "x";
    CHECK((*exchange.ended() - exchange.received()).count() == (is_x ? x : y).back());
  }
}

TEST_CASE("the gaps do not depend on the time to the first token") {
  Stepped drawn(drawn_reply);
  Stepped fixed(drawn_reply.first_token_after(1s));
  const Times gaps = gaps_of(fixed.stream());
  const Times others = gaps_of(drawn.stream());
  for (std::size_t index = 0; index < gaps.size(); ++index) CHECK(std::abs(gaps[index] - others[index]) <= 1);
}

TEST_CASE("a pace does not change ids or content") {
  const auto answers = [](const Reply& reply) {
    Gateway gateway{Options{}.clock(InstantClock{})};
    gateway.chat().reply(reply);
    std::vector<Json> bodies;
    for (int i = 0; i < 2; ++i) {
      Json body = Http(gateway).chat().json();
      body.erase("created");
      bodies.push_back(body);
    }
    return bodies;
  };
  const Reply plain = text("a b").tool_call("f");
  CHECK(answers(plain) == answers(plain.every(uniform(1s, 2s)).chunked(by_characters())));
}

// --- The gateway's pace ----------------------------------------------------------------------------------------------

TEST_CASE("a gateway's pace applies to scripted and default replies") {
  Stepped on(Options{}.pace(Pace().first_token_after(200ms).tokens_per_second(50).chunked(by_tokens(2))));
  const Times unscripted = on.stream({{"max_tokens", 3}});
  REQUIRE(unscripted.size() == 2);
  CHECK(unscripted == times({200ms, 220ms}));
  on.gateway.chat().reply("a b c d");
  CHECK(on.stream() == times({200ms, 240ms}));
  CHECK(on.plain() == times({240ms})[0]);
  const Json delta = {{"choices", {{{"index", 0}, {"delta", {{"content", "a"}}}}}}};
  on.gateway.chat().reply(chunks({json_chunk(delta), json_chunk(delta)}));
  CHECK(on.stream() == times({200ms, 220ms}));
}

TEST_CASE("a reply's own settings override those of the gateway's pace") {
  const Options options = Options{}.pace(Pace().first_token_after(1s).every(100ms).chunked(by_characters()));
  const auto stream = [&](const Reply& reply) {
    Stepped on(reply, options);
    return on.stream();
  };
  CHECK(stream("abc") == times({1s, 1100ms, 1200ms}));
  CHECK(stream(text("abc").first_token_after(0s)) == times({0ms, 100ms, 200ms}));
  CHECK(stream(text("abc").every(0s)) == times({1s, 1s, 1s}));
  CHECK(stream(text("abc").every(1s)) == times({1s, 2s, 3s}));
  CHECK(stream(text("abc").tokens_per_second(1)) == times({1s, 1333333333ns, 1666666667ns}));
  CHECK(stream(text("abc d").chunked(by_tokens())) == times({1s, 1100ms}));
}

TEST_CASE("the gateway's pace does not delay failures, raw replies and other operations") {
  Gateway gateway{Options{}.clock(ManualClock{}).pace(Pace().first_token_after(1h))};
  gateway.chat().reply(rate_limited(), raw_reply(200, "raw"));
  const Http http(gateway);
  CHECK(http.chat().status == 429);
  CHECK(http.chat().body == "raw");
  CHECK(http.get("/v1/models").status == 200);
  gateway.fail_next(server_error());
  CHECK(http.chat().status == 500);
  for (const Exchange& exchange : gateway.journal().all()) CHECK_FALSE(exchange.guard_expired());
}

TEST_CASE("several choices share one pace and send their deltas in turn") {
  Stepped on(text("ab").every(1s).chunked(by_characters()));
  CHECK(on.stream({{"n", 2}}) == times({0s, 1s, 2s, 3s}));
  CHECK(on.plain({{"n", 2}}) == times({3s})[0]);
}

// --- Rejected settings -----------------------------------------------------------------------------------------------

TEST_CASE("impossible times and speeds are refused with advice") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Reply a = text("a");
  CHECK(refused([&] { (void)a.every(-1ns); }) == "a time of a pace must not be negative");
  CHECK(refused([&] { (void)a.first_token_after(31 * 24h); }) ==
        "a time of a pace is at most 30 days; to wait forever, use fault(…, stall())");
  CHECK_THROWS_AS(a.first_token_after(Duration::max()), GatewayError);
  CHECK_THROWS_AS(a.first_token_after(Duration::min()), GatewayError);
  CHECK(refused([] { uniform(2ms, 1ms); }) ==
        "uniform takes the shortest time, then the longest: the first must not be longer than the second");
  CHECK_THROWS_AS(uniform(-1ms, 1ms), GatewayError);
  CHECK(refused([] { uniform(2, 1); }) ==
        "uniform takes the lowest rate, then the highest: the first must not be greater than the second");
  CHECK(refused([] { normal(0ms, 1ms); }) == "the mean of normal must be longer than 0");
  CHECK_THROWS_AS(normal(1ms, -1ms), GatewayError);
  CHECK(refused([] { normal(50, -1); }) == "the deviation of a rate is in tokens per second, from 0 to 1e9, not -1");
  CHECK(refused([] { log_normal(0ms, 1); }) == "the median of log_normal must be longer than 0");
  for (const double sigma : {-0.1, 5.1, nan, infinity}) {
    CHECK_THROWS_AS(log_normal(1ms, sigma), GatewayError);
    CHECK_THROWS_AS(log_normal(50, sigma), GatewayError);
  }
  CHECK(refused([] { log_normal(1ms, 20); }) ==
        "the sigma of log_normal is the deviation of the natural logarithm, from 0 to 5, not 20; 0.5 is common");
  CHECK(refused([] { recorded(std::vector<Duration>{}); }) == "recorded needs at least one element");
  CHECK_THROWS_AS(recorded({1ms, -1ms}), GatewayError);
  CHECK_THROWS_AS(recorded({50, 0}), GatewayError);
  CHECK(refused([&] { (void)a.tokens_per_second(0); }) ==
        "a rate is in tokens per second, at least one in 30 days and at most 1e9, not 0; for a reply without "
        "pace leave it out");
  for (const double rate : {-1.0, 1e-9, 1e10, nan, infinity, -infinity}) {
    CHECK_THROWS_AS(a.tokens_per_second(rate), GatewayError);
    CHECK_THROWS_AS(uniform(rate, 50), GatewayError);
    CHECK_THROWS_AS(uniform(50, rate), GatewayError);
    CHECK_THROWS_AS(normal(rate, 1), GatewayError);
    CHECK_THROWS_AS(log_normal(rate, 1), GatewayError);
  }
  for (const double deviation : {nan, infinity}) CHECK_THROWS_AS(normal(50, deviation), GatewayError);
  const Reply raw = raw_reply(200, "");
  for (const auto& paced : {std::function<void()>([&] { (void)raw.tokens_per_second(1); }),
                            std::function<void()>([&] { (void)raw.pace(Pace().every(1ms)); })}) {
    CHECK(refused(paced) == "a raw reply is sent in one piece; first_token_after delays it");
  }
}

}  // namespace pace_test
