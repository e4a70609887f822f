// Reports of `serve` and `run` as JUnit: suites and names of cases.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report.hpp"
#include "xml.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using Cases = std::vector<JUnitCase>;

/// Returns the case of the problem's stub. Stubs on the same line of a script are distinguished by their title in the
/// problem's text.
JUnitCase* case_of(const Problem& problem, Cases& stubs) {
  JUnitCase* found = nullptr;
  for (JUnitCase& stub : stubs) {
    if (stub.where.line != problem.where.line || std::string_view(stub.where.file) != problem.where.file) continue;
    if (!found || problem.text.find(stub.name) != std::string::npos) found = &stub;
  }
  return found;
}

Cases verify_cases(const Results& results) {
  Cases cases;
  for (const JudgedStub& stub : results.stubs) cases.push_back({stub.title, "0", stub.where});
  JUnitCase reached{"a request reached the gateway"};
  JUnitCase served{"a request was served"};
  JUnitCase answered{"every request was answered by a stub"};
  JUnitCase faults{"every fault was reached"};
  JUnitCase gates{"every gate was opened"};
  JUnitCase answers{"every answer could be generated"};
  JUnitCase others{"every other expectation was met"};
  if (!results.reached) reached.add(missed(results), "not reached", remarks(results).front());
  if (results.only_refused) served.add(missed(results), "not served", remarks(results).front());
  for (const Problem& problem : results.problems) {
    JUnitCase* its = nullptr;
    switch (problem.kind) {
      case Problem::Kind::unmatched: its = &answered; break;
      case Problem::Kind::fault_not_reached:
      case Problem::Kind::place_not_reached: its = &faults; break;
      case Problem::Kind::guard_expired: its = &gates; break;
      case Problem::Kind::callback_failed:
      case Problem::Kind::answer_failed: its = &answers; break;
      case Problem::Kind::not_searched:
      case Problem::Kind::unmet_expectation:
      case Problem::Kind::invalid:
      case Problem::Kind::out_of_order: its = case_of(problem, cases); break;
    }
    (its ? *its : others).add(counts(results, problem), to_string(problem.kind), problem.text);
  }
  for (JUnitCase* one : {&reached, &served, &answered, &faults, &gates, &answers, &others})
    cases.push_back(std::move(*one));
  return cases;
}

void add(JUnitCase& one, const Results& results, const Finding& finding) {
  std::string text = finding.message;
  for (std::size_t i = 0; i < finding.exchanges.size(); ++i)
    text += (i == 0 ? "\nexchange " : ", ") + std::to_string(finding.exchanges[i]);
  one.add(counts(results, finding), finding.code, text);
}

Cases scope_cases(const Results& results) {
  Cases cases;
  for (const ClosedScope& scope : results.scopes) {
    JUnitCase one{scope.name.empty() ? scope.id : scope.name};
    for (const Problem& problem : scope.problems)
      one.add(counts(results, problem), to_string(problem.kind), problem.text);
    for (const Finding& finding : scope.findings) add(one, results, finding);
    cases.push_back(std::move(one));
  }
  return cases;
}

Cases review_cases(const Results& results) {
  Cases cases;
  for (const std::string& code : finding_codes()) {
    JUnitCase one{code};
    if (std::find(results.left_out.begin(), results.left_out.end(), code) != results.left_out.end())
      one.skipped = "left out by --without-finding";
    for (const Finding& finding : results.findings)
      if (finding.code == code) add(one, results, finding);
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace

std::string report_junit(const Results& results) {
  const std::string attributes = " time=\"0\"";
  const std::vector<std::pair<const char*, std::size_t>> properties{{"judged", results.judged},
                                                                    {"evicted", results.evicted},
                                                                    {"open", results.open},
                                                                    {"reload_errors", results.reload_errors.size()}};
  std::string output;
  if (failed(results))
    for (const std::string& note : results.notes) output += note + "\n";
  for (const std::string& remark : remarks(results)) output += remark + "\n";
  std::vector<JUnitSuite> suites{
      {"verify", attributes, properties, verify_cases(results), output + conclusion(results)},
      {"review", attributes, properties, review_cases(results)}};
  if (!results.scopes.empty()) suites.push_back({"scopes", attributes, {}, scope_cases(results)});
  return junit_report("mock-gateway", "mock-gateway.", std::move(suites));
}

}  // namespace endpoint
}  // namespace mock_gateway
