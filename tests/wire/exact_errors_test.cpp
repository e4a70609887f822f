// The bytes of errors, whole: status line, every header in its order, body. What clients see changes only when these
// goldens do. They hold with every supported cpp-httplib. support/golden.hpp says how a golden is written.

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
using test_support::GoldenGateway;
using test_support::Http;

// --- Authentication --------------------------------------------------------------------------------------------------

TEST_CASE("401, to the byte, whatever is wrong with the key") {
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

TEST_CASE("403, to the byte, for a disabled key and for one without the right") {
  GoldenGateway on{Options{}.model("mock-model").model("other")};
  const Keys keys = on.gateway.keys();
  const auto disabled = keys.create("disabled", KeyOptions{}.disabled());
  const auto other_operation = keys.create("lists only", KeyOptions{}.operations({list_models()}));
  const auto other_model = keys.create("another model", KeyOptions{}.models({"other"}));
  for (const auto& key : {disabled, other_operation, other_model}) {
    CAPTURE(key.description);
    CHECK(golden(on.http.with_key(key.secret).chat().raw) == R"(
HTTP/1.1 403 Forbidden\r
Content-Type: application/json\r
Content-Length: 73\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})");
  }
  CHECK(golden(on.http.with_key(other_model.secret).get("/v1/models/mock-model").raw) == R"(
HTTP/1.1 403 Forbidden\r
Content-Type: application/json\r
Content-Length: 73\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})");
}

TEST_CASE("401 and 403 in the openai profile, to the byte") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  CHECK(golden(on.http.without_key().chat().raw) == R"(
HTTP/1.1 401 Unauthorized\r
Content-Type: application/json\r
Content-Length: 120\r
x-request-id: req_QkcpSK3rmtGoTVXOglosiJkvhVftov3e\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}})");
  const auto disabled = on.gateway.keys().create("disabled", KeyOptions{}.disabled());
  CHECK(golden(on.http.with_key(disabled.secret).chat().raw) == R"(
HTTP/1.1 403 Forbidden\r
Content-Type: application/json\r
Content-Length: 155\r
x-request-id: req_pwgaJxTakGZB0nV3N6pOX9141N9ka9N7\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"message":"You have insufficient permissions for this operation.","type":"invalid_request_error","param":null,"code":"insufficient_permissions"}})");
}

// --- Rate limits -----------------------------------------------------------------------------------------------------

TEST_CASE("429 of a key's limit, to the byte: Retry-After is what is left of the window") {
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

TEST_CASE("429 of a limit in the openai profile, to the byte") {
  GoldenGateway on{Options{}.profile(Profile::openai).limit(2, 60s)};
  CHECK(on.http.get("/v1/models").status == 200);
  CHECK(on.get("/v1/models") == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 110\r
x-request-id: req_UW3P5H0n5odehAWITk3nxvi9UxNPw0dk\r
openai-processing-ms: 1\r
x-ratelimit-limit-requests: 2\r
x-ratelimit-remaining-requests: 0\r
x-ratelimit-reset-requests: 1m0s\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"object":"list","data":[{"id":"mock-model","object":"model","created":1704067200,"owned_by":"mock_gateway"}]})");
  on.clock.advance(17500ms);
  CHECK(on.get("/v1/models") == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 152\r
Retry-After: 43\r
retry-after-ms: 42500\r
x-request-id: req_JIM3ZDD2HGx06fuhTvqx3ME1mkw2IhFW\r
openai-processing-ms: 1\r
x-ratelimit-limit-requests: 2\r
x-ratelimit-remaining-requests: 0\r
x-ratelimit-reset-requests: 42.5s\r
Date: Mon, 01 Jan 2024 00:00:17 GMT\r
\r
{"error":{"message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"requests","param":null,"code":"rate_limit_exceeded"}})");
}

TEST_CASE("forced 429s, to the byte, in each form of Retry-After") {
  GoldenGateway on;
  CHECK(on.forced(rate_limited()) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 136\r
Retry-After: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})");
  CHECK(on.forced(rate_limited(2s)) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 136\r
Retry-After: 2\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})");
  CHECK(on.forced(rate_limited(1500ms)) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 136\r
Retry-After: 1.5\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})");
  CHECK(on.forced(rate_limited().retry_after_date(90s)) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 136\r
Retry-After: Mon, 01 Jan 2024 00:01:30 GMT\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})");
  CHECK(on.forced(rate_limited().retry_after("soon")) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 136\r
Retry-After: soon\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})");
  CHECK(on.forced(rate_limited(1s).retry_after_ms(250ms).should_retry(false)) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 136\r
Retry-After: 1\r
retry-after-ms: 250\r
x-should-retry: false\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})");
}

