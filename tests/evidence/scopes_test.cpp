// verify() for one of several tests that share a gateway, separated by key or by header.

#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/verification.hpp"

namespace scopes_test {

using namespace mock_gateway;
using test_support::Http;
using test_support::kinds;

using Kind = Problem::Kind;

TEST_CASE("tests that share a gateway are separated by key, in stubs and in verify()") {
  Gateway gateway;
  const CreatedKey mine = gateway.keys().create("mine");
  const CreatedKey other = gateway.keys().create("other");
  const Http my_http = Http(gateway).with_key(mine.secret);
  const Http other_http = Http(gateway).with_key(other.secret);
  gateway.chat().when(key_is(mine.id), user_says("a")).expect(1).reply("for me");
  gateway.chat().named("theirs").when(key_is("other"), user_says("b")).expect(1).reply("for them");

  CHECK(my_http.ask("a") == "for me");
  CHECK(gateway.verify(mine.id));
  CHECK(other_http.chat("a").status == 422);
  CHECK(gateway.journal().last().decision().detail.find("theirs") != std::string::npos);
  CHECK(gateway.journal().last().decision().detail.find(mine.id) == std::string::npos);
  CHECK(gateway.verify(mine.id));
  CHECK(kinds(gateway.verify("other")) == std::vector<Kind>{Kind::unmatched, Kind::unmet_expectation});
  // A key without stubs gets the default reply, as if the gateway had no stubs.
  CHECK(Http(gateway).chat("a").status == 200);
  CHECK(gateway.journal().in(mine.id).size() == 1);
  CHECK_FALSE(gateway.verify());
  CHECK_THROWS_AS(static_cast<void>(gateway.verify(mine.secret)), GatewayError);
}

TEST_CASE("tests that share a gateway are separated by header, in stubs and in verify()") {
  Gateway gateway;
  const Http mine = Http(gateway).with_header("X-Test", "7");
  const Http other = Http(gateway).with_header("X-Test", "8");
  gateway.chat().when(header_is("x-test", "7")).reply("for me");
  gateway.chat().when(header_is("x-test", "8"), user_says("b")).reply("for them");
  CHECK(mine.ask("a") == "for me");
  CHECK(other.chat("a").status == 422);
  CHECK(gateway.verify(with_header("X-TEST", "7")));
  CHECK(kinds(gateway.verify(with_header("x-test", "8"))) == std::vector<Kind>{Kind::unmatched});
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("an expectation of one test is explained only by that test's requests") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const CreatedKey mine = gateway.keys().create("mine");
  const CreatedKey other = gateway.keys().create("other");
  gateway.chat().named("mine").when(key_is("mine"), user_says("Hi")).expect(1).reply("x");
  gateway.chat().named("other").when(key_is("other")).reply("y");
  Http(gateway).with_key(mine.secret).chat("No");
  Http(gateway).with_key(other.secret).chat("Hi");
  const std::string message = gateway.verify(mine.id).message();
  CAPTURE(message);
  CHECK(message.find("\"mine\"") != std::string::npos);
  CHECK(message.find("exchange 1") != std::string::npos);
  CHECK(message.find("exchange 2") == std::string::npos);
}

TEST_CASE("a stub for a header belongs to the test with that header") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(header_is("X-Test", "a")).expect(1).reply("x");
  CHECK_FALSE(gateway.verify(with_header("X-Test", "a")));
  CHECK(gateway.verify(with_header("X-Test", "b")));
  CHECK(gateway.verify(gateway.keys().list().front().id));
  Http(gateway).with_header("X-Test", "a").chat();
  CHECK(gateway.verify(with_header("X-Test", "a")));
}

TEST_CASE("a stub for a key belongs to that key's test in every way to write the condition") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const CreatedKey mine = gateway.keys().create("mine");
  SUBCASE("combined with another matcher") {
    gateway.chat().when(key_is(mine.id) && user_says("x")).expect(1).reply("x");
  }
  SUBCASE("as the second matcher") {
    gateway.chat().when(header_is("x-test", "1"), key_is(mine.id)).expect(1).reply("x");
  }
  SUBCASE("by the description of the key") { gateway.chat().when(key_is("mine")).expect(1).reply("x"); }
  CHECK(kinds(gateway.verify(mine.id)) == std::vector<Kind>{Kind::unmet_expectation});
  CHECK(kinds(gateway.verify("mine")) == std::vector<Kind>{Kind::unmet_expectation});
  CHECK(Http(gateway).chat().status == 200);  // the default reply: the stub is not for this key
}

TEST_CASE("a scope that cannot cover any request throws") {
  Gateway gateway;
  CHECK_THROWS_AS(static_cast<void>(gateway.verify("no such key")), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(with_header("authorization", "Bearer x")), GatewayError);
  for (const char* masked : {"Proxy-Authorization", "cookie", "x-api-key", "X-Goog-Api-Key", "x-auth-token"}) {
    INFO(masked);
    CHECK_THROWS_AS(static_cast<void>(with_header(masked, "1")), GatewayError);
  }
  CHECK_THROWS_AS(static_cast<void>(with_header("x test", "1")), GatewayError);
}

}  // namespace scopes_test
