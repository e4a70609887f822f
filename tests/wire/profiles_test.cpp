// The errors of each profile, compared with the bodies in docs/profiles.md; request ids; the chunks of siliconflow and
// openrouter.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/golden.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"

namespace profiles_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::Response;
using test_support::with_usage;

/// Returns the text with each `name` replaced.
std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
    text.replace(at, name.size(), value);
  return text;
}

struct Answer {
  const char* cause;
  Response response;
};

/// Returns the gateway's answer to each cause of an error.
std::vector<Answer> answers(Profile profile) {
  Gateway gateway{Options{}.profile(profile).embeddings(true).max_body(400).verify_on_destruction(false)};
  gateway.chat().reply("Hi");
  gateway.chat().when(user_says("unexpected")).never();
  const Http http(gateway);
  const auto disabled = gateway.keys().create("disabled", KeyOptions{}.disabled());
  const auto limited = gateway.keys().create("limited", KeyOptions{}.limit(1, 60s));
  http.with_key(limited.secret).chat();
  const auto forced = [&](const Failure& failure) {
    gateway.fail_next(failure);
    return http.chat();
  };
  return {{"400", http.chat({{"top_p", "high"}})},
          {"401", http.without_key().chat()},
          {"403", http.with_key(disabled.secret).chat()},
          {"404 model", http.chat({{"model", "unknown"}})},
          {"404 path", http.get("/v1/nothing")},
          {"413", http.post(test_support::chat_path, std::string(401, ' '))},
          {"422", http.chat(Json("unexpected"))},
          {"429 rate", http.with_key(limited.secret).chat()},
          {"429 quota", forced(failure(429, "insufficient_quota", "No credit."))},
          {"500", forced(server_error())},
          {"503", forced(service_unavailable())}};
}

struct Row {
  const char* cause;
  /// With ID for the request id and MESSAGE for the message of the documented profile.
  const char* body;
};

/// Compares all answers of a profile. The request id is in the header `id_header`, unless that is empty.
void check(Profile profile, const std::string& id_header, const std::vector<Row>& rows) {
  const std::vector<Answer> documented = answers(Profile::documented);
  const std::vector<Answer> sent = answers(profile);
  REQUIRE(rows.size() == sent.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(to_string(profile));
    const Row& row = rows[i];
    const Response& response = sent[i].response;
    CHECK(std::string(row.cause) == sent[i].cause);
    CHECK(response.status == documented[i].response.status);  // a profile never changes it
    const std::string quoted = Json(documented[i].response.error_message()).dump();
    const std::string expected = replaced(row.body, "MESSAGE", quoted.substr(1, quoted.size() - 2));
    CHECK(response.body == replaced(expected, "ID", response.header(id_header)));
    CHECK(response.all(id_header).size() == (id_header.empty() ? 0u : 1u));
    const bool is_json = row.body[0] == '{' || row.body[0] == '"';
    CHECK(response.header("Content-Type") == (is_json ? "application/json" : "text/plain; charset=utf-8"));
  }
}

TEST_CASE("each error of the openai profile has OpenAI's form") {
  check(
      Profile::openai, "x-request-id",
      {{"400",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":"top_p","code":"invalid_type"}})"},
       {"401",
        R"({"error":{"message":"Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys.",)"
        R"("type":"invalid_request_error","param":null,"code":"invalid_api_key"}})"},
       {"403",
        R"({"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported",)"
        R"("param":null,"type":"request_forbidden"}})"},
       {"404 model",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":"model","code":"model_not_found"}})"},
       {"404 path",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":null,"code":"unknown_url"}})"},
       {"413",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":null,"code":"body_too_large"}})"},
       {"422",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":null,"code":"never_expected"}})"},
       {"429 rate", R"({"error":{"message":"MESSAGE","type":"requests","param":null,"code":"rate_limit_exceeded"}})"},
       {"429 quota",
        R"({"error":{"message":"No credit.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}})"},
       {"500", R"({"error":{"message":"MESSAGE","type":"server_error","param":null,"code":null}})"},
       {"503", R"({"error":{"message":"MESSAGE","type":"server_error","param":null,"code":null}})"}});
}

