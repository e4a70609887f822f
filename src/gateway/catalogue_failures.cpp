// Scenarios of errors and retries.

#include <chrono>
#include <iterator>  // size
#include <string>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

using namespace std::chrono_literals;

/// An error body as OpenAI writes it. The code is JSON.
std::string error_body(const char* message, const char* code) {
  return R"({"error":{"message":)" + json_string(message) + R"(,"type":"server_error","param":null,"code":)" + code +
         "}}";
}

std::string overloaded_body() { return error_body("the model is overloaded", R"("overloaded")"); }

/// The usual stream, with this event after two pieces of text in place of the rest.
Reply broken_by(const StreamChunk& event) {
  const ChunkTexts usual = usual_chunks();
  return chunks({element(usual[0]), element(usual[1]), element(usual[2]), event});
}

/// A 429 whose message names no header.
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

/// The usual stream, with this error as its only event.
Reply stream_of_error(const std::string& body) { return chunks({json_chunk(parse(body))}); }

/// What is said with status 200 of a client that asks too often, and of a service that has too much to do.
inline constexpr const char* limited_body =
    R"({"error":{"message":"Rate limit exceeded, try again","type":"rate_limit_error","code":429}})";
inline constexpr const char* busy_body =
    R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})";

/// How Google's services say when to come back, and which quota is used up.
inline constexpr const char* delay_body =
    R"({"error":{"code":429,"message":"Resource has been exhausted. Please try again in 300ms.",)"
    R"("status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo",)"
    R"("retryDelay":"0.3s"}]}})";
inline constexpr const char* daily_body =
    R"({"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",)"
    R"("details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[)"
    R"({"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"50"}]}]}})";

inline constexpr const char* too_long_body =
    R"({"error":{"message":"This model's maximum context length is 8192 tokens, and your messages have 9001.",)"
    R"("type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})";

