// Sessions of mishaps: a careful client passes, and each careless client fails in the turn that is meant to catch it. A
// session leaves the gateway as it was before.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace mishaps_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

using Kind = Verdict::Kind;

/// The mistake of a client.
enum class Habit {
  none,
  does_not_retry_500,
  reads_errors_as_json,
  does_not_retry_429,
  does_not_retry_closed_connection,
  does_not_wait,
  retries_401,
  retries_403,
  hides_length,
  drops_unended_event,
  takes_cut_for_end,
  keeps_old_key,
  leaves_cancelled_stream,
  leaves_abandoned_call,
  asks_again_for_nobody,
  asks_again_early,
  does_not_heed_its_caller,
  says_last_text_again,
  keeps_no_answer,
  keeps_half_an_event,
};

/// A client with one connection and one key. It waits on the gateway's clock, so that tests take no real time.
class SessionClient {
 public:
  SessionClient(const Gateway& gateway, ManualClock clock, bool streamed, Habit habit)
      : gateway_(gateway), clock_(std::move(clock)), streamed_(streamed), habit_(habit) {}

  void set_key(const std::string& key) {
    if (key_.empty() || habit_ != Habit::keeps_old_key) key_ = key;
  }

  ClientOutcome call(const Mishap& mishap) {
    question_ = mishap.name();
    ClientOutcome outcome;
    outcome.streamed = streamed_;
    if (mishap.call() == Mishap::Call::whole || habit_ == Habit::does_not_heed_its_caller) {
      whole(outcome);
    } else {
      ended(mishap, outcome);
    }
    if (habit_ == Habit::says_last_text_again && !outcome.text.empty())
      outcome.text = std::exchange(last_text_, outcome.text) + outcome.text;
    if (habit_ == Habit::keeps_no_answer) outcome.text.clear();
    return outcome;
  }

 private:
  void send() {
    if (!connection_) connection_ = std::make_unique<RawConnection>(gateway_);
    const Http http(gateway_.host(), gateway_.port(), key_);
    Json body{{"messages", {{{"role", "user"}, {"content", question_}}}}};
    if (streamed_) body["stream"] = true;
    connection_->send(http.format_chat(body));
  }

  void whole(ClientOutcome& outcome) {
    constexpr int most = 3;
    for (int attempt = 1; attempt <= most; ++attempt) {
      send();
      if (question_ == "cancelled-stream" || question_ == "abandoned-call") end_stall();
      const Response response = connection_->receive_response();
      if (!response.complete || response.end != test_support::End::open) connection_.reset();
      if (response.status == 200) return read(response, outcome);
      outcome.error = true;
      if (!is_retried(response.status)) return;
      if (habit_ != Habit::does_not_wait) wait_as_told(response);
      outcome.error = false;
    }
    outcome.error = true;
  }

  /// Ends a stalled call, whose caller stops waiting for the reply.
  void end_stall() {
    REQUIRE(clock_.wait_for_waits(1, std::chrono::seconds{10}));
    clock_.advance_to_next_event();
  }

  bool is_retried(int status) const {
    if (status == 0) return habit_ != Habit::does_not_retry_closed_connection;
    if (status == 401) return habit_ == Habit::retries_401;
    if (status == 403) return habit_ == Habit::retries_403;
    if (status == 429) return habit_ != Habit::does_not_retry_429;
    if (status == 500) return habit_ != Habit::does_not_retry_500;
    if (status == 502) return habit_ != Habit::reads_errors_as_json;
    return status > 500;
  }

  void wait_as_told(const Response& response) {
    const std::string value = response.header("Retry-After");
    if (value.empty()) return;
    const auto date = test_support::http_date(value);
    clock_.advance(date ? *date - clock_.now() : Duration{std::chrono::seconds{std::atoi(value.c_str())}});
  }

