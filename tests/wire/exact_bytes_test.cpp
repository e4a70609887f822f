// The bytes of answers, whole: status line, every header in its order, body, chunk framing. What clients see changes
// only when these goldens do. They hold with every supported cpp-httplib.
//
// A golden begins on the line after its quote. `\r` at the end of a line in it stands for CR; each line ends in LF.

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace exact_bytes {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::Http;
using test_support::RawConnection;

/// Bytes as goldens write them.
inline std::string golden(std::string_view bytes) {
  std::string text = "\n";
  for (const char byte : bytes) {
    if (byte == '\r')
      text += "\\r";
    else
      text += byte;
  }
  return text;
}

/// The answer to these bytes on a connection of their own.
inline std::string answer_to(const Gateway& gateway, std::string_view request) {
  RawConnection connection(gateway);
  connection.send(request);
  return golden(connection.receive_response().raw);
}

/// A gateway whose clock stands at 2024-01-01T00:00:00Z, and requests to it.
struct Fixture {
  explicit Fixture(Options options = {}) : gateway(options.clock(clock).verify_on_destruction(false)), http(gateway) {}

  std::string get(const std::string& path) const { return golden(http.get(path).raw); }
  std::string post(const std::string& body) const { return golden(http.post(chat_path, body).raw); }
  std::string chat(const Json& extra = {}) const { return golden(http.chat(extra).raw); }
  std::string stream(const Json& extra = {}) const { return golden(http.stream(extra).raw); }
  /// The answer to a request on which the failure is forced.
  std::string forced(const Failure& failure) {
    gateway.fail_next(failure);
    return get("/v1/models");
  }

  ManualClock clock;
  Gateway gateway;
  Http http;
};

// --- Authentication --------------------------------------------------------------------------------------------------

TEST_CASE("401, to the byte, whatever is wrong with the key") {
  Fixture on;
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
  Fixture on{Options{}.model("mock-model").model("other")};
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
  Fixture on{Options{}.profile(Profile::openai)};
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
  Fixture on;
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
  Fixture on{Options{}.profile(Profile::openai).limit(2, 60s)};
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
  Fixture on;
  CHECK(on.forced(rate_limited()) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 112\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again later.","type":"error"}})");
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
Content-Length: 112\r
Retry-After: Mon, 01 Jan 2024 00:01:30 GMT\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again later.","type":"error"}})");
  CHECK(on.forced(rate_limited().retry_after("soon")) == R"(
HTTP/1.1 429 Too Many Requests\r
Content-Type: application/json\r
Content-Length: 112\r
Retry-After: soon\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again later.","type":"error"}})");
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
  Fixture on;
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
  Fixture on{Options{}.profile(Profile::openai)};
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
  Fixture on;
  CHECK(answer_to(on.gateway, "GET /v1/models\r\n\r\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 140\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: the request line is not \"METHOD target HTTP/1.1\"","type":"error"}})");
  CHECK(answer_to(on.gateway, "GET /v1/models HTTP/1.1\nHost: gateway\n\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 179\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: request line or headers contain a control character, or a line that does not end in CR LF","type":"error"}})");
  CHECK(answer_to(on.gateway, "GET /v1/models HTTP/1.1\r\nHost gateway\r\n\r\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 126\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: header line 1 is not \"Name: value\"","type":"error"}})");
  CHECK(answer_to(on.gateway,
                  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n") == R"(
HTTP/1.1 400 Bad Request\r
Content-Type: application/json\r
Content-Length: 131\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"malformed_request","message":"malformed HTTP request: both Content-Length and Transfer-Encoding","type":"error"}})");
  CHECK(answer_to(on.gateway, "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n") == R"(
HTTP/1.1 414 URI Too Long\r
Content-Type: application/json\r
Content-Length: 121\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"uri_too_long","message":"the request target has 9001 bytes; at most 8000 are accepted","type":"error"}})");
  CHECK(answer_to(on.gateway, "GET / HTTP/1.1\r\nx: " + std::string(9000, 'x') + "\r\n\r\n") == R"(
HTTP/1.1 431 Request Header Fields Too Large\r
Content-Type: application/json\r
Content-Length: 121\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"headers_too_large","message":"a header line has 9003 bytes; at most 8000 are accepted","type":"error"}})");
  CHECK(answer_to(on.gateway, "GET / HTTP/1.1\r\nx: " + std::string(100'000, 'x') + "\r\n\r\n") == R"(
HTTP/1.1 431 Request Header Fields Too Large\r
Content-Type: application/json\r
Content-Length: 117\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"headers_too_large","message":"request line and headers have more than 65536 bytes","type":"error"}})");
  CHECK(answer_to(on.gateway, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n") == R"(
HTTP/1.1 501 Not Implemented\r
Content-Type: application/json\r
Content-Length: 122\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"unsupported_transfer_encoding","message":"the only transfer coding accepted is chunked","type":"error"}})");
  CHECK(answer_to(on.gateway, "GET / HTTP/2.0\r\n\r\n") == R"(
HTTP/1.1 505 HTTP Version Not Supported\r
Content-Type: application/json\r
Content-Length: 117\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"error":{"code":"http_version_not_supported","message":"only HTTP/1.1 and HTTP/1.0 are spoken here","type":"error"}})");
}