// --- What is wrong with a request ------------------------------------------------------------------------------------

TEST_CASE("400s of the body, to the byte") {
  GoldenGateway on;
  CHECK(on.post("") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 92\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"invalid_json","message":"invalid JSON: the body is empty","type":"error"}})");
  CHECK(on.post("[]") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 105\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"invalid_type","message":"body: expected an object, got an empty array","type":"error"}})");
  CHECK(on.post(R"({"model":"mock-model"})") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 115\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"missing_required_parameter","message":"messages: expected an array, got nothing","type":"error"}})");
  CHECK(on.chat({{"model", 5}}) == R"golden(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 103\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"invalid_type","message":"model: expected a string, got a number (5)","type":"error"}})golden");
  CHECK(on.chat({{"top_p", "high"}}) == R"golden(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 110\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"invalid_type","message":"top_p: expected a number, got a string (\"high\")","type":"error"}})golden");
  CHECK(on.chat({{"messages", {{{"role", "robot"}, {"content", "Hi"}}}}}) == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 156\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"invalid_value","message":"messages[0].role: expected one of \"system\", \"user\", \"assistant\", \"tool\", got \"robot\"","type":"error"}})");
  CHECK(on.chat({{"top_p", 1.5}}) == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 104\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"value_above_maximum","message":"top_p: expected at most 1.0, got 1.5","type":"error"}})");
  CHECK(on.chat({{"presence_penalty", -3}}) == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 116\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"value_below_minimum","message":"presence_penalty: expected at least -2.0, got -3","type":"error"}})");
  CHECK(on.chat({{"max_tokens", 0}}) == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 106\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"value_below_minimum","message":"max_tokens: expected at least 1, got 0","type":"error"}})");
}

TEST_CASE("400s of the body in the openai profile, to the byte") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  CHECK(on.post(R"({"model":"mock-model"})") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 150\r
x-request-id: req_7FBU6OUTCd743YWHZWGU6KYBzoxxAAbT\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"message":"messages: expected an array, got nothing","type":"invalid_request_error","param":"messages","code":"missing_required_parameter"}})");
  CHECK(on.chat({{"max_tokens", 0}}) == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 147\r
x-request-id: req_inVWwfwxvi06lHwGhyhyjlPOmgb91FIl\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"message":"max_tokens: expected at least 1, got 0","type":"invalid_request_error","param":"max_tokens","code":"integer_below_min_value"}})");
}

