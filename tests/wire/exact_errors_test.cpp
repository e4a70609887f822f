// The complete bytes of errors: status line, all headers in order, body. A golden changes only if clients see a change,
// and is the same for every supported cpp-httplib. support/golden.hpp explains the notation.

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/golden.hpp"
#include "support/printing.hpp"

namespace exact_errors_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::golden;
using test_support::golden_answer_to;
using test_support::golden_error;
using test_support::golden_openai_error;
using test_support::golden_reply;
using test_support::GoldenGateway;
using test_support::Http;

/// The header of an error after which the gateway closes the connection.
const test_support::GoldenFields closing{{}, {"Connection: close"}};

// --- Authentication --------------------------------------------------------------------------------------------------

TEST_CASE("the bytes of the 401 for any invalid key") {
  GoldenGateway on;
  const auto deleted = on.gateway.keys().create("deleted");
  on.gateway.keys().remove(deleted.id);
  const std::string valid = "Bearer " + on.gateway.api_key();
  const std::vector<std::pair<const char*, Http>> causes = {
      {"missing", on.http.without_key()},
      {"empty", on.http.with_authorization("")},
      {"scheme only", on.http.with_authorization("Bearer")},
      {"without a scheme", on.http.with_authorization(on.gateway.api_key())},
      {"another scheme", on.http.with_authorization("Basic " + on.gateway.api_key())},
      {"not sk-", on.http.with_key("pk-1234567890")},
      {"unknown", on.http.with_key("sk-unknown")},
      {"deleted", on.http.with_key(deleted.secret)},
      {"two headers", on.http.with_header("Authorization", valid)},
  };
  for (const auto& [cause, http] : causes) {
    const auto& cause_shown = cause;  // a lambda in C++17 cannot name a structured binding
    CAPTURE(cause_shown);
    CHECK(golden(http.chat().raw) == R"(
HTTP/1.1 401 Unauthorized\r
Content-Type: application/json\r
Content-Length: 73\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})");
  }
}

TEST_CASE("the bytes of the 403 for a disabled key and for a key without permission") {
  GoldenGateway on{Options{}.model("mock-model").model("other")};
  const Keys keys = on.gateway.keys();
  const auto disabled = keys.create("disabled", KeyOptions{}.disabled());
  const auto other_operation = keys.create("lists only", KeyOptions{}.operations({list_models()}));
  const auto other_model = keys.create("another model", KeyOptions{}.models({"other"}));
  for (const auto& key : {disabled, other_operation, other_model}) {
    CAPTURE(key.description);
    CHECK(golden(on.http.with_key(key.secret).chat().raw) ==
          golden_error("403 Forbidden", "unauthorized", "unauthorized"));
  }
  CHECK(golden(on.http.with_key(other_model.secret).get("/v1/models/mock-model").raw) ==
        golden_error("403 Forbidden", "unauthorized", "unauthorized"));
}

TEST_CASE("the bytes of the 401 and the 403 in the openai profile") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  CHECK(golden(on.http.without_key().chat().raw) == R"(
HTTP/1.1 401 Unauthorized\r
Content-Type: application/json\r
Content-Length: 201\r
x-request-id: req_QkcpSK3rmtGoTVXOglosiJkvhVftov3e\r
openai-processing-ms: 1\r
openai-version: 2020-10-01\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"message":"Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}})");
  const auto disabled = on.gateway.keys().create("disabled", KeyOptions{}.disabled());
  CHECK(golden(on.http.with_key(disabled.secret).chat().raw) ==
        golden_reply(
            "403 Forbidden",
            R"({"error":{"code":"unsupported_country_region_territory",)"
            R"("message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}})",
            test_support::openai_fields("req_pwgaJxTakGZB0nV3N6pOX9141N9ka9N7")));
}

// --- Rate limits -----------------------------------------------------------------------------------------------------

TEST_CASE("the bytes of the 429 of a key's limit, with the rest of the window in Retry-After") {
  GoldenGateway on;
  const auto key = on.gateway.keys().create("limited", KeyOptions{}.limit(1, 60s));
  const Http limited = on.http.with_key(key.secret);
  CHECK(limited.chat().status == 200);
  on.clock.advance(17500ms);
  CHECK(golden(limited.chat().raw) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 136\r
Retry-After: 43\r
Date: Mon, 01 Jan 2024 00:00:17 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})");
}

