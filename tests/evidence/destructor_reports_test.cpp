// The report of the gateway's destructor if the test did not call verify().

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace destructor_reports_test {

using namespace mock_gateway;
using test_support::Http;

/// Collects the reports of destructors. Replaces this program's adapter while it is in scope.
class Collected {
 public:
  Collected() {
    reports().clear();
    detail::set_reporter([](const detail::Report& report) {
      reports().push_back(report);
      return true;
    });
  }
  ~Collected() { detail::set_reporter(before_); }
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;
  static std::vector<detail::Report>& reports() {
    static std::vector<detail::Report> reports;
    return reports;
  }

 private:
  detail::Reporter before_ = detail::reporter();
};

TEST_CASE("the gateway's destructor reports unread problems at the line of the gateway") {
  const Collected collected;
  const auto& reports = Collected::reports();
  SUBCASE("an unmatched request") {
    int line = 0;
    {
      Gateway gateway;
      line = __LINE__ - 1;
      gateway.chat().when(user_says("a")).reply("x");
      Http(gateway).chat("b");
    }
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].where.to_string() == "destructor_reports_test.cpp:" + std::to_string(line));
    CHECK(reports[0].text.find("no stub matched  POST") == 0);
    CHECK_FALSE(reports[0].unwinding);
  }
  SUBCASE("problems since the last verify(), but not problems that the test has read") {
    {
      Gateway gateway;
      gateway.chat().when(user_says("a")).reply("x");
      Http(gateway).chat("b");
      CHECK_FALSE(gateway.verify());
    }
    CHECK(reports.empty());
    {
      Gateway gateway;
      gateway.chat().when(user_says("a")).reply("x");
      Http(gateway).chat("b");
      CHECK_FALSE(gateway.verify());
      Http(gateway).chat("c");
    }
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].text.find("\"c\"") != std::string::npos);
    CHECK(reports[0].text.find("\"b\"") == std::string::npos);
  }
  SUBCASE("an expectation whose stub was called again since the test read it") {
    for (const int calls_since : {0, 1, 2}) {
      CAPTURE(calls_since);
      Collected::reports().clear();
      {
        Gateway gateway;
        gateway.chat().expect(3).reply("x");
        Http(gateway).chat();
        CHECK(gateway.verify().problems().size() == 1);
        for (int i = 0; i < calls_since; ++i) Http(gateway).chat();
      }
      CHECK(reports.size() == (calls_since == 1 ? 1 : 0));  // two more calls satisfy it
      if (!reports.empty()) CHECK(reports[0].text.find("expected 3 calls, got 2") != std::string::npos);
    }
  }
  SUBCASE("a connection fault that was used again since the test read it") {
    for (const int connections_since : {0, 1}) {
      CAPTURE(connections_since);
      Collected::reports().clear();
      {
        Gateway gateway;
        gateway.next_connection(close_on_accept(), 3);
        CHECK(gateway.verify().problems().size() == 1);
        for (int i = 0; i < connections_since; ++i) test_support::RawConnection(gateway).receive_all();
      }
      REQUIRE(reports.size() == static_cast<std::size_t>(connections_since));
      if (!reports.empty()) CHECK(reports[0].text.find("2 of 3 are left") != std::string::npos);
    }
  }
  SUBCASE("problems of a verify() whose result was discarded") {
    {
      Gateway gateway;
      gateway.chat().when(user_says("a")).expect(1).reply("x");
      static_cast<void>(gateway.verify());
    }
    CHECK(reports.size() == 1);
  }
  SUBCASE("problems during an exception") {
    const auto throwing = [] {
      Gateway gateway;
      gateway.chat().expect(1).reply("x");
      throw std::runtime_error("the test failed");
    };
    CHECK_THROWS_AS(throwing(), std::runtime_error);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].unwinding);
  }
  SUBCASE("problems of a moved gateway once") {
    {
      Gateway gateway;
      gateway.chat().expect(1).reply("x");
      Gateway moved = std::move(gateway);
      gateway = Gateway();
      gateway.chat().expect(2).reply("x");
      gateway = std::move(moved);
      CHECK(reports.size() == 1);
      CHECK(reports[0].text.find("expected 2 calls") != std::string::npos);
    }
    CHECK(reports.size() == 2);
  }
  SUBCASE("nothing, if disabled") {
    {
      Gateway gateway{Options{}.verify_on_destruction(false)};
      gateway.chat().expect(1).reply("x");
    }
    CHECK(reports.empty());
  }
  SUBCASE("nothing, after a reset") {
    {
      Gateway gateway;
      gateway.chat().when(user_says("a")).expect(1).reply("x");
      Http(gateway).chat("b");
      gateway.reset();
    }
    CHECK(reports.empty());
  }
}

}  // namespace destructor_reports_test
