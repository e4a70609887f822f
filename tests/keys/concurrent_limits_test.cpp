// Limits of concurrent requests of a key, a group and all keys: refusals, and when a request gives its place back.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/threads.hpp"

namespace concurrent_limits_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::contains;
using test_support::End;
using test_support::error_of;
using test_support::eventually;
using test_support::Http;
using test_support::in_threads;
using test_support::RawConnection;
using test_support::Response;

std::size_t under_way(const Gateway& gateway, const std::string& id = "key_1") {
  return gateway.keys().find(id).concurrent;
}

/// A request whose answer waits at a gate.
RawConnection hold(const Gateway& gateway, const Http& http, const Json& extra = {}) {
  RawConnection held(gateway);
  held.send(http.format_chat(extra));
  return held;
}

TEST_CASE("a request beyond the limit gets 429 at once, and its retry is served when another has ended") {
  Gateway gateway{Options{}.limit_concurrent(2)};
  Gate gate;
  gateway.chat().reply("a");
  gateway.chat().when(user_says("hold")).reply(text("a").hold(gate, before_token(1)));
  const Http http(gateway);
  RawConnection first = hold(gateway, http, "hold 1");
  RawConnection second = hold(gateway, http, "hold 2");
  REQUIRE(gate.wait_until_reached(2, test_support::patience));

  const Response refused = http.chat();
  CHECK(refused.status == 429);
  CHECK(refused.reason == "Too Many Requests");
  CHECK(refused.body == R"({"error":{"code":"rate_limit_exceeded","message":"The limit of 2 concurrent requests is )"
                        R"(exceeded. Try again after the time in Retry-After.","type":"error"}})");
  CHECK(refused.header("Retry-After") == "1");
  CHECK_FALSE(refused.has("retry-after-ms"));
  CHECK(http.get("/v1/models").status == 429);
  CHECK(http.get("/v1/nothing").status == 429);
  CHECK(http.without_key().chat().status == 401);
  CHECK(gateway.journal().last().decision() == Decision::Kind::rejected);

  gate.release();
  CHECK(first.receive_response().complete);
  CHECK(http.chat().status == 200);
  gate.open();
  CHECK(second.receive_response().complete);
}

TEST_CASE("a refusal has the shape of other 429s in each profile") {
  for (const Profile profile : {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek}) {
    CAPTURE(to_string(profile));
    const ManualClock clock;
    Gateway gateway{Options{}.clock(clock).profile(profile)};
    Gate gate;
    gateway.chat().reply(text("a").hold(gate, before_token(1)));
    const Http http(gateway);
    gateway.keys().limit_rate_for_all(1, 1s);
    RawConnection held = hold(gateway, http);
    REQUIRE(gate.wait_until_reached(test_support::patience));
    const Response by_rate = http.chat();
    gateway.keys().unlimit_rate_for_all();
    gateway.keys().limit_concurrent("key_1", 1);
    gateway.keys().unlimit_concurrent("key_1");
    gateway.keys().limit_concurrent_for_all(1);
    RawConnection counted = hold(gateway, http);
    REQUIRE(gate.wait_until_reached(2, test_support::patience));
    const Response refused = http.chat();
    CHECK(refused.status == by_rate.status);
    CHECK(refused.error_code() == by_rate.error_code());
    CHECK(refused.error_type() == by_rate.error_type());
    for (const char* name : {"Retry-After", "retry-after-ms"}) CHECK(refused.header(name) == by_rate.header(name));
    gate.open();
  }
}

/// An answer that ends, and how the client notices.
struct Ending {
  const char* name;
  Reply reply;
  bool stream = true;
  End end = End::open;
  /// The last bytes that the client waits for, if the answer has no other end.
  const char* last = nullptr;
};

