// What a test can put into a reply by hand: tool calls, logprobs, usage, extra fields, whole bodies and whole streams.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/printing.hpp"

namespace replies_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

constexpr Profile all_profiles[] = {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek};

const Json with_usage = {{"stream_options", {{"include_usage", true}}}};

/// A gateway with one reply, whose clock stands at 2024-01-01T00:00:00Z.
struct Scripted {
  explicit Scripted(const Reply& reply, Profile profile = Profile::documented)
      : gateway(Options{}.clock(clock).profile(profile)), http(gateway) {
    gateway.chat().reply(reply);
  }

  ManualClock clock;
  Gateway gateway;
  Http http;
};

/// A chunked body of these pieces (RFC 9112, 7.1).
std::string chunked(const std::vector<std::string>& pieces) {
  std::string body;
  for (const std::string& piece : pieces) {
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    body += size + piece + "\r\n";
  }
  return body + "0\r\n\r\n";
}

/// The answer of status 200 that streams these pieces.
std::string stream_of(const std::vector<std::string>& pieces) {
  return "HTTP/1.1 200 OK\r\n"
         "Content-Type: text/event-stream; charset=utf-8\r\n"
         "Transfer-Encoding: chunked\r\n"
         "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
         "\r\n" +
         chunked(pieces);
}

/// The answer with this body in one piece.
std::string whole_of(const std::string& status, const std::string& content_type, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + content_type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n" +
         body;
}

const std::string done = "data: [DONE]\n\n";

// --- Tool calls ------------------------------------------------------------------------------------------------------

