// Chunking: cutting replies into deltas by tokens, words, characters, bytes or given pieces.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"
#include "support/text.hpp"

namespace chunking_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::all_profiles;
using test_support::Http;
using test_support::RawConnection;
using test_support::refused;
using test_support::Response;
using test_support::with_usage;

/// Returns the text of each delta of one choice, in order.
inline std::vector<std::string> said(const Response& response, std::size_t choice = 0) {
  std::vector<std::string> result;
  const auto add = [&](const Json& object, const char* name) {
    if (object.contains(name) && object[name].is_string() && !object[name].get<std::string>().empty())
      result.push_back(object[name]);
  };
  for (const Json& delta : response.deltas(choice)) {
    for (const char* const name : {"reasoning_content", "content", "refusal"}) add(delta, name);
    if (!delta.contains("tool_calls")) continue;
    for (const Json& call : delta["tool_calls"]) add(call["function"], "arguments");
  }
  return result;
}

using Strings = std::vector<std::string>;

struct Cut {
  const char* name;
  Chunking chunking;
  Strings deltas;
};

// The reply has a letter with a combining mark (e and U+0301), a family joined by U+200D, CJK, and JSON.
const Reply mixed = thinking("Hm, 思考")
                        .text("Zürich e\u0301 東京 👩‍👧!")
                        .tool_call("f", {{"q", "東 x"}, {"n", 10}}, "call_1");

inline std::vector<Cut> cuts() {
  return {
      {"tokens",
       by_tokens(),
       {"Hm,", " 思", "考", "Zürich", " e\u0301", " 東", "京", " 👩‍👧!", "{\"", "q", "\":\"", "東", " x",
        "\",\"", "n", "\":", "10", "}"}},
      {"2 tokens",
       by_tokens(2),
       {"Hm, 思", "考", "Zürich e\u0301", " 東京", " 👩‍👧!", "{\"q", "\":\"東", " x\",\"", "n\":", "10}"}},
      {"words",
       by_words(),
       {"Hm,", " 思", "考", "Zürich", " e\u0301", " 東", "京", " 👩‍👧!", "{\"", "q", "\":\"", "東", " x",
        "\",\"", "n", "\":", "10", "}"}},
      {"3 words",
       by_words(3),
       {"Hm, 思考", "Zürich e\u0301 東", "京 👩‍👧!", "{\"q\":\"", "東 x\",\"", "n\":10", "}"}},
      {"characters", by_characters(), {"H", "m",  ",",  " ",      "思", "考", "Z",  "ü",  "r", "i",      "c",
                                       "h", " ",  "e",  "\u0301", " ",  "東", "京", " ",  "👩", "\u200D", "👧",
                                       "!", "{",  "\"", "q",      "\"", ":",  "\"", "東", " ", "x",      "\"",
                                       ",", "\"", "n",  "\"",     ":",  "1",  "0",  "}"}},
      {"4 characters",
       by_characters(4),
       {"Hm, ", "思考", "Züri", "ch e", "\u0301 東京", " 👩\u200D👧", "!", "{\"q\"", ":\"東 ", "x\",\"", "n\":1", "0}"}},
      {"1 byte", by_bytes(1), {"H",      "m",  ",",  " ",  "思", "考", "Z",      "ü", "r",  "i", "c",  "h", " ",  "e",
                               "\u0301", " ",  "東", "京", " ",  "👩",  "\u200D", "👧", "!",  "{", "\"", "q", "\"", ":",
                               "\"",     "東", " ",  "x",  "\"", ",",  "\"",     "n", "\"", ":", "1",  "0", "}"}},
      {"5 bytes",
       by_bytes(5),
       {"Hm, ", "思", "考", "Züri", "ch e", "\u0301 ", "東", "京 ", "👩", "\u200D", "👧!", "{\"q\":", "\"東 ", "x\",\"n",
        "\":10}"}},
      {"1000 bytes", by_bytes(1000), {"Hm, 思考", "Zürich e\u0301 東京 👩‍👧!", "{\"q\":\"東 x\",\"n\":10}"}},
      {"pieces",
       by_pieces({"Hm, 思", "考", "Zürich e", "\u0301 東京 👩", "\u200D👧!", "{", "\"q\":\"東 x\",\"n\":10}"}),
       {"Hm, 思", "考", "Zürich e", "\u0301 東京 👩", "\u200D👧!", "{", "\"q\":\"東 x\",\"n\":10}"}},
  };
}

