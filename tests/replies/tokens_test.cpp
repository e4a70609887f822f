// Splitting of text and arguments into tokens and deltas, by the built-in rule and by a test's own tokenizer. Logprobs.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"

namespace tokens_test {

using namespace mock_gateway;
using test_support::all_profiles;
using test_support::Http;
using test_support::pieces;
using test_support::Response;

TEST_CASE("a token is a word with its preceding space, or an ideograph, kana or hangul syllable") {
  Gateway gateway;
  gateway.chat().reply("  Zürich, naïve\n\n東京タワー。 서울 end ");
  CHECK(pieces(Http(gateway).stream()) == std::vector<std::string>{"  Zürich,", " naïve", "\n\n東", "京", "タ", "ワ",
                                                                   "ー", "。", " 서", "울", " end", " "});
}

TEST_CASE(
    "the first and last characters of each script without spaces are tokens, the characters around them are letters") {
  Gateway gateway;
  gateway.chat().reply([](const ChatRequest& request) { return text(request.last_user_text()); });
  const Http http = Http(gateway).keep_alive();
  const auto tokens = [&](const std::string& character) {
    return http.chat(Json("a" + character + "b")).usage()["completion_tokens"].get<int>();
  };
  for (const std::string alone :
       {"\u3041", "\u30ff", "\u31f0", "\u31ff", "\u3400", "\u4dbf", "\u4e00", "\u9fff", "\uac00", "\ud7a3", "\uf900",
        "\ufaff", "\uff66", "\uff9d", "\U00020000", "\U0003ffff"}) {
    CAPTURE(alone);
    CHECK(tokens(alone) == 3);
  }
  for (const std::string letter :
       {"\u3040", "\u3100", "\u31ef", "\u3200", "\u33ff", "\u4dc0", "\u4dff", "\ua000", "\uabff", "\ud7a4", "\uf8ff",
        "\ufb00", "\uff65", "\uff9e", "\U0001ffff", "\U00040000"}) {
    CAPTURE(letter);
    CHECK(tokens(letter) == 1);
  }
}

TEST_CASE("tool arguments are streamed in fragments of at most twelve bytes, never inside a character") {
  Gateway gateway;
  gateway.chat().reply(tool_call("f", {{"a_rather_long_name", "東京東京東京 and \"more\""}}));
  std::string joined;
  std::size_t fragments = 0;
  for (const Json& delta : Http(gateway).stream().deltas()) {
    if (!delta.contains("tool_calls")) continue;
    const std::string fragment = delta["tool_calls"][0]["function"]["arguments"];
    CHECK(fragment.size() <= 12);
    CHECK_NOTHROW(Json(fragment).dump());
    joined += fragment;
    ++fragments;
  }
  CHECK(Json::parse(joined)["a_rather_long_name"] == "東京東京東京 and \"more\"");
  CHECK(fragments > 5);

  const auto fragments_of = [](const std::string& arguments) {
    Gateway other;
    other.chat().reply(malformed_tool_call("f", arguments));
    std::vector<std::string> result;
    for (const Json& delta : Http(other).stream().deltas()) {
      if (!delta.contains("tool_calls")) continue;
      const std::string fragment = delta["tool_calls"][0]["function"]["arguments"];
      if (!fragment.empty()) result.push_back(fragment);
    }
    return result;
  };
  using Fragments = std::vector<std::string>;
  const std::string twelve = "abcdefghijkl";
  CHECK(fragments_of(twelve) == Fragments{twelve});
  CHECK(fragments_of(twelve + "m") == Fragments{twelve, "m"});
  CHECK(fragments_of(twelve.substr(0, 10) + "é") == Fragments{twelve.substr(0, 10) + "é"});
  CHECK(fragments_of(twelve.substr(0, 11) + "é") == Fragments{twelve.substr(0, 11), "é"});
  CHECK(fragments_of(std::string(11, ' ') + "{") == Fragments{std::string(11, ' ') + "{"});
  CHECK(fragments_of(std::string(12, ' ') + "{") == Fragments{std::string(12, ' '), "{"});
}

TEST_CASE("a test's own tokenizer decides deltas, max_tokens and usage") {
  const auto in_pairs = [](std::string_view text) {
    std::vector<std::string> tokens;
    for (std::size_t start = 0; start < text.size(); start += 2) tokens.emplace_back(text.substr(start, 2));
    return tokens;
  };
  Gateway gateway(Options{}.tokenizer(in_pairs));
  const Http http(gateway);
  gateway.chat().reply("abcdefg");
  CHECK(pieces(http.stream()) == std::vector<std::string>{"ab", "cd", "ef", "g"});
  CHECK(http.chat({{"max_tokens", 2}}).text() == "abcd");
  CHECK(http.chat().usage()["completion_tokens"] == 4);
  gateway.chat().reply(tool_call("f", {{"a", 1}}));
  CHECK(http.chat().usage()["completion_tokens"] == 4);  // the call's arguments {"a":1} are 4 tokens
}

TEST_CASE("a tokenizer that adds a token after the text is reported, with a part of a long text") {
  const auto reason = [](const std::string& text, const Tokenizer& tokenizer) {
    Gateway gateway(Options{}.tokenizer(tokenizer).verify_on_destruction(false));
    gateway.chat().reply(text);
    CHECK(Http(gateway).chat().status == 500);
    return gateway.journal().last().decision().detail;
  };
  const Tokenizer one_more = [](std::string_view text) { return std::vector<std::string>{std::string(text), "more"}; };
  const Tokenizer empty_one = [](std::string_view text) { return std::vector<std::string>{"", std::string(text)}; };
  const Tokenizer bytes = [](std::string_view text) {
    std::vector<std::string> tokens;
    for (const char byte : text) tokens.emplace_back(1, byte);
    return tokens;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (const std::size_t length : {std::size_t{60}, std::size_t{61}}) {
    const std::string text(length, 'x');
    const std::string shown = '"' + text.substr(0, 60) + (length == 60 ? "\"" : "\u2026\"");
    CHECK(has(reason(text, one_more), "the tokenizer's tokens do not add up to the text " + shown + ";"));
    const std::string with_umlaut = "xx\u00fc" + text.substr(4);
    CHECK(has(reason(with_umlaut, bytes), "the tokenizer ended a token at byte 3 of \"" + with_umlaut.substr(0, 60) +
                                              (length == 60 ? "\"," : "\u2026\",")));
  }
  Gateway gateway(Options{}.tokenizer(empty_one));
  gateway.chat().reply("abc");
  CHECK(Http(gateway).chat().usage()["completion_tokens"] == 2);
}

TEST_CASE("a tokenizer that loses text or cuts a character causes a 500, with the reason in the journal") {
  const std::pair<const char*, Tokenizer> wrong[] = {
      {"do not add up", [](std::string_view) { return std::vector<std::string>{"something else"}; }},
      {"do not add up", [](std::string_view) { return std::vector<std::string>{}; }},
      {"inside a UTF-8 character",
       [](std::string_view text) {
         std::vector<std::string> bytes;
         for (const char byte : text) bytes.emplace_back(1, byte);
         return bytes;
       }},
  };
  for (const auto& [reason, tokenizer] : wrong) {
    Gateway gateway(Options{}.tokenizer(tokenizer).verify_on_destruction(false));
    gateway.chat().reply("東京");
    const Response response = Http(gateway).chat();
    CHECK(response.status == 500);
    CHECK(response.error_code() == "internal_error");
    const std::string detail = gateway.journal().last().decision().detail;
    CAPTURE(detail);
    CHECK(detail.find(reason) != std::string::npos);
  }
}

TEST_CASE("logprobs come for each token of the text on request") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    Gateway gateway(Options{}.profile(profile));
    gateway.chat().reply("Hi Zürich");
    const Json fields = {{"logprobs", true}, {"top_logprobs", 3}};
    const Json plain = Http(gateway).chat(fields).json()["choices"][0]["logprobs"];
    REQUIRE(plain["content"].size() == 2);
    std::string joined;
    for (const Json& entry : plain["content"]) {
      const std::string token = entry["token"];
      joined += token;
      CHECK(entry["logprob"] < 0);
      std::string bytes;
      for (const Json& byte : entry["bytes"]) bytes += static_cast<char>(byte.get<int>());
      CHECK(bytes == token);
      REQUIRE(entry["top_logprobs"].size() == 3);
      CHECK(entry["top_logprobs"][0]["token"] == token);
      CHECK(entry["top_logprobs"][1]["logprob"] < entry["top_logprobs"][0]["logprob"]);
    }
    CHECK(joined == "Hi Zürich");

    Json streamed = Json::array();
    for (const Json& event : Http(gateway).stream(fields).json_events()) {
      const Json& choice = event["choices"][0];
      if (choice["logprobs"].is_null()) continue;
      REQUIRE(choice["logprobs"]["content"].size() == 1);
      CHECK(choice["logprobs"]["content"][0]["token"] == choice["delta"]["content"]);
      streamed.push_back(choice["logprobs"]["content"][0]);
    }
    CHECK(streamed == plain["content"]);
  }
}

