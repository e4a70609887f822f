// ScriptDocument::warnings() for valid scripts with likely mistakes: hidden stubs, unreachable states, and unknown
// models and keys. The time for a large script is proportional to its number of stubs.

#include <algorithm>
#include <ctime>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/patience.hpp"
#include "support/printing.hpp"
#include "support/script_files.hpp"
#include "support/text.hpp"

namespace script_warnings_test {

using namespace mock_gateway;
using test_support::has_part;
using test_support::ScriptFile;

using Texts = std::vector<std::string>;

Json parsed(const std::string& text) { return Json::parse(text); }

Texts lines_of(const std::vector<ScriptProblem>& problems) {
  Texts lines;
  for (const ScriptProblem& problem : problems) {
    CHECK(problem.severity == Severity::warning);
    const std::string place = problem.line > 0 ? std::to_string(problem.line) + ": " : std::string();
    lines.push_back(place + problem.pointer + ": " + problem.message);
  }
  return lines;
}

Texts warnings_of(const Json& document) { return lines_of(ScriptDocument::from_json(document).warnings()); }

/// Returns the warnings of a document for a gateway with the document's options.
Texts warnings_on_gateway(const Json& document) {
  const ScriptDocument script = ScriptDocument::from_json(document);
  const Gateway gateway(script.options().verify_on_destruction(false));
  return lines_of(script.warnings(gateway));
}

TEST_CASE("the name of a failure as the data of an error event is a warning") {
  const auto warnings = [](const Json& data) {
    const Json effect{{"error_event", data}};
    const Json reply{{"text", "a b"}, {"faults", {{{"after_tokens", 1}, {"effect", effect}}}}};
    return warnings_of({{"mock_gateway", 1},
                        {"stubs",
                         {
                             {{"reply", reply}},
                         }}});
  };
  const Json whole{{"status", 500}, {"code", "x"}, {"message", "y"}};
  for (const Json& failure : {Json("server_error"), Json(503), whole}) {
    const std::string text =
        "this sends exactly this JSON; did you mean {\"error_event_failure\": " + failure.dump() + "}?";
    CHECK(warnings({{"failure", failure}}) == Texts{"/stubs/0/reply/faults/0/effect/error_event: " + text});
  }
  CHECK(warnings("server_error") == warnings({{"failure", "server_error"}}));
  for (const Json& data : {Json{{"failure", "disk"}}, Json{{"error", "server_error"}}, Json("x"), Json{{"failure", 7}},
                           Json{{"failure", {{"status", "failed"}}}}, Json{{"failure", Json::array({500})}}, whole,
                           Json(503), Json{{"failure", nullptr}}})
    CHECK(warnings(data).empty());
}

// Hidden stubs.

/// Finds hidden stubs by comparing each stub with every earlier stub.
Texts hidden_by_comparison(const Json& document) {
  const auto is_hidden_by = [](const Json& later, const Json& earlier) {
    if (earlier.contains("times") || earlier.contains("in_state")) return false;
    if (earlier.value("priority", 0) < later.value("priority", 0)) return false;
    const Json wanted = later.value("when", Json::object());
    const Json conditions = earlier.value("when", Json::object());
    for (const auto& [key, value] : conditions.items())
      if (!wanted.contains(key) || wanted[key] != value) return false;
    return true;
  };
  Texts warnings;
  const Json& stubs = document["stubs"];
  for (std::size_t later = 0; later < stubs.size(); ++later) {
    const auto hides = [&](const Json& earlier) { return is_hidden_by(stubs[later], earlier); };
    if (std::any_of(stubs.begin(), stubs.begin() + static_cast<std::ptrdiff_t>(later), hides))
      warnings.push_back("/stubs/" + std::to_string(later));
  }
  return warnings;
}

TEST_CASE("a stub gets a warning exactly if an earlier stub hides it") {
  std::mt19937 random(7);
  const auto below = [&random](unsigned bound) { return static_cast<int>(random() % bound); };
  std::size_t hidden = 0;
  for (int document = 0; document < 300; ++document) {
    Json stubs = Json::array();
    for (int stub = 0; stub < 25; ++stub) {
      Json one{{"reply", "x"}};
      Json when = Json::object();
      if (below(3) > 0) when["user_says"] = std::string(1, static_cast<char>('a' + below(4)));
      if (below(3) == 0) when["model_is"] = std::string(1, static_cast<char>('m' + below(2)));
      if (below(3) == 0) when["stream_is"] = below(2) == 0;
      if (below(4) == 0) when["has_tool"] = "t";
      if (!when.empty() || below(2) == 0) one["when"] = when;
      if (below(4) == 0) one["priority"] = below(3) - 1;
      if (below(5) == 0) one["times"] = 1 + below(2);
      if (below(6) == 0) one["in_state"] = Json{{"door", "started"}};
      stubs.push_back(std::move(one));
    }
    const Json script{{"mock_gateway", 1}, {"stubs", stubs}};
    INFO(script.dump());
    Texts pointers;
    for (const ScriptProblem& warning : ScriptDocument::from_json(script).warnings()) {
      CHECK(has_part(warning.message, "this stub never answers"));
      pointers.push_back(warning.pointer);
    }
    CHECK(pointers == hidden_by_comparison(script));
    hidden += pointers.size();
  }
  CHECK(hidden > 1000);
}

TEST_CASE("stubs for prompts that differ after a long shared beginning do not hide each other") {
  const std::string beginning(500, 'x');
  const auto warnings = [&](const Json& first, const Json& second) {
    const Json stubs = {{{"when", first}, {"reply", "1"}}, {{"when", second}, {"reply", "2"}}};
    return ScriptDocument::from_json({{"mock_gateway", 1}, {"stubs", stubs}}).warnings().size();
  };
  const std::vector<Json> texts = {beginning + "a",
                                   {{"equals", beginning + "a"}},
                                   {{"starts_with", beginning + "a"}},
                                   {{"ends_with", beginning + "a"}},
                                   {{"matches_regex", beginning + "a"}}};
  for (const Json& text : texts) {
    const Json another = Json::parse(std::regex_replace(text.dump(), std::regex("xa"), "xb"));
    CAPTURE(text);
    for (const char* matcher : {"user_says", "system_says"}) {
      CHECK(warnings({{matcher, text}}, {{matcher, another}}) == 0);
      CHECK(warnings({{matcher, text}}, {{matcher, text}}) == 1);
    }
  }
  const Json body = {{"text", beginning + "a"}};
  const Json other_body = {{"text", beginning + "b"}};
  CHECK(warnings({{"body_includes", body}}, {{"body_includes", other_body}}) == 0);
  CHECK(warnings({{"body_includes", body}}, {{"body_includes", body}}) == 1);
  const auto any_at = [](const char* pointer, const Json& part) {
    return Json{{"any_at", {{"pointer", pointer}, {"match", {{"body_includes", part}}}}}};
  };
  CHECK(warnings(any_at("/a", body), any_at("/a", other_body)) == 0);
  CHECK(warnings(any_at("/a", body), any_at("/b", body)) == 0);
  CHECK(warnings(any_at("/a", body), any_at("/a", body)) == 1);
}

TEST_CASE("the warning names the first of several stubs that hide a stub") {
  const ScriptFile file(R"({"mock_gateway": 1, "stubs": [
  {"when": {"user_says": "b", "stream_is": true}, "reply": "1", "priority": -1},
  {"when": {"user_says": "a", "stream_is": true}, "reply": "2"},
  {"when": {"stream_is": true}, "reply": "3"},
  {"when": {"user_says": "a"}, "reply": "4"},
  {"when": {"user_says": "a", "stream_is": true, "has_tool": "t"}, "reply": "5"},
  {"when": {"user_says": "b", "stream_is": true}, "reply": "6", "priority": -2}
]})");
  const std::string never = ": this stub never answers: the stub at demo.jsonc:";
  CHECK(lines_of(ScriptDocument::read({file.path()}).warnings()) ==
        Texts{"6: /stubs/4" + never + "3 matches every request that this one matches",
              "7: /stubs/5" + never + "2 matches every request that this one matches"});
}

