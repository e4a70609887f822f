#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

// The tables that evidence_routes() joins, one per file.

std::vector<ControlRoute> key_routes();
std::vector<ControlRoute> clock_routes();
std::vector<ControlRoute> asked_routes();
std::vector<ControlRoute> journal_routes();
std::vector<ControlRoute> verdict_routes();
std::vector<ControlRoute> scope_routes();

/// Selects the requests of a scope, or all requests without a scope.
RequestScope requests_of(const std::optional<Scope>& scope);
/// Returns the deadline of a wait that starts now.
Waits::Moment deadline_of(Duration within);

}  // namespace endpoint
}  // namespace mock_gateway
