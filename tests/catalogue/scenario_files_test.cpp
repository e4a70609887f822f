// Scenarios in files of the user: their bytes, their verdicts, and errors in a folder of files.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/catalogue_transcript.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/script_files.hpp"

namespace scenario_files_test {

using namespace mock_gateway;
using catalogue_transcript::observe;
using test_support::Http;
using test_support::RawConnection;
using test_support::ScriptFile;

/// Returns the text of a scenario file. `more` adds keys to "scenario" and starts with a comma; `script` adds keys to
/// the script.
inline std::string scenario_text(const std::string& name, const std::string& more, const std::string& script) {
  return R"({"mock_gateway": 1, "scenario": {"name": ")" + name +
         R"(", "description": "says it", "good_client": "hears it", "expected": "answer")" + more + "}, " + script +
         "}";
}

inline std::string folder_of(const ScriptFile& file) {
  return std::filesystem::path(file.path()).parent_path().string();
}

inline void add_file(const ScriptFile& beside, const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(folder_of(beside)) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("a scenario file reproduces the catalogue's scenario byte for byte") {
  const std::string here = __FILE__;
  const Catalogue own = Catalogue::read(here.substr(0, here.rfind('/')) + "/scenarios");
  CHECK(own.scenarios().size() == 8);
  for (const Scenario& one : own.scenarios()) {
    CAPTURE(one.name());
    const Scenario same = scenario(one.name());
    CHECK(as_json(one) == as_json(same));
    for (const bool streamed : {true, false}) CHECK(observe(one, streamed, "") == observe(same, streamed, ""));
  }
}

TEST_CASE("a folder's scenarios are ordered by file, and found by name") {
  const ScriptFile file(scenario_text("second", "", R"("stubs": [{"reply": "two"}])"), "b.jsonc");
  add_file(file, "a/late.json", scenario_text("first", "", R"("stubs": [{"reply": "one"}])"));
  add_file(file, "notes.txt", "no script");
  const Catalogue own = Catalogue::read(folder_of(file));
  std::vector<std::string> names;
  for (const Scenario& one : own.scenarios()) names.push_back(one.name());
  CHECK(names == std::vector<std::string>{"first", "second"});
  CHECK(own.scenario("second").name() == "second");
  CHECK_THROWS_WITH_AS(own.scenario("secund"),
                       "mock_gateway: the catalogue has no scenario \"secund\"; did you mean \"second\"?",
                       GatewayError);
  CHECK_THROWS_WITH_AS(own.scenario("x"), "mock_gateway: the catalogue has no scenario \"x\"; known: first, second",
                       GatewayError);
  CHECK(Catalogue::read(file.path()).scenarios().size() == 1);
}

TEST_CASE("a scenario file may omit keys that have defaults") {
  const ScriptFile file(scenario_text("plain", "", R"("stubs": [{"reply": "two"}])"));
  CHECK(as_json(Catalogue::read(file.path()).scenario("plain")) == Json({{"name", "plain"},
                                                                         {"group", ""},
                                                                         {"description", "says it"},
                                                                         {"reference", ""},
                                                                         {"good_client", "hears it"},
                                                                         {"expected", "answer"},
                                                                         {"text", ""},
                                                                         {"tool_calls", Json::array()},
                                                                         {"finish_reason", nullptr},
                                                                         {"usage", nullptr},
                                                                         {"needs_stream", false},
                                                                         {"needs_timeout", false},
                                                                         {"calls", 1}}));
}

TEST_CASE("a scenario file configures its gateway, and outlives its catalogue") {
  const ScriptFile file(scenario_text("other-model", R"(, "text": "Hello.")",
                                      R"("gateway": {"models": ["fast"]}, "stubs": [{"reply": "Hello."}])"));
  const Scenario own = Catalogue::read(file.path()).scenario("other-model");
  for (int gateways = 0; gateways < 2; ++gateways) {
    Gateway gateway{own.options(Options{}.seed(7))};
    CHECK(gateway.api_key() == Gateway(Options{}.seed(7)).api_key());
    CHECK(Http(gateway).get("/v1/models").body.find("\"id\":\"fast\"") != std::string::npos);
    gateway.chat().expect(1).reply("never asked, which verify() would report");
    own.mount(gateway);
    CHECK(Http(gateway).chat({{"model", "fast"}}).text() == "Hello.");
  }
}

TEST_CASE("a client that reports the finish_reason of a scenario file reports the error that it indicates") {
  const auto judged = [](const char* reason, const char* told) {
    std::string text = scenario_text("cut", R"(, "text": "one", "finish_reason": ")" + std::string(reason) + "\"",
                                     R"("stubs": [{"reply": "one"}])");
    text.replace(text.find("\"answer\""), 8, "\"error\"");
    const ScriptFile file(text);
    ClientOutcome outcome{"one"};
    outcome.finish_reason = told;
    return Catalogue::read(file.path()).scenario("cut").judge(outcome).kind();
  };
  CHECK(judged("content_filter", "content_filter") == Verdict::Kind::error_surfaced);
  CHECK(judged("content_filter", "stop") == Verdict::Kind::wrong_answer);
  CHECK(judged("content_filter", "") == Verdict::Kind::silent_data_loss);
  CHECK(judged("stop", "stop") == Verdict::Kind::silent_data_loss);
}

