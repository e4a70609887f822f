// A program that prints optionals its own way.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#define MOCK_GATEWAY_ADAPTER_DOCTEST
#define MOCK_GATEWAY_ADAPTER_NO_OPTIONAL
#include <optional>

#include "mock_gateway.hpp"

namespace doctest {

template <class T>
struct StringMaker<std::optional<T>> {
  static String convert(const std::optional<T>& value) { return value ? "some " + toString(*value) : String("none"); }
};

}  // namespace doctest

TEST_CASE("the adapter leaves the printing of optionals to the program") {
  CHECK(doctest::toString(std::optional<mock_gateway::KeyState>()) == "none");
  CHECK(doctest::toString(std::optional(mock_gateway::KeyState::deleted)) == "some deleted");
}
