// Token limits of a key, a group and all keys: reserved and returned tokens, refusals, and the reported numbers.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/threads.hpp"

namespace token_limits_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::contains;
using test_support::error_of;
using test_support::eventually;
using test_support::Http;
using test_support::in_threads;
using test_support::RawConnection;
using test_support::Response;

/// The prompt tokens of chat_body(): one for the word "Hi", and 3 for its message.
constexpr int prompt = 4;

Options openai() { return Options{}.profile(Profile::openai); }

Json at_most(int tokens) { return Json{{"max_tokens", tokens}}; }

/// Returns the limit, the rest, and the time until the limit is restored, such as "100 40 30s".
std::string limit_headers(const Response& response, const std::string& what = "tokens") {
  return response.header("x-ratelimit-limit-" + what) + " " + response.header("x-ratelimit-remaining-" + what) + " " +
         response.header("x-ratelimit-reset-" + what);
}

/// Returns the number of remaining tokens, read with a request that takes none.
std::string left(const Gateway& gateway) {
  return Http(gateway).get("/v1/models").header("x-ratelimit-remaining-tokens");
}

TEST_CASE("a request takes its prompt and max_tokens, and gives back unused tokens") {
  ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(100, 60s)};
  gateway.chat().reply(text("a b c"));
  const Http http(gateway);
  CHECK(limit_headers(http.get("/v1/models")) == "100 100 0ms");
  CHECK(limit_headers(http.chat(at_most(50))) == "100 46 1m0s");  // the window begins here
  CHECK(left(gateway) == "93");                                   // 4 + 3 were used
  clock.advance(20s);
  const Response second = http.chat(at_most(20));
  CHECK(limit_headers(second) == "100 69 40s");
  CHECK(second.usage()["total_tokens"] == 7);
  CHECK(left(gateway) == "86");

  const Response refused = http.chat(at_most(83));
  CHECK(refused.status == 429);
  CHECK(refused.error_code() == "rate_limit_exceeded");
  CHECK(refused.error_type() == "tokens");
  CHECK(refused.error_message() ==
        "Rate limit reached on tokens per min (TPM): Limit 100, Used 14, Requested 87. Please try again in 40s.");
  CHECK(refused.header("Retry-After") == "40");
  CHECK(refused.header("retry-after-ms") == "40000");
  CHECK(limit_headers(refused) == "100 86 40s");  // the refused request took nothing
  CHECK(http.chat(at_most(82)).status == 200);

  clock.advance(40s - 1ns);
  CHECK(limit_headers(http.chat(at_most(96))) == "100 79 1ms");
  clock.advance(1ns);
  CHECK(limit_headers(http.chat(at_most(96))) == "100 0 1m0s");
  CHECK(left(gateway) == "93");
}

TEST_CASE("without max_tokens a request takes the tokens of its reply, for each choice") {
  ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(30, 10s)};
  gateway.chat().reply(text("one two three four five"));
  const Http http(gateway);
  CHECK(limit_headers(http.chat()) == "30 21 10s");
  CHECK(limit_headers(http.chat({{"n", 3}})) == "30 2 10s");
  CHECK(http.chat().status == 429);  // the prompt alone exceeds the limit
  clock.advance(10s);
  CHECK(http.chat(at_most(26)).status == 200);
  CHECK(http.chat(at_most(5)).status == 200);
  CHECK(left(gateway) == "12");
  CHECK(limit_headers(http.chat({{"n", 3}})) == "30 0 10s");  // takes more than the rest
  CHECK(limit_headers(http.get("/v1/models")) == "30 0 10s");
  CHECK(http.chat({{"n", 2}, {"max_tokens", 13}}).status == 429);
}

TEST_CASE("max_tokens is taken for each choice, and so is max_completion_tokens") {
  const ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(100, 10s)};
  gateway.chat().reply("a");
  const Http http(gateway);
  CHECK(limit_headers(http.chat({{"n", 4}, {"max_completion_tokens", 20}})) == "100 16 10s");
  CHECK(left(gateway) == "92");
}

