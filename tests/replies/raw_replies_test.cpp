// The bytes of handwritten replies: raw replies, streams of chunks, and settings that throw.

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"
#include "support/text.hpp"

namespace raw_replies_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::all_profiles;
using test_support::End;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::refused;
using test_support::Response;
using test_support::Scripted;
using test_support::with_usage;

/// Returns a chunked body with these pieces (RFC 9112, 7.1).
inline std::string chunked(const std::vector<std::string>& pieces) {
  std::string body;
  for (const std::string& piece : pieces) {
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    body += size + piece + "\r\n";
  }
  return body + "0\r\n\r\n";
}

/// Returns the bytes of a response with status 200 that streams these pieces.
inline std::string stream_of(const std::vector<std::string>& pieces) {
  return "HTTP/1.1 200 OK\r\n"
         "Content-Type: text/event-stream; charset=utf-8\r\n"
         "Transfer-Encoding: chunked\r\n"
         "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
         "\r\n" +
         chunked(pieces);
}

/// Returns the bytes of a response with this body in one piece.
inline std::string whole_of(const std::string& status, const std::string& content_type, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + content_type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n" +
         body;
}

const std::string done = "data: [DONE]\n\n";

// --- Raw replies -----------------------------------------------------------------------------------------------------

TEST_CASE("a raw reply is sent unchanged to plain and stream requests") {
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

TEST_CASE("a raw reply waits for the time of the first token, and at a gate before an event") {
  Scripted on(raw_reply(503, "later").first_token_after(2s));
  RawConnection connection(on.gateway);
  connection.send(on.http.format_chat());
  REQUIRE(on.clock.wait_for_waits(1, patience));
  on.clock.advance(1999ms);
  CHECK(on.gateway.journal().last().bytes_sent() == 0);
  on.clock.advance(1ms);
  CHECK(connection.receive_response().body == "later");

  Gate gate;
  const Scripted held(raw_reply(200, "held").hold(gate, before_event(1)));
  RawConnection waiting(held.gateway);
  waiting.send(held.http.format_chat());
  REQUIRE(gate.wait_until_reached(patience));
  CHECK(held.gateway.journal().last().bytes_sent() == 0);
  gate.open();
  CHECK(waiting.receive_response().body == "held");
}

TEST_CASE("a raw reply breaks before its head, after its head, or after its body") {
  const auto received = [](const Trigger& trigger, const Effect& effect) {
    const Scripted on(raw_reply(200, "body").fault(trigger, effect));
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

/// Returns a chunk with one choice.
inline Json chunk_of(const Json& delta, const Json& finish_reason = nullptr) {
  return {{"choices", {{{"index", 0}, {"delta", delta}, {"finish_reason", finish_reason}}}}};
}

/// Returns the bytes of an event with such a chunk.
inline std::string event_of(const std::string& delta, const std::string& finish_reason = "null") {
  return R"(data: {"choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + finish_reason + "}]}\n\n";
}

/// Returns a delta with one tool call that has the index and `fields`.
inline Json call_delta(const Json& fields, int index = 0) {
  Json call{{"index", index}};
  call.update(fields);
  return {{"tool_calls", {call}}};
}

TEST_CASE("streams of real servers with unusual chunks can be scripted to the byte") {
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
       chunks({hi, {{"error", {{"message", "overloaded"}, {"code", 503}}}}}).sse(SseDialect().done(false)),
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
       chunks({json_chunk(Json::array()), json_chunk("text"), json_chunk(nullptr)}),
       {"data: []\n\n", "data: \"text\"\n\n", "data: null\n\n", done}},
      {"nothing but [DONE]", chunks({}), {done}},
      {"empty 200", chunks({}).sse(SseDialect().done(false)), {}},
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

TEST_CASE("a stream of chunks has the scripted headers and dialect, and is the same in every profile") {
  const SseDialect dialect =
      SseDialect().line_end("\r\n").space_after_colon(false).done(false).content_type("text/event-stream");
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    const Scripted on(chunks({json_chunk(7), raw_bytes(": ping\n\n")}).sse(dialect).header("x-served-by", "node 3"),
                      profile);
    const Response response = on.http.chat();
    CHECK(response.header("Content-Type") == "text/event-stream");
    CHECK(response.header("x-served-by") == "node 3");
    CHECK(response.body == "data:7\r\n\r\n: ping\n\n");
  }
}

TEST_CASE("usage can be scripted in the deepseek profile's finish chunk") {
  const Scripted on(text("Hi").usage(3, 1), Profile::deepseek);
  const Json finish = on.http.stream(with_usage).json_events().back();
  CHECK(finish["choices"][0]["finish_reason"] == "stop");
  CHECK(finish["usage"]["total_tokens"] == 4);
}

TEST_CASE("a chunk with content counts as a token for pace, triggers and gates") {
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
    REQUIRE(on.clock.wait_for_waits(1, patience));
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
    const Scripted on(stream.fault(trigger, reset_connection()));
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
  REQUIRE(gate.wait_until_reached(patience));
  CHECK(held.gateway.journal().last().tokens_sent() == 2);
  CHECK(held.gateway.journal().last().events_sent() == 4);
  gate.open();
  CHECK(connection.receive_response().complete);
}

TEST_CASE("a stream can send comments at intervals before the reply, against a client's idle timeout") {
  const std::string ping = ": ping\n\n";
  Gateway gateway{Options{}.clock(InstantClock{})};
  gateway.chat().reply(chunks({raw_bytes(ping), raw_bytes(ping), chunk_of({{"content", "Hi"}})})
                           .fault(after_headers(), stall(15s))
                           .fault(after_events(1), stall(15s))
                           .fault(after_events(2), stall(15s)));
  const Response response = Http(gateway).stream();
  CHECK(response.body == ping + ping + event_of(R"({"content":"Hi"})") + done);
  const Exchange exchange = gateway.journal().last();
  REQUIRE(exchange.outcome() == Outcome::Kind::completed);
  CHECK(*exchange.ended() - exchange.received() >= 45s);
}

TEST_CASE("chunks for an HTTP/1.0 client have no framing, and end with the connection") {
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

TEST_CASE("a reply function can return raw replies and chunks, and a sequence can contain both") {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply(raw_reply(503, "busy"), chunks({json_chunk(1)}), "Hello.");
  CHECK(http.chat().body == "busy");
  CHECK(http.chat().body == "data: 1\n\n" + done);
  CHECK(http.chat().text() == "Hello.");
  gateway.chat().reply([](const ChatRequest& request) -> Reply {
    return chunks({{{"choices", Json::array()}, {"model", request.model}}}).chunk(raw_bytes("end"));
  });
  CHECK(http.chat().body == "data: {\"choices\":[],\"model\":\"mock-model\"}\n\nend" + done);
}

// --- Rejected settings -----------------------------------------------------------------------------------------------

TEST_CASE("settings without effect on a raw reply throw") {
  Gate gate;
  const Reply raw = raw_reply(200, "x");
  for (const Trigger& trigger : {after_events(1), after_tokens(1), before_done()}) {
    CHECK(refused([&] { return raw.fault(trigger, close_connection()); }) ==
          "a raw reply has no events, so \"" + trigger.to_string() +
              "\" never happens; use before_headers, after_headers, after_bytes or at_end");
  }
  CHECK(refused([&] { return raw.every(1ms); }) == "a raw reply is sent in one piece; first_token_after delays it");
  CHECK(refused([&] { return raw.hold(gate, before_token(1)); }) ==
        "a raw reply has no tokens; before_event(1) holds all of it");
  CHECK(refused([&] { return raw.sse({}); }) ==
        "a raw reply has no events to write in a dialect; its body is sent unchanged");
  for (const int status : {-1, 0, 100, 199, 600}) {
    CHECK(refused([&] { return raw_reply(status, ""); }) ==
          "raw_reply: status " + std::to_string(status) + " is not a final status; give one from 200 to 599");
  }
  CHECK(refused([&] { return raw_reply(304, "x"); }) ==
        "raw_reply: a reply of status 304 has no body (RFC 9110, 6.4.1); leave it empty or give another status");
  CHECK_THROWS_AS(raw_reply(200, "", "a\r\nb"), GatewayError);
  CHECK_THROWS_AS(raw_reply(200, {{"a", "\xff"}}), GatewayError);
  CHECK_THROWS_AS(raw.header("a\n", "b"), GatewayError);
}

TEST_CASE("an invalid chunk, or a chunk written without its inner braces, throws") {
  CHECK(refused([&] { return raw_bytes(""); }) ==
        "raw_bytes needs at least one byte: an empty HTTP chunk would end the body");
  CHECK(refused([&] {
          return chunks({{"choices", Json::array()}});
        }) ==
        "a chunk in braces is an object, {{\"choices\", Json::array()}}, but this is [\"choices\",[]]: a "
        "pair of braces is missing, or json_chunk(json) is meant");
  CHECK_THROWS_AS(json_chunk({{"a", "\xff"}}), GatewayError);
  CHECK(refused([&] { return text("a").chunk(json_chunk(1)); }) ==
        "a chunk can only be added to chunks({…}); this reply is made of something else");
  CHECK_THROWS_AS(raw_reply(200, "").chunk(json_chunk(1)), GatewayError);
}

}  // namespace raw_replies_test
