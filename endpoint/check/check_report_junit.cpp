// Reports of `check` as JUnit: one suite per group, one case per scenario and form.

#include "../xml.hpp"
#include "check_report.hpp"

namespace mock_gateway {
namespace endpoint {

std::string check_report_junit(const CheckResults& results) {
  std::vector<JUnitSuite> suites;
  for (const Cell& cell : results.run.cells()) {
    if (suites.empty() || suites.back().name != cell.group) suites.push_back({cell.group});
    JUnitCase one{cell.id(), std::to_string(cell.result.seconds)};
    if (cell.mark == Mark::skipped)
      one.skipped = cell.why;
    else if (results.fails(cell))
      one.add(true, to_string(cell.mark), results.story(cell));
    else if (cell.accepted || cell.flaky)
      one.add(false, {}, results.story(cell));
    suites.back().cases.push_back(std::move(one));
  }
  JUnitCase baseline{"every line of the baseline is still true", std::to_string(0.0)};
  std::string lines = "no longer true:";
  for (const std::string& line : results.stale) lines += "\n" + line;
  if (!results.stale.empty()) baseline.add(true, "stale", lines);
  suites.push_back({"baseline", {}, {}, {std::move(baseline)}});
  return junit_report("mock-gateway check", "mock-gateway.check.", std::move(suites));
}

}  // namespace endpoint
}  // namespace mock_gateway