TEST_CASE("404s, to the byte") {
  Fixture on;
  CHECK(on.get("/v1/nothing?at=all") == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 88\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"unknown_path","message":"no operation at /v1/nothing","type":"error"}})");
  CHECK(on.chat({{"model", "unknown"}}) == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 100\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"model_not_found","message":"the model \"unknown\" does not exist","type":"error"}})");
  CHECK(on.get("/v1/models/un%2Fknown") == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 101\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"model_not_found","message":"the model \"un/known\" does not exist","type":"error"}})");
  CHECK(on.forced(not_found()) == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 96\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"not_found","message":"The requested resource does not exist.","type":"error"}})");
}

TEST_CASE("404 of a model in the openai profile, to the byte") {
  Fixture on{Options{}.profile(Profile::openai)};
  CHECK(on.chat({{"model", "unknown"}}) == R"(
HTTP/1.1 404 Not Found\r
Content-Type: application/json\r
Content-Length: 132\r
x-request-id: req_zZxsHLuwg9TQOHZEFefTh99bmBgLfi5p\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"message":"the model \"unknown\" does not exist","type":"invalid_request_error","param":"model","code":"model_not_found"}})");
}

TEST_CASE("405, to the byte, with a body and to HEAD without") {
  Fixture on;
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
  Fixture on{Options{}.read_timeout(50ms)};
  CHECK(answer_to(on.gateway, "GET /v1/mod") == R"(
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
  Fixture on{Options{}.max_body(100)};
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
  Fixture on;
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
  Fixture on;
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
  Fixture on;
  on.gateway.chat().reply([](const ChatRequest&) -> Reply { throw std::runtime_error("oops"); });
  CHECK(on.chat() == R"(
HTTP/1.1 500 Internal Server Error\r
Content-Type: application/json\r
Content-Length: 140\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"error":{"code":"internal_error","message":"a function of the test threw an exception; the gateway's journal has its text","type":"error"}})");
}

// --- Profiles --------------------------------------------------------------------------------------------------------

TEST_CASE("the models list and a model, to the byte") {
  Fixture on{Options{}.model("fast", "team a").model("team/deep", "team b")};
  CHECK(on.get("/v1/models") == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 175\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"object":"list","data":[{"id":"fast","object":"model","created":1704067200,"owned_by":"team a"},{"id":"team/deep","object":"model","created":1704067200,"owned_by":"team b"}]})");
  CHECK(on.get("/v1/models/team%2Fdeep") == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 76\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"team/deep","object":"model","created":1704067200,"owned_by":"team b"})");
}

/// A text with reasoning before it, and a tool call.
inline void script(Gateway& gateway) {
  gateway.chat().reply(thinking("Easy.").text("Hello there."));
  gateway.chat().when(user_says("weather")).reply(tool_call("get_weather", {{"city", "Paris"}}));
}