// States.

TEST_CASE("the warning about a state that nothing reaches lists the reachable states") {
  const std::string nothing =
      R"(nothing moves the state machine "order" to "payd": no "then_state" of a stub that can answer and no "states" has {"order": "payd"}, so only a direct call can)";
  const ScriptFile file(R"({"mock_gateway": 1, "stubs": [
  {"when": {"user_says": "pay"}, "then_state": {"order": "paid"}, "reply": "Paid."},
  {"in_state": {"order": "started"}, "when": {"user_says": "a"}, "reply": "a"},
  {"in_state": {"order": "payd"}, "when": {"user_says": "b"}, "reply": "b"},
  {"in_state": {"order": "payd"}, "when": {"user_says": "c"}, "reply": "c"}
]})");
  CHECK(lines_of(ScriptDocument::read({file.path()}).warnings()) ==
        Texts{"4: /stubs/2/in_state/order: " + nothing + "; did you mean \"paid\"?; 1 other place names it too"});
}

TEST_CASE("a name used in many places is reported once, with the number of places") {
  for (const std::size_t count : {1U, 2U, 3U, 12U}) {
    CAPTURE(count);
    Json state{{"mock_gateway", 1}, {"stubs", Json::array()}};
    Json model = state;
    Json key = state;
    Json failures{{"mock_gateway", 1}, {"failures", Json::array()}};
    for (std::size_t i = 0; i < count; ++i) {
      const Json says = std::to_string(i) + "!";
      state["stubs"].push_back({{"in_state", {{"m", "s"}}}, {"when", {{"user_says", says}}}, {"reply", "a"}});
      model["stubs"].push_back({{"when", {{"user_says", says}, {"model_is", "nowhere"}}}, {"reply", "a"}});
      key["stubs"].push_back({{"when", {{"user_says", says}, {"key_is", "nobody"}}}, {"reply", "a"}});
      failures["failures"].push_back({{"failure", 503}, {"for", {{"key", "nobody"}}}});
    }
    const std::string others = count == 1   ? ""
                               : count == 2 ? "; 1 other place names it too"
                                            : "; " + std::to_string(count - 1) + " other places name it too";
    const auto ends_with_them = [&](const std::string& told) {
      CAPTURE(told);
      CHECK(has_part(told, " it too") == (count > 1));
      CHECK(told.substr(told.size() - others.size()) == others);
    };
    for (const Json& document : {state, model, key}) {
      const Texts told = warnings_on_gateway(document);
      REQUIRE(told.size() == 1);
      ends_with_them(told.front());
    }
    Gateway gateway(Options().verify_on_destruction(false));
    try {
      gateway.load(failures);
      FAIL("it was mounted");
    } catch (const ScriptError& error) {
      REQUIRE(error.problems().size() == 1);
      ends_with_them(error.problems().front().message);
    }
  }
}

