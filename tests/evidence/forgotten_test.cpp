// Internal storage that is freed when a test is forgotten or a list is cleared. Reports do not show it.

#include <string>
#include <utility>

#include "mock_gateway.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"

namespace forgotten_test {

using namespace mock_gateway;

/// Returns a problem of a request with this key in X-Test and with `fields` further header fields.
inline detail::RecordedProblem problem_of(const std::string& key, int number, int fields) {
  detail::RecordedProblem problem;
  problem.request.key_id = key;
  for (int field = 0; field < fields; ++field)
    problem.request.headers.add("X-" + std::to_string(field), key + std::to_string(number));
  problem.request.headers.add("X-Test", key);
  return problem;
}

TEST_CASE("forgetting a test frees its counted header fields for the next test") {
  detail::KeptProblems problems;
  // The gateway keeps a hundred problems per key. It counts the others by their header fields, up to ten thousand
  // fields.
  for (const char* const test : {"first", "second", "third"}) {
    CAPTURE(test);
    for (int number = 0; number < 180; ++number) problems.add(problem_of(test, number, 100));
    const auto dropped = problems.dropped(with_header("X-Test", test));
    REQUIRE(dropped.size() == 1);
    CHECK(dropped[0].count == 80);
    CHECK_FALSE(dropped[0].is_least);
    CHECK(problems.forget(RequestScope(test)).size() == 100);
    CHECK(problems.dropped(RequestScope(test)).empty());
  }
  for (int number = 0; number < 180; ++number) problems.add(problem_of("cleared", number, 100));
  CHECK(problems.clear().size() == 100);
  for (int number = 0; number < 180; ++number) problems.add(problem_of("after", number, 100));
  CHECK(problems.dropped(with_header("X-Test", "after")).at(0).count == 80);
}

TEST_CASE("a connection fault that is given back strikes the next connection unless the faults were cleared") {
  detail::ConnectionFaults faults;
  for (const bool is_cleared : {false, true}) {
    faults.add(reset_on_accept(), 1, {});
    auto taken = faults.take_on_accept();
    REQUIRE(taken);
    CHECK_FALSE(faults.take_on_accept());
    if (is_cleared) faults.clear();
    faults.give_back(std::move(*taken));
    CHECK(faults.left().size() == (is_cleared ? 0 : 1));
    CHECK(faults.take_on_accept().has_value() != is_cleared);
  }
  // A fault of script 1 is lost if script 1 is removed, and stays if script 2 is removed.
  for (const std::uint64_t gone : {1U, 2U}) {
    faults.add(reset_on_accept(), 1, {}, 1);
    auto of_script = faults.take_on_accept();
    REQUIRE(of_script);
    CHECK_FALSE(faults.take_on_request(false));
    faults.clear_of(gone);
    faults.give_back(std::move(*of_script));
    CHECK(faults.take_on_accept().has_value() == (gone == 2));
  }
  // give_back() increases the number of connections that the fault will still strike by one.
  faults.add(reset_on_accept(), 2, {});
  auto taken = faults.take_on_accept();
  REQUIRE(taken);
  faults.give_back(std::move(*taken));
  CHECK(faults.left().at(0).left == 2);
}

}  // namespace forgotten_test