TEST_CASE("reasoning, text and tool arguments are cut as requested in every profile") {
  for (const Profile profile : all_profiles) {
    Gateway whole{Options{}.profile(profile)};
    whole.chat().reply(mixed);
    const Response uncut = Http(whole).stream(with_usage);
    for (const Cut& cut : cuts()) {
      CAPTURE(to_string(profile));
      const std::string name = cut.name;
      CAPTURE(name);
      Gateway gateway{Options{}.profile(profile)};
      Stub stub = gateway.chat().reply(mixed.chunked(cut.chunking));
      const Response response = Http(gateway).stream(with_usage);
      CHECK(said(response) == cut.deltas);
      CHECK(response.done());
      CHECK(response.joined_message() == uncut.joined_message());
      CHECK(response.finish_reason() == "tool_calls");
      CHECK(response.usage() == uncut.usage());
      REQUIRE(stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(stub.last_call().tokens_sent() == cut.deltas.size());
      const Response plain = Http(gateway).chat();
      CHECK(plain.message() == response.joined_message());
      REQUIRE(stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(stub.last_call().tokens_sent() == cut.deltas.size());
    }
  }
}

TEST_CASE("a refusal is cut like text, alone and after text, in every profile") {
  for (const Profile profile : all_profiles) {
    const Reply reply = refusal("No, no.");
    Gateway gateway{Options{}.profile(profile)};
    gateway.chat().reply(reply.chunked(by_characters(3)),
                         reply.text("Hm.").chunked(by_pieces({"H", "m.", "No", ", no."})));
    CHECK(said(Http(gateway).stream()) == Strings{"No,", " no", "."});
    CHECK(said(Http(gateway).stream()) == Strings{"H", "m.", "No", ", no."});
  }
}

TEST_CASE("words do not depend on the tokenizer; tokens do") {
  const Tokenizer in_pairs = [](std::string_view text) {
    Strings tokens;
    for (std::size_t at = 0; at < text.size(); at += 2) tokens.emplace_back(text.substr(at, 2));
    return tokens;
  };
  Gateway gateway{Options{}.tokenizer(in_pairs)};
  gateway.chat().reply(text("abcd efg").chunked(by_words()), text("abcd efg").chunked(by_tokens(3)));
  CHECK(said(Http(gateway).stream()) == Strings{"abcd", " efg"});
  CHECK(said(Http(gateway).stream()) == Strings{"abcd e", "fg"});
}

TEST_CASE("max_tokens, stop and usage count tokens, however the reply is cut") {
  for (const Chunking& chunking : {by_characters(), by_tokens(2), by_pieces({"one t", "wo three"})}) {
    Gateway gateway;
    gateway.chat().reply(text("one two three").chunked(chunking));
    const Json two = {{"max_tokens", 2}, {"stream_options", {{"include_usage", true}}}};
    const Response cut = Http(gateway).stream(two);
    CHECK(cut.joined_text() == "one two");
    CHECK(cut.finish_reason() == "length");
    CHECK(cut.usage()["completion_tokens"] == 2);
    CHECK(Http(gateway).chat().usage()["completion_tokens"] == 3);
    const Response stopped = Http(gateway).stream({{"stop", "wo"}});
    CHECK(stopped.joined_text() == "one t");
    CHECK(stopped.finish_reason() == "stop");
  }
  Gateway gateway;
  const Reply reply = text("one two three").tool_call("f").chunked(by_pieces({"one t", "wo three", "{", "}"}));
  gateway.chat().reply(reply);
  CHECK(said(Http(gateway).stream({{"max_tokens", 2}})) == Strings{"one t", "wo"});
  CHECK(said(Http(gateway).stream({{"max_tokens", 1}})) == Strings{"one"});
  CHECK(said(Http(gateway).stream()) == Strings{"one t", "wo three", "{", "}"});
}

TEST_CASE("in a reply that is not cut by tokens, after_tokens() and before_token() count deltas") {
  Gate gate;
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const Reply reply = text("abcdef").chunked(by_characters());
  Stub stub = gateway.chat().reply(reply.fault(after_tokens(3), close_connection()), reply.hold(gate, before_token(5)));
  CHECK(Http(gateway).allow_incomplete().stream().joined_text() == "abc");
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  CHECK(stub.last_call().tokens_sent() == 4);
  gate.open();
  CHECK(connection.receive_response().joined_text() == "abcdef");
}

TEST_CASE("a token's logprobs come with the delta that ends the token, and equal those of the plain reply") {
  const Json wanted = {{"logprobs", true}, {"top_logprobs", 2}};
  for (const Profile profile : all_profiles) {
    for (const Chunking& chunking :
         {by_tokens(2), by_characters(2), by_words(), by_pieces({"on", "e two thr", "ee"})}) {
      Gateway gateway{Options{}.profile(profile)};
      gateway.chat().reply(text("one two three").chunked(chunking));
      Json joined = Json::array();
      std::string so_far;
      std::string tokens;
      for (const Json& event : Http(gateway).stream(wanted).json_events()) {
        if (event["choices"].empty()) continue;
        const Json& choice = event["choices"][0];
        if (choice["delta"].contains("content") && choice["delta"]["content"].is_string())
          so_far += choice["delta"]["content"].get<std::string>();
        if (!choice.contains("logprobs") || choice["logprobs"].is_null()) continue;
        for (const Json& token : choice["logprobs"]["content"]) {
          joined.push_back(token);
          tokens += token["token"].get<std::string>();
        }
        CHECK(so_far.compare(0, tokens.size(), tokens) == 0);  // logprobs never come before the text of their token
      }
      CHECK(joined == Http(gateway).chat(wanted).json()["choices"][0]["logprobs"]["content"]);
      CHECK(joined.size() == 3);
    }
  }
  Gateway gateway;
  gateway.chat().reply(text("one two three").chunked(by_tokens(2)));
  const std::vector<Json> events = Http(gateway).stream({{"logprobs", true}}).json_events();
  CHECK(events[1]["choices"][0]["logprobs"]["content"].size() == 2);
  CHECK(events[2]["choices"][0]["logprobs"]["content"].size() == 1);
}

TEST_CASE("all choices are cut in the same way, and a repeated choice uses the same pieces") {
  Gateway gateway;
  gateway.chat().reply(choices(text("ab"), text("cde")).chunked(by_pieces({"a", "b", "cd", "e"})));
  const Response response = Http(gateway).stream({{"n", 3}});
  CHECK(said(response, 0) == Strings{"a", "b"});
  CHECK(said(response, 1) == Strings{"cd", "e"});
  CHECK(said(response, 2) == Strings{"a", "b"});
  CHECK(said(Http(gateway).stream({{"n", 1}})) == Strings{"a", "b"});
}

// --- Rejected settings -----------------------------------------------------------------------------------------------

TEST_CASE("given pieces that do not join to the reply cause a 500, and verify() names them") {
  const std::pair<Strings, const char*> rows[] = {
      {{"one", " tow"}, "piece 2 is \" tow\", but the reply goes on with \" two\""},
      {{"one"}, "nothing is left for \" two\""},
      {{"one", " two", " three"}, "the reply ends before piece 3, \" three\""},
  };
  for (const auto& [pieces, message] : rows) {
    Gateway gateway;
    gateway.chat().named("counting").reply(text("one two").chunked(by_pieces(pieces)));
    for (const bool stream : {false, true}) CHECK(Http(gateway).chat({{"stream", stream}}).status == 500);
    CHECK(gateway.journal().last().decision() == Decision::Kind::answer_failed);
    const Verification verification = gateway.verify();
    CHECK_FALSE(verification);
    CHECK(verification.message().find(message) != std::string::npos);
    CHECK(verification.message().find("counting") != std::string::npos);
  }
}

TEST_CASE("impossible ways of cutting throw with advice") {
  const std::string counts = "a delta needs at least one unit; give a count of at least 1";
  for (const auto& cut : {by_tokens, by_words, by_characters, by_bytes}) CHECK(refused([&] { cut(0); }) == counts);
  CHECK(refused([] { by_pieces({}); }) == "by_pieces needs at least one piece");
  CHECK(refused([] { by_pieces({"a", ""}); }) == "by_pieces: a piece is empty; to send empty deltas, use chunks({…})");
  CHECK(refused([] {
          by_pieces({"\xc3", "\xbc"});
        }) == "by_pieces: a piece ends inside a character, or is not UTF-8; JSON cannot carry that");
  CHECK(by_words().pieces().empty());
  CHECK(by_pieces({"one"}).pieces() == std::vector<std::string>{"one"});
  CHECK(refused([] { Chunking(Chunking::Kind::pieces, 1); }) == "give pieces with by_pieces({…})");
  CHECK(refused([] { (void)raw_reply(200, "").chunked(by_words()); }) == "a raw reply is sent in one piece");
  CHECK(refused([] { (void)Reply(server_error()).chunked(by_words()); }) == "a failure is sent in one piece");
  CHECK(refused([] { (void)chunks({}).chunked(by_words()); }) == "chunks are cut already: each element is one event");
  CHECK(refused([] { Gateway{Options{}.pace(Pace().chunked(by_pieces({"a"})))}; }) ==
        "Options: by_pieces fits only one reply; set it there: text(…).chunked(by_pieces({…}))");
  for (const Reply& part : {text("b").tokens_per_second(1), text("b").chunked(by_words()), text("b").every(0ms)})
    CHECK_THROWS_AS(choices(text("a"), part), GatewayError);
}

}  // namespace chunking_test
