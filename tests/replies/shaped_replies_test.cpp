// Settings that shape the chunks of a reply: interleaved calls, the place of the finish_reason, fields of one chunk,
// events without data, usage as any JSON, interim responses.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"
#include "support/text.hpp"

namespace shaped_replies_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::all_profiles;
using test_support::chat_path;
using test_support::Http;
using test_support::RawConnection;
using test_support::refused;
using test_support::Response;
using test_support::with_usage;

const Json streamed = {{"stream", true}};

/// A gateway whose only stub has this reply, and a client.
struct Scripted {
  explicit Scripted(const Reply& reply, Profile profile = Profile::documented)
      : gateway(Options{}.profile(profile)), http(gateway) {
    gateway.chat().reply(reply);
  }

  Gateway gateway;
  Http http;
};

/// Returns the indices of the tool calls in a stream's deltas, in order. The first delta of a call is in parentheses:
/// "(0)".
std::string order_of_calls(const Response& stream, std::size_t choice = 0) {
  std::string order;
  for (const Json& delta : stream.deltas(choice)) {
    if (!delta.contains("tool_calls")) continue;
    const std::string index = delta["tool_calls"][0]["index"].dump();
    order += delta["tool_calls"][0].contains("id") ? "(" + index + ")" : index;
  }
  return order;
}

const Reply two_calls = tool_call("f", {{"a", 1}}, "call_1").tool_call("g", {{"b", "one two three four"}}, "call_2");

// --- Tool calls ------------------------------------------------------------------------------------------------------

TEST_CASE("a streamed tool call begins with null content, as in a plain reply; text does not") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Scripted calls(two_calls, profile);
    CHECK(calls.http.chat().json()["choices"][0]["message"]["content"].is_null());
    const Json first = calls.http.stream().deltas()[0];
    CHECK(first["role"] == "assistant");
    CHECK(first.at("content").is_null());
    if (profile == Profile::deepseek) continue;  // the role chunk of this profile always has null content
    CHECK(Scripted(text("").tool_call("f"), profile).http.stream().deltas()[0]["content"] == "");
    CHECK(Scripted(text("Hi"), profile).http.stream().deltas()[0]["content"] == "");
  }
}

TEST_CASE("parallel tool calls are streamed one after the other, or interleaved") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Scripted in_order(two_calls, profile);
    const Scripted mixed(text("Let me look.")
                             .thinking("Hm.")
                             .tool_call("f", {{"a", 1}}, "call_1")
                             .tool_call("g", {{"b", "one two three four"}}, "call_2")
                             .interleaved(),
                         profile);
    const Response plain = mixed.http.chat();
    const Response stream = mixed.http.stream();
    CHECK(order_of_calls(in_order.http.stream()) == "(0)00000(1)11111111");
    CHECK(order_of_calls(stream) == "(0)(1)0101010101111");
    CHECK(stream.joined_message() == plain.message());
    CHECK(stream.finish_reason() == "tool_calls");
  }
}

TEST_CASE("calls are interleaved in each choice, and a call without fragments has only its first delta") {
  const Scripted on(
      choices(two_calls, malformed_tool_call("f", "", "call_3").tool_call("g", {}, "call_4")).interleaved());
  const Response stream = on.http.stream({{"n", 2}});
  CHECK(order_of_calls(stream, 0).substr(0, 12) == "(0)(1)010101");
  CHECK(order_of_calls(stream, 1) == "(0)(1)1");
  CHECK(stream.joined_message(1) == on.http.chat({{"n", 2}}).message(1));
  CHECK(order_of_calls(Scripted(tool_call("f", {}, "c").interleaved()).http.stream()) == "(0)0");
  CHECK(Scripted(text("a b").interleaved()).http.stream().joined_text() == "a b");
}

TEST_CASE("a client that adds fragments to the latest call gets interleaved calls wrong") {
  const Scripted on(two_calls.interleaved());
  std::vector<std::string> arguments;
  for (const Json& delta : on.http.stream().deltas()) {
    if (!delta.contains("tool_calls")) continue;
    const Json& call = delta["tool_calls"][0];
    if (call.contains("id")) arguments.emplace_back();
    arguments.back() += call["function"]["arguments"].get<std::string>();
  }
  CHECK(arguments[0] == "");
  CHECK_FALSE(Json::accept(arguments[1]));
}

