// The scenarios of the groups "errors" and "retries".

#include <chrono>
#include <iterator>  // size
#include <string>
#include <utility>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

using namespace std::chrono_literals;

/// Returns an error body. `code` is JSON text.
std::string error_body(const char* message, const char* code) {
  return R"({"error":{"message":)" + json_string(message) + R"(,"type":"server_error","param":null,"code":)" + code +
         "}}";
}

std::string overloaded_body() { return error_body("the model is overloaded", R"("overloaded")"); }

Effect overloaded_event() { return error_event(parse(overloaded_body())); }

void break_with(Chunks& chunks, std::string bytes) {
  while (chunks.size() > 3) chunks.pop_back();
  chunks.push_back(std::move(bytes));
}

Failure refused_with(const char* body) { return bad_request().json_body(parse(body)); }

Failure limited_with(const char* body) { return rate_limited().without_retry_after().json_body(parse(body)); }

Failure limited_until(const char* retry_after) { return rate_limited().retry_after(retry_after); }

Failure limited_without_retry_after() {
  return failure(429, "rate_limit_exceeded", "The rate limit is exceeded. Try again later.").without_retry_after();
}

inline constexpr const char* page =
    "<!DOCTYPE html><html><head><title>400 Bad Request</title></head><body>nginx</body></html>";

Failure no_answer_behind_proxy(int status, const char* what) {
  return failure(status, "", "")
      .body("<!DOCTYPE html><html><head><title>" + std::to_string(status) + ": " + what +
                "</title></head><body>cloudflare</body></html>",
            "text/html; charset=UTF-8")
      .header("CF-RAY", "9b1c2d3e4f5a6b7c-ZRH");
}

/// Sends this error with status 200, as the only event of a stream or as a body.
void only_event(Chunks& chunks, const char* body) { chunks = {event_of(body)}; }
std::string only_body(const char* body) { return body; }

/// Leaves one chunk, with these choices (JSON text).
void leave_choices(Chunks& chunks, const char* choices) {
  chunks = {chunk_with(R"("choices":)" + std::string(choices))};
}
std::string body_with_choices(const char* choices) {
  return R"({"id":"chatcmpl-catalogue","object":"chat.completion","created":1767225600,"model":"mock-model","choices":)" +
         std::string(choices) + "," + usage + "}";
}

inline constexpr const char* limited_body =
    R"({"error":{"message":"Rate limit exceeded, try again","type":"rate_limit_error","code":429}})";
inline constexpr const char* busy_body =
    R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})";

inline constexpr const char* delay_body =
    R"({"error":{"code":429,"message":"Resource has been exhausted. Please try again in 300ms.",)"
    R"("status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo",)"
    R"("retryDelay":"0.3s"}]}})";
inline constexpr const char* concurrency_body =
    R"({"error":{"message":"Too many concurrent requests of this key","type":"rate_limit_error",)"
    R"("code":"concurrency_limit_exceeded"}})";
inline constexpr const char* daily_body =
    R"({"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",)"
    R"("details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[)"
    R"({"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"50"}]}]}})";

inline constexpr const char* too_long_body =
    R"({"error":{"message":"This model's maximum context length is 8192 tokens, and your messages have 9001.",)"
    R"("type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})";