TEST_CASE("each error of the dashscope profile has DashScope's form, with the request id in body and header") {
  check(
      Profile::dashscope, "x-request-id",
      {{"400",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":"top_p","code":"invalid_parameter_error"},)"
        R"("id":"chatcmpl-ID","request_id":"ID"})"},
       {"401",
        R"({"error":{"message":"Incorrect API key provided. For details, see: https://www.alibabacloud.com/help/en/model-studio/error-code#apikey-error",)"
        R"("type":"invalid_request_error","param":null,"code":"invalid_api_key"},"request_id":"ID"})"},
       {"403", R"({"error":{"message":"Access denied","type":"AccessDenied","param":null,"code":"AccessDenied"},)"
               R"("id":"chatcmpl-ID","request_id":"ID"})"},
       {"404 model",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":"model","code":"model_not_found"},"request_id":"ID"})"},
       {"404 path",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":null,"code":"unknown_path"},"request_id":"ID"})"},
       {"413",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":null,"code":"body_too_large"},"request_id":"ID"})"},
       {"422",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":null,"code":"never_expected"},"request_id":"ID"})"},
       {"429 rate",
        R"({"error":{"message":"You exceeded your current requests list.","type":"limit_requests","param":null,)"
        R"("code":"limit_requests"},"request_id":"ID"})"},
       {"429 quota",
        R"({"error":{"message":"No credit.","type":"insufficient_quota","param":null,"code":"insufficient_quota"},"request_id":"ID"})"},
       {"500",
        R"({"error":{"message":"An internal error has occured, please try again later or contact service support.",)"
        R"("type":"internal_error","param":null,"code":"internal_error"},"request_id":"ID"})"},
       {"503",
        R"({"error":{"message":"Model is unavailable, please try again later.","type":"ModelUnavailable","param":null,)"
        R"("code":"ModelUnavailable"},"request_id":"ID"})"}});
}

TEST_CASE("each error of the deepseek profile has DeepSeek's form") {
  const char* const invalid =
      R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":null,"code":"invalid_request_error"}})";
  const char* const busy =
      R"({"error":{"message":"Service is too busy. We advise users to temporarily switch to alternative LLM API service providers.",)"
      R"("type":"service_unavailable_error","param":null,"code":"service_unavailable_error"}})";
  check(
      Profile::deepseek, "x-ds-trace-id",
      {{"400",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":"top_p","code":"invalid_request_error"}})"},
       {"401",
        R"({"error":{"message":"Authentication Fails, Your api key: **** is invalid","type":"authentication_error","param":null,)"
        R"("code":"invalid_request_error"}})"},
       {"403",
        R"({"error":{"message":"unauthorized","type":"invalid_request_error","param":null,"code":"invalid_request_error"}})"},
       {"404 model",
        R"({"error":{"message":"MESSAGE","type":"invalid_request_error","param":"model","code":"invalid_request_error"}})"},
       {"404 path", invalid},
       {"413", invalid},
       {"422", invalid},
       {"429 rate",
        R"({"error":{"message":"MESSAGE","type":"rate_limit_reached_error","param":null,"code":"rate_limit_reached_error"}})"},
       {"429 quota",
        R"({"error":{"message":"No credit.","type":"rate_limit_reached_error","param":null,"code":"insufficient_quota"}})"},
       {"500", busy},
       {"503", busy}});
}