TEST_CASE("400, 414, 431, 501 and 505 of malformed HTTP, to the byte") {
  GoldenGateway on;
  CHECK(golden_answer_to(on.gateway, "GET /v1/models\r\n\r\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 140\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: the request line is not \"METHOD target HTTP/1.1\"","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "GET /v1/models HTTP/1.1\nHost: gateway\n\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 179\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: request line or headers contain a control character, or a line that does not end in CR LF","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "GET /v1/models HTTP/1.1\r\nHost gateway\r\n\r\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 126\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: header line 1 is not \"Name: value\"","type":"error"}})");
  CHECK(golden_answer_to(on.gateway,
                         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 131\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: both Content-Length and Transfer-Encoding","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n") == R"(
HTTP/1.1 414 URI Too Long\r
Content-Type: application/json\r
Content-Length: 121\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"uri_too_long","message":"the request target has 9001 bytes; at most 8000 are accepted","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "GET / HTTP/1.1\r\nx: " + std::string(9000, 'x') + "\r\n\r\n") == R"(
HTTP/1.1 431 Request Header Fields Too Large\r
Content-Type: application/json\r
Content-Length: 121\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"headers_too_large","message":"a header line has 9003 bytes; at most 8000 are accepted","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "GET / HTTP/1.1\r\nx: " + std::string(100'000, 'x') + "\r\n\r\n") == R"(
HTTP/1.1 431 Request Header Fields Too Large\r
Content-Type: application/json\r
Content-Length: 117\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"headers_too_large","message":"request line and headers have more than 65536 bytes","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n") == R"(
HTTP/1.1 501 Not Implemented\r
Content-Type: application/json\r
Content-Length: 122\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"unsupported_transfer_encoding","message":"the only transfer coding accepted is chunked","type":"error"}})");
  CHECK(golden_answer_to(on.gateway, "GET / HTTP/2.0\r\n\r\n") == R"(
HTTP/1.1 505 HTTP Version Not Supported\r
Content-Type: application/json\r
Content-Length: 117\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"http_version_not_supported","message":"only HTTP/1.1 and HTTP/1.0 are spoken here","type":"error"}})");
}

TEST_CASE("404s, to the byte") {
  GoldenGateway on;
  CHECK(on.get("/v1/nothing?at=all") == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 206\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unknown_path","message":"no operation at /v1/nothing; the gateway serves GET /v1/models, POST /v1/chat/completions; Gateway::on or \"operations\" of a script mount others","type":"error"}})");
  CHECK(on.chat({{"model", "unknown"}}) == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 190\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"model_not_found","message":"the model \"unknown\" does not exist; the gateway serves mock-model; --model, Options::model or \"models\" of a script add one","type":"error"}})");
  CHECK(on.get("/v1/models/un%2Fknown") == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 191\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"model_not_found","message":"the model \"un/known\" does not exist; the gateway serves mock-model; --model, Options::model or \"models\" of a script add one","type":"error"}})");
  CHECK(on.forced(not_found()) == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 96\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"not_found","message":"The requested resource does not exist.","type":"error"}})");
}

TEST_CASE("404 of a model in the openai profile, to the byte") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  CHECK(on.chat({{"model", "unknown"}}) == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 222\r
x-request-id: req_zZxsHLuwg9TQOHZEFefTh99bmBgLfi5p\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"message":"the model \"unknown\" does not exist; the gateway serves mock-model; --model, Options::model or \"models\" of a script add one","type":"invalid_request_error","param":"model","code":"model_not_found"}})");
}

TEST_CASE("405, to the byte, with a body and to HEAD without") {
  GoldenGateway on;
  CHECK(on.get(chat_path) == R"(
HTTP/1.1 405 Method Not Allowed\r
Content-Type: application/json\r
Content-Length: 124\r
Allow: POST\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"method_not_allowed","message":"GET is not allowed at /v1/chat/completions; allowed: POST","type":"error"}})");
  CHECK(golden(on.http.request("HEAD", "/v1/models").raw) == R"(
HTTP/1.1 405 Method Not Allowed\r
Content-Type: application/json\r
Content-Length: 114\r
Allow: GET\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
)");
}

TEST_CASE("408, to the byte, of a request that stalls and forced") {
  GoldenGateway on{Options{}.read_timeout(50ms)};
  CHECK(golden_answer_to(on.gateway, "GET /v1/mod") == R"(
HTTP/1.1 408 Request Timeout\r
Content-Type: application/json\r
Content-Length: 105\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"request_timeout","message":"the request's head did not arrive in time","type":"error"}})");
  CHECK(on.forced(request_timeout()) == R"(
HTTP/1.1 408 Request Timeout\r
Content-Type: application/json\r
Content-Length: 111\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"request_timeout","message":"The request took too long to arrive. Try again.","type":"error"}})");
}

