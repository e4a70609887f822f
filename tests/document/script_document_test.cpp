// Script documents: reading files, configuring a gateway, mounting stubs and replacing a document.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
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
using test_support::RawConnection;
using test_support::Response;
using test_support::ScriptFile;

inline std::string said(const Response& response) {
  return Json::parse(response.body)["choices"][0]["message"]["content"].get<std::string>();
}

inline Json parsed(const std::string& text) { return Json::parse(text, nullptr, true, true); }

/// Returns the problems of a document, without file names and lines.
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

TEST_CASE("a comment ends at its end marker, no matter what it contains") {
  const auto replies = [](const std::string& comment) {
    const ScriptFile file("{\"mock_gateway\": 1, \"stubs\": [{\"reply\": \"a\"}" + comment + "]}");
    try {
      return ScriptDocument::read({file.path()}).warnings().empty() ? "read" : "warned";
    } catch (const ScriptError&) {
      return "refused";
    }
  };
  for (const char* comment : {"/**/", "/***/", "/* * / */", "/*/ */", "/*/*/", "/* // */", "/*\n*/", "//\n", "///\n",
                              "// /*\n", "//*/\r", " /**/ // */\n /***/ "}) {
    CAPTURE(comment);
    CHECK(replies(comment) == std::string("read"));
  }
  for (const char* comment : {"/", "/*", "/*/", "/* *", "/*/ ", "*/", "/**/*/", "/* /* */ */", "/ /\n", "//", "#\n"}) {
    CAPTURE(comment);
    CHECK(replies(comment) == std::string("refused"));
  }
}

TEST_CASE("a document configures the gateway at its start") {
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

TEST_CASE("a document's models are added to those of the options") {
  const auto models = [](const Options& options) {
    Gateway gateway(options.verify_on_destruction(false));
    std::vector<std::string> all;
    const Json listed = Json::parse(Http(gateway).get("/v1/models").body);
    for (const Json& model : listed["data"])
      all.push_back(model["id"].get<std::string>() + " of " + model["owned_by"].get<std::string>());
    return all;
  };
  using Models = std::vector<std::string>;
  const auto script = [](const Json& its_models) {
    return ScriptDocument::from_json({{"mock_gateway", 1}, {"gateway", {{"models", its_models}}}});
  };
  const Options base = Options{}.model("fast", "base").model("slow");
  CHECK(models(script({{{"id", "fast"}, {"owner", "script"}}}).options(base)) ==
        Models{"fast of script", "slow of mock_gateway"});
  CHECK(models(script({{{"id", "fast"}}}).options(base)) == Models{"fast of base", "slow of mock_gateway"});
  CHECK(models(script({"fast", "new"}).options(base)) ==
        Models{"fast of base", "slow of mock_gateway", "new of mock_gateway"});
  CHECK(models(script({"new"}).options()) == Models{"new of mock_gateway"});
  CHECK(models(ScriptDocument::from_json({{"mock_gateway", 1}}).options(base)) ==
        Models{"fast of base", "slow of mock_gateway"});
  CHECK_THROWS_WITH_AS(script({"new"}).options(Options{}.port(-1)),
                       "mock_gateway: Options: port must be from 0 to 65535", GatewayError);
}

TEST_CASE("a mistake is reported with its line, a caret and suggestions") {
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

TEST_CASE("problems contain the value and the expected type") {
  CHECK(problems_of(R"({"mock_gateway": 2})") ==
        Texts{"/mock_gateway: this release reads version 1 of the format, but the script says 2"});
  CHECK(problems_of(R"({"stubs": []})") ==
        Texts{": not a script of mock_gateway: a script begins with {\"mock_gateway\": 1, …}"});
  CHECK(problems_of(R"({"fixtures": [{"match": {"userMessage": "x"}, "response": {}}]})") ==
        Texts{": this looks like an aimock fixture file; it is not a script of mock_gateway"});
  CHECK(problems_of(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "a", "every": 20}}]})") ==
        Texts{"/stubs/0/reply/every: expected a duration such as \"20ms\", or uniform, normal, log_normal or recorded, "
              "got the number 20"});
  CHECK(problems_of(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "a", "failure": 503}}]})") ==
        Texts{"/stubs/0/reply: \"failure\" and \"text\" cannot be combined"});
  CHECK(problems_of(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "a", "slice_writes": 0}}]})").size() == 1);
}

TEST_CASE("a hidden stub is a warning at its line") {
  const ScriptDocument script = ScriptDocument::from_json(
      parsed(R"({"mock_gateway": 1, "stubs": [{"reply": "all"}, {"when": {"user_says": "x"}, "reply": "never"}]})"));
  REQUIRE(script.warnings().size() == 1);
  CHECK(script.warnings()[0].pointer == "/stubs/1");
}

