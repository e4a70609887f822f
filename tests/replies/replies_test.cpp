// Parts of a scripted reply: tool calls, logprobs, usage and extra fields. raw_replies_test.cpp tests handwritten
// replies.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"
#include "support/text.hpp"

namespace replies_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::all_profiles;
using test_support::refused;
using test_support::Response;
using test_support::Scripted;
using test_support::with_usage;

// --- Tool calls ------------------------------------------------------------------------------------------------------

TEST_CASE("a test can set the id of a tool call and malformed arguments, plain and streamed") {
  const std::pair<const char*, std::string> rows[] = {
      {"cut short", R"({"city": )"},
      {"no JSON at all", "Paris, please"},
      {"not an object", "[1]"},
      {"empty", ""},
      {"beyond ASCII", R"({"city": "東京)"},
      {"control characters", "\x01\n\t\"\\"},
      {"JSON twice", R"({"a":1}{"a":1})"},
  };
  for (const Profile profile : all_profiles) {
    for (const auto& [name, arguments] : rows) {
      const auto& row_name = name;
      CAPTURE(profile);
      CAPTURE(row_name);
      const Scripted on(malformed_tool_call("get_weather", arguments, "call_mine").malformed_tool_call("f", arguments),
                        profile);
      const Response plain = on.http.chat();
      const Json calls = plain.message()["tool_calls"];
      REQUIRE(calls.size() == 2);
      CHECK(calls[0] == Json{{"id", "call_mine"},
                             {"type", "function"},
                             {"function", {{"name", "get_weather"}, {"arguments", arguments}}}});
      CHECK(calls[1]["function"]["arguments"] == arguments);
      CHECK(calls[1]["id"].get<std::string>().substr(0, 5) == "call_");
      CHECK(plain.finish_reason() == "tool_calls");
      CHECK(plain.json()["choices"][0]["message"]["content"].is_null());
      const Response stream = on.http.stream();
      CHECK(stream.joined_message() == plain.message());
      CHECK(stream.finish_reason() == "tool_calls");
    }
  }
}

TEST_CASE("a scripted id of a tool call is the same in every choice, a generated id differs") {
  const Scripted on(tool_call("f", {{"a", 1}}, "call_1").tool_call("g", {}, "call_2").tool_call("h"));
  for (const std::size_t choice : {std::size_t{0}, std::size_t{1}}) {
    const Json calls = on.http.chat({{"n", 2}}).message(choice)["tool_calls"];
    CHECK(calls[0]["id"] == "call_1");
    CHECK(calls[1]["id"] == "call_2");
    CHECK(calls[1]["function"]["arguments"] == "{}");
  }
  const Response both = on.http.chat({{"n", 2}});
  CHECK(both.message(0)["tool_calls"][2]["id"] != both.message(1)["tool_calls"][2]["id"]);
}

TEST_CASE("tools can be called with finish_reason stop or an empty string") {
  for (const char* const reason : {"stop", ""}) {
    const Scripted on(tool_call("f").finish_reason(reason));
    CHECK(on.http.chat().message()["tool_calls"].size() == 1);
    CHECK(on.http.chat().json()["choices"][0]["finish_reason"] == reason);
    const Json finish = on.http.stream().json_events().back();
    CHECK(finish["choices"][0]["finish_reason"] == reason);
  }
}

// --- Logprobs --------------------------------------------------------------------------------------------------------

/// Returns the logprobs of the first choice's tokens, joined from a stream.
inline Json streamed_logprobs(const Response& stream, const char* part = "content") {
  Json entries = Json::array();
  for (const Json& event : stream.json_events()) {
    if (event["choices"].empty() || event["choices"][0]["index"] != 0) continue;
    const Json& choice = event["choices"][0];
    if (!choice.contains("logprobs") || choice["logprobs"].is_null() || choice["logprobs"][part].is_null()) continue;
    for (const Json& entry : choice["logprobs"][part]) entries.push_back(entry);
  }
  return entries;
}