std::vector<Ending> endings() {
  const Reply abc = text("a b c");
  return {
      {"whole", abc, false},
      {"stream", abc},
      {"failure", server_error()},
      {"raw", raw_reply(200, "{}"), false},
      {"204", raw_reply(204, ""), false},
      {"reset", abc.fault(after_tokens(1), reset_connection()), true, End::reset},
      {"reset before the head", abc.fault(before_headers(), reset_connection()), true, End::reset},
      {"reset of a plain reply", abc.fault(after_bytes(9), reset_connection()), false, End::reset},
      {"close", abc.fault(after_tokens(1), close_connection()), true, End::fin},
      {"close at the end", abc.fault(at_end(), close_connection()), true, End::fin},
      {"truncate", abc.fault(inside_event(2, 9), truncate()), true, End::fin},
      {"garbage", abc.fault(after_tokens(1), garbage("\xff")), true, End::fin},
      {"half close", abc.fault(after_tokens(1), half_close()), true, End::fin},
      {"error event", abc.fault(after_tokens(1), error_event(Json{{"a", 1}}))},
      {"skipped event", abc.fault(inside_event(2, 1), stall(1ms)).fault(after_tokens(1), skip_event())},
      {"stall", abc.fault(after_tokens(1), stall(1ms))},
      {"short length", abc.fault(before_headers(), wrong_content_length(-9)), false},
      {"open after [DONE]", abc.sse(SseDialect().open_after_done(true)), true, End::open, "[DONE]\n\n"},
      {"until close", abc.header("Connection", "close"), true, End::fin},
  };
}

TEST_CASE("an answer gives its place back before its client sees the end, however it ends") {
  for (const Ending& row : endings()) {
    CAPTURE(row.name);
    Gateway gateway{Options{}.limit_concurrent(1).verify_on_destruction(false)};
    gateway.chat().reply(row.reply);
    const Http http(gateway);
    for (int round = 0; round < 3; ++round) {
      RawConnection connection(gateway);
      connection.send(http.format_chat({{"stream", row.stream}}));
      if (row.end != End::open)
        CHECK(connection.receive_all().end == row.end);
      else if (row.last)
        CHECK(connection.receive_until(row.last).found);
      else
        CHECK(connection.receive_response().complete);
      CHECK(http.get("/v1/models").status == 200);
      CHECK(gateway.keys().find("key_1").concurrent == 0);
    }
  }
}

TEST_CASE("a request that a check or a function of the test ends gives its place back") {
  Gateway gateway{Options{}.limit_concurrent(1).embeddings().verify_on_destruction(false)};
  const auto throws = [](const auto&) -> Reply { throw std::runtime_error("no"); };
  gateway.chat().reply("a b");
  gateway.chat().when(user_says("never")).never();
  gateway.chat().when(user_says("throw")).reply([&](const ChatRequest& chat) { return throws(chat); });
  gateway.on("POST", "/v1/images", [](const ReceivedRequest&) -> HttpReply { throw std::runtime_error("no"); });
  gateway.on("POST", "/v1/audio", [](const ReceivedRequest&) { return HttpReply(200, "{}"); });
  const Http http(gateway);
  struct Row {
    int status;
    std::function<Response()> ask;
  };
  const std::vector<Row> rows = {
      {404, [&] { return http.get("/v1/nothing"); }},
      {405, [&] { return http.get(chat_path); }},
      {400, [&] { return http.post(chat_path, "{"); }},
      {404,
       [&] {
         return http.chat({{"model", "none"}});
       }},
      {422, [&] { return http.chat("never"); }},
      {500, [&] { return http.chat("throw"); }},
      {500, [&] { return http.post("/v1/images", "{}"); }},
      {200, [&] { return http.post("/v1/audio", "{}"); }},
      {200,
       [&] {
         return http.post("/v1/embeddings", Json{{"model", "mock-model"}, {"input", "a"}});
       }},
      {405, [&] { return http.request("HEAD", "/v1/models"); }},
      {200, [&] { return http.with_header("Expect", "100-continue").get("/v1/models"); }},
  };
  for (const Row& row : rows) {
    for (int round = 0; round < 2; ++round) {
      CHECK(row.ask().status == row.status);
      CHECK(under_way(gateway) == 0);
    }
  }
  gateway.chaos(Chaos(service_unavailable()).first(1));
  CHECK(http.chat().status == 503);
  gateway.clear_chaos();
  gateway.chaos(Chaos(after_tokens(1), reset_connection()));
  RawConnection struck = hold(gateway, http, {{"stream", true}});
  CHECK(struck.receive_all().end == End::reset);
  gateway.clear_chaos();
  gateway.next_connection(reply_before_body(bad_gateway()));
  CHECK(http.chat().status == 502);
  CHECK(http.chat().status == 200);
  CHECK(under_way(gateway) == 0);
}