TEST_CASE("a duration has digits, up to nine decimals and a unit, and is at most a hundred years") {
  const auto is_taken = [](const std::string& duration) {
    return problems_of(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "a", "faults": [{"after_tokens": 1, )"
                       R"("effect": {"stall": ")" +
                       duration + R"("}}]}}]})")
        .empty();
  };
  for (const char* const right :
       {"1ns", "20us", "1.5ms", "2s", "3m", "876000h", "3153600000s", "0.000000001s", "999999999999ns"})
    CHECK_MESSAGE(is_taken(right), right);
  for (const char* const wrong :
       {"876000.000000001h", "3153600000.001s", "1", "1x", "1 s", ".5s", "5.s", "0.0000000001s", "1234567890123ns",
        "-1s", "+1s", "1e3s", "", "s", "1S", "1.2.3s", "0x1s"})
    CHECK_MESSAGE(!is_taken(wrong), wrong);
}

TEST_CASE("a stub that answers only sometimes hides no later stub") {
  for (const char* const first :
       {R"({"in_state": {"order": "started"}, "reply": "a"})", R"({"times": 1, "reply": "a"})",
        R"({"when": {"user_says": "y"}, "reply": "a"})", R"({"priority": -1, "reply": "a"})"}) {
    CAPTURE(first);
    const std::string stubs = std::string(first) + R"(, {"when": {"user_says": "x"}, "reply": "b"})";
    CHECK(ScriptDocument::from_json(parsed(R"({"mock_gateway": 1, "stubs": [)" + stubs + "]}")).warnings().empty());
  }
}

TEST_CASE("all scripts of a folder and its subfolders are read, in the order of their names") {
  const ScriptFile file(R"({"mock_gateway": 1, "stubs": [{"name": "b", "reply": "b"}]})", "b.json");
  const std::filesystem::path folder = std::filesystem::path(file.path()).parent_path();
  const auto write = [&](const std::string& name, const std::string& stub) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << R"({"mock_gateway": 1, "stubs": [{"when": {"user_says": ")" + stub +
                                        R"("}, "name": ")" + stub + R"(", "reply": "x"}]})";
  };
  write("c.jsonc", "c");
  write("a.json", "a");
  write("a/z.json", "a/z");
  write("d.txt", "d");
  write("e.json.bak", "e");
  std::vector<std::string> names;
  const ScriptDocument script = ScriptDocument::read({folder.string()});
  for (const std::string& path : script.files())
    names.push_back(std::filesystem::path(path).lexically_relative(folder).generic_string());
  CHECK(names == Texts{"a.json", "a/z.json", "b.json", "c.jsonc"});
  Gateway gateway(Options{}.verify_on_destruction(false));
  names.clear();
  const LoadedScript loaded = script.mount(gateway);
  for (const Stub& stub : loaded.stubs()) names.push_back(stub.title().substr(0, stub.title().find(' ')));
  CHECK(names == Texts{"\"a\"", "\"a/z\"", "\"b\"", "\"c\""});
}

TEST_CASE("stubs and gates are accessed by name, and a wrong name lists the existing ones") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const LoadedScript script = gateway.load(parsed(R"({"mock_gateway": 1, "stubs": [
    {"name": "greeting", "when": {"user_says": "a"}, "reply": {"text": "one two", "hold": {"gate": "first", "before_token": 2}}},
    {"name": "greeting", "when": {"user_says": "b"}, "reply": "second"}, {"reply": "without a name"}]})"));
  Http(gateway).chat(Json("b"));
  CHECK(script.stub("greeting").calls() == 0);
  CHECK(script.stubs()[1].calls() == 1);
  // A stub without a name cannot be looked up.
  CHECK_THROWS_AS(static_cast<void>(script.stub("")), GatewayError);
  CHECK(has_part(test_support::error_of([&] { static_cast<void>(script.stub("greting")); }),
                 "the script has no stub \"greting\"; did you mean \"greeting\"?"));
  CHECK(has_part(test_support::error_of([&] { static_cast<void>(script.gate("frst")); }),
                 "the script has no gate \"frst\"; did you mean \"first\"?"));
}

