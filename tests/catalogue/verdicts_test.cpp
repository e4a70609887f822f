// Verdicts of the catalogue on the result of a client for one scenario, and on a client that handles all scenarios.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace verdicts_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

using Kind = Verdict::Kind;

// --- The verdict -----------------------------------------------------------------------------------------------------

inline ClientOutcome got(std::string text, bool error = false) {
  ClientOutcome outcome;
  outcome.text = std::move(text);
  outcome.error = error;
  return outcome;
}

inline std::string judged(const char* name, const ClientOutcome& outcome) {
  const Verdict verdict = scenario(name).judge(outcome);
  return to_string(verdict.kind()) + (verdict ? "" : " (no)");
}

TEST_CASE("a verdict distinguishes answers, errors, losses, hangs and invented text") {
  const std::string whole = "Zürich 21 °C, 東京 9 °C.";
  ClientOutcome hung = got("Zürich ", true);
  hung.hung = true;
  struct Row {
    const char* name;
    ClientOutcome outcome;
    const char* verdict;
  };
  const std::vector<Row> rows = {
      // The reply is correct.
      {"early-hints", got(whole), "handled"},
      {"early-hints", got("", true), "error surfaced (no)"},
      {"early-hints", got(""), "silent data loss (no)"},
      {"early-hints", got("Zürich "), "silent data loss (no)"},
      {"early-hints", got("Zürich 東京 9 °C."), "silent data loss (no)"},
      {"early-hints", got(whole + whole), "wrong answer (no)"},
      {"early-hints", got(whole.substr(0, 2)), "wrong answer (no)"},  // the text ends within a character
      {"early-hints", got("Z\xEF\xBF\xBDrich"), "wrong answer (no)"},
      {"early-hints", hung, "hang (no)"},
      // There is no complete reply.
      {"closed-in-stream", got("Zürich 21 °C, ", true), "error surfaced"},
      {"closed-in-stream", got("Zürich 21 °C, "), "silent data loss (no)"},
      {"closed-in-stream", got(whole), "silent data loss (no)"},  // the client cannot know the whole text
      {"key-invalid", got("", true), "error surfaced"},
      {"key-invalid", got(""), "silent data loss (no)"},
      {"html-with-200", got("<!DOCTYPE html>"), "wrong answer (no)"},
      {"stalled-body", got("Zürich 21 °C, ", true), "error surfaced"},
      {"stalled-body", hung, "hang (no)"},
      // An answer and an error are both correct.
      {"finish-reason-missing", got(whole), "handled"},
      {"finish-reason-missing", got(whole, true), "error surfaced"},
      {"finish-reason-missing", got("Zürich "), "silent data loss (no)"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.outcome.text);
    CHECK(judged(row.name, row.outcome) == row.verdict);
  }
}