TEST_CASE("a scenario file is judged by its own rules") {
  const ScriptFile file(scenario_text(
      "cut", R"(, "text": "one two", "sent": "one and", "finish_reason": "stop", "usage": {"prompt_tokens": 1,
                "completion_tokens": 2}, "tool_calls": [{"name": "f", "arguments": {"a": 1}}])",
      R"("stubs": [{"reply": "one two"}])"));
  const Scenario own = Catalogue::read(file.path()).scenario("cut");
  ClientOutcome outcome{"one two"};
  outcome.tool_calls = {{"call", "f", R"({"a":1})"}};
  outcome.finish_reason = "stop";
  outcome.usage = TokenUsage(1, 2);
  CHECK(own.judge(outcome));
  outcome.usage = TokenUsage(1, 3);
  CHECK(own.judge(outcome).kind() == Verdict::Kind::wrong_answer);
  CHECK(own.judge(outcome).message() ==
        "cut: wrong answer, expected answer\n"
        "  caller got  text \"one two\" and 1 tool call: f({\"a\":1}), finish_reason \"stop\", usage 1 + 3 = 4\n"
        "  the reply   text \"one two\" and 1 tool call: f({\"a\":1}), finish_reason \"stop\", usage 1 + 2 = 3\n"
        "  the gateway says it\n"
        "  a good client hears it");
  ClientOutcome failed{"one a"};
  failed.error = true;
  CHECK(own.judge(failed).kind() == Verdict::Kind::error_surfaced);
  CHECK_FALSE(own.judge(failed));
  failed.text = "one x";
  CHECK(own.judge(failed).kind() == Verdict::Kind::wrong_answer);
}

TEST_CASE("a scenario of a file happens only to replies of its stubs, in the plain or streamed form that shows it") {
  const ScriptFile file(scenario_text("broken", R"(, "needs_stream": true)",
                                      R"("stubs": [{"reply": {"text": "one two", "faults":
                                         [{"after_tokens": 1, "effect": "close_connection"}]}}])"));
  const Scenario own = Catalogue::read(file.path()).scenario("broken");
  const auto befalls = [](const Scenario& one, const Json& fields) {
    Gateway gateway{one.options()};
    gateway.chat().reply("not the scenario's");
    one.mount(gateway);
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat(fields));
    connection.receive_response();
    connection.close();
    return one.happened_to(gateway.journal().last());
  };
  CHECK(befalls(own, {{"stream", true}}));
  CHECK_FALSE(befalls(own, {{"stream", false}}));
  const ScriptFile picky(scenario_text("picky", "", R"("stubs": [{"when": {"stream_is": true}, "reply": "one"}])"));
  CHECK(befalls(Catalogue::read(picky.path()).scenario("picky"), {{"stream", true}}));
  CHECK_FALSE(befalls(Catalogue::read(picky.path()).scenario("picky"), {}));
  const ScriptFile hints(scenario_text("hints", "", R"("connections": [{"fault": "early_hints", "always": true}])"));
  CHECK_FALSE(befalls(Catalogue::read(hints.path()).scenario("hints"), {}));
}

TEST_CASE("verify() ignores a scenario's stubs that were never called") {
  const ScriptFile file(scenario_text("silent", "", R"("stubs": [{"reply": "one"}])"));
  Gateway gateway;
  Catalogue::read(file.path()).scenario("silent").mount(gateway);
  CHECK(gateway.verify().notes().empty());
}

TEST_CASE("the error for a folder lists the mistakes of all files") {
  const ScriptFile file(scenario_text("twice", "", R"("stubs": [])"), "good.jsonc");
  add_file(file, "of_that_name.jsonc", scenario_text("twice", "", R"("stubs": [])"));
  add_file(file, "plain.jsonc", "// A script.\n{\"mock_gateway\": 1, \"stubs\": []}");
  add_file(file, "scenario.jsonc",
           "{\"mock_gateway\": 1,\n \"scenario\": {\"name\": \"\", \"expected\": \"maybe\","
           " \"calls\": 0, \"texts\": 1, \"tool_calls\": [{\"name\": \"f\"}]}}");
  add_file(file, "stubs.jsonc", scenario_text("stubs", "", R"("stubs": [{"when": {"user_say": "a"}, "reply": "b"}])"));
  add_file(file, "yaml.json", "name: x\n");
  std::string message;
  try {
    Catalogue::read(folder_of(file));
  } catch (const ScriptError& error) {
    for (const ScriptProblem& problem : error.problems())
      message += std::filesystem::path(problem.file).filename().string() + ":" + std::to_string(problem.line) + ":" +
                 std::to_string(problem.column) + ": " + problem.pointer + ": " + problem.message + "\n";
  }
  CHECK(message ==
        "of_that_name.jsonc:1:42: /scenario/name: an earlier file has a scenario with this name\n"
        "plain.jsonc:2:1: : no scenario: \"scenario\" is missing; it says what this script does to a client, and what "
        "a good client does\n"
        "scenario.jsonc:2:23: /scenario/name: expected a text that is not empty\n"
        "scenario.jsonc:2:39: /scenario/expected: unknown value \"maybe\"; known: answer, error, answer or error\n"
        "scenario.jsonc:2:57: /scenario/calls: expected a whole number from 1 to 1000, got the number 0\n"
        "scenario.jsonc:2:60: /scenario/texts: unknown key \"texts\"; did you mean \"text\"?\n"
        "scenario.jsonc:2:14: /scenario: \"description\" is missing\n"
        "scenario.jsonc:2:14: /scenario: \"good_client\" is missing\n"
        "stubs.jsonc:1:147: /stubs/0/when/user_say: unknown key \"user_say\"; did you mean \"user_says\"?\n"
        "yaml.json:1:1: : not JSON: expected a value, got 'n'; script files are JSON with comments, not YAML\n");
  CHECK_THROWS_WITH_AS(Catalogue::read("no such folder"),
                       "mock_gateway: a script cannot be served\nno such folder: no such file or folder", ScriptError);
}

}  // namespace scenario_files_test
