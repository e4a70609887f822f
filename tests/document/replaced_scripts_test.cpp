// Replacing a script on a running gateway: changed parts take effect, and unchanged parts keep their state.

#include <chrono>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/script_files.hpp"
#include "support/text.hpp"

namespace replaced_scripts_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;
using test_support::ScriptFile;

using Statuses = std::vector<int>;

/// A gateway with a stopped clock, and its script, which a test replaces.
class Replaced {
 public:
  explicit Replaced(const std::string& sections)
      : gateway_(Options{}.clock(clock_).verify_on_destruction(false)), loaded_(script(sections).mount(gateway_)) {}

  static ScriptDocument script(const std::string& sections) {
    return ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1, )" + sections + "}"));
  }
  void by(const std::string& sections) { script(sections).replace(gateway_, loaded_); }

  Gateway& gateway() { return gateway_; }
  const LoadedScript& loaded() const { return loaded_; }
  Http http() const { return Http(gateway_); }

 private:
  ManualClock clock_;
  Gateway gateway_;
  LoadedScript loaded_;
};

// --- Keys ------------------------------------------------------------------------------------------------------------

const std::string ops_secret = "sk-ops-0123456789ab";

std::string with_ops_key(const std::string& members) {
  return R"("keys": [{"name": "ops", "secret": ")" + ops_secret + "\"" + members + "}]";
}

/// Returns the statuses of three requests with the key: a chat request, a second chat request, and the list of models.
Statuses asked_with_ops_key(const Http& anybody) {
  const Http http = anybody.with_key(ops_secret);
  return {http.chat().status, http.chat().status, http.get("/v1/models").status};
}
Statuses asked_with_ops_key(const Replaced& served) { return asked_with_ops_key(served.http()); }

/// A restriction of a key in a script, and the statuses of three requests with that key.
struct Restriction {
  const char* members;
  Statuses restricted;
  bool is_final = false;
};
const std::vector<Restriction> restrictions = {
    {R"(, "limit": "1/1h")", {200, 429, 429}},
    {R"(, "limit": "1/1h", "limit_group": "team")", {200, 429, 429}},
    {R"(, "limit_tokens": "5/1h")", {200, 429, 200}},
    {R"(, "limit_tokens": "5/1h", "limit_group": "team")", {200, 429, 200}},
    {R"(, "limit_concurrent": 1)", {200, 200, 200}},  // see below
    {R"(, "deleted_after": 1)", {200, 401, 401}, true},
    {R"(, "deleted_after": [2, "1h"], "state_for": [{"state": "disabled", "requests": 1}])", {403, 200, 401}, true},
    {R"(, "state": "disabled")", {403, 403, 403}},
    {R"(, "state_for": [{"state": "disabled", "requests": 2}])", {403, 403, 200}},
    {R"(, "models": ["other"])", {403, 403, 200}},
    {R"(, "operations": ["list_models"])", {403, 403, 200}},
};

TEST_CASE(
    "each restriction of a key applies, whether a gateway starts with the script, mounts it, or has it as default "
    "key") {
  std::set<std::string> tested = {"name", "secret", "comment", "$schema"};  // members that restrict nothing
  for (const Restriction& row : restrictions) {
    CAPTURE(row.members);
    const ScriptDocument script = Replaced::script(with_ops_key(row.members));
    const ManualClock clock;
    const Gateway started(script.options(Options{}.clock(clock)));
    CHECK(asked_with_ops_key(Http(started)) == row.restricted);
    Gateway mounted(Options{}.clock(clock));
    script.mount(mounted);
    CHECK(asked_with_ops_key(Http(mounted)) == row.restricted);
    const Json members = Json::parse("{" + std::string(row.members + 2) + "}");
    const ScriptDocument by_default =
        Replaced::script(R"("gateway": {"api_key": ")" + ops_secret + R"(", "default_key": )" + members.dump() + "}");
    const Gateway its_own(by_default.options(Options{}.clock(clock)));
    CHECK(asked_with_ops_key(Http(its_own)) == row.restricted);
    for (const auto& member : members.items()) tested.insert(member.key());
  }
  // The rows must cover every other member of a key in a script.
  std::set<std::string> known;
  const Json schema = script_schema();
  for (const auto& member : schema["properties"]["keys"]["items"]["properties"].items()) known.insert(member.key());
  CHECK(tested == known);
  for (const char* const own : {"name", "secret"}) known.erase(own);
  std::set<std::string> of_default;
  for (const auto& member : schema["properties"]["gateway"]["properties"]["default_key"]["properties"].items())
    of_default.insert(member.key());
  CHECK(of_default == known);
}