  void read(const Response& response, ClientOutcome& outcome) {
    if (!response.is_stream()) {
      if (!response.complete) {
        outcome.error = habit_ != Habit::takes_cut_for_end;
        return;
      }
      outcome.text = response.text();
      outcome.finish_reason = response.finish_reason();
    } else {
      std::string body = response.body;
      if (habit_ == Habit::keeps_half_an_event) {
        body = half_ + body;
        half_ = response.complete ? "" : body.substr(body.rfind("\n\n") + 2);
      }
      if (habit_ != Habit::drops_unended_event) body += "\n\n";
      for (const std::string& data : test_support::sse_events(body)) add(data, outcome);
      if (outcome.finish_reason.value_or("").empty()) outcome.error = habit_ != Habit::takes_cut_for_end;
    }
    if (outcome.finish_reason == "length" && habit_ == Habit::hides_length) outcome.finish_reason = {};
  }

  static void add(const std::string& data, ClientOutcome& outcome) {
    const Json chunk = Json::parse(data, nullptr, false);
    if (!chunk.is_object() && data != "[DONE]") outcome.error = true;
    if (!chunk.is_object()) return;
    for (const Json& choice : chunk.value("choices", Json::array())) {
      outcome.text += choice.value("delta", Json::object()).value("content", "");
      if (choice.contains("finish_reason") && choice["finish_reason"].is_string())
        outcome.finish_reason = choice["finish_reason"].get<std::string>();
    }
  }

  /// Ends a call that its caller abandons.
  void ended(const Mishap& mishap, ClientOutcome& outcome) {
    send();
    const bool is_cancelled = mishap.call() == Mishap::Call::cancelled;
    // Waits until the expected bytes have arrived or the abandoned call has timed out.
    const auto read = connection_->receive_until(
        [&](std::string_view bytes) { return is_cancelled && pieces_in(bytes).size() >= mishap.cancel_after(); },
        is_cancelled ? std::chrono::milliseconds{10000}
                     : std::chrono::duration_cast<std::chrono::milliseconds>(mishap.abandon_after()));
    for (const std::string& piece : pieces_in(read.bytes)) outcome.text += piece;
    if (mishap.name() == "abandoned-wait" &&
        (habit_ == Habit::asks_again_for_nobody || habit_ == Habit::asks_again_early)) {
      if (habit_ == Habit::asks_again_for_nobody) clock_.advance(1s);
      send();
      this->read(connection_->receive_response(), outcome);
    }
    const bool is_left = habit_ == (is_cancelled ? Habit::leaves_cancelled_stream : Habit::leaves_abandoned_call);
    if (is_left) left_.push_back(std::move(connection_));
    connection_.reset();
  }

  static std::vector<std::string> pieces_in(std::string_view bytes) {
    std::vector<std::string> pieces;
    ClientOutcome outcome;
    for (const std::string& data : test_support::sse_events(bytes)) {
      const std::size_t before = outcome.text.size();
      add(data, outcome);
      if (outcome.text.size() > before) pieces.push_back(outcome.text.substr(before));
    }
    return pieces;
  }

  const Gateway& gateway_;
  ManualClock clock_;
  const bool streamed_;
  const Habit habit_;
  std::string key_;
  std::string question_;
  std::string last_text_;
  std::string half_;
  std::unique_ptr<RawConnection> connection_;
  std::vector<std::unique_ptr<RawConnection>> left_;  // connections that the client keeps open and no longer reads
};

/// The failures of a session: turns with their verdicts, and codes of findings.
struct Played {
  std::map<std::string, Kind> bad;
  std::string findings;  // lists each code once
  std::vector<std::string> messages;
};

Played play(Habit habit, bool streamed, std::uint64_t seed = 1) {
  const ManualClock clock;
  Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
  SessionClient client(gateway, clock, streamed, habit);
  Played played;
  for (const Mishap& mishap : mishaps(gateway, seed)) {
    if (mishap.needs_stream() && !streamed) continue;
    mishap.mount();
    client.set_key(mishap.api_key());
    const Verdict verdict = mishap.judge(client.call(mishap));
    if (verdict) continue;
    played.bad[mishap.name()] = verdict.kind();
    played.messages.push_back(verdict.message());
  }
  std::set<std::string> codes;
  for (const Finding& finding : gateway.review().findings())
    if (finding.fails_review && codes.insert(finding.code).second)
      played.findings += (played.findings.empty() ? "" : ", ") + finding.code;
  return played;
}