TEST_CASE("a custom tool is called with text, plain and streamed") {
  const Scripted on(custom_tool_call("shell", "ls -l /tmp/some/folder", "call_1"), Profile::openai);
  const Json call = on.http.chat().json()["choices"][0]["message"]["tool_calls"][0];
  CHECK(call.dump() == R"({"id":"call_1","type":"custom","custom":{"name":"shell","input":"ls -l /tmp/some/folder"}})");
  std::vector<Json> deltas;
  std::string input;
  for (const Json& delta : on.http.stream().deltas()) {
    if (!delta.contains("tool_calls")) continue;
    deltas.push_back(delta["tool_calls"][0]);
    input += delta["tool_calls"][0].at("custom").at("input").get<std::string>();
  }
  REQUIRE(deltas.size() > 2);
  CHECK(deltas[0].dump() == R"({"index":0,"id":"call_1","type":"custom","custom":{"name":"shell","input":""}})");
  CHECK(deltas[1].contains("id") == false);
  CHECK(input == "ls -l /tmp/some/folder");
  CHECK(on.gateway.journal().last().tokens_sent() == deltas.size() - 1);
  CHECK(json_chunk({{"choices", {{{"delta", {{"tool_calls", {{{"custom", {{"input", "x"}}}}}}}}}}}}).is_token());
  CHECK_THROWS_AS(custom_tool_call("shell", "\xff"), GatewayError);
  CHECK_THROWS_AS(raw_reply(200, "").custom_tool_call("shell", "ls"), GatewayError);
}

// --- Usage and endings -----------------------------------------------------------------------------------------------

TEST_CASE("usage may be any JSON, in a plain reply and in the profile's place in a stream") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Scripted on(text("one two").usage(Json::object()), profile);
    CHECK(on.http.chat().json().at("usage") == Json::object());
    const Response stream = on.http.stream(with_usage);
    CHECK(stream.json_events().back().at("usage") == Json::object());
    CHECK(stream.joined_text() == "one two");
    for (const Json& chunk : on.http.stream().json_events()) CHECK_FALSE(chunk.contains("usage"));
  }
  CHECK(Scripted(text("a").usage(Json())).http.chat().json().at("usage").is_null());
  CHECK(Scripted(text("a").usage(Json{{"cost", 0.5}})).http.chat().json()["usage"].dump() == R"({"cost":0.5})");
  // The last setting takes precedence, and numbers in braces are token counts.
  CHECK(Scripted(text("a").usage(Json::object()).usage({12, 5})).http.chat().json()["usage"]["total_tokens"] == 17);
  CHECK(Scripted(text("a").usage(12, 5).usage(Json::object())).http.chat().json()["usage"] == Json::object());
  CHECK_THROWS_AS(text("a").usage(Json("\xff")), GatewayError);
  CHECK_THROWS_AS(chunks({}).usage(Json::object()), GatewayError);
}

TEST_CASE("the finish_reason can be in the last chunk with content, in every profile") {
  const Reply replies[] = {
      text("one two three"), text("Hi").tool_call("f", {{"a", 1}}), two_calls.interleaved(), thinking("Hm."), text(""),
      refusal("No, sorry.")};
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    for (const Reply& reply : replies) {
      for (const Json& fields : {Json::object(), with_usage, Json{{"logprobs", true}}}) {
        const Scripted apart(reply, profile);
        const Scripted together(reply.finish_in_last_chunk(), profile);
        const Response usual = apart.http.stream(fields);
        const Response stream = together.http.stream(fields);
        CHECK(stream.joined_message() == usual.joined_message());
        CHECK(stream.finish_reason() == usual.finish_reason());
        CHECK(stream.usage() == usual.usage());
        CHECK(stream.done());
        CHECK(stream.deltas().size() + 1 == usual.deltas().size());
        const std::vector<Json> chunks = stream.json_events();
        std::vector<Json> with_choices;
        for (const Json& chunk : chunks)
          if (!chunk["choices"].empty()) with_choices.push_back(chunk["choices"][0]);
        for (std::size_t i = 0; i + 1 < with_choices.size(); ++i) CHECK(with_choices[i]["finish_reason"].is_null());
        CHECK(with_choices.back()["finish_reason"].is_string());
        CHECK(together.http.chat(fields).json()["choices"] == apart.http.chat(fields).json()["choices"]);
      }
    }
  }
}

TEST_CASE("each of several choices ends in its own last chunk") {
  const Scripted on(choices(text("a b c"), text("d").finish_reason("length")).finish_in_last_chunk(),
                    Profile::deepseek);
  const Response stream = on.http.stream({{"n", 2}, {"stream_options", {{"include_usage", true}}}});
  CHECK(stream.finish_reason(0) == "stop");
  CHECK(stream.finish_reason(1) == "length");
  CHECK(stream.deltas(1).size() == 2);
  const std::vector<Json> chunks = stream.json_events();
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) CHECK(chunks[i].at("usage").is_null());
  CHECK(chunks.back().at("usage").at("completion_tokens") == 4);
}

// --- One chunk, and events without data ------------------------------------------------------------------------------