TEST_CASE("a tool call has the id and the malformed arguments that the test gave it, plain and streamed") {
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

TEST_CASE("the id of a scripted call is the same in every choice, one that is made up differs") {
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

TEST_CASE("tools can be called although finish_reason says stop, or the empty string") {
  for (const char* const reason : {"stop", ""}) {
    const Scripted on(tool_call("f").finish_reason(reason));
    CHECK(on.http.chat().message()["tool_calls"].size() == 1);
    CHECK(on.http.chat().json()["choices"][0]["finish_reason"] == reason);
    const Json finish = on.http.stream().json_events().back();
    CHECK(finish["choices"][0]["finish_reason"] == reason);
  }
}

// --- Logprobs --------------------------------------------------------------------------------------------------------

/// The logprobs of the first choice's tokens, joined from a stream.
Json streamed_logprobs(const Response& stream, const char* part = "content") {
  Json entries = Json::array();
  for (const Json& event : stream.json_events()) {
    if (event["choices"].empty() || event["choices"][0]["index"] != 0) continue;
    const Json& choice = event["choices"][0];
    if (!choice.contains("logprobs") || choice["logprobs"].is_null() || choice["logprobs"][part].is_null()) continue;
    for (const Json& entry : choice["logprobs"][part]) entries.push_back(entry);
  }
  return entries;
}

TEST_CASE("logprobs are the numbers of the test, each with its own token, plain and streamed") {
  const Json asked = {{"logprobs", true}, {"top_logprobs", 2}};
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Scripted on(
        text("yes no maybe").logprobs({-0.25, {-1.5, {{" no", -1.5}, {" yes", -2}, {" so", -3}}}, {0, {}}}), profile);
    const Json entries = on.http.chat(asked).json()["choices"][0]["logprobs"]["content"];
    REQUIRE(entries.size() == 3);
    CHECK(entries[0]["token"] == "yes");
    CHECK(entries[0]["logprob"] == -0.25);
    REQUIRE(entries[0]["top_logprobs"].size() == 2);  // made up, below the token itself
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

TEST_CASE("fewer logprobs than tokens leave the rest made up, more are not used") {
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

TEST_CASE("logprobs belong to a choice, and go on from its text to its refusal") {
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

// --- Usage -----------------------------------------------------------------------------------------------------------

TEST_CASE("usage is what the test says, plain and in the usage of a stream, in every profile") {
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
    CHECK(last["choices"].empty() == (profile != Profile::deepseek));  // there it is on the finish chunk
    CHECK(on.http.stream().usage().is_null());
    CHECK(on.gateway.journal().last().tokens_sent() == 3);  // what is sent stays
  }
}

TEST_CASE("usage tells reasoning and cached tokens and a total of the test's own") {
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
  // What is not given is counted, and never beyond what was given.
  const auto reasoning = [](const Reply& reply) {
    return Scripted(reply).http.chat().usage()["completion_tokens_details"];
  };
  CHECK(reasoning(thinking("one two").text("4").usage(1, 9)) == Json{{"reasoning_tokens", 2}});
  CHECK(reasoning(thinking("one two").text("4").usage(1, 1)) == Json{{"reasoning_tokens", 1}});
  CHECK(reasoning(thinking("one two").text("4").usage(TokenUsage(1, 9).reasoning(0))) == Json{{"reasoning_tokens", 0}});
  CHECK(Scripted(text("a").usage(1, 1).usage(2, 2)).http.chat().usage()["total_tokens"] == 4);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(Scripted(text("a").usage(most, most)).http.chat().usage()["total_tokens"] == most);
}

// --- Extra fields ----------------------------------------------------------------------------------------------------

TEST_CASE("extra fields are merged into the body as RFC 7396 says, and keys keep their order") {
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

TEST_CASE("extra fields are in every chunk of a stream, those of the message in its first delta") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Reply base = thinking("Hm.").text("one two").tool_call("f", {{"a", 1}}, "call_1");
    const Json asked = {{"n", 2}, {"stream_options", {{"include_usage", true}}}};
    // Ids repeat with the occurrence of a request, so the two gateways say the same.
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

// --- Raw replies -----------------------------------------------------------------------------------------------------

TEST_CASE("a raw reply is sent as it is, to the byte, to plain and stream requests alike") {
  struct Row {
    const char* name;
    Reply reply;
    std::string expected;
  };
  const Row rows[] = {
      {"choices null with status 200", raw_reply(200, {{"choices", nullptr}}),
       whole_of("200 OK", "application/json", R"({"choices":null})")},
      {"numeric error.code", raw_reply(400, {{"error", {{"code", 400}, {"message", "bad"}}}}),
       whole_of("400 Bad Request", "application/json", R"({"error":{"code":400,"message":"bad"}})")},
      {"error is a string", raw_reply(500, {{"error", "overloaded"}}),
       whole_of("500 Internal Server Error", "application/json", R"({"error":"overloaded"})")},
      {"an error in a 200", raw_reply(200, {{"error", {{"message", "no"}}}}),
       whole_of("200 OK", "application/json", R"({"error":{"message":"no"}})")},
      {"finish_reason missing",
       raw_reply(200, R"({"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]})"),
       whole_of("200 OK", "application/json",
                R"({"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]})")},
      {"blank lines before a reply", raw_reply(200, "\n\n\n{\"choices\":[]}"),
       whole_of("200 OK", "application/json", "\n\n\n{\"choices\":[]}")},
      {"empty 200", raw_reply(200, ""), whole_of("200 OK", "application/json", "")},
      {"JSON as text/plain", raw_reply(200, {{"choices", Json::array()}}, "text/plain; charset=utf-8"),
       whole_of("200 OK", "text/plain; charset=utf-8", R"({"choices":[]})")},
      {"a proxy's page", raw_reply(502, std::string("<h1>502</h1>"), "text/html"),
       whole_of("502 Bad Gateway", "text/html", "<h1>502</h1>")},
      {"bytes that are no text", raw_reply(299, std::string("\xff\0\r\n", 4), "application/octet-stream"),
       whole_of("299 Unknown", "application/octet-stream", std::string("\xff\0\r\n", 4))},
      {"events in one piece", raw_reply(200, "data: {}\n\ndata: [DONE]\n\n", "text/event-stream"),
       whole_of("200 OK", "text/event-stream", "data: {}\n\ndata: [DONE]\n\n")},
      {"headers", raw_reply(599, "x").header("Retry-After", "1").header("content-type", "a/b"),
       "HTTP/1.1 599 Unknown\r\nContent-Length: 1\r\nRetry-After: 1\r\ncontent-type: a/b\r\n"
       "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\nx"},
      {"no body", raw_reply(204, ""), "HTTP/1.1 204 No Content\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Scripted on(row.reply);
    CHECK(on.http.chat({{"n", 2}, {"max_tokens", 1}}).raw == row.expected);
    CHECK(on.http.stream(with_usage).raw == row.expected);
    CHECK(on.gateway.journal().last().status() == on.http.chat().status);
  }
}

TEST_CASE("a raw reply waits for its first token's time, and for a gate before an event") {
  Scripted on(raw_reply(503, "later").first_token_after(2s));
  RawConnection connection(on.gateway);
  connection.send(on.http.format_chat());
  REQUIRE(on.clock.wait_for_waits(1, 5s));
  on.clock.advance(1999ms);
  CHECK(on.gateway.journal().last().bytes_sent() == 0);
  on.clock.advance(1ms);
  CHECK(connection.receive_response().body == "later");

  Gate gate;
  const Scripted held(raw_reply(200, "held").hold(gate, before_event(1)));
  RawConnection waiting(held.gateway);
  waiting.send(held.http.format_chat());
  REQUIRE(gate.wait_until_reached(5s));
  CHECK(held.gateway.journal().last().bytes_sent() == 0);
  gate.open();
  CHECK(waiting.receive_response().body == "held");
}

TEST_CASE("a raw reply breaks before its head, after its head, or after its body") {
  const auto received = [](const Trigger& trigger, const Effect& effect) {
    const Scripted on(raw_reply(200, "body").fail(trigger, effect));
    RawConnection connection(on.gateway);
    connection.send(on.http.format_chat({{"stream", true}}));
    return connection.receive_all();
  };
  const std::string all = whole_of("200 OK", "application/json", "body");
  CHECK(received(before_headers(), close_connection()).bytes == "");
  CHECK(received(after_headers(), reset_connection()).bytes == all.substr(0, all.size() - 4));
  CHECK(received(after_headers(), reset_connection()).end == End::reset);
  CHECK(received(at_end(), close_connection()).bytes == all);
  CHECK(received(at_end(), close_connection()).end == End::fin);
}

// --- Chunks ----------------------------------------------------------------------------------------------------------

/// A chunk of one choice.
Json chunk_of(const Json& delta, const Json& finish_reason = nullptr) {
  return {{"choices", {{{"index", 0}, {"delta", delta}, {"finish_reason", finish_reason}}}}};
}

/// As chunk_of gives it, as an event.
std::string event_of(const std::string& delta, const std::string& finish_reason = "null") {
  return R"(data: {"choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + finish_reason + "}]}\n\n";
}

/// A delta of tool calls, `fields` beside the index.
Json call_delta(const Json& fields, int index = 0) {
  Json call{{"index", index}};
  call.update(fields);
  return {{"tool_calls", {call}}};
}

TEST_CASE("every odd stream seen in the field can be written down, and is sent to the byte") {
  struct Row {
    const char* name;
    Reply reply;
    std::vector<std::string> pieces;
  };
  const Json hi = chunk_of({{"content", "Hi"}});
  const Json stop = chunk_of(Json::object(), "stop");
  const std::string hi_event = event_of(R"({"content":"Hi"})");
  const std::string stop_event = event_of("{}", R"("stop")");
  const Row rows[] = {
      {"first chunk with choices: []",
       chunks({{{"choices", Json::array()}, {"prompt_filter_results", Json::array()}}, hi, stop}),
       {"data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n", hi_event, stop_event, done}},
      {"usage chunk without choices",
       chunks({hi, stop, {{"usage", {{"total_tokens", 3}}}}}),
       {hi_event, stop_event, "data: {\"usage\":{\"total_tokens\":3}}\n\n", done}},
      {"choices: null", chunks({{{"choices", nullptr}}, hi}), {"data: {\"choices\":null}\n\n", hi_event, done}},
      {"id line followed by a ping",
       chunks({raw_bytes("id: 1\n: ping\n\n"), hi, stop}),
       {"id: 1\n: ping\n\n", hi_event, stop_event, done}},
      {"comment keep-alives",
       chunks({raw_bytes(": OPENROUTER PROCESSING\n\n"), raw_bytes(":\n"), hi, raw_bytes(": ping\n\n"), stop}),
       {": OPENROUTER PROCESSING\n\n", ":\n", hi_event, ": ping\n\n", stop_event, done}},
      {"empty data: keep-alive",
       chunks({raw_bytes("data:\n\n"), raw_bytes("data: \n\n"), hi, stop}),
       {"data:\n\n", "data: \n\n", hi_event, stop_event, done}},
      {"error event in a 200 stream",
       chunks({hi, {{"error", {{"message", "overloaded"}, {"code", 503}}}}}).sse(SseDialect{"\n", true, false}),
       {hi_event, "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n"}},
      {"error event with a name",
       chunks({raw_bytes("event: error\n"), {{"error", "overloaded"}}}),
       {"event: error\n", "data: {\"error\":\"overloaded\"}\n\n", done}},
      {"finish_reason missing",
       chunks({hi, {{"choices", {{{"index", 0}, {"delta", Json::object()}}}}}}),
       {hi_event, "data: {\"choices\":[{\"index\":0,\"delta\":{}}]}\n\n", done}},
      {"finish_reason \"\"",
       chunks({chunk_of({{"content", "Hi"}}, ""), chunk_of(Json::object(), "")}),
       {event_of(R"({"content":"Hi"})", R"("")"), event_of("{}", R"("")"), done}},
      {"stop although tools were called",
       chunks({chunk_of(call_delta({{"id", "a"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}})), stop}),
       {event_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})"), stop_event,
        done}},
      {"role in every delta",
       chunks(
           {chunk_of({{"role", "assistant"}, {"content", "H"}}), chunk_of({{"role", "assistant"}, {"content", "i"}})}),
       {event_of(R"({"role":"assistant","content":"H"})"), event_of(R"({"role":"assistant","content":"i"})"), done}},
      {"first chunk has choice index 1",
       chunks({{{"choices", {{{"index", 1}, {"delta", {{"content", "b"}}}}}}}, hi}),
       {"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n", hi_event, done}},
      {"tool call without id",
       chunks({chunk_of(call_delta({{"function", {{"name", "f"}}}}))}),
       {event_of(R"({"tool_calls":[{"index":0,"function":{"name":"f"}}]})"), done}},
      {"tool call with id \"\" on its fragments",
       chunks({chunk_of(call_delta({{"id", "a"}, {"function", {{"name", "f"}, {"arguments", ""}}}})),
               chunk_of(call_delta({{"id", ""}, {"function", {{"arguments", "{}"}}}}))}),
       {event_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]})"),
        event_of(R"({"tool_calls":[{"index":0,"id":"","function":{"arguments":"{}"}}]})"), done}},
      {"parallel tool calls all index 0",
       chunks({chunk_of(call_delta({{"id", "a"}, {"function", {{"name", "f"}}}})),
               chunk_of(call_delta({{"id", "b"}, {"function", {{"name", "g"}}}}))}),
       {event_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]})"),
        event_of(R"({"tool_calls":[{"index":0,"id":"b","function":{"name":"g"}}]})"), done}},
      {"arguments: \"\"",
       chunks({chunk_of(call_delta({{"id", "a"}, {"function", {{"name", "f"}, {"arguments", ""}}}})),
               chunk_of(Json::object(), "tool_calls")}),
       {event_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]})"),
        event_of("{}", R"("tool_calls")"), done}},
      {"id and name repeated on each fragment",
       chunks({chunk_of(call_delta({{"id", "a"}, {"function", {{"name", "f"}, {"arguments", "{"}}}})),
               chunk_of(call_delta({{"id", "a"}, {"function", {{"name", "f"}, {"arguments", "}"}}}}))}),
       {event_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]})"),
        event_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]})"), done}},
      {"usage on the finish chunk",
       chunks({hi}).chunk({{"choices", Json::array()}, {"usage", {{"total_tokens", 3}}}}),
       {hi_event, "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n", done}},
      {"numeric error.code, and error is a string",
       chunks({{{"error", {{"code", 429}}}}, {{"error", "rate limit"}}}),
       {"data: {\"error\":{\"code\":429}}\n\n", "data: {\"error\":\"rate limit\"}\n\n", done}},
      {"event split across reads",
       chunks({raw_bytes("data: {\"choi"), raw_bytes("ces\":[]}\n"), raw_bytes("\n")}),
       {"data: {\"choi", "ces\":[]}\n", "\n", done}},
      {"split UTF-8",
       chunks({raw_bytes("data: {\"a\":\"\xe6\x9d"), raw_bytes("\xb1\"}\n\n")}),
       {"data: {\"a\":\"\xe6\x9d", "\xb1\"}\n\n", done}},
      {"data in several lines, CRLF, a byte order mark",
       chunks({raw_bytes("\xef\xbb\xbf"), raw_bytes("data: {\r\ndata: }\r\n\r\n")}),
       {"\xef\xbb\xbf", "data: {\r\ndata: }\r\n\r\n", done}},
      {"blank lines before a reply", chunks({raw_bytes("\n"), raw_bytes("\n\n"), hi}), {"\n", "\n\n", hi_event, done}},
      {"something after [DONE]", chunks({hi, raw_bytes(done), hi}), {hi_event, done, hi_event, done}},
      {"JSON that is no object",
       chunks({chunk(Json::array()), chunk("text"), chunk(nullptr)}),
       {"data: []\n\n", "data: \"text\"\n\n", "data: null\n\n", done}},
      {"nothing but [DONE]", chunks({}), {done}},
      {"empty 200", chunks({}).sse(SseDialect{"\n", true, false}), {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Scripted on(row.reply);
    const std::string expected = stream_of(row.pieces);
    CHECK(on.http.stream(with_usage).raw == expected);
    CHECK(on.http.chat({{"max_tokens", 1}, {"n", 2}}).raw == expected);
    CHECK(on.gateway.journal().last().events_sent() == row.pieces.size());
  }
}