TEST_CASE("each error of the siliconflow profile has SiliconFlow's form, with a number as code") {
  check(Profile::siliconflow, "x-siliconcloud-trace-id",
        {{"400", R"({"code":20015,"message":"MESSAGE","data":null})"},
         {"401", R"("Invalid token")"},
         {"403", R"({"code":30001,"message":"Sorry, your account balance is insufficient","data":null})"},
         {"404 model", R"({"code":20012,"message":"MESSAGE","data":null})"},
         {"404 path", "404 page not found"},
         {"413", R"({"code":20015,"message":"MESSAGE","data":null})"},
         {"422", R"({"code":20015,"message":"MESSAGE","data":null})"},
         {"429 rate",
          R"({"message":"Request was rejected due to rate limiting. Details: TPM limit reached.","data":null})"},
         {"429 quota", R"({"message":"No credit.","data":null})"},
         {"500", R"({"code":50505,"message":"MESSAGE","data":null})"},
         {"503", R"({"code":50508,"message":"System is too busy now. Please try again later.","data":null})"}});
}

TEST_CASE("each error of the openrouter profile has OpenRouter's form, with the status as code") {
  check(
      Profile::openrouter, "",
      {{"400", R"({"error":{"message":"MESSAGE","code":400},"user_id":"user_mock"})"},
       {"401", R"({"error":{"message":"Missing Authentication header","code":401}})"},
       {"403",
        R"({"error":{"message":"Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys","code":403},)"
        R"("user_id":"user_mock"})"},
       {"404 model", R"({"error":{"message":"MESSAGE","code":404},"user_id":"user_mock"})"},
       {"404 path", R"({"error":{"message":"MESSAGE","code":404},"user_id":"user_mock"})"},
       {"413", R"({"error":{"message":"MESSAGE","code":413},"user_id":"user_mock"})"},
       {"422", R"({"error":{"message":"MESSAGE","code":422},"user_id":"user_mock"})"},
       {"429 rate", R"({"error":{"message":"MESSAGE","code":429},"user_id":"user_mock"})"},
       {"429 quota", R"({"error":{"message":"No credit.","code":429},"user_id":"user_mock"})"},
       {"500", R"({"error":{"message":"Internal Server Error","code":500}})"},
       {"503", R"({"error":{"message":"Service temporarily unavailable","code":503}})"}});
}

TEST_CASE("words of the test win over the words of a profile, and a body of the test is sent as it is") {
  const auto body = [](Profile profile, const Failure& failure) {
    Gateway gateway{Options{}.profile(profile)};
    gateway.chat().reply(failure);
    return Http(gateway).chat().body;
  };
  CHECK(body(Profile::openai, failure(500, "down", "Down.").type("outage").param("model")) ==
        R"({"error":{"message":"Down.","type":"outage","param":"model","code":"down"}})");
  CHECK(
      body(Profile::openai, failure(401, "", "Missing scopes: model.request")) ==
      R"({"error":{"message":"Missing scopes: model.request","type":"invalid_request_error","param":null,"code":null}})");
  CHECK(
      body(Profile::deepseek, failure(402, "invalid_request_error", "Insufficient Balance")) ==
      R"({"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}})");
  CHECK(body(Profile::deepseek, failure(503, "busy", "Busy.")) ==
        R"({"error":{"message":"Busy.","type":"service_unavailable_error","param":null,"code":"busy"}})");
  CHECK(body(Profile::siliconflow, failure(400, "20012", "Model does not exist. Please check it carefully.")) ==
        R"({"code":20012,"message":"Model does not exist. Please check it carefully.","data":null})");
  CHECK(body(Profile::siliconflow, failure(401, "expired", "Api key is invalid")) == R"("Api key is invalid")");
  CHECK(body(Profile::siliconflow, failure(504, "slow", "Slow.")) == R"({"code":50505,"message":"Slow.","data":null})");
  CHECK(body(Profile::openrouter, failure(402, "no_credit", "Pay.")) ==
        R"({"error":{"message":"Pay.","code":402,"metadata":{"provider_name":null}},"user_id":"user_mock"})");
  CHECK(body(Profile::openrouter, failure(400, "1234", "Odd.")) ==
        R"({"error":{"message":"Odd.","code":1234},"user_id":"user_mock"})");
  CHECK(body(Profile::documented, failure(500, "", "Down.")) ==
        R"({"error":{"code":"","message":"Down.","type":"error"}})");
  for (const Profile profile : {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek,
                                Profile::siliconflow, Profile::openrouter})
    CHECK(body(profile, failure(400, "any", "any").body("<h1>no</h1>", "text/html")) == "<h1>no</h1>");
}