inline constexpr ScenarioRow errors_rows[] = {
    {"bad-request", "answers 400 with the documented error body", "the documentation: error responses",
     "reports code and message, and does not retry", no_answer, [] { return bad_request("max_tokens is too large"); }},
    {"choices-empty", "answers 200 with choices: []", "BerriAI/litellm#40252", "reports that there is no answer",
     no_answer, leave_choices, body_with_choices, "[]"},
    {"choices-null", "answers 200 with choices: null", "langchain#32252", "reports that there is no answer", no_answer,
     leave_choices, body_with_choices, "null"},
    {"content-filter-400", "answers 400 content_filter, with the filter's result in innererror",
     "microsoft/semantic-kernel#5289", "reports the error with its reason, and does not retry", no_answer, refused_with,
     R"({"error":{"message":"The prompt was filtered.","type":null,"param":"prompt",)"
     R"("code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation",)"
     R"("content_filter_result":{"jailbreak":{"filtered":true,"detected":true}}}}})"},
    {"context-overflow-as-code", "answers 400 context_length_exceeded", "earendil-works/pi#5677, OpenAI: error codes",
     "reports that the messages are too long, and does not retry", no_answer, refused_with, too_long_body},
    {"context-overflow-code-400", "answers 400 with code \"400\" because the messages are too long",
     "langchain-ai/langchainjs#10481", "reports the error with its message", no_answer, refused_with,
     R"({"error":{"message":"Input is too long for the requested model.",)"
     R"("type":"BadRequestError","param":null,"code":"400"}})"},
    {"context-overflow-in-stream", "opens a stream with 200 and sends context_length_exceeded as its first event",
     "earendil-works/pi#5677", "reports that the messages are too long, and does not retry", no_answer | streams_only,
     only_event, too_long_body},
    {"context-overflow-without-error",
     "answers 400 without an error field; the body's message names the maximum context length",
     "earendil-works/pi#5677, langchain-ai/langchainjs#10481", "reports the status and the body's message", no_answer,
     refused_with,
     R"({"object":"error","message":"This model's maximum context length is 8192 tokens, and your )"
     R"(messages have 9001.","type":"BadRequestError","param":null,"code":400})"},
    {"empty-200", "answers 200 with an empty body", "AstrBot#403", "reports that there is no answer", no_answer,
     [](bool streamed) { return raw_reply(200, "", usual_type_of(streamed)); }},
    {"error-as-html", "answers 400 with a proxy's HTML page",
     "RFC 9110, section 15: an error's content is for the user", "reports the status, and tolerates the HTML body",
     no_answer, [] { return bad_request().body(page, "text/html"); }},
    {"error-as-sse-field", "sends an error after some text, in an SSE field named error, then [DONE]",
     "coddy-project/coddy-agent#106", "reports the error or the missing finish_reason", only_error | streams_only,
     [](Chunks& chunks) { break_with(chunks, "error: " + overloaded_body() + "\n\n"); }},
    {"error-body-cut-short", "closes the connection inside the body of a 400", "RFC 9112, section 8",
     "reports the error anyway", no_answer,
     [](bool) { return Reply(bad_request("max_tokens is too large")).fault(after_bytes(20), close_connection()); }},
    {"error-code-numeric", "answers 400 with a number as error.code", "go-openai#244",
     "accepts a code of any type, and reports the error", no_answer,
     [] { return bad_request().json_body(parse(error_body("context length exceeded", "400"))); }},
    {"error-event-first", "opens a stream with 200 and sends an error as its first event", "litellm#40578",
     "reports the error from the event", only_error | streams_only, after_headers, overloaded_event},
    {"error-event-in-stream", "sends an error as an event after some text, then [DONE]",
     "litellm#40578, openai-python#2943", "reports the error, and does not treat the partial text as the answer",
     only_error | streams_only, in_the_middle, overloaded_event},
    {"error-event-named", "sends an error after some text, in an event named error",
     "OpenAI: streaming events, WHATWG HTML 9.2.6", "reports the error, whatever the event's name",
     only_error | streams_only,
     [](Chunks& chunks) { break_with(chunks, "event: error\n" + event_of(overloaded_body())); }},
    {"error-is-a-string", "answers 400 with a string as error", "fantasy#365", "reports the string", no_answer,
     refused_with, R"({"error":"the model is still loading"})"},
    {"error-metadata-raw", "answers 400 with the reason as a JSON string in error.metadata.raw",
     "zed-industries/zed#64424", "reports the error with the reason from the string", no_answer,
     [] {
       return bad_request().json_body(
           parse(R"({"error":{"message":"Provider returned error","code":400,"metadata":{"raw":)" +
                 json_string(error_body("max_tokens is too large", "400")) + R"(,"provider_name":"Mock"}}})"));
     }},
    {"error-with-200", "answers 200 with a JSON error body", "OpenRouter: errors",
     "checks for error before choices, and reports it", no_answer,
     [](bool) { return raw_reply(200, error_body("no provider is available", "502")); }},
    {"error-without-body", "answers 400 without a body", "RFC 9110, section 15", "reports the status", no_answer,
     [] { return bad_request().body(""); }},
    {"html-with-200", "answers 200 with an HTML page, the login form of a captive portal",
     "RFC 6585, section 6: captive portals", "reports that this is not an answer", no_answer,
     [](bool) {
       return raw_reply(200, "<!DOCTYPE html><html><body>Sign in to the network</body></html>", "text/html");
     }},
    {"invalid-json", "sends a chunk, or a body, whose JSON is cut off", "RFC 8259",
     "reports the error, and never drops the chunk silently", only_error, Sends{"Zürich 21 °C, 9 °C."},
     [](Chunks& chunks) {
       const std::string event = event_of(chunks[3].dump());
       chunks[3] = event.substr(0, event.size() - 22) + "\n\n";
     },
     [] {
       const std::string body = usual_body();
       return body.substr(0, body.find("\"finish_reason\""));
     }},
    {"key-disabled", "answers 403 unauthorized", "the documentation: key states",
     "reports the error, and does not retry", no_answer, forbidden},
    {"key-invalid", "answers 401 unauthorized", "the documentation: authentication",
     "reports the error, and does not retry", no_answer, unauthorized},
    {"key-invalid-as-400", "answers 400 with a list that holds one error, API_KEY_INVALID in its details",
     "MadAppGang/claudish#61", "reports the error, and does not retry", no_answer, refused_with,
     R"([{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.",)"
     R"("status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",)"
     R"("reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}])"},
    {"model-not-found", "answers 404 model_not_found", "OpenAI: error codes", "reports the error, and does not retry",
     no_answer, [] { return failure(404, "model_not_found", "the model does not exist"); }},
    {"refused-by-user-agent", "answers 403 with the HTML page of a firewall that blocks the client's User-Agent",
     "anomalyco/opencode#41320", "reports the status, and does not retry", no_answer,
     [] { return no_answer_behind_proxy(403, "Access denied, error 1010"); }},
};