TEST_CASE("a careful client passes a session with any seed") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    for (const bool streamed : {false, true}) {
      CAPTURE(seed);
      CAPTURE(streamed);
      const Played played = play(Habit::none, streamed, seed);
      CHECK(played.messages == std::vector<std::string>{});
      CHECK(played.findings == "");
    }
  }
}

TEST_CASE("a call that its caller ends waits for the caller, even on the instant clock") {
  Gateway gateway{Options{}.clock(InstantClock{}).verify_on_destruction(false)};
  for (const Mishap& mishap : mishaps(gateway)) {
    if (mishap.call() == Mishap::Call::whole) continue;
    CAPTURE(mishap.name());
    mishap.mount();
    RawConnection connection(gateway);
    connection.send(Http(gateway.host(), gateway.port(), mishap.api_key()).format_chat(Json{{"stream", true}}));
    const auto nothing_more = [](std::string_view) { return false; };
    const auto read = connection.receive_until(nothing_more, std::chrono::milliseconds{200});
    CHECK(read.bytes.find("[DONE]") == std::string::npos);
    connection.close();
    CHECK(mishap.judge({""}));
  }
}

TEST_CASE("each bad habit fails only the turns that are meant to catch it") {
  struct Row {
    Habit habit;
    std::map<std::string, Kind> streamed;
    std::map<std::string, Kind> plain;
    std::string findings;
  };
  using Bad = std::map<std::string, Kind>;
  const Bad none;
  const Bad rotation{{"rotated-key", Kind::error_surfaced}, {"last-answer", Kind::error_surfaced}};
  const Bad server{{"server-error", Kind::error_surfaced}};
  const Bad closed{{"closed-before-answer", Kind::error_surfaced}};
  const Bad plain_call{{"abandoned-call", Kind::wrong_answer}, {"abandoned-wait", Kind::wrong_answer}};
  const Bad both_calls{{"cancelled-stream", Kind::wrong_answer},
                       {"abandoned-call", Kind::wrong_answer},
                       {"abandoned-wait", Kind::wrong_answer}};
  const Bad wait{{"abandoned-wait", Kind::wrong_answer}};
  const Bad proxy{{"bad-gateway", Kind::error_surfaced}};
  const Bad limits{{"rate-limited", Kind::error_surfaced}, {"rate-limited-until-date", Kind::error_surfaced}};
  const Bad length{{"length", Kind::silent_data_loss}};
  const Bad cut{{"cut-answer", Kind::silent_data_loss}};
  const std::vector<Row> rows{
      {Habit::does_not_retry_500, server, server, ""},
      {Habit::reads_errors_as_json, proxy, proxy, ""},
      {Habit::asks_again_for_nobody, wait, wait, ""},
      {Habit::asks_again_early, none, none, "retry_after_ignored"},
      {Habit::does_not_retry_429, limits, limits, ""},
      {Habit::does_not_retry_closed_connection, closed, closed, ""},
      {Habit::does_not_heed_its_caller, both_calls, plain_call, ""},
      {Habit::does_not_wait, none, none, "retry_after_ignored"},
      {Habit::retries_401, none, none, "retried_final_error"},
      {Habit::retries_403, none, none, "retried_final_error"},
      {Habit::hides_length, length, length, ""},
      {Habit::drops_unended_event, {{"unended-last-event", Kind::error_surfaced}}, none, ""},
      {Habit::takes_cut_for_end, cut, cut, ""},
      {Habit::keeps_old_key, rotation, rotation, ""},
      {Habit::leaves_cancelled_stream, {{"cancelled-stream", Kind::hang}}, none, ""},
      {Habit::leaves_abandoned_call, {{"abandoned-call", Kind::hang}}, {{"abandoned-call", Kind::hang}}, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.habit));
    std::future<Played> stream = std::async(std::launch::async, [&row] { return play(row.habit, true); });
    const Played plain = play(row.habit, false);
    CHECK(plain.bad == row.plain);
    CHECK(plain.findings == row.findings);
    const Played streamed = stream.get();
    CHECK(streamed.bad == row.streamed);
    CHECK(streamed.findings == row.findings);
  }
}

