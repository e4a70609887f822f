// Refused requests, which review() and verify() report as mistakes of the client, never of the test.

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace refusals_test {

using namespace mock_gateway;
using namespace test_support;
using namespace std::chrono_literals;

const char* const advice = ". The request never reached the stubs. Send what the documentation asks for.";

TEST_CASE("a request refused with 400 is a finding with the place, the expected and the actual value") {
  Gateway gateway;
  gateway.chat().reply("Hello.");
  CHECK(Http{gateway}.chat({{"temperature", "hot"}}).status == 400);
  const Review review = gateway.review();
  CHECK_FALSE(review);
  CHECK(without_counts(review.message()) ==
        "request_refused (exchange 1): refused with 400 invalid_type: temperature: expected a number, got a string "
        "(\"hot\")" +
            std::string(advice));
  REQUIRE(review.findings().size() == 1);
  CHECK(review.findings()[0].severity == Severity::error);
  CHECK(review.without("request_refused"));
}

TEST_CASE("a schema that the default reply does not support is not a mistake of the client") {
  Gateway gateway;
  const Json format = {{"type", "json_schema"}, {"json_schema", {{"name", "x"}, {"schema", {{"if", true}}}}}};
  CHECK(Http{gateway}.chat({{"response_format", format}}).error_code() == "unsupported_schema");
  const std::string message = without_counts(gateway.review().message());
  CAPTURE(message);
  CHECK(contains(message, ". The gateway cannot generate a default reply for it. Script a reply."));
  CHECK_FALSE(contains(message, "documentation"));
}

TEST_CASE("too large bodies, bodies that are not JSON, and malformed HTTP count as refused requests") {
  Gateway gateway{Options{}.max_body(1024)};
  const Http http{gateway};
  CHECK(http.chat(Json(std::string(2000, 'a'))).status == 413);
  CHECK(http.with_header("Content-Type", "text/plain").chat().status == 415);
  CHECK(http.request("POST", chat_path, "{\"model\": }").status == 400);
  RawConnection connection{gateway};
  connection.send("GET  HTTP/1.1\r\n\r\n");
  CHECK(connection.receive_response().status == 400);
  const Review review = gateway.review();
  CAPTURE(without_counts(review.message()));
  REQUIRE(codes(review) == "request_refused request_refused request_refused request_refused");
  CHECK(review.findings()[0].message ==
        "refused with 413 body_too_large: the body has more than 1024 bytes" + std::string(advice));
  CHECK(
      contains(review.findings()[1].message, "415 unsupported_content_type: Content-Type: expected application/json"));
  CHECK(contains(review.findings()[2].message, "400 invalid_json: invalid JSON at line 1, column 11"));
  CHECK(contains(review.findings()[3].message, "400 malformed_request: malformed HTTP request: "));
}

TEST_CASE("errors about keys, limits and unknown models, and scripted failures, do not count as refused requests") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const Http http{gateway};
  const auto key = gateway.keys().create("limited");
  gateway.keys().limit_rate(key.id, 1, 1min);
  gateway.chat().reply("Hello.");
  gateway.chat().when(user_says("refuse")).reply(bad_request());
  gateway.chat().when(user_says("nothing")).reply(raw_reply(415, "no"));
  gateway.chaos(Chaos(failure(413, "chaos", "chaos")).when(user_says("chaos")));
  gateway.on("GET", "/v1/x", [](const ReceivedRequest&) { return HttpReply(400, Json("no")); });
  gateway.on("GET", "/v1/y", [](const ReceivedRequest&) { return HttpReply(not_found()); });
  gateway.chat().when(user_says("nowhere")).reply(failure(404, "unknown_path", "no operation"));
  gateway.fail_next(bad_request());
  CHECK(http.chat(Json("forced")).status == 400);
  CHECK(http.chat(Json("refuse")).status == 400);
  CHECK(http.chat(Json("nothing")).status == 415);
  CHECK(http.chat(Json("chaos")).status == 413);
  CHECK(http.get("/v1/x").status == 400);
  CHECK(http.get("/v1/y").status == 404);
  CHECK(http.chat(Json("nowhere")).status == 404);
  gateway.fail_next(failure(405, "method_not_allowed", "forced"));
  CHECK(http.get("/v1/unknown").status == 405);
  CHECK(http.with_key("sk-nobody").chat().status == 401);
  CHECK(http.chat({{"model", "unknown"}}).status == 404);
  for (const int status : {200, 429}) CHECK(http.with_key(key.secret).chat(Json("again")).status == status);
  gateway.keys().disable(key.id);
  CHECK(http.with_key(key.secret).chat().status == 403);
  const Review review = gateway.review();
  CAPTURE(without_counts(review.message()));
  CHECK_FALSE(contains(codes(review), "request_refused"));
}