TEST_CASE("a restriction of a key ends when the script removes it, and applies again when the script adds it again") {
  for (const Restriction& row : restrictions) {
    CAPTURE(row.members);
    Replaced served(with_ops_key(row.members));
    const std::string id = served.gateway().keys().list().back().id;
    CHECK(asked_with_ops_key(served) == row.restricted);
    if (row.is_final) continue;
    served.by(with_ops_key(""));
    CHECK(asked_with_ops_key(served) == Statuses{200, 200, 200});
    served.by(with_ops_key(row.members));
    CHECK(asked_with_ops_key(served) == row.restricted);
    CHECK(served.gateway().keys().list().back().id == id);
  }
}

/// Returns a "keys" section. Each key is given as its name, its secret, which may be empty, and other members.
std::string keys_section(const std::vector<std::vector<std::string>>& keys) {
  std::string section;
  for (const auto& key : keys) {
    const std::string secret = key.at(1).empty() ? "" : R"(, "secret": ")" + key.at(1) + "\"";
    section += (section.empty() ? "" : ", ") + (R"({"name": ")" + key.at(0) + "\"" + secret + key.at(2) + "}");
  }
  return "\"keys\": [" + section + "]";
}

const std::string one = "sk-one-0123456789ab";
const std::string two = "sk-two-0123456789ab";

int status_with(const Replaced& served, const std::string& secret) {
  return served.http().with_key(secret).chat().status;
}

TEST_CASE("a script does not restore a key that has ended, but may replace it by a key with another secret or name") {
  const std::string ending = R"(, "deleted_after": 1)";
  struct Row {
    const char* what;
    std::string after;     // the keys of the next script
    const char* accepted;  // the secret of its new key, if any
  };
  const Row rows[] = {
      {"the same", keys_section({{"ops", one, ending}, {"x", "", ""}}), nullptr},
      {"without a secret", keys_section({{"ops", "", ending}}), nullptr},
      {"without an end", keys_section({{"ops", one, ""}}), nullptr},
      {"with a later end", keys_section({{"ops", one, R"(, "deleted_after": 9)"}}), nullptr},
      {"with another name", keys_section({{"renamed", one, ending}}), nullptr},
      {"without the key", R"("stubs": [])", nullptr},
      {"with another secret", keys_section({{"ops", two, ""}}), two.c_str()},
      {"with another key", keys_section({{"ops", one, ending}, {"new", two, ""}}), two.c_str()},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Replaced served(keys_section({{"ops", one, ending}}));
    const std::string id = served.gateway().keys().list().back().id;
    CHECK(Statuses{status_with(served, one), status_with(served, one)} == Statuses{200, 401});
    served.by(row.after);
    CHECK(status_with(served, one) == 401);
    if (row.accepted) CHECK(status_with(served, row.accepted) == 200);
    served.by(keys_section({{"ops", row.accepted ? two : one, ending}}));
    CHECK(status_with(served, one) == 401);
    CHECK(served.gateway().keys().find(id).ended == "deleted after 1 request");
  }
}

