// Meanings of script keys: each key has the same effect as the C++ call of that name.

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/script_rows.hpp"
#include "support/timing.hpp"

namespace script_meanings_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::Http;
using test_support::listed;
using test_support::Response;
using test_support::ScriptRows;
using Places = ScriptRows::Places;

Json script_of(const std::string& sections) { return Json::parse(R"({"mock_gateway": 1, )" + sections + "}"); }

/// Returns everything that a client receives for two requests to a gateway on a manual clock, with the times.
std::string observed(const std::function<void(Gateway&)>& script, bool streamed) {
  ManualClock clock;
  Gateway gateway(
      Options{}.clock(clock).keep_answers(true).stall_guard(test_support::short_guard).verify_on_destruction(false));
  script(gateway);
  std::atomic<bool> is_over{false};
  std::string seen;
  std::thread client([&] {
    Json fields{{"stop", {"three"}}, {"logprobs", true}, {"top_logprobs", 2}};
    if (streamed) fields.update({{"stream", true}, {"stream_options", {{"include_usage", true}}}});
    const Http http = Http(gateway).allow_incomplete();
    for (int request = 0; request < 2; ++request) {
      const Response response = http.post(chat_path, chat_body(fields));
      seen += response.raw + "(" + (response.complete ? "whole" : to_string(response.end)) + ")\n";
    }
    is_over = true;
  });
  while (!is_over) {
    if (clock.wait_for_waits(1, 2ms)) clock.advance_to_next_event();
  }
  client.join();
  CHECK(gateway.journal().wait_until_idle(10s));
  for (const Exchange& exchange : gateway.journal().all()) {
    const SentAnswer answer = *exchange.answer();
    for (const SentAnswer::Part& part : answer.parts) seen += std::to_string(part.at.count()) + " ";
    seen += to_string(answer.ending) + "\n";
    for (const std::string& fault : exchange.faults()) seen += fault + "\n";
  }
  return seen;
}

struct ReplyRow {
  const char* script;
  Reply reply;
};

/// Keys that do not change the received bytes. A separate test covers them.
const Places unseen = {"reply.hold",
                       "reply.hold.gate",
                       "reply.hold.before_token",
                       "reply.hold.before_event",
                       "reply.one_write",
                       "reply.split_write",
                       "reply.slice_writes",
                       "reply.write_each_event",
                       "reply.survives_half_close",
                       "effect.stall_at_gate"};
/// Keys that may accompany a failure in a reply.
const Places beside_a_failure = {"reply.failure",
                                 "reply.retry_after",
                                 "reply.retry_after_text",
                                 "reply.retry_after_date",
                                 "reply.without_retry_after",
                                 "reply.retry_after_ms",
                                 "reply.should_retry",
                                 "reply.type",
                                 "reply.param",
                                 "reply.error_body",
                                 "reply.error_json",
                                 "reply.content_type"};

Places joined(Places all, const Places& more) {
  all.insert(more.begin(), more.end());
  return all;
}

/// Checks for each row that the script's reply equals the C++ reply and differs from a reply without these keys. Adds
/// the keys to `noted`.
void check_replies(const std::vector<ReplyRow>& rows, ScriptRows& noted,
                   const std::vector<bool>& modes = {false, true}) {
  const std::string usual_plain = observed([](Gateway& gateway) { gateway.chat().reply("one twö three"); }, false);
  const std::string usual_stream = observed([](Gateway& gateway) { gateway.chat().reply("one twö three"); }, true);
  for (const ReplyRow& row : rows) {
    CAPTURE(row.script);
    const Json script = script_of(R"("stubs": [{"reply": )" + std::string(row.script) + "}]");
    noted.add(script);
    const ScriptDocument document = ScriptDocument::from_json(script);
    bool differs = false;
    for (const bool streamed : modes) {
      const std::string said =
          observed([&](Gateway& gateway) { static_cast<void>(document.mount(gateway)); }, streamed);
      CHECK(said == observed([&](Gateway& gateway) { gateway.chat().reply(row.reply); }, streamed));
      differs = differs || said != (streamed ? usual_stream : usual_plain);
    }
    CHECK(differs);
  }
}

const Reply words = text("one twö three");

/// The reply with the usual text and additional keys.
#define BESIDE(keys) R"({"text": "one twö three", )" keys "}"
#define FAULT(keys) BESIDE(R"("faults": [{)" keys "}]")
#define SSE(keys) BESIDE(R"("sse": {)" keys "}")

