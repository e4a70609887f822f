// What `--fail-on` counts; the conclusion ("failed: 1 problem"); remarks.

#include "results.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace mock_gateway {
namespace endpoint {
namespace {

/// Returns the number of items with the property, those of closed scopes included.
template <class Item, class Is>
std::size_t number_of(const Results& results, std::vector<Item> Judged::*items, const Is& is) {
  const auto in = [&](const Judged& judged) {
    return static_cast<std::size_t>(std::count_if((judged.*items).begin(), (judged.*items).end(), is));
  };
  std::size_t number = in(results);
  for (const ClosedScope& scope : results.scopes) number += in(scope);
  return number;
}

}  // namespace

bool counts(const Results& results, const Problem& problem) {
  if (results.fail_on == "unmatched") return problem.kind == Problem::Kind::unmatched;
  return results.fail_on != "never";
}

bool counts(const Results& results, const Finding& finding) {
  if (results.allow_refused && finding.code == "request_refused") return false;
  if (results.fail_on == "warning") return finding.severity != Severity::note;
  return results.fail_on == "error" && finding.severity == Severity::error;
}

bool missed(const Results& results) {
  if (results.fail_on == "never") return false;
  return !results.reached || (results.only_refused && !results.allow_refused);
}

bool found(const Results& results, const Judged& judged) {
  const auto is = [&results](const auto& item) { return counts(results, item); };
  return std::any_of(judged.problems.begin(), judged.problems.end(), is) ||
         std::any_of(judged.findings.begin(), judged.findings.end(), is);
}

bool found(const Results& results) {
  return missed(results) || found(results, results) ||
         std::any_of(results.scopes.begin(), results.scopes.end(),
                     [&results](const ClosedScope& scope) { return found(results, scope); });
}

bool failed(const Results& results) { return found(results) || results.command_failed || results.report_missing; }

std::string conclusion(const Results& results) {
  const auto is_counted = [&results](const auto& item) { return counts(results, item); };
  const std::size_t problems = number_of(results, &Judged::problems, is_counted);
  const std::size_t findings = number_of(results, &Judged::findings, is_counted);
  const std::size_t other_problems =
      number_of(results, &Judged::problems, [&](const Problem& problem) { return !is_counted(problem); });
  const std::size_t other_findings = number_of(results, &Judged::findings, [&](const Finding& finding) {
    return !is_counted(finding) && finding.severity != Severity::note;
  });
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (results.report_missing) add("a report could not be written");
  if (problems > 0) add(counted(problems, "problem"));
  if (findings > 0) add(counted(findings, "finding"));
  if (other_problems > 0) add(counted(other_problems, "problem") + " that --fail-on does not count");
  if (other_findings > 0) add(counted(other_findings, "finding") + " that --fail-on does not count");
  add(counted(results.judged, "request") + " judged" + (results.only_refused ? ", none of them served" : ""));
  std::size_t in_scopes = 0;
  for (const ClosedScope& scope : results.scopes) in_scopes += scope.judged;
  if (!results.scopes.empty()) add(std::to_string(in_scopes) + " in " + counted(results.scopes.size(), "closed scope"));
  if (!results.command.empty()) add(results.command);
  return (failed(results) ? "failed: " : "passed: ") + text;
}

std::vector<std::string> remarks(const Results& results) {
  std::vector<std::string> lines;
  if (results.only_refused) {
    lines.push_back("served 0 requests: the gateway refused every request" +
                    (results.refusals.empty() ? "" : ", " + results.refusals) +
                    ", so the client was not tested; address and key are in OPENAI_BASE_URL and OPENAI_API_KEY; if the "
                    "requests should be refused, add --allow-refused");
  }
  if (results.own_gateways > 0) {
    const std::string started = counted(results.own_gateways, "mock-gateway") + " of its own";
    lines.push_back(results.reached ? "CMD has started " + started + ", whose requests are not judged here"
                                    : "judged 0 requests: CMD has started " + started +
                                          ", as the helpers do, and its requests went there; the tests judge those "
                                          "requests: run the suite without `mock-gateway run`");
  } else if (!results.reached) {
    lines.push_back(
        "judged 0 requests: no client reached the gateway; its address is in OPENAI_BASE_URL. If the tests start their "
        "own gateways, run them without `mock-gateway run`. If no request is expected, add --fail-on never");
  }
  if (results.evicted > 0)
    lines.push_back(counted(results.evicted, "exchange") + (results.evicted == 1 ? " was" : " were") +
                    " evicted from the journal and not judged");
  if (results.open > 0) lines.push_back(counted(results.open, "exchange") + " had not ended");
  for (const std::string& error : results.reload_errors) lines.push_back("not reloaded: " + error);
  return lines;
}

bool is_in_script(const SourceLocation& where) {
  // Stubs of the control API have the name of their route as file.
  const std::string_view file = where.file;
  const std::filesystem::path extension = std::filesystem::path(file).extension();
  return where.line > 0 && extension != ".cpp" && extension != ".hpp" && file.substr(0, 4) != "PUT " &&
         file.substr(0, 5) != "POST ";
}

}  // namespace endpoint
}  // namespace mock_gateway