TEST_CASE("the secret of an ended key cannot be given to a living key of the script") {
  Replaced served(keys_section({{"ops", one, R"(, "deleted_after": 1)"}}));
  CHECK(status_with(served, one) == 200);
  served.by(keys_section({{"ops", two, ""}}));
  CHECK(test_support::error_of([&] {
          served.by(keys_section({{"ops", one, ""}}));
        }).find("cannot be restored") != std::string::npos);
  CHECK(Statuses{status_with(served, one), status_with(served, two)} == Statuses{401, 200});
}

TEST_CASE("a changed script neither restarts the count of a key's end nor its time") {
  ManualClock clock;
  Gateway gateway(Options{}.clock(clock));
  const auto section = [](const char* end, const char* other) {
    return Replaced::script(keys_section({{"ops", one, R"(, "deleted_after": )" + std::string(end)}, {other, "", ""}}));
  };
  LoadedScript loaded = section(R"([4, "1h"])", "a").mount(gateway);
  const Http http = Http(gateway).with_key(one);
  CHECK(Statuses{http.chat().status, http.chat().status} == Statuses{200, 200});
  clock.advance(59min);
  section(R"([4, "1h"])", "b").replace(gateway, loaded);
  CHECK(gateway.keys().find("ops").state == KeyState::enabled);
  SUBCASE("requests") { CHECK(Statuses{http.chat().status, http.chat().status} == Statuses{200, 200}); }
  SUBCASE("time") { clock.advance(1min); }
  SUBCASE("fewer requests") { section("2", "c").replace(gateway, loaded); }
  SUBCASE("less time") { section(R"("59m")", "c").replace(gateway, loaded); }
  CHECK(gateway.keys().find("ops").state == KeyState::deleted);
  CHECK(http.chat().status == 401);
  CHECK(gateway.keys().list().size() == 2);
}

TEST_CASE("a key that its script deletes stays deleted, however many requests come") {
  Replaced served(keys_section({{"ops", one, R"(, "state_for": [{"state": "disabled", "requests": 2}])"}}));
  served.by(R"("stubs": [])");
  for (int request = 0; request < 4; ++request) CHECK(status_with(served, one) == 401);
}

TEST_CASE("a changed script sets a limit of concurrent requests, and requests under way keep their places") {
  Replaced served(keys_section({{"ops", one, ""}}));
  Gateway& gateway = served.gateway();
  Gate gate;
  gateway.chat().reply(text("a").hold(gate, before_token(1)));
  const Http http = served.http().with_key(one);
  const auto models = [&] { return http.get("/v1/models").status; };
  std::vector<RawConnection> held;
  const auto hold = [&] {
    held.emplace_back(gateway);
    held.back().send(http.format_chat());
    REQUIRE(gate.wait_until_reached(held.size(), 10s));
  };
  hold();
  served.by(keys_section({{"ops", one, R"(, "limit_concurrent": 1)"}}));
  CHECK(models() == 200);  // the request under way began without the limit
  hold();
  CHECK(models() == 429);
  served.by(keys_section({{"ops", one, R"(, "limit_concurrent": 2, "limit": "9/1h")"}}));
  CHECK(models() == 200);
  served.by(keys_section({{"ops", one, ""}}));
  CHECK(models() == 200);
  served.by(keys_section({{"ops", one, R"(, "limit_concurrent": 1, "limit_group": "team")"}}));
  CHECK(models() == 200);  // a group has its own count
  served.by(keys_section({{"ops", one, R"(, "limit_concurrent": 1)"}}));
  CHECK(models() == 429);
  gate.open();
  for (RawConnection& connection : held) CHECK(connection.receive_response().complete);
  CHECK(models() == 200);
  const Gateway started(Replaced::script(R"("gateway": {"limit_concurrent": 3})").options());
  CHECK(started.keys().list().front().concurrent == 0);
}