TEST_CASE("existing keys are listed by id, and by description if they have one") {
  Gateway gateway(Options().verify_on_destruction(false));
  static_cast<void>(gateway.keys().create(""));
  static_cast<void>(gateway.keys().create("billing"));
  // For a name of one character, the empty description would count as a similar name.
  for (const std::string name : {"x", "nobody at all"}) {
    CAPTURE(name);
    const Json stub{{"when", {{"key_is", name}}}, {"reply", "a"}};
    const Json failure{{"failure", 503}, {"for", {{"key", name}}}};
    const std::string none = "the gateway has no key \"" + name + "\"";
    const std::string known = "; known: key_1, default key, key_2, key_3, billing";
    CHECK(lines_of(
              ScriptDocument::from_json(Json{{"mock_gateway", 1}, {"stubs", Json::array({stub})}}).warnings(gateway)) ==
          Texts{"/stubs/0/when/key_is: " + none + ", so this matches nothing until that key exists" + known});
    try {
      gateway.load(Json{{"mock_gateway", 1}, {"failures", Json::array({failure})}});
      FAIL("it was mounted");
    } catch (const ScriptError& error) {
      REQUIRE(error.problems().size() == 1);
      CHECK(error.problems().front().message == none + known);
    }
  }
}

TEST_CASE("a state reached by a stub, by \"states\" or as a start state gets no warning") {
  CHECK(warnings_of(parsed(R"({"mock_gateway": 1, "states": {"door": "open"}, "stubs": [
    {"in_state": {"door": "open"}, "when": {"user_says": "a"}, "then_state": {"door": "shut"}, "reply": "a"},
    {"in_state": {"door": "shut"}, "when": {"user_says": "b"}, "then_state": {"door": "locked"}, "reply": "b"},
    {"in_state": {"door": "locked"}, "when": {"user_says": "c"}, "reply": "c"},
    {"in_state": {"other": "started"}, "when": {"user_says": "d"}, "reply": "d"}]})")) == Texts{});
}