TEST_CASE(
    "a client that leaves at a gate, in a stall, while it does not read or while the test is asked gives its place "
    "back") {
  enum class Leave { abort, close, half_close };
  for (const Leave leave : {Leave::abort, Leave::close, Leave::half_close}) {
    for (const char* where : {"gate", "stall", "pace", "unread", "ask"}) {
      CAPTURE(where);
      CAPTURE(static_cast<int>(leave));
      const ManualClock clock;
      Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
      Gate gate;
      gateway.chat().when(user_says("gate")).reply(text("a b").hold(gate, before_token(2)));
      gateway.chat().when(user_says("stall")).reply(text("a b").fault(after_tokens(1), stall()));
      gateway.chat().when(user_says("pace")).reply(text("a b").every(1h));
      gateway.chat().when(user_says("unread")).reply(text(std::string(1 << 20, 'a')));
      const LoadedScript asks = gateway.load(
          Json::parse(R"({"mock_gateway": 1, "stubs": [{"when": {"user_says": "ask"}, "reply": {"ask": true}}]})"));
      const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit_concurrent(1));
      const Http http = Http(gateway).with_key(key.secret);
      test_support::ConnectionOptions narrow;
      narrow.receive_buffer = 4096;
      RawConnection client(gateway, narrow);
      Json body = test_support::chat_body(Json(where));
      body["stream"] = std::string(where) != "unread";
      client.send(http.format("POST", chat_path, body.dump()));
      if (std::string(where) == "unread") {
        // The gateway gives the place back when it begins to write the body, because it writes all of it at once.
        REQUIRE(client.receive_until("HTTP/1.1 200", test_support::patience).found);
      } else {
        REQUIRE(eventually([&] { return under_way(gateway, key.id) == 1; }));
        CHECK(http.get("/v1/models").status == 429);
      }
      if (leave == Leave::abort) client.abort();
      if (leave == Leave::close) client.close();
      if (leave == Leave::half_close) client.shutdown_write();
      CHECK(eventually([&] { return under_way(gateway, key.id) == 0; }));
      CHECK(http.get("/v1/models").status == 200);
      gate.open();
    }
  }
}

TEST_CASE("an answer to a request that waits for the test's reply frees its place at its end") {
  Gateway gateway{Options{}.limit_concurrent(1)};
  const LoadedScript asks = gateway.load(
      Json::parse(R"({"mock_gateway": 1, "stubs": [{"when": {"user_says": "ask"}, "reply": {"ask": true}}]})"));
  detail::AskedRequests& board = detail::Access::serving(gateway)->asked;
  const Http http(gateway);
  RawConnection client = hold(gateway, http, "ask");
  REQUIRE(eventually([&] { return board.list({}).size() == 1; }));
  CHECK(http.chat().status == 429);
  Gate gate;
  board.answer(board.list({}).front().exchange, std::make_shared<const Reply>(text("a").hold(gate, before_token(1))));
  REQUIRE(gate.wait_until_reached(test_support::patience));
  CHECK(http.chat().status == 429);
  gate.open();
  CHECK(client.receive_response().complete);
  CHECK(http.get("/v1/models").status == 200);
}

TEST_CASE("a failure of the gateway that chaos holds back keeps its place until it leaves") {
  Gateway gateway{Options{}.limit_concurrent(1).verify_on_destruction(false)};
  Gate gate;
  gateway.chat().reply([](const ChatRequest&) -> Reply { throw std::runtime_error("no"); });
  gateway.chaos(Chaos(before_headers(), stall(gate)));
  const Http http(gateway);
  RawConnection held = hold(gateway, http);
  REQUIRE(gate.wait_until_reached(test_support::patience));
  CHECK(http.get("/v1/models").status == 429);
  gate.open();
  CHECK(held.receive_response().status == 500);
  CHECK(http.get("/v1/models").status == 200);
}

TEST_CASE("requests on one connection, also pipelined ones, have one place at a time") {
  Gateway gateway{Options{}.limit_concurrent(1)};
  gateway.chat().reply("a b");
  const Http http = Http(gateway).keep_alive();
  for (int request = 0; request < 20; ++request) CHECK((request % 2 == 0 ? http.chat() : http.stream()).status == 200);
  RawConnection pipeline(gateway);
  pipeline.send(http.format_chat() + http.format_chat({{"stream", true}}) + http.format_chat());
  for (int request = 0; request < 3; ++request) CHECK(pipeline.receive_response().status == 200);
  CHECK(under_way(gateway) == 0);
}