TEST_CASE("a request larger than the limit is refused without Retry-After, or with a 413 if an option asks for it") {
  const ManualClock clock;
  for (const bool gets_413 : {false, true}) {
    CAPTURE(gets_413);
    const Gateway gateway{openai().clock(clock).limit_tokens(100, 24h).oversized_gets_413(gets_413)};
    const Http http(gateway);
    for (const Json& extra : {at_most(97), Json{{"max_tokens", 9'000'000'000'000'000'000}, {"n", 128}}}) {
      const Response refused = http.chat(extra);
      CHECK(refused.status == (gets_413 ? 413 : 429));
      CHECK(refused.error_code() == "rate_limit_exceeded");
      CHECK(refused.error_type() == "tokens");
      CHECK(contains(refused.error_message(), "Request too large on tokens per day (TPD): Limit 100, Requested "));
      CHECK_FALSE(refused.has("Retry-After"));
      CHECK(limit_headers(refused) == "100 100 0ms");
    }
    CHECK(http.chat(at_most(96)).status == 200);
    CHECK(http.chat(at_most(97)).status == (gets_413 ? 413 : 429));
    CHECK(gateway.review().without("daily_quota_retried"));  // the used-up limit itself is not a mistake of the client
  }
}

TEST_CASE("the documented profile has the documented error type, and no headers of OpenAI") {
  const ManualClock clock;
  const Gateway gateway{Options{}.clock(clock).limit_tokens(10, 2500ms)};
  const Http http(gateway);
  CHECK_FALSE(http.chat(at_most(1)).has("x-ratelimit-limit-tokens"));
  const Response refused = http.chat(at_most(6));
  CHECK(refused.status == 429);
  CHECK(refused.error_type() == "error");
  CHECK(refused.error_message() ==
        "Rate limit reached on tokens per 2.5 s: Limit 10, Used 5, Requested 10. Please try again in 2.5s.");
  CHECK(refused.header("Retry-After") == "3");
  CHECK_FALSE(refused.has("retry-after-ms"));
}

TEST_CASE("a limit of requests and a limit of tokens apply together") {
  ManualClock clock;
  Gateway gateway{openai().clock(clock).limit(3, 20s).limit_tokens(50, 60s)};
  gateway.chat().reply("a");
  const Http http(gateway);
  const Response first = http.chat(at_most(10));
  CHECK(limit_headers(first, "requests") == "3 2 20s");
  CHECK(limit_headers(first) == "50 36 1m0s");
  const Response by_tokens = http.chat(at_most(45));
  CHECK(by_tokens.error_type() == "tokens");
  CHECK(limit_headers(by_tokens, "requests") == "3 1 20s");  // counts refused requests too
  CHECK(http.chat(at_most(10)).status == 200);
  const Response by_requests = http.chat(at_most(10));
  CHECK(by_requests.error_type() == "requests");
  CHECK(by_requests.header("Retry-After") == "20");
  CHECK(limit_headers(by_requests) == "50 40 1m0s");
  clock.advance(20s);
  CHECK(http.chat(at_most(10)).status == 200);
}

TEST_CASE("a key's own token limit applies in addition to the common limit, and the longer wait is sent") {
  ManualClock clock;
  Gateway gateway{openai().clock(clock)};
  gateway.chat().reply("a");
  gateway.keys().limit_tokens_for_all(40, 60s);
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit_tokens(20, 10s));
  const Http own = Http(gateway).with_key(key.secret);
  CHECK(limit_headers(own.chat(at_most(10))) == "20 6 10s");
  const Response refused = own.chat(at_most(16));
  CHECK(refused.header("Retry-After") == "10");
  CHECK(contains(refused.error_message(), "Limit 20, Used 5, Requested 20"));
  CHECK(left(gateway) == "35");  // refused by the key's own limit, so nothing is taken from the common limit
  CHECK(Http(gateway).chat(at_most(31)).status == 200);
  gateway.keys().limit_tokens_for_all(20, 60s);
  CHECK(Http(gateway).chat({{"max_tokens", 10}}).status == 200);
  const Response by_both = own.chat(at_most(16));
  CHECK(by_both.header("Retry-After") == "60");
  CHECK(limit_headers(own.get("/v1/models")) == "20 15 10s");
  gateway.keys().limit_tokens_for_all(10, 60s);
  CHECK(contains(own.chat(at_most(10)).error_message(), "too large on tokens per min (TPM): Limit 10, Requested 14"));
  gateway.keys().unlimit_tokens_for_all();
  CHECK(own.chat(at_most(10)).status == 200);
  gateway.keys().unlimit_tokens(key.id);
  CHECK_FALSE(own.chat(at_most(1000)).has("x-ratelimit-limit-tokens"));
}

