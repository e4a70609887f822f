// What docs/changelog.md says has another name and can still be written does what it did; the compiler says the new
// one.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace former_names_test {

using namespace mock_gateway;
using test_support::Http;

TEST_CASE("names of former versions do what they did") {
  Gateway gateway(Options().verify_on_destruction(false));
  gateway.chat().reply("Always.");
  gateway.chat().at_most(1).reply(text("Once.").fail(after_tokens(1), duplicate_event()));
  const Http http(gateway);
  CHECK(http.ask("Hi") == "Once.");
  CHECK(http.ask("Hi") == "Always.");

  const std::string id = gateway.keys().list().at(0).id;
  gateway.keys().describe(id, "mine");
  CHECK(gateway.keys().find(id).description == "mine");

  gateway.chat().when(user_says("never said")).expect(1).reply("Never.");
  const std::vector<VerificationIssue> issues = gateway.verify().issues();
  REQUIRE(issues.size() == gateway.verify().problems().size());
  CHECK(issues.back().text == gateway.verify().problems().back().text);
  CHECK(gateway
            .sweep(
                text("Hi"), [&] { http.stream(); }, splits().at_most(2))
            .size() == 2);
  CHECK(Chaos(server_error()).every(3).to_string() == Chaos(server_error()).nth(3).to_string());
  const ConnectionFault::Place moment = reset_on_accept().place();
  CHECK(moment == reset_on_accept().moment());
  const Place place = before_token(2);
  CHECK(place.to_string() == before_token(2).to_string());
  CHECK(at_least(2).describe() == at_least(2).to_string());
  CHECK(user_says("a").describe() == user_says("a").to_string());
  CHECK(TextMatcher("a").describe() == TextMatcher("a").to_string());
  CHECK(RequestScope("key").describe() == RequestScope("key").to_string());

  const Scenario& scenario = catalogue().front();
  Gateway other(Options().verify_on_destruction(false));
  scenario.mount(other);
  const Http asking = Http(other).allow_incomplete();
  asking.stream();
  CHECK(scenario.befell(other.journal().last()) == scenario.happened_to(other.journal().last()));
  CHECK_FALSE(scenario.befell(gateway.journal().last()));
}

}  // namespace former_names_test
