#pragma once

#include <set>
#include <string>
#include <vector>

#include "check_flags.hpp"

namespace mock_gateway {
namespace endpoint {

struct ChosenScenarios {
  std::vector<Scenario> chosen;
  /// The names of all scenarios, chosen or not.
  std::set<std::string> names;
};

/// Returns the scenarios that the flags select; none for a sweep. Throws BadValue, ScriptError and GatewayError.
ChosenScenarios chosen_scenarios(const CheckFlags& flags);

}  // namespace endpoint
}  // namespace mock_gateway
