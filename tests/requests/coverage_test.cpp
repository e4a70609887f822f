// Documented behaviour, and choices where the documentation is silent, that no other test covers.

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace coverage_test {

using namespace mock_gateway;
using test_support::chat_body;
using test_support::chat_path;
using test_support::Http;
using test_support::Response;

Json said(const Json& message) { return {{"messages", Json::array({message})}}; }

/// An extension of chat requests, and the error code of a strict gateway for it.
struct Beyond {
  std::string name;
  Json fields;
  std::string strict_code;
};

std::vector<Beyond> extensions() {
  const Json call = {{"id", "c"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}};
  const Json tool = {{"type", "function"}, {"function", {{"name", "f"}}}};
  const Json text_part = {{"type", "text"}, {"text", "Hi"}};
  const Json image_part = {{"type", "image_url"}, {"image_url", {{"url", "data:,"}}}};
  return {
      {"unknown field", {{"user", "u"}}, "unknown_parameter"},
      {"frequency_penalty", {{"frequency_penalty", 1}}, "unknown_parameter"},
      {"tool role", said({{"role", "tool"}, {"tool_call_id", "c"}, {"content", "21"}}), "invalid_value"},
      {"developer role", said({{"role", "developer"}, {"content", "Hi"}}), "invalid_value"},
      {"null content", said({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({call})}}),
       "unknown_parameter"},  // null content needs tool calls, which are refused first
      {"text parts", said({{"role", "user"}, {"content", Json::array({text_part})}}), "invalid_type"},
      {"other parts", said({{"role", "user"}, {"content", Json::array({image_part})}}), "invalid_type"},
      {"tool calls", said({{"role", "assistant"}, {"content", ""}, {"tool_calls", Json::array({call})}}),
       "unknown_parameter"},
      {"stop as a string", {{"stop", "x"}}, "invalid_type"},
      {"tool_choice required", {{"tools", Json::array({tool})}, {"tool_choice", "required"}}, "invalid_value"},
      {"logprobs", {{"logprobs", true}}, "unknown_parameter"},
      {"null for a field", {{"top_p", nullptr}}, "invalid_type"},
      {"stream_options alone", {{"stream_options", {{"include_usage", true}}}}, "invalid_value"},
  };
}

TEST_CASE("strict refuses every extension of a request and names the broken rule, lenient accepts all extensions") {
  const Gateway strict{Options{}.acceptance(Acceptance::strict())};
  const Gateway lenient{Options{}.acceptance(Acceptance::lenient())};
  const Http strict_http = Http(strict).keep_alive();
  const Http lenient_http = Http(lenient).keep_alive();
  for (const Beyond& extension : extensions()) {
    CAPTURE(extension.name);
    const Response refused = strict_http.chat(extension.fields);
    CHECK(refused.status == 400);
    CHECK(refused.error_code() == extension.strict_code);
    CHECK(lenient_http.chat(extension.fields).status == 200);
  }
  CHECK(strict_http.chat().status == 200);
  CHECK(Http(lenient).with_authorization("bearer " + lenient.api_key()).chat().status == 200);
}

TEST_CASE("a model is served at the path with its id; if that is disabled, the path is unknown") {
  const Acceptance acceptance = Acceptance().with(Extension::model_by_id, false);
  for (const Acceptance& without : {acceptance, Acceptance::strict()}) {
    const Gateway gateway{Options{}.acceptance(without)};
    const Http http(gateway);
    for (const char* path : {"/v1/models/mock-model", "/v1/models/unknown"}) {
      CAPTURE(path);
      CHECK(http.get(path).status == 404);
      CHECK(http.get(path).error_code() == "unknown_path");
      CHECK(http.without_key().get(path).status == 401);
    }
    CHECK(http.request("DELETE", "/v1/models/mock-model").status == 404);
    CHECK(http.get("/v1/models").status == 200);
    CHECK(http.chat().status == 200);
  }
  for (const Acceptance& with : {Acceptance{}, Acceptance::lenient()}) {
    const Gateway gateway{Options{}.acceptance(with)};
    CHECK(Http(gateway).get("/v1/models/mock-model").json()["id"] == "mock-model");
  }
}

TEST_CASE("the permission for a model is checked before its existence, also at the model's path") {
  const Gateway gateway{Options{}.model("open").model("closed")};
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.models({"open"}));
  const Http limited = Http(gateway).with_key(key.secret);
  CHECK(limited.get("/v1/models/open").status == 200);
  CHECK(limited.get("/v1/models/closed").status == 403);
  CHECK(limited.get("/v1/models/unknown").status == 403);
  CHECK(Http(gateway).get("/v1/models/unknown").status == 404);
}