TEST_CASE("a gate keeps its identity when its script is read again, and new gates are added") {
  const auto holding = [](const std::string& gate) {
    return R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "one two", "hold": {"gate": ")" + gate +
           R"(", "before_token": 2}}}]})";
  };
  const ScriptFile file(holding("first"));
  Gateway gateway(Options{}.verify_on_destruction(false));
  LoadedScript loaded = gateway.load(file.path());
  Gate first = loaded.gate("first");
  file.write(holding("first") + " // again");
  ScriptDocument::read({file.path()}, loaded).replace(gateway, loaded);
  first.open();
  CHECK(said(Http(gateway).chat()) == "one two");
  file.write(holding("second"));
  ScriptDocument::read({file.path()}, loaded).replace(gateway, loaded);
  loaded.gate("second").open();
  CHECK(said(Http(gateway).chat()) == "one two");
}

TEST_CASE("a running gateway can load a script only if it has no gateway settings") {
  const auto starting = [](const std::string& gateway) {
    return ScriptDocument::from_json(parsed(R"({"mock_gateway": 1)" + gateway + R"(, "stubs": [{"reply": "a"}]})"));
  };
  CHECK_FALSE(starting("").has_options());
  CHECK(starting(R"(, "gateway": {})").has_options());
  CHECK(starting(R"(, "gateway": {"seed": 1})").starts_like(starting(R"(, "gateway": {"seed": 1})")));
  CHECK_FALSE(starting(R"(, "gateway": {"seed": 1})").starts_like(starting(R"(, "gateway": {"seed": 2})")));
  CHECK_FALSE(starting(R"(, "gateway": {"seed": 1})").starts_like(starting("")));
  CHECK(starting("").starts_like(starting("")));
  Gateway gateway(Options{}.verify_on_destruction(false));
  const std::string text = R"({"mock_gateway": 1, "gateway": {"seed": 1}, "stubs": [{"reply": "a"}]})";
  const ScriptFile file(text);
  const std::string expected = "\"gateway\" in a script says how a gateway starts, but this gateway is already running";
  CHECK(has_part(test_support::error_of([&] { gateway.load(file.path()); }), expected));
  CHECK(has_part(test_support::error_of([&] { gateway.load(parsed(text)); }), expected));
  CHECK_NOTHROW(starting(R"(, "gateway": {"seed": 1})").mount(gateway));
}

TEST_CASE("references from a temporary ScriptDocument stay valid") {
  const ScriptFile file(R"({"mock_gateway": 1, "stubs": [{"reply": "all"}, {"reply": "never"}]})");
  std::vector<std::string> pointers;
  for (const ScriptProblem& warning : ScriptDocument::read({file.path()}).warnings())
    pointers.push_back(warning.pointer);
  CHECK(pointers == Texts{"/stubs/1"});
  const auto& files = ScriptDocument::read({file.path()}).files();
  CHECK(files == Texts{file.path()});
}

TEST_CASE("a replacing document keeps the counts of unchanged stubs") {
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

TEST_CASE("identical stubs keep their number in a replacing document") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const Http http(gateway);
  const ScriptDocument document = ScriptDocument::from_json(parsed(
      R"({"mock_gateway": 1, "stubs": [{"when": {"user_says": "a"}, "times": 1, "reply": "once"}, {"when": {"user_says": "a"}, "times": 1, "reply": "once"}, {"reply": "other"}]})"));
  LoadedScript loaded = document.mount(gateway);
  CHECK(said(http.chat(Json("a"))) == "once");
  document.replace(gateway, loaded);
  CHECK(said(http.chat(Json("a"))) == "once");
  CHECK(said(http.chat(Json("a"))) == "other");
  REQUIRE(loaded.stubs().size() == 3);
  CHECK(loaded.stubs()[0].calls() == 1);
  CHECK(loaded.stubs()[1].calls() == 1);
}

TEST_CASE("each replacing document is compared with the previous one") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const Http http(gateway);
  const std::string counted = R"({"name": "a", "when": {"user_says": "a"}, "replies": ["one", "two", "three"]})";
  const auto script = [](const std::string& stubs) {
    return ScriptDocument::from_json(parsed(R"({"mock_gateway": 1, "stubs": [)" + stubs + "]}"));
  };
  LoadedScript loaded = script(R"({"reply": "first"})").mount(gateway);
  script(counted + R"(, {"reply": "second"})").replace(gateway, loaded);
  CHECK(said(http.chat(Json("a"))) == "one");
  script(counted + R"(, {"reply": "third"})").replace(gateway, loaded);
  CHECK(said(http.chat(Json("a"))) == "two");
  CHECK(said(http.chat(Json("b"))) == "third");
  script(R"({"reply": "first"})").replace(gateway, loaded);
  CHECK(said(http.chat(Json("a"))) == "first");
}

