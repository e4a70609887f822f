#pragma once

// The kinds of problems that verify() found, for comparison.

#include <vector>

#include "mock_gateway.hpp"

namespace test_support {

inline std::vector<mock_gateway::Problem::Kind> kinds(const mock_gateway::Verification& verification) {
  std::vector<mock_gateway::Problem::Kind> kinds;
  for (const mock_gateway::Problem& issue : verification.problems()) kinds.push_back(issue.kind);
  return kinds;
}

}  // namespace test_support
