#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

// The tables that evidence_routes() joins, one for each file.

std::vector<ControlRoute> key_routes();
std::vector<ControlRoute> clock_routes();
std::vector<ControlRoute> asked_routes();
std::vector<ControlRoute> journal_routes();
std::vector<ControlRoute> verdict_routes();
std::vector<ControlRoute> scope_routes();

/// The requests of a scope; without one, every request.
RequestScope requests_of(const std::optional<Scope>& scope);
/// The moment at which a wait that the query asks for ends, `within` from now.
Waits::Moment deadline_of(Duration within);

}  // namespace endpoint
}  // namespace mock_gateway
