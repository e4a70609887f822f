// Reports of `serve` and `run` as JUnit: suites, names of cases.

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report.hpp"
#include "xml.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

struct Case {
  std::string name;
  SourceLocation where{};
  /// What failed it. None: it passed.
  std::vector<std::string> failures{};
  /// The kind of the first failure: a kind of problem, or the code of a finding.
  std::string type{};
  /// What was found and does not count.
  std::vector<std::string> output{};
  bool skipped = false;

  void add(bool fails, const std::string& kind, std::string text) {
    if (fails && failures.empty()) type = kind;
    (fails ? failures : output).push_back(std::move(text));
  }
};

std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : separator) + text;
  return all;
}

std::string first_line(const std::vector<std::string>& texts) {
  const std::string line = texts.front().substr(0, texts.front().find('\n'));
  return texts.size() == 1 ? line : line + " (and " + std::to_string(texts.size() - 1) + " more)";
}

std::string xml_of(const Case& one, const std::string& suite) {
  std::string xml = "    <testcase classname=\"mock-gateway." + suite + "\" name=\"" + escaped_for_xml(one.name) + "\"";
  if (is_in_script(one.where)) {
    xml += " file=\"" + escaped_for_xml(one.where.file) + "\" line=\"" + std::to_string(one.where.line) + "\"";
  }
  xml += " time=\"0\"";
  std::string inside;
  if (one.skipped) inside += "      <skipped message=\"left out by --without-finding\"/>\n";
  if (!one.failures.empty()) {
    inside += "      <failure message=\"" + escaped_for_xml(first_line(one.failures)) + "\" type=\"" +
              escaped_for_xml(one.type) + "\">" + escaped_lines(joined(one.failures, "\n\n")) + "</failure>\n";
  }
  if (!one.output.empty())
    inside += "      <system-out>" + escaped_lines(joined(one.output, "\n\n")) + "</system-out>\n";
  return xml + (inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n");
}

/// Names that are there twice get a number, so that readers that know cases by their names keep them apart.
void make_names_unique(std::vector<Case>& cases) {
  std::map<std::string, std::size_t> uses;
  for (Case& one : cases) {
    const std::size_t use = ++uses[one.name];
    if (use > 1) one.name += " [" + std::to_string(use) + "]";
  }
}

std::string suite_xml(const std::string& name, std::vector<Case> cases, const Results& results,
                      const std::vector<std::string>& output) {
  make_names_unique(cases);
  const auto failures =
      std::count_if(cases.begin(), cases.end(), [](const Case& one) { return !one.failures.empty(); });
  const auto skipped = std::count_if(cases.begin(), cases.end(), [](const Case& one) { return one.skipped; });
  std::string xml = "  <testsuite name=\"" + name + "\" tests=\"" + std::to_string(cases.size()) + "\" failures=\"" +
                    std::to_string(failures) + "\" errors=\"0\" skipped=\"" + std::to_string(skipped) +
                    "\" time=\"0\">\n    <properties>\n";
  for (const auto& [property, value] : {std::pair<const char*, std::size_t>{"judged", results.judged},
                                        {"evicted", results.evicted},
                                        {"open", results.open},
                                        {"reload_errors", results.reload_errors.size()}}) {
    xml += std::string("      <property name=\"") + property + "\" value=\"" + std::to_string(value) + "\"/>\n";
  }
  xml += "    </properties>\n";
  for (const Case& one : cases) xml += xml_of(one, name);
  if (!output.empty()) xml += "    <system-out>" + escaped_lines(joined(output, "\n")) + "</system-out>\n";
  return xml + "  </testsuite>\n";
}

/// The stub that a problem is about. Stubs of a script that stands on one line share their place; then the problem's
/// text has the title.
Case* case_of(const Problem& problem, std::vector<Case>& stubs) {
  Case* found = nullptr;
  for (Case& stub : stubs) {
    if (stub.where.line != problem.where.line || std::string_view(stub.where.file) != problem.where.file) continue;
    if (!found || problem.text.find(stub.name) != std::string::npos) found = &stub;
  }
  return found;
}

std::vector<Case> verify_cases(const Results& results) {
  std::vector<Case> cases;
  for (const JudgedStub& stub : results.stubs) cases.push_back({stub.title, stub.where});
  Case reached{"a request reached the gateway"};
  Case served{"a request was served"};
  Case answered{"every request was answered by a stub"};
  Case faults{"every fault was reached"};
  Case gates{"every gate was opened"};
  Case answers{"every answer could be made"};
  Case others{"every other expectation was met"};
  if (!results.reached) reached.add(missed(results), "not reached", remarks(results).front());
  if (results.only_refused) served.add(missed(results), "not served", remarks(results).front());
  for (const Problem& problem : results.problems) {
    Case* its = nullptr;
    switch (problem.kind) {
      case Problem::Kind::unmatched: its = &answered; break;
      case Problem::Kind::fault_not_reached:
      case Problem::Kind::place_not_reached: its = &faults; break;
      case Problem::Kind::guard_expired: its = &gates; break;
      case Problem::Kind::callback_failed:
      case Problem::Kind::answer_failed: its = &answers; break;
      case Problem::Kind::unmet_expectation:
      case Problem::Kind::invalid:
      case Problem::Kind::out_of_order: its = case_of(problem, cases); break;
    }
    (its ? *its : others).add(counts(results, problem), to_string(problem.kind), problem.text);
  }
  for (Case* one : {&reached, &served, &answered, &faults, &gates, &answers, &others}) cases.push_back(std::move(*one));
  return cases;
}

std::vector<Case> review_cases(const Results& results) {
  std::vector<Case> cases;
  for (const std::string& code : finding_codes()) {
    Case one{code};
    one.skipped = std::find(results.left_out.begin(), results.left_out.end(), code) != results.left_out.end();
    for (const Finding& finding : results.findings) {
      if (finding.code != code) continue;
      std::string text = finding.message;
      for (std::size_t i = 0; i < finding.exchanges.size(); ++i)
        text += (i == 0 ? "\nexchange " : ", ") + std::to_string(finding.exchanges[i]);
      one.add(counts(results, finding), finding.code, std::move(text));
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace

std::string report_junit(const Results& results) {
  std::vector<std::string> output = failed(results) ? results.notes : std::vector<std::string>();
  for (const std::string& remark : remarks(results)) output.push_back(remark);
  output.push_back(conclusion(results));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mock-gateway\">\n" +
         suite_xml("verify", verify_cases(results), results, output) +
         suite_xml("review", review_cases(results), results, {}) + "</testsuites>\n";
}

}  // namespace endpoint
}  // namespace mock_gateway