TEST_CASE("the alternatives of a token are all different, for any number") {
  Gateway gateway;
  gateway.chat().reply("one two three four five six seven eight nine ten");
  for (const int wanted : {0, 1, 2, 20}) {
    const Response response = Http(gateway).chat({{"logprobs", true}, {"top_logprobs", wanted}});
    const Json entries = response.json()["choices"][0]["logprobs"]["content"];
    CHECK(entries.size() == 10);
    for (const Json& entry : entries) {
      std::set<std::string> tokens;
      double last = 0;
      for (const Json& alternative : entry["top_logprobs"]) {
        tokens.insert(alternative["token"].get<std::string>());
        CHECK(alternative["logprob"] < last);
        last = alternative["logprob"];
      }
      CHECK(static_cast<int>(tokens.size()) == wanted);
      CHECK((wanted == 0 || tokens.count(entry["token"].get<std::string>()) == 1));
    }
  }
}

TEST_CASE("generated logprobs are the same on every machine") {
  Gateway gateway;
  gateway.chat().reply("one two three four five six");
  const Json entries =
      Http(gateway).chat({{"logprobs", true}, {"top_logprobs", 3}}).json()["choices"][0]["logprobs"]["content"];
  std::string shown;
  for (const Json& entry : entries) {
    shown += entry["logprob"].dump() + ":";
    for (const Json& one : entry["top_logprobs"]) shown += " " + one["token"].dump() + " " + one["logprob"].dump();
    shown += "\n";
  }
  CHECK(shown == R"(-0.9502: "one" -0.9502 " few" -1.4187 " long" -1.7331
-1.3158: " two" -1.3158 " change" -2.3762 " business" -2.9405
-1.0847: " three" -1.0847 " last" -2.0064 " between" -2.6022
-1.4922: " four" -1.4922 " machine" -2.5095 " hour" -2.7347
-1.3829: " five" -1.3829 " force" -2.1913 " of" -2.3757
-0.128: " six" -0.128 " shadow" -1.41 " mountain" -2.1375
)");
}

TEST_CASE("generated alternatives are less likely than a token's own logprob, however small") {
  for (const double own : {0.0, -0.25, -100.0, -12345.678, -1e11, -1e15, -1e300}) {
    CAPTURE(own);
    Gateway gateway;
    gateway.chat().reply(text("one").logprobs({own}));
    const Json fields = {{"logprobs", true}, {"top_logprobs", 4}};
    const Json entry = Http(gateway).chat(fields).json()["choices"][0]["logprobs"]["content"][0];
    CHECK(entry["logprob"] == own);
    REQUIRE(entry["top_logprobs"].size() == 4);
    CHECK(entry["top_logprobs"][0]["logprob"] == own);
    // Below -10^11 the alternatives no longer decrease with the token's logprob.
    double last = std::max(own, -1e11);
    for (std::size_t place = 1; place < 4; ++place) {
      const double logprob = entry["top_logprobs"][place]["logprob"];
      CHECK(logprob < last);
      CHECK(logprob > last - 2);
      last = logprob;
    }
  }
}

}  // namespace tokens_test
