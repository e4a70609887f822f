#pragma once

// The kinds of problems that verify() found, and the codes of findings that review() found, for comparison; options of
// a gateway that leaves its problems to the test.

#include <string>
#include <vector>

#include "mock_gateway.hpp"

namespace test_support {

/// Returns options of a gateway that prints no problems when it is destroyed.
inline mock_gateway::Options quiet() { return mock_gateway::Options{}.verify_on_destruction(false); }

inline std::vector<mock_gateway::Problem::Kind> kinds(const mock_gateway::Verification& verification) {
  std::vector<mock_gateway::Problem::Kind> kinds;
  for (const mock_gateway::Problem& issue : verification.problems()) kinds.push_back(issue.kind);
  return kinds;
}

/// Returns the codes of the findings with at least this severity: "request_refused unlisted_model".
inline std::string codes(const mock_gateway::Review& review,
                         mock_gateway::Severity least = mock_gateway::Severity::note) {
  std::string all;
  for (const mock_gateway::Finding& finding : review.findings())
    if (finding.severity >= least) all += (all.empty() ? "" : " ") + finding.code;
  return all;
}

}  // namespace test_support