TEST_CASE("chunks have the headers and the dialect that the test gives them, and are the same in every profile") {
  const SseDialect dialect{"\r\n", false, false, "text/event-stream"};
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Scripted on(chunks({chunk(7), raw_bytes(": ping\n\n")}).sse(dialect).header("x-served-by", "node 3"),
                      profile);
    const Response response = on.http.chat();
    CHECK(response.header("Content-Type") == "text/event-stream");
    CHECK(response.header("x-served-by") == "node 3");
    CHECK(response.body == "data:7\r\n\r\n: ping\n\n");
  }
}

TEST_CASE("a finish chunk of deepseek's carries scripted usage, one of the test's own carries any") {
  const Scripted on(text("Hi").usage(3, 1), Profile::deepseek);
  const Json finish = on.http.stream(with_usage).json_events().back();
  CHECK(finish["choices"][0]["finish_reason"] == "stop");
  CHECK(finish["usage"]["total_tokens"] == 4);
}

TEST_CASE("a chunk whose delta says something is a token: it has its time, and triggers and gates count it") {
  const Reply stream = chunks({chunk_of({{"role", "assistant"}, {"content", ""}}),
                               raw_bytes(": ping\n\n"),
                               chunk_of({{"reasoning_content", "Hm."}}),
                               chunk_of({{"content", "a"}}),
                               chunk_of({{"refusal", "b"}}),
                               chunk_of(call_delta({{"function", {{"name", "f"}, {"arguments", ""}}}})),
                               chunk_of(call_delta({{"function", {{"arguments", "{}"}}}})),
                               chunk_of({{"content", nullptr}}),
                               {{"choices", "none"}},
                               chunk_of(Json::object(), "stop")});
  {
    Scripted on(stream.first_token_after(1s).every(100ms));
    RawConnection connection(on.gateway);
    connection.send(on.http.format_chat());
    REQUIRE(on.clock.wait_for_waits(1, 5s));
    CHECK(on.gateway.journal().last().events_sent() == 2);
    on.clock.advance(1s);
    CHECK(on.gateway.journal().last().events_sent() == 3);
    on.clock.advance(300ms);
    const Exchange exchange = on.gateway.journal().last();
    CHECK(exchange.outcome() == Outcome::Kind::completed);
    CHECK(exchange.tokens_sent() == 4);
    CHECK(exchange.events_sent() == 11);
    CHECK(*exchange.ended() - exchange.received() == 1300ms);
  }
  const auto events_until = [&](const Trigger& trigger) {
    const Scripted on(stream.fail(trigger, reset_connection()));
    const Response response = on.http.allow_incomplete().stream();
    CHECK(response.end == End::reset);
    return on.gateway.journal().last().events_sent();
  };
  CHECK(events_until(after_headers()) == 0);
  CHECK(events_until(after_events(2)) == 2);
  CHECK(events_until(after_tokens(4)) == 7);
  CHECK(events_until(before_done()) == 10);
  CHECK(events_until(at_end()) == 11);

  Gate gate;
  const Scripted held(stream.hold(gate, before_token(3)));
  RawConnection connection(held.gateway);
  connection.send(held.http.format_chat());
  REQUIRE(gate.wait_until_reached(5s));
  CHECK(held.gateway.journal().last().tokens_sent() == 2);
  CHECK(held.gateway.journal().last().events_sent() == 4);
  gate.open();
  CHECK(connection.receive_response().complete);
}