TEST_CASE("a verdict recognizes text of the previous turn") {
  const Played played = play(Habit::says_last_text_again, true);
  CHECK(played.bad.at("last-answer") == Kind::wrong_answer);
  CHECK(played.bad.count("first-answer") == 0);
}

TEST_CASE("a client that keeps half an event for the next call fails that call") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    const Played played = play(Habit::keeps_half_an_event, true, seed);
    CHECK(played.bad.size() == 1);
    CHECK(played.bad.count("cut-answer") == 0);
  }
  CHECK(play(Habit::keeps_half_an_event, false).bad.empty());
}

TEST_CASE("a client that retries a second after its caller left fails the turn") {
  const RealClock clock;
  Gateway gateway{Options{}.clock(clock)};
  for (const Mishap& mishap : mishaps(gateway)) {
    if (mishap.name() != "abandoned-wait") continue;
    const Http http(gateway.host(), gateway.port(), mishap.api_key());
    for (const bool tries_again : {false, true}) {
      CAPTURE(tries_again);
      mishap.mount();
      CHECK(http.chat().header("Retry-After") == "1");
      const auto second = std::async(std::launch::async, [&] {
        if (!tries_again) return;
        const Exchange first = gateway.journal().last();
        // Waits until the announced time is over.
        CHECK(test_support::eventually([&] { return clock.now() - first.received() >= 1s; }));
        static_cast<void>(http.chat());
      });
      const Verdict verdict = mishap.judge({});
      CHECK(static_cast<bool>(verdict) != tries_again);
      CHECK((verdict.message().find("the client sent 2 requests") != std::string::npos) == tries_again);
    }
  }
}

TEST_CASE("attempts before the caller leaves are accepted, even if the call began late") {
  struct Row {
    int first;  // when the first attempt comes, in percent of the time until the caller leaves
    int second;
    bool is_right;
  };
  constexpr Row rows[] = {{0, 0, true},   {0, 99, true},    {0, 100, false}, {50, 60, true},
                          {50, 99, true}, {50, 100, false}, {90, 110, true}, {90, 115, false}};
  for (const Row& row : rows) {
    CAPTURE(row.first);
    CAPTURE(row.second);
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
    for (const Mishap& mishap : mishaps(gateway)) {
      if (mishap.name() != "abandoned-wait") continue;
      const Http http(gateway.host(), gateway.port(), mishap.api_key());
      mishap.mount();
      clock.advance(mishap.abandon_after() * row.first / 100);
      CHECK(http.chat().status == 503);
      clock.advance(mishap.abandon_after() * (row.second - row.first) / 100);
      CHECK(http.chat().status == 200);
      const Verdict verdict = mishap.judge({mishap.text()});
      CHECK(static_cast<bool>(verdict) == row.is_right);
    }
  }
}

TEST_CASE("a client that loses a reply fails every turn with a reply") {
  const Played played = play(Habit::keeps_no_answer, true);
  for (const char* name :
       {"first-answer", "closed-before-answer", "rate-limited", "rate-limited-until-date", "server-error",
        "bad-gateway", "unavailable", "unended-last-event", "rotated-key", "last-answer"})
    CHECK(played.bad.at(name) == Kind::silent_data_loss);
}

TEST_CASE("a verdict contains the actual result, the expected result and the turn") {
  const Played played = play(Habit::leaves_cancelled_stream, true, 3);
  REQUIRE(played.messages.size() == 1);
  CAPTURE(played.messages.front());
  for (const char* part : {"cancelled-stream: hang, expected answer or error", "still connected a second after",
                           "\n  the gateway sends a few pieces of text", "\n  a good client closes the connection",
                           "\n  the turn    ", " of 17, after ", " (seed 3)"})
    CHECK(played.messages.front().find(part) != std::string::npos);
}