TEST_CASE("chaos rules that a replacement removes stop, and the test's own rules continue") {
  const std::string sections[] = {
      R"("connections": [{"fault": "reset_on_accept", "always": true}])",
      R"("connections": [{"fault": "reset_on_accept", "times": 100}])",
      R"("connections": [{"fault": "close_on_accept"}, {"fault": "reset_on_accept", "always": true}])",
      R"("failures": [{"failure": 503, "always": true}])",
      R"("failures": [{"failure": 503, "times": 100}])",
      R"("chaos": [{"failure": 503}])",
      R"("chaos": [{"after_headers": true, "effect": "reset_connection"}])",
  };
  const std::string stubs = R"({"mock_gateway": 1, "stubs": [{"reply": "a"}])";
  for (const std::string& section : sections) {
    CAPTURE(section);
    Gateway gateway(Options{}.verify_on_destruction(false));
    const Http http(gateway);
    LoadedScript loaded = gateway.load(parsed(stubs + ", " + section + "}"));
    const auto answer = [&](const std::string& request) {
      RawConnection connection(gateway);
      connection.send(request);
      Response response = connection.receive_response();
      return response.status == 100 ? connection.receive_response() : response;
    };
    const Response struck = answer(http.format_chat());
    CHECK((struck.status != 200 || !struck.complete));
    gateway.every_connection(unsolicited_continue());
    gateway.fail_always(overloaded(), list_models());
    ScriptDocument::from_json(parsed(stubs + "}")).replace(gateway, loaded);
    for (int run = 0; run < 3; ++run) CHECK(said(answer(http.format_chat())) == "a");
    CHECK(http.get("/v1/models").status == 100);
    CHECK(answer(http.format("GET", "/v1/models")).status == 529);
  }
}

TEST_CASE("a queued connection fault is reported at its line in the newest script") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const auto script = [](const std::string& name, const std::string& lines, const std::string& faults) {
    return ScriptFile("{\"mock_gateway\": 1," + lines + " \"connections\": [" + faults + "]}", name);
  };
  const std::string reset = R"({"fault": "reset_on_accept"})";
  const std::string close = R"({"fault": "close_on_accept"})";
  const ScriptFile first = script("first.json", "", reset + "," + close);
  LoadedScript loaded = gateway.load(first.path());
  const auto places = [&gateway] {
    std::vector<std::string> lines;
    for (const Problem& problem : gateway.verify().problems()) {
      const std::size_t begin = problem.text.find("next connection: ");
      lines.push_back(problem.text.substr(begin, problem.text.find('\n', begin) - begin));
    }
    return lines;
  };
  CHECK(places() == std::vector<std::string>{"next connection: reset on accept (first.json:1)",
                                             "next connection: close on accept (first.json:1)"});
  // Replaces the faults by another fault, and then moves the new fault to a later line.
  const ScriptFile second = script("second.json", "\n", close);
  ScriptDocument::read({second.path()}).replace(gateway, loaded);
  CHECK(places() == std::vector<std::string>{"next connection: close on accept (second.json:2)"});
  const ScriptFile third = script("third.json", "\n\n\n", close);
  ScriptDocument::read({third.path()}).replace(gateway, loaded);
  CHECK(places() == std::vector<std::string>{"next connection: close on accept (third.json:4)"});
}

TEST_CASE("a failure is forced for a key by name or by id") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const CreatedKey named = gateway.keys().create("named");
  const CreatedKey other = gateway.keys().create("other");
  const Http http(gateway);
  gateway.load(parsed(R"({"mock_gateway": 1, "failures": [{"failure": 503, "for": {"key": "named"}},
                                                          {"failure": 409, "for": {"key": ")" +
                      other.id + "\"}}]}"));
  CHECK(http.with_key(named.secret).chat().status == 503);
  CHECK(http.with_key(named.secret).chat().status == 200);
  CHECK(http.with_key(other.secret).chat().status == 409);
  CHECK(http.with_key(other.secret).chat().status == 200);
  CHECK(http.chat().status == 200);
}

TEST_CASE("reports no longer count chaos rules that a replacement removes") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const Http http(gateway);
  LoadedScript loaded =
      ScriptDocument::from_json(
          parsed(R"({"mock_gateway": 1, "stubs": [{"reply": "a"}], "chaos": [{"failure": 503}, {"failure": 500}]})"))
          .mount(gateway);
  CHECK(http.chat().status == 503);
  CHECK(has_part(gateway.verify().message(), ", 2 rules, 1 of 1 request struck;"));
  ScriptDocument::from_json(parsed(R"({"mock_gateway": 1, "stubs": [{"reply": "a"}]})")).replace(gateway, loaded);
  CHECK(http.chat().status == 200);
  CHECK(has_part(gateway.verify().message(), ", no rules left, 1 of 1 request struck;"));
}