TEST_CASE("a key that the script removes is refused; other keys of the script and of the test stay valid") {
  Replaced served(
      R"("keys": [{"name": "a", "secret": "sk-a-0123456789"}, {"name": "b", "secret": "sk-b-0123456789"}])");
  const CreatedKey own = served.gateway().keys().create("own");
  served.by(R"("keys": [{"name": "b", "secret": "sk-b-0123456789"}])");
  CHECK(served.http().with_key("sk-a-0123456789").chat().status == 401);
  CHECK(served.http().with_key("sk-b-0123456789").chat().status == 200);
  CHECK(served.http().with_key(own.secret).chat().status == 200);
  CHECK(served.http().chat().status == 200);
}

TEST_CASE("a key that the test has disabled stays disabled while its part of the script is unchanged") {
  Replaced served(with_ops_key(""));
  served.gateway().keys().disable(served.gateway().keys().list().back().id);
  served.by(with_ops_key("") + R"(, "stubs": [{"reply": "new"}])");
  CHECK(asked_with_ops_key(served) == Statuses{403, 403, 403});
}

TEST_CASE("a key that a script removes and adds again is the same key, even with another name") {
  Replaced served(keys_section({{"ops", one, ""}}));
  const std::string id = served.gateway().keys().list().back().id;
  served.by(R"("stubs": [])");
  CHECK(status_with(served, one) == 401);
  for (const char* const name : {"ops", "renamed", "ops"}) {
    served.by(keys_section({{name, one, ""}}));
    CHECK(status_with(served, one) == 200);
    CHECK(served.gateway().keys().list().back().id == id);
    CHECK(served.gateway().keys().list().back().description == name);
  }
  served.by(R"("stubs": [])");
  served.by(keys_section({{"ops", two, ""}}));
  CHECK(status_with(served, one) == 401);
  CHECK(status_with(served, two) == 200);
  CHECK(served.gateway().keys().list().back().id == id);
}

TEST_CASE("a key has the secret of the current script, and its old secret is refused") {
  Replaced served(keys_section({{"ops", one, ""}}));
  const std::string id = served.gateway().keys().list().back().id;
  for (const bool first : {false, true}) {
    served.by(keys_section({{"ops", first ? one : two, ""}}));
    CHECK(status_with(served, first ? two : one) == 401);
    CHECK(status_with(served, first ? one : two) == 200);
    CHECK(served.gateway().keys().find(id).requests >= 2);
  }
  CHECK(served.gateway().keys().list().size() == 2);
}

TEST_CASE("keys of a script can exchange secrets") {
  const std::string disabled = R"(, "state": "disabled")";
  Replaced served(keys_section({{"a", one, disabled}, {"b", two, ""}}));
  CHECK(Statuses{status_with(served, one), status_with(served, two)} == Statuses{403, 200});
  served.by(keys_section({{"a", two, disabled}, {"b", one, ""}}));
  CHECK(Statuses{status_with(served, one), status_with(served, two)} == Statuses{200, 403});
  served.by(keys_section({{"a", "", disabled}, {"c", two, ""}}));
  CHECK(Statuses{status_with(served, one), status_with(served, two)} == Statuses{401, 200});
}

TEST_CASE("a script with impossible keys changes nothing, and the previous script stays mounted") {
  struct Row {
    std::vector<std::string> key;
    const char* reason;
  };
  const std::vector<Row> rows = {
      {{"mine", two, ""}, R"("mine" cannot be made: that secret belongs to key "key_3" ("other"); choose another)"},
      {{"other", "sk-other-0123456789", ""}, R"(key "key_3" ("other") has this name and another secret)"},
      {{"mine", "sk-gone-0123456789", ""}, R"(key "key_4" ("gone"), which is deleted and cannot be restored)"},
  };
  const std::string before = keys_section({{"ops", one, ""}}) + R"(, "stubs": [{"reply": "before"}])";
  Replaced served(before);
  served.gateway().keys().create("other", KeyOptions().secret(two));
  served.gateway().keys().remove(served.gateway().keys().create("gone", KeyOptions().secret("sk-gone-0123456789")).id);
  for (const Row& row : rows) {
    CAPTURE(row.reason);
    const std::string wanted = keys_section({{"new", "sk-new-0123456789ab", ""}, row.key});
    CHECK_THROWS_WITH_AS(served.by(wanted + R"(, "stubs": [{"reply": "after"}])"), doctest::Contains(row.reason),
                         GatewayError);
    CHECK(status_with(served, "sk-new-0123456789ab") == 401);
    CHECK(status_with(served, one) == 200);
    CHECK(status_with(served, two) == 200);
    CHECK(served.http().ask("x") == "before");
  }
  served.by(before);
  served.by(keys_section({{"new", "sk-new-0123456789ab", ""}}));
  CHECK(status_with(served, "sk-new-0123456789ab") == 200);
}

