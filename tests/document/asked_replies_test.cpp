// Stubs with "ask": their requests wait until the test chooses a reply.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/timing.hpp"

namespace asked_replies_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using detail::AskedRequest;
using detail::AskedRequests;
using test_support::eventually;
using test_support::has_part;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;
using test_support::time_of;

const char* const asks = R"({"mock_gateway": 1, "stubs": [
  {"name": "asks", "when": {"user_says": "ask"}, "reply": {"ask": true}},
  {"name": "says", "reply": "plain"}]})";

/// A gateway with a stub that asks the test for replies.
class Asking {
 public:
  explicit Asking(const std::string& script = asks, const Options& options = Options{})
      : gateway_(Options(options).verify_on_destruction(false)), script_(gateway_.load(Json::parse(script))) {}

  Gateway& gateway() { return gateway_; }
  const LoadedScript& script() const { return script_; }
  AskedRequests& board() { return detail::Access::serving(gateway_)->asked; }
  std::vector<AskedRequest> list(const RequestScope& scope = {}) { return board().list(scope); }
  /// Waits until `count` requests wait for a reply. Returns the first of them.
  AskedRequest wait_for(std::size_t count = 1) {
    REQUIRE(eventually([&] { return list().size() == count; }));
    return list().front();
  }
  AskedRequests::Answered reply(std::uint64_t exchange, const Reply& reply) {
    return board().answer(exchange, std::make_shared<const Reply>(reply));
  }
  std::future<Response> send(const Json& body, bool stream = false) {
    const Http http(gateway_);
    return std::async(std::launch::async,
                      [http, body, stream] { return stream ? http.stream(body) : http.chat(body); });
  }

 private:
  Gateway gateway_;
  LoadedScript script_;
};

TEST_CASE("a request waits until the test replies, and gets that reply") {
  Asking asking;
  std::future<Response> response = asking.send("ask me");
  const AskedRequest asked = asking.wait_for();
  CHECK(asked.request.body.find("ask me") != std::string::npos);
  CHECK(asked.stub->plan().name == "asks");
  CHECK(asking.reply(asked.exchange, text("said by the test").header("x-said", "yes")) == AskedRequests::Answered::yes);
  const Response got = response.get();
  CHECK(got.text() == "said by the test");
  CHECK(got.header("x-said") == "yes");
  CHECK(asking.list().empty());
  CHECK(asking.gateway().verify());
  const Exchange exchange = asking.gateway().journal().at(asked.exchange);
  CHECK(exchange.decision() == Decision::Kind::stub);
  CHECK(exchange.decision().detail == "asks");
  CHECK_FALSE(exchange.guard_expired());
}

TEST_CASE("a test can give every reply that a script document can contain") {
  Asking asking;
  std::future<Response> failed = asking.send("ask");
  CHECK(asking.reply(asking.wait_for().exchange, Failure(429, "rate_limited", "later")) ==
        AskedRequests::Answered::yes);
  CHECK(failed.get().status == 429);

  std::future<Response> streamed = asking.send("ask", true);
  CHECK(asking.reply(asking.wait_for().exchange, text("one two").thinking("hm")) == AskedRequests::Answered::yes);
  CHECK(streamed.get().joined_text() == "one two");

  std::future<Response> as_without_stubs = asking.send("ask");
  CHECK(asking.board().answer(asking.wait_for().exchange, detail::ReplyStep()) == AskedRequests::Answered::yes);
  CHECK(as_without_stubs.get().status == 200);
  CHECK(asking.gateway().verify());
}

TEST_CASE("a request for which the test chooses the default reply counts as a call, even if that reply fails") {
  Asking asking;
  Json request = test_support::chat_body("ask");
  request["response_format"] = {{"type", "json_schema"},
                                {"json_schema", {{"name", "endless"}, {"schema", {{"$ref", "#"}}}}}};
  std::future<Response> refused = asking.send(request);
  const std::uint64_t exchange = asking.wait_for().exchange;
  CHECK(asking.board().answer(exchange, detail::ReplyStep()) == AskedRequests::Answered::yes);
  CHECK(refused.get().error_code() == "unsupported_schema");
  CHECK(asking.script().stub("asks").calls() == 1);
  CHECK(asking.gateway().journal().at(exchange).decision() == Decision::Kind::stub);
  CHECK(asking.gateway().verify());
}

TEST_CASE("the pace of a reply starts when the test gives it") {
  Asking asking(asks, Options{}.clock(InstantClock{}));
  std::future<Response> response = asking.send("ask", true);
  const AskedRequest asked = asking.wait_for();
  asking.reply(asked.exchange, text("one two").first_token_after(1h));
  CHECK(response.get().joined_text() == "one two");
  const Exchange exchange = asking.gateway().journal().at(asked.exchange);
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(*exchange.ended() - exchange.received() >= 1h + (asked.since - exchange.received()));
}