TEST_CASE("pings defeat an idle timeout: a comment every so often, and then the reply") {
  const std::string ping = ": ping\n\n";
  Gateway gateway{Options{}.clock(InstantClock{})};
  gateway.chat().reply(chunks({raw_bytes(ping), raw_bytes(ping), chunk_of({{"content", "Hi"}})})
                           .fail(after_headers(), stall(15s))
                           .fail(after_events(1), stall(15s))
                           .fail(after_events(2), stall(15s)));
  const Response response = Http(gateway).stream();
  CHECK(response.body == ping + ping + event_of(R"({"content":"Hi"})") + done);
  const Exchange exchange = gateway.journal().last();
  REQUIRE(exchange.outcome() == Outcome::Kind::completed);
  CHECK(*exchange.ended() - exchange.received() >= 45s);
}

TEST_CASE("chunks for an HTTP/1.0 client are bare, and the connection's end is theirs") {
  const Scripted on(chunks({raw_bytes(": ping\n\n"), {{"choices", Json::array()}}}));
  std::string request = on.http.format_chat();
  request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
  RawConnection connection(on.gateway);
  connection.send(request);
  const auto received = connection.receive_all();
  CHECK(received.end == End::fin);
  const std::size_t body = received.bytes.find("\r\n\r\n") + 4;
  CHECK(received.bytes.substr(body) == ": ping\n\ndata: {\"choices\":[]}\n\n" + done);
  CHECK(received.bytes.find("Transfer-Encoding") == std::string::npos);
}