TEST_CASE("each trigger and effect in a script equals the C++ function of its name") {
  const std::vector<ReplyRow> rows = {
      {FAULT(R"("before_headers": true, "effect": "close_connection")"),
       words.fault(before_headers(), close_connection())},
      {FAULT(R"("after_headers": true, "effect": "reset_connection")"),
       words.fault(after_headers(), reset_connection())},
      {FAULT(R"("after_events": 2, "effect": "half_close")"), words.fault(after_events(2), half_close())},
      {FAULT(R"("inside_event": [2, 9], "effect": "truncate")"), words.fault(inside_event(2, 9), truncate())},
      {FAULT(R"("after_bytes": 40, "effect": "close_connection")"), words.fault(after_bytes(40), close_connection())},
      {FAULT(R"("inside_character": 3, "effect": "close_connection")"),
       words.fault(inside_character(3), close_connection())},
      {FAULT(R"("before_done": true, "effect": "stall")"), words.fault(before_done(), stall())},
      {FAULT(R"("after_events": 1, "effect": {"stall": "3s"})"), words.fault(after_events(1), stall(3s))},
      {FAULT(R"("after_tokens": 1, "effect": {"garbage": "x y"})"), words.fault(after_tokens(1), garbage("x y"))},
      {FAULT(R"("after_tokens": 1, "effect": {"garbage_base64": "AQL/"})"),
       words.fault(after_tokens(1), garbage("\x01\x02\xff"))},
      {FAULT(R"("after_events": 2, "effect": "skip_event")"), words.fault(after_events(2), skip_event())},
      {FAULT(R"("after_events": 2, "effect": "duplicate_event")"), words.fault(after_events(2), duplicate_event())},
      {FAULT(R"("after_tokens": 1, "effect": {"error_event": {"a": 1}})"),
       words.fault(after_tokens(1), error_event(Json{{"a", 1}}))},
      {FAULT(R"("after_tokens": 1, "effect": {"error_event_failure": "overloaded"})"),
       words.fault(after_tokens(1), error_event(overloaded()))},
      {FAULT(R"("before_headers": true, "effect": {"wrong_content_length": -3})"),
       words.fault(before_headers(), wrong_content_length(-3))},
      {FAULT(R"("after_tokens": 1, "effect": {"stall": "1s"}}, {"after_tokens": 2, "effect": "close_connection")"),
       words.fault(after_tokens(1), stall(1s)).fault(after_tokens(2), close_connection())},
  };
  ScriptRows noted;
  check_replies(rows, noted);
  // A client that has received a whole body closes its connection.
  check_replies({{FAULT(R"("at_end": true, "effect": {"stall": "3s"})"), words.fault(at_end(), stall(3s))},
                 {FAULT(R"("at_end": true, "effect": "reset_connection")"), words.fault(at_end(), reset_connection())}},
                noted, {true});
  CHECK(listed(noted.missing({"fault", "effect"}, unseen)) == "");
}

TEST_CASE("each dialect setting in a script equals the C++ setter of its name") {
  const SseDialect usual;
  const std::vector<ReplyRow> rows = {
      {SSE(R"("line_end": "\r")"), words.sse(usual.line_end("\r"))},
      {SSE(R"("line_end": "\r\n")"), words.sse(usual.line_end("\r\n"))},
      {SSE(R"("space_after_colon": false)"), words.sse(usual.space_after_colon(false))},
      {SSE(R"("done": false)"), words.sse(usual.done(false))},
      {SSE(R"("content_type": "text/plain")"), words.sse(usual.content_type("text/plain"))},
      {SSE(R"("byte_order_mark": true)"), words.sse(usual.byte_order_mark(true))},
      {SSE(R"("event": "delta")"), words.sse(usual.event("delta"))},
      {SSE(R"("ids": true)"), words.sse(usual.ids(true))},
      {SSE(R"("retry": "3s")"), words.sse(usual.retry(3s))},
      {SSE(R"("multi_line_data": true)"), words.sse(usual.multi_line_data(true))},
      {SSE(R"("comment": "hi")"), words.sse(usual.comment("hi"))},
      {BESIDE(R"("first_token_after": "2500ms", "sse": {"ping_every": "1s", "ping": ": still here"})"),
       words.first_token_after(2500ms).sse(usual.ping_every(1s).ping(": still here"))},
      {SSE(R"("final_blank_line": false)"), words.sse(usual.final_blank_line(false))},
      {SSE(R"("trailer": "x-a: b\nx-c: d")"), words.sse(usual.trailer("x-a: b\nx-c: d"))},
      {SSE(R"("after_done": "late")"), words.sse(usual.after_done("late"))},
      {SSE(R"("open_after_done": true)"), words.sse(usual.open_after_done(true))},
      {SSE(R"("gzip": true)"), words.sse(usual.gzip(true))},
  };
  ScriptRows noted;
  check_replies(rows, noted);
  CHECK(listed(noted.missing({"sse"}, {"sse.line_end=\n"})) == "");  // the default line end has no row
}