TEST_CASE("a test can set the logprobs of tokens, plain and streamed") {
  const Json asked = {{"logprobs", true}, {"top_logprobs", 2}};
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Scripted on(
        text("yes no maybe").logprobs({-0.25, {-1.5, {{" no", -1.5}, {" yes", -2}, {" so", -3}}}, {0, {}}}), profile);
    const Json entries = on.http.chat(asked).json()["choices"][0]["logprobs"]["content"];
    REQUIRE(entries.size() == 3);
    CHECK(entries[0]["token"] == "yes");
    CHECK(entries[0]["logprob"] == -0.25);
    REQUIRE(entries[0]["top_logprobs"].size() == 2);  // the generated alternative is less likely than the token
    CHECK(entries[0]["top_logprobs"][0]["token"] == "yes");
    CHECK(entries[0]["top_logprobs"][0]["logprob"] == -0.25);
    CHECK(entries[0]["top_logprobs"][1]["logprob"] < -0.25);
    CHECK(
        entries[1].dump() ==
        R"({"token":" no","logprob":-1.5,"bytes":[32,110,111],"top_logprobs":[)"
        R"({"token":" no","logprob":-1.5,"bytes":[32,110,111]},{"token":" yes","logprob":-2.0,"bytes":[32,121,101,115]}]})");
    CHECK(entries[2].dump() == R"({"token":" maybe","logprob":0.0,"bytes":[32,109,97,121,98,101],"top_logprobs":[]})");
    CHECK(streamed_logprobs(on.http.stream(asked)) == entries);

    CHECK(on.http.chat({{"logprobs", true}}).json()["choices"][0]["logprobs"]["content"][1]["top_logprobs"].empty());
    const Json unasked = on.http.chat().json()["choices"][0];
    CHECK((!unasked.contains("logprobs") || unasked["logprobs"].is_null()));
    CHECK(streamed_logprobs(on.http.stream()).empty());
  }
}

TEST_CASE("missing logprobs are generated, surplus ones are ignored") {
  const Json asked = {{"logprobs", true}, {"top_logprobs", 1}};
  const auto logprobs = [&](const Reply& reply, const Json& more = Json::object()) {
    const Scripted on(reply);
    Json fields = asked;
    fields.update(more);
    const Json entries = on.http.chat(fields).json()["choices"][0]["logprobs"]["content"];
    CHECK(streamed_logprobs(on.http.stream(fields)) == entries);
    return entries;
  };
  const Json made_up = logprobs(text("a b c"));
  const Json fewer = logprobs(text("a b c").logprobs({-1}));
  REQUIRE(fewer.size() == 3);
  CHECK(fewer[0]["logprob"] == -1);
  CHECK(fewer[1] == made_up[1]);
  CHECK(fewer[2] == made_up[2]);
  const Json more = logprobs(text("a b").logprobs({-1, -2, -3}));
  REQUIRE(more.size() == 2);
  CHECK(more[1]["logprob"] == -2);
  const Json cut = logprobs(text("a b c").logprobs({-1, -2, -3}), {{"max_tokens", 1}});
  REQUIRE(cut.size() == 1);
  CHECK(cut[0]["logprob"] == -1);
  CHECK(logprobs(text("a").logprobs({-1}).logprobs({-2}))[0]["logprob"] == -2);
  CHECK(logprobs(text("a").logprobs({-1}).logprobs({})) == logprobs(text("a")));
  CHECK(logprobs(text("a").logprobs({-1e300}))[0]["logprob"] == -1e300);
}

TEST_CASE("logprobs belong to a choice, and continue from its text to its refusal") {
  const Json asked = {{"logprobs", true}, {"n", 2}};
  const Scripted on(choices(text("a").logprobs({-1}), text("b").logprobs({-2})));
  const Json both = on.http.chat(asked).json()["choices"];
  CHECK(both[0]["logprobs"]["content"][0]["logprob"] == -1);
  CHECK(both[1]["logprobs"]["content"][0]["logprob"] == -2);

  const Scripted refusing(refusal("I cannot.").text("Sorry.").logprobs({-1, -2, -3}), Profile::openai);
  const Json logprobs = refusing.http.chat(asked).json()["choices"][0]["logprobs"];
  CHECK(logprobs["content"][0]["logprob"] == -1);
  REQUIRE(logprobs["refusal"].size() == 2);
  CHECK(logprobs["refusal"][1]["logprob"] == -3);
  CHECK(streamed_logprobs(refusing.http.stream(asked), "refusal") == logprobs["refusal"]);
}