TEST_CASE("the keys of a group share a count, and all keys another") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("a").hold(gate, before_token(1)));
  const auto models = [&](const CreatedKey& key) {
    return Http(gateway).with_key(key.secret).get("/v1/models").status;
  };
  const KeyOptions team = KeyOptions{}.limit_group("team");
  const CreatedKey small = gateway.keys().create("small", team.limit_concurrent(1));
  const CreatedKey large = gateway.keys().create("large", team.limit_concurrent(2));
  const CreatedKey apart = gateway.keys().create("apart", KeyOptions{}.limit_concurrent(1));
  const CreatedKey free = gateway.keys().create("free", team);
  RawConnection held = hold(gateway, Http(gateway).with_key(large.secret));
  REQUIRE(gate.wait_until_reached(test_support::patience));
  CHECK(under_way(gateway, small.id) == 1);
  CHECK(under_way(gateway, free.id) == 0);
  CHECK(models(small) == 429);
  CHECK(models(large) == 200);
  CHECK(models(apart) == 200);
  CHECK(models(free) == 200);

  gateway.keys().limit_concurrent_for_all(1);
  CHECK(models(large) == 200);  // the request under way began without that limit
  RawConnection common = hold(gateway, Http(gateway).with_key(free.secret));
  REQUIRE(gate.wait_until_reached(2, test_support::patience));
  for (const CreatedKey& key : {small, large, apart, free}) CHECK(models(key) == 429);
  gateway.keys().limit_concurrent_for_all(2);
  CHECK(models(apart) == 200);
  gateway.keys().unlimit_concurrent_for_all();
  gateway.keys().limit_concurrent_for_all(1);
  CHECK(models(apart) == 429);  // the request under way keeps its place
  gate.open();
  CHECK(held.receive_response().complete);
  CHECK(common.receive_response().complete);
  for (const CreatedKey& key : {small, large, apart, free}) CHECK(models(key) == 200);
}

TEST_CASE("a request that one limit refuses does not count for the other") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock).profile(Profile::openai).limit(3, 10s).limit_concurrent(1)};
  Gate gate;
  gateway.chat().reply("a");
  gateway.chat().when(user_says("hold")).reply(text("a").hold(gate, before_token(1)));
  const Http http(gateway);
  RawConnection held = hold(gateway, http, "hold");
  REQUIRE(gate.wait_until_reached(test_support::patience));
  for (int request = 0; request < 5; ++request) {
    const Response refused = http.chat();
    CHECK(contains(refused.error_message(), "1 concurrent request "));
    CHECK(refused.header("Retry-After") == "1");
    CHECK(refused.header("retry-after-ms") == "1000");
    CHECK(refused.header("x-ratelimit-remaining-requests") == "2");
  }
  gate.open();
  CHECK(held.receive_response().complete);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 200);
  const Response refused = http.chat();
  CHECK_FALSE(contains(refused.error_message(), "concurrent"));
  CHECK(refused.header("Retry-After") == "10");
  CHECK(under_way(gateway) == 0);
  gateway.keys().limit_concurrent("key_1", 1);
  clock.advance(10s);
  gateway.fail_next(forbidden(), 1, for_key("key_1"));
  CHECK(http.chat().status == 403);
  CHECK(under_way(gateway) == 0);
  CHECK(http.chat().header("x-ratelimit-remaining-requests") == "2");
}

TEST_CASE("if the rate is exceeded too, the refusal names the rate's wait, which is the longer one") {
  const ManualClock clock;
  Gateway gateway{Options{}.clock(clock).limit(1, 10s).limit_concurrent(1)};
  Gate gate;
  gateway.chat().reply(text("a").hold(gate, before_token(1)));
  const Http http(gateway);
  RawConnection held = hold(gateway, http);
  REQUIRE(gate.wait_until_reached(test_support::patience));
  CHECK(http.chat().header("Retry-After") == "10");
  gate.open();
}

TEST_CASE("a reset keeps limits and places, and so does a change of the limit") {
  Gateway gateway;
  Gate gate;
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit_concurrent(1));
  gateway.chat().reply(text("a").hold(gate, before_token(1)));
  const Http http = Http(gateway).with_key(key.secret);
  RawConnection held = hold(gateway, http);
  REQUIRE(gate.wait_until_reached(test_support::patience));
  gateway.reset();
  CHECK(http.get("/v1/models").status == 429);
  gateway.keys().limit_concurrent(key.id, 2);
  CHECK(gateway.keys().find(key.id).limit_concurrent == 2);
  CHECK(under_way(gateway, key.id) == 1);
  CHECK(http.get("/v1/models").status == 200);
  gateway.keys().unlimit_concurrent(key.id);
  CHECK(under_way(gateway, key.id) == 0);
  gateway.keys().limit_concurrent(key.id, 1);
  CHECK(http.get("/v1/models").status == 429);
  gate.open();
  CHECK(held.receive_response().complete);
  CHECK(http.get("/v1/models").status == 200);
}