TEST_CASE("reachability of a state considers all files that are read together") {
  const ScriptFile asks(R"({"mock_gateway": 1, "stubs": [{"in_state": {"door": "open"}, "reply": "a"}]})", "a.json");
  const ScriptFile leads(R"({"mock_gateway": 1, "stubs": [{"then_state": {"door": "open"}, "reply": "b"}]})", "b.json");
  CHECK(ScriptDocument::read({asks.path(), leads.path()}).warnings().empty());
  const std::vector<ScriptProblem> alone = ScriptDocument::read({asks.path()}).warnings();
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].file == asks.path());
}

TEST_CASE("a state that only stubs that never answer reach gets a warning") {
  const Texts warnings = warnings_of(parsed(R"({"mock_gateway": 1, "stubs": [
    {"in_state": {"door": "open"}, "when": {"user_says": "a"}, "then_state": {"door": "shut"}, "reply": "a"},
    {"in_state": {"door": "shut"}, "when": {"user_says": "b"}, "then_state": {"door": "open"}, "reply": "b"}]})"));
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].find("/stubs/0/in_state/door: nothing moves the state machine \"door\" to \"open\"") == 0);
  CHECK(warnings[1].find("/stubs/1/in_state/door: nothing moves the state machine \"door\" to \"shut\"") == 0);
}

TEST_CASE("a machine with another start state is never in \"started\"") {
  CHECK(warnings_of(parsed(R"({"mock_gateway": 1, "states": {"door": "open"}, "stubs": [
    {"in_state": {"door": "started"}, "reply": "a"}]})"))
            .size() == 1);
}

TEST_CASE("a state written as \"machine\" and \"state\" gets a warning with both spellings") {
  const std::string spelled =
      R"({"machine": "login", "state": "started"} names two state machines, "machine" and "state"; the state machine "login" in the state "started" is {"login": "started"})";
  CHECK(warnings_of(parsed(R"({"mock_gateway": 1, "stubs": [
    {"in_state": {"machine": "login", "state": "started"}, "reply": "a"}]})")) ==
        Texts{"/stubs/0/in_state: " + spelled});
  // A stub that changes a state that no stub uses, or that never answers, makes no state reachable.
  CHECK(warnings_of(parsed(R"({"mock_gateway": 1, "stubs": [
    {"in_state": {"machine": "login", "state": "started"},
     "then_state": {"machine": "login", "state": "done"}, "reply": "a"}]})")) ==
        Texts{"/stubs/0/in_state: " + spelled});
  const Texts moved = warnings_of(parsed(R"({"mock_gateway": 1, "states": {"machine": "login", "state": "new"},
    "stubs": [{"then_state": {"machine": "login", "state": "done"}, "reply": "a"}]})"));
  REQUIRE(moved.size() == 2);
  CHECK(has_part(moved[0], R"(/stubs/0/then_state: {"machine": "login", "state": "done"} names two state machines)"));
  CHECK(has_part(moved[0], R"(is {"login": "done"})"));
  CHECK(has_part(moved[1], R"(/states: {"machine": "login", "state": "new"} names two state machines)"));
  // Two machines may really have these names.
  CHECK(warnings_of(parsed(R"({"mock_gateway": 1, "stubs": [
    {"when": {"user_says": "a"}, "then_state": {"machine": "on", "state": "good"}, "reply": "a"},
    {"in_state": {"machine": "on", "state": "good"}, "reply": "b"}]})")) == Texts{});
}