TEST_CASE("failures of a mounted operation and of a scope have the profile's form") {
  Gateway gateway{Options{}.profile(Profile::siliconflow)};
  gateway.on("GET", "/v1/mounted", [](const ReceivedRequest&) { return HttpReply(service_unavailable()); });
  const Http http(gateway);
  const std::string busy = R"({"code":50508,"message":"System is too busy now. Please try again later.","data":null})";
  CHECK(http.get("/v1/mounted").body == busy);
  gateway.fail_next(service_unavailable(), 1, list_models());
  CHECK(http.get("/v1/models").body == busy);
}

TEST_CASE("each answer of dashscope, deepseek and siliconflow has a request id, which a reset repeats") {
  const std::pair<Profile, const char*> rows[] = {{Profile::openai, "x-request-id"},
                                                  {Profile::dashscope, "x-request-id"},
                                                  {Profile::deepseek, "x-ds-trace-id"},
                                                  {Profile::siliconflow, "x-siliconcloud-trace-id"}};
  for (const auto& row : rows) {
    CAPTURE(row.second);
    Gateway gateway{Options{}.profile(row.first)};
    const Http http(gateway);
    const std::string first = http.chat().header(row.second);
    const std::string second = http.chat().header(row.second);
    CHECK(first.size() >= 32);
    CHECK(second != first);
    CHECK(http.get("/v1/models").header(row.second).size() == first.size());
    gateway.reset();
    CHECK(http.chat().header(row.second) == first);
  }
  // The test's own id is in the body too.
  Gateway gateway{Options{}.profile(Profile::dashscope)};
  gateway.fail_next(server_error().header("X-Request-Id", "mine"));
  CHECK(Http(gateway).chat().json()["request_id"] == "mine");
}

TEST_CASE("x-generation-id of openrouter is the id of the reply, plain and streamed") {
  Gateway gateway{Options{}.profile(Profile::openrouter)};
  const Http http(gateway);
  const Response plain = http.chat();
  CHECK(plain.header("x-generation-id").compare(0, 4, "gen-") == 0);
  CHECK(plain.json()["id"] == plain.header("x-generation-id"));
  const Response stream = http.stream();
  CHECK(stream.json_events().front()["id"] == stream.header("x-generation-id"));
  CHECK(stream.header("x-generation-id") != plain.header("x-generation-id"));
  CHECK(http.get("/v1/models").header("x-generation-id").empty());
}

/// Returns the events of a stream as bytes, with ID and CALL for generated ids.
std::string stream_of(Profile profile, const Reply& reply, const Json& fields = Json::object()) {
  const test_support::Scripted on(reply, profile);
  const Response response = on.http.stream(fields);
  const std::string id = response.json_events().front()["id"];
  return replaced(response.body, id, "ID");
}

std::string events_of(const std::vector<std::string>& events) {
  std::string bytes;
  for (const std::string& event : events) bytes += "data: " + event + "\n\n";
  return bytes + "data: [DONE]\n\n";
}

const Reply easy = thinking("Easy.").text("Hello there.");