TEST_CASE("each completion key in a script equals the C++ call of its name") {
  const std::vector<ReplyRow> rows = {
      {BESIDE(R"("first_token_after": "1s")"), words.first_token_after(1s)},
      {BESIDE(R"("every": "20ms")"), words.every(20ms)},
      {BESIDE(R"("tokens_per_second": 4)"), words.tokens_per_second(4)},
      {BESIDE(R"("chunked": "characters")"), words.chunked(by_characters(1))},
      {BESIDE(R"("chunked": {"tokens": 2})"), words.chunked(by_tokens(2))},
      {BESIDE(R"("chunked": {"words": 3})"), words.chunked(by_words(3))},
      {BESIDE(R"("chunked": {"bytes": 5})"), words.chunked(by_bytes(5))},
      {R"({"text": "ab", "chunked": {"pieces": ["a", "b"]}})", text("ab").chunked(by_pieces({"a", "b"}))},
      {BESIDE(R"("usage": {"prompt_tokens": 3, "completion_tokens": 4})"), words.usage(TokenUsage(3, 4))},
      {BESIDE(R"("usage": {"prompt_tokens": 3, "completion_tokens": 4, "total": 9, "reasoning": 1, "cached": 2})"),
       words.usage(TokenUsage(3, 4).total(9).reasoning(1).cached(2))},
      {BESIDE(R"("usage_json": {"tokens": "many"})"), words.usage(Json{{"tokens", "many"}})},
      {BESIDE(R"("logprobs": [-0.5, {"logprob": -1.5}, {"logprob": -2, "top": [{"token": "b", "logprob": -3}]}])"),
       words.logprobs({-0.5, TokenLogprob(-1.5), TokenLogprob(-2, {{"b", -3}})})},
      {BESIDE(R"("finish_reason": "content_filter")"), words.finish_reason("content_filter")},
      {BESIDE(R"("finish_in_last_chunk": true)"), words.finish_in_last_chunk()},
      {BESIDE(R"("model": "another")"), words.model("another")},
      {BESIDE(R"("extra": {"a": 1})"), words.extra({{"a", 1}})},
      {BESIDE(R"("extra_message": {"a": 1})"), words.extra_message({{"a", 1}})},
      {BESIDE(R"("extra_chunks": [{"number": 2, "fields": {"a": 1}}])"), words.extra_chunk(2, {{"a", 1}})},
      {BESIDE(R"("verbatim": true)"), words.verbatim()},
      {R"({"text": "call {{count}}", "template": true})", text("call {{count}}").templated()},
      {BESIDE(R"("headers": {"X-A": "1", "X-B": ["2", "3"]})"),
       words.header("X-A", "1").add_header("X-B", "2").add_header("X-B", "3")},
      {BESIDE(R"("early_hints": {"Link": "</a>"})"), words.early_hints({{"Link", "</a>"}})},
      {BESIDE(R"("thinking": "Hm.")"), words.thinking("Hm.")},
      {BESIDE(R"("http_chunks_of": 7)"), words.http_chunks_of(7)},
      {R"({"thinking": "Hm."})", thinking("Hm.")},
      {R"({"refusal": "No."})", refusal("No.")},
      {R"({"json_text": {"b": 1, "a": [null, 2.5]}})", json_text({{"b", 1}, {"a", {nullptr, 2.5}}})},
      {R"({"tool_call": {"name": "f", "arguments": {"a": 1}}})", tool_call("f", {{"a", 1}})},
      {R"({"tool_calls": [{"name": "f"}, {"name": "g", "malformed_arguments": "{"}], "interleaved": true})",
       tool_call("f").malformed_tool_call("g", "{").interleaved()},
      {R"({"tool_call": {"name": "f", "input": "x", "id": "call_7"}})", custom_tool_call("f", "x", "call_7")},
      {R"({"chunks": [{"json": {"a": 1}, "at": "5ms"}, {"raw_bytes": ": b\n\n"}, {"event": "id: 7", "at": "1m"}]})",
       chunks({json_chunk({{"a", 1}}).at(5ms), raw_bytes(": b\n\n"), event("id: 7").at(1min)})},
      {R"({"raw_reply": {"status": 207, "json": {"a": 1}}})", raw_reply(207, Json{{"a", 1}})},
      {R"({"raw_reply": {"body": "a", "content_type": "text/plain"}})", raw_reply(200, "a", "text/plain")},
      {R"({"raw_reply": {}})", raw_reply(200, "")},
      {R"({"text": "a, b; c", "chunked": "tokens"})", text("a, b; c").chunked(by_tokens())},
      {R"({"text": "a, b; c", "chunked": "words"})", text("a, b; c").chunked(by_words())},
      {BESIDE(R"("chunked": {"characters": 2})"), words.chunked(by_characters(2))},
      {R"({"raw_reply": {"base64": "AQL/"}})", raw_reply(200, "\x01\x02\xff")},
      {R"({"chunks": [{"raw_base64": "AQL/"}]})", chunks({raw_bytes("\x01\x02\xff")})},
      {R"({"choices": ["one", {"text": "two"}]})", choices("one", "two")},
  };
  ScriptRows noted;
  check_replies(rows, noted);
  const Json scenario_alone =
      script_of(R"("stubs": [{"reply": {"scenario": "usage-chunk-without-choices"}}, {"reply": {"default": true}}])");
  noted.add(scenario_alone);
  CHECK(observed([&](Gateway& gateway) { gateway.load(scenario_alone); }, true) ==
        observed([](Gateway& gateway) { scenario("usage-chunk-without-choices").mount(gateway); }, true));
  const Json usual = script_of(R"("stubs": [{"reply": {"default": true}}])");
  for (const bool streamed : {false, true})
    CHECK(observed([&](Gateway& gateway) { gateway.load(usual); }, streamed) == observed([](Gateway&) {}, streamed));
  // The tests above cover faults and dialects, asked_replies_test.cpp covers "ask".
  const Places elsewhere = joined(joined({"reply.faults", "reply.sse", "reply.ask"}, unseen), beside_a_failure);
  CHECK(listed(noted.missing({"reply", "tool_call", "chunking"}, elsewhere)) == "");
}

TEST_CASE("holds, stalls at gates and write settings in a script equal the C++ calls of their names") {
  const Gate gate;
  const ReplyRow rows[] = {
      {BESIDE(R"("hold": {"gate": "g", "before_token": 2})"), words.hold(gate, before_token(2))},
      {BESIDE(R"("hold": {"gate": "g", "before_event": 3})"), words.hold(gate, before_event(3))},
      {BESIDE(R"("hold": [{"gate": "g", "before_event": 3}, {"gate": "h", "before_token": 2}])"),
       words.hold(gate, before_event(3)).hold(gate, before_token(2))},
      {FAULT(R"("after_tokens": 1, "effect": {"stall_at_gate": "g"})"), words.fault(after_tokens(1), stall(gate))},
      {BESIDE(R"("one_write": true)"), words.one_write()},
      {BESIDE(R"("split_write": 7)"), words.split_write(7)},
      {BESIDE(R"("slice_writes": 5)"), words.slice_writes(5)},
      {BESIDE(R"("write_each_event": true)"), words.write_each_event()},
      {BESIDE(R"("survives_half_close": true)"), words.survives_half_close()},
  };
  const auto inside = [](const Reply& reply) {
    const detail::ReplyData& data = detail::Access::data(reply);
    std::string seen = std::to_string(static_cast<int>(data.writes.kind)) + " " + std::to_string(data.writes.size);
    if (data.survives_half_close) seen += " survives";
    for (const Hold& hold : data.holds) seen += ", " + hold.place.to_string();
    for (const Fault& fault : data.faults) seen += ", " + fault.trigger.to_string() + " " + fault.effect.to_string();
    return seen;
  };
  ScriptRows noted;
  for (const ReplyRow& row : rows) {
    CAPTURE(row.script);
    const Json script = script_of(R"("stubs": [{"reply": )" + std::string(row.script) + "}]");
    noted.add(script);
    Gateway gateway(Options{}.verify_on_destruction(false));
    const LoadedScript loaded = gateway.load(script);
    const Stub stub = loaded.stubs().front();
    const std::string said = inside(*detail::Access::state(stub)->plan().replies.at(0).reply);
    CHECK(said == inside(row.reply));
    CHECK(said != inside(words));
  }
  const Places missing = noted.missing({"reply", "effect"});
  for (const std::string& place : unseen) {
    CAPTURE(place);
    CHECK(missing.count(place) == 0);
  }
}

TEST_CASE("failures in a script and their keys equal the C++ calls of their names") {
  const Failure own = failure(418, "teapot", "short");
  const auto own_with = [](const std::string& keys) {
    return R"({"failure": {"status": 418, "code": "teapot", "message": "short"}, )" + keys + "}";
  };
  struct Row {
    std::string script;
    Failure failure;
  };
  std::vector<Row> rows = {
      {own_with(R"("retry_after": "1500us")"), own.retry_after(1500us)},
      {own_with(R"("retry_after": "7000000ns")"), own.retry_after(7ms)},
      {own_with(R"("retry_after": "2.25s")"), own.retry_after(2250ms)},
      {own_with(R"("retry_after": "1.5m")"), own.retry_after(90s)},
      {own_with(R"("retry_after_text": "soon")"), own.retry_after("soon")},
      {own_with(R"("retry_after_date": "2h")"), own.retry_after_date(2h)},
      {R"({"failure": "rate_limited", "without_retry_after": true})", rate_limited().without_retry_after()},
      {R"({"failure": {"status": 429, "code": "slow", "message": "m"}})", failure(429, "slow", "m")},
      {own_with(R"("retry_after_ms": "250ms")"), own.retry_after_ms(250ms)},
      {own_with(R"("should_retry": true)"), own.should_retry(true)},
      {own_with(R"("type": "kind")"), own.type("kind")},
      {own_with(R"("param": "messages")"), own.param("messages")},
      {own_with(R"("error_body": "b")"), own.body("b")},
      {own_with(R"("error_body": "b", "content_type": "text/html")"), own.body("b", "text/html")},
      {own_with(R"("error_json": [1])"), own.json_body({1})},
      {R"({"failure": 200})", failure(200, "forced_failure", "this failure was forced")},
      {R"({"failure": 599})", failure(599, "forced_failure", "this failure was forced")},
  };
  const std::pair<const char*, Failure> named[] = {{"bad_request", bad_request()},
                                                   {"unauthorized", unauthorized()},
                                                   {"forbidden", forbidden()},
                                                   {"not_found", not_found()},
                                                   {"request_timeout", request_timeout()},
                                                   {"conflict", conflict()},
                                                   {"rate_limited", rate_limited()},
                                                   {"server_error", server_error()},
                                                   {"bad_gateway", bad_gateway()},
                                                   {"service_unavailable", service_unavailable()},
                                                   {"gateway_timeout", gateway_timeout()},
                                                   {"overloaded", overloaded()}};
  for (const auto& [name, failure] : named) {
    rows.push_back({R"({"failure": ")" + std::string(name) + "\"}", failure});
    rows.push_back({R"({"failure": )" + std::to_string(failure.status()) + "}", failure});
  }
  ScriptRows noted;
  for (const Row& row : rows) check_replies({{row.script.c_str(), row.failure}}, noted);
  CHECK(listed(noted.missing({"failure"})) == "");
  const Places missing = noted.missing({"reply"});
  for (const std::string& place : beside_a_failure) {
    CAPTURE(place);
    CHECK(missing.count(place) == 0);
  }
}

