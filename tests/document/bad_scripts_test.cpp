// Errors of script documents, which say what is wrong, where, and what to do. Each line of bad_scripts.jsonl is a
// document: {"script": text, "problems": ["line:column: pointer: message", …]}. If the schema accepts a document, it
// has "schema": "accepts" and a "reason", which tests/schemas/script_check.py checks.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
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

/// The error that reading a script text throws.
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

TEST_CASE("every bad script is refused with exactly its problems") {
  const std::vector<Json> cases = script_corpus("bad_scripts.jsonl");
  CHECK(cases.size() >= 60);
  for (const Json& one : cases) {
    const std::string script = one["script"];
    INFO(script);
    CHECK(refusal_of(script).problems == one["problems"].get<std::vector<std::string>>());
    CHECK(!one["problems"].empty());
  }
}

TEST_CASE("a JSON value has the same problems as a file with its text") {
  for (const Json& one : script_corpus("bad_scripts.jsonl")) {
    const std::string script = one["script"];
    const Json value = Json::parse(script, nullptr, false, true);
    if (value.is_discarded() || one.value("reason", "") == "a key that occurs twice") continue;
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

TEST_CASE("a document's problem is reported once and never contains a secret") {
  for (const Json& one : script_corpus("bad_scripts.jsonl")) {
    const Refusal refusal = refusal_of(one["script"]);
    INFO(refusal.message);
    CHECK(refusal.message.find("live-0123456789") == std::string::npos);
    const std::set<std::string> different(refusal.problems.begin(), refusal.problems.end());
    CHECK(different.size() == refusal.problems.size());
  }
}

TEST_CASE("an error shows at most twenty problems, those of the first file first") {
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

TEST_CASE("an error begins with the number of problems, up to twenty") {
  for (int count = 1; count <= 22; ++count) {
    CAPTURE(count);
    std::string keys;
    for (int number = 0; number < count; ++number) keys += ", \"key" + std::to_string(number) + "\": 1";
    const Refusal refusal = refusal_of(R"({"mock_gateway": 1)" + keys + "}");
    const std::string heading = refusal.message.substr(0, refusal.message.find('\n'));
    const std::string counted = count == 1    ? ""
                                : count <= 20 ? "; " + std::to_string(count) + " problems"
                                              : "; the first 20 problems of more";
    CHECK(heading == "mock_gateway: a script cannot be served" + counted);
    CHECK(refusal.problems.size() == static_cast<std::size_t>(std::min(count, 20)));
  }
}

TEST_CASE("a secret that two keys share is a problem of the second key") {
  CHECK(refusal_of(R"({"mock_gateway": 1, "keys": [{"name": "a", "secret": "x1"}, {"name": "b", "secret": "x1"}]})")
            .problems == std::vector<std::string>{"1:85: /keys/1/secret: another key has this secret"});
}

TEST_CASE("line and column are correct everywhere in a large script") {
  for (std::size_t size = 4030; size < 4110; ++size) {
    for (const char* const filler : {"a", "\xc3\xa9"}) {
      const std::string comment(size % 2 == 0 ? "" : "\n");
      std::string padding;
      while (padding.size() < size) padding += filler;
      // The lookup of lines stores a position every 4096 bytes. The problem is before the second position, or after it.
      const std::string before = "{\"mock_gateway\": 1,/*" + padding + comment + padding + "*/";
      const std::size_t line_begin = before.rfind('\n') + 1;
      std::size_t column = 1;
      for (std::size_t at = line_begin; at < before.size(); ++at)
        if ((static_cast<unsigned char>(before[at]) & 0xc0U) != 0x80U) ++column;
      const Refusal refusal = refusal_of(before + "\"oops\": 1}");
      REQUIRE(refusal.problems.size() == 1);
      CHECK(refusal.problems[0].substr(0, refusal.problems[0].find(": ")) ==
            (line_begin == 0 ? "1:" : "2:") + std::to_string(column));
    }
  }
}

TEST_CASE("warnings of one file do not hide the mistakes of the next") {
  std::string stubs = R"({"reply": "a"})";
  for (int number = 0; number < 30; ++number) stubs += R"(, {"reply": "b"})";
  const ScriptFile hidden(R"({"mock_gateway": 1, "stubs": [)" + stubs + "]}");
  CHECK(ScriptDocument::read({hidden.path()}).warnings().size() == 30);
  const ScriptFile bad(R"({"mock_gateway": 1, "stub": []})");
  CHECK_THROWS_AS(ScriptDocument::read({hidden.path(), bad.path()}), ScriptError);
}

TEST_CASE("the message of a problem that is deeply nested or far to the right is short") {
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
  CHECK(has_part(refused.problems[0], "not JSON: "));

  const std::string megabyte(1 << 20, 'a');
  const Refusal long_line = refusal_of(R"({"mock_gateway": 1, "comment": ")" + megabyte +
                                       R"(", "stubs": [{"reply": 5, "comment": ")" + megabyte + "\"}]}");
  REQUIRE(long_line.problems.size() == 1);
  CHECK(has_part(long_line.problems[0], "/stubs/0/reply: expected a text, or an object, got the number 5"));
  CHECK(long_line.message.size() < 1000);
}

TEST_CASE("invalid UTF-8 is refused, in a file and in a value") {
  const Refusal file = refusal_of("{\"mock_gateway\": 1, \"stubs\": [{\"reply\": \"a\xff\"}]}");
  REQUIRE(file.problems.size() == 1);
  CHECK(has_part(file.problems[0], "1:43: not JSON: "));
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
  CHECK(message_of(value) == "/stubs/0/reply: this is not JSON");
  value["stubs"][0] = {{"reply", "a"}, {"a\xff", 1}};
  CHECK(has_part(message_of(value), "a key is not UTF-8"));
}

TEST_CASE("a file with a byte order mark is read") {
  CHECK(refusal_of("\xEF\xBB\xBF{\"mock_gateway\": 1, \"stubs\": [{\"reply\": \"a\"}]}").problems.empty());
}

TEST_CASE("a path to a missing file is a problem") {
  const ScriptFile file("{}", "notes.txt");
  const std::string folder = std::filesystem::path(file.path()).parent_path().string();
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
                                 folder + ": the folder has no .json or .jsonc file"});
}

TEST_CASE("a secret is masked even after a word that resembles the beginning of a secret") {
  const Refusal refusal = refusal_of(
      R"({"mock_gateway": 1, "stubs": [{"name": "task-list of sk-live-0123456789abcdef", "repply": "a", "reply": "a"}]})");
  CHECK(refusal.problems.size() == 1);
  CHECK(has_part(refusal.message, "task-list of sk-*********************"));
  CHECK_FALSE(has_part(refusal.message, "live-"));
}

TEST_CASE("several secrets in one line or one message are all masked") {
  const std::string two = "sk-live-0123456789abcdef and sk-live-0123456789fedcba";
  const std::string three = two + ", sk-live-0123456789";
  for (const std::string& secrets : {two, three}) {
    CAPTURE(secrets);
    const std::string script =
        R"({"mock_gateway": 1, "stubs": [{"name": ")" + secrets + R"(", "reply": {"failure": ")" + secrets + R"("}}]})";
    const Refusal refusal = refusal_of(script);
    REQUIRE(refusal.problems.size() == 1);
    CHECK(has_part(refusal.problems[0], "sk-"));
    CHECK_FALSE(has_part(refusal.message, "live-"));
    CHECK_FALSE(has_part(refusal_of(script + "?").message, "live-"));  // invalid JSON
  }
}

TEST_CASE("a secret used as the name of a member is masked in problems, in a file and in a value") {
  const std::string secret = "sk-live-0123456789abcdef";
  const std::string script = R"({"mock_gateway": 1, "SECRET": 1, "other SECRET": 2, "states": {"SECRET": 5}})";
  std::string text = script;
  for (std::size_t at = text.find("SECRET"); at != std::string::npos; at = text.find("SECRET"))
    text.replace(at, 6, secret);
  const Refusal refusal = refusal_of(text);
  REQUIRE(refusal.problems.size() == 3);
  CHECK_FALSE(has_part(refusal.message, "live-"));
  for (const std::string& problem : refusal.problems) CHECK(has_part(problem, "sk-*********************"));
  const auto problem_of = [](const Json& value) {
    try {
      static_cast<void>(ScriptDocument::from_json(value));
    } catch (const ScriptError& error) {
      return error.problems().at(0).pointer + error.what();
    }
    return std::string();
  };
  for (const Json& value : {Json(5), Json("\xff"), Json::binary({1})}) {
    const std::string problem = problem_of({{"mock_gateway", 1}, {"states", {{secret, value}}}});
    CHECK(has_part(problem, "/states/sk-*"));
    CHECK_FALSE(has_part(problem, "live-"));
  }
}

TEST_CASE("a key of any form is masked in the line that a problem shows") {
  const std::string before = R"({"mock_gateway": 1, "keys": [{"name": "billing", )";
  for (const char* const secret :
       {R"("secret": "local-billing-0123")", R"("secret":"local-\"billing")", R"("secret":  "näh-billing-😀")",
        R"("secret": /* ours */ "local-billing-0123")", R"("secert": "local-billing-0123")",
        R"("secret": ["local-billing-0123"])", "\"secret\":\n  \"local-billing-0123\"",
        R"("secret": "a", "secret": "local-billing-0123")"}) {
    const std::string line = before + secret + R"(, "stat": "x"}])";
    for (const char* const end : {"}", "", "?", "\xff"}) {
      const Refusal refusal = refusal_of(line + end);
      INFO(refusal.message);
      REQUIRE_FALSE(refusal.problems.empty());
      CHECK(has_part(refusal.message, R"("stat": "x")"));
      CHECK_FALSE(has_part(refusal.message, "local"));
      CHECK_FALSE(has_part(refusal.message, "billing-"));
    }
  }
  const Refusal key = refusal_of(R"({"mock_gateway": 1, "gateway": {"api_key": "local-billing-0123", "prot": 1}})");
  REQUIRE(key.problems.size() == 1);
  CHECK(has_part(key.message, R"("api_key": "******************", "prot": 1)"));
}

TEST_CASE("a numeric key is masked in the value that a problem shows") {
  for (const std::string digits :
       {"1234567890123456", "12345678901234567890123", "0.1234567890123456", "-1234567890123456", "01234567890123456",
        "1234567890123456e9999", "1234567890123456x"}) {
    for (const char* const begin :
         {R"("keys": [{"name": "billing", "secret": )", R"("keys": [{"name": "billing", "secert": )",
          R"("keys": [{"name": "billing", "secret": [)", R"("gateway": {"api_key": )"}) {
      const std::string members = begin + digits +
                                  (begin[1] == 'g'                               ? "}"
                                   : begin[std::string(begin).size() - 1] == '[' ? "]}]"
                                                                                 : "}]");
      const Refusal refusal = refusal_of(R"({"mock_gateway": 1, )" + members + "}");
      INFO(refusal.message);
      CHECK_FALSE(refusal.problems.empty());
      CHECK_FALSE(has_part(refusal.message, "123456"));
    }
  }
  const Refusal refusal =
      refusal_of(R"({"mock_gateway": 1, "keys": [{"name": "billing", "secret": 1234567890123456}]})");
  REQUIRE(refusal.problems.size() == 1);
  CHECK(has_part(refusal.problems[0], "/keys/0/secret: expected a string, got a number"));
  CHECK(has_part(refusal_of(R"({"mock_gateway": 1, "keys": [{"name": 12}]})").message, "got the number 12"));
}

TEST_CASE("a key of any form is masked in invalid JSON") {
  for (const char* const keys :
       {R"(keys: [{name: "billing", secret: "local-0123"}])", R"('keys': [{'secret': 'local-0123'}])",
        R"("keys": [{"secret" "local-0123"}])", R"("keys": [{"secret" = "local-0123"}])",
        R"("keys": [{"secret": local-0123}])", R"("keys": [{"secret": "local-0123}])"}) {
    const Refusal refusal = refusal_of(std::string(R"({"mock_gateway": 1, )") + keys + "}");
    INFO(refusal.message);
    REQUIRE(refusal.problems.size() == 1);
    CHECK(has_part(refusal.problems[0], "not JSON"));
    CHECK_FALSE(has_part(refusal.message, "local"));
  }
  CHECK_FALSE(has_part(refusal_of("secret: local-0123\nkeys: 1\n").message, "local"));
}