TEST_CASE("other requests are answered while some wait, and each waiting request gets its own reply") {
  Asking asking;
  std::vector<std::future<Response>> responses;
  for (int i = 0; i < 8; ++i) responses.push_back(asking.send("ask " + std::to_string(i) + "."));
  asking.wait_for(8);
  CHECK(Http(asking.gateway()).ask("no question") == "plain");
  for (const AskedRequest& asked : asking.list()) {
    const Json body = Json::parse(asked.request.body);
    const std::string said = body["messages"][0]["content"];
    CHECK(asking.reply(asked.exchange, text("to " + said)) == AskedRequests::Answered::yes);
  }
  for (int i = 0; i < 8; ++i)
    CHECK(responses[static_cast<std::size_t>(i)].get().text() == "to ask " + std::to_string(i) + ".");
  CHECK(asking.gateway().journal().count() == 9);
}

TEST_CASE("the journal lists a waiting exchange in the order of arrival") {
  Asking asking;
  std::future<Response> response = asking.send("ask");
  const std::uint64_t waiting = asking.wait_for().exchange;
  const Http http(asking.gateway());
  http.ask("first");
  http.ask("second");
  const Journal journal = asking.gateway().journal();
  CHECK(journal.count() == 2);
  CHECK_THROWS_WITH_AS(journal.at(waiting), doctest::Contains("is still waiting for its answer"), GatewayError);
  asking.reply(waiting, text("late"));
  CHECK(response.get().text() == "late");
  REQUIRE(journal.wait_until_idle(patience));
  std::vector<std::uint64_t> ids;
  for (const Exchange& exchange : journal.all()) ids.push_back(exchange.id());
  CHECK(ids == std::vector<std::uint64_t>{waiting, waiting + 1, waiting + 2});
  CHECK(journal.at(waiting + 1).request().body.find("first") != std::string::npos);
  CHECK(journal.last().id() == waiting + 2);
}

TEST_CASE("calls are ordered by arrival, whichever request the test answers first") {
  for (const bool newest_first : {false, true}) {
    CAPTURE(newest_first);
    Asking asking(R"({"mock_gateway": 1, "stubs": [
      {"name": "asks", "when": {"user_says": "ask"}, "reply": {"ask": true}},
      {"name": "after", "when": {"user_says": "after"}, "reply": {"ask": true}},
      {"name": "says", "reply": "plain"}]})");
    std::vector<std::future<Response>> responses;
    responses.push_back(asking.send("ask one"));
    asking.wait_for(1);
    CHECK(Http(asking.gateway()).ask("Hi") == "plain");
    responses.push_back(asking.send("ask two"));
    asking.wait_for(2);
    responses.push_back(asking.send("after"));
    asking.wait_for(3);
    std::vector<AskedRequest> waiting = asking.list();
    if (newest_first) std::reverse(waiting.begin(), waiting.end());
    for (const AskedRequest& asked : waiting) {
      const std::size_t recorded = asking.gateway().journal().count();
      asking.reply(asked.exchange, text("late"));
      REQUIRE(asking.gateway().journal().wait_for(recorded + 1, 10s));
    }
    for (auto& response : responses) CHECK(response.get().text() == "late");
    const Stub asks_stub = asking.script().stub("asks");
    const Stub says = asking.script().stub("says");
    const Stub after = asking.script().stub("after");
    CHECK(called_in_order(asks_stub, after));
    CHECK(called_in_order(says, after));
    CHECK(has_part(called_in_order(says, asks_stub).message(), "answered exchange 1, before \"says\""));
    CHECK(has_part(called_in_order(asks_stub, says).message(), "answered exchange 3"));
    CHECK_FALSE(called_in_order(after, asks_stub));
  }
}

TEST_CASE("a test can reply only once, and only to a waiting request") {
  Asking asking;
  CHECK(asking.reply(1, text("nobody")) == AskedRequests::Answered::unknown);
  std::future<Response> response = asking.send("ask");
  const std::uint64_t exchange = asking.wait_for().exchange;
  CHECK(asking.reply(exchange, text("one")) == AskedRequests::Answered::yes);
  CHECK(asking.reply(exchange, text("two")) == AskedRequests::Answered::too_late);
  CHECK(response.get().text() == "one");
  CHECK(asking.reply(exchange, text("three")) == AskedRequests::Answered::too_late);
  CHECK(asking.reply(exchange + 1, text("four")) == AskedRequests::Answered::unknown);
}

TEST_CASE("a client that leaves no longer waits") {
  Asking asking;
  const Http http(asking.gateway());
  RawConnection connection(asking.gateway());
  connection.send(http.format_chat("ask"));
  const std::uint64_t exchange = asking.wait_for().exchange;
  SUBCASE("by closing") { connection.close(); }
  SUBCASE("by a reset") { connection.abort(); }
  REQUIRE(eventually([&] { return asking.list().empty(); }));
  CHECK(asking.reply(exchange, text("late")) == AskedRequests::Answered::too_late);
  REQUIRE(asking.gateway().journal().wait_until_idle(patience));
  CHECK(asking.gateway().journal().at(exchange).outcome() == Outcome::Kind::client_left);
  CHECK(asking.gateway().verify());
}

