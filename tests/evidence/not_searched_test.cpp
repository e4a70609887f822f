// Problems about conditions that hold only because a text was too long to be searched by a pattern.

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace not_searched_test {

using namespace mock_gateway;
using test_support::Http;

const TextMatcher secrets = matches_regex("secret");
/// Conditions on a prompt that mean the same.
const std::vector<Matcher> patterns = {user_says(secrets), any_at("/messages", json_text_at("/content", secrets)),
                                       !any_at("/messages", has_field("role"), !json_text_at("/content", secrets))};

void check_problems(const Matcher& pattern) {
  const std::string secret = std::string(70000, 'a') + " secret";
  const auto problems = [&](const std::function<void(Gateway&)>& mount, const std::string& said) {
    Gateway gateway(Options().verify_on_destruction(false));
    gateway.chat().reply("Hello.");
    mount(gateway);
    Http(gateway).ask(said);
    return gateway.verify();
  };
  const auto never = [&](Gateway& gateway) { gateway.chat().named("leak").when(pattern).never(); };
  const auto should = [&](Gateway& gateway) { gateway.chat().named("safe").should(!pattern).reply("Hi."); };
  const auto negated = [&](Gateway& gateway) { gateway.chat().named("other").when(!pattern).reply("Hi."); };
  for (const auto& [name, mount, condition] :
       std::vector<std::tuple<std::string, std::function<void(Gateway&)>, std::string>>{
           {"leak", never, pattern.to_string()},
           {"safe", should, (!pattern).to_string()},
           {"other", negated, (!pattern).to_string()}}) {
    const Verification found = problems(mount, secret);
    REQUIRE(found.problems().size() == 1);
    const Problem& problem = found.problems()[0];
    CHECK(problem.kind == Problem::Kind::not_searched);
    CHECK(problem.stub.name == name);
    CHECK(problem.exchanges == std::vector<std::uint64_t>{1});
    const std::string title = "\"" + name + "\" (" + problem.where.to_string() + ")";
    CHECK(problem.text.find("a text was not searched  POST /v1/chat/completions") == 0);
    CHECK(problem.text.find("\n  its text was too long to be searched by a pattern of " + title +
                            ": more than 65,536 bytes, or 5,000,000 steps\n  ? " + condition) != std::string::npos);
    for (const VerifiedStub& stub : found.stubs()) CHECK_FALSE(stub.met);
    CHECK(problems(mount, "short"));
  }
}

TEST_CASE("a condition that holds only because a text was not searched is a problem") {
  for (const Matcher& pattern : patterns) check_problems(pattern);
}

TEST_CASE("a rule of chaos that strikes only because a text was not searched is a problem") {
  const std::string secret = std::string(70000, 'a') + " secret";
  const Matcher pattern = user_says(matches_regex("secret"));
  Gateway gateway(Options().verify_on_destruction(false));
  gateway.chaos(Chaos(overloaded()).when(pattern));  // does not strike, which the test sees
  gateway.chaos(Chaos(overloaded()).when(!pattern && stream_is(true)));
  gateway.chaos(Chaos(overloaded()).nth(2).when(!pattern));
  const Http http(gateway);
  CHECK(http.chat(Json(secret)).status == 200);
  CHECK(gateway.verify());
  CHECK(http.chat(Json(secret)).status == 529);
  const Verification found = gateway.verify();
  REQUIRE(found.problems().size() == 1);
  const Problem& problem = found.problems()[0];
  CHECK(problem.kind == Problem::Kind::not_searched);
  CHECK(problem.exchanges == std::vector<std::uint64_t>{2});
  CHECK(problem.stub.id == 0);
  CHECK(problem.text.find("\n  its text was too long to be searched by a pattern of rule 3 of chaos: more than 65,536 "
                          "bytes, or 5,000,000 steps\n  ? " +
                          (!pattern).to_string()) != std::string::npos);
}

void check_no_problems(const Matcher& pattern) {
  Gateway gateway;
  gateway.chat().reply("Hello.");
  gateway.chat().when(pattern && stream_is(true)).never();
  gateway.chat().when(pattern).reply("Secret.");  // another stub answers, which the test sees
  gateway.chat().when(!pattern && user_says("b")).reply("b");
  gateway.chat().when(pattern || user_says("x")).should(!pattern || user_says("x")).reply("x");
  CHECK(Http(gateway).ask(std::string(70000, 'a')) == "Hello.");
  CHECK(Http(gateway).ask("x" + std::string(70000, 'a')) == "x");
  CHECK(gateway.verify());
}

TEST_CASE("a text that was not searched is no problem where it decides nothing") {
  for (const Matcher& pattern : patterns) check_no_problems(pattern);
  Gateway gateway;
  const Json both = {{{"role", "user"}, {"content", "secret"}},
                     {{"role", "user"}, {"content", std::string(70000, 'a')}}};
  gateway.chat().when(patterns[1]).should(patterns[1]).reply("A secret.");  // another message decides
  CHECK(Http(gateway).chat({{"messages", both}}).text() == "A secret.");
  CHECK(gateway.verify());
  CHECK(gateway.journal().count(patterns[1]) == 1);
  CHECK_THROWS_AS(gateway.journal().count(patterns[2]), GatewayError);
}

}  // namespace not_searched_test