/// Returns the end of the 404 message for an unknown path that resembles no served path. `more` lists further
/// operations.
std::string served_besides(const std::string& more) {
  return "; the gateway serves GET /v1/models, GET /v1/models/{id}, POST /v1/chat/completions" + more +
         "; Gateway::on or \"operations\" of a script mount others";
}

TEST_CASE("the refusal of an unknown path names a similar path or the served operations") {
  const std::string served = served_besides(", POST /v1/images/edits");
  struct Row {
    std::string path;
    std::string near;
  };
  const std::vector<Row> rows = {
      {"/v1/v1/chat/completions", "; /v1/chat/completions is near: the base address ends with /v1 already"},
      {"/v1/v1/models/mock-model", "; /v1/models/mock-model is near: the base address ends with /v1 already"},
      {"/chat/completions", "; /v1/chat/completions is near: the base address must end with /v1"},
      {"/v1//chat/completions", "; /v1/chat/completions is near: the base address must end with /v1, not with /v1/"},
      {"/api/chat/completions", "; /v1/chat/completions is near: the base address must end with /v1, not with /api"},
      {"/v1/chat/completions/chat/completions",
       "; /v1/chat/completions is near: the base address must end with /v1, not with /v1/chat/completions"},
      {"//v1/chat/completions", "; /v1/chat/completions is near: remove / in front of it"},
      {"/proxy/v1/images/edits", "; /v1/images/edits is near: remove /proxy in front of it"},
      {"/v1/chat/completions/", "; /v1/chat/completions is near: remove the / at the end of the path"},
      {"/v1/chat/completion", "; /v1/chat/completions is near"},
      {"/V1/Chat/Completions", "; /v1/chat/completions is near"},
      {"/v1/image/edit", "; /v1/images/edits is near"},
      {"/v1/embeddings", served},
      {"/v1/v1/embeddings", served},
      {"/v1", served},
      {"/", served},
      {"///", served},
      {"*", served},
  };
  Gateway gateway;
  gateway.on("POST", "/v1/images/edits", [](const ReceivedRequest&) { return HttpReply(200, "{}"); });
  const Http http{gateway};
  for (const Row& row : rows) {
    CAPTURE(row.path);
    gateway.reset();
    const std::string message = "no operation at " + row.path + row.near;
    CHECK(http.post(row.path, chat_body()).error_message() == message);
    const Review review = gateway.review();
    CHECK_FALSE(review);
    REQUIRE(codes(review) == "request_refused");
    CHECK(review.findings()[0].message ==
          "refused with 404 unknown_path: " + message +
              ". The request never reached the stubs. Correct the client's address, or mount the operation.");
    CHECK(review.findings()[0].severity == Severity::error);
  }
}

TEST_CASE("a path that resembles no served path is refused without a slow search") {
  Gateway gateway;
  const std::string path = "/v1" + std::string(7000, '/') + "chat/completions";
  CHECK(Http{gateway}.post(path, chat_body()).error_message() == "no operation at " + path + served_besides(""));
}

TEST_CASE("a request with a wrong method counts as refused") {
  Gateway gateway;
  CHECK(Http{gateway}.get(chat_path).status == 405);
  CHECK(without_counts(gateway.review().message()) ==
        "request_refused (exchange 1): refused with 405 method_not_allowed: GET is not allowed at "
        "/v1/chat/completions; allowed: POST. The request never reached the stubs. Use a method that the operation "
        "supports.");
}

TEST_CASE("the report of an unmet expectation mentions requests with a wrong path") {
  Gateway gateway;
  const Stub stub = gateway.chat().named("greeting").expect(1).reply("Hello.");
  Http{gateway}.get("/v1/v1/models");
  Http{gateway}.post("/v1/v1/chat/completions", chat_body());
  CHECK(gateway.verify().message() ==
        "expectation not met  " + stub.title() +
            "  expected 1 call, got 0\n  exchange 2 was refused before any stub was tried: 404 no operation at "
            "/v1/v1/chat/completions; /v1/chat/completions is near: the base address ends with /v1 already");
}

