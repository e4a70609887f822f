// A stub and its comparison with a request, as data.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/source_location.hpp"

namespace mock_gateway {

/// A reference to a stub in reports.
struct StubReference {
  /// The number of the stub within the gateway, from 1; 0: no stub.
  std::uint64_t id = 0;
  /// Its given name; empty for an unnamed stub.
  std::string name{};
  /// Its name in texts: `"weather question" (agent_test.cpp:41)`.
  std::string title{};
  SourceLocation where{};
};

/// The comparison of a request with a stub that did not answer it, by condition.
struct NearMiss {
  /// A line of a report: a condition of the stub, or one nested in it.
  struct Condition {
    /// The nesting depth within "any of" and "not"; 0 for the stub's own conditions.
    std::size_t depth = 0;
    /// Whether it holds; empty if that depends on a function of the test, which is not called again.
    std::optional<bool> holds{};
    /// The text of the condition: `user text contains "weather"`.
    std::string expected{};
    /// The actual value; empty if there is nothing to show.
    std::string actual{};
  };
  std::uint64_t exchange = 0;
  /// The stub that did not answer it.
  StubReference stub{};
  /// The number of the stub's conditions, and how many of them hold, without nested ones.
  std::size_t matched = 0;
  std::size_t total = 0;
  /// A reason other than a condition: "exhausted after 1 call". Empty: a condition is the reason.
  std::string passed_over{};
  /// In the stub's order. Nested conditions follow the condition that contains them.
  std::vector<Condition> conditions{};
};

}  // namespace mock_gateway