TEST_CASE("the bytes of the 429 of a limit in the openai profile") {
  GoldenGateway on{Options{}.profile(Profile::openai).limit(2, 60s)};
  CHECK(on.http.get("/v1/models").status == 200);
  CHECK(
      on.get("/v1/models") ==
      golden_reply(
          "200 OK",
          R"({"object":"list","data":[{"id":"mock-model","object":"model","created":1704067200,"owned_by":"mock_gateway"}]})",
          {{"x-request-id: req_UW3P5H0n5odehAWITk3nxvi9UxNPw0dk", "openai-processing-ms: 1",
            "openai-version: 2020-10-01", "x-ratelimit-limit-requests: 2", "x-ratelimit-remaining-requests: 0",
            "x-ratelimit-reset-requests: 1m0s"}}));
  on.clock.advance(17500ms);
  CHECK(on.get("/v1/models") == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 152\r
Retry-After: 43\r
retry-after-ms: 42500\r
x-request-id: req_JIM3ZDD2HGx06fuhTvqx3ME1mkw2IhFW\r
openai-processing-ms: 1\r
openai-version: 2020-10-01\r
x-ratelimit-limit-requests: 2\r
x-ratelimit-remaining-requests: 0\r
x-ratelimit-reset-requests: 42.5s\r
Date: Mon, 01 Jan 2024 00:00:17 GMT\r
\r
{"error":{"message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"requests","param":null,"code":"rate_limit_exceeded"}})");
}

TEST_CASE("the bytes of a forced 429 with each form of Retry-After") {
  GoldenGateway on;
  const auto limited = [](const test_support::GoldenFields& headers) {
    return golden_error("429 Too Many Requests", "rate_limit_exceeded",
                        "The rate limit is exceeded. Try again after the time in Retry-After.", headers);
  };
  CHECK(on.forced(rate_limited()) == limited({{"Retry-After: 1"}}));
  CHECK(on.forced(rate_limited(2s)) == limited({{"Retry-After: 2"}}));
  CHECK(on.forced(rate_limited(1500ms)) == limited({{"Retry-After: 1.5"}}));
  CHECK(on.forced(rate_limited().retry_after_date(90s)) == limited({{"Retry-After: Mon, 01 Jan 2024 00:01:30 GMT"}}));
  CHECK(on.forced(rate_limited().retry_after("soon")) == limited({{"Retry-After: soon"}}));
  CHECK(on.forced(rate_limited(1s).retry_after_ms(250ms).should_retry(false)) ==
        limited({{"Retry-After: 1", "retry-after-ms: 250", "x-should-retry: false"}}));
}

// --- Invalid requests ------------------------------------------------------------------------------------------------

TEST_CASE("the bytes of 400s for invalid bodies") {
  GoldenGateway on;
  CHECK(on.post("") == golden_error("400 Bad Request", "invalid_json", "invalid JSON: the body is empty"));
  CHECK(on.post("[]") ==
        golden_error("400 Bad Request", "invalid_type", "body: expected an object, got an empty array"));
  CHECK(on.post(R"({"model":"mock-model"})") ==
        golden_error("400 Bad Request", "missing_required_parameter", "messages: expected an array, got nothing"));
  CHECK(on.chat({{"model", 5}}) ==
        golden_error("400 Bad Request", "invalid_type", "model: expected a string, got a number (5)"));
  CHECK(on.chat({{"top_p", "high"}}) == R"golden(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 110\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"invalid_type","message":"top_p: expected a number, got a string (\"high\")","type":"error"}})golden");
  CHECK(on.chat({{"messages", {{{"role", "robot"}, {"content", "Hi"}}}}}) ==
        golden_error("400 Bad Request", "invalid_value",
                     R"(messages[0].role: expected one of "system", "user", "assistant", "tool", got "robot")"));
  CHECK(on.chat({{"top_p", 1.5}}) ==
        golden_error("400 Bad Request", "value_above_maximum", "top_p: expected at most 1.0, got 1.5"));
  CHECK(on.chat({{"presence_penalty", -3}}) ==
        golden_error("400 Bad Request", "value_below_minimum", "presence_penalty: expected at least -2.0, got -3"));
  CHECK(on.chat({{"max_tokens", 0}}) ==
        golden_error("400 Bad Request", "value_below_minimum", "max_tokens: expected at least 1, got 0"));
}

TEST_CASE("the bytes of 400s for invalid bodies in the openai profile") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  CHECK(on.post(R"({"model":"mock-model"})") ==
        golden_openai_error("400 Bad Request", "missing_required_parameter", "messages: expected an array, got nothing",
                            "messages", "req_7FBU6OUTCd743YWHZWGU6KYBzoxxAAbT"));
  CHECK(on.chat({{"max_tokens", 0}}) == golden_openai_error("400 Bad Request", "integer_below_min_value",
                                                            "max_tokens: expected at least 1, got 0", "max_tokens",
                                                            "req_inVWwfwxvi06lHwGhyhyjlPOmgb91FIl"));
}

