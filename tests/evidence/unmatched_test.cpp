// Requests that match no stub. The response, the journal and verify() explain the closest stubs condition by condition.
// An option decides what such requests get.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/verification.hpp"

namespace unmatched_test {

using namespace mock_gateway;
using test_support::Http;
using test_support::kinds;
using test_support::Response;

inline Json user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }

inline Json tools(const std::string& name) {
  return Json::array({{{"type", "function"}, {"function", {{"name", name}, {"parameters", {{"type", "object"}}}}}}});
}

inline std::string at(int line) { return "(unmatched_test.cpp:" + std::to_string(line) + ")"; }

using Kind = Problem::Kind;

TEST_CASE("an unmatched request is reported with the closest stubs, matcher by matcher") {
  Gateway gateway;
  const CreatedKey key = gateway.keys().create("billing service");
  const Http http = Http(gateway).with_key(key.secret);
  const Stub greeting_stub = gateway.chat().named("greeting").times(1).reply("Hello.");
  const int greeting = greeting_stub.where().line;
  http.chat();
  const Stub weather_stub = gateway.chat()
                                .named("weather question")
                                .when(has_tool("get_weather"), stream_is(true), user_says("weather"))
                                .reply("Sunny.");
  const int weather = weather_stub.where().line;
  http.stream({{"tools", tools("get_weather")}, {"messages", {user("weather")}}});

  const Response response = http.stream({{"tools", tools("get_weather")}, {"messages", {user("wether in Paris?")}}});
  const std::string diagnosis =
      "  user: \"wether in Paris?\"   stream: true   tools: get_weather\n"
      "closest: \"weather question\" " +
      at(weather) +
      ", 2 of 3\n"
      "  ✔ has tool \"get_weather\"\n"
      "  ✔ stream is true\n"
      "  ✘ user text contains \"weather\"    actual \"wether in Paris?\"\n"
      "next: \"greeting\" " +
      at(greeting) + ", exhausted after 1 call";
  CHECK(response.status == 422);
  CHECK(response.error_code() == "no_stub_matched");
  // Test runners cut long messages, so the closest stub comes first there.
  const std::size_t end_of_brief = diagnosis.find('\n');
  CHECK(response.error_message() ==
        diagnosis.substr(end_of_brief + 1) + "\nno stub matched\n" + diagnosis.substr(0, end_of_brief));
  CHECK(response.header("x-should-retry") == "false");
  CHECK(response.header("x-mock-gateway-diagnosis") ==
        "no_stub_matched; closest: \"weather question\" " + at(weather) + ", 2 of 3");
  CHECK(gateway.journal().last().decision().detail == diagnosis);

  const Verification verification = gateway.verify();
  CHECK_FALSE(verification);
  CHECK(verification.message() ==
        "no stub matched  POST /v1/chat/completions  key \"billing service\"  exchange 3\n" + diagnosis);
  REQUIRE(verification.problems().size() == 1);
  CHECK(verification.problems()[0].kind == Kind::unmatched);
  CHECK(verification.problems()[0].exchanges == std::vector<std::uint64_t>{3});
}

TEST_CASE("a matching stub is reported with the reason why it did not answer") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  const Http http(gateway);
  const auto diagnosis = [&] {
    CHECK(http.chat().error_code() == "no_stub_matched");
    return gateway.journal().last().decision().detail;
  };
  SUBCASE("it is exhausted") {
    const Stub where_stub = gateway.chat().named("once").when(user_says("Hi")).times(2).reply("x");
    const std::string where = at(where_stub.where().line);
    http.chat();
    http.chat();
    CHECK(diagnosis() == "  user: \"Hi\"\nclosest: \"once\" " + where + ", exhausted after 2 calls");
  }
  SUBCASE("its sequence has ended, so that older stubs are not tried") {
    const Stub older = gateway.chat().reply("older");
    const Stub refusing = gateway.chat().named("short").when(user_says("Hi")).reply("x", then_nothing_more());
    CHECK(http.ask("Hi") == "x");
    CHECK(diagnosis() == "  user: \"Hi\"\nclosest: " + refusing.title() +
                             ", nothing more after 1 call\nnext: " + older.title() + ", older");
    CHECK(http.ask("hello") == "older");
  }
  SUBCASE("its scenario is in another state") {
    const Stub where_stub = gateway.chat().named("later").in_state("login", "expired").reply("x");
    const std::string where = at(where_stub.where().line);
    CHECK(diagnosis() ==
          "  user: \"Hi\"\nclosest: \"later\" " + where + ", state machine \"login\" is \"started\", not \"expired\"");
    gateway.set_state("login", "expired");
    CHECK(http.ask("Hi") == "x");
  }
  SUBCASE("any of its scenarios is in another state") {
    const Stub stub = gateway.chat().in_state("a", "on").in_state("b", "on").in_state("c", "on").reply("x");
    const auto closest = [&](const std::string& machine) {
      return "  user: \"Hi\"\nclosest: " + stub.title() + ", state machine \"" + machine +
             "\" is \"started\", not \"on\"";
    };
    for (const char* const machine : {"a", "b", "c"}) {
      CHECK(diagnosis() == closest(machine));
      gateway.set_state(machine, "on");
    }
    CHECK(http.ask("Hi") == "x");
    for (const char* const machine : {"c", "b", "a"}) {
      gateway.set_state(machine, "started");
      CHECK(diagnosis() == closest(machine));
    }
  }
}