TEST_CASE("a place outlives its key and its gateway") {
  Gate gate;
  std::optional<Keys> keys;
  std::string id;
  RawConnection held = [&] {
    Gateway gateway{Options{}.limit_concurrent(1)};
    keys = gateway.keys();
    id = keys->create("", KeyOptions{}.limit_concurrent(1)).id;
    const CreatedKey removed = keys->create("", KeyOptions{}.limit_concurrent(1));
    gateway.chat().reply(text("a").hold(gate, before_token(1)));
    RawConnection open = hold(gateway, Http(gateway).with_key(removed.secret));
    CHECK(gate.wait_until_reached(test_support::patience));
    keys->remove(removed.id);
    CHECK(keys->find(removed.id).concurrent == 1);
    gateway.stop();
    CHECK(keys->find(removed.id).concurrent == 0);
    return open;
  }();
  CHECK(keys->find(id).concurrent == 0);
}

TEST_CASE("many threads never have more requests under way than the limit, and leave none behind") {
  constexpr std::size_t most = 3;
  Gateway gateway{Options{}.limit_concurrent(most)};
  std::atomic<std::size_t> now{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<int> served{0};
  gateway.chat().reply([&](const ChatRequest&) {
    const std::size_t here = ++now;
    for (std::size_t known = peak; here > known && !peak.compare_exchange_weak(known, here);) continue;
    std::this_thread::yield();
    --now;
    return text("a b");
  });
  in_threads(8, [&](std::size_t number) {
    const Http http = number % 2 == 0 ? Http(gateway).keep_alive() : Http(gateway);
    for (int request = 0; request < 25; ++request) {
      if (number == 7) {
        hold(gateway, http, {{"stream", true}}).abort();
        continue;
      }
      const Response response = request % 2 == 0 ? http.chat() : http.stream();
      if (response.status == 200) ++served;
      CHECK((response.status == 200 || response.status == 429));
    }
  });
  CHECK(served > 0);
  CHECK(peak <= most);
  CHECK(gateway.journal().wait_until_idle(test_support::patience));
  gateway.keys().limit_concurrent_for_all(1);
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("a client that waits as told after a refusal is clean, even if its other requests go on") {
  for (const bool same : {false, true}) {
    CAPTURE(same);
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock).limit_concurrent(2)};
    Gate gate;
    gateway.chat().reply("a");
    gateway.chat().when(user_says("one")).reply(text("a").hold(gate, before_token(1)));
    const Http http(gateway);
    const auto question = [&](int number) { return Json(same ? "one" : "one " + std::to_string(number)); };
    std::vector<RawConnection> held;
    for (int number = 0; number < 2; ++number) held.push_back(hold(gateway, http, question(number)));
    REQUIRE(gate.wait_until_reached(2, test_support::patience));
    CHECK(http.chat(question(2)).status == 429);
    gate.release();
    CHECK(held.front().receive_response().complete);
    CHECK(http.chat("another").status == 200);  // another thread of the client
    clock.advance(1s);
    gate.open();
    CHECK(http.chat(question(2)).status == 200);
    CHECK(held.back().receive_response().complete);
    CHECK(gateway.review());
    CHECK(gateway.review().findings().empty());
  }
}

TEST_CASE("an impossible limit of concurrent requests throws") {
  const Gateway gateway;
  CHECK(contains(error_of([&] { gateway.keys().limit_concurrent("key_1", 0); }), "at least 1; to refuse all"));
  CHECK(contains(error_of([&] { gateway.keys().limit_concurrent("key_9", 1); }), "no key has the id or description"));
  CHECK(contains(error_of([&] { gateway.keys().limit_concurrent_for_all(0); }), "at least 1"));
  CHECK(contains(error_of([&] { gateway.keys().create("", KeyOptions{}.limit_concurrent(0)); }), "at least 1"));
  CHECK_THROWS_AS(Gateway{Options{}.limit_concurrent(0)}, GatewayError);
}

}  // namespace concurrent_limits_test