TEST_CASE("a finding of a refused request shows no key and no terminal control characters") {
  Gateway gateway;
  const Http http{gateway};
  http.chat({{"temperature", gateway.api_key()}});
  http.request(
      "POST", chat_path,
      R"({"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}], "temperature": "\u0073\u006b)" +
          gateway.api_key().substr(2) + "\"}");
  http.chat({{"stop", Json{{"\x1b[31m\xc2\x9b", 1}}}, {"tools", Json::array({Json{{"type", "\x1b[31m"}}})}});
  const std::string message = without_counts(gateway.review().message());
  CAPTURE(message);
  CHECK(contains(message, "sk-***"));
  CHECK_FALSE(contains(message, gateway.api_key()));
  for (const char c : message) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
}

TEST_CASE("the report of an unmet expectation mentions refused requests") {
  Gateway gateway;
  const Http http{gateway};
  http.chat({{"temperature", "early"}});  // not mentioned: the stub is mounted later
  const Stub stub = gateway.chat().named("greeting").expect(1).reply("Hello.");
  http.chat({{"temperature", "hot"}});
  Verification verification = gateway.verify();
  REQUIRE(verification.problems().size() == 1);
  CHECK(verification.problems()[0].text ==
        "expectation not met  " + stub.title() +
            "  expected 1 call, got 0\n"
            "  exchange 2 was refused before any stub was tried: 400 temperature: expected a "
            "number, got a string (\"hot\")");
  for (int i = 0; i < 4; ++i) http.request("POST", chat_path, "{");
  http.get("/v1/models");
  verification = gateway.verify();
  CHECK(contains(verification.message(),
                 "\n  exchange 4 was refused before any stub was tried: 400 invalid JSON at line 1"));
  CHECK(contains(verification.message(), "\n  and 2 more requests were refused"));
  CHECK_FALSE(contains(verification.message(), "exchange 1 "));
  http.chat();
  CHECK(gateway.verify());
}

TEST_CASE("the report of an unmet expectation lists three refused requests and counts the others") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const Http http{gateway};
  gateway.chat().expect(1).reply("Hello.");
  for (int refused = 1; refused <= 5; ++refused) {
    CAPTURE(refused);
    http.request("POST", chat_path, "{");
    const std::string message = gateway.verify().message();
    for (int id = 1; id <= 5; ++id)
      CHECK(contains(message, "exchange " + std::to_string(id) + " was refused") == (id <= refused && id <= 3));
    CHECK(contains(message, "more request") == (refused > 3));
    CHECK(contains(message, "\n  and 1 more request was refused") == (refused == 4));
    CHECK(contains(message, "\n  and 2 more requests were refused") == (refused == 5));
  }
}

// --- Mistakes of a client are never mistakes of the test -------------------------------------------------------------

TEST_CASE("invalid JSON gets a 400 that does not quote the body") {
  Gateway gateway;
  const Http http{gateway};
  gateway.chat().reply("Hello.");
  const std::vector<std::string> bodies = {
      R"(["'; expected )"
      "\xff\"]",
      R"(["'; expected sk-secret)"
      "\xff\"]",
      "[\"'; expected sk-secret\n\"]",
      "[\"; last read: '\\x sk-secret\"]",
      "[\"] : syntax error - sk-secret\n\"]",
      "{\"'; expected sk-secret\xff\": 1}",
      "[\"\x01'; expected sk-secret \xff",
      "'; expected sk-secret",
      "[sk-secret'; expected ]",
      "[1, sk-secret",
      "[1.\xff'; expected sk-secret]",
      "\"" + std::string(500, 'x') + "'; expected sk-secret\xff",
      "\xff",
      "[\"\\ud800'; expected sk-secret\"]",
      "-'; expected sk-secret\xfe",
  };
  for (const std::string& body : bodies) {
    CAPTURE(body);
    const Response response = http.request("POST", chat_path, body);
    CHECK(response.status == 400);
    CHECK(response.error_code() == "invalid_json");
    CHECK_FALSE(contains(response.body, "sk-secret"));
    CHECK_FALSE(contains(response.body, "last read"));
  }
  CHECK(gateway.verify());
}

}  // namespace refusals_test