TEST_CASE("the tokens of a group's keys count together against each key's limit") {
  ManualClock clock;
  Gateway gateway{openai().clock(clock)};
  gateway.chat().reply("a");
  const KeyOptions team = KeyOptions{}.limit_group("team");
  const CreatedKey small = gateway.keys().create("small", team.limit(1, 10s).limit_tokens(10, 10s));
  const CreatedKey large = gateway.keys().create("large", team.limit(9, 10s).limit_tokens(30, 10s));
  const CreatedKey free = gateway.keys().create("free", team);
  const auto ask = [&](const CreatedKey& key) { return Http(gateway).with_key(key.secret).chat(at_most(1)); };
  CHECK(limit_headers(ask(large)) == "30 25 10s");
  CHECK(limit_headers(ask(large)) == "30 20 10s");
  const Response refused = ask(small);
  CHECK(refused.status == 429);
  CHECK(limit_headers(refused) == "10 0 10s");
  CHECK(limit_headers(refused, "requests") == "1 0 10s");  // although the group has used 2 requests
  CHECK(ask(free).status == 200);
  CHECK(limit_headers(ask(large)) == "30 15 10s");
  CHECK(gateway.keys().find(small.id).limit_tokens->tokens == 10);
  CHECK(gateway.keys().find(small.id).limit_tokens->window == 10s);
  clock.advance(10s);
  CHECK(limit_headers(ask(small)) == "10 5 10s");
}

TEST_CASE("failures give all tokens back, and refusals before the token check take none") {
  const ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(100, 10s).unmatched(Unmatched::allowed)};
  gateway.chat().when(user_says("fail")).reply(server_error());
  gateway.chat().when(user_says("raw")).reply(raw_reply(200, "{}"));
  gateway.chat().when(user_says("wrong")).reply(raw_reply(500, "{}"));
  gateway.chat().when(user_says("chunks")).reply(chunks({{{"choices", Json::array()}}}));
  gateway.chat().when(user_says("throw")).reply([](const ChatRequest&) -> Reply { throw std::runtime_error("no"); });
  const Http http(gateway);
  const auto says = [&](const char* text, const Json& extra = {}) {
    Json body = chat_body(Json(text));
    body["max_tokens"] = 30;
    body.update(extra.is_null() ? Json::object() : extra);
    return http.post(test_support::chat_path, body);
  };
  CHECK(limit_headers(says("fail")) == "100 66 10s");
  CHECK(left(gateway) == "100");
  CHECK(says("wrong").status == 500);
  CHECK(says("throw").status == 500);
  CHECK(says("unmatched").status == 422);
  gateway.fail_next(rate_limited(), 1, for_model("mock-model"));
  CHECK(says("raw").status == 429);
  CHECK(says("raw", {{"model", "none"}}).status == 404);
  CHECK(says("raw", {{"n", 0}}).status == 400);
  gateway.chaos(Chaos(service_unavailable()).first(1));
  CHECK(says("raw").status == 503);
  gateway.clear_chaos();
  CHECK(left(gateway) == "100");
  CHECK(says("raw").status == 200);  // its usage is unknown
  CHECK(left(gateway) == "66");
  CHECK(says("chunks").status == 200);
  CHECK(left(gateway) == "32");
  CHECK_FALSE(gateway.verify());
}

TEST_CASE("scripted usage counts against the limit, even if it is unusual") {
  const ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(1000, 10s)};
  gateway.chat().reply(text("a").usage(TokenUsage(0, 9'000'000'000'000'000'000)));
  gateway.chat().when(user_says("much")).reply(text("a").usage(TokenUsage(400, 500)));
  const Http http(gateway);
  CHECK(limit_headers(http.chat({{"max_tokens", 10}, {"messages", {{{"role", "user"}, {"content", "much"}}}}})) ==
        "1000 100 10s");
  for (int i = 0; i < 5; ++i) {
    const Response response = http.chat(at_most(10));
    CHECK(response.status == (i == 0 ? 200 : 429));
    CHECK(limit_headers(response) == "1000 0 10s");
  }
}