TEST_CASE("tool calls are compared by name and by the meaning of their arguments") {
  const auto called = [](std::vector<wire::ToolCall> calls, std::string text = "") {
    ClientOutcome outcome;
    outcome.text = std::move(text);
    outcome.tool_calls = std::move(calls);
    return outcome;
  };
  const wire::ToolCall zurich{"", "get_weather", R"({ "city": "Z\u00fcrich" })"};
  const wire::ToolCall tokyo{"", "get_weather", R"({"city":"東京"})"};
  const wire::ToolCall time{"", "get_time", "{}"};
  const wire::ToolCall joined{"", "get_weather", R"({"city":"Zürich"}{"city":"東京"})"};
  CHECK(judged("tool-calls-all-index-0", called({zurich, tokyo})) == "handled");
  CHECK(judged("tool-calls-all-index-0", called({zurich})) == "silent data loss (no)");
  CHECK(judged("tool-calls-all-index-0", called({tokyo})) == "silent data loss (no)");
  CHECK(judged("tool-calls-all-index-0", called({})) == "silent data loss (no)");
  CHECK(judged("tool-calls-all-index-0", called({joined})) == "wrong answer (no)");
  CHECK(judged("tool-calls-all-index-0", called({tokyo, zurich})) == "wrong answer (no)");
  CHECK(judged("tool-calls-all-index-0", called({zurich, zurich})) == "wrong answer (no)");
  CHECK(judged("tool-calls-all-index-0", called({tokyo, tokyo})) == "wrong answer (no)");
  CHECK(judged("tool-calls-all-index-0", called({zurich, tokyo, tokyo})) == "wrong answer (no)");
  CHECK(judged("tool-call-arguments-empty", called({time, time})) == "wrong answer (no)");
  CHECK(judged("text-before-tool-call", called({zurich, zurich}, "Let me look.")) == "wrong answer (no)");
  CHECK(judged("tool-calls-all-index-0", called({zurich, tokyo, time})) == "wrong answer (no)");
  // A client that adds each fragment to the most recent call.
  CHECK(judged("tool-calls-interleaved", called({{"call_1", "get_weather", ""},
                                                 {"call_2", "get_weather", R"({"city":{"city":"Zürich"}"東京"})"}})) ==
        "wrong answer (no)");
  CHECK(judged("tool-call-arguments-empty", called({time})) == "handled");
  CHECK(judged("tool-call-arguments-empty", called({{"", "get_time", ""}})) == "handled");
  CHECK(judged("tool-call-arguments-as-object", called({{"", "get_weather", "{}"}})) == "silent data loss (no)");
  CHECK(judged("tool-call-arguments-broken", called({{"", "get_weather", R"({"city":"Zü)"}})) == "handled");
  CHECK(judged("tool-call-arguments-broken", called({{"", "get_weather", R"({"city":"Zürich"})"}})) ==
        "wrong answer (no)");
  CHECK(judged("tool-call-id-and-name-repeated", called({{"", "get_weatherget_weather", zurich.arguments}})) ==
        "wrong answer (no)");
  CHECK(judged("text-before-tool-call", called({zurich}, "Let me look.")) == "handled");
  CHECK(judged("text-before-tool-call", called({zurich})) == "silent data loss (no)");
  CHECK(judged("early-hints", called({time}, "Zürich 21 °C, 東京 9 °C.")) == "wrong answer (no)");
}

TEST_CASE("text shown before an error must match the sent text, in order and once") {
  const std::string whole = "Zürich 21 °C, 東京 9 °C.";
  const std::string some = "Zürich 21 °C, ";
  const auto text_and_error = [](std::string text, int tries = 1) {
    ClientOutcome outcome = got(std::move(text), true);
    outcome.tries = tries;
    return outcome;
  };
  struct Row {
    const char* name;
    ClientOutcome outcome;
    const char* verdict;
  };
  const std::vector<Row> rows = {
      {"closed-in-stream", text_and_error(""), "error surfaced"},
      {"closed-in-stream", text_and_error("Z"), "error surfaced"},
      {"closed-in-stream", text_and_error(some), "error surfaced"},
      // Clients may receive different amounts before the break.
      {"closed-in-stream", text_and_error(whole), "error surfaced"},
      {"closed-in-stream", text_and_error(some + some), "wrong answer (no)"},
      {"closed-in-stream", text_and_error("21 °C, "), "wrong answer (no)"},
      {"closed-in-stream", text_and_error("Zürich 東京"), "wrong answer (no)"},
      {"closed-in-stream", text_and_error("It is sunny."), "wrong answer (no)"},
      {"closed-in-stream", text_and_error(whole + " And more."), "wrong answer (no)"},
      {"closed-in-stream", text_and_error(" Zürich"), "wrong answer (no)"},
      {"closed-inside-character", text_and_error("Z\xC3"), "wrong answer (no)"},
      {"closed-inside-character", text_and_error("Z\xEF\xBF\xBD"), "wrong answer (no)"},
      {"closed-inside-character", text_and_error("Z"), "error surfaced"},
      // A client that retried may show the text of the last attempt or the joined text of all attempts.
      {"closed-in-stream", text_and_error(some, 2), "error surfaced"},
      {"closed-in-stream", text_and_error(some + some, 2), "error surfaced"},
      {"closed-in-stream", text_and_error(some + "Zürich ", 3), "error surfaced"},
      {"closed-in-stream", text_and_error(some + some + some, 2), "wrong answer (no)"},
      {"closed-in-stream", text_and_error(some + some + some, 3), "error surfaced"},
      {"closed-in-stream", text_and_error(some + "21", 2), "wrong answer (no)"},
      {"closed-in-stream", text_and_error(some + some, 0), "wrong answer (no)"},
      {"closed-in-stream", text_and_error("It is sunny.", 1'000'000'000), "wrong answer (no)"},
      // If each first attempt fails, its text may appear once, but not twice.
      {"server-error-then-answer", text_and_error(some, 2), "error surfaced"},
      {"server-error-then-answer", text_and_error(some + some, 2), "wrong answer (no)"},
      {"server-error-then-answer", text_and_error(some + some, 4), "error surfaced"},
      {"stream-broken-then-answer", text_and_error(some), "error surfaced"},
      {"stream-broken-then-answer", text_and_error(some + some, 2), "error surfaced"},
      {"stream-broken-then-answer", text_and_error(some + whole, 2), "error surfaced"},
      {"stream-broken-then-answer", text_and_error(whole + some, 2), "wrong answer (no)"},
      {"stream-broken-then-answer", text_and_error(some + some, 1), "wrong answer (no)"},
      // The scenario never sent this text.
      {"invalid-json", text_and_error(some + "9 °C."), "error surfaced"},
      {"invalid-json", text_and_error(some + "9 °C. "), "wrong answer (no)"},
      {"data-after-done", text_and_error(whole + " And"), "error surfaced (no)"},
      // If no text was sent, the client must not show any.
      {"html-with-200", text_and_error("<!DOCTYPE html>"), "wrong answer (no)"},
      {"key-invalid", text_and_error("unauthorized"), "wrong answer (no)"},
      {"key-invalid", text_and_error("", 3), "error surfaced"},
      {"early-hints", text_and_error(some + some), "wrong answer (no)"},
      {"event-longer-than-64-kib", text_and_error(std::string(100'000, 'x')), "error surfaced (no)"},
      {"event-longer-than-64-kib", text_and_error(std::string(100'001, 'x')), "wrong answer (no)"},
      {"event-longer-than-64-kib", text_and_error(std::string(100'001, 'x'), 2), "error surfaced (no)"},
      {"event-longer-than-64-kib", text_and_error(std::string(200'001, 'x'), 2), "wrong answer (no)"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.outcome.text.substr(0, 100));
    CAPTURE(row.outcome.tries);
    CHECK(judged(row.name, row.outcome) == row.verdict);
  }
  // Without an error, the text must be the complete reply exactly once.
  ClientOutcome twice = got(some + whole);
  twice.tries = 2;
  CHECK(judged("stream-broken-then-answer", twice) == "wrong answer (no)");
  twice.text = whole;
  CHECK(judged("stream-broken-then-answer", twice) == "handled");
}

TEST_CASE("an invented tool call is a wrong answer, even if an error follows") {
  ClientOutcome outcome = got("", true);
  const wire::ToolCall zurich{"", "get_weather", R"({"city":"Zürich"})"};
  outcome.tool_calls = {zurich};
  CHECK(judged("tool-call-without-id", outcome) == "error surfaced");
  outcome.tool_calls = {{"", "get_weather", R"({"city":)"}};
  CHECK(judged("tool-call-without-id", outcome) == "error surfaced");
  outcome.tool_calls = {{"", "get_time", "{}"}};
  CHECK(judged("tool-call-without-id", outcome) == "wrong answer (no)");
  outcome.tool_calls = {zurich, zurich};
  CHECK(judged("tool-call-without-id", outcome) == "wrong answer (no)");
  outcome.tries = 2;
  CHECK(judged("tool-call-without-id", outcome) == "error surfaced");
  CHECK(judged("closed-in-stream", outcome) == "wrong answer (no)");
  // An attempt may have made only the first of two calls, but not the calls in the wrong order.
  const wire::ToolCall tokyo{"", "get_weather", R"({"city":"東京"})"};
  CHECK(judged("tool-calls-all-index-0", outcome) == "error surfaced");
  outcome.tool_calls = {zurich, zurich, zurich};
  CHECK(judged("tool-calls-all-index-0", outcome) == "wrong answer (no)");
  outcome.tool_calls = {zurich, zurich, tokyo};
  CHECK(judged("tool-calls-all-index-0", outcome) == "error surfaced");
  outcome.tool_calls = {zurich, tokyo, zurich, tokyo};
  CHECK(judged("tool-calls-all-index-0", outcome) == "error surfaced");
  outcome.tool_calls = {tokyo, zurich};
  CHECK(judged("tool-calls-all-index-0", outcome) == "error surfaced");
  outcome.tries = 1;
  CHECK(judged("tool-calls-all-index-0", outcome) == "wrong answer (no)");
  outcome.tries = 1'000'000'000;
  outcome.tool_calls.assign(1000, zurich);
  CHECK(judged("tool-calls-all-index-0", outcome) == "error surfaced");
}

TEST_CASE("finish reason and usage are judged if the client reports them and the scenario sends them") {
  const auto reasoned = [](const char* name, const char* reason, bool error = false) {
    const Scenario one = scenario(name);
    ClientOutcome outcome{one.text(), one.tool_calls(), error};
    outcome.finish_reason = reason;
    return judged(name, outcome);
  };
  CHECK(reasoned("early-hints", "stop") == "handled");
  CHECK(reasoned("early-hints", "length") == "wrong answer (no)");
  CHECK(reasoned("early-hints", "") == "silent data loss (no)");
  CHECK(reasoned("finish-reason-length", "length") == "handled");
  CHECK(reasoned("finish-reason-length", "stop") == "wrong answer (no)");
  CHECK(reasoned("finish-reason-length", "stop", true) == "error surfaced");
  CHECK(reasoned("tool-calls-interleaved", "tool_calls") == "handled");
  CHECK(reasoned("tool-calls-interleaved", "stop") == "wrong answer (no)");
  CHECK(reasoned("stop-after-tool-call", "stop") == "handled");
  CHECK(reasoned("stop-after-tool-call", "tool_calls") == "handled");  // OpenAI's finish_reason for a tool call
  CHECK(reasoned("stop-after-tool-call", "length") == "wrong answer (no)");
  CHECK(reasoned("early-hints", "tool_calls") == "wrong answer (no)");
  CHECK(reasoned("finish-reason-eos", "eos") == "handled");
  CHECK(reasoned("finish-reason-eos", "stop") == "handled");
  CHECK(reasoned("finish-reason-eos", "length") == "wrong answer (no)");
  CHECK(reasoned("tool-call-arguments-broken", "tool_calls") == "wrong answer (no)");
  CHECK(reasoned("tool-call-arguments-broken", "length") == "handled");
  CHECK(reasoned("finish-reason-empty", "stop") == "handled");
  CHECK(reasoned("finish-reason-empty", "") == "handled");           // a plain reply has this reason
  CHECK(reasoned("finish-reason-missing", "unknown") == "handled");  // the reply has no reason

  const auto used = [](const char* name, const TokenUsage& usage) {
    const Scenario one = scenario(name);
    ClientOutcome outcome{one.text(), one.tool_calls()};
    outcome.usage = usage;
    return judged(name, outcome);
  };
  for (const char* const name : {"usage-on-finish-chunk", "usage-null-in-every-chunk", "usage-chunk-without-choices"}) {
    CAPTURE(name);
    CHECK(used(name, TokenUsage(9, 5)) == "handled");
    CHECK(used(name, TokenUsage(9, 5).total(14)) == "handled");
    CHECK(used(name, TokenUsage(0, 0)) == "silent data loss (no)");
    CHECK(used(name, TokenUsage(18, 10)) == "wrong answer (no)");
    CHECK(used(name, TokenUsage(9, 5).total(15)) == "wrong answer (no)");
  }
  CHECK(used("early-hints", TokenUsage(9, 5)) == "handled");
  CHECK(used("early-hints", TokenUsage(0, 0)) == "handled");  // the stream has no usage
  CHECK(used("early-hints", TokenUsage(1, 2)) == "wrong answer (no)");
  CHECK(used("role-in-every-delta", TokenUsage(1, 2)) == "handled");  // the reply has no usage
}

TEST_CASE("a finish reason that indicates a problem counts as an error") {
  const std::string half = "Zürich 21 °C, ";
  const auto reasoned = [](const char* name, const std::string& text, const char* reason) {
    ClientOutcome outcome{text};
    outcome.finish_reason = reason;
    return judged(name, outcome);
  };
  const char* const filtered = "finish-reason-content-filter";
  CHECK(judged(filtered, got(half, true)) == "error surfaced");
  CHECK(reasoned(filtered, half, "content_filter") == "error surfaced");
  CHECK(reasoned(filtered, "", "content_filter") == "error surfaced");  // the reply withholds the filtered text
  CHECK(judged(filtered, got(half)) == "silent data loss (no)");
  CHECK(reasoned(filtered, half, "") == "silent data loss (no)");
  CHECK(reasoned(filtered, half, "stop") == "wrong answer (no)");
  CHECK(reasoned(filtered, half + half, "content_filter") == "wrong answer (no)");
  CHECK(reasoned(filtered, scenario("early-hints").text(), "content_filter") == "wrong answer (no)");
  ClientOutcome hung{half};
  hung.finish_reason = "content_filter";
  hung.hung = true;
  CHECK(judged(filtered, hung) == "hang (no)");

  CHECK(reasoned("finish-reason-error", half, "error") == "error surfaced");
  CHECK(reasoned("finish-reason-error", half, "content_filter") == "wrong answer (no)");
  CHECK(reasoned("finish-reason-max-tokens", "Zürich 21 °C, 東京 9", "max_tokens") == "error surfaced");
  CHECK(reasoned("finish-reason-max-tokens", "Zürich 21 °C, 東京 9", "length") == "error surfaced");
  CHECK(reasoned("finish-reason-max-tokens", "Zürich 21 °C, 東京 9", "stop") == "wrong answer (no)");
  CHECK(reasoned("finish-reason-error", half, "stop") == "wrong answer (no)");
  CHECK(reasoned("tool-finish-without-calls", "Let me look.", "tool_calls") == "error surfaced");
  ClientOutcome called{"Let me look.", scenario("tool-call-in-one-chunk").tool_calls()};
  called.finish_reason = "tool_calls";
  CHECK(judged("tool-finish-without-calls", called) == "wrong answer (no)");

  // A client that reports success or no reason does not report the problem.
  CHECK(reasoned("closed-in-stream", half, "content_filter") == "silent data loss (no)");
  CHECK(reasoned("finish-reason-eos", scenario("early-hints").text(), "eos") == "handled");

  std::set<std::string> telling;
  for (const Scenario& one : catalogue())
    if (one.expected() == Scenario::Expected::error && !one.finish_reason().empty()) telling.insert(one.name());
  CHECK(telling == std::set<std::string>{"finish-reason-content-filter", "finish-reason-error",
                                         "finish-reason-max-tokens", "tool-finish-without-calls"});
}

TEST_CASE("a tool call in the text may be reported as text or as a call, but not both or neither") {
  const Scenario spelled = scenario("tool-call-as-text");
  const std::vector<wire::ToolCall> calls = scenario("tool-call-in-one-chunk").tool_calls();
  CHECK(judged("tool-call-as-text", {spelled.text()}) == "handled");
  CHECK(judged("tool-call-as-text", {"", calls}) == "handled");
  CHECK(judged("tool-call-as-text", {""}) == "silent data loss (no)");
  CHECK(judged("tool-call-as-text", {spelled.text(), calls}) == "wrong answer (no)");
  CHECK(judged("tool-call-as-text", {"", {{"", "get_weather", "{}"}}}) == "wrong answer (no)");
  CHECK(judged("early-hints", {"", calls}) == "wrong answer (no)");
}

TEST_CASE("a client may keep thoughts and their tags in the text, or leave both out, but not one of them") {
  const std::string name = "think-tags-cut-between-deltas";
  CHECK(judged(name.c_str(), got("<think>North or south?</think>Zürich 21 °C.")) == "handled");
  CHECK(judged(name.c_str(), got("Zürich 21 °C.")) == "handled");
  CHECK(judged(name.c_str(), got("")) == "silent data loss (no)");
  CHECK(judged(name.c_str(), got("</think>Zürich 21 °C.")) == "silent data loss (no)");
  CHECK(judged(name.c_str(), got("Zürich 21 °C. ")) == "wrong answer (no)");
  ClientOutcome called = got("Zürich 21 °C.");
  called.tool_calls = scenario("tool-call-in-one-chunk").tool_calls();
  CHECK(judged(name.c_str(), called) == "wrong answer (no)");
}

TEST_CASE("a client that passes on an empty answer gets a remark, and one that invents text a bad verdict") {
  for (const char* const name : {"empty-turn", "reasoning-only-turn"}) {
    CAPTURE(name);
    ClientOutcome empty = got("");
    empty.finish_reason = "stop";
    const Verdict verdict = scenario(name).judge(empty);
    CHECK(verdict);
    CHECK(verdict.kind() == Kind::handled);
    CHECK(verdict.message() == std::string(name) + ": handled; remark: the caller got an empty answer and no error");
    CHECK(scenario(name).judge(got("", true)).message() == std::string(name) + ": error surfaced");
    CHECK(judged(name, got("North or south?")) == "wrong answer (no)");
    empty.finish_reason = "length";
    CHECK(judged(name, empty) == "wrong answer (no)");
    empty.finish_reason = "";
    CHECK(judged(name, empty) == "silent data loss (no)");
  }
}

TEST_CASE("a client that says whether its request was streamed is judged by that form") {
  const auto used = [](const char* name, bool streamed, const TokenUsage& usage) {
    const Scenario one = scenario(name);
    ClientOutcome outcome{one.text(), one.tool_calls()};
    outcome.streamed = streamed;
    outcome.usage = usage;
    return judged(name, outcome);
  };
  CHECK(used("early-hints", false, TokenUsage(9, 5)) == "handled");
  CHECK(used("early-hints", false, TokenUsage(0, 0)) == "silent data loss (no)");
  CHECK(used("early-hints", true, TokenUsage(0, 0)) == "handled");
  CHECK(used("early-hints", true, TokenUsage(9, 5)) == "handled");  // a stream with include_usage has usage
  CHECK(used("usage-on-finish-chunk", false, TokenUsage(0, 0)) == "silent data loss (no)");
  CHECK(used("usage-on-finish-chunk", true, TokenUsage(0, 0)) == "silent data loss (no)");

  const auto reasoned = [](const char* name, bool streamed, const char* reason) {
    const Scenario one = scenario(name);
    ClientOutcome outcome{one.text(), one.tool_calls()};
    outcome.streamed = streamed;
    outcome.finish_reason = reason;
    return judged(name, outcome);
  };
  CHECK(reasoned("finish-reason-empty", false, "") == "handled");
  CHECK(reasoned("finish-reason-empty", false, "stop") == "handled");  // the client uses its own default
  CHECK(reasoned("finish-reason-empty", true, "stop") == "handled");
  CHECK(reasoned("finish-reason-empty", true, "") == "silent data loss (no)");
}

TEST_CASE("a client that requested and got usage must report it") {
  const auto asked = [](const char* name, bool has_usage) {
    const Scenario one = scenario(name);
    ClientOutcome outcome{one.text(), one.tool_calls()};
    outcome.streamed = true;
    outcome.asked_for_usage = true;
    if (has_usage) outcome.usage = TokenUsage(9, 5);
    return one.judge(outcome);
  };
  int seen = 0;
  for (const Scenario& one : catalogue()) {
    if (!one.needs_stream() || !one.usage()) continue;
    ++seen;
    CAPTURE(one.name());
    CHECK(asked(one.name().c_str(), true));
    const Verdict lost = asked(one.name().c_str(), false);
    CHECK(lost.kind() == Kind::silent_data_loss);
    CHECK(lost.message().find("the reply   text \"Zürich 21 °C, 東京 9 °C.\", usage 9 + 5 = 14") != std::string::npos);
  }
  CHECK(seen == 4);
  CHECK(asked("early-hints", false));  // the stream of this scenario has no usage
}

/// Sends up to two requests. Returns the body of the first complete reply, or "" if there is none.
inline std::string whole_answer(const Scenario& scenario, bool streamed) {
  Gateway gateway{scenario.options(Options{}.clock(InstantClock{}))};
  scenario.mount(gateway);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      RawConnection connection(gateway);
      connection.send(Http(gateway).format_chat(streamed ? Json{{"stream", true}} : Json{}));
      Response response = connection.receive_response();
      while (response.status >= 100 && response.status < 200) response = connection.receive_response();
      const bool is_whole = response.body.find("choices") != std::string::npos && response.complete;
      if (response.status == 200 && (is_whole || attempt == 1)) return response.body;
    } catch (const std::exception&) {
      // The connection was reset.
    }
  }
  return "";
}

TEST_CASE("each scenario states the finish reason and the usage that its bytes contain") {
  for (const Scenario& one : catalogue()) {
    CAPTURE(one.name());
    const bool has_answer = one.expected() != Scenario::Expected::error;
    if (!has_answer) {
      CHECK_FALSE(one.usage());
      if (one.finish_reason().empty()) continue;
    }
    const std::set<std::string> compressed = {"gzip-unasked", "brotli-unasked", "compressed-frame-per-event",
                                              "zstd-frame-per-event"};
    const bool is_compressed = compressed.count(one.name()) > 0;
    if (one.needs_timeout() || is_compressed) continue;
    const std::string streamed = whole_answer(one, true);
    const std::string plain = one.needs_stream() ? "" : whole_answer(one, false);
    const std::string sent = R"("usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14})";
    if (has_answer) CHECK(static_cast<bool>(one.usage()) == ((streamed + plain).find(sent) != std::string::npos));
    if (!one.finish_reason().empty())
      CHECK(streamed.find(R"("finish_reason":")" + one.finish_reason() + "\"") != std::string::npos);
  }
}

TEST_CASE("a verdict prints one line if the result is correct, else the details") {
  std::ostringstream out;
  out << scenario("early-hints").judge(got("Zürich 21 °C, 東京 9 °C.")) << '\n'
      << scenario("closed-in-stream").judge(got("Zürich "))  // the last line of several
      << Kind::hang << '\n'
      << scenario("early-hints").expected();
  CHECK(out.str() ==
        "early-hints: handled\n"
        "closed-in-stream: silent data loss, expected error\n"
        "  caller got  text \"Zürich \"\n"
        "  the reply   text \"Zürich 21 °C, 東京 9 °C.\"\n"
        "  the gateway closes the connection in the middle of the text, between two events\n"
        "  a good client reports that the answer is incomplete\n"
        "hang\n"
        "answer");
}

TEST_CASE("a verdict on wrong text before an error says so, and names a retry that would explain the text") {
  ClientOutcome twice = got("Zürich 21 °C, Zürich 21 °C, ", true);
  CHECK(scenario("closed-in-stream").judge(twice).message() ==
        "closed-in-stream: wrong answer, expected error\n"
        "  caller got  text \"Zürich 21 °C, Zürich 21 °C, \", and an error\n"
        "  the reply   text \"Zürich 21 °C, 東京 9 °C.\"\n"
        "  this is the text of several tries: if the client retried, set ClientOutcome::tries\n"
        "  the gateway closes the connection in the middle of the text, between two events\n"
        "  a good client reports that the answer is incomplete");
  ClientOutcome complete{"Zürich 21 °C, 東京 9 °C."};
  complete.finish_reason = "length";
  complete.usage = TokenUsage(9, 6);
  CHECK(scenario("usage-on-finish-chunk").judge(complete).message() ==
        "usage-on-finish-chunk: wrong answer, expected answer\n"
        "  caller got  text \"Zürich 21 °C, 東京 9 °C.\", finish_reason \"length\", usage 9 + 6 = 15\n"
        "  the reply   text \"Zürich 21 °C, 東京 9 °C.\", finish_reason \"stop\", usage 9 + 5 = 14\n"
        "  the gateway sends the usage only in the chunk with the finish_reason\n"
        "  a good client reads usage from any chunk");
}

// --- A client that handles all scenarios -----------------------------------------------------------------------------

/// A careful client. It reports everything that it does not understand, and retries once.
class HonestClient {
 public:
  HonestClient(const Gateway& gateway, bool streamed, std::chrono::milliseconds timeout)
      : gateway_(gateway), http_(gateway), streamed_(streamed), timeout_(timeout) {}

  ClientOutcome ask() {
    ClientOutcome outcome;
    for (int attempt = 0; attempt < 2; ++attempt) {
      outcome = {};
      try {
        Response response = receive();
        if (response.status >= 429 && std::atof(response.header("Retry-After").c_str()) < 60) continue;
        read(response, outcome);
        return outcome;
      } catch (const std::exception&) {
        outcome.error = true;
      }
      if (!outcome.text.empty() || timed_out_) return outcome;
    }
    outcome.error = true;
    return outcome;
  }

 private:
  Response receive() {
    if (!connection_) connection_ = std::make_unique<RawConnection>(gateway_);
    connection_->send(http_.format_chat(streamed_ ? Json{{"stream", true}} : Json{}));
    Response response;
    try {
      do response = connection_->receive_response(timeout_);
      while (response.status >= 100 && response.status < 200);
    } catch (const std::exception&) {
      connection_.reset();
      throw;
    }
    timed_out_ = !response.complete && response.end == End::open;
    if (!response.complete || response.end != End::open) connection_.reset();
    if (response.status == 0) throw std::runtime_error("no answer");
    return response;
  }

  void read(const Response& response, ClientOutcome& outcome) const {
    if (response.status != 200 || response.has("Content-Encoding")) throw std::runtime_error("not an answer");
    const std::string type = response.header("Content-Type");
    if (type.compare(0, 16, "application/json") == 0 || !streamed_) return read_plain(response, outcome);
    read_stream(response, outcome);
  }

  void read_plain(const Response& response, ClientOutcome& outcome) const {
    const Json body = Json::parse(response.body);
    const Json& choice = body.at("choices").at(0);
    const Json& message = choice.at("message");
    outcome.text = text_of(message.value("content", Json()));
    // A plain reply contains each call in one piece.
    std::vector<Json> indexes;
    for (const Json& call : message.value("tool_calls", Json()))
      add(call, outcome.tool_calls, indexes, outcome.tool_calls.size());
    note_usage(body, outcome);
    end(choice.value("finish_reason", ""), outcome);
  }

  /// Returns the text of a string or of content parts, without reasoning.
  static std::string text_of(const Json& content) {
    if (content.is_null()) return "";
    if (content.is_string()) return content;
    std::string text;
    for (const Json& part : content) {
      if (part.at("type") == "text") {
        text += part.at("text").get<std::string>();
      } else if (part.at("type") != "thinking") {
        throw std::runtime_error("an unknown part: " + part.dump());
      }
    }
    return text;
  }

  static void note_usage(const Json& json, ClientOutcome& outcome) {
    const Json usage = json.value("usage", Json());
    if (!usage.is_object()) return;
    outcome.usage = TokenUsage(usage.at("prompt_tokens").get<int>(), usage.at("completion_tokens").get<int>())
                        .total(usage.at("total_tokens").get<int>());
  }

  /// Adds a fragment to the call with the index, or to the latest call if there is no index. A new id starts a new
  /// call. `indexes` has the index of each call.
  static void add(const Json& fragment, std::vector<wire::ToolCall>& calls, std::vector<Json>& indexes,
                  const Json& index) {
    const Json function = fragment.value("function", Json::object());
    const std::string id = fragment.value("id", "");
    const auto found = std::find(indexes.rbegin(), indexes.rend(), index);
    std::size_t at = calls.empty() ? 0 : calls.size() - 1;
    if (index.is_number())
      at = found == indexes.rend() ? calls.size() : static_cast<std::size_t>(indexes.rend() - found) - 1;
    if (at >= calls.size() || (!id.empty() && id != calls[at].id)) {
      at = calls.size();
      indexes.push_back(index);
      calls.push_back({id, function.value("name", ""), ""});
    }
    if (calls[at].name.empty()) calls[at].name = function.value("name", "");
    const Json arguments = function.value("arguments", Json(""));
    calls[at].arguments += arguments.is_string() ? arguments.get<std::string>() : arguments.dump();
  }

  /// Joins the pieces of a text. Each piece may also be the whole text so far.
  static std::string join(const std::vector<std::string>& pieces) {
    std::string all;
    bool grows = pieces.size() > 1;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      all += pieces[i];
      if (i == 0) continue;
      const std::string& before = pieces[i - 1];
      grows = grows && pieces[i].size() > before.size() && pieces[i].compare(0, before.size(), before) == 0;
    }
    return grows ? pieces.back() : all;
  }

  void read_stream(const Response& response, ClientOutcome& outcome) const {
    bool done = false;
    std::string reason;
    std::vector<std::string> pieces;
    std::vector<Json> indexes;
    for (const std::string& data : response.events()) {
      if (data.empty()) continue;
      done = data == "[DONE]";
      if (done) break;
      const Json chunk = Json::parse(data);
      if (chunk.contains("error")) throw std::runtime_error(data);
      note_usage(chunk, outcome);
      for (const Json& choice : chunk.value("choices", Json::array())) {
        if (choice["index"] != 0) continue;
        const Json delta = choice["delta"].is_null() ? Json::object() : choice["delta"];
        const std::string text = text_of(delta.value("content", Json()));
        if (!text.empty()) pieces.push_back(text);
        outcome.text = join(pieces);
        for (const Json& call : delta.value("tool_calls", Json::array()))
          add(call, outcome.tool_calls, indexes, call.value("index", Json()));
        const Json said = choice.value("finish_reason", Json());
        if (said.is_string() && said != "") reason = said;
      }
    }
    if (("\n" + response.body).find("\nerror:") != std::string::npos) throw std::runtime_error("an error field");
    if (reason.empty() && !done) throw std::runtime_error("no end");
    end(reason, outcome);
  }

  /// Checks the complete result.
  void end(const std::string& reason, ClientOutcome& outcome) const {
    for (wire::ToolCall& call : outcome.tool_calls) {
      if (call.arguments.empty() || reason == "length") continue;
      const Json arguments = Json::parse(call.arguments);
      if (arguments.is_string()) call.arguments = Json::parse(arguments.get<std::string>()).dump();
    }
    if (outcome.text.empty() && outcome.tool_calls.empty()) throw std::runtime_error("no answer");
    if (reason == "tool_calls" && outcome.tool_calls.empty()) throw std::runtime_error("no calls");
    const std::set<std::string> known = {"", "stop", "length", "tool_calls", "content_filter"};
    if (known.count(reason) == 0) throw std::runtime_error("an unknown finish_reason: " + reason);
    outcome.finish_reason = reason;
    outcome.streamed = streamed_;
  }

  const Gateway& gateway_;
  Http http_;
  bool streamed_;
  std::chrono::milliseconds timeout_;
  bool timed_out_ = false;
  std::unique_ptr<RawConnection> connection_;
};

TEST_CASE("a careful client passes the whole catalogue, streamed and plain") {
  std::map<Kind, int> counts;
  for (const bool streamed : {true, false}) {
    for (const Scenario& one : catalogue()) {
      if (!streamed && one.needs_stream()) continue;
      CAPTURE(one.name());
      CAPTURE(streamed);
      Gateway gateway{one.options(Options{}.clock(InstantClock{}))};
      one.mount(gateway);
      // A client may miss the end of an endless reply, but not its text.
      const bool endless = one.needs_timeout() && one.expected() != Scenario::Expected::answer;
      HonestClient client(gateway, streamed, endless ? 100ms : one.needs_timeout() ? 2s : 10s);
      for (int call = 1; call < one.calls(); ++call) client.ask();
      const Verdict verdict = one.judge(client.ask());
      CHECK(verdict);
      ++counts[verdict.kind()];
    }
  }
  CHECK(counts[Kind::handled] > 70);
  CHECK(counts[Kind::error_surfaced] > 70);
  CHECK(counts.size() == 2);
}

TEST_CASE("a client that takes a truncated reply for the answer fails every break") {
  for (const Scenario& one : catalogue()) {
    if (one.group() != "breaks" || one.expected() != Scenario::Expected::error) continue;
    CAPTURE(one.name());
    Gateway gateway{one.options()};
    one.mount(gateway);
    ClientOutcome outcome;
    try {
      RawConnection connection(gateway);
      connection.send(Http(gateway).format_chat({{"stream", true}}));
      outcome.text = connection.receive_response().joined_text();
    } catch (const std::exception&) {
      // The client does not report the exception either.
    }
    const Verdict verdict = one.judge(outcome);
    CHECK(verdict.kind() == Kind::silent_data_loss);
    CHECK_FALSE(verdict);
  }
}

}  // namespace verdicts_test