TEST_CASE("base64 in a script is read with any alphabet and padding") {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string bytes;
  for (int first = 0; first < 64; ++first)  // every digit in each of the four positions
    for (int byte = 0; byte < 3; ++byte) bytes += static_cast<char>(first * 7 + byte * 85 + first / 4);
  const auto encoded = [](const std::string& plain, const std::string& alphabet, bool padded) {
    std::string text;
    for (std::size_t at = 0; at < plain.size(); at += 3) {
      const std::string group = plain.substr(at, 3);
      unsigned bits = 0;
      for (std::size_t byte = 0; byte < 3; ++byte)
        bits = bits << 8 | (byte < group.size() ? static_cast<unsigned char>(group[byte]) : 0U);
      for (std::size_t digit = 0; digit < 4; ++digit) {
        if (digit <= group.size())
          text += alphabet[bits >> (18 - 6 * digit) & 63U];
        else if (padded)
          text += '=';
      }
    }
    return text;
  };
  for (const std::string& alphabet : {letters + "+/", letters + "-_"}) {
    for (const bool padded : {false, true}) {
      for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, bytes.size()}) {
        const std::string text = encoded(bytes.substr(bytes.size() - size), alphabet, padded);
        CAPTURE(text);
        Gateway gateway;
        gateway.load(script_of(R"("stubs": [{"reply": {"raw_reply": {"base64": ")" + text + "\"}}}]"));
        CHECK(Http(gateway).chat().body == bytes.substr(bytes.size() - size));
      }
    }
  }
}

/// Returns the conditions of the only stub with the values of a request that does not match all of them.
std::string conditions_beside(const std::function<void(Gateway&)>& script) {
  Gateway gateway(Options{}.unmatched(Unmatched::allowed).verify_on_destruction(false));
  gateway.keys().create("billing");
  script(gateway);
  REQUIRE(Http(gateway).chat().status == 422);
  const std::vector<NearMiss> near = gateway.journal().last().near_misses();
  REQUIRE(near.size() == 1);
  std::string lines;
  for (const NearMiss::Condition& condition : near[0].conditions) {
    lines += std::to_string(condition.depth) + (condition.holds.value_or(false) ? " ✔ " : " ✘ ") + condition.expected +
             " / " + condition.actual + "\n";
  }
  return lines;
}