TEST_CASE("fields can be merged into a single chunk of a stream") {
  const Scripted on(text("a b")
                        .extra({{"x_groq", {{"id", "req"}}}})
                        .extra_chunk(2, {{"x_groq", {{"usage", 1}}}, {"object", nullptr}})
                        .extra_chunk(4, {{"choices", Json::array()}})
                        .extra_chunk(1, {{"id", "first"}})
                        .extra_chunk(1, {{"model", "m"}}));
  const std::vector<Json> chunks = on.http.stream().json_events();
  REQUIRE(chunks.size() == 4);
  CHECK(chunks[0]["id"] == "first");
  CHECK(chunks[0]["model"] == "m");
  CHECK(chunks[1].at("x_groq").dump() == R"({"id":"req","usage":1})");
  CHECK_FALSE(chunks[1].contains("object"));
  CHECK(chunks[2].at("x_groq").dump() == R"({"id":"req"})");
  CHECK(chunks[2].contains("object"));
  CHECK(chunks[3]["choices"].empty());
  CHECK(on.gateway.verify());
}

TEST_CASE("verify() reports fields for a chunk that was not reached, unless a fault ended the stream before") {
  Scripted on(text("a").extra_chunk(4, {{"late", 1}}));
  CHECK(on.http.stream().complete);
  const Verification verification = on.gateway.verify();
  CHECK_FALSE(verification);
  CHECK(verification.message().find("extra fields of chunk 4: the reply ended after 1 tokens") != std::string::npos);

  Scripted plain(text("a").extra_chunk(1, {{"id", "first"}}));
  CHECK(plain.http.chat().json()["id"] != "first");
  CHECK_FALSE(plain.gateway.verify());

  Scripted cut(text("a b").extra_chunk(4, {{"late", 1}}).fault(after_tokens(1), close_connection()));
  cut.http.allow_incomplete().stream();
  CHECK(cut.gateway.verify());
}

TEST_CASE("an event without data has the scripted lines with the dialect's line ends, and counts as an event") {
  const Json hi = {{"choices", {{{"index", 0}, {"delta", {{"content", "Hi"}}}, {"finish_reason", "stop"}}}}};
  const Scripted on(chunks({event("id: 7"), hi, event("event: ping\nretry: 10")}));
  const Response response = on.http.stream();
  CHECK(response.body == "id: 7\n\ndata: " + hi.dump() + "\n\nevent: ping\nretry: 10\n\ndata: [DONE]\n\n");
  CHECK(response.joined_text() == "Hi");
  CHECK(on.gateway.journal().last().events_sent() == 4);
  CHECK(on.gateway.journal().last().tokens_sent() == 1);
  CHECK(on.http.chat().body == response.body);  // plain requests get the stream too

  const SseDialect other = SseDialect().line_end("\r\n").ids(true);
  const Scripted in_dialect(chunks({event("id: 7\n: note")}).chunk(hi).sse(other));
  CHECK(in_dialect.http.stream().body ==
        "id: 7\r\n: note\r\n\r\nid: 2\r\ndata: " + hi.dump() + "\r\n\r\nid: 3\r\ndata: [DONE]\r\n\r\n");

  const SseDialect open_end = SseDialect().done(false).final_blank_line(false);
  CHECK(Scripted(chunks({hi, event("id: 7")}).sse(open_end)).http.stream().body ==
        "data: " + hi.dump() + "\n\nid: 7\n");
  const Scripted broken(chunks({event("id: 7"), hi}).fault(after_events(1), close_connection()));
  CHECK(broken.http.allow_incomplete().stream().body == "id: 7\n\n");
  CHECK(event("id: 7").is_meta());
  CHECK_FALSE(json_chunk(hi).is_meta());
}

TEST_CASE("an invalid event without data throws with advice") {
  for (const std::string lines : {"", "id: 7\n", "\nid: 7", "id: 7\n\nid: 8", "id: 7\r\nid: 8", "\r"}) {
    CAPTURE(lines);
    CHECK(refused([&] { static_cast<void>(event(lines)); }).substr(0, 29) == "event needs at least one line");
  }
  for (const std::string lines : {"data", "data:", "data: x", "id: 7\ndata: x"}) {
    CAPTURE(lines);
    CHECK(refused([&] { static_cast<void>(event(lines)); }) ==
          "event is for an event without data; use json_chunk(json) for one with data, or raw_bytes(…) for any bytes");
  }
  CHECK_THROWS_AS(static_cast<void>(event("id: \xff")), GatewayError);
  CHECK(event("dataset: 1").bytes() == "dataset: 1");
}

// --- Interim responses -----------------------------------------------------------------------------------------------