TEST_CASE("remaining chaos rules keep their numbers, and numbers are never reused") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const Http http(gateway);
  const std::string stubs = R"({"mock_gateway": 1, "stubs": [{"reply": "a"}])";
  LoadedScript loaded = gateway.load(parsed(stubs + R"(, "chaos": [{"failure": 503}, {"failure": 500}]})"));
  const Chaos hints(early_hints(wire::Headers{{"x-a", "1"}}));
  gateway.chaos(hints);
  ScriptDocument::from_json(parsed(stubs + "}")).replace(gateway, loaded);
  gateway.chaos(hints);
  http.chat();
  const Texts strikes = gateway.journal().last().chaos();
  REQUIRE(strikes.size() == 2);
  CHECK(strikes[0].substr(0, 7) == "rule 3:");
  CHECK(strikes[1].substr(0, 7) == "rule 4:");
}

TEST_CASE("a request during a replacement gets the old or the new script's reply") {
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

TEST_CASE("of two equal operations the newer one answers, and the older one after the newer one is removed") {
  const auto on = [](const std::string& path, const std::string& said) {
    return ScriptDocument::from_json(
        {{"mock_gateway", 1}, {"operations", {{{"method", "GET"}, {"path", path}, {"reply", {{"body", said}}}}}}});
  };
  const ScriptDocument none = ScriptDocument::from_json({{"mock_gateway", 1}});
  for (const std::string path : {"/v1/same", "/v1/{any}"}) {
    CAPTURE(path);
    Gateway gateway(Options{}.verify_on_destruction(false));
    const auto answer = [&gateway] { return Http(gateway).get("/v1/same").body; };
    gateway.on("GET", path, [](const ReceivedRequest&) { return HttpReply(200, "test"); });
    LoadedScript first = on(path, "first").mount(gateway);
    CHECK(answer() == "first");
    LoadedScript second = on(path, "second").mount(gateway);
    on(path, "changed").replace(gateway, first);
    CHECK(answer() == "second");
    gateway.on("GET", path, [](const ReceivedRequest&) { return HttpReply(200, "newer test"); });
    on(path, "second again").replace(gateway, second);
    CHECK(answer() == "newer test");
    gateway.on("GET", "/v1/{other}", [](const ReceivedRequest&) { return HttpReply(200, "other"); });
    CHECK(answer() == "newer test");
  }
  Gateway gateway(Options{}.verify_on_destruction(false));
  LoadedScript first = on("/v1/same", "first").mount(gateway);
  LoadedScript second = on("/v1/same", "second").mount(gateway);
  none.replace(gateway, second);
  CHECK(Http(gateway).get("/v1/same").body == "first");
  none.replace(gateway, first);
  CHECK(Http(gateway).get("/v1/same").status == 404);
}

TEST_CASE("replies in a script can have faults, and an impossible trigger is a problem at its place") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  gateway.load(Json::parse(R"({"mock_gateway": 1, "operations": [
    {"method": "GET", "path": "/v1/cut", "reply": {"body": "0123456789", "headers": {"x-a": "b"},
     "faults": [{"after_bytes": 4, "effect": "close_connection"}]}},
    {"method": "GET", "path": "/v1/gone", "reply": {"failure": 503,
     "faults": [{"before_headers": true, "effect": "reset_connection"}]}}]})"));
  const Http http = Http(gateway).allow_incomplete();
  CHECK(http.get("/v1/cut").body == "0123");
  CHECK(http.get("/v1/cut").header("x-a") == "b");
  CHECK(http.get("/v1/gone").status == 0);
  const auto refused = [&](const char* fault) {
    try {
      gateway.load(Json::parse(R"({"mock_gateway": 1, "operations": [
        {"method": "GET", "path": "/v1/x", "reply": {"json": 1, "faults": [)" +
                               std::string(fault) + "]}}]}"));
    } catch (const ScriptError& error) {
      return error.problems().at(0).pointer + ": " + error.problems().at(0).message;
    }
    return std::string();
  };
  CHECK(refused(R"({"after_tokens": 1, "effect": "stall"})") ==
        "/operations/0/reply/faults/0: a raw reply has no events, so \"after 1 token\" never happens; use "
        "before_headers, "
        "after_headers, after_bytes or at_end");
  CHECK(refused(R"({"after_bytes": 1, "effect": "stal"})") ==
        "/operations/0/reply/faults/0/effect: unknown value \"stal\"; did you mean \"stall\"?");
  CHECK(refused("7") ==
        "/operations/0/reply/faults/0: expected an object with a trigger and an effect, got the number 7");
}

}  // namespace script_document_test
