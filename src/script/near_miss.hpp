// A near miss as data: a request compared with a stub that did not answer it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/source_location.hpp"

namespace mock_gateway {

/// A reference to a stub in journal and reports.
struct StubReference {
  /// Number of the stub in its gateway, from 1; 0 if there is no stub.
  std::uint64_t id = 0;
  /// The stub's name; empty without one.
  std::string name{};
  /// Title in reports: `"weather question" (agent_test.cpp:41)`.
  std::string title{};
  /// Source location of the stub.
  SourceLocation where{};
};

/// A comparison of a request with a stub that did not answer it, condition by condition.
struct NearMiss {
  /// A line of a report: a condition of the stub, or a part of one.
  struct Condition {
    /// Nesting depth within "any of" and "not"; 0 for the stub's own conditions.
    std::size_t depth = 0;
    /// Whether it holds. Empty if that depends on a function of the test, which is not called again.
    std::optional<bool> holds{};
    /// Description of the condition: `user text contains "weather"`.
    std::string expected{};
    /// The actual value; may be empty.
    std::string actual{};
  };
  /// Exchange of the request.
  std::uint64_t exchange = 0;
  /// The stub that did not answer it.
  StubReference stub{};
  /// Number of conditions that hold, and of all; without nested conditions.
  std::size_t matched = 0;
  std::size_t total = 0;
  /// Why the stub cannot answer any request: "exhausted after 1 call". Empty if a condition is the reason.
  std::string passed_over{};
  /// The stub's conditions, in order. Nested conditions follow their parent.
  std::vector<Condition> conditions{};
};

}  // namespace mock_gateway