inline constexpr ScenarioRow errors_rows[] = {
    ScenarioRow("bad-request", "answers 400 with the documented error body")
        .from("the documentation: error responses")
        .good("reports code and message, and does not try again")
        .only_error()
        .says("")
        .reply([]() -> Reply { return bad_request("max_tokens is too large"); }),
    ScenarioRow("choices-empty", "answers 200 with choices []")
        .from("BerriAI/litellm#40252")
        .good("reports that there is no answer")
        .only_error()
        .says("")
        .streamed([] { return stream_of({chunk_with(R"("choices":[])")}); })
        .unstreamed([] {
          return raw_reply(200, std::string(R"({"id":"chatcmpl-catalogue","object":"chat.completion",)"
                                            R"("created":1767225600,"model":"mock-model","choices":[],)") +
                                    usage + "}");
        }),
    ScenarioRow("choices-null", "answers 200 with choices null")
        .from("langchain#32252")
        .good("reports that there is no answer")
        .only_error()
        .says("")
        .streamed([] { return stream_of({chunk_with(R"("choices":null)")}); })
        .unstreamed([] {
          return raw_reply(200, std::string(R"({"id":"chatcmpl-catalogue","object":"chat.completion",)"
                                            R"("created":1767225600,"model":"mock-model","choices":null,)") +
                                    usage + "}");
        }),
    ScenarioRow("content-filter-400", "answers 400 content_filter, with what was found under innererror")
        .from("microsoft/semantic-kernel#5289")
        .good("reports it with its reason, and does not try again")
        .only_error()
        .says("")
        .reply([]() -> Reply {
          return bad_request().json_body(
              parse(R"({"error":{"message":"The prompt was filtered.","type":null,"param":"prompt",)"
                    R"("code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation",)"
                    R"("content_filter_result":{"jailbreak":{"filtered":true,"detected":true}}}}})"));
        }),
    ScenarioRow("context-overflow-as-code", "answers 400 context_length_exceeded")
        .from("earendil-works/pi#5677, OpenAI: error codes")
        .good("reports that the messages are too long, and does not send them again")
        .only_error()
        .says("")
        .reply([]() -> Reply { return bad_request().json_body(parse(too_long_body)); }),
    ScenarioRow("context-overflow-code-400", "answers 400 with code \"400\" to messages that are too long")
        .from("langchain-ai/langchainjs#10481")
        .good("reports it with its message")
        .only_error()
        .says("")
        .reply([]() -> Reply {
          return bad_request().json_body(parse(R"({"error":{"message":"Input is too long for the requested model.",)"
                                               R"("type":"BadRequestError","param":null,"code":"400"}})"));
        }),
    ScenarioRow("context-overflow-in-stream",
                "opens a stream with 200 and sends context_length_exceeded as its first event")
        .from("earendil-works/pi#5677")
        .good("reports that the messages are too long, and does not send them again")
        .only_error()
        .says("")
        .streams_only()
        .streamed([] { return stream_of_error(too_long_body); }),
    ScenarioRow("context-overflow-without-error",
                "answers 400 with a body without error, which names the maximum context length in message")
        .from("earendil-works/pi#5677, langchain-ai/langchainjs#10481")
        .good("reports the status, and the body's message")
        .only_error()
        .says("")
        .reply([]() -> Reply {
          return bad_request().json_body(
              parse(R"({"object":"error","message":"This model's maximum context length is 8192 tokens, and your )"
                    R"(messages have 9001.","type":"BadRequestError","param":null,"code":400})"));
        }),
    ScenarioRow("empty-200", "answers 200 with an empty body")
        .from("AstrBot#403")
        .good("reports that there is no answer")
        .only_error()
        .says("")
        .streamed([] { return raw_reply(200, "", "text/event-stream; charset=utf-8"); })
        .unstreamed([] { return raw_reply(200, ""); }),
    ScenarioRow("error-as-html", "answers 400 with a proxy's HTML page")
        .from("RFC 9110, section 15: the content of an error is for the user")
        .good("reports the status, and does not fail over the body")
        .only_error()
        .says("")
        .reply([]() -> Reply { return bad_request().body(page, "text/html"); }),
    ScenarioRow("error-as-sse-field", "sends an error after some text, in a field named error, then [DONE]")
        .from("coddy-project/coddy-agent#106")
        .good("reports the error, or that there is no finish_reason")
        .only_error()
        .streams_only()
        .streamed([] { return broken_by(raw_bytes("error: " + overloaded_body() + "\n\n")); }),
    ScenarioRow("error-body-cut-short", "closes the connection inside the body of a 400")
        .from("RFC 9112, section 8")
        .good("reports the error all the same")
        .only_error()
        .says("")
        .reply([] { return Reply(bad_request("max_tokens is too large")).fault(after_bytes(20), close_connection()); }),
    ScenarioRow("error-code-numeric", "answers 400 with a number for error.code")
        .from("go-openai#244")
        .good("takes a code of any type, and reports the error")
        .only_error()
        .says("")
        .reply([]() -> Reply { return bad_request().json_body(parse(error_body("context length exceeded", "400"))); }),
    ScenarioRow("error-event-first", "opens a stream with 200 and sends an error as its first event")
        .from("litellm#40578")
        .good("reports the error of the event")
        .only_error()
        .streams_only()
        .changed([](const Reply& reply, bool) {
          return reply.fault(after_headers(), error_event(parse(overloaded_body())));
        }),
    ScenarioRow("error-event-in-stream", "sends an error as an event after some text, then [DONE]")
        .from("litellm#40578, openai-python#2943")
        .good("reports the error; the text so far is no answer")
        .only_error()
        .streams_only()
        .changed([](const Reply& reply, bool) {
          return reply.fault(after_tokens(2), error_event(parse(overloaded_body())));
        }),
    ScenarioRow("error-event-named", "sends an error after some text, in an event named error")
        .from("OpenAI: streaming events, WHATWG HTML 9.2.6")
        .good("reports the error, whatever the event's name")
        .only_error()
        .streams_only()
        .streamed([] { return broken_by(raw_bytes("event: error\n" + event_of(overloaded_body()))); }),
    ScenarioRow("error-is-a-string", "answers 400 with a string for error")
        .from("fantasy#365")
        .good("reports the string")
        .only_error()
        .says("")
        .reply([]() -> Reply { return bad_request().json_body(parse(R"({"error":"the model is still loading"})")); }),
    ScenarioRow("error-metadata-raw", "answers 400 and has the reason as JSON in a string, error.metadata.raw")
        .from("zed-industries/zed#64424")
        .good("reports it, with what the string says")
        .only_error()
        .says("")
        .reply([]() -> Reply {
          return bad_request().json_body(
              parse(R"({"error":{"message":"Provider returned error","code":400,"metadata":{"raw":)" +
                    json_string(error_body("max_tokens is too large", "400")) + R"(,"provider_name":"Mock"}}})"));
        }),
    ScenarioRow("error-with-200", "answers 200 with an error body, as JSON")
        .from("OpenRouter: errors")
        .good("looks for error before choices, and reports it")
        .only_error()
        .says("")
        .reply([]() -> Reply { return raw_reply(200, error_body("no provider is available", "502")); }),
    ScenarioRow("error-without-body", "answers 400 with no body")
        .from("RFC 9110, section 15")
        .good("reports the status")
        .only_error()
        .says("")
        .reply([]() -> Reply { return bad_request().body(""); }),
    ScenarioRow("html-with-200", "answers 200 with an HTML page: a login form has the port")
        .from("RFC 6585, section 6: captive portals")
        .good("reports that this is no answer")
        .only_error()
        .says("")
        .reply([]() -> Reply {
          return raw_reply(200, "<!DOCTYPE html><html><body>Sign in to the network</body></html>", "text/html");
        }),
    ScenarioRow("invalid-json", "sends a chunk, or a body, that breaks off inside its JSON")
        .from("RFC 8259")
        .good("reports it; never leaves the chunk out")
        .only_error()
        .sends("Zürich 21 °C, 9 °C.")
        .streamed([] {
          const ChunkTexts usual = usual_chunks();
          const std::string event = event_of(json_of(usual[3]));
          return chunks({element(usual[0]), element(usual[1]), element(usual[2]),
                         raw_bytes(event.substr(0, event.size() - 22) + "\n\n"), element(usual[4]), element(usual[5])});
        })
        .unstreamed([] {
          const std::string body = usual_body();
          return raw_reply(200, body.substr(0, body.find("\"finish_reason\"")));
        }),
    ScenarioRow("key-disabled", "answers 403 unauthorized")
        .from("the documentation: key states")
        .good("reports it, and does not try again")
        .only_error()
        .says("")
        .reply([]() -> Reply { return forbidden(); }),
    ScenarioRow("key-invalid", "answers 401 unauthorized")
        .from("the documentation: authentication")
        .good("reports it, and does not try again")
        .only_error()
        .says("")
        .reply([]() -> Reply { return unauthorized(); }),
    ScenarioRow("key-invalid-as-400", "answers 400 with a list of one error, API_KEY_INVALID under its details")
        .from("MadAppGang/claudish#61")
        .good("reports it, and does not try again")
        .only_error()
        .says("")
        .reply([]() -> Reply {
          return bad_request().json_body(
              parse(R"([{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.",)"
                    R"("status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",)"
                    R"("reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}])"));
        }),
    ScenarioRow("model-not-found", "answers 404 model_not_found")
        .from("OpenAI: error codes")
        .good("reports it, and does not try again")
        .only_error()
        .says("")
        .reply([]() -> Reply { return failure(404, "model_not_found", "the model does not exist"); }),
};