TEST_CASE("the same seed gives the same session, another seed a different one") {
  const auto told = [](std::uint64_t seed) {
    Gateway gateway;
    std::string all;
    for (const Mishap& mishap : mishaps(gateway, seed)) {
      all += mishap.name() + " " + mishap.text() + " " + std::to_string(mishap.cancel_after()) + " " +
             std::to_string(mishap.abandon_after().count()) + "\n";
    }
    return all;
  };
  CHECK(told(7) == told(7));
  CHECK(told(7) != told(8));
}

TEST_CASE("every turn has its own description and its own text") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Gateway gateway;
    const Mishaps session = mishaps(gateway, seed);
    std::set<std::string> names;
    std::set<std::string> texts;
    for (const Mishap& mishap : session) {
      CAPTURE(mishap.name());
      CHECK(names.insert(mishap.name()).second);
      CHECK(texts.insert(mishap.text()).second);
      CHECK(!mishap.description().empty());
      CHECK(!mishap.reference().empty());
      CHECK(!mishap.good_client().empty());
      CHECK((mishap.cancel_after() > 0) == (mishap.call() == Mishap::Call::cancelled));
      CHECK((mishap.abandon_after() > Duration::zero()) == (mishap.call() == Mishap::Call::abandoned));
    }
    CHECK(session.size() == 17);
    CHECK((session.begin() + 1)->name() == "closed-before-answer");
    CHECK(session.begin()->name() == "first-answer");
    CHECK((session.end() - 1)->name() == "last-answer");
    CHECK((session.end() - 2)->name() == "rotated-key");
  }
}

TEST_CASE("the turn with a key rotation deletes the client's key; a session without that turn keeps the key") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const Mishaps session = mishaps(gateway);
  const Mishap first = *session.begin();
  const Mishap last = *(session.end() - 1);
  const std::string key = first.api_key();
  const auto status_with = [&gateway](const std::string& secret) {
    return Http(gateway.host(), gateway.port(), secret).chat().status;
  };
  last.mount();  // the session excludes the rotation
  CHECK(last.api_key() == key);
  CHECK(status_with(key) == 200);
  (session.end() - 2)->mount();
  CHECK(first.api_key() != key);
  CHECK(status_with(key) == 401);
  CHECK(status_with(first.api_key()) == 200);
}

TEST_CASE("a turn ends when the next turn begins or the session ends") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply("of the test");
  const std::size_t keys = gateway.keys().list().size();
  const auto asked_with = [&gateway](const std::string& secret) {
    return Http(gateway.host(), gateway.port(), secret).chat();
  };
  for (const char* const name : {"disabled-key", "unauthorized", "server-error", "length"}) {
    CAPTURE(name);
    std::string key;
    {
      const Mishaps session = mishaps(gateway);
      CHECK(gateway.keys().list().size() == keys + 1);
      key = session.begin()->api_key();
      CHECK(asked_with(key).text() == "of the test");  // the session's stub is no longer mounted
      for (const Mishap& mishap : session)
        if (mishap.name() == name) mishap.mount();
      CHECK(asked_with(key).raw.find("of the test") == std::string::npos);
      session.begin()->mount();
      CHECK(asked_with(key).text() == session.begin()->text());
    }
    CHECK(asked_with(key).status == 401);
    CHECK(asked_with(gateway.api_key()).text() == "of the test");
    CHECK(gateway.keys().list().size() == keys);
  }
}

TEST_CASE("a turn without a request fails, even if the client reports a correct result") {
  Gateway gateway;
  const Mishaps session = mishaps(gateway);
  ClientOutcome outcome;
  outcome.text = session.begin()->text();
  session.begin()->mount();
  const Verdict verdict = session.begin()->judge(outcome);
  CHECK_FALSE(verdict);
  CHECK(verdict.message().find("the client sent no request in this turn") != std::string::npos);
}

TEST_CASE("a turn that is not mounted cannot be judged") {
  Gateway gateway;
  const Mishaps session = mishaps(gateway);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(session.begin()->judge({})),
      "mock_gateway: cannot judge the turn first-answer: call mount(), make the client's call, then judge "
      "its outcome",
      GatewayError);
  (session.begin() + 1)->mount();
  CHECK_THROWS_AS(static_cast<void>(session.begin()->judge({})), GatewayError);
}

}  // namespace mishaps_test