TEST_CASE("a reply function makes raw replies and chunks too, and a sequence mixes them") {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply(raw_reply(503, "busy"), chunks({chunk(1)}), "Hello.");
  CHECK(http.chat().body == "busy");
  CHECK(http.chat().body == "data: 1\n\n" + done);
  CHECK(http.chat().text() == "Hello.");
  gateway.chat().reply([](const ChatRequest& request) -> Reply {
    return chunks({{{"choices", Json::array()}, {"model", request.model}}}).chunk(raw_bytes("end"));
  });
  CHECK(http.chat().body == "data: {\"choices\":[],\"model\":\"mock-model\"}\n\nend" + done);
}

// --- What is refused -------------------------------------------------------------------------------------------------

/// What GatewayError says of what this code makes, without the library's name before it.
template <class Code>
std::string refused(const Code& code) {
  try {
    (void)code();
    return "not refused";
  } catch (const GatewayError& error) {
    const std::string prefix = "mock_gateway: ";
    const std::string message = error.what();
    return message.substr(0, prefix.size()) == prefix ? message.substr(prefix.size()) : "without prefix: " + message;
  }
}

TEST_CASE("what makes up a completion is refused on a failure, a raw reply and chunks, with what to do") {
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
          "a failure carries no " + name + "; its body is set with Failure::body");
    CHECK(refused([&, set = setter] { return set(raw_reply(200, "")); }) ==
          "a raw reply carries no " + name + "; its body is sent as it is: write it there");
    CHECK(refused([&, set = setter] { return set(chunks({})); }) ==
          "chunks carry no " + name + "; they are sent as they are: write it into them");
  }
}