TEST_CASE("each matcher in a script equals the C++ matcher of its name") {
  const std::pair<const char*, Matcher> rows[] = {
      {R"("user_says": "x")", user_says("x")},
      {R"("user_says": {"contains": "x"})", user_says(contains("x"))},
      {R"("user_says": {"equals": "x"})", user_says(equals("x"))},
      {R"("user_says": {"starts_with": "x"})", user_says(starts_with("x"))},
      {R"("user_says": {"ends_with": "x"})", user_says(ends_with("x"))},
      {R"("user_says": {"matches_regex": "^x+$"})", user_says(matches_regex("^x+$"))},
      {R"("user_says": {"not": "H"})", user_says(!contains("H"))},
      {R"("user_says": {"any": ["x", {"equals": "y"}, "z"]})",
       user_says(contains("x") || equals("y") || contains("z"))},
      {R"("user_says": {"all": ["H", {"equals": "y"}, "z"]})",
       user_says(contains("H") && equals("y") && contains("z"))},
      {R"("user_says": {"contains": "H", "ends_with": "y"})", user_says(contains("H") && ends_with("y"))},
      {R"("system_says": "x")", system_says("x")},
      {R"("system_says": {"any_text": true})", system_says(any_text())},
      {R"("any_message_says": "x")", any_message_says("x")},
      {R"("message_is": {"position": -1, "role": "tool"})", message_is(-1, "tool")},
      {R"("message_is": {"position": 0, "role": "user", "text": "x"})", message_is(0, "user", "x")},
      {R"("turns_are": 2)", turns_are(2)},
      {R"("messages_are": {"at_least": 3})", messages_are(at_least(3))},
      {R"("last_is_tool_result": true)", last_is_tool_result()},
      {R"("not": {"last_is_tool_result": false})", !!last_is_tool_result()},
      {R"("tool_result": "f")", tool_result("f")},
      {R"("tool_result": {"tool": "f"})", tool_result("f")},
      {R"("tool_result": {"tool": "f", "text": "x"})", tool_result("f", "x")},
      {R"("tool_result_of": "call_1")", tool_result_of("call_1")},
      {R"("tool_result_of": {"call_id": "call_1", "text": {"equals": "x"}})", tool_result_of("call_1", equals("x"))},
      {R"("model_is": "other")", model_is("other")},
      {R"("stream_is": true)", stream_is(true)},
      {R"("include_usage_is": true)", include_usage_is(true)},
      {R"("temperature_is": {"between": [0.5, 1]})", temperature_is(between(0.5, 1))},
      {R"("top_p_is": {"at_most": 0.5})", top_p_is(at_most(0.5))},
      {R"("max_tokens_is": 7)", max_tokens_is(7)},
      {R"("presence_penalty_is": -1)", presence_penalty_is(-1)},
      {R"("repetition_penalty_is": 1.5)", repetition_penalty_is(1.5)},
      {R"("n_is": 2)", n_is(2)},
      {R"("seed_is": -7)", seed_is(-7)},
      {R"("has_stop": "END")", has_stop("END")},
      {R"("has_tool": "f")", has_tool("f")},
      {R"("tools_are": 1)", tools_are(1)},
      {R"("tool_choice_is": "auto")", tool_choice_is("auto")},
      {R"("parallel_tool_calls_is": false)", parallel_tool_calls_is(false)},
      {R"("response_format_is": "json_object")", response_format_is("json_object")},
      {R"("response_format_is": "json_schema")", response_format_is("json_schema")},
      {R"("not": {"response_format_is": "text"})", !response_format_is("text")},
      {R"("response_schema_is": "city")", response_schema_is("city")},
      {R"("enable_thinking_is": false)", enable_thinking_is(false)},
      {R"("logprobs_is": true)", logprobs_is(true)},
      {R"("has_field": "user")", has_field("user")},
      {R"("json_at": {"pointer": "/model", "value": null})", json_at("/model", nullptr)},
      {R"("json_text_at": {"pointer": "/model", "text": "x"})", json_text_at("/model", "x")},
      {R"("body_includes": {"user": "me"})", body_includes({{"user", "me"}})},
      {R"("any_at": {"pointer": "/tools", "match": {"has_field": "x", "not": {"json_at": {"pointer": "", "value": 1}}}})",
       any_at("/tools", has_field("x"), !json_at("", 1))},
      {R"("not": {"any_at": {"pointer": "", "match": {"any_at": {"pointer": "", "match": {"has_field": "role"}}}}})",
       !any_at("", any_at("", has_field("role")))},
      {R"("prompt_tokens_are": {"between": [5, 6]})", prompt_tokens_are(between(5, 6))},
      {R"("body_bytes_are": {"at_most": 9})", body_bytes_are(at_most(9))},
      {R"("has_header": "X-Test")", has_header("X-Test")},
      {R"("has_header": {"name": "X-Test"})", has_header("X-Test")},
      {R"("has_header": {"name": "Content-Type", "value": "x"})", has_header("Content-Type", "x")},
      // Such a condition alone would assign the stub to another test, so it would not be reported. It is in "any".
      {R"("any": [{"header_is": {"name": "X-Test", "value": "x"}}, {"n_is": 2}])", header_is("X-Test", "x") || n_is(2)},
      {R"("any": [{"key_is": "billing"}, {"n_is": 2}])", key_is("billing") || n_is(2)},
      {R"("has_query": "q")", has_query("q")},
      {R"("has_query": {"name": "q", "value": {"equals": "1"}})", has_query("q", equals("1"))},
      {R"("any": [{"model_is": "a"}, {"n_is": 2, "seed_is": 3}])", model_is("a") || (n_is(2) && seed_is(3))},
      {R"("any": [{"model_is": "a"}])", model_is("a")},
      {R"("not": {"model_is": "mock-model"})", !model_is("mock-model")},
      {R"("not": {"n_is": 1, "stream_is": false})", !(n_is(1) && stream_is(false))},
  };
  ScriptRows noted;
  for (const auto& row : rows) {
    const std::string script = row.first;
    CAPTURE(script);
    const Json document = script_of(R"("stubs": [{"when": {)" + script + R"(}, "reply": "x"}])");
    noted.add(document);
    const std::string of_script = conditions_beside([&](Gateway& gateway) { gateway.load(document); });
    CHECK(of_script == conditions_beside([&](Gateway& gateway) { gateway.chat().when(row.second).reply("x"); }));
  }
  const Json all = script_of(R"("stubs": [{"when": {"all": [{"n_is": 1}, {"n_is": 2}]}, "reply": "x"}])");
  noted.add(all);
  CHECK(conditions_beside([&](Gateway& gateway) { gateway.load(all); }) ==
        conditions_beside([](Gateway& gateway) { gateway.chat().when(n_is(1), n_is(2)).reply("x"); }));
  CHECK(listed(noted.missing({"when", "text_matcher", "range"})) == "");
}