TEST_CASE("logprobs of a refusal belong to its tokens, however text and refusal are cut") {
  const Reply reply = refusal("I cannot do that.").text("Sorry, but no.").logprobs({-1, -2, -3, -4, -5, -6, -7});
  const Json asked = {{"logprobs", true}, {"top_logprobs", 1}};
  const Json plain = Scripted(reply, Profile::openai).http.chat(asked).json()["choices"][0]["logprobs"];
  REQUIRE(plain["content"].size() == 3);
  REQUIRE(plain["refusal"].size() == 4);
  CHECK(plain["refusal"][0]["logprob"] == -4);
  for (const Chunking& chunking :
       {by_tokens(), by_tokens(2), by_tokens(9), by_words(2), by_characters(), by_characters(3), by_bytes(5),
        by_pieces({"Sorry, but no.", "I", " cannot do that."})}) {
    const Response stream = Scripted(reply.chunked(chunking), Profile::openai).http.stream(asked);
    CHECK(streamed_logprobs(stream, "content") == plain["content"]);
    CHECK(streamed_logprobs(stream, "refusal") == plain["refusal"]);
  }
}

// --- Usage -----------------------------------------------------------------------------------------------------------

TEST_CASE("usage can be scripted in every profile, plain and streamed") {
  const std::pair<Profile, const char*> rows[] = {
      {Profile::documented, R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":17})"},
      {Profile::openai,
       R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":0}})"},
      {Profile::dashscope, R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":17})"},
      {Profile::deepseek, R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":17,)"
                          R"("prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":12})"},
  };
  for (const auto& row : rows) {
    const Profile profile = row.first;
    const std::string expected = row.second;
    CAPTURE(expected);
    const Scripted on(text("one two three").usage(12, 5), profile);
    CHECK(on.http.chat().json()["usage"].dump() == expected);
    const Response stream = on.http.stream(with_usage);
    const Json last = stream.json_events().back();
    CHECK(last["usage"].dump() == expected);
    CHECK(last["choices"].empty() == (profile != Profile::deepseek));  // that profile sends usage with the finish chunk
    CHECK(on.http.stream().usage().is_null());
    CHECK(on.gateway.journal().last().tokens_sent() ==
          3);  // the scripted usage does not change the count of sent tokens
  }
}

TEST_CASE("scripted usage can have reasoning tokens, cached tokens and a total") {
  const TokenUsage usage = TokenUsage(12, 5).reasoning(3).cached(8).total(99);
  const std::pair<Profile, const char*> rows[] = {
      {Profile::documented,
       R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":99,)"
       R"("prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}})"},
      {Profile::openai,
       R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":99,)"
       R"("prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}})"},
      {Profile::dashscope,
       R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":99,)"
       R"("prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}})"},
      {Profile::deepseek,
       R"({"prompt_tokens":12,"completion_tokens":5,"total_tokens":99,)"
       R"("prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3},)"
       R"("prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":4})"},
  };
  for (const auto& row : rows) {
    const Profile profile = row.first;
    const std::string expected = row.second;
    CAPTURE(expected);
    const Scripted on(text("Hi").usage(usage), profile);
    CHECK(on.http.chat().json()["usage"].dump() == expected);
    CHECK(on.http.stream(with_usage).usage().dump() == expected);
  }
  // Numbers that are not scripted are counted, but never exceed the scripted numbers.
  const auto reasoning = [](const Reply& reply) {
    return Scripted(reply).http.chat().usage()["completion_tokens_details"];
  };
  CHECK(reasoning(thinking("one two").text("4").usage(1, 9)) == Json{{"reasoning_tokens", 2}});
  CHECK(reasoning(thinking("one two").text("4").usage(1, 1)) == Json{{"reasoning_tokens", 1}});
  CHECK(reasoning(thinking("one two").text("4").usage(TokenUsage(1, 9).reasoning(0))) == Json{{"reasoning_tokens", 0}});
  CHECK(Scripted(text("a").usage(1, 1).usage(2, 2)).http.chat().usage()["total_tokens"] == 4);
  for (const std::int64_t cached : {0, 3, 4}) {  // may exceed the number of prompt tokens
    const Json counted =
        Scripted(text("a").usage(TokenUsage(3, 1).cached(cached)), Profile::deepseek).http.chat().usage();
    CHECK(counted["prompt_cache_hit_tokens"] == cached);
    CHECK(counted["prompt_cache_miss_tokens"] == (cached == 0 ? 3 : 0));
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(Scripted(text("a").usage(most, most)).http.chat().usage()["total_tokens"] == most);
}