TEST_CASE("what can never happen to a raw reply is refused where it is written") {
  Gate gate;
  const Reply raw = raw_reply(200, "x");
  for (const Trigger& trigger : {after_events(1), after_tokens(1), before_done()}) {
    CHECK(refused([&] { return raw.fail(trigger, close_connection()); }) ==
          "a raw reply has no events, so \"" + trigger.to_string() +
              "\" never comes; use before_headers, after_headers, after_bytes or at_end");
  }
  CHECK(refused([&] { return raw.every(1ms); }) == "a raw reply leaves in one piece; first_token_after delays it");
  CHECK(refused([&] { return raw.hold(gate, before_token(1)); }) ==
        "a raw reply has no tokens; before_event(1) holds it whole");
  CHECK(refused([&] { return raw.sse({}); }) ==
        "a raw reply has no events to write in a dialect; its body is sent as it is");
  for (const int status : {-1, 0, 100, 199, 600}) {
    CHECK(refused([&] { return raw_reply(status, ""); }) ==
          "raw_reply: status " + std::to_string(status) + " is no final status; give one from 200 to 599");
  }
  CHECK(refused([&] { return raw_reply(304, "x"); }) ==
        "raw_reply: a reply of status 304 has no body (RFC 9110, 6.4.1); leave it empty or give another status");
  CHECK_THROWS_AS(raw_reply(200, "", "a\r\nb"), GatewayError);
  CHECK_THROWS_AS(raw_reply(200, {{"a", "\xff"}}), GatewayError);
  CHECK_THROWS_AS(raw.header("a\n", "b"), GatewayError);
}