TEST_CASE("each gateway key in a script equals the option of its name") {
  ScriptRows noted;
  const auto values = [&](const std::string& keys) {
    const Json script = script_of(R"("gateway": {)" + keys + "}");
    noted.add(script);
    return detail::Access::data(ScriptDocument::from_json(script).options());
  };
  CHECK(values(R"("host": "localhost")").host == "localhost");
  CHECK(values(R"("port": 65535)").port == 65535);
  CHECK(detail::Access::values(values(R"("api_key": "sk-mine-0123")").default_key).secret == "sk-mine-0123");
  const auto key = detail::Access::values(
      values(R"("api_key": "sk-mine-0123", "default_key": {"limit_concurrent": 2, "deleted_after": 3})").default_key);
  CHECK(key.secret == "sk-mine-0123");
  CHECK(key.limit_concurrent == 2);
  CHECK(key.deleted_after_requests == 3);
  CHECK(values(R"("seed": 7)").seed == 7);
  CHECK(values(R"("max_n": 4)").max_n == 4);
  CHECK(values(R"("max_body": 4000)").max_body == 4000);
  CHECK(values(R"("max_head": 2048)").max_head == 2048);
  CHECK(values(R"("journal_limits": {"entries": 10, "bytes": 2000})").journal_entries == 10);
  CHECK(values(R"("journal_limits": {"entries": 10, "bytes": 2000})").journal_bytes == 2000);
  CHECK(values(R"("keep_answers": true)").keep_answers);
  CHECK(values(R"("read_timeout": "1s")").read_timeout == 1s);
  CHECK(values(R"("head_timeout": "2s")").head_timeout == 2s);
  CHECK(values(R"("body_timeout": "3s")").body_timeout == 3s);
  CHECK(values(R"("write_timeout": "4s")").write_timeout == 4s);
  CHECK(values(R"("idle_timeout": "1ns")").idle_timeout == 1ns);
  CHECK(values(R"("stall_guard": "6s")").stall_guard == Duration(6s));
  CHECK_FALSE(values(R"("stall_guard": "off")").stall_guard.has_value());
  CHECK(values(R"("limit": "60/1m")").limit->requests == 60);
  CHECK(values(R"("limit": "60/1m")").limit->window == 1min);
  CHECK(values(R"("limit_tokens": "6000/1h")").limit_tokens->tokens == 6000);
  CHECK(values(R"("limit_tokens": "6000/1h")").limit_tokens->window == 1h);
  CHECK(values(R"("limit_concurrent": 8)").limit_concurrent == 8);
  CHECK(values(R"("oversized_gets_413": true)").oversized_gets_413);
  CHECK(values(R"("unmatched": "fails_verification")").unmatched == Unmatched::fails_verification);
  CHECK(values(R"("unmatched": "allowed")").unmatched == Unmatched::allowed);
  CHECK(values(R"("unmatched": "gets_default_reply")").unmatched == Unmatched::gets_default_reply);
  CHECK(values(R"("without_findings": ["stop_as_string"])").without_findings ==
        std::vector<std::string>{"stop_as_string"});
  CHECK(values(R"("profile": "documented")").profile == Profile::documented);
  CHECK(values(R"("profile": "openai")").profile == Profile::openai);
  CHECK(values(R"("profile": "dashscope")").profile == Profile::dashscope);
  CHECK(values(R"("profile": "deepseek")").profile == Profile::deepseek);
  CHECK(values(R"("enforce": "openai")").enforce == Profile::openai);
  CHECK(values(R"("enforce": "dashscope")").enforce == Profile::dashscope);
  CHECK(values(R"("enforce": "deepseek")").enforce == Profile::deepseek);
  CHECK(values(R"("profile": "siliconflow")").profile == Profile::siliconflow);
  CHECK(values(R"("profile": "openrouter")").profile == Profile::openrouter);
  CHECK(values(R"("pace": {"chunked": {"words": 2}})").pace.chunking()->count() == 2);
  CHECK(values(R"("models": "any")").any_model);
  CHECK(values(R"("cors": ["http://a", "*"])").cors == std::vector<std::string>{"http://a", "*"});
  CHECK(values(R"("key_headers": ["api-key", "x-key"])").key_headers == std::vector<std::string>{"api-key", "x-key"});
  CHECK(!values(R"("key_required": false)").key_required);
  CHECK(values(R"("base_paths": ["/v2", "/"])").base_paths == std::vector<std::string>{"/v2", "/"});
  CHECK(values(R"("embeddings": true)").embeddings == true);
  CHECK(values(R"("embeddings": false)").embeddings == false);
  const std::vector<wire::Model> models =
      values(R"("models": ["a", {"id": "b", "context_window": 9}, {"id": "c", "owner": "me"}])").models;
  REQUIRE(models.size() == 3);
  CHECK(models[0].id + models[1].id + models[2].id == "abc");
  CHECK(models[0].owner == models[1].owner);
  CHECK(models[2].owner == "me");
  CHECK(models[1].context_window == std::size_t{9});
  CHECK_FALSE(models[2].context_window.has_value());
  CHECK(values(R"("clock": "manual")").clock->now() == ManualClock::default_start);
  const auto answers_after = [&](const std::string& clock, Duration time) {
    noted.add(script_of(R"("gateway": {"clock": ")" + clock + "\"}"));
    Gateway gateway(ScriptDocument::from_json(script_of(R"("gateway": {"clock": ")" + clock + "\"}")).options());
    gateway.chat().reply(text("later").first_token_after(time));
    return test_support::time_of([&] { CHECK(Http(gateway).chat().status == 200); });
  };
  CHECK(answers_after("instant", 10min) < 10min);
  CHECK(answers_after("real", 50ms) >= 50ms);
  Places missing = noted.missing({"script.gateway"});
  for (const std::string& place : noted.missing({"script.gateway.acceptance"})) missing.erase(place);
  for (const std::string& place : noted.missing({"script.gateway.default_key"})) missing.erase(place);  // as in `keys`
  for (const char* const word : {"", "=default", "=lenient", "=openai", "=strict"})
    missing.erase("script.gateway.acceptance" + std::string(word));  // a separate test covers acceptance
  CHECK(listed(missing) == "");
}