TEST_CASE("the chunks of the siliconflow profile: usage in every chunk, with what was sent so far") {
  const auto chunk = [](const std::string& delta, const std::string& reason, const std::string& usage) {
    return R"({"id":"ID","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":)" +
           delta + R"(,"finish_reason":)" + reason +
           R"(}],"system_fingerprint":"","usage":{"prompt_tokens":4,"completion_tokens":)" + usage + "}}";
  };
  const std::string thought = R"(,"completion_tokens_details":{"reasoning_tokens":1})";
  const std::string golden = events_of({
      chunk(R"({"content":null,"reasoning_content":"","role":"assistant"})", "null", R"(0,"total_tokens":4)"),
      chunk(R"({"content":null,"reasoning_content":"Easy."})", "null", R"(1,"total_tokens":5)" + thought),
      chunk(R"({"content":"Hello","reasoning_content":null})", "null", R"(2,"total_tokens":6)" + thought),
      chunk(R"({"content":" there.","reasoning_content":null})", "null", R"(3,"total_tokens":7)" + thought),
      chunk(R"({"content":"","reasoning_content":null})", "\"stop\"", R"(3,"total_tokens":7)" + thought),
  });
  CHECK(stream_of(Profile::siliconflow, easy) == golden);
  CHECK(stream_of(Profile::siliconflow, easy, with_usage) == golden);
  CHECK(
      stream_of(Profile::siliconflow, tool_call("f", Json::object(), "call_1")) ==
      events_of({
          chunk(R"({"content":null,"reasoning_content":null,"role":"assistant"})", "null", R"(0,"total_tokens":4)"),
          chunk(
              R"({"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]})",
              "null", R"(0,"total_tokens":4)"),
          chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})", "null", R"(1,"total_tokens":5)"),
          chunk(R"({"content":"","reasoning_content":null})", "\"tool_calls\"", R"(1,"total_tokens":5)"),
      }));
  const test_support::Scripted on(easy, Profile::siliconflow);
  const Response plain = on.http.chat();
  CHECK(plain.json()["id"].get<std::string>().size() == 32);
  CHECK(
      replaced(plain.body, plain.json()["id"], "ID") ==
      R"({"id":"ID","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":)"
      R"({"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}},)"
      R"("system_fingerprint":""})");
}

TEST_CASE("the usage of a siliconflow stream ends with the scripted one") {
  const test_support::Scripted on(text("one two").usage(TokenUsage(9, 1).total(10)), Profile::siliconflow);
  std::vector<std::string> counts;
  for (const Json& event : on.http.stream().json_events()) counts.push_back(event["usage"]["total_tokens"].dump());
  CHECK(counts == std::vector<std::string>{"9", "10", "10", "10"});
}

TEST_CASE("the chunks of the openrouter profile: a comment, no role chunk, and usage in a repeated finish chunk") {
  const auto chunk = [](const std::string& delta, const std::string& reason, const std::string& usage = "") {
    return R"({"id":"ID","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","provider":"Mock","choices":[{"index":0,"delta":)" +
           delta + R"(,"finish_reason":)" + reason + R"(,"native_finish_reason":)" + reason + "}]" + usage + "}";
  };
  const auto usage = [](const std::string& counts, const std::string& details) {
    return R"(,"usage":{"prompt_tokens":4,"completion_tokens":)" + counts +
           R"(,"cost":0,"is_byok":false,"prompt_tokens_details":{"cached_tokens":0})" + details + "}";
  };
  const std::string golden =
      ": OPENROUTER PROCESSING\n\n" +
      events_of({
          chunk(R"({"content":"","role":"assistant","reasoning":"Easy.",)"
                R"("reasoning_details":[{"type":"reasoning.text","text":"Easy.","format":"unknown","index":0}]})",
                "null"),
          chunk(R"({"content":"Hello","role":"assistant"})", "null"),
          chunk(R"({"content":" there.","role":"assistant"})", "null"),
          chunk(R"({"content":"","role":"assistant"})", "\"stop\""),
          chunk(R"({"content":"","role":"assistant"})", "\"stop\"",
                usage(R"(3,"total_tokens":7)", R"(,"completion_tokens_details":{"reasoning_tokens":1})")),
      });
  CHECK(stream_of(Profile::openrouter, easy) == golden);
  CHECK(stream_of(Profile::openrouter, easy, with_usage) == golden);
  CHECK(stream_of(Profile::openrouter, tool_call("f", Json::object(), "call_1")) ==
        ": OPENROUTER PROCESSING\n\n" +
            events_of({
                chunk(R"({"content":null,"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function",)"
                      R"("function":{"name":"f","arguments":""}}]})",
                      "null"),
                chunk(R"({"content":null,"role":"assistant","tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})",
                      "null"),
                chunk(R"({"content":"","role":"assistant"})", "\"tool_calls\""),
                chunk(R"({"content":"","role":"assistant"})", "\"tool_calls\"", usage(R"(1,"total_tokens":5)", "")),
            }));
  const test_support::Scripted on(easy, Profile::openrouter);
  const Response plain = on.http.chat();
  CHECK(
      replaced(plain.body, plain.json()["id"], "ID") ==
      R"({"id":"ID","object":"chat.completion","created":1704067200,"model":"mock-model","provider":"Mock","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":"Hello there.","reasoning":"Easy.",)"
      R"("reasoning_details":[{"type":"reasoning.text","text":"Easy.","format":"unknown","index":0}],"refusal":null},)"
      R"("finish_reason":"stop","native_finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,)"
      R"("cost":0,"is_byok":false,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":1}}})");
}