TEST_CASE("five tools of a request are listed, and the others are counted") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  gateway.chat().when(user_says("nothing of the kind")).reply("x");
  const std::vector<std::string> told = {"",
                                         "   tools: t1",
                                         "   tools: t1, t2",
                                         "   tools: t1, t2, t3, t4",
                                         "   tools: t1, t2, t3, t4, t5",
                                         "   tools: t1, t2, t3, t4, t5 and 1 more",
                                         "   tools: t1, t2, t3, t4, t5 and 2 more"};
  const std::vector<int> counts = {0, 1, 2, 4, 5, 6, 7};
  for (std::size_t row = 0; row < counts.size(); ++row) {
    Json all = Json::array();
    for (int i = 1; i <= counts[row]; ++i) all.push_back(tools("t" + std::to_string(i))[0]);
    CHECK(Http(gateway).chat(all.empty() ? Json() : Json{{"tools", all}}).status == 422);
    const std::string detail = gateway.journal().last().decision().detail;
    CHECK(detail.substr(0, detail.find('\n')) == "  user: \"Hi\"" + told[row]);
  }
}

TEST_CASE("at most three stubs are listed, the closest first, and the others are counted") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  for (const char* name : {"a", "b", "c", "d"}) gateway.chat().named(name).when(user_says(name)).reply("x");
  const std::string where = at(__LINE__ - 1);
  const Stub near_stub = gateway.chat().named("near").when(model_is("mock-model"), user_says("e")).reply("x");
  const std::string near = at(near_stub.where().line);
  CHECK(Http(gateway).chat("z").status == 422);
  CHECK(gateway.journal().last().decision().detail ==
        "  user: \"z\"\n"
        "closest: \"near\" " +
            near +
            ", 1 of 2\n"
            "  ✔ model is \"mock-model\"\n"
            "  ✘ user text contains \"e\"    actual \"z\"\n"
            "next: \"d\" " +
            where +
            ", 0 of 1\n"
            "  ✘ user text contains \"d\"    actual \"z\"\n"
            "next: \"c\" " +
            where +
            ", 0 of 1\n"
            "  ✘ user text contains \"c\"    actual \"z\"\n"
            "and 2 more, further away");
}

TEST_CASE("three stubs are listed without a count of others; a fourth stub is counted") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  for (int stubs = 1; stubs <= 4; ++stubs) {
    CAPTURE(stubs);
    gateway.chat().when(user_says("nothing of the kind")).reply("x");
    CHECK(Http(gateway).chat().status == 422);
    const std::string detail = gateway.journal().last().decision().detail;
    CHECK((detail.find("further away") != std::string::npos) == (stubs > 3));
    if (stubs > 3) CHECK(detail.find("\nand 1 more, further away") != std::string::npos);
  }
}

TEST_CASE("a predicate runs once during matching, and never for a report") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  int asked = 0;
  const Matcher odd = matching("has an odd number of messages", [&asked](const ChatRequest& request) {
    ++asked;
    return request.messages.size() % 2 == 1;
  });
  const Stub first_stub = gateway.chat().named("first").when(!odd).reply("x");
  const std::string first = at(first_stub.where().line);
  const Stub second_stub = gateway.chat().named("second").when(user_says("no"), odd).reply("x");
  const std::string second = at(second_stub.where().line);
  const Matcher never_asked =
      matching("never asked", [](const ChatRequest&) -> bool { throw std::runtime_error("!"); });
  const Stub third_stub = gateway.chat().named("third").when(user_says("no") && never_asked).reply("x");
  const std::string third = at(third_stub.where().line);
  CHECK(Http(gateway).chat().status == 422);
  CHECK(asked == 1);
  CHECK(gateway.journal().last().decision().detail ==
        "  user: \"Hi\"\n"
        "closest: \"second\" " +
            second +
            ", 1 of 2\n"
            "  ✘ user text contains \"no\"    actual \"Hi\"\n"
            "  ✔ has an odd number of messages\n"
            "next: \"first\" " +
            first +
            ", 0 of 1\n"
            "  ✘ not (has an odd number of messages)\n"
            "next: \"third\" " +
            third +
            ", 0 of 2\n"
            "  ✘ user text contains \"no\"    actual \"Hi\"\n"
            "  ? never asked    not evaluated");
  static_cast<void>(gateway.verify());
  CHECK(asked == 1);
}