TEST_CASE("a chunk that cannot be sent, or is written with a pair of braces too few, is refused") {
  CHECK(refused([&] { return raw_bytes(""); }) ==
        "raw_bytes needs at least one byte: an HTTP chunk of none would end the body");
  CHECK(refused([&] {
          return chunks({{"choices", Json::array()}});
        }) ==
        "a chunk in braces is an object, {{\"choices\", Json::array()}}, but this is [\"choices\",[]]: a "
        "pair of braces is missing, or chunk(json) is meant");
  CHECK_THROWS_AS(chunk({{"a", "\xff"}}), GatewayError);
  CHECK(refused([&] { return text("a").chunk(chunk(1)); }) ==
        "a chunk can only be added to chunks({…}); this reply is made of something else");
  CHECK_THROWS_AS(raw_reply(200, "").chunk(chunk(1)), GatewayError);
}

TEST_CASE("numbers and fields that no reply can have are refused, with what to do") {
  CHECK(refused([&] { return text("a").usage(-1, 0); }) ==
        "prompt_tokens of a usage must not be negative, but is -1; extra({{\"usage\", …}}) sends "
        "whatever it holds");
  CHECK_THROWS_AS(text("a").usage(0, -1), GatewayError);
  CHECK_THROWS_AS(TokenUsage(0, 0).total(-1), GatewayError);
  CHECK_THROWS_AS(TokenUsage(0, 0).reasoning(-1), GatewayError);
  CHECK_THROWS_AS(TokenUsage(0, 0).cached(-1), GatewayError);
  CHECK(refused([&] {
          return text("a").logprobs({-0.1, 0.9});
        }) ==
        "a logprob is the natural logarithm of a probability, finite and at most 0: 90 % is -0.105, not "
        "0.900000");
  CHECK_THROWS_AS(TokenLogprob(std::nan("")), GatewayError);
  CHECK_THROWS_AS(TokenLogprob(-std::numeric_limits<double>::infinity()), GatewayError);
  CHECK_THROWS_AS(TokenLogprob(-1, {{"a", 1}}), GatewayError);
  CHECK_THROWS_AS(TokenLogprob(-1, {{"\xff", -1}}), GatewayError);
  CHECK(refused([&] { return text("a").extra("flex"); }) ==
        "extra merges the fields of a JSON object such as {{\"service_tier\", \"flex\"}}, not string");
  CHECK_THROWS_AS(text("a").extra_message({1, 2}), GatewayError);
  CHECK_THROWS_AS(text("a").extra({{"a", "\xff"}}), GatewayError);
  CHECK_THROWS_AS(malformed_tool_call("f", "\xff"), GatewayError);
  CHECK_THROWS_AS(tool_call("f", {}, "\xff"), GatewayError);
}

TEST_CASE("what belongs to the whole is refused on one of several choices, and taken on the whole") {
  const std::string message =
      "a choice carries content, logprobs and finish_reason only; set pace, faults, holds, model, usage, extra fields, "
      "verbatim, headers, early hints, dialect, writes and the order of deltas on the whole: choices(…).every(…)";
  const Reply a = text("a");
  for (const Reply& part : {a.usage(1, 1), a.extra({{"a", 1}}), a.extra_message({{"a", 1}}), a.model("m"), a.verbatim(),
                            a.header("a", "b"), a.every(1ms), a.sse(SseDialect{"\r"})}) {
    CHECK(refused([&] { return choices(a, part); }) == message);
  }
  CHECK(refused([&] { return choices(a, raw_reply(200, "")); }) ==
        "a raw reply cannot be one of several choices; it is a reply of its own");
  CHECK(refused([&] { return choices(chunks({}), a); }) ==
        "a list of chunks cannot be one of several choices; it is a reply of its own");
  CHECK(refused([&] { return choices(a, server_error()); }) ==
        "a failure cannot be one of several choices; it is a reply of its own");

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
}

}  // namespace replies_test