// Models and keys.

TEST_CASE("an unknown model gets a warning wherever a script names it") {
  const std::string no_fasst = R"(the gateway serves no model "fasst", and refuses requests for it)";
  CHECK(warnings_on_gateway(parsed(R"({"mock_gateway": 1, "gateway": {"models": ["fast", {"id": "deep"}]},
    "stubs": [{"when": {"model_is": "fast"}, "reply": "a"}, {"when": {"any": [{"model_is": "fasst"}]}, "reply": "b"}],
    "chaos": [{"failure": 503, "when": {"model_is": "fasst"}}]})")) ==
        Texts{"/stubs/1/when/any/0/model_is: " + no_fasst + "; did you mean \"fast\"?; 1 other place names it too"});
  CHECK(warnings_on_gateway(
            parsed(R"({"mock_gateway": 1, "failures": [{"failure": 503, "for": {"model": "fasst"}}]})")) ==
        Texts{"/failures/0/for/model: " + no_fasst + "; known: mock-model"});
  CHECK(warnings_on_gateway(
            parsed(R"({"mock_gateway": 1, "keys": [{"name": "k", "models": ["mock-model", "fasst"]}]})")) ==
        Texts{"/keys/0/models/1: " + no_fasst + "; known: mock-model"});
  CHECK(warnings_on_gateway(parsed(
            R"({"mock_gateway": 1, "stubs": [{"when": {"model_is": "mock-model"}, "reply": "a"}]})")) == Texts{});
}

TEST_CASE("models and keys of the gateway's options get no warning") {
  const ScriptDocument script = ScriptDocument::from_json(
      parsed(R"({"mock_gateway": 1, "stubs": [{"when": {"model_is": "fast", "key_is": "agent"}, "reply": "a"}]})"));
  CHECK(script.warnings().empty());
  const Gateway knows(script.options(Options().model("fast").key("agent", KeyOptions())).verify_on_destruction(false));
  CHECK(script.warnings(knows).empty());
  const Gateway other(Options().verify_on_destruction(false));
  CHECK(script.warnings(other).size() == 2);
}

TEST_CASE("an unknown key in key_is gets a warning until the key exists") {
  const ScriptDocument script =
      ScriptDocument::from_json(parsed(R"({"mock_gateway": 1, "keys": [{"name": "billing"}], "stubs": [
        {"when": {"key_is": "billing"}, "reply": "a"}, {"when": {"key_is": "key_1"}, "reply": "b"},
        {"when": {"key_is": "biling"}, "reply": "c"}]})"));
  const Gateway gateway(script.options().verify_on_destruction(false));
  CHECK(lines_of(script.warnings(gateway)) ==
        Texts{"/stubs/2/when/key_is: the gateway has no key \"biling\", so this matches nothing until that key exists; "
              "did you mean \"billing\"?"});
  static_cast<void>(gateway.keys().create("biling"));
  CHECK(script.warnings(gateway).empty());
}

TEST_CASE("an unknown operation in a key's permissions gets a warning until it is mounted") {
  const ScriptDocument script = ScriptDocument::from_json(parsed(R"({"mock_gateway": 1,
    "keys": [{"name": "k", "operations": ["chat_completions", "list_models", "POST /v1/embedings"]},
             {"name": "l", "operations": ["POST /v1/embeddings", "POST /v1/embedings"]}],
    "operations": [{"method": "POST", "path": "/v1/embeddings", "reply": {}}]})"));
  CHECK(script.warnings().empty());  // without a gateway, because a test may mount the operation
  const Texts none = {
      "/keys/0/operations/2: the gateway has no operation \"POST /v1/embedings\", so this allows nothing until that "
      "operation exists; did you mean \"POST /v1/embeddings\"?; 1 other place names it too"};
  Gateway gateway(script.options().verify_on_destruction(false));
  CHECK(lines_of(script.warnings(gateway)) == none);
  static_cast<void>(script.mount(gateway));
  CHECK(lines_of(script.warnings(gateway)) == none);
  gateway.on("POST", "/v1/embedings", [](const ReceivedRequest&) { return HttpReply(Json()); });
  CHECK(script.warnings(gateway).empty());
}