TEST_CASE("streams of siliconflow and openrouter join to the plain reply, with n, cuts and early finishes") {
  for (const Profile profile : {Profile::siliconflow, Profile::openrouter}) {
    for (const Reply& reply : {text("one two three"), text(""), tool_call("f", {{"a", "b c"}}).text("Look."),
                               text("one two").finish_in_last_chunk(), text("").finish_in_last_chunk(),
                               text("one two three").chunked(by_characters(4))}) {
      const test_support::Scripted on(reply, profile);
      for (const int n : {1, 2}) {
        const Response plain = on.http.chat({{"n", n}});
        const Response stream = on.http.stream({{"n", n}});
        const auto last = static_cast<std::size_t>(n) - 1;
        CHECK(stream.done());
        CHECK(stream.joined_text(last) == plain.text(last));
        CHECK(stream.finish_reason(last) == plain.finish_reason(last));
        CHECK(stream.usage() == plain.usage());
        std::size_t finished = 0;
        for (const Json& event : stream.json_events())
          for (const Json& choice : event["choices"]) finished += choice["finish_reason"].is_null() ? 0u : 1u;
        CHECK(finished == static_cast<std::size_t>(n) + (profile == Profile::openrouter ? 1u : 0u));
      }
    }
  }
}

TEST_CASE("scripted fields of a message are in the first chunk of an openrouter stream only") {
  const test_support::Scripted on(text("one two").extra_message({{"annotations", Json::array()}}), Profile::openrouter);
  std::vector<bool> has;
  for (const Json& delta : on.http.stream().deltas()) has.push_back(delta.contains("annotations"));
  CHECK(has == std::vector<bool>{true, false, false, false});
}

TEST_CASE("an error event has the form of the profile's errors, and of a chunk in openrouter") {
  const auto last = [](Profile profile, const Failure& failure) {
    const test_support::Scripted on(text("a b").fault(after_tokens(1), error_event(failure)), profile);
    const Response response = on.http.stream();
    CHECK(response.done());
    return std::pair<Response, std::string>(response, response.events().end()[-2]);
  };
  const auto openrouter = last(Profile::openrouter, bad_gateway());
  CHECK(replaced(openrouter.second, openrouter.first.header("x-generation-id"), "ID") ==
        R"({"id":"ID","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","provider":"Mock",)"
        R"("error":{"code":502,"message":"Provider returned error"},)"
        R"("choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]})");
  const auto dashscope = last(Profile::dashscope, bad_gateway());
  CHECK(Json::parse(dashscope.second)["request_id"] == dashscope.first.header("x-request-id"));
  CHECK(last(Profile::siliconflow, service_unavailable()).second ==
        R"({"code":50508,"message":"System is too busy now. Please try again later.","data":null})");
}

}  // namespace profiles_test