TEST_CASE("a client that half-closes after a further request still waits for the asked reply") {
  Asking asking;
  const Http http(asking.gateway());
  RawConnection connection(asking.gateway());
  connection.send(http.format_chat("ask") + http.format_chat("say"));
  connection.shutdown_write();
  const std::uint64_t exchange = asking.wait_for().exchange;
  CHECK(asking.reply(exchange, text("asked")) == AskedRequests::Answered::yes);
  CHECK(connection.receive_response().text() == "asked");
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("a gateway stops at once while requests wait") {
  CHECK(test_support::is_within(500ms, [] {
    Asking asking;
    std::thread client([http = Http(asking.gateway()).allow_incomplete()] {
      const Response response = http.chat("ask");
      CHECK(response.status == 0);
    });
    asking.wait_for();
    const auto taken = time_of([&] { asking.gateway().stop(); });
    client.join();
    CHECK(asking.list().empty());
    return taken;
  }));
}

TEST_CASE("if the test does not reply, the guard sends an error, and verify() reports it") {
  Asking asking;
  Response response;
  const auto lasted = time_of([&] { response = Http(asking.gateway()).with_timeout(60s).chat("ask"); });
  CHECK(lasted >= 10s);
  CHECK(lasted < 30s);
  CHECK(response.status == 500);
  CHECK(response.error_code() == "internal_error");
  CHECK(has_part(response.error_message(), "did not supply this reply in time"));
  CHECK(response.header("x-should-retry") == "false");
  const Exchange exchange = asking.gateway().journal().last();
  CHECK(exchange.guard_expired());
  CHECK(exchange.decision() == Decision::Kind::answer_failed);
  CHECK(asking.reply(exchange.id(), text("late")) == AskedRequests::Answered::too_late);
  const Verification verification = asking.gateway().verify();
  REQUIRE(verification.problems().size() == 1);
  CHECK(verification.problems().front().kind == Problem::Kind::guard_expired);
  CHECK(has_part(verification.message(), "POST /control/v1/asked/1 of the program's control API (--control)"));
}

TEST_CASE("a step of a sequence may ask the test, and waiting requests can be selected by key") {
  Asking asking(R"({"mock_gateway": 1, "stubs": [{"replies": ["first", {"ask": true}, "third"]}]})");
  const CreatedKey key = asking.gateway().keys().create("mine");
  const Http http = Http(asking.gateway()).with_key(key.secret);
  CHECK(http.ask("1") == "first");
  std::future<Response> asked = std::async(std::launch::async, [&] { return http.chat("2"); });
  const std::uint64_t exchange = asking.wait_for().exchange;
  CHECK(asking.list(key.id).size() == 1);
  CHECK(asking.list("mine").size() == 1);
  CHECK(asking.list("another").empty());
  CHECK(asking.board().list(key.id).size() == 1);
  CHECK(asking.board().list("another").empty());
  CHECK(http.ask("3") == "third");
  asking.reply(exchange, text("second"));
  CHECK(asked.get().text() == "second");
}

TEST_CASE("waiting requests get their own replies while other clients leave") {
  Asking asking;
  constexpr int rounds = 60;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::future<Response>> responses;
    RawConnection leaver(asking.gateway());
    leaver.send(Http(asking.gateway()).format_chat("ask"));
    for (int i = 0; i < 4; ++i) responses.push_back(asking.send("ask"));
    asking.wait_for(5);
    std::thread leaving([&] { leaver.abort(); });
    int answered = 0;
    for (const AskedRequest& asked : asking.list())
      if (asking.reply(asked.exchange, text("t")) == AskedRequests::Answered::yes) ++answered;
    leaving.join();
    for (auto& response : responses) CHECK(response.get().text() == "t");
    CHECK(answered >= 4);
    REQUIRE(eventually([&] { return asking.list().empty(); }));
  }
}

TEST_CASE("forgetting a test removes its waiting request after the reply, but not later requests") {
  Asking asking;
  const CreatedKey mine = asking.gateway().keys().create("mine");
  const CreatedKey other = asking.gateway().keys().create("other");
  const auto ask = [&](const CreatedKey& key) {
    const Http http = Http(asking.gateway()).with_key(key.secret);
    return std::async(std::launch::async, [http] { return http.chat(Json("ask")).status; });
  };
  std::future<int> forgotten = ask(mine);
  const std::uint64_t first = asking.wait_for(1).exchange;
  std::future<int> kept = ask(other);
  asking.wait_for(2);
  detail::Access::serving(asking.gateway())->journal->forget(RequestScope(mine.id));
  std::future<int> later = ask(mine);
  asking.wait_for(3);
  for (const AskedRequest& asked : asking.list()) asking.reply(asked.exchange, text("x"));
  for (std::future<int>* const status : {&forgotten, &kept, &later}) CHECK(status->get() == 200);
  REQUIRE(asking.gateway().journal().wait_until_idle(10s));
  CHECK(asking.gateway().journal().in(mine.id).size() == 1);
  CHECK(asking.gateway().journal().in(mine.id).front().id() == first + 2);
  CHECK(asking.gateway().journal().in(other.id).size() == 1);
}

}  // namespace asked_replies_test
