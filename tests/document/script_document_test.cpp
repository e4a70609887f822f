// Script documents: what a file says, a gateway does.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/script_files.hpp"
#include "support/text.hpp"

namespace script_document_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::has_part;
using test_support::Http;
using test_support::Response;
using test_support::ScriptFile;

inline std::string said(const Response& response) {
  return Json::parse(response.body)["choices"][0]["message"]["content"].get<std::string>();
}

inline Json parsed(const std::string& text) { return Json::parse(text, nullptr, true, true); }

/// The problems of a document, without files and source lines.
inline std::vector<std::string> problems_of(const std::string& text) {
  try {
    static_cast<void>(ScriptDocument::from_json(parsed(text)));
  } catch (const ScriptError& error) {
    std::vector<std::string> problems;
    for (const ScriptProblem& problem : error.problems()) problems.push_back(problem.pointer + ": " + problem.message);
    return problems;
  }
  return {};
}

using Texts = std::vector<std::string>;

TEST_CASE("a file scripts replies, and the first stub that matches answers") {
  const ScriptFile file(R"({
  // comments are allowed
  "mock_gateway": 1,
  "stubs": [
    {"name": "weather", "when": {"user_says": "weather"}, "reply": "Sunny."},
    {"when": {"user_says": {"equals": "later"}}, "replies": [{"failure": "rate_limited", "retry_after": "2s"}, "Hello."],
     "then": "nothing_more"},
    {"reply": "Anything else."}
  ]
})");
  Gateway gateway(Options{}.verify_on_destruction(false));
  const LoadedScript script = gateway.load(file.path());
  const Http http(gateway);
  CHECK(said(http.chat(Json("the weather?"))) == "Sunny.");
  const Response limited = http.chat(Json("later"));
  CHECK(limited.status == 429);
  CHECK(limited.header("Retry-After") == "2");
  CHECK(said(http.chat(Json("later"))) == "Hello.");
  CHECK(http.chat(Json("later")).status == 422);
  CHECK(said(http.chat(Json("?"))) == "Anything else.");
  CHECK(script.stub("weather").calls() == 1);
  CHECK(script.stub("weather").title() == "\"weather\" (demo.jsonc:5)");
  CHECK(script.stubs().size() == 3);
}

TEST_CASE("a document says how the gateway starts") {
  const ScriptDocument script = ScriptDocument::from_json(parsed(R"({"mock_gateway": 1,
    "gateway": {"models": ["fast", {"id": "deep", "owner": "me"}], "seed": 7, "clock": "manual", "limit": "2/1m"},
    "keys": [{"name": "billing", "secret": "sk-local-0123456789"}, {"name": "old", "secret": "sk-old-0123456789ab", "state": "disabled"},
             {"name": "ops", "secret": "sk-ops-0123456789ab", "models": ["fast"], "limit": "1/1m"}],
    "stubs": [{"reply": {"default": true}}]})"));
  Gateway gateway(script.options(Options{}.verify_on_destruction(false)));
  script.mount(gateway);
  CHECK(gateway.keys().list().size() == 4);
  CHECK(Http(gateway).with_key("sk-old-0123456789ab").chat().status == 403);
  Json body = chat_body();
  body["model"] = "deep";
  CHECK(Http(gateway).with_key("sk-ops-0123456789ab").post(chat_path, body).status == 403);
  body["model"] = "fast";
  CHECK(Http(gateway).with_key("sk-local-0123456789").post(chat_path, body).status == 200);
}

TEST_CASE("a mistake is told with its line, a caret, and what is near") {
  const ScriptFile file(
      "{\n  \"mock_gateway\": 1,\n  \"stubs\": [\n    {\"when\": {\"user_say\": \"x\"}, \"repply\": \"é\"}\n  ]\n}\n");
  std::string message;
  try {
    static_cast<void>(ScriptDocument::read({file.path()}));
  } catch (const ScriptError& error) {
    message = error.what();
    REQUIRE(error.problems().size() == 3);
    CHECK(error.problems()[0].line == 4);
    CHECK(error.problems()[0].column == 15);
    CHECK(error.problems()[0].pointer == "/stubs/0/when/user_say");
  }
  CHECK(has_part(message, file.path() +
                              ":4:15: /stubs/0/when/user_say: unknown key \"user_say\"; did you mean \"user_says\"?\n"
                              "      {\"when\": {\"user_say\": \"x\"}, \"repply\": \"é\"}\n"
                              "                ^"));
  CHECK(has_part(message, "unknown key \"repply\"; did you mean \"reply\"?"));
  CHECK(has_part(message, "/stubs/0: a stub needs one of: reply, replies, never"));
}