// --- Extra fields ----------------------------------------------------------------------------------------------------

TEST_CASE("extra fields are merged into the body as in RFC 7396, and keys keep their order") {
  const Scripted on(text("Hi")
                        .usage(1, 1)
                        .extra({{"object", nullptr}, {"service_tier", "flex"}, {"usage", {{"cost", 0.5}}}})
                        .extra({{"created", 7}, {"nothing", nullptr}, {"a", {{"b", {{"c", nullptr}, {"d", 1}}}}}})
                        .extra_message({{"annotations", Json::array()}, {"role", "model"}}));
  Json body = on.http.chat().json();
  CHECK(body["id"].get<std::string>().substr(0, 9) == "chatcmpl-");
  body["id"] = "x";
  CHECK(
      body.dump() ==
      R"({"id":"x","created":7,"model":"mock-model","choices":[{"index":0,"message":{"role":"model","content":"Hi",)"
      R"("annotations":[]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,)"
      R"("cost":0.5},"service_tier":"flex","a":{"b":{"d":1}}})");
}

TEST_CASE("extra fields for choices replace the choices, including fields merged into their messages") {
  const auto choices_of = [](const char* message) {
    return Json::array({{{"index", 0}, {message, {{"role", "assistant"}, {"content", "Ho"}}}}});
  };
  const Reply patched = text("Hi").extra_message({{"tags", {"t"}}});
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Json plain = choices_of("message");
    CHECK(Scripted(patched.extra({{"choices", plain}}), profile).http.chat().json()["choices"] == plain);
    const Json streamed = choices_of("delta");
    for (const Json& chunk : Scripted(patched.extra({{"choices", streamed}}), profile).http.stream().json_events())
      CHECK(chunk["choices"] == streamed);
  }
}

TEST_CASE("extra fields are in every chunk of a stream, extra fields of the message in its first delta") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Reply base = thinking("Hm.").text("one two").tool_call("f", {{"a", 1}}, "call_1");
    const Json asked = {{"n", 2}, {"stream_options", {{"include_usage", true}}}};
    // Ids depend on how often a request came, so both gateways send the same ids.
    const std::vector<Json> without = Scripted(base, profile).http.stream(asked).json_events();
    const std::vector<Json> with =
        Scripted(
            base.extra({{"provider", "x"}, {"object", nullptr}}).extra_message({{"tags", {"t"}}, {"role", nullptr}}),
            profile)
            .http.stream(asked)
            .json_events();
    REQUIRE(with.size() == without.size());
    std::size_t first_deltas = 0;
    for (std::size_t index = 0; index < with.size(); ++index) {
      CAPTURE(index);
      Json expected = without[index];
      expected.erase("object");
      expected["provider"] = "x";
      if (!expected["choices"].empty() && expected["choices"][0]["delta"].contains("role")) {
        ++first_deltas;
        expected["choices"][0]["delta"].erase("role");
        expected["choices"][0]["delta"]["tags"] = {"t"};
      }
      CHECK(with[index].dump() == expected.dump());
    }
    CHECK(first_deltas == 2);
  }
}

TEST_CASE("a reply with extra fields and usage still obeys stop, max_tokens and n, unless it is verbatim") {
  const Reply reply = text("one two three").usage(1, 1).extra({{"tier", "flex"}}).logprobs({-1, -2, -3});
  const Scripted on(reply);
  CHECK(on.http.chat({{"stop", {"two"}}}).text() == "one ");
  CHECK(on.http.chat({{"max_tokens", 2}}).finish_reason() == "length");
  CHECK(on.http.stream({{"max_tokens", 2}}).joined_text() == "one two");
  CHECK(on.http.chat({{"n", 3}}).json()["choices"].size() == 3);
  const Scripted verbatim(reply.verbatim());
  CHECK(verbatim.http.chat({{"stop", {"two"}}, {"max_tokens", 1}}).text() == "one two three");
  CHECK(verbatim.http.stream({{"stop", {"two"}}, {"n", 2}}).joined_text() == "one two three");
  CHECK(verbatim.http.chat({{"n", 3}}).json()["choices"].size() == 1);
  const Scripted call(malformed_tool_call("f", "{\"a_long_name\": ").extra({{"tier", "flex"}}));
  CHECK(call.http.chat({{"max_tokens", 1}}).finish_reason() == "length");
}