inline Json with_usage() { return {{"stream_options", {{"include_usage", true}}}}; }
inline Json weather() { return chat_body("weather"); }

TEST_CASE("the documented profile, to the byte: plain, streamed with usage, and a streamed tool call") {
  Fixture on{Options{}.profile(Profile::documented)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
e1\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

\r
dd\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"reasoning_content":"Easy."},"finish_reason":null}],"usage":null}

\r
d3\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}],"usage":null}

\r
d5\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"content":" there."},"finish_reason":null}],"usage":null}

\r
c4\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}

\r
100\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
d6\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

\r
137\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}

\r
ee\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"finish_reason":null}]}

\r
ef\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"finish_reason":null}]}

\r
f0\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"finish_reason":null}]}

\r
f0\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"finish_reason":null}]}

\r
ee\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":null}]}

\r
bd\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the openai profile, to the byte: plain, streamed with usage, and a streamed tool call") {
  Fixture on{Options{}.profile(Profile::openai)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 472\r
x-request-id: req_QkcpSK3rmtGoTVXOglosiJkvhVftov3e\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":1}},"system_fingerprint":"fp_f60ff5b93c"})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
x-request-id: req_72RLRbz1wVEqsmLIsQ9Mj8P1OBjgoZD8\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
125\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}

\r
112\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"reasoning_content":"Easy."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
108\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}

\r
10a\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":" there."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
f9\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}

\r
151\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":1}}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
x-request-id: req_rbzvbb7r1HzlfGiJQFidfenPXWS6AAyt\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
11a\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":null},"logprobs":null,"finish_reason":null}]}

\r
16c\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"logprobs":null,"finish_reason":null}]}

\r
124\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"logprobs":null,"finish_reason":null}]}

\r
f2\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the dashscope profile, to the byte: plain, streamed with usage, and a streamed tool call") {
  Fixture on{Options{}.profile(Profile::dashscope)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 402\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}},"system_fingerprint":null})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
124\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":null,"role":"assistant","reasoning_content":""},"logprobs":null,"finish_reason":null}],"usage":null}

\r
116\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Easy."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
fd\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}

\r
ff\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" there."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
fa\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}],"usage":null}

\r
11a\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
100\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":null,"role":"assistant"},"logprobs":null,"finish_reason":null}]}

\r
161\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

\r
118\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"logprobs":null,"finish_reason":null}]}

\r
119\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"logprobs":null,"finish_reason":null}]}

\r
11a\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"logprobs":null,"finish_reason":null}]}

\r
11a\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"logprobs":null,"finish_reason":null}]}

\r
118\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"logprobs":null,"finish_reason":null}]}

\r
f3\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the deepseek profile, to the byte: plain, streamed with usage, and a streamed tool call") {
  Fixture on{Options{}.profile(Profile::deepseek)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 470\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4},"system_fingerprint":"fp_f60ff5b93c"})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
12f\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}],"usage":null}

\r
121\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Easy."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
121\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":"Hello","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

\r
123\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":" there.","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

\r
1a7\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
122\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}]}

\r
16c\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"logprobs":null,"finish_reason":null}]}

\r
124\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"logprobs":null,"finish_reason":null}]}

\r
fe\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the ends of connections, to the byte") {
  Fixture on;
  script(on.gateway);
  const std::string body = chat_body().dump();
  const auto request = [&](const std::string& version, const std::string& line) {
    return "POST /v1/chat/completions HTTP/" + version + "\r\nHost: x\r\nAuthorization: Bearer " +
           on.gateway.api_key() + "\r\n" + line + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  };
  CHECK(answer_to(on.gateway, request("1.1", "Connection: close")) == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(answer_to(on.gateway, request("1.0", "Connection: keep-alive")) == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: keep-alive\r
\r
{"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(answer_to(on.gateway, request("1.0", "x-nothing: 1")) == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"id":"chatcmpl-Iyo46HP3R43F0mduVMo1dX6M","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
}

}  // namespace exact_bytes
