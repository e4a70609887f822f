// The limit of problems that the gateway keeps. verify() reports the number and kind of further problems to the test
// with the key or header of their requests.

#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace kept_problems_test {

using namespace mock_gateway;
using test_support::Http;

TEST_CASE("problems over the limit are counted") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("a")).reply("x");
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 103; ++i) http.chat("b");
  const Verification verification = gateway.verify();
  CHECK(verification.problems().size() == 101);
  CHECK(verification.problems().back().text == "and 3 more problems of exchanges, not kept (unmatched)");
  CHECK(verification.message().find("\n\nand 81 more\nnever called: ") != std::string::npos);
}

TEST_CASE("problems over the limit are counted for the tests with their key or header") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("a")).reply("x");
  const CreatedKey key = gateway.keys().create("other");
  const Http http = Http(gateway).keep_alive();
  const auto ask = [](const Http& client, int times, const char* test) {
    const Http its = client.with_header("X-Test", test).with_header("x-test", test);
    for (int i = 0; i < times; ++i) its.chat("b");
  };
  const auto counts = [&gateway](const RequestScope& scope) {
    const Verification verification = gateway.verify(scope);
    return std::to_string(verification.problems().size()) + " " +
           (verification ? "" : verification.problems().back().text.substr(0, 14));
  };
  ask(http, 103, "noisy");
  ask(http, 2, "late");
  CHECK(counts(with_header("x-test", "noisy")) == "101 and 3 more pro");
  CHECK(counts(with_header("X-TEST", "late")) == "1 and 2 more pro");
  CHECK(counts(with_header("x-test", "LATE")) == "0 ");
  CHECK(counts(with_header("x-test", "none")) == "0 ");
  CHECK(counts(key.id) == "0 ");
  CHECK(counts({}) == "101 and 5 more pro");
  ask(http.with_key(key.secret), 101, "late");
  CHECK(counts(with_header("x-test", "late")) == "101 and 3 more pro");
  CHECK(counts("other") == "101 and 1 more pro");
  CHECK(counts({}) == "201 and 6 more pro");
}

TEST_CASE("each kind of problem has its own limit and its own count") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("a")).should(temperature_is(0)).reply("x");
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 102; ++i) http.chat("b");
  for (int i = 0; i < 101; ++i) http.chat("a");
  const std::vector<Problem> problems = gateway.verify().problems();
  REQUIRE(problems.size() == 202);
  CHECK(problems[200].kind == Problem::Kind::unmatched);
  CHECK(problems[200].text == "and 2 more problems of exchanges, not kept (unmatched)");
  CHECK(problems[201].kind == Problem::Kind::invalid);
  CHECK(problems[201].text == "and 1 more problem of exchanges, not kept (invalid)");
}

TEST_CASE("a stub fails even if its only problem exceeds the limit and is not kept") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  for (const char* text : {"a", "b", "c"}) gateway.chat().when(user_says(text)).should(temperature_is(0)).reply("x");
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 100; ++i) http.chat("a");
  http.chat("b");
  const std::vector<VerifiedStub> stubs = gateway.verify().stubs();
  REQUIRE(stubs.size() == 3);
  CHECK_FALSE(stubs[0].met);
  CHECK_FALSE(stubs[1].met);
  CHECK(stubs[2].met);
}

TEST_CASE("if there are too many header fields to count, verify() reports that a test may have more problems") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("a")).reply("x");
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 100; ++i) http.chat("b");
  http.with_header("X-Test", "early").chat("b");
  for (int i = 0; i < 150; ++i) {
    Http different = http;
    for (int field = 0; field < 80; ++field)
      different = different.with_header("X-" + std::to_string(field), std::to_string(i));
    different.chat("b");
  }
  http.with_header("X-Test", "early").chat("b");
  http.with_header("X-Test", "late").chat("b");
  const std::vector<Problem> early = gateway.verify(with_header("x-test", "early")).problems();
  REQUIRE(early.size() == 1);
  CHECK(early[0].text == "and 2 more problems of exchanges, not kept (unmatched)");
  const std::vector<Problem> late = gateway.verify(with_header("x-test", "late")).problems();
  REQUIRE(late.size() == 1);
  CHECK(late[0].text ==
        "and perhaps more problems of exchanges, not kept (unmatched), with too many header fields for an exact count");
  CHECK(gateway.verify().problems().back().text == "and 153 more problems of exchanges, not kept (unmatched)");
  const Http other = http.with_key(gateway.keys().create("other").secret).with_header("X-Test", "early");
  for (int i = 0; i < 101; ++i) other.chat("b");
  const std::vector<Problem> of_both = gateway.verify(with_header("x-test", "early")).problems();
  REQUIRE(of_both.size() == 101);
  CHECK(of_both.back().text ==
        "and at least 2 more problems of exchanges, not kept (unmatched), with too many header fields for an exact "
        "count");
}

}  // namespace kept_problems_test