TEST_CASE("the caret is at the right place after a masked secret") {
  const std::string message =
      refusal_of(R"({"mock_gateway":1,"keys":[{"name":"a","secret":"é\"東😀","stat":5}]})").message;
  INFO(message);
  const std::size_t last = message.rfind('\n');
  const std::size_t line = message.rfind('\n', last - 1);
  CHECK(has_part(message, R"("secret":"*****","stat")"));
  CHECK(message.substr(line + 1).find("\"stat\"") == message.substr(last + 1).find('^'));
}

TEST_CASE("text without secrets is shown unchanged") {
  const Refusal refusal = refusal_of(
      R"({"mock_gateway": 1, "stubs": [{"name": "secret", "when": {"user_says": "select a secret"}, "repply": "x", "reply": "y"}]})");
  CHECK(has_part(refusal.message, R"("user_says": "select a secret"}, "repply": "x")"));
}

TEST_CASE("a repeated value is reported once, without the problems inside it") {
  const auto problems = [](const std::string& members) {
    return refusal_of(R"({"mock_gateway": 1, )" + members + "}").problems;
  };
  const std::string again = ": the key \"stubs\" occurs twice";
  CHECK(problems(R"("stubs": [{"name": "a", "reply": "b"}], "stubs": [{"name": "c", "reply": "d"}])") ==
        std::vector<std::string>{"1:61: /stubs" + again});
  CHECK(problems(R"("stubs": [{"reply": "a"}], "stubs": [{"reply": "b"}], "stubs": [{"reply": "c"}])").size() == 1);
  // A repeated key within each of two values is a separate mistake.
  CHECK(problems(R"("stubs": [{"reply": "a", "reply": "b"}, {"reply": "c", "reply": "d"}])").size() == 2);
}