inline constexpr ScenarioRow retries_rows[] = {
    ScenarioRow("cloudflare-520-then-answer", "answers 520 with a proxy's HTML page to every first try")
        .from("letta-ai/letta-code#1179")
        .good("tries again, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return no_answer_behind_proxy(520, "Web server is returning an unknown error"); }),
    ScenarioRow("cloudflare-524-then-answer", "answers 524 with a proxy's HTML page to every first try")
        .from("anthropics/claude-code#3197")
        .good("tries again, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return no_answer_behind_proxy(524, "A timeout occurred"); }),
    ScenarioRow("daily-quota", "answers 429 with the quota of a day in its body every time")
        .from("dcdpr/jp#1061")
        .good("reports it at once: a day's quota does not come back by waiting a moment")
        .only_error()
        .says("")
        .reply([]() -> Reply { return rate_limited().without_retry_after().json_body(parse(daily_body)); }),
    ScenarioRow("insufficient-quota", "answers 429 insufficient_quota every time")
        .from("langchainjs#1929")
        .good("reports it at once: credit does not come back by waiting")
        .only_error()
        .says("")
        .reply([]() -> Reply {
          return failure(429, "insufficient_quota", "you exceeded your current quota")
              .type("insufficient_quota")
              .without_retry_after();
        }),
    ScenarioRow("overloaded-in-stream", "opens each first try's stream with 200 and an overloaded_error")
        .from("vercel/ai#6534")
        .good("tries again after a while, or reports it")
        .error_too()
        .first_reply([] { return raw_reply(200, parse(busy_body)); })
        .first_streamed([] { return stream_of_error(busy_body); }, ""),
    ScenarioRow("overloaded-then-answer", "answers 529 overloaded to every first try")
        .from("RFC 9110, section 15: an unknown 5xx is a 500")
        .good("tries again after a while, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return overloaded(); }),
    ScenarioRow("rate-limit-in-stream", "opens each first try's stream with 200 and an error of code 429")
        .from("QwenLM/qwen-code#11216")
        .good("tries again after a while, or reports it")
        .error_too()
        .first_reply([] { return raw_reply(200, parse(limited_body)); })
        .first_streamed([] { return stream_of_error(limited_body); }, ""),
    ScenarioRow("rate-limited-then-answer", "answers 429 with Retry-After: 1 to every first try")
        .from("the documentation: rate limits")
        .good("tries again after a second, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited(1s); }),
    ScenarioRow("redirect-307", "answers 307 to every first try, with another address of this gateway in Location")
        .from("letta-ai/letta#3189, RFC 9110, section 15.4.8")
        .good("sends the same again there, method, body and key, or reports it")
        .error_too()
        .first_reply(
            []() -> Reply { return failure(307, "", "").body("").header("Location", "/v1/chat/completions?moved=1"); }),
    ScenarioRow("reset-as-date",
                "answers 429 to every first try, with a date of RFC 3339 in x-ratelimit-reset-requests")
        .from("CortexLM/cortex-code#407")
        .good("reads the date, which has passed, or takes its own time, or reports it")
        .error_too()
        .first_reply([]() -> Reply {
          return limited_without_retry_after()
              .header("x-ratelimit-remaining-requests", "0")
              .header("x-ratelimit-reset-requests", "2024-01-01T00:00:00Z");
        }),
    ScenarioRow("reset-as-duration",
                "answers 429 to every first try: no token is left for 0.66s, and requests are whole again in 6m0s")
        .from("CortexLM/cortex-code#407, OpenAI: rate limits")
        .good("waits for the tokens, not for the requests, or takes its own time, or reports it")
        .error_too()
        .first_reply([]() -> Reply {
          return limited_without_retry_after()
              .header("x-ratelimit-remaining-requests", "58")
              .header("x-ratelimit-reset-requests", "6m0s")
              .header("x-ratelimit-remaining-tokens", "0")
              .header("x-ratelimit-reset-tokens", "0.66s");
        }),
    ScenarioRow("reset-as-epoch", "answers 429 to every first try, with seconds since 1970 in x-ratelimit-reset")
        .from("CortexLM/cortex-code#407")
        .good("takes the number for a moment, which has passed, or takes its own time, or reports it")
        .error_too()
        .first_reply([]() -> Reply {
          return limited_without_retry_after()
              .header("x-ratelimit-remaining", "0")
              .header("x-ratelimit-reset", "1704067200");
        }),
    ScenarioRow("retry-after-date", "answers 429 with a date 1 to 2 s ahead in Retry-After to every first try")
        .from("openai-node#1840, openai-python#3555, RFC 9110, section 10.2.3")
        .good("tries again after that date, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited().retry_after_date(1s); }),
    ScenarioRow("retry-after-fraction", "answers 429 with Retry-After: 0.05 to every first try")
        .from("openai-python, openai-node: seconds as a float")
        .good("waits that long, or takes its own time, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited().retry_after("0.05"); }),
    ScenarioRow("retry-after-garbage", "answers 429 with Retry-After: soon to every first try")
        .from("RFC 9110, section 10.2.3")
        .good("tries again after a time of its own, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited().retry_after("soon"); }),
    ScenarioRow("retry-after-in-the-past", "answers 429 with a date of 1994 in Retry-After to every first try")
        .from("RFC 9110, section 10.2.3")
        .good("tries again after a time of its own, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited().retry_after("Sun, 06 Nov 1994 08:49:37 GMT"); }),
    ScenarioRow("retry-after-missing", "answers 429 without Retry-After to every first try")
        .from("openai-node#1840, openai-python#3555")
        .good("tries again after a time of its own, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return limited_without_retry_after(); }),
    ScenarioRow("retry-after-ms", "answers 429 with retry-after-ms: 50 to every first try")
        .from("OpenAI's SDKs: retry-after-ms")
        .good("waits that long, or takes its own time, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return limited_without_retry_after().retry_after_ms(50ms); }),
    ScenarioRow("retry-after-negative", "answers 429 with Retry-After: -1 to every first try")
        .from("RFC 9110, section 10.2.3")
        .good("tries again after a time of its own, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited().header("Retry-After", "-1"); }),
    ScenarioRow("retry-after-very-large", "answers 429 with Retry-After: 3600 to every first try")
        .from("openai-node#1840, openai-python#3555")
        .good("reports it: nobody waits for an hour")
        .error_too()
        .endless()
        .first_reply([]() -> Reply { return rate_limited(1h); }),
    ScenarioRow("retry-after-zero", "answers 429 with Retry-After: 0 to every first try")
        .from("RFC 9110, section 10.2.3")
        .good("tries again, after a moment at least, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited(0s); }),
    ScenarioRow("retry-delay-in-body",
                "answers 429 without Retry-After to every first try, and says in the body: in 300ms")
        .from("Aider-AI/aider#3694, diegosouzapw/OmniRoute#7961")
        .good("waits that long, or takes a longer time of its own, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return rate_limited().without_retry_after().json_body(parse(delay_body)); }),
    ScenarioRow("server-error-always", "answers 500 every time")
        .from("RFC 9110, section 15.6.1")
        .good("tries again a few times at most, then reports it")
        .only_error()
        .says("")
        .reply([]() -> Reply { return server_error(); }),
    ScenarioRow("server-error-then-answer", "answers 500 to every first try")
        .from("RFC 9110, section 15.6.1")
        .good("tries again, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return server_error(); }),
    ScenarioRow("should-retry-false", "answers 500 with x-should-retry: false to every first try")
        .from("OpenAI's SDKs: x-should-retry")
        .good("reports it at once")
        .error_too()
        .first_reply([]() -> Reply { return server_error().should_retry(false); }),
    ScenarioRow("should-retry-true", "answers 400 with x-should-retry: true to every first try")
        .from("OpenAI's SDKs: x-should-retry")
        .good("tries again, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return bad_request().should_retry(true); }),
    ScenarioRow("stream-broken-then-answer", "closes the connection in the middle of every first try's answer")
        .from("RFC 9112, section 8")
        .good("shows the whole answer once when it tries again, or reports that the first is incomplete")
        .error_too()
        .first_reply([] { return usual_plain().fault(after_bytes(150), close_connection()); })
        .first_streamed([] { return usual_stream().fault(after_tokens(2), close_connection()); }, "Zürich 21 °C, "),
    ScenarioRow("tokens-per-minute-413", "answers 413 rate_limit_exceeded, of type tokens, to every first try")
        .from("continuedev/continue#10218")
        .good("takes it for a rate limit and tries again after a while, or reports it")
        .error_too()
        .first_reply([]() -> Reply {
          return failure(413, "rate_limit_exceeded", "tokens per minute: limit 6000, requested 9001").type("tokens");
        }),
    ScenarioRow("unavailable-then-answer", "answers 503 with Retry-After: 0 to every first try")
        .from("RFC 9110, section 15.6.4")
        .good("tries again, or reports it")
        .error_too()
        .first_reply([]() -> Reply { return service_unavailable().retry_after(0s); }),
};

}  // namespace catalogue_parts

void add_errors(Scenarios& all) {
  add_group(all, "errors", catalogue_parts::errors_rows, std::size(catalogue_parts::errors_rows));
}

void add_retries(Scenarios& all) {
  add_group(all, "retries", catalogue_parts::retries_rows, std::size(catalogue_parts::retries_rows));
}

}  // namespace mock_gateway::detail