TEST_CASE("a stream returns its unused tokens when it ends, complete, broken or abandoned") {
  const ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(100, 10s)};
  Gate gate;
  gateway.chat().reply(text("a b c").hold(gate, before_token(2)));
  gateway.chat().when(user_says("break")).reply(text("a b c").fault(after_tokens(1), reset_connection()));
  const Http http(gateway);
  const std::string streamed = http.format_chat({{"stream", true}, {"max_tokens", 50}});
  const auto open = [&](const std::string& remaining) {
    RawConnection connection(gateway);
    connection.send(streamed);
    CHECK(eventually([&] { return left(gateway) == remaining; }));
    return connection;
  };
  {
    RawConnection whole = open("46");
    CHECK(http.chat(at_most(50)).status == 429);
    gate.release();
    CHECK(whole.receive_response().complete);
    CHECK(left(gateway) == "93");  // returned before the client could see the end
  }
  open("39").abort();
  CHECK(eventually([&] { return left(gateway) == "86"; }));
  Json broken = chat_body("break");
  broken["max_tokens"] = 50;
  broken["stream"] = true;
  http.allow_incomplete().post(test_support::chat_path, broken);
  CHECK(eventually([&] { return left(gateway) == "79"; }));
  gate.open();
}

TEST_CASE("returned tokens do not affect a later window") {
  enum class After { next_window, new_limit, lifted, loaded };
  for (const After after : {After::next_window, After::new_limit, After::lifted, After::loaded}) {
    CAPTURE(static_cast<int>(after));
    ManualClock clock;
    Gateway gateway{openai().clock(clock)};
    Json script = Json::parse(R"({"mock_gateway": 1,
        "keys": [{"name": "a", "secret": "sk-scripted-0123456789", "limit_tokens": "100/10s"}]})");
    LoadedScript loaded = gateway.load(script);
    const std::string id = gateway.keys().list().back().id;
    const Http http = Http(gateway).with_key("sk-scripted-0123456789");
    const auto remaining = [&] { return http.get("/v1/models").header("x-ratelimit-remaining-tokens"); };
    Gate gate;
    gateway.chat().reply("a");
    gateway.chat().when(user_says("hold")).reply(text("a").hold(gate, before_token(1)));
    RawConnection held(gateway);
    Json body = chat_body("hold");
    body["max_tokens"] = 50;
    held.send(http.format("POST", test_support::chat_path, body.dump()));
    CHECK(eventually([&] { return remaining() == "46"; }));
    switch (after) {
      case After::next_window: clock.advance(10s); break;
      case After::new_limit: gateway.keys().limit_tokens(id, 100, 10s); break;
      case After::lifted:
        gateway.keys().unlimit_tokens(id);
        gateway.keys().limit_tokens(id, 100, 10s);
        break;
      case After::loaded:
        script["keys"][0]["limit"] = "100/10s";
        ScriptDocument::from_json(script).replace(gateway, loaded);
        break;
    }
    CHECK(remaining() == "100");
    CHECK(http.chat(at_most(10)).status == 200);
    CHECK(remaining() == "95");
    gate.open();
    CHECK(held.receive_response().complete);
    CHECK(remaining() == "95");
  }
}

TEST_CASE("a reset keeps the limits, and running exchanges return their tokens afterwards") {
  ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(100, 10s)};
  Gate gate;
  gateway.chat().reply(text("a").hold(gate, before_token(1)));
  const Http http(gateway);
  RawConnection held(gateway);
  held.send(http.format_chat(at_most(50)));
  CHECK(eventually([&] { return left(gateway) == "46"; }));
  gateway.reset();
  CHECK(left(gateway) == "46");
  CHECK(http.chat(at_most(50)).status == 429);
  gate.open();
  CHECK(held.receive_response().complete);
  CHECK(left(gateway) == "95");
  gateway.reset();
  CHECK(left(gateway) == "95");
  clock.advance(10s);
  CHECK(http.chat(at_most(96)).status == 200);
}

TEST_CASE("an exchange may outlive its gateway or its key") {
  const ManualClock clock;
  Gate gate;
  {
    Gateway gateway{openai().clock(clock).limit_tokens(100, 10s)};
    gateway.chat().reply(text("a").hold(gate, before_token(1)));
    const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit_tokens(60, 10s));
    RawConnection held(gateway);
    held.send(Http(gateway).with_key(key.secret).format_chat(at_most(50)));
    CHECK(eventually([&] { return left(gateway) == "46"; }));
    gateway.keys().remove(key.id);
    gateway.stop();
  }
}