TEST_CASE("an option decides what unmatched requests get") {
  SUBCASE("allowed: they are refused without a problem") {
    Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
    gateway.chat().when(user_says("a")).reply("x");
    CHECK(Http(gateway).chat("b").status == 422);
    CHECK(gateway.verify());
  }
  SUBCASE("the default reply answers them") {
    Gateway gateway{Options{}.unmatched(Unmatched::gets_default_reply)};
    const std::string by_default = Http(gateway).ask("b");
    gateway.chat().when(user_says("a")).reply("x");
    CHECK(Http(gateway).ask("b") == by_default);
    CHECK(Http(gateway).ask("a") == "x");
    CHECK(gateway.verify());
  }
}

TEST_CASE("unmatched requests are counted for each test, and only if they are problems") {
  SUBCASE("many requests with one key do not hide a request with another key") {
    Gateway gateway{Options{}.verify_on_destruction(false)};
    gateway.chat().when(user_says("a")).reply("x");
    const CreatedKey mine = gateway.keys().create("mine");
    const Http other = Http(gateway).keep_alive();
    for (int i = 0; i < 101; ++i) other.chat("b");
    Http(gateway).with_key(mine.secret).chat("b");
    CHECK(kinds(gateway.verify(mine.id)) == std::vector<Kind>{Kind::unmatched});
  }
  SUBCASE("allowed requests are no problems") {
    Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
    gateway.chat().when(user_says("a")).reply("x");
    const Http http = Http(gateway).keep_alive();
    for (int i = 0; i < 101; ++i) http.chat("b");
    CHECK(gateway.verify());
  }
}

TEST_CASE("a stub with unmet conditions is not reported as hidden by a stub with then_nothing_more()") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().named("fits").reply("x");
  gateway.chat().named("differs").when(user_says("bye")).reply("x");
  gateway.chat().named("refuses").reply("x", then_nothing_more());
  CHECK(Http(gateway).chat().status == 200);
  CHECK(Http(gateway).chat().status == 422);
  const std::string detail = gateway.journal().last().decision().detail;
  CAPTURE(detail);
  const auto line_of = [&detail](const std::string& name) {
    const std::size_t at = detail.find("\"" + name + "\"");
    return detail.substr(at, detail.find('\n', at) - at);
  };
  CHECK(line_of("fits").find(", older") != std::string::npos);
  CHECK(line_of("differs").find("older") == std::string::npos);
  CHECK(line_of("refuses").find("older") == std::string::npos);
}

TEST_CASE("a report says why stubs after an exhausted then_nothing_more() stub were not tried") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().named("older").reply("x");
  gateway.chat().named("refuses").reply("x", then_nothing_more());
  gateway.chat().named("lower").priority(-1).when(user_says("Hi")).reply("x");
  CHECK(Http(gateway).chat().status == 200);
  CHECK(Http(gateway).chat().status == 422);
  const std::vector<NearMiss> near_misses = gateway.journal().last().near_misses();
  std::vector<std::string> reasons;
  for (const NearMiss& near : near_misses) reasons.push_back(near.stub.name + ": " + near.passed_over);
  CHECK(reasons ==
        std::vector<std::string>{"refuses: nothing more after 1 call", "lower: lower priority", "older: older"});
}

TEST_CASE("a report shows how conditions are grouped") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  gateway.chat().when((model_is("mock-model") && user_says("a")) || user_says("b")).reply("x");
  CHECK(Http(gateway).chat().status == 422);
  const std::string detail = gateway.journal().last().decision().detail;
  CHECK(detail.substr(detail.find("0 of 1")) ==
        "0 of 1\n"
        "  ✘ any of\n"
        "    ✘ all of\n"
        "      ✔ model is \"mock-model\"\n"
        "      ✘ user text contains \"a\"    actual \"Hi\"\n"
        "    ✘ user text contains \"b\"    actual \"Hi\"");
}

TEST_CASE("the diagnostic header is short printable ASCII for any stub name") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  std::string name;
  for (int i = 0; i < 300; ++i) name += "é\r\n";
  gateway.chat().named(name).when(user_says("a")).reply("x");
  const std::string header = Http(gateway).chat().header("x-mock-gateway-diagnosis");
  CHECK(header.size() > 20);
  CHECK(header.size() < 510);
  for (const char byte : header) CHECK((byte >= ' ' && byte <= '~'));
}

}  // namespace unmatched_test