TEST_CASE("a failure for an unknown operation gets a warning only if a similar operation exists") {
  const auto forced = [](const std::string& operation) {
    return warnings_on_gateway(Json{
        {"mock_gateway", 1}, {"failures", Json::array({Json{{"failure", 503}, {"for", {{"operation", operation}}}}})}});
  };
  CHECK(forced("list_models") == Texts{});
  CHECK(forced("POST /v1/embeddings") == Texts{});       // the failure answers this path
  CHECK(forced("GET /v1/chat/completions") == Texts{});  // the path exists in the gateway, so a typo is unlikely
  CHECK(forced("POST /v1/chat/completion") ==
        Texts{"/failures/0/for/operation: the gateway has no operation \"POST /v1/chat/completion\", so only this "
              "failure answers there; did you mean \"POST /v1/chat/completions\"?"});
}

TEST_CASE("a refusal gets a warning if the gateway's profile has no field for it") {
  const auto script = [](const char* profile) {
    return parsed(R"({"mock_gateway": 1, "gateway": {"profile": ")" + std::string(profile) + R"("}, "stubs": [
      {"when": {"user_says": "a"}, "reply": {"refusal": "No."}}, {"reply": {"refusal": "No."}}]})");
  };
  CHECK(
      warnings_on_gateway(script("documented")) ==
      Texts{"/stubs/0/reply/refusal: the profile \"documented\" has no field for a refusal, so it is sent as content; "
            "the profile \"openai\" has one; 1 other place names it too"});
  CHECK(warnings_on_gateway(script("openai")) == Texts{});
}

TEST_CASE("a failure in a bundle gets no warning on any path") {
  CHECK(warnings_on_gateway(parsed(R"({"mock_gateway": 1, "bundle": {"about": "a refusal"}, "failures": [
    {"failure": 404, "for": {"operation": "POST /v1/v1/chat/completions"}}]})")) == Texts{});
}

TEST_CASE("a part of an operation's name does not match, in failures and in permissions") {
  const ScriptDocument script = ScriptDocument::from_json(parsed(R"({"mock_gateway": 1,
    "failures": [{"failure": 503, "for": {"operation": "GET /v1/models/mock-model"}}],
    "keys": [{"name": "k", "operations": ["POST /v1/audio/speech", "POST /v1/audio/{voice}"]}],
    "operations": [{"method": "POST", "path": "/v1/audio/{voice}", "reply": {}}]})"));
  Gateway gateway(script.options().verify_on_destruction(false));
  static_cast<void>(script.mount(gateway));
  const std::string part = " has no effect: it is part of the operation ";
  CHECK(lines_of(script.warnings(gateway)) ==
        Texts{"/failures/0/for/operation: \"GET /v1/models/mock-model\"" + part + "\"GET /v1/models\"",
              "/keys/0/operations/0: \"POST /v1/audio/speech\"" + part + "\"POST /v1/audio/{voice}\""});
}