TEST_CASE("a stream is sent as a stream, and a plain reply as JSON, for any Accept") {
  Gateway gateway;
  gateway.chat().reply("one two");
  const Http http(gateway);
  for (const char* accept : {"application/json", "text/event-stream", "text/html", "*/*", "nonsense", ""}) {
    CAPTURE(accept);
    const Response stream = http.with_header("Accept", accept).stream();
    CHECK(stream.status == 200);
    CHECK(stream.header("Content-Type") == "text/event-stream; charset=utf-8");
    CHECK(stream.joined_text() == "one two");
    CHECK(stream.done());
    const Response plain = http.with_header("Accept", accept).chat();
    CHECK(plain.header("Content-Type") == "application/json");
    CHECK(plain.text() == "one two");
  }
}

TEST_CASE("stream: false and include_usage: false mean the same as no such field") {
  Gateway gateway{Options{}.clock(ManualClock{})};
  gateway.chat().reply("one two");
  const Http http(gateway);
  CHECK(http.chat({{"stream", false}}).header("Content-Type") == "application/json");
  CHECK(http.chat({{"stream", false}}).text() == "one two");
  const Response stream = http.stream({{"stream_options", {{"include_usage", false}}}});
  CHECK(stream.json_events().size() == http.stream().json_events().size());
  for (const Json& event : stream.json_events()) CHECK_FALSE(event.contains("usage"));
}

TEST_CASE("an invalid stream request gets a JSON error with its status, never a stream") {
  Gateway gateway{Options{}.verify_on_destruction(false).model("open").model("closed")};
  const Http http(gateway);
  const CreatedKey disabled = gateway.keys().create("", KeyOptions{}.disabled());
  const CreatedKey other = gateway.keys().create("", KeyOptions{}.models({"closed"}));
  const CreatedKey limited = gateway.keys().create("", KeyOptions{}.limit(1, std::chrono::hours(1)));
  CHECK(http.with_key(limited.secret).get("/v1/models").status == 200);
  gateway.chat().reply([](const ChatRequest&) -> Reply { throw std::runtime_error("oops"); });
  const Json open = {{"model", "open"}};
  const std::vector<std::pair<Response, int>> refusals = {
      {http.without_key().stream(open), 401},
      {http.with_key(disabled.secret).stream(open), 403},
      {http.with_key(other.secret).stream(open), 403},
      {http.with_key(limited.secret).stream(open), 429},
      {http.with_content_type("text/plain").stream(open), 415},
      {http.stream({{"model", "open"}, {"n", 0}}), 400},
      {http.post(chat_path, R"({"stream":true,)"), 400},
      {http.stream({{"model", "unknown"}}), 404},
      {http.stream(open), 500},
  };
  for (const auto& [response, status] : refusals) {
    CHECK(response.status == status);
    CHECK(response.header("Content-Type") == "application/json");
    CHECK_FALSE(response.chunked);
    CHECK(response.error_code() != "");
    CHECK(response.error_type() == "error");
  }
}

TEST_CASE("the error for a body with several problems is about its size, else its type, else its content") {
  const Gateway gateway{Options{}.max_body(200)};
  const Http http = Http(gateway).with_content_type("text/plain");
  CHECK(http.post(chat_path, std::string(201, '{')).status == 413);
  CHECK(http.post(chat_path, std::string(200, '{')).status == 415);
  CHECK(http.with_content_type("application/json").post(chat_path, std::string(200, '{')).status == 400);
}

TEST_CASE("an integer written as 5.0 is accepted in strict mode too") {
  const Gateway gateway{Options{}.acceptance(Acceptance::strict())};
  CHECK(Http(gateway).chat({{"max_tokens", 5.0}, {"n", 2.0}, {"seed", 7.0}}).json()["choices"].size() == 2);
  CHECK(Http(gateway).chat({{"max_tokens", 5.5}}).status == 400);
}

TEST_CASE("no path of the gateway lists, creates or changes keys") {
  const Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (const char* path : {"/v1/keys", "/v1/api_keys", "/v1/api-keys", "/v1/keys/key_1", "/v1/organization/api_keys"}) {
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
      CAPTURE(path);
      CAPTURE(method);
      const Response response = http.request(method, path, "{}");
      CHECK(response.status == 404);
      CHECK(response.error_code() == "unknown_path");
    }
  }
  CHECK(gateway.keys().list().size() == 1);
  CHECK(gateway.keys().find("key_1").state == KeyState::enabled);
}

}  // namespace coverage_test