TEST_CASE("syntax errors have a JSON pointer, for keys with any characters") {
  const auto pointer_of = [](const std::string& key, const Json& value) -> std::string {
    try {
      static_cast<void>(ScriptDocument::from_json({{"mock_gateway", 1}, {"x-", {{key, value}}}}));
    } catch (const ScriptError& error) {
      return error.problems().at(0).pointer;
    }
    return "";
  };
  for (const Json& value : {Json("\xff"), Json::binary({1}), Json(std::numeric_limits<double>::infinity())}) {
    CHECK(pointer_of("plain", value) == "/x-/plain");
    CHECK(pointer_of("a/b", value) == "/x-/a~1b");
    CHECK(pointer_of("a~b", value) == "/x-/a~0b");
    CHECK(pointer_of("~1", Json::array({0, Json{{"/", value}}})) == "/x-/~01/1/~1");
  }
}

TEST_CASE("the caret marks the problem, for any length and content of the line") {
  const auto code_points = [](const std::string& text) {
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
  };
  for (const char* const letter : {"a", "é", "東", "😀"}) {
    for (const int length : {0, 1, 10, 30, 60, 100, 500}) {
      std::string name;
      for (int i = 0; i < length; ++i) name += letter;
      const std::string message =
          refusal_of(R"({"mock_gateway": 1, "stubs": [{"name": ")" + name + R"(", "reply": 5, "expect": 1}]})").message;
      INFO(message);
      const std::size_t last = message.rfind('\n');
      const std::size_t line = message.rfind('\n', last - 1);
      const std::string shown = message.substr(line + 1, last - line - 1);
      const std::string caret = message.substr(last + 1);
      REQUIRE(has_part(shown, ": 5,"));
      CHECK(caret.find_first_not_of(' ') == caret.size() - 1);
      CHECK(code_points(shown.substr(0, shown.find(": 5,") + 2)) == static_cast<std::ptrdiff_t>(caret.size() - 1));
    }
  }
}