TEST_CASE("early hints come before any kind of reply, and the connection stays open") {
  const std::vector<std::pair<Reply, int>> replies = {
      {text("Hi").early_hints({{"Link", "</a.css>; rel=preload"}, {"x-a", "1"}}), 200},
      {raw_reply(202, "whole").early_hints({{"Link", "</a.css>; rel=preload"}, {"x-a", "1"}}), 202},
      {Reply(server_error()).early_hints({{"Link", "</a.css>; rel=preload"}, {"x-a", "1"}}), 500},
      {chunks({event("id: 7")}).early_hints({{"Link", "</a.css>; rel=preload"}, {"x-a", "1"}}), 200}};
  for (const auto& [reply, status] : replies) {
    const Scripted on(reply);
    RawConnection connection(on.gateway);
    for (const Json& fields : {Json::object(), streamed}) {
      connection.send(on.http.format_chat(fields));
      const Response hints = connection.receive_response();
      CHECK(hints.raw == "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nx-a: 1\r\n\r\n");
      const Response final_response = connection.receive_response();
      CHECK(final_response.status == status);
      CHECK(final_response.complete);
      CHECK_FALSE(final_response.has("Link"));
    }
    CHECK(on.gateway.journal().last().status() == status);
    CHECK(on.gateway.verify());
  }
}

TEST_CASE("a client that speaks HTTP/1.0 gets no early hints") {
  const Scripted on(text("Hi").early_hints({{"x-a", "1"}}));
  std::string request = on.http.format_chat();
  request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
  RawConnection connection(on.gateway);
  connection.send(request);
  const Response response = connection.receive_response();
  CHECK(response.status == 200);
  CHECK(response.text() == "Hi");
}

TEST_CASE("early hints are sent at once, even if the reply is late, and the last setting takes precedence") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("Hi").early_hints({{"x-a", "1"}}).early_hints({{"x-b", "2"}}).first_token_after(5s));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  CHECK(connection.receive_response().raw == "HTTP/1.1 103 Early Hints\r\nx-b: 2\r\n\r\n");
  REQUIRE(clock.wait_for_waits(1, 10s));
  clock.advance(5s);
  CHECK(connection.receive_response().text() == "Hi");
}

TEST_CASE("early hints of a reply follow those of chaos") {
  Gateway gateway;
  gateway.chaos(Chaos(early_hints(wire::Headers{{"x-a", "1"}})));
  gateway.chat().reply(text("Hi").early_hints({{"x-b", "2"}}));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  CHECK(connection.receive_response().header("x-a") == "1");
  CHECK(connection.receive_response().header("x-b") == "2");
  CHECK(connection.receive_response().text() == "Hi");
}

// --- Rejected settings -----------------------------------------------------------------------------------------------

TEST_CASE("settings of chunks throw on replies without chunks and on one of several choices") {
  for (const Reply& reply : {Reply(server_error()), raw_reply(200, ""), chunks({})}) {
    CHECK_THROWS_AS(reply.interleaved(), GatewayError);
    CHECK_THROWS_AS(reply.finish_in_last_chunk(), GatewayError);
    CHECK_THROWS_AS(reply.extra_chunk(1, Json::object()), GatewayError);
    CHECK_THROWS_AS(reply.usage(Json::object()), GatewayError);
  }
  const Reply a = text("a");
  for (const Reply& part : {a.interleaved(), a.finish_in_last_chunk(), a.extra_chunk(1, {{"a", 1}}),
                            a.usage(Json::object()), a.early_hints({{"x-a", "1"}})}) {
    CHECK(refused([&] { static_cast<void>(choices(a, part)); }).substr(0, 30) == "a choice has only content, log");
  }
  CHECK(refused([&] { static_cast<void>(a.extra_chunk(0, Json::object())); }) ==
        "extra_chunk counts from 1: the first chunk is the one with the role");
  CHECK_THROWS_AS(a.extra_chunk(1, "flex"), GatewayError);
  CHECK_THROWS_AS(a.extra_chunk(1, {{"a", "\xff"}}), GatewayError);
  CHECK_THROWS_AS(a.early_hints({{"x a", "1"}}), GatewayError);
  CHECK_THROWS_AS(a.early_hints({{"x-a", "1\r\nx-b: 2"}}), GatewayError);
}

TEST_CASE("a setter returns a changed copy and leaves its reply unchanged") {
  const Reply reply = two_calls;
  static_cast<void>(reply.interleaved());
  static_cast<void>(reply.finish_in_last_chunk());
  static_cast<void>(reply.extra_chunk(1, {{"a", 1}}));
  static_cast<void>(reply.early_hints({{"x-a", "1"}}));
  static_cast<void>(reply.usage(Json::object()));
  const Scripted on(reply);
  const Response stream = on.http.stream();
  CHECK(stream.status == 200);
  CHECK(order_of_calls(stream).substr(0, 4) == "(0)0");
  CHECK_FALSE(stream.json_events()[0].contains("a"));
  CHECK(stream.json_events().back()["choices"][0]["delta"].empty());
  CHECK(on.http.chat().json()["usage"].contains("total_tokens"));
}

}  // namespace shaped_replies_test
