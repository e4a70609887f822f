// The outcome that each catalogue scenario expects. With a wrong expectation, careless clients would pass. No other
// test would notice that.

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "mock_gateway.hpp"

namespace catalogue_expectations_test {

using namespace mock_gateway;

/// A scenario, its correct outcome, and what a client needs to see it.
struct Row {
  const char* name;
  const char* expected;
  const char* needs;
};

/// The scenarios in the catalogue's order. This table is maintained by hand.
const Row table[] = {
    // chunks
    {"choice-index-grows", "answer or error", "a stream"},
    {"content-as-parts", "answer or error", ""},
    {"content-null-in-deltas", "answer", "a stream"},
    {"content-part-of-unknown-kind", "answer or error", ""},
    {"created-as-text", "answer", ""},
    {"created-float", "answer", ""},
    {"created-in-milliseconds", "answer", ""},
    {"created-null", "answer", ""},
    {"delta-null", "answer", "a stream"},
    {"empty-turn", "answer or error", ""},
    {"equal-deltas", "answer", "a stream"},
    {"escaped-characters", "answer", ""},
    {"finish-chunk-twice", "answer", "a stream"},
    {"finish-reason-content-filter", "error", ""},
    {"finish-reason-empty", "answer", ""},
    {"finish-reason-eos", "answer or error", ""},
    {"finish-reason-error", "error", ""},
    {"finish-reason-length", "answer or error", ""},
    {"finish-reason-max-tokens", "error", ""},
    {"finish-reason-missing", "answer or error", ""},
    {"first-chunk-is-choice-1", "answer", "a stream"},
    {"first-chunk-placeholder", "answer", "a stream"},
    {"first-chunk-with-empty-choices", "answer", "a stream"},
    {"full-message-at-end", "answer", "a stream"},
    {"line-separators-in-text", "answer", ""},
    {"reasoning-before-content", "answer", ""},
    {"reasoning-details", "answer", ""},
    {"reasoning-field", "answer", ""},
    {"reasoning-only-turn", "answer or error", ""},
    {"refusal", "answer or error", ""},
    {"role-chunk-missing", "answer", "a stream"},
    {"role-empty", "answer", ""},
    {"role-in-every-delta", "answer", "a stream"},
    {"role-missing", "answer", ""},
    {"role-model", "answer", ""},
    {"surrogate-alone", "answer or error", ""},
    {"surrogate-pair-split", "answer or error", "a stream"},
    {"text-cumulative", "answer or error", "a stream"},
    {"text-in-finish-chunk", "answer", "a stream"},
    {"text-in-role-chunk", "answer", "a stream"},
    {"think-tags-cut-between-deltas", "answer", "a stream"},
    {"unknown-fields", "answer", ""},
    {"usage-chunk-without-choices", "answer", "a stream"},
    {"usage-cumulative", "answer", "a stream"},
    {"usage-null-in-every-chunk", "answer", "a stream"},
    {"usage-on-finish-chunk", "answer", "a stream"},
    // tool calls
    {"stop-after-tool-call", "answer", ""},
    {"text-and-tool-call-in-one-delta", "answer", "a stream"},
    {"text-before-tool-call", "answer", ""},
    {"tool-call-arguments-after-empty", "answer or error", ""},
    {"tool-call-arguments-as-object", "answer or error", ""},
    {"tool-call-arguments-broken", "answer or error", ""},
    {"tool-call-arguments-concatenated", "answer or error", ""},
    {"tool-call-arguments-cut-in-escape", "answer", "a stream"},
    {"tool-call-arguments-empty", "answer", ""},
    {"tool-call-arguments-encoded-twice", "answer or error", ""},
    {"tool-call-as-text", "answer", ""},
    {"tool-call-finish-chunk-twice", "answer", "a stream"},
    {"tool-call-id-and-name-repeated", "answer", "a stream"},
    {"tool-call-id-empty-in-fragments", "answer", "a stream"},
    {"tool-call-in-one-chunk", "answer", "a stream"},
    {"tool-call-index-from-1", "answer", "a stream"},
    {"tool-call-name-after-arguments", "answer or error", "a stream"},
    {"tool-call-type-empty", "answer", ""},
    {"tool-call-type-missing", "answer", ""},
    {"tool-call-type-null", "answer", ""},
    {"tool-call-without-id", "answer or error", "a stream"},
    {"tool-call-without-index", "answer or error", "a stream"},
    {"tool-calls-all-index-0", "answer or error", "a stream"},
    {"tool-calls-empty-list", "answer", ""},
    {"tool-calls-equal-ids", "answer or error", ""},
    {"tool-calls-interleaved", "answer", "a stream"},
    {"tool-calls-null", "answer", ""},
    {"tool-finish-without-calls", "error", ""},
    // errors
    {"bad-request", "error", ""},
    {"choices-empty", "error", ""},
    {"choices-null", "error", ""},
    {"content-filter-400", "error", ""},
    {"context-overflow-as-code", "error", ""},
    {"context-overflow-code-400", "error", ""},
    {"context-overflow-in-stream", "error", "a stream"},
    {"context-overflow-without-error", "error", ""},
    {"empty-200", "error", ""},
    {"error-as-html", "error", ""},
    {"error-as-sse-field", "error", "a stream"},
    {"error-body-cut-short", "error", ""},
    {"error-code-numeric", "error", ""},
    {"error-event-first", "error", "a stream"},
    {"error-event-in-stream", "error", "a stream"},
    {"error-event-named", "error", "a stream"},
    {"error-is-a-string", "error", ""},
    {"error-metadata-raw", "error", ""},
    {"error-with-200", "error", ""},
    {"error-without-body", "error", ""},
    {"html-with-200", "error", ""},
    {"invalid-json", "error", ""},
    {"key-disabled", "error", ""},
    {"key-invalid", "error", ""},
    {"key-invalid-as-400", "error", ""},
    {"model-not-found", "error", ""},
    {"refused-by-user-agent", "error", ""},
    // retries
    {"cloudflare-520-then-answer", "answer or error", ""},
    {"cloudflare-524-then-answer", "answer or error", ""},
    {"concurrency-limit", "answer or error", ""},
    {"daily-quota", "error", ""},
    {"insufficient-quota", "error", ""},
    {"overloaded-in-stream", "answer or error", ""},
    {"overloaded-then-answer", "answer or error", ""},
    {"rate-limit-in-stream", "answer or error", ""},
    {"rate-limited-then-answer", "answer or error", ""},
    {"redirect-307", "answer or error", ""},
    {"reset-as-date", "answer or error", ""},
    {"reset-as-duration", "answer or error", ""},
    {"reset-as-epoch", "answer or error", ""},
    {"retry-after-date", "answer or error", ""},
    {"retry-after-fraction", "answer or error", ""},
    {"retry-after-garbage", "answer or error", ""},
    {"retry-after-in-lower-case", "answer or error", ""},
    {"retry-after-in-the-past", "answer or error", ""},
    {"retry-after-missing", "answer or error", ""},
    {"retry-after-ms", "answer or error", ""},
    {"retry-after-negative", "answer or error", ""},
    {"retry-after-very-large", "answer or error", "a timeout"},
    {"retry-after-zero", "answer or error", ""},
    {"retry-delay-in-body", "answer or error", ""},
    {"server-error-always", "error", ""},
    {"server-error-then-answer", "answer or error", ""},
    {"should-retry-false", "answer or error", ""},
    {"should-retry-true", "answer or error", ""},
    {"stream-broken-then-answer", "answer or error", ""},
    {"tokens-per-minute-413", "answer or error", ""},
    {"unavailable-then-answer", "answer", ""},
    // framing
    {"answer-as-text-plain", "answer or error", ""},
    {"answer-in-the-other-form", "answer or error", ""},
    {"blank-line-missing-between-events", "answer or error", "a stream"},
    {"blank-lines-before-reply", "answer", ""},
    {"brotli-unasked", "answer or error", ""},
    {"byte-order-mark", "answer", "a stream"},
    {"character-split-across-reads", "answer", ""},
    {"chunk-framing-in-body", "answer", ""},
    {"close-delimited-body", "answer", ""},
    {"comment-keep-alives", "answer", "a stream"},
    {"compressed-frame-per-event", "answer or error", "a stream"},
    {"content-encoding-claimed", "answer or error", ""},
    {"content-type-missing", "answer or error", "a stream"},
    {"content-type-without-charset", "answer", "a stream"},
    {"crlf-line-ends", "answer", "a stream"},
    {"data-after-done", "answer", "a stream"},
    {"done-inside-text", "answer", ""},
    {"done-missing", "answer", "a stream"},
    {"done-twice", "answer", "a stream"},
    {"empty-data-keep-alive", "answer", "a stream"},
    {"event-field", "answer", "a stream"},
    {"event-longer-than-1-mib", "answer", ""},
    {"event-longer-than-64-kib", "answer", ""},
    {"event-split-across-reads", "answer", ""},
    {"event-without-data", "answer", "a stream"},
    {"events-in-one-chunk", "answer", "a stream"},
    {"final-blank-line-missing", "answer", "a stream"},
    {"gzip-unasked", "answer or error", "a stream"},
    {"header-names-in-lower-case", "answer", ""},
    {"http-chunks-cut-events", "answer", "a stream"},
    {"id-fields", "answer", "a stream"},
    {"id-line-then-ping", "answer", "a stream"},
    {"last-event-without-blank-line", "answer or error", "a stream"},
    {"lone-cr-line-ends", "answer", "a stream"},
    {"multi-line-data", "answer", "a stream"},
    {"no-space-after-colon", "answer", "a stream"},
    {"one-write-for-all", "answer", ""},
    {"one-write-per-byte", "answer", ""},
    {"open-after-done", "answer", "a stream, a timeout"},
    {"retry-field", "answer", "a stream"},
    {"unknown-sse-field", "answer", "a stream"},
    {"zstd-frame-per-event", "answer or error", "a stream"},
    // breaks
    {"close-delimited-body-cut-short", "error", ""},
    {"closed-after-done", "answer or error", "a stream"},
    {"closed-after-finish", "answer or error", "a stream"},
    {"closed-after-headers", "error", ""},
    {"closed-before-headers", "error", ""},
    {"closed-in-stream", "error", ""},
    {"closed-inside-character", "error", ""},
    {"closed-inside-event", "error", "a stream"},
    {"content-length-too-large", "answer or error", ""},
    {"content-length-too-small", "error", ""},
    {"garbage-in-place-of-headers", "error", ""},
    {"garbage-in-stream", "error", ""},
    {"half-closed-in-stream", "error", ""},
    {"reset-after-done", "answer or error", "a stream"},
    {"reset-after-finish", "answer or error", "a stream"},
    {"reset-after-headers", "error", ""},
    {"reset-before-headers", "error", ""},
    {"reset-in-stream", "error", ""},
    {"reset-inside-character", "error", ""},
    {"truncated-chunked-body", "error", ""},
    // pace
    {"live-stream", "answer", "a stream"},
    {"pause-in-stream", "answer", ""},
    {"pings-before-first-token", "answer", "a stream"},
    {"pings-defeat-idle-timeout", "error", "a stream, a timeout"},
    {"slow-first-token", "answer", ""},
    {"slow-tokens", "answer", "a stream"},
    {"stalled-after-finish", "answer or error", "a stream, a timeout"},
    {"stalled-after-headers", "error", "a timeout"},
    {"stalled-before-headers", "error", "a timeout"},
    {"stalled-body", "error", "a timeout"},
    // connection
    {"closed-on-accept", "error", ""},
    {"closed-when-reused", "answer or error", "2 calls"},
    {"closed-while-idle", "answer or error", "2 calls"},
    {"connection-close", "answer", "2 calls"},
    {"connection-refused", "error", ""},
    {"early-hints", "answer", ""},
    {"early-status-under-expect", "error", ""},
    {"garbage-on-accept", "error", ""},
    {"reset-on-accept", "error", ""},
    {"reset-on-first-accept", "answer or error", ""},
    {"reset-when-reused", "answer or error", "2 calls"},
    {"slow-request-reading", "answer", ""},
    {"unsolicited-continue", "answer", ""},
};

std::string needs_of(const Scenario& scenario) {
  std::string needs;
  const auto add = [&needs](const std::string& need) { needs += (needs.empty() ? "" : ", ") + need; };
  if (scenario.needs_stream()) add("a stream");
  if (scenario.needs_timeout()) add("a timeout");
  if (scenario.calls() != 1) add(std::to_string(scenario.calls()) + " calls");
  return needs;
}

TEST_CASE("each scenario expects the outcome in the table") {
  std::set<std::string> known;
  for (const Row& row : table) {
    CAPTURE(row.name);
    known.insert(row.name);
    const Scenario one = scenario(row.name);
    CHECK(to_string(one.expected()) == row.expected);
    CHECK(needs_of(one) == row.needs);
  }
  std::vector<std::string> unknown;
  for (const Scenario& one : catalogue())
    if (known.count(one.name()) == 0) unknown.push_back(one.name());
  CAPTURE(unknown.size());
  CHECK((unknown.empty() ? "" : unknown.front()) == "");
  CHECK(known.size() == std::size(table));
}

TEST_CASE("a client passes a scenario only with the expected outcome") {
  for (const Row& row : table) {
    CAPTURE(row.name);
    const Scenario one = scenario(row.name);
    const std::string expected = row.expected;
    ClientOutcome whole{one.text(), one.tool_calls()};
    ClientOutcome told;
    told.error = true;
    ClientOutcome hung = whole;
    hung.hung = true;
    CHECK(static_cast<bool>(one.judge(whole)) == (expected != "error"));
    CHECK(static_cast<bool>(one.judge(told)) == (expected != "answer"));
    CHECK_FALSE(one.judge(hung));
    CHECK_FALSE(one.judge({one.text() + " And more.", one.tool_calls()}));
    // A client that returns nothing and reports nothing passes only where the gateway sent nothing else.
    const bool is_empty = one.name() == "empty-turn" || one.name() == "reasoning-only-turn";
    CHECK(static_cast<bool>(one.judge(ClientOutcome{""})) == is_empty);
  }
}

}  // namespace catalogue_expectations_test
