// Queries of the journal by matchers: the exchanges found, their number, and the JSON of their replies.

#include <chrono>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace journal_matches_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;

std::vector<std::uint64_t> ids(const std::vector<Exchange>& exchanges) {
  std::vector<std::uint64_t> found;
  for (const Exchange& exchange : exchanges) found.push_back(exchange.id());
  return found;
}

using Ids = std::vector<std::uint64_t>;

TEST_CASE("matchers find and count past requests, no matter which stub answered") {
  Gateway gateway(Options().verify_on_destruction(false));
  const Http http(gateway);
  gateway.chat().when(user_says("weather")).reply("Rain.");
  gateway.fail_next(rate_limited(), 1);
  http.chat("weather in Berlin");
  http.chat("weather in Rome");
  http.chat("the time");
  http.with_header("x-id", "7").chat({{"temperature", 1}, {"messages", {{{"role", "user"}, {"content", "weather"}}}}});
  http.chat({{"temperature", "hot"}});
  http.get("/v1/models");
  const Journal journal = gateway.journal();
  CHECK(ids(journal.find(user_says("weather"))) == Ids{1, 2, 4});
  CHECK(ids(journal.find(user_says("weather"), has_header("x-id", "7"))) == Ids{4});
  CHECK(ids(journal.find(!user_says("weather"))) == Ids{3});
  CHECK(ids(journal.find(temperature_is(1) || user_says("time"))) == Ids{3, 4});
  CHECK(ids(journal.find(user_says("Paris"))).empty());
  CHECK(ids(journal.find(std::vector<Matcher>())) == Ids{1, 2, 3, 4});
  CHECK(journal.count(user_says("weather")) == 3);
  CHECK(journal.count(user_says("weather"), stream_is(true)) == 0);
  CHECK(journal.count(user_says("weather")) != 2);
  CHECK_FALSE(journal.count(user_says("weather")).at_least);
  CHECK(journal.count(user_says("weather")).to_string() == "3");
  int asked = 0;
  CHECK(journal.count(matching("counts", [&](const ChatRequest&) { return ++asked > 0; })) == 4);
  CHECK(asked == 4);
  journal.clear();
  CHECK(journal.count(user_says("weather")) == 0);
}

TEST_CASE("a query that depends on a text that is too long to be searched by a pattern throws") {
  Gateway gateway(Options().verify_on_destruction(false));
  const Http http(gateway);
  http.chat("short");
  http.chat(std::string(70000, 'a') + " secret");
  const Journal journal = gateway.journal();
  const Matcher pattern = user_says(matches_regex("secret"));
  const std::string error =
      "mock_gateway: the text of exchange 2 was too long to be searched by a pattern of this search: more than 65,536 "
      "bytes, or 5,000,000 steps\n  ? ";
  const auto refusal = [&](const Matcher& condition) {
    try {
      return journal.count(condition).to_string();
    } catch (const GatewayError& thrown) {
      return std::string(thrown.what());
    }
  };
  CHECK(refusal(pattern) == error + pattern.to_string());
  CHECK(refusal(!pattern) == error + (!pattern).to_string());
  CHECK_THROWS_AS(journal.find(pattern && user_says("a")), GatewayError);
  CHECK(refusal(pattern && user_says("b")) == "0");
  CHECK(refusal(pattern || user_says("secret")) == "1");
  CHECK(refusal(!pattern && stream_is(true)) == "0");
  CHECK(refusal(user_says("secret")) == "1");
  const Gateway slow;
  Http(slow).chat(std::string(20000, 'a'));
  CHECK_THROWS_AS(slow.journal().count(user_says(matches_regex("(a?){1000}b"))), GatewayError);
}

TEST_CASE("after an eviction the journal reports a minimum count") {
  Gateway gateway(Options().journal_limits(2, 1 << 20));
  const Http http(gateway);
  for (int i = 0; i < 3; ++i) http.chat("weather");
  const ExchangeCount count = gateway.journal().count(user_says("weather"));
  CHECK(count == 2);
  CHECK(count.at_least);
  CHECK(count.to_string() == "at least 2");
  gateway.journal().clear();
  CHECK_FALSE(gateway.journal().count(user_says("weather")).at_least);
}

TEST_CASE("the JSON of a reply contains its head and its body, or the parts of a stream") {
  Gateway gateway(Options().keep_answers(true));
  const Http http(gateway);
  gateway.chat().reply(text("one two").header("x-a", "b"), text("three four"),
                       raw_reply(200, std::string("\xff"), "a/b"),
                       raw_reply(200, std::string((1 << 20) - 1, 'x') + "é!", "text/plain"));
  const auto answer = [&] {
    REQUIRE(gateway.journal().wait_until_idle(10s));
    return as_json(*gateway.journal().last().answer());
  };
  const std::string plain = http.chat().body;
  Json shown = answer();
  CHECK(shown["status"] == 200);
  CHECK(shown["body"] == Json{{"json", Json::parse(plain)}});
  CHECK(shown["streamed"] == false);
  CHECK(shown["parts"].empty());
  CHECK(shown["ending"] == "whole");
  CHECK(shown["left_out"] == 0);
  bool has_field = false;
  for (const Json& field : shown["headers"]) has_field = has_field || field == Json{"x-a", "b"};
  CHECK(has_field);

  const std::string streamed = http.stream().body;
  shown = answer();
  CHECK(shown["body"] == Json{{"text", streamed}});
  CHECK(shown["streamed"] == true);
  std::string joined;
  for (const Json& part : shown["parts"]) {
    joined += part["text"].get<std::string>();
    CHECK(part["bytes"] == part["text"].get<std::string>().size());
    CHECK(part["at_ms"] <= part["until_ms"]);
  }
  CHECK(joined == streamed);
  CHECK(shown["parts"].size() > 3);

  http.chat();
  CHECK(answer()["body"] == Json{{"base64", "/w=="}});
  http.chat();
  shown = answer();
  CHECK(shown["body"]["text"].get<std::string>() == std::string((1 << 20) - 1, 'x'));
  CHECK(shown["left_out"] == 3);
}

}  // namespace journal_matches_test
