// A stub, and a request beside it, as data.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/source_location.hpp"

namespace mock_gateway {

/// A stub, as evidence names it.
struct StubReference {
  /// Counts the gateway's stubs from 1; 0: no stub.
  std::uint64_t id = 0;
  /// The name that it was given; empty without one.
  std::string name{};
  /// As texts name it: `"weather question" (agent_test.cpp:41)`.
  std::string title{};
  /// Where it was written.
  SourceLocation where{};
};

/// A request beside a stub that did not answer it, condition by condition.
struct NearMiss {
  /// A line of a report: a condition of the stub, or one within it.
  struct Condition {
    /// How deep it stands within "any of" and "not"; 0: it is one of the stub's own.
    std::size_t depth = 0;
    /// Whether it holds; empty when that depends on a function of the test, which is not asked again.
    std::optional<bool> holds{};
    /// What the condition says: `user text contains "weather"`.
    std::string expected{};
    /// What was there instead; empty when there is nothing to say.
    std::string actual{};
  };
  /// The exchange that the request began.
  std::uint64_t exchange = 0;
  /// The stub that did not answer it.
  StubReference stub{};
  /// How many conditions the stub has, and how many of them hold; those within another do not count.
  std::size_t matched = 0;
  std::size_t total = 0;
  /// Why the stub did not answer, whatever it matches: "exhausted after 1 call". Empty: a condition is the reason.
  std::string passed_over{};
  /// The stub's conditions, in order; those within another follow it.
  std::vector<Condition> conditions{};
};

}  // namespace mock_gateway