TEST_CASE("each acceptance switch in a script equals the C++ switch of its name, including its base") {
  const std::pair<const char*, Extension> switches[] = {
      {"bearer_in_any_case", Extension::bearer_in_any_case},
      {"unknown_fields", Extension::unknown_fields},
      {"openai_fields", Extension::openai_fields},
      {"tool_role", Extension::tool_role},
      {"developer_role", Extension::developer_role},
      {"null_content_with_tool_calls", Extension::null_content_with_tool_calls},
      {"text_parts", Extension::text_parts},
      {"other_parts", Extension::other_parts},
      {"tool_calls_in_messages", Extension::tool_calls_in_messages},
      {"stop_as_string", Extension::stop_as_string},
      {"tool_choice_required", Extension::tool_choice_required},
      {"allowed_tools", Extension::allowed_tools},
      {"json_schema_without_schema", Extension::json_schema_without_schema},
      {"custom_tools", Extension::custom_tools},
      {"max_completion_tokens", Extension::max_completion_tokens},
      {"logprobs", Extension::logprobs},
      {"null_as_absent", Extension::null_as_absent},
      {"stream_options_without_stream", Extension::stream_options_without_stream},
      {"model_by_id", Extension::model_by_id},
      {"content_type_parameters", Extension::content_type_parameters},
      {"json_as_form", Extension::json_as_form},
      {"anything_with_model_and_messages", Extension::anything_with_model_and_messages},
  };
  const std::pair<const char*, Acceptance> bases[] = {{"strict", Acceptance::strict()},
                                                      {"default", Acceptance()},
                                                      {"lenient", Acceptance::lenient()},
                                                      {"openai", Acceptance::openai()}};
  ScriptRows noted;
  const auto read = [&](const std::string& value) {
    const Json script = script_of(R"("gateway": {"acceptance": )" + value + "}");
    noted.add(script);
    return *detail::Access::data(ScriptDocument::from_json(script).options()).acceptance;
  };
  for (const auto& base : bases) {
    const std::string name = base.first;
    CAPTURE(name);
    const Acceptance alone = read("\"" + name + "\"");
    const Acceptance as_base = read(R"({"base": ")" + name + "\"}");
    for (const auto& one : switches) {
      const std::string key = one.first;
      CAPTURE(key);
      CHECK(alone.has(one.second) == base.second.has(one.second));
      CHECK(as_base.has(one.second) == base.second.has(one.second));
      for (const bool on : {false, true}) {
        const std::string value = on ? "true" : "false";
        const Acceptance changed = read(R"({"base": ")" + name + R"(", ")" + key + "\": " + value + "}");
        for (const auto& other : switches) {
          const bool expected = key == other.first ? on : base.second.has(other.second);
          CHECK(changed.has(other.second) == expected);
        }
      }
    }
  }
  CHECK(listed(noted.missing({"script.gateway.acceptance"})) == "");
}