TEST_CASE("a problem shows only the near part of a long line") {
  std::string stubs;
  for (int number = 0; number < 2000; ++number)
    stubs += R"({"when": {"user_says": "東)" + std::to_string(number) + R"("}, "reply": "x"},)";
  const std::string line = R"({"mock_gateway": 1, "stubs": [{"reply": "x"},)" + stubs + R"({"reply": "last"}]})";
  const ScriptFile file("\n" + line + "\n");
  const std::vector<ScriptProblem> warnings = ScriptDocument::read({file.path()}).warnings();
  REQUIRE(warnings.size() == 2001);
  CHECK(warnings[0].source_column == 1);
  for (const ScriptProblem& warning : {warnings[0], warnings[1000], warnings[2000]}) {
    INFO(warning.to_string());
    CHECK(warning.line == 2);
    CHECK(warning.source.size() <= 1000);
    CHECK(line.find(warning.source) != std::string::npos);
    CHECK(warning.column >= warning.source_column);
  }
  CHECK(warnings[2000].source_column > 1);
  CHECK(has_part(warnings[2000].source, R"({"reply": "last"}]})"));
  CHECK(has_part(warnings[2000].to_string(), "\n  … "));

  const std::string cut = line.substr(0, line.size() - 2);
  try {
    const ScriptFile broken(cut);
    static_cast<void>(ScriptDocument::read({broken.path()}));
    FAIL_CHECK("it was read");
  } catch (const ScriptError& error) {
    CHECK(error.problems().at(0).source == cut.substr(cut.size() - 500));
  }
}

