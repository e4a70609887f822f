// Reports of `check` as JUnit: a suite per group, a case per scenario and form.

#include "../xml.hpp"
#include "check_report.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

struct Suite {
  std::string name;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  std::string cases;
};

std::string case_of(const std::string& suite, const std::string& name, double seconds, const std::string& inside) {
  std::string xml = "    <testcase classname=\"mock-gateway.check." + escaped_for_xml(suite) + "\" name=\"" +
                    escaped_for_xml(name) + "\" time=\"" + std::to_string(seconds) + "\"";
  return xml + (inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n");
}

std::string failure_of(const std::string& type, const std::string& text) {
  return "      <failure message=\"" + escaped_for_xml(text.substr(0, text.find('\n'))) + "\" type=\"" +
         escaped_for_xml(type) + "\">" + escaped_lines(text) + "</failure>\n";
}

void add(Suite& suite, const CheckResults& results, const Cell& cell) {
  std::string inside;
  ++suite.tests;
  if (cell.mark == Mark::skipped) {
    ++suite.skipped;
    inside += "      <skipped message=\"" + escaped_for_xml(cell.why) + "\"/>\n";
  } else if (results.fails(cell)) {
    ++suite.failures;
    inside += failure_of(to_string(cell.mark), results.story(cell));
  } else if (cell.accepted || cell.flaky) {
    inside += "      <system-out>" + escaped_lines(results.story(cell)) + "</system-out>\n";
  }
  suite.cases += case_of(cell.group, cell.id(), cell.result.seconds, inside);
}

std::string xml_of(const Suite& suite) {
  return "  <testsuite name=\"" + escaped_for_xml(suite.name) + "\" tests=\"" + std::to_string(suite.tests) +
         "\" failures=\"" + std::to_string(suite.failures) + "\" errors=\"0\" skipped=\"" +
         std::to_string(suite.skipped) + "\">\n" + suite.cases + "  </testsuite>\n";
}

}  // namespace

std::string check_report_junit(const CheckResults& results) {
  std::vector<Suite> suites;
  for (const Cell& cell : results.run.cells()) {
    if (suites.empty() || suites.back().name != cell.group) suites.push_back({cell.group, 0, 0, 0, ""});
    add(suites.back(), results, cell);
  }
  Suite baseline{"baseline", 1, results.stale.empty() ? std::size_t{0} : std::size_t{1}, 0, ""};
  std::string lines = "no longer so:";
  for (const std::string& line : results.stale) lines += "\n" + line;
  baseline.cases = case_of("baseline", "every line of the baseline is still so", 0,
                           results.stale.empty() ? "" : failure_of("stale", lines));
  suites.push_back(std::move(baseline));
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mock-gateway check\">\n";
  for (const Suite& suite : suites) xml += xml_of(suite);
  return xml + "</testsuites>\n";
}

}  // namespace endpoint
}  // namespace mock_gateway