// --- Rejected settings -----------------------------------------------------------------------------------------------

TEST_CASE("settings of a completion throw on a failure, a raw reply and chunks, with advice") {
  using Setter = Reply (*)(const Reply&);
  const std::pair<const char*, Setter> setters[] = {
      {"thinking", [](const Reply& reply) { return reply.thinking("a"); }},
      {"text", [](const Reply& reply) { return reply.text("a"); }},
      {"tool call", [](const Reply& reply) { return reply.tool_call("f"); }},
      {"tool call", [](const Reply& reply) { return reply.malformed_tool_call("f", "{"); }},
      {"logprobs", [](const Reply& reply) { return reply.logprobs({-1}); }},
      {"finish_reason", [](const Reply& reply) { return reply.finish_reason("stop"); }},
      {"model", [](const Reply& reply) { return reply.model("m"); }},
      {"usage", [](const Reply& reply) { return reply.usage(1, 1); }},
      {"extra fields",
       [](const Reply& reply) {
         return reply.extra({{"a", 1}});
       }},
      {"extra fields",
       [](const Reply& reply) {
         return reply.extra_message({{"a", 1}});
       }},
      {"verbatim text", [](const Reply& reply) { return reply.verbatim(); }},
  };
  for (const auto& [what, setter] : setters) {
    const std::string name = what;
    CAPTURE(name);
    CHECK(refused([&, set = setter] { return set(rate_limited()); }) ==
          "a failure has no " + name + "; set its body with Failure::body");
    CHECK(refused([&, set = setter] { return set(raw_reply(200, "")); }) ==
          "a raw reply has no " + name + "; its body is sent unchanged: write it there");
    CHECK(refused([&, set = setter] { return set(chunks({})); }) ==
          "chunks have no " + name + "; they are sent unchanged: write it into them");
  }
}

TEST_CASE("impossible numbers and fields throw with advice") {
  CHECK(refused([&] { return text("a").usage(-1, 0); }) ==
        "prompt_tokens of a usage must not be negative, but is -1; extra({{\"usage\", …}}) sends any usage");
  CHECK_THROWS_AS(text("a").usage(0, -1), GatewayError);
  CHECK_THROWS_AS(TokenUsage(0, 0).total(-1), GatewayError);
  CHECK_THROWS_AS(TokenUsage(0, 0).reasoning(-1), GatewayError);
  CHECK_THROWS_AS(TokenUsage(0, 0).cached(-1), GatewayError);
  CHECK(refused([&] {
          return text("a").logprobs({-0.1, 0.9});
        }) ==
        "a logprob is the natural logarithm of a probability, finite and at most 0: 90 % is -0.105, not "
        "0.9");
  CHECK_THROWS_AS(TokenLogprob(std::nan("")), GatewayError);
  CHECK_THROWS_AS(TokenLogprob(-std::numeric_limits<double>::infinity()), GatewayError);
  CHECK_THROWS_AS(TokenLogprob(-1, {{"a", 1}}), GatewayError);
  CHECK_THROWS_AS(TokenLogprob(-1, {{"\xff", -1}}), GatewayError);
  CHECK(refused([&] { return text("a").extra("flex"); }) ==
        "extra merges the fields of a JSON object such as {{\"service_tier\", \"flex\"}}, not string");
  CHECK_THROWS_AS(text("a").extra_message({1, 2}), GatewayError);
  CHECK_THROWS_AS(text("a").extra({{"a", "\xff"}}), GatewayError);
  for (const int status : {200, 599}) CHECK(HttpReply(status, "a").status() == status);
  for (const int status : {-1, 0, 100, 199, 600}) {
    CHECK(refused([&] { return HttpReply(status, "a"); }) ==
          "HttpReply: status " + std::to_string(status) + " is not a final status; give one from 200 to 599");
  }
  CHECK(refused([&] { return text("abc\xff"); }) ==
        "the text of a reply is sent as JSON and must be UTF-8, but byte 4 is not");
  CHECK(refused([&] { return text("\xff"); }) ==
        "the text of a reply is sent as JSON and must be UTF-8, but byte 1 is not");
  CHECK_THROWS_AS(malformed_tool_call("f", "\xff"), GatewayError);
  CHECK_THROWS_AS(tool_call("f", {}, "\xff"), GatewayError);
}