TEST_CASE("a secret that begins before the shown part of a line is masked") {
  for (const char* const name : {"secret", "x-note"}) {
    const std::string secret = (name == std::string("x-note") ? "sk-" : "") + std::string(800, 'k');
    const std::string problem = refusal_of(R"({"mock_gateway": 1, "keys": [{"name": "a", ")" + std::string(name) +
                                           R"(": ")" + secret + R"(", "stat": 5}]})")
                                    .message;
    INFO(problem);
    CHECK(has_part(problem, "***"));
    CHECK_FALSE(has_part(problem, "kkk"));
  }
}

TEST_CASE("the warning about a hidden stub is at its place and names the file of the stub that hides it") {
  const ScriptFile first(
      R"({"mock_gateway": 1, "stubs": [{"when": {"user_says": "a"}, "reply": "a"}, {"when": {"user_says": "b"}, "reply": "b"}]})",
      "first.json");
  const ScriptFile second(
      R"({"mock_gateway": 1, "stubs": [
  {"when": {"user_says": "c"}, "reply": "c"},
  {"when": {"user_says": "c"}, "reply": "never"},
  {"when": {"user_says": "b"}, "reply": "never"}
]})",
      "second.json");
  std::vector<std::string> warnings;
  const ScriptDocument script = ScriptDocument::read({first.path(), second.path()});
  for (const ScriptProblem& warning : script.warnings()) {
    CHECK(warning.file == second.path());
    CHECK(warning.severity == Severity::warning);
    warnings.push_back(line_of(warning));
  }
  REQUIRE(warnings.size() == 2);
  CHECK(
      warnings[0] ==
      "3:3: /stubs/1: this stub never answers: the stub at second.json:2 matches every request that this one matches");
  CHECK(warnings[1] ==
        "4:3: /stubs/2: this stub never answers: the stub at first.json:1 matches every request that this one matches");
}

}  // namespace bad_scripts_test
