// Tests of the codes in console addresses, on a clock that only the tests advance.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "control/session_codes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using mock_gateway::endpoint::SessionCodes;
using Verdict = SessionCodes::Verdict;
using namespace std::chrono_literals;

/// The codes of a program, on a clock that only the test advances.
struct Codes {
  SessionCodes::Clock::time_point now = SessionCodes::Clock::now();
  SessionCodes codes{[this] { return now; }};
  std::vector<std::string> shown;

  void renew(bool seen = true) {
    codes.renew([this, seen](const std::string& code) {
      shown.push_back(code);
      return seen;
    });
  }
};

TEST_CASE("a code is valid once, for less than a minute") {
  Codes at;
  for (const auto age : {0ns, std::chrono::nanoseconds(30s), std::chrono::nanoseconds(60s) - 1ns}) {
    CAPTURE(age.count());
    const std::string code = at.codes.make();
    at.now += age;
    CHECK(at.codes.take(code) == Verdict::good);
    CHECK(at.codes.take(code) == Verdict::used);
    at.now += 60s;
    CHECK(at.codes.take(code) == Verdict::used);
  }
  for (const auto age : {std::chrono::nanoseconds(60s), std::chrono::nanoseconds(24h)}) {
    CAPTURE(age.count());
    const std::string code = at.codes.make();
    at.now += age;
    CHECK(at.codes.take(code) == Verdict::late);
    CHECK(at.codes.take(code) == Verdict::late);
  }
}

TEST_CASE("an unknown code is refused and does not use up a valid code") {
  Codes at;
  Codes another;
  const std::string code = at.codes.make();
  for (const std::string& guess : {std::string(), code.substr(1), code.substr(0, code.size() - 1), code + "A",
                                   std::string(code.size(), 'A'), code + std::string(1, '\0'), another.codes.make()})
    CHECK(at.codes.take(guess) == Verdict::unknown);
  CHECK(at.codes.take(code) == Verdict::good);
}

TEST_CASE("codes have 192 random bits and differ") {
  Codes at;
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) {
    const std::string code = at.codes.make();
    CHECK(code.size() == 32);
    CHECK(code.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
          std::string::npos);
    all.insert(code);
  }
  CHECK(all.size() == 1000);
}

TEST_CASE("a fresh code is shown at most once in five seconds") {
  Codes at;
  at.renew();
  at.renew();
  at.now += 5s - 1ns;
  at.renew();
  REQUIRE(at.shown.size() == 1);
  at.now += 1ns;
  at.renew();
  REQUIRE(at.shown.size() == 2);
  CHECK(at.codes.take(at.shown[0]) == Verdict::good);
  CHECK(at.codes.take(at.shown[1]) == Verdict::good);
}

TEST_CASE("a fresh code that was never shown is invalid, and the next code is shown at once") {
  Codes at;
  at.renew(false);
  at.renew();
  at.renew();
  REQUIRE(at.shown.size() == 2);
  CHECK(at.codes.take(at.shown[0]) == Verdict::unknown);
  CHECK(at.codes.take(at.shown[1]) == Verdict::good);
}

TEST_CASE("only one of many parallel exchanges of a code gets the token; fresh codes are shown one at a time") {
  Codes at;
  for (int round = 0; round < 100; ++round) {
    at.now += 5s;
    at.shown.clear();
    const std::string code = at.codes.make();
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        if (at.codes.take(code) == Verdict::good) ++good;
        at.renew();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(good == 1);
    CHECK(at.shown.size() == 1);
  }
}

TEST_CASE("with very many codes the oldest are forgotten") {
  Codes at;
  const std::string first = at.codes.make();
  for (int i = 0; i < 99; ++i) at.codes.make();
  CHECK(at.codes.take(first) == Verdict::good);
  at.codes.make();
  CHECK(at.codes.take(first) == Verdict::unknown);
}

}  // namespace