TEST_CASE("a script does not change keys that other code created") {
  Replaced served(R"("stubs": [])");
  const CreatedKey own = served.gateway().keys().create("billing");
  Gateway& gateway = served.gateway();
  LoadedScript other = Replaced::script(keys_section({{"ops", one, ""}})).mount(gateway);
  for (const char* const members : {"", R"(, "state": "disabled")", R"(, "models": ["other"])"}) {
    served.by(keys_section({{"billing", "", members}, {"ops", one, members}}));
    CHECK(Statuses{status_with(served, own.secret), status_with(served, one)} == Statuses{200, 200});
  }
  served.by(R"("stubs": [])");
  CHECK(Statuses{status_with(served, own.secret), status_with(served, one)} == Statuses{200, 200});
  Replaced::script(R"("stubs": [])").replace(gateway, other);
  CHECK(Statuses{status_with(served, own.secret), status_with(served, one)} == Statuses{200, 401});
}

TEST_CASE("a key that the gateway started with belongs to the first script that names it") {
  const ScriptDocument script = Replaced::script(keys_section({{"ops", one, ""}, {"default key", two, ""}}));
  Gateway gateway(script.options());
  LoadedScript loaded = script.mount(gateway);
  LoadedScript second = script.mount(gateway);
  const auto status = [&gateway](const std::string& secret) { return Http(gateway).with_key(secret).chat().status; };
  CHECK(Statuses{status(one), status(two)} == Statuses{200, 200});
  Replaced::script(R"("stubs": [])").replace(gateway, second);
  CHECK(Statuses{status(one), status(two)} == Statuses{200, 200});
  Replaced::script(R"("stubs": [])").replace(gateway, loaded);
  CHECK(Statuses{status(one), status(two)} == Statuses{401, 401});
  CHECK(Http(gateway).chat().status == 200);
}

// --- State machines --------------------------------------------------------------------------------------------------

TEST_CASE("state machines keep their state while the script's start state is unchanged") {
  Replaced served(R"("states": {"door": "closed"}, "stubs": [{"reply": "old"}])");
  CHECK(served.gateway().state("door") == "closed");
  served.gateway().set_state("door", "open");
  served.by(R"("states": {"door": "closed"}, "stubs": [{"reply": "new"}])");
  CHECK(served.http().ask("x") == "new");
  CHECK(served.gateway().state("door") == "open");
  served.by(R"("states": {"door": "ajar"}, "stubs": [{"reply": "new"}])");
  CHECK(served.gateway().state("door") == "ajar");
  served.gateway().set_state("door", "open");
  served.by(R"("stubs": [{"reply": "new"}])");
  CHECK(served.gateway().state("door") == "open");
}

// --- Counters --------------------------------------------------------------------------------------------------------

TEST_CASE("failures, chaos and connection faults keep counting while their part of the script is unchanged") {
  Replaced served(R"("failures": [{"failure": 500, "times": 2, "for": {"operation": "list_models"}}],
    "chaos": [{"failure": 503, "nth": 2}], "connections": [{"fault": {"garbage_on_accept": "SSH"}, "times": 1}])");
  CHECK(RawConnection(served.gateway()).receive_all().bytes == "SSH");
  CHECK(served.http().get("/v1/models").status == 500);
  CHECK(served.http().chat().status == 200);
  served.by(R"("failures": [{"failure": 500, "times": 2, "for": {"operation": "list_models"}}],
    "chaos": [{"failure": 503, "nth": 2}], "connections": [{"fault": {"garbage_on_accept": "SSH"}, "times": 1}],
    "stubs": [{"reply": "new"}])");
  CHECK(served.http().get("/v1/models").status == 500);
  CHECK(served.http().get("/v1/models").status == 200);
  CHECK(served.http().chat().status == 503);
  CHECK(served.http().ask("x") == "new");
}