TEST_CASE("an embedding takes the tokens of its input, other operations take none") {
  const ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(10, 10s)};
  gateway.on("POST", "/v1/images", [](const ReceivedRequest&) { return HttpReply(200, "{}"); });
  const Http http(gateway);
  const auto embed = [&](const Json& input) {
    return http.post("/v1/embeddings", Json{{"model", "mock-model"}, {"input", input}});
  };
  CHECK(limit_headers(embed("one two three")) == "10 7 10s");
  CHECK(limit_headers(embed({"four", "five six"})) == "10 4 10s");
  CHECK(embed("one two three four five").status == 429);
  CHECK(contains(embed("a b c d e f g h i j k").error_message(), "too large"));
  CHECK(limit_headers(http.post("/v1/images", "{}")) == "10 4 10s");
}

TEST_CASE("the test's tokenizer counts the tokens, and an exception in it is reported") {
  const ManualClock clock;
  const auto letters = [](std::string_view text) {
    std::vector<std::string> tokens;
    for (const char letter : text) {
      if (letter == '!') throw std::runtime_error("no !");
      tokens.emplace_back(1, letter);
    }
    return tokens;
  };
  Gateway gateway{openai().clock(clock).limit_tokens(100, 10s).tokenizer(letters).verify_on_destruction(false)};
  gateway.chat().reply("abc");
  const Http http(gateway);
  CHECK(limit_headers(http.chat(at_most(10))) == "100 85 10s");  // 2 tokens for "Hi", and 3 for its message
  CHECK(left(gateway) == "92");
  CHECK(http.chat(Json("Hi!")).status == 500);
  CHECK(http.post("/v1/embeddings", Json{{"model", "mock-model"}, {"input", "Hi!"}}).status == 500);
  CHECK(left(gateway) == "92");
  CHECK(contains(gateway.verify().message(), "Options::tokenizer threw: no !"));
}

TEST_CASE("setting an impossible token limit throws") {
  const Gateway gateway;
  const std::string id = gateway.keys().list().front().id;
  CHECK(contains(error_of([&] { gateway.keys().limit_tokens(id, 0, 1s); }), "at least 1 token per window"));
  CHECK(contains(error_of([&] { gateway.keys().limit_tokens(id, 1, 0s); }), "longer than 0"));
  CHECK(contains(error_of([&] { gateway.keys().limit_tokens("key_9", 1, 1s); }), "no key has the id or description"));
  CHECK(contains(error_of([&] { gateway.keys().limit_tokens_for_all(1, -1s); }), "longer than 0"));
  CHECK(contains(error_of([&] { gateway.keys().create("", KeyOptions{}.limit_tokens(0, 1s)); }), "at least 1"));
  CHECK_THROWS_AS(Gateway{Options{}.limit_tokens(1, 0s)}, GatewayError);
}

TEST_CASE("tokens of many threads are counted exactly") {
  const ManualClock clock;
  Gateway gateway{openai().clock(clock).limit_tokens(1'000'000, 10s)};
  gateway.chat().reply("a b");
  gateway.chat().when(user_says("fail")).reply(server_error());
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.limit_tokens(1'000'000, 10s));
  std::atomic<int> used{0};
  in_threads(4, [&](std::size_t i) {
    const Http http = (i % 2 == 0 ? Http(gateway) : Http(gateway).with_key(key.secret)).keep_alive();
    for (int request = 0; request < 20; ++request) {
      if (request % 5 == 4) {
        http.chat(Json("fail"));
        continue;
      }
      const Response response = request % 2 == 0 ? http.chat(at_most(50)) : http.stream(at_most(50));
      if (response.status == 200) used += prompt + 2;
    }
  });
  CHECK(used == 4 * 16 * (prompt + 2));
  CHECK(left(gateway) == std::to_string(1'000'000 - used));

  gateway.keys().limit_tokens_for_all(100, 10s);
  std::atomic<int> accepted{0};
  Gate gate;
  gateway.reset();
  gateway.chat().reply(text("a").hold(gate, before_token(1)));
  std::vector<RawConnection> held;
  for (int i = 0; i < 8; ++i) {
    held.emplace_back(gateway);
    held.back().send(Http(gateway).format_chat(at_most(21)));  // each request takes 25 tokens
  }
  REQUIRE(eventually([&] { return left(gateway) == "0"; }));
  gate.open();
  for (RawConnection& connection : held)
    if (connection.receive_response().status == 200) ++accepted;
  CHECK(accepted >= 4);
  CHECK(left(gateway) == std::to_string(100 - accepted * (prompt + 1)));
}

}  // namespace token_limits_test
