// Context windows of models: the 400 on the wire, the counted tokens, the order of the checks, and the verdict on the
// client.

#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace context_window_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::codes;
using test_support::contains;
using test_support::error_of;
using test_support::Http;
using test_support::kinds;
using test_support::Response;

const std::string prefix = "This model's maximum context length is 10 tokens. However, ";
/// A prompt of 11 tokens: a message costs 3, and each word 1.
const std::string too_long = "a b c d e f g h";

Options limited() { return Options().context_window("mock-model", 10); }

std::string refusal_of(const Response& response) {
  if (response.status != 400) return std::to_string(response.status);
  CHECK(response.error_code() == "context_length_exceeded");
  return response.json()["error"]["message"];
}

TEST_CASE("a chat that exceeds its model's context window gets OpenAI's 400") {
  const std::string message = prefix + "your messages resulted in 11 tokens. Please reduce the length of the messages.";
  Gateway documented(limited());
  Gateway openai(limited().profile(Profile::openai));
  for (const bool streamed : {false, true}) {
    const Json extra = {{"messages", {{{"role", "user"}, {"content", too_long}}}}, {"stream", streamed}};
    const Response plain = Http(documented).chat(extra);
    CHECK(plain.status == 400);
    CHECK(plain.raw.substr(0, plain.raw.find("\r\n")) == "HTTP/1.1 400 Bad Request");
    CHECK(plain.header("Content-Type") == "application/json");
    CHECK(plain.body ==
          R"({"error":{"code":"context_length_exceeded","message":")" + message + R"(","type":"error"}})");
    CHECK(Http(openai).chat(extra).body == R"({"error":{"message":")" + message +
                                               R"(","type":"invalid_request_error","param":"messages",)" +
                                               R"("code":"context_length_exceeded"}})");
  }
}

TEST_CASE("the prompt and max_tokens may fill the context window, but not exceed it") {
  Gateway gateway(limited().profile(Profile::openai));
  const Http http(gateway);
  const std::string both = "Please reduce the length of the messages or completion.";
  const auto asked = [&](const std::string& numbers) { return prefix + "you requested " + numbers + ". " + both; };
  CHECK(refusal_of(http.chat("a b c d e f g")) == "200");
  CHECK(http.chat("a b c d e f g").usage()["prompt_tokens"] == 10);
  for (const char* const name : {"max_tokens", "max_completion_tokens"}) {
    CHECK(refusal_of(http.chat({{name, 6}})) == "200");
    CHECK(refusal_of(http.chat({{name, 7}})) == asked("11 tokens (4 in the messages, 7 in the completion)"));
    CHECK(refusal_of(http.chat({{name, 6}, {"n", 5}})) == "200");
  }
  CHECK(refusal_of(http.chat({{"max_tokens", std::numeric_limits<std::int64_t>::max()}})) ==
        asked("9223372036854775811 tokens (4 in the messages, 9223372036854775807 in the completion)"));
  const Json tools = {{{"type", "function"}, {"function", {{"name", "f"}, {"description", "a b c d e f g"}}}}};
  CHECK(refusal_of(http.chat({{"tools", tools}})) ==
        prefix + "your messages resulted in 11 tokens. Please reduce the length of the messages.");
}

TEST_CASE("only chats of the models with a context window are limited") {
  Gateway gateway(Options()
                      .model("small", "lab")
                      .model("large")
                      .context_window("small", 10)
                      .context_window("tiny", 4)
                      .embeddings());
  const auto status = [&](const std::string& model, const std::string& text) {
    return Http(gateway).chat({{"model", model}, {"messages", {{{"role", "user"}, {"content", text}}}}}).status;
  };
  CHECK(status("small", too_long) == 400);
  CHECK(status("large", too_long) == 200);
  CHECK(status("tiny", "a b") == 400);
  CHECK(status("tiny", "a") == 200);
  CHECK(status("none", too_long) == 404);
  CHECK(Http(gateway).post("/v1/embeddings", {{"model", "small"}, {"input", too_long}}).status == 200);
  const Json listed = Http(gateway).get("/v1/models").json()["data"];
  REQUIRE(listed.size() == 3);
  CHECK(listed[0]["owned_by"] == "lab");
  CHECK_FALSE(listed[0].contains("context_window"));
  Gateway any(Options().any_model().context_window("small", 10));
  CHECK(Http(any).chat({{"model", "small"}, {"max_tokens", 7}}).status == 400);
  CHECK(Http(any).chat({{"model", "other"}, {"max_tokens", 7}}).status == 200);
}

TEST_CASE("the context window is checked right after the model") {
  ManualClock clock;
  Gateway gateway(
      limited().clock(clock).limit_tokens(12, 1min).key("other", KeyOptions().models({"x"}).secret("sk-o")));
  const Http http(gateway);
  gateway.chat().named("never").when(user_says("h")).never();
  gateway.chat().named("once").times(1).reply("Hello.");
  gateway.fail_next(overloaded(), 1, for_model("mock-model"));
  CHECK(http.with_key("sk-o").chat(too_long).status == 403);
  CHECK(http.chat({{"model", "none"}, {"max_tokens", 99}}).status == 404);
  CHECK(http.chat({{"n", 0}, {"max_tokens", 99}}).error_code() == "value_below_minimum");
  CHECK(refusal_of(http.chat(too_long)) ==
        prefix + "your messages resulted in 11 tokens. Please reduce the length of the messages.");
  CHECK(http.chat().status == 529);  // the refused chat has not used up the failure
  CHECK(refusal_of(http.chat(too_long)) != "");
  CHECK(http.ask("Hi") == "Hello.");  // nor the tokens or the stub
  CHECK(gateway.journal().last().decision() == Decision::Kind::stub);
  CHECK(gateway.journal().at(6).decision() == Decision::Kind::rejected);
  CHECK(gateway.journal().at(6).decision().detail == "400 context_length_exceeded");
}