TEST_CASE("the bytes of the 400, 414, 431, 501 and 505 for malformed HTTP") {
  GoldenGateway on;
  CHECK(golden_answer_to(on.gateway, "GET /v1/models\r\n\r\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 140\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: the request line is not \"METHOD target HTTP/1.1\"","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "GET /v1/models HTTP/1.1\nHost: gateway\n\n") ==
        golden_error("400 Bad Request", "malformed_request",
                     "malformed HTTP request: request line or headers contain a control character, or a line that does "
                     "not end in CR LF",
                     closing));
  CHECK(golden_answer_to(on.gateway, "GET /v1/models HTTP/1.1\r\nHost gateway\r\n\r\n") ==
        golden_error("400 Bad Request", "malformed_request",
                     R"(malformed HTTP request: header line 1 is not "Name: value")", closing));
  CHECK(golden_answer_to(on.gateway,
                         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n") ==
        golden_error("400 Bad Request", "malformed_request",
                     "malformed HTTP request: both Content-Length and Transfer-Encoding", closing));
  CHECK(golden_answer_to(on.gateway, "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n") ==
        golden_error("414 URI Too Long", "uri_too_long", "the request target has 9001 bytes; at most 8000 are accepted",
                     closing));
  CHECK(golden_answer_to(on.gateway, "GET / HTTP/1.1\r\nx: " + std::string(9000, 'x') + "\r\n\r\n") ==
        golden_error("431 Request Header Fields Too Large", "headers_too_large",
                     "a header line has 9003 bytes; at most 8000 are accepted", closing));
  CHECK(golden_answer_to(on.gateway, "GET / HTTP/1.1\r\nx: " + std::string(100'000, 'x') + "\r\n\r\n") ==
        golden_error("431 Request Header Fields Too Large", "headers_too_large",
                     "request line and headers have more than 65536 bytes", closing));
  CHECK(golden_answer_to(on.gateway, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n") ==
        golden_error("501 Not Implemented", "unsupported_transfer_encoding",
                     "the only transfer coding accepted is chunked", closing));
  CHECK(golden_answer_to(on.gateway, "GET / HTTP/2.0\r\n\r\n") ==
        golden_error("505 HTTP Version Not Supported", "http_version_not_supported",
                     "only HTTP/1.1 and HTTP/1.0 are spoken here", closing));
}

TEST_CASE("the bytes of 404s") {
  GoldenGateway on;
  CHECK(on.get("/v1/nothing?at=all") == golden_error("404 Not Found", "unknown_path",
                                                     "no operation at /v1/nothing; the gateway serves GET /v1/models, "
                                                     "GET /v1/models/{id}, POST /v1/chat/completions; "
                                                     "Gateway::on or \"operations\" of a script mount others"));
  CHECK(on.chat({{"model", "unknown"}}) ==
        golden_error("404 Not Found", "model_not_found",
                     "the model \"unknown\" does not exist; the gateway serves mock-model; --model, Options::model or "
                     "\"models\" of a script add one"));
  CHECK(on.get("/v1/models/un%2Fknown") ==
        golden_error("404 Not Found", "model_not_found",
                     "the model \"un/known\" does not exist; the gateway serves mock-model; --model, Options::model or "
                     "\"models\" of a script add one"));
  CHECK(on.forced(not_found()) == golden_error("404 Not Found", "not_found", "The requested resource does not exist."));
}

TEST_CASE("the bytes of the 404 for an unknown model in the openai profile") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  CHECK(on.chat({{"model", "unknown"}}) ==
        golden_openai_error("404 Not Found", "model_not_found",
                            "the model \"unknown\" does not exist; the gateway serves mock-model; --model, "
                            "Options::model or \"models\" of a script add one",
                            "model", "req_zZxsHLuwg9TQOHZEFefTh99bmBgLfi5p"));
}

TEST_CASE("the bytes of the 405, with a body, and without a body for HEAD") {
  GoldenGateway on;
  CHECK(on.get(chat_path) == golden_error("405 Method Not Allowed", "method_not_allowed",
                                          "GET is not allowed at /v1/chat/completions; allowed: POST",
                                          {{"Allow: POST"}}));
  CHECK(golden(on.http.request("HEAD", "/v1/models").raw) == R"(
HTTP/1.1 405 Method Not Allowed\r
Content-Type: application/json\r
Content-Length: 114\r
Allow: GET\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
)");
}

TEST_CASE("the bytes of the 408 for a stalled request and of a forced 408") {
  GoldenGateway on{Options{}.read_timeout(50ms)};
  CHECK(golden_answer_to(on.gateway, "GET /v1/mod") ==
        golden_error("408 Request Timeout", "request_timeout", "the request's head did not arrive in time", closing));
  CHECK(on.forced(request_timeout()) ==
        golden_error("408 Request Timeout", "request_timeout", "The request took too long to arrive. Try again."));
}

TEST_CASE("the bytes of the 413 and the 415") {
  GoldenGateway on{Options{}.max_body(100)};
  CHECK(on.post(std::string(101, ' ')) ==
        golden_error("413 Content Too Large", "body_too_large", "the body has more than 100 bytes", closing));
  CHECK(golden(on.http.with_content_type("text/plain").post(chat_path, chat_body().dump()).raw) ==
        golden_error("415 Unsupported Media Type", "unsupported_content_type",
                     R"(Content-Type: expected application/json, got "text/plain")"));
}

// --- Failures on demand ----------------------------------------------------------------------------------------------

TEST_CASE("the bytes of each named failure") {
  GoldenGateway on;
  CHECK(on.forced(bad_request()) == golden_error("400 Bad Request", "bad_request", "bad request"));
  CHECK(on.forced(unauthorized()) == golden_error("401 Unauthorized", "unauthorized", "unauthorized"));
  CHECK(on.forced(forbidden()) == golden_error("403 Forbidden", "unauthorized", "unauthorized"));
  CHECK(on.forced(conflict()) ==
        golden_error("409 Conflict", "conflict", "The request conflicts with another one. Try again."));
  CHECK(on.forced(server_error()) == golden_error("500 Internal Server Error", "internal_error",
                                                  "The server failed to process the request. Try again later."));
  CHECK(on.forced(bad_gateway()) == golden_error("502 Bad Gateway", "bad_gateway",
                                                 "The server got no valid answer from upstream. Try again later."));
  CHECK(on.forced(service_unavailable()) ==
        golden_error("503 Service Unavailable", "service_unavailable", "The service is unavailable. Try again later."));
  CHECK(on.forced(gateway_timeout()) ==
        golden_error("504 Gateway Timeout", "gateway_timeout",
                     "The server got no answer from upstream in time. Try again later."));
  CHECK(on.forced(overloaded()) ==
        golden_error("529 Site is overloaded", "overloaded", "The service is overloaded. Try again later."));
}

TEST_CASE("the bytes of failures that a test defines") {
  GoldenGateway on;
  CHECK(on.forced(failure(599, "odd", "A status that nobody registered.")) ==
        golden_error("599 Unknown", "odd", "A status that nobody registered."));
  CHECK(on.forced(failure(402, "insufficient_quota", "No \"credit\" left.")
                      .type("billing")
                      .header("x-a", "1")
                      .add_header("x-a", "2")) ==
        golden_reply("402 Payment Required",
                     R"({"error":{"code":"insufficient_quota","message":"No \"credit\" left.","type":"billing"}})",
                     {{"x-a: 1", "x-a: 2"}}));
  CHECK(on.forced(bad_gateway().body("<html>502</html>\n", "text/html")) == R"(
HTTP/1.1 502 Bad Gateway\r
Content-Type: text/html\r
Content-Length: 17\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
<html>502</html>
)");
  CHECK(on.forced(failure(204, "nothing", "nothing")) == R"(
HTTP/1.1 204 No Content\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
)");
}

TEST_CASE("the bytes of the 500 for an exception in a function of the test") {
  GoldenGateway on;
  on.gateway.chat().reply([](const ChatRequest&) -> Reply { throw std::runtime_error("oops"); });
  CHECK(on.chat() == golden_error("500 Internal Server Error", "internal_error",
                                  "a function of the test threw an exception; the journal has its text"));
}

}  // namespace exact_errors_test
