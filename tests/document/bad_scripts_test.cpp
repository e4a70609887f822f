// Script documents that cannot be served: each says what is wrong, where, and what to do. bad_scripts.jsonl holds a
// document a line: {"script": text, "problems": ["line:column: pointer: message", …]}. One that the schema accepts has
// "schema": "accepts" and a "reason"; tests/schemas/script_check.py compares the two.

#include <set>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/printing.hpp"
#include "support/script_files.hpp"
#include "support/text.hpp"

namespace bad_scripts_test {

using namespace mock_gateway;
using test_support::has_part;
using test_support::script_corpus;
using test_support::ScriptFile;

std::string line_of(const ScriptProblem& problem) {
  std::string line;
  if (problem.line > 0) line = std::to_string(problem.line) + ":" + std::to_string(problem.column) + ": ";
  if (!problem.pointer.empty()) line += problem.pointer + ": ";
  return line + problem.message;
}

/// What reading a text says of it.
struct Refusal {
  std::vector<std::string> problems;
  std::string message;
};

Refusal refusal_of(const std::string& text) {
  const ScriptFile file(text);
  Refusal refusal;
  try {
    static_cast<void>(ScriptDocument::read({file.path()}));
  } catch (const ScriptError& error) {
    for (const ScriptProblem& problem : error.problems()) {
      CHECK(problem.file == file.path());
      refusal.problems.push_back(line_of(problem));
    }
    refusal.message = error.what();
  }
  return refusal;
}

TEST_CASE("every bad script is refused with its problems, exactly") {
  const std::vector<Json> cases = script_corpus("bad_scripts.jsonl");
  CHECK(cases.size() >= 60);
  for (const Json& one : cases) {
    const std::string script = one["script"];
    INFO(script);
    CHECK(refusal_of(script).problems == one["problems"].get<std::vector<std::string>>());
    CHECK(!one["problems"].empty());
  }
}

TEST_CASE("a value has the problems that a file with its text has") {
  for (const Json& one : script_corpus("bad_scripts.jsonl")) {
    const std::string script = one["script"];
    const Json value = Json::parse(script, nullptr, false, true);
    if (value.is_discarded() || one.value("reason", "") == "a key that is there twice") continue;
    INFO(script);
    std::vector<std::string> problems;
    try {
      static_cast<void>(ScriptDocument::from_json(value));
    } catch (const ScriptError& error) {
      for (const ScriptProblem& problem : error.problems()) problems.push_back(line_of(problem));
    }
    std::vector<std::string> expected;
    for (const std::string& problem : one["problems"].get<std::vector<std::string>>())
      expected.push_back(problem.substr(problem.find(": ") + 2));
    CHECK(problems == expected);
  }
}

TEST_CASE("a document with a problem is told once, and never with a secret in it") {
  for (const Json& one : script_corpus("bad_scripts.jsonl")) {
    const Refusal refusal = refusal_of(one["script"]);
    INFO(refusal.message);
    CHECK(refusal.message.find("live-0123456789") == std::string::npos);
    const std::set<std::string> different(refusal.problems.begin(), refusal.problems.end());
    CHECK(different.size() == refusal.problems.size());
  }
}

TEST_CASE("twenty problems are shown of many, those of the first file") {
  std::string stubs;
  for (int number = 0; number < 50; ++number)
    stubs += (number > 0 ? "," : "") + std::string(R"({"repply": "a", "reply": "b"})");
  const Refusal refusal = refusal_of(R"({"mock_gateway": 1, "stubs": [)" + stubs + "]}");
  CHECK(refusal.problems.size() == 20);
  CHECK(has_part(refusal.message, "a script cannot be served; the first 20 problems of more\n"));

  const Refusal three = refusal_of(R"({"mock_gateway": 1, "a1": 1, "b2": 2, "c3": 3})");
  CHECK(three.problems.size() == 3);
  CHECK(has_part(three.message, "a script cannot be served; 3 problems\n"));

  std::string twice;
  for (int number = 0; number < 50; ++number) {
    const std::string key = ", \"x-" + std::to_string(number) + "\": 1";
    twice += key + key;
  }
  CHECK(refusal_of(R"({"mock_gateway": 1)" + twice + "}").problems.size() == 20);
}

TEST_CASE("warnings of one file do not hide the mistakes of the next") {
  std::string stubs = R"({"reply": "a"})";
  for (int number = 0; number < 30; ++number) stubs += R"(, {"reply": "b"})";
  const ScriptFile hidden(R"({"mock_gateway": 1, "stubs": [)" + stubs + "]}");
  CHECK(ScriptDocument::read({hidden.path()}).warnings().size() == 30);
  const ScriptFile bad(R"({"mock_gateway": 1, "stub": []})");
  CHECK_THROWS_AS(ScriptDocument::read({hidden.path(), bad.path()}), ScriptError);
}

TEST_CASE("a problem deep within, or far out on a line, is told with a line that can be read") {
  const std::string deep = R"({"mock_gateway": 1, "stubs": [{"reply": "a", "when": )";
  std::string open, close;
  for (int level = 0; level < 100; ++level) {
    open += R"({"not": )";
    close += "}";
  }
  const Refusal nested = refusal_of(deep + open + R"({"model_si": "fast"})" + close + "}]}");
  REQUIRE(nested.problems.size() == 1);
  CHECK(has_part(nested.problems[0], "unknown key \"model_si\"; did you mean \"model_is\"?"));

  std::string too_deep;
  for (int level = 0; level < 2000; ++level) too_deep += "[";
  const Refusal refused = refusal_of(R"({"mock_gateway": 1, "x-": )" + too_deep);
  REQUIRE(refused.problems.size() == 1);
  CHECK(has_part(refused.problems[0], "no JSON: "));

  const std::string megabyte(1 << 20, 'a');
  const Refusal long_line = refusal_of(R"({"mock_gateway": 1, "comment": ")" + megabyte +
                                       R"(", "stubs": [{"reply": 5, "name": ")" + megabyte + "\"}]}");
  REQUIRE(long_line.problems.size() == 1);
  CHECK(has_part(long_line.problems[0], "/stubs/0/reply: expected a text, or an object, got the number 5"));
  CHECK(long_line.message.size() < 1000);
}

TEST_CASE("what is no text in UTF-8 is refused, in a file and in a value") {
  const Refusal file = refusal_of("{\"mock_gateway\": 1, \"stubs\": [{\"reply\": \"a\xff\"}]}");
  REQUIRE(file.problems.size() == 1);
  CHECK(has_part(file.problems[0], "1:43: no JSON: "));
  const auto message_of = [](const Json& value) -> std::string {
    try {
      static_cast<void>(ScriptDocument::from_json(value));
    } catch (const ScriptError& error) {
      return line_of(error.problems().at(0));
    }
    return "";
  };
  Json value{{"mock_gateway", 1}, {"stubs", {{{"reply", "a\xff"}}}}};
  CHECK(message_of(value) == "/stubs/0/reply: the string is not UTF-8");
  value["stubs"][0]["reply"] = Json::binary({1, 2});
  CHECK(message_of(value) == "/stubs/0/reply: this is no JSON");
  value["stubs"][0] = {{"reply", "a"}, {"a\xff", 1}};
  CHECK(has_part(message_of(value), "a key is not UTF-8"));
}

TEST_CASE("a file with a byte order mark, as editors write it, is read") {
  CHECK(refusal_of("\xEF\xBB\xBF{\"mock_gateway\": 1, \"stubs\": [{\"reply\": \"a\"}]}").problems.empty());
}

TEST_CASE("paths that lead nowhere are problems too") {
  const ScriptFile file("{}", "notes.txt");
  const std::string folder = file.path().substr(0, file.path().rfind('/'));
  const auto problems_of = [](const std::vector<std::string>& paths) {
    std::vector<std::string> problems;
    try {
      static_cast<void>(ScriptDocument::read(paths));
    } catch (const ScriptError& error) {
      for (const ScriptProblem& problem : error.problems()) problems.push_back(problem.to_string());
    }
    return problems;
  };
  CHECK(problems_of({folder + "/none.json", folder}) ==
        std::vector<std::string>{folder + "/none.json: no such file or folder",
                                 folder + ": the folder holds no .json and no .jsonc"});
}

}  // namespace bad_scripts_test