TEST_CASE("a failure for an unknown key is an error with its place, and nothing is mounted") {
  const ScriptFile file(R"({"mock_gateway": 1,
  "stubs": [{"name": "hello", "reply": "a"}],
  "keys": [{"name": "billing"}],
  "failures": [
    {"failure": 503, "for": {"key": "billing"}},
    {"failure": 503, "for": {"key": "biling"}}]})");
  const ScriptDocument script = ScriptDocument::read({file.path()});
  Gateway gateway(Options().verify_on_destruction(false));
  try {
    static_cast<void>(script.mount(gateway));
    FAIL("it was mounted");
  } catch (const ScriptError& error) {
    REQUIRE(error.problems().size() == 1);
    const ScriptProblem& problem = error.problems().front();
    CHECK(problem.severity == Severity::error);
    CHECK(problem.file == file.path());
    CHECK(problem.line == 6);
    CHECK(problem.pointer == "/failures/1/for/key");
    CHECK(problem.message == "the gateway has no key \"biling\"; did you mean \"billing\"?");
    CHECK(has_part(problem.source, "biling"));
  }
  CHECK(gateway.keys().list().size() == 1);
  static_cast<void>(gateway.keys().create("biling"));
  CHECK(script.mount(gateway).stubs().size() == 1);
}

TEST_CASE("a failure for a key that the new script removes is an error, and the old script stays mounted") {
  const auto document = [](const std::string& key) {
    return ScriptDocument::from_json(
        Json{{"mock_gateway", 1},
             {"keys", Json::array({Json{{"name", key}}})},
             {"failures", Json::array({Json{{"failure", 503}, {"for", {{"key", "a"}}}}})}});
  };
  Gateway gateway(Options().verify_on_destruction(false));
  const ScriptDocument first = document("a");
  LoadedScript loaded = first.mount(gateway);
  CHECK_THROWS_AS(document("b").replace(gateway, loaded), ScriptError);
  CHECK(gateway.keys().list().back().description == "a");
  // The mounted document can be mounted again, even after the test has removed its key.
  gateway.keys().remove(gateway.keys().list().back().id);
  CHECK_NOTHROW(first.replace(gateway, loaded));
}

// The place of a stub.

TEST_CASE("\"source\" sets the place of a stub, and a moved stub stays the same stub") {
  const auto script = [](const std::string& source) {
    return ScriptDocument::from_json(
        Json{{"mock_gateway", 1}, {"stubs", Json::array({Json{{"name", "a"}, {"reply", "a"}, {"source", source}}})}});
  };
  Gateway gateway(Options().verify_on_destruction(false));
  LoadedScript loaded = script("tests/test_agent.py:12").mount(gateway);
  const Stub stub = loaded.stubs().front();
  CHECK(stub.title() == "\"a\" (test_agent.py:12)");
  CHECK(std::string(stub.where().file) == "tests/test_agent.py");
  script("tests/test_agent.py:14").replace(gateway, loaded);
  CHECK(stub.title() == "\"a\" (test_agent.py:14)");
  CHECK(loaded.stubs().front().where().line == 14);
}

// Large scripts.