TEST_CASE("the test's tokenizer counts, and its exception is a 500") {
  bool broken = false;
  const Tokenizer letters = [&](std::string_view text) {
    if (broken) throw std::runtime_error("boom");
    std::vector<std::string> pieces;
    for (const char letter : text) pieces.emplace_back(1, letter);
    return pieces;
  };
  Gateway gateway(limited().tokenizer(letters).verify_on_destruction(false));
  const Http http(gateway);
  CHECK(refusal_of(http.chat("1234567")) == "200");
  CHECK(contains(refusal_of(http.chat("12345678")), "resulted in 11 tokens"));
  broken = true;
  CHECK(http.chat("1").status == 500);
  const Verification verification = gateway.verify();
  REQUIRE(kinds(verification) == std::vector{Problem::Kind::callback_failed});
  CHECK(contains(verification.problems()[0].text, "the function given to Options::tokenizer threw: boom"));
}

TEST_CASE("a client that shortens its prompt and goes on is not reported") {
  Gateway gateway(limited());
  const Http http(gateway);
  gateway.chat().expect(1).reply("Hello.");
  CHECK(http.chat(too_long).status == 400);
  CHECK(http.chat({{"max_tokens", 8}}).status == 400);
  CHECK(http.ask("a b") == "Hello.");
  CHECK(gateway.review().message().find("clean: 3 exchanges judged") == 0);
  const Verification verification = gateway.verify();
  CHECK(verification);
  REQUIRE(verification.notes().size() == 2);
  CHECK(contains(verification.notes()[0], "exchange 1 was refused with 400 context_length_exceeded"));
}

TEST_CASE("a client that sends a too long prompt again is reported") {
  Gateway gateway(limited());
  const Http http(gateway);
  http.chat(too_long);
  http.chat(too_long);
  const Review review = gateway.review();
  CHECK(codes(review) == "retried_final_error");
  CHECK(contains(review.message(),
                 "retried after 400 \"context_length_exceeded\", but a retry cannot fix this error. "
                 "Shorten the prompt, or report the error to the caller."));
  CHECK(gateway.verify());
}

TEST_CASE("a stub without calls is explained by a refused prompt") {
  Gateway gateway(limited().verify_on_destruction(false));
  gateway.chat().named("summary").expect(1).reply("Hello.");
  Http(gateway).chat(too_long);
  CHECK(contains(gateway.verify().message(),
                 "exchange 1 matches this stub, but the answer was rejected, 400 context_length_exceeded"));
}

TEST_CASE("a reset and a reloaded script keep the context window") {
  const auto script = [](const char* reply) {
    return ScriptDocument::from_json({{"mock_gateway", 1},
                                      {"gateway", {{"models", {"large", {{"id", "small"}, {"context_window", 10}}}}}},
                                      {"stubs", {{{"reply", reply}}}}});
  };
  Gateway gateway(script("one").options());
  const auto status = [&](const char* model) {
    return Http(gateway).chat({{"model", model}, {"max_tokens", 7}}).status;
  };
  LoadedScript loaded = script("one").mount(gateway);
  CHECK(status("small") == 400);
  CHECK(status("large") == 200);
  script("two").replace(gateway, loaded);
  CHECK(status("small") == 400);
  gateway.reset();
  CHECK(status("small") == 400);
  CHECK(status("large") == 200);
}

TEST_CASE("a script's context window replaces that of the options") {
  const auto status = [](const Json& model, const Options& base) {
    const Json document = {{"mock_gateway", 1}, {"gateway", {{"models", {model}}}}};
    Gateway gateway(ScriptDocument::from_json(document).options(base));
    return Http(gateway).chat({{"max_tokens", 7}}).status;
  };
  CHECK(status("mock-model", limited()) == 400);
  CHECK(status({{"id", "mock-model"}, {"owner", "x"}}, limited()) == 400);
  CHECK(status({{"id", "mock-model"}, {"context_window", 11}}, limited()) == 200);
  CHECK(status({{"id", "mock-model"}, {"context_window", 10}}, Options()) == 400);
}

TEST_CASE("a wrong context window throws") {
  CHECK(error_of([] { Gateway(Options().context_window("fast", 0)); }) ==
        "mock_gateway: Options: context_window of \"fast\" must be at least 1 token");
  CHECK(error_of([] { Gateway(Options().context_window("fast", 5).model("fast")); }) ==
        "mock_gateway: Options: the model \"fast\" is given twice");
  CHECK(error_of([] { Gateway(Options().context_window("", 5)); }) ==
        "mock_gateway: Options: a model's id must not be empty");
}

}  // namespace context_window_test