TEST_CASE("three identical stubs keep their own calls, and removing one removes the last") {
  const std::string once = R"({"when": {"user_says": "a"}, "times": 1, "reply": "once"})";
  Replaced served(R"("stubs": [)" + once + ", " + once + ", " + once + R"(, {"reply": "other"}])");
  CHECK(served.http().ask("a") == "once");
  CHECK(served.http().ask("a") == "once");
  const std::vector<Stub> before = served.loaded().stubs();
  served.by(R"("stubs": [)" + once + ", " + once + R"(, {"reply": "other"}])");
  CHECK(served.http().ask("a") == "other");
  REQUIRE(served.loaded().stubs().size() == 3);
  CHECK(served.loaded().stubs()[0].calls() == 1);
  CHECK(served.loaded().stubs()[1].calls() == 1);
  REQUIRE(before.size() == 4);
  CHECK(before[2].calls() == 0);
}

// --- The order of stubs ----------------------------------------------------------------------------------------------

TEST_CASE("a script that had no stubs at first keeps its priority below stubs mounted later") {
  Replaced served(R"("stubs": [])");
  served.gateway().chat().when(user_says("a")).reply("the test's");
  served.by(R"("stubs": [{"reply": "the script's"}])");
  CHECK(served.http().ask("a") == "the test's");
  CHECK(served.http().ask("b") == "the script's");
}

TEST_CASE("no request waits forever if its stub is removed while the script is mounted again") {
  std::string stubs;
  for (int number = 0; number < 400; ++number)
    stubs += (number == 0 ? "" : ", ") +
             (R"({"when": {"user_says": {"equals": ")" + std::to_string(number) + R"("}}, "reply": "r"})");
  const ScriptDocument document = Replaced::script("\"stubs\": [" + stubs + "]");
  Gateway gateway(Options{}.verify_on_destruction(false));
  gateway.chat().reply("r");
  LoadedScript loaded = document.mount(gateway);
  // Each round removes the stub at a different moment of the replacement.
  for (int round = 0; round < 40; ++round) {
    const Stub first = loaded.stubs().front();
    const auto moment = std::chrono::steady_clock::now() + round * 50us;
    std::thread remover([&first, moment] {
      while (std::chrono::steady_clock::now() < moment) continue;
      first.remove();
    });
    document.replace(gateway, loaded);
    remover.join();
    std::future<int> asked =
        std::async(std::launch::async, [&gateway] { return Http(gateway).chat(Json("0")).status; });
    const bool answered = asked.wait_for(10s) == std::future_status::ready;
    if (!answered) gateway.reset();  // ends the request, so that the test ends
    REQUIRE(answered);
    CHECK(asked.get() == 200);
  }
}

// --- Lines -----------------------------------------------------------------------------------------------------------

TEST_CASE("an unchanged connection fault is reported at its current line") {
  const char* const faults = R"({"fault": "reset_on_accept"}, {"fault": "close_on_accept", "always": true},
{"fault": "close_on_accept", "times": 3})";
  const ScriptFile first(R"({"mock_gateway": 1})", "first.json");
  const ScriptFile second(R"({"mock_gateway": 1, "connections": [)" + std::string(faults) + "]}", "second.json");
  const std::vector<std::string> paths = {first.path(), second.path()};
  Gateway gateway(Options{}.verify_on_destruction(false));
  LoadedScript loaded = ScriptDocument::read(paths).mount(gateway);
  const std::string own =
      "(replaced_scripts_test.cpp:" + std::to_string(__LINE__ + 1) + ")\n  no connection reached it";
  gateway.next_connection(close_on_accept());
  RawConnection(gateway).receive_all();
  RawConnection(gateway).receive_all();
  const auto told = [&gateway] {
    std::string lines;
    for (const Problem& problem : gateway.verify().problems())
      lines += problem.text.substr(problem.text.find('(')) + " at " + std::to_string(problem.where.line) + "\n";
    return lines;
  };
  CHECK(told().find("(second.json:2)\n  2 of 3 are left at 2\n" + own) == 0);
  second.write("{\"mock_gateway\": 1,\n\n\"connections\": [" + std::string(faults) + "]}");
  ScriptDocument::read(paths, loaded).replace(gateway, loaded);
  CHECK(told().find("(second.json:4)\n  2 of 3 are left at 4\n" + own) == 0);
  second.write(R"({"mock_gateway": 1})");
  first.write(R"({"mock_gateway": 1, "connections": [)" + std::string(faults) + "]}");
  ScriptDocument::read(paths, loaded).replace(gateway, loaded);
  CHECK(told().find("(first.json:2)\n  2 of 3 are left at 2\n" + own) == 0);
}