TEST_CASE("settings of the whole reply throw on one of several choices") {
  const std::string message =
      "a choice has only content, logprobs and finish_reason; set pace, faults, holds, model, usage, extra fields, "
      "verbatim, templated, headers, early hints, dialect, writes, HTTP chunks and the order of deltas on the whole: "
      "choices(…).every(…)";
  const Reply a = text("a");
  for (const Reply& part : {a.usage(1, 1), a.extra({{"a", 1}}), a.extra_message({{"a", 1}}), a.model("m"), a.verbatim(),
                            a.header("a", "b"), a.every(1ms), a.sse(SseDialect().line_end("\r"))}) {
    CHECK(refused([&] { return choices(a, part); }) == message);
  }
  const Gate gate;
  for (const Reply& part :
       {a.fault(before_done(), stall()), a.hold(gate, before_token(1)), a.hold(gate, before_event(1)), a.one_write(),
        a.split_write(5), a.slice_writes(5), a.write_each_event(), a.chunked(by_words()), a.first_token_after(0s),
        a.tokens_per_second(5), a.add_header("a", "b"), a.usage(Json::object()), a.http_chunks_of(5)}) {
    CHECK(refused([&] { return choices(part, a); }) == message);
  }
  const SseDialect usual;
  for (const SseDialect& dialect :
       {usual.line_end("\r\n"), usual.space_after_colon(false), usual.done(false), usual.content_type("text/plain"),
        usual.byte_order_mark(true), usual.event("chunk"), usual.ids(true), usual.retry(1s),
        usual.multi_line_data(true), usual.comment("note"), usual.ping_every(1s), usual.ping(": still here"),
        usual.final_blank_line(false), usual.after_done("{}"), usual.open_after_done(true), usual.gzip(true),
        usual.trailer("x-a: b")}) {
    CHECK(refused([&] { return choices(a.sse(dialect), a); }) == message);
  }
  CHECK(refused([&] { return choices(a.sse(usual), a.sse(usual.gzip(true).gzip(false))); }) == "not refused");
  CHECK(refused([&] { return choices(a, raw_reply(200, "")); }) ==
        "a raw reply cannot be one of several choices; it must be the whole reply");
  CHECK(refused([&] { return choices(chunks({}), a); }) ==
        "a list of chunks cannot be one of several choices; it must be the whole reply");
  CHECK(refused([&] { return choices(a, server_error()); }) ==
        "a failure cannot be one of several choices; it must be the whole reply");

  const Scripted on(choices(text("a"), malformed_tool_call("f", "{", "call_1").finish_reason("stop"))
                        .usage(5, 2)
                        .extra({{"tier", "flex"}})
                        .extra_message({{"name", "x"}})
                        .model("m"));
  const Json body = on.http.chat({{"n", 2}}).json();
  CHECK(body["choices"][1]["message"]["tool_calls"][0]["function"]["arguments"] == "{");
  CHECK(body["choices"][1]["finish_reason"] == "stop");
  CHECK(body["choices"][0]["message"]["name"] == "x");
  CHECK(body["choices"][1]["message"]["name"] == "x");
  CHECK(body["usage"]["total_tokens"] == 7);
  CHECK(body["tier"] == "flex");
  CHECK(body["model"] == "m");

  const Scripted ended(choices(text("a"), text("b").finish_reason("stop"), text("c")).finish_reason("length"));
  const Response plain = ended.http.chat({{"n", 3}});
  const Response stream = ended.http.stream({{"n", 3}});
  for (const std::size_t choice : {0u, 1u, 2u}) {
    CHECK(plain.finish_reason(choice) == "length");
    CHECK(stream.finish_reason(choice) == "length");
  }
}

}  // namespace replies_test
