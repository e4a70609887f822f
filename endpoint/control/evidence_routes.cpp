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

ControlError error_of(const std::string& code, std::vector<ScriptProblem> problems) {
  constexpr std::size_t most = 20;
  if (problems.size() > most) problems.erase(problems.begin() + most, problems.end());
  std::string text;
  for (const ScriptProblem& problem : problems) text += (text.empty() ? "" : "\n") + problem.to_string();
  return {400, code, text, std::move(problems)};
}

RequestScope requests_of(const std::optional<Scope>& scope) { return scope ? RequestScope(scope->id) : RequestScope(); }

Waits::Moment deadline_of(Duration within) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<Waits::Moment::duration>(within);
}

}  // namespace endpoint
}  // namespace mock_gateway