double cpu_seconds_of(const Json& document, const Options& base) {
  const std::clock_t begin = std::clock();
  const ScriptFile file(document.dump());
  const ScriptDocument script = ScriptDocument::read({file.path()});
  Gateway gateway(script.options(base).verify_on_destruction(false));
  static_cast<void>(script.warnings(gateway));
  LoadedScript loaded = script.mount(gateway);
  ScriptDocument::read({file.path()}, loaded).replace(gateway, loaded);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// A kind of large script: numbered elements in one section.
struct Shape {
  const char* name;
  const char* section;
  int some;
  bool has_models;  // whether the gateway's options contain a model for each element
  Json (*element)(int number);
};

Json numbered(const char* text, int number) { return text + std::to_string(number); }

// Skipped with sanitizers, which execute the same steps but take minutes.
TEST_CASE("reading, mounting and rereading a script take time proportional to its size" *
          doctest::skip(test_support::sanitized)) {
#ifdef _WIN32
  constexpr int rules = 500;  // wine's heap takes quadratic time for many rules
#else
  constexpr int rules = 1500;
#endif
  const Shape shapes[] = {
      {"one model", "stubs", 500, false,
       [](int number) {
         return Json{{"when", {{"model_is", "m"}, {"user_says", numbered("question ", number)}}}, {"reply", "a"}};
       }},
      {"states one after the other", "stubs", 500, false,
       [](int number) {
         return Json{{"in_state", {{"step", number == 0 ? "started" : std::to_string(number)}}},
                     {"then_state", {{"step", std::to_string(number + 1)}}},
                     {"reply", "a"}};
       }},
      {"states that nothing leads to", "stubs", 1000, false,
       [](int number) {
         return Json{{number % 2 == 0 ? "in_state" : "then_state", {{"step", std::to_string(number)}}}, {"reply", "a"}};
       }},
      {"models that nobody serves", "stubs", 500, true,
       [](int number) {
         return Json{{"when", {{"model_is", numbered("nobody's ", number)}}}, {"reply", "a"}};
       }},
      {"models of a base", "models", 500, true, [](int number) { return numbered("model ", number); }},
      {"models of a base with owners", "models", 500, true,
       [](int number) {
         return Json{{"id", numbered("model ", number)}, {"owner", "own"}};
       }},
      {"chaos", "chaos", rules, false,
       [](int number) {
         return Json{{"failure", 503}, {"nth", number + 1}};
       }},
      {"operations", "operations", 1000, false,
       [](int number) {
         return Json{{"method", "POST"}, {"path", numbered("/v1/own/", number)}, {"reply", {{"body", "a"}}}};
       }},
      {"connections", "connections", 2000, false,
       [](int number) {
         return Json{{"fault", "reset_on_accept"}, {"times", number + 1}};
       }},
  };
  for (const Shape& shape : shapes) {
    const auto seconds = [&shape](int count) {
      Json elements = Json::array();
      for (int number = 0; number < count; ++number) elements.push_back(shape.element(number));
      Json models = Json::array();
      for (int number = 0; shape.has_models && number < count; ++number) models.push_back(numbered("model ", number));
      const Options base =
          ScriptDocument::from_json({{"mock_gateway", 1}, {"gateway", {{"models", std::move(models)}}}}).options();
      const Json own = {{shape.section, std::move(elements)}};
      Json document = shape.section == std::string("models") ? Json{{"gateway", own}} : own;
      document["mock_gateway"] = 1;
      return cpu_seconds_of(document, base);
    };
    const auto ratio = [&] { return seconds(4 * shape.some) / seconds(shape.some); };
    // With quadratic growth, the ratio would be 16. A busy machine also increases CPU time a little.
    const double first = ratio();
    INFO(std::string(shape.name), ": ", first, " times as long for four times the size");
    CHECK((first < 6 || ratio() < 6));
  }
}

TEST_CASE("the first of many unknown names get suggestions, and messages stay short") {
  Json document = {{"mock_gateway", 1}, {"keys", Json::array()}, {"stubs", Json::array()}};
  for (int number = 0; number < 1000; ++number) {
    document["keys"].push_back(Json{{"name", numbered("a key of a name of some length, number ", number)}});
    document["stubs"].push_back(Json{{"when", {{"key_is", numbered("nobody ", number)}}}, {"reply", "a"}});
  }
  const ScriptDocument script = ScriptDocument::from_json(document);
  Gateway gateway(script.options().verify_on_destruction(false));
  const std::vector<ScriptProblem> warnings = script.warnings(gateway);
  REQUIRE(warnings.size() == 1000);
  const std::string what = "so this matches nothing until that key exists";
  for (std::size_t number = 0; number < warnings.size(); ++number) {
    const std::string& message = warnings[number].message;
    CHECK(message.size() < 2000);
    CHECK(has_part(message, what + "; known: key_1, default key, key_2, a key of") == (number < 20));
    CHECK(has_part(message, " others") == (number < 20));
  }
  CHECK(warnings.back().message == "the gateway has no key \"nobody 999\", " + what);

  document["failures"] = Json::array({Json{{"failure", 503}, {"for", {{"key", "nobody"}}}}});
  try {
    static_cast<void>(ScriptDocument::from_json(document).mount(gateway));
    FAIL("it was mounted");
  } catch (const ScriptError& error) {
    CHECK(error.problems().at(0).message.size() < 2000);
  }
}

}  // namespace script_warnings_test