TEST_CASE("each connection fault and chaos rule in a script equals the C++ call of its name") {
  const auto verified = [](const std::function<void(Gateway&)>& script) {
    Gateway gateway(Options{}.verify_on_destruction(false));
    script(gateway);
    std::string seen = gateway.verify().message();
    const Http http = Http(gateway).allow_incomplete();
    for (int request = 0; request < 3; ++request) {
      http.stream();
      CHECK(gateway.journal().wait_until_idle(10s));
      for (const std::string& strike : gateway.journal().last().chaos()) seen += "\n" + strike;
    }
    return seen;
  };
  const std::pair<const char*, ConnectionFault> faults[] = {
      {R"("reset_on_accept")", reset_on_accept()},
      {R"("close_on_accept")", close_on_accept()},
      {R"("garbage_on_accept")", garbage_on_accept()},
      {R"({"garbage_on_accept": "SSH"})", garbage_on_accept("SSH")},
      {R"("close_when_reused")", close_when_reused()},
      {R"("reset_when_reused")", reset_when_reused()},
      {R"("unsolicited_continue")", unsolicited_continue()},
      {R"("early_hints")", early_hints()},
      {R"({"early_hints": {"X-A": "1"}})", early_hints(wire::Headers{{"X-A", "1"}})},
      {R"({"slow_body": {"bytes": 3, "gap": "7ms"}})", slow_body(3, 7ms)},
      {R"({"reply_before_body": "conflict"})", reply_before_body(conflict())},
      {R"({"reply_then_read_body": "conflict"})", reply_then_read_body(conflict())},
  };
  ScriptRows noted;
  for (const auto& row : faults) {
    const std::string script = row.first;
    CAPTURE(script);
    const Json document = script_of(R"("connections": [{"fault": )" + script + "}]");
    noted.add(document);
    const auto hidden = [](const std::function<void(Gateway&)>& mount) {
      Gateway gateway(Options{}.verify_on_destruction(false));
      mount(gateway);
      const std::string message = gateway.verify().message();
      return message.substr(0, message.rfind(" ("));  // without the place, which differs
    };
    const std::string said = hidden([&](Gateway& gateway) { gateway.load(document); });
    CHECK(said == hidden([&](Gateway& gateway) { gateway.next_connection(row.second); }));
    CHECK(said != "");
  }
  const Effect reset = reset_connection();
  const std::pair<const char*, Chaos> rules[] = {
      {R"("failure": "conflict", "headers": {"X-A": "1"})", Chaos(conflict().header("X-A", "1"))},
      {R"("failure": 500, "retry_after": "3s")", Chaos(server_error().retry_after(3s))},
      {R"("failure": 500, "retry_after_text": "soon")", Chaos(server_error().retry_after("soon"))},
      {R"("failure": 500, "retry_after_date": "2h")", Chaos(server_error().retry_after_date(2h))},
      {R"("failure": 429, "without_retry_after": true)", Chaos(rate_limited().without_retry_after())},
      {R"("failure": 500, "retry_after_ms": "250ms")", Chaos(server_error().retry_after_ms(250ms))},
      {R"("failure": 500, "should_retry": false)", Chaos(server_error().should_retry(false))},
      {R"("failure": 500, "type": "kind")", Chaos(server_error().type("kind"))},
      {R"("failure": 500, "param": "messages")", Chaos(server_error().param("messages"))},
      {R"("failure": 500, "error_body": "b", "content_type": "text/html")",
       Chaos(server_error().body("b", "text/html"))},
      {R"("failure": 500, "error_json": [1])", Chaos(server_error().json_body({1}))},
      {R"("failure": 500, "probability": 0.5)", Chaos(server_error()).probability(0.5)},
      {R"("failure": 500, "nth": 2)", Chaos(server_error()).nth(2)},
      {R"("failure": 500, "first": 2)", Chaos(server_error()).first(2)},
      {R"("failure": 500, "probability": 0.5, "by_request": true)",
       Chaos(server_error()).probability(0.5).by_request()},
      {R"("failure": 500, "when": {"user_says": "x"})", Chaos(server_error()).when(user_says("x"))},
      {R"("failure": 500, "when": {"user_says": "H"})", Chaos(server_error()).when(user_says("H"))},
      {R"("pace": {"every": "1ms"})", Chaos(Pace().every(1ms))},
      {R"("interim": "unsolicited_continue")", Chaos(unsolicited_continue())},
      {R"("interim": "early_hints")", Chaos(early_hints())},
      {R"("interim": {"early_hints": {"X-A": "1"}})", Chaos(early_hints(wire::Headers{{"X-A", "1"}}))},
      {R"("before_headers": true, "effect": "reset_connection")", Chaos(before_headers(), reset)},
      {R"("after_headers": true, "effect": "reset_connection")", Chaos(after_headers(), reset)},
      {R"("after_events": 2, "effect": "reset_connection")", Chaos(after_events(2), reset)},
      {R"("after_tokens": 2, "effect": "reset_connection")", Chaos(after_tokens(2), reset)},
      {R"("after_bytes": 2, "effect": "reset_connection")", Chaos(after_bytes(2), reset)},
      {R"("inside_event": [2, 3], "effect": "reset_connection")", Chaos(inside_event(2, 3), reset)},
      {R"("inside_character": 1, "effect": "reset_connection")", Chaos(inside_character(1), reset)},
      {R"("before_done": true, "effect": "reset_connection")", Chaos(before_done(), reset)},
      {R"("at_end": true, "effect": "reset_connection")", Chaos(at_end(), reset)},
      {R"("at_any_event": 4, "effect": "reset_connection")", Chaos(at_any_event(4), reset)},
      {R"("at_any_token": 4, "effect": "reset_connection")", Chaos(at_any_token(4), reset)},
      {R"("at_any_byte": 90, "effect": "reset_connection")", Chaos(at_any_byte(90), reset)},
  };
  for (const auto& row : rules) {
    const std::string script = row.first;
    CAPTURE(script);
    const Json document = script_of(R"("chaos": [{)" + script + "}]");
    noted.add(document);
    const std::string said = verified([&](Gateway& gateway) { gateway.load(document); });
    CHECK(said == verified([&](Gateway& gateway) { gateway.chaos(row.second); }));
    if (script.find("failure") == std::string::npos) continue;
    const auto answer = [](const std::function<void(Gateway&)>& mount) {
      Gateway gateway(Options{}.clock(ManualClock{}).verify_on_destruction(false));
      mount(gateway);
      return Http(gateway).chat().raw;
    };
    CHECK(answer([&](Gateway& gateway) { gateway.load(document); }) ==
          answer([&](Gateway& gateway) { gateway.chaos(row.second); }));
  }
  CHECK(listed(noted.missing({"connection_fault", "script.chaos"})) == "");
}

#undef SSE
#undef FAULT
#undef BESIDE

}  // namespace script_meanings_test