TEST_CASE("413 and 415, to the byte") {
  GoldenGateway on{Options{}.max_body(100)};
  CHECK(on.post(std::string(101, ' ')) == R"(
HTTP/1.1 413 Content Too Large\r
Content-Type: application/json\r
Content-Length: 95\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"body_too_large","message":"the body has more than 100 bytes","type":"error"}})");
  CHECK(golden(on.http.with_content_type("text/plain").post(chat_path, chat_body().dump()).raw) == R"(
HTTP/1.1 415 Unsupported Media Type\r
Content-Type: application/json\r
Content-Length: 132\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unsupported_content_type","message":"Content-Type: expected application/json, got \"text/plain\"","type":"error"}})");
}

// --- Failures on demand ----------------------------------------------------------------------------------------------

TEST_CASE("each named failure, to the byte") {
  GoldenGateway on;
  CHECK(on.forced(bad_request()) == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 71\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"bad_request","message":"bad request","type":"error"}})");
  CHECK(on.forced(unauthorized()) == R"(
HTTP/1.1 401 Unauthorized\r
Content-Type: application/json\r
Content-Length: 73\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})");
  CHECK(on.forced(forbidden()) == R"(
HTTP/1.1 403 Forbidden\r
Content-Type: application/json\r
Content-Length: 73\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})");
  CHECK(on.forced(conflict()) == R"(
HTTP/1.1 409 Conflict\r
Content-Type: application/json\r
Content-Length: 107\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"conflict","message":"The request conflicts with another one. Try again.","type":"error"}})");
  CHECK(on.forced(server_error()) == R"(
HTTP/1.1 500 Internal Server Error\r
Content-Type: application/json\r
Content-Length: 121\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"internal_error","message":"The server failed to process the request. Try again later.","type":"error"}})");
  CHECK(on.forced(bad_gateway()) == R"(
HTTP/1.1 502 Bad Gateway\r
Content-Type: application/json\r
Content-Length: 122\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"bad_gateway","message":"The server got no valid answer from upstream. Try again later.","type":"error"}})");
  CHECK(on.forced(service_unavailable()) == R"(
HTTP/1.1 503 Service Unavailable\r
Content-Type: application/json\r
Content-Length: 112\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"service_unavailable","message":"The service is unavailable. Try again later.","type":"error"}})");
  CHECK(on.forced(gateway_timeout()) == R"(
HTTP/1.1 504 Gateway Timeout\r
Content-Type: application/json\r
Content-Length: 128\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"gateway_timeout","message":"The server got no answer from upstream in time. Try again later.","type":"error"}})");
  CHECK(on.forced(overloaded()) == R"(
HTTP/1.1 529 Site is overloaded\r
Content-Type: application/json\r
Content-Length: 102\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"overloaded","message":"The service is overloaded. Try again later.","type":"error"}})");
}

TEST_CASE("failures of a test's own making, to the byte") {
  GoldenGateway on;
  CHECK(on.forced(failure(599, "odd", "A status that nobody registered.")) == R"(
HTTP/1.1 599 Unknown\r
Content-Type: application/json\r
Content-Length: 84\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"odd","message":"A status that nobody registered.","type":"error"}})");
  CHECK(on.forced(failure(402, "insufficient_quota", "No \"credit\" left.")
                      .type("billing")
                      .header("x-a", "1")
                      .add_header("x-a", "2")) == R"(
HTTP/1.1 402 Payment Required\r
Content-Type: application/json\r
Content-Length: 88\r
x-a: 1\r
x-a: 2\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"insufficient_quota","message":"No \"credit\" left.","type":"billing"}})");
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

TEST_CASE("500, to the byte, when a test's function throws") {
  GoldenGateway on;
  on.gateway.chat().reply([](const ChatRequest&) -> Reply { throw std::runtime_error("oops"); });
  CHECK(on.chat() == R"(
HTTP/1.1 500 Internal Server Error\r
Content-Type: application/json\r
Content-Length: 140\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"internal_error","message":"a function of the test threw an exception; the gateway's journal has its text","type":"error"}})");
}

}  // namespace exact_errors_test
