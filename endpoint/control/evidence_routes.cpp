// Joins the tables of routes about evidence; helpers that they share.

#include "evidence_routes.hpp"

#include <chrono>
#include <utility>

namespace mock_gateway {
namespace endpoint {

std::vector<ControlRoute> evidence_routes() {
  std::vector<ControlRoute> all;
  for (const auto& routes :
       {key_routes(), clock_routes(), asked_routes(), journal_routes(), verdict_routes(), scope_routes()})
    all.insert(all.end(), routes.begin(), routes.end());
  return all;
}

RequestScope requests_of(const std::optional<Scope>& scope) { return scope ? RequestScope(scope->id) : RequestScope(); }

Waits::Moment deadline_of(Duration within) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<Waits::Moment::duration>(within);
}

}  // namespace endpoint
}  // namespace mock_gateway