TEST_CASE("problems name the value and what was expected") {
  CHECK(problems_of(R"({"mock_gateway": 2})") ==
        Texts{"/mock_gateway: this release reads version 1 of the format, and this says 2"});
  CHECK(problems_of(R"({"stubs": []})") ==
        Texts{": no script of mock_gateway: it begins with {\"mock_gateway\": 1, …}"});
  CHECK(problems_of(R"({"fixtures": [{"match": {"userMessage": "x"}, "response": {}}]})") ==
        Texts{": this looks like an aimock fixture file, and is no script of mock_gateway"});
  CHECK(problems_of(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "a", "every": 20}}]})") ==
        Texts{"/stubs/0/reply/every: expected a duration such as \"20ms\", or uniform, normal, log_normal or recorded, "
              "got the number 20"});
  CHECK(problems_of(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "a", "failure": 503}}]})") ==
        Texts{"/stubs/0/reply: \"failure\" and \"text\" exclude each other"});
  CHECK(problems_of(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "a", "slice_writes": 0}}]})").size() == 1);
}

TEST_CASE("a stub that an earlier one hides is a warning at its line") {
  const ScriptDocument script = ScriptDocument::from_json(
      parsed(R"({"mock_gateway": 1, "stubs": [{"reply": "all"}, {"when": {"user_says": "x"}, "reply": "never"}]})"));
  REQUIRE(script.warnings().size() == 1);
  CHECK(script.warnings()[0].pointer == "/stubs/1");
}

TEST_CASE("a document that replaces another keeps the counts of stubs that did not change") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const Http http(gateway);
  LoadedScript loaded = gateway.load(parsed(
      R"({"mock_gateway": 1, "stubs": [{"name": "a", "when": {"user_says": "a"}, "replies": ["one", "two", "three"]}, {"reply": "old"}]})"));
  gateway.chat().when(user_says("mine")).reply("from the test");
  CHECK(said(http.chat(Json("a"))) == "one");
  CHECK(said(http.chat(Json("b"))) == "old");
  ScriptDocument::from_json(
      parsed(
          R"({"mock_gateway": 1, "stubs": [{"reply": "new", "when": {"user_says": "b"}}, {"name": "a", "when": {"user_says": "a"}, "replies": ["one", "two", "three"]}], "failures": [{"failure": 503, "for": {"operation": "list_models"}}]})"))
      .replace(gateway, loaded);
  CHECK(said(http.chat(Json("a"))) == "two");
  CHECK(said(http.chat(Json("b"))) == "new");
  CHECK(said(http.chat(Json("mine"))) == "from the test");
  CHECK(loaded.stub("a").calls() == 2);
  CHECK(http.get("/v1/models").status == 503);
  CHECK(http.get("/v1/models").status == 200);
}

TEST_CASE("a request that comes while a script is replaced is answered by the old one or by the new one") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const auto script = [](int version) {
    const std::string word = std::to_string(version);
    return ScriptDocument::from_json(
        parsed(R"({"mock_gateway": 1, "stubs": [{"when": {"user_says": "Hi"}, "times": 1000000, "reply": ")" + word +
               R"("}, {"when": {"user_says": "never"}, "reply": "stays"}, {"reply": "other )" + word + R"("}]})"));
  };
  LoadedScript loaded = script(0).mount(gateway);
  std::atomic<bool> ended{false};
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::size_t> answered{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&] {
      const Http http = Http(gateway).keep_alive();
      while (!ended) {
        const Response response = http.chat(Json("Hi"));
        ++answered;
        if (response.status != 200 || said(response).find_first_not_of("0123456789") != std::string::npos) ++wrong;
      }
    });
  }
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  for (int version = 1; version <= 2000 || (answered < 2000 && std::chrono::steady_clock::now() < deadline); ++version)
    script(version).replace(gateway, loaded);
  ended = true;
  for (std::thread& client : clients) client.join();
  CHECK(answered.load() >= 2000);
  CHECK(wrong.load() == 0);
}

}  // namespace script_document_test