inline constexpr ScenarioRow retries_rows[] = {
    {"cloudflare-520-then-answer", "answers 520 with a proxy's HTML page; a retry succeeds", "letta-ai/letta-code#1179",
     "retries, or reports the error", first_try,
     [] { return no_answer_behind_proxy(520, "Web server is returning an unknown error"); }},
    {"cloudflare-524-then-answer", "answers 524 with a proxy's HTML page; a retry succeeds",
     "anthropics/claude-code#3197", "retries, or reports the error", first_try,
     [] { return no_answer_behind_proxy(524, "A timeout occurred"); }},
    {"concurrency-limit",
     "answers 429 without Retry-After, because too many requests of the key are running; a retry succeeds",
     "QwenLM/qwen-code#3409", "retries after its own delay, or reports the error", first_try, limited_with,
     concurrency_body},
    {"daily-quota", "answers 429 every time, with an exhausted daily quota in the body", "dcdpr/jp#1061",
     "reports the error at once: a short wait does not restore a daily quota", no_answer, limited_with, daily_body},
    {"insufficient-quota", "answers 429 insufficient_quota every time", "langchainjs#1929",
     "reports the error at once: waiting does not restore credit", no_answer,
     [] {
       return failure(429, "insufficient_quota", "you exceeded your current quota")
           .type("insufficient_quota")
           .without_retry_after();
     }},
    {"overloaded-in-stream", "opens the stream with 200 and sends an overloaded_error; a retry succeeds",
     "vercel/ai#6534", "retries after a delay, or reports the error", first_try, only_event, only_body, busy_body},
    {"overloaded-then-answer", "answers 529 overloaded; a retry succeeds",
     "RFC 9110, section 15: treat an unknown 5xx as 500", "retries after a delay, or reports the error", first_try,
     overloaded},
    {"rate-limit-in-stream", "opens the stream with 200 and sends an error with code 429; a retry succeeds",
     "QwenLM/qwen-code#11216", "retries after a delay, or reports the error", first_try, only_event, only_body,
     limited_body},
    {"rate-limited-then-answer", "answers 429 with Retry-After: 1; a retry succeeds", "the documentation: rate limits",
     "retries after one second, or reports the error", first_try, [] { return rate_limited(1s); }},
    {"redirect-307", "answers 307 with a Location on this gateway; a request there succeeds",
     "letta-ai/letta#3189, RFC 9110, section 15.4.8",
     "resends the request there with method, body and key, or reports the redirect", first_try | redirects,
     [] { return failure(307, "", "").body(""); }},
    {"reset-as-date", "answers 429 with a past RFC 3339 date in x-ratelimit-reset-requests; a retry succeeds",
     "CortexLM/cortex-code#407", "honors the date, uses its own delay, or reports the error", first_try,
     [] {
       return limited_without_retry_after()
           .header("x-ratelimit-remaining-requests", "0")
           .header("x-ratelimit-reset-requests", "2024-01-01T00:00:00Z");
     }},
    {"reset-as-duration", "answers 429 with no tokens left; tokens reset in 0.66s, requests in 6m0s; a retry succeeds",
     "CortexLM/cortex-code#407, OpenAI: rate limits",
     "waits until the tokens reset, uses its own delay, or reports the error", first_try,
     [] {
       return limited_without_retry_after()
           .header("x-ratelimit-remaining-requests", "58")
           .header("x-ratelimit-reset-requests", "6m0s")
           .header("x-ratelimit-remaining-tokens", "0")
           .header("x-ratelimit-reset-tokens", "0.66s");
     }},
    {"reset-as-epoch", "answers 429 with past Unix seconds in x-ratelimit-reset; a retry succeeds",
     "CortexLM/cortex-code#407", "reads the number as a point in time, uses its own delay, or reports the error",
     first_try,
     [] {
       return limited_without_retry_after()
           .header("x-ratelimit-remaining", "0")
           .header("x-ratelimit-reset", "1704067200");
     }},
    {"retry-after-date", "answers 429 with a Retry-After date 1 to 2 s ahead; a retry succeeds",
     "openai-node#1840, openai-python#3555, RFC 9110, section 10.2.3", "retries after that date, or reports the error",
     first_try, [] { return rate_limited().retry_after_date(1s); }},
    {"retry-after-fraction", "answers 429 with Retry-After: 0.05; a retry succeeds",
     "openai-python, openai-node: seconds as a float", "waits that long, uses its own delay, or reports the error",
     first_try, limited_until, "0.05"},
    {"retry-after-garbage", "answers 429 with Retry-After: soon; a retry succeeds", "RFC 9110, section 10.2.3",
     "retries after its own delay, or reports the error", first_try, limited_until, "soon"},
    {"retry-after-in-lower-case", "answers 429 with retry-after: 1, in lower case; a retry succeeds",
     "RFC 9110, section 5.1", "finds the field in any case, waits that long and retries, or reports the error",
     first_try, [] { return rate_limited().without_retry_after().header("retry-after", "1"); }},
    {"retry-after-in-the-past", "answers 429 with a Retry-After date in 1994; a retry succeeds",
     "RFC 9110, section 10.2.3", "retries after its own delay, or reports the error", first_try, limited_until,
     "Sun, 06 Nov 1994 08:49:37 GMT"},
    {"retry-after-missing", "answers 429 without Retry-After; a retry succeeds", "openai-node#1840, openai-python#3555",
     "retries after its own delay, or reports the error", first_try, limited_without_retry_after},
    {"retry-after-ms", "answers 429 with retry-after-ms: 50; a retry succeeds", "OpenAI's SDKs: retry-after-ms",
     "waits that long, uses its own delay, or reports the error", first_try,
     [] { return limited_without_retry_after().retry_after_ms(50ms); }},
    {"retry-after-negative", "answers 429 with Retry-After: -1; a retry succeeds", "RFC 9110, section 10.2.3",
     "retries after its own delay, or reports the error", first_try,
     [] { return rate_limited().header("Retry-After", "-1"); }},
    {"retry-after-very-large", "answers 429 with Retry-After: 3600; a retry succeeds",
     "openai-node#1840, openai-python#3555", "reports the error instead of waiting for an hour", endless | first_try,
     [] { return rate_limited(1h); }},
    {"retry-after-zero", "answers 429 with Retry-After: 0; a retry succeeds", "RFC 9110, section 10.2.3",
     "retries after a short delay, or reports the error", first_try, [] { return rate_limited(0s); }},
    {"retry-delay-in-body", "answers 429 without Retry-After, but with a delay of 300ms in the body; a retry succeeds",
     "Aider-AI/aider#3694, diegosouzapw/OmniRoute#7961",
     "waits that long, uses a longer delay of its own, or reports the error", first_try, limited_with, delay_body},
    {"server-error-always", "answers 500 every time", "RFC 9110, section 15.6.1",
     "retries a few times at most, then reports the error", no_answer, server_error},
    {"server-error-then-answer", "answers 500; a retry succeeds", "RFC 9110, section 15.6.1",
     "retries, or reports the error", first_try, server_error},
    {"should-retry-false", "answers 500 with x-should-retry: false; a retry succeeds", "OpenAI's SDKs: x-should-retry",
     "reports the error at once", first_try, [] { return server_error().should_retry(false); }},
    {"should-retry-true", "answers 400 with x-should-retry: true; a retry succeeds", "OpenAI's SDKs: x-should-retry",
     "retries, or reports the error", first_try, [] { return bad_request().should_retry(true); }},
    {"stream-broken-then-answer", "closes the connection in the middle of the answer; a retry succeeds",
     "RFC 9112, section 8", "retries and shows the whole answer once, or reports the incomplete answer", first_try,
     Sends{"Zürich 21 °C, "}, in_the_middle, close_connection},
    {"tokens-per-minute-413", "answers 413 rate_limit_exceeded with type tokens; a retry succeeds",
     "continuedev/continue#10218", "retries after a delay, as after a 429, or reports the error", first_try,
     [] {
       return failure(413, "rate_limit_exceeded", "tokens per minute: limit 6000, requested 9001").type("tokens");
     }},
    {"unavailable-then-answer", "answers 503 with Retry-After: 0; a retry succeeds", "RFC 9110, section 15.6.4",
     "retries", then_answer, [] { return service_unavailable().retry_after(0s); }},
};

void add_failures(Scenarios& all) {
  add_group(all, "errors", errors_rows, std::size(errors_rows));
  add_group(all, "retries", retries_rows, std::size(retries_rows));
}

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