TEST_CASE("an unchanged stub is reported at its current line and file") {
  const ScriptFile first(R"({"mock_gateway": 1, "stubs": [
{"when": {"user_says": "a"}, "expect": 2, "reply": "a"},
{"when": {"user_says": "b"}, "reply": "b"}]})",
                         "first.json");
  const ScriptFile second(R"({"mock_gateway": 1})", "second.json");
  const std::vector<std::string> paths = {first.path(), second.path()};
  Gateway gateway(Options{}.verify_on_destruction(false));
  LoadedScript loaded = ScriptDocument::read(paths).mount(gateway);
  const Stub stub = loaded.stubs().front();
  CHECK(Http(gateway).ask("a") == "a");
  CHECK(stub.title() == "the stub at first.json:2");

  // The stub moves down in the file, and a new stub is on its old line.
  first.write(R"({"mock_gateway": 1, "stubs": [
{"when": {"user_says": "c"}, "reply": "c"},

{"when": {"user_says": "a"}, "expect": 2, "reply": "a"},
{"when": {"user_says": "b"}, "reply": "b"}]})");
  ScriptDocument::read(paths, loaded).replace(gateway, loaded);
  CHECK(stub.title() == "the stub at first.json:4");
  CHECK(stub.where().line == 4);
  CHECK(stub.calls() == 1);
  CHECK(loaded.stubs().front().title() == "the stub at first.json:2");
  REQUIRE(gateway.verify().problems().size() == 1);
  CHECK(gateway.verify().problems().front().where.line == 4);
  CHECK(gateway.verify().problems().front().stub.title == "the stub at first.json:4");

  // First all stubs are on one line, and then they are in the second file.
  const char* const one_line =
      R"([{"when": {"user_says": "a"}, "expect": 2, "reply": "a"}, {"when": {"user_says": "b"}, "reply": "b"}]})";
  first.write(R"({"mock_gateway": 1, "stubs": )" + std::string(one_line));
  ScriptDocument::read(paths, loaded).replace(gateway, loaded);
  CHECK(stub.title() == "the stub at first.json:1 (user text contains \"a\")");
  first.write(R"({"mock_gateway": 1})");
  second.write(R"({"mock_gateway": 1, "stubs": [
{"when": {"user_says": "b"}, "reply": "b"},
{"when": {"user_says": "a"}, "expect": 2, "reply": "a"}]})");
  ScriptDocument::read(paths, loaded).replace(gateway, loaded);
  CHECK(stub.title() == "the stub at second.json:3");
  CHECK(stub.calls() == 1);
}

// --- Several files ---------------------------------------------------------------------------------------------------

