// A program with its own printing of optionals and durations.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#define MOCK_GATEWAY_ADAPTER_DOCTEST
#define MOCK_GATEWAY_ADAPTER_NO_OPTIONAL
#define MOCK_GATEWAY_ADAPTER_NO_CHRONO
#include <chrono>
#include <optional>

#include "mock_gateway.hpp"

namespace doctest {

template <class T>
struct StringMaker<std::optional<T>> {
  static String convert(const std::optional<T>& value) { return value ? "some " + toString(*value) : String("none"); }
};

template <class Rep, class Period>
struct StringMaker<std::chrono::duration<Rep, Period>> {
  static String convert(const std::chrono::duration<Rep, Period>&) { return "a while"; }
};

}  // namespace doctest

TEST_CASE("the adapter leaves the printing of optionals to the program") {
  CHECK(doctest::toString(std::optional<mock_gateway::KeyState>()) == "none");
  CHECK(doctest::toString(std::optional(mock_gateway::KeyState::deleted)) == "some deleted");
}

TEST_CASE("the adapter leaves the printing of durations to the program") {
  CHECK(doctest::toString(mock_gateway::Duration(1)) == "a while");
}