TEST_CASE("a change in any of several files that share a section is mounted") {
  struct Row {
    const char* section;
    const char* parts[2];    // the section in each of two files
    const char* changed[2];  // the section after the change of each file
    std::vector<std::string> before;
    std::vector<std::string> after[2];
  };
  const std::vector<Row> rows = {
      {"operations",
       {R"([{"method": "GET", "path": "/a", "reply": {"status": 201}}])",
        R"([{"method": "GET", "path": "/b", "reply": {"status": 202}}])"},
       {R"([{"method": "GET", "path": "/a", "reply": {"status": 211}}])",
        R"([{"method": "GET", "path": "/b", "reply": {"status": 212}}])"},
       {"201", "202"},
       {{"211", "202"}, {"201", "212"}}},
      {"failures",
       {R"([{"failure": 501, "always": true, "for": {"operation": "list_models"}}])",
        R"([{"failure": 502, "always": true, "for": {"model": "deep"}}])"},
       {R"([{"failure": 503, "always": true, "for": {"operation": "list_models"}}])",
        R"([{"failure": 504, "always": true, "for": {"model": "deep"}}])"},
       {"501", "502"},
       {{"503", "502"}, {"501", "504"}}},
      {"chaos",
       {R"([{"failure": 501, "when": {"user_says": "a"}}])", R"([{"failure": 502, "when": {"user_says": "b"}}])"},
       {R"([{"failure": 503, "when": {"user_says": "a"}}])", R"([{"failure": 504, "when": {"user_says": "b"}}])"},
       {"501", "502"},
       {{"503", "502"}, {"501", "504"}}},
      {"keys",
       {R"([{"name": "a", "secret": "sk-a-0123456789"}])", R"([{"name": "b", "secret": "sk-b-0123456789"}])"},
       {R"([{"name": "a", "secret": "sk-a-0123456789", "state": "disabled"}])",
        R"([{"name": "b", "secret": "sk-b-0123456789", "state": "disabled"}])"},
       {"200", "200"},
       {{"403", "200"}, {"200", "403"}}},
      {"states",
       {R"({"a": "1"})", R"({"b": "2"})"},
       {R"({"a": "3"})", R"({"b": "4"})"},
       {"1", "2"},
       {{"3", "2"}, {"1", "4"}}},
  };
  for (const Row& row : rows) {
    for (const std::size_t which : {0U, 1U}) {
      CAPTURE(row.section);
      CAPTURE(which);
      Gateway gateway(Options{}.model("mock-model").model("deep").verify_on_destruction(false));
      const std::string section = row.section;
      const Http http(gateway);
      const auto seen = [&]() -> std::vector<std::string> {
        if (section == "states") return {gateway.state("a"), gateway.state("b")};
        Statuses statuses;
        if (section == "operations") statuses = {http.get("/a").status, http.get("/b").status};
        if (section == "failures") statuses = {http.get("/v1/models").status, http.chat({{"model", "deep"}}).status};
        if (section == "chaos") statuses = {http.chat(Json("a")).status, http.chat(Json("b")).status};
        if (section == "keys") {
          statuses = {http.with_key("sk-a-0123456789").get("/v1/models").status,
                      http.with_key("sk-b-0123456789").get("/v1/models").status};
        }
        return {std::to_string(statuses.at(0)), std::to_string(statuses.at(1))};
      };
      const auto file = [&](const std::string& part) {
        return R"({"mock_gateway": 1, ")" + section + "\": " + part + "}";
      };
      const ScriptFile first(file(row.parts[0]), "first.json");
      const ScriptFile second(file(row.parts[1]), "second.json");
      const std::vector<std::string> paths = {first.path(), second.path()};
      LoadedScript loaded = ScriptDocument::read(paths).mount(gateway);
      CHECK(seen() == row.before);
      (which == 0 ? first : second).write(file(row.changed[which]));
      ScriptDocument::read(paths, loaded).replace(gateway, loaded);
      CHECK(seen() == row.after[which]);
    }
  }
}

}  // namespace replaced_scripts_test
