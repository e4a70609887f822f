// Reports as text, JSON and GitHub annotations, and their targets.

#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <optional>

#include "messages.hpp"
#include "published_file.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Escapes a message of a GitHub workflow command, or with `property` a property, like GitHub's toolkit.
std::string escaped_for_github(const std::string& text, bool property) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%')
      escaped += "%25";
    else if (c == '\r')
      escaped += "%0D";
    else if (c == '\n')
      escaped += "%0A";
    else if (property && c == ':')
      escaped += "%3A";
    else if (property && c == ',')
      escaped += "%2C";
    else
      escaped += c;
  }
  return escaped;
}

std::string report_text(const Results& results) {
  const std::string notes = failed(results) ? results.notes_text : "";
  std::string text = "verify: " + results.verification_text + notes + "\nreview: " + results.review_text + "\n";
  // The review's text already tells the numbers of evicted and open exchanges.
  const std::size_t leading = (results.only_refused ? 1 : 0) + (!results.reached || results.own_gateways > 0 ? 1 : 0);
  for (std::size_t i = 0; i < leading; ++i) text += remarks(results)[i] + "\n";
  for (const std::string& error : results.reload_errors) text += "not reloaded: " + error + "\n";
  for (const ClosedScope& scope : results.scopes)
    if (found(results, scope))
      text += "scope \"" + printable(scope.name) + "\": " + counted(scope.problems.size(), "problem") + ", " +
              counted(scope.findings.size(), "finding") + "\n" + scope.message + "\n";
  return text;
}

Json scopes_json(const Results& results) {
  Json scopes = Json::array();
  for (const ClosedScope& scope : results.scopes) {
    Json problems = Json::array();
    for (const Problem& problem : scope.problems) problems.push_back(as_json(problem));
    Json findings = Json::array();
    for (const Finding& finding : scope.findings) findings.push_back(as_json(finding));
    scopes.push_back({{"id", scope.id},
                      {"name", internal::text::as_utf8(scope.name)},
                      {"judged", scope.judged},
                      {"problems", std::move(problems)},
                      {"findings", std::move(findings)}});
  }
  return scopes;
}

std::string report_json(const Results& results) {
  const Json report{{"version", MOCK_GATEWAY_VERSION},
                    {"failed", failed(results)},
                    {"fail_on", results.fail_on},
                    {"conclusion", conclusion(results)},
                    {"command", results.command.empty() ? Json(nullptr) : Json(results.command)},
                    {"judged", results.judged},
                    {"evicted", results.evicted},
                    {"open", results.open},
                    {"remarks", remarks(results)},
                    {"reload_errors", results.reload_errors},
                    {"without_findings", results.left_out},
                    {"verify", results.verification},
                    {"review", results.review},
                    {"exchanges", results.exchanges},
                    {"scopes", scopes_json(results)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns the annotations of problems and findings, except notes, which it adds to `notices`. The `title` names a
/// closed scope.
std::string annotations(const Results& results, const Judged& judged, const std::string& title, std::string& notices) {
  std::string lines;
  for (const Problem& problem : judged.problems) {
    const SourceLocation where = problem.near_misses.empty() ? problem.where : problem.near_misses.front().stub.where;
    lines += annotation(counts(results, problem) ? "error" : "warning", where,
                        title.empty() ? to_string(problem.kind) : title, problem.text);
  }
  for (const Finding& finding : judged.findings) {
    std::string message = printable(finding.message);
    for (std::size_t i = 0; i < finding.exchanges.size(); ++i)
      message += (i == 0 ? " (exchange " : ", ") + std::to_string(finding.exchanges[i]) +
                 (i + 1 == finding.exchanges.size() ? ")" : "");
    const bool is_note = finding.severity == Severity::note;
    const char* const command = counts(results, finding) ? "error" : is_note ? "notice" : "warning";
    (is_note ? notices : lines) += annotation(command, {}, title.empty() ? finding.code : title, message);
  }
  return lines;
}

std::string report_github(const Results& results) {
  std::string notices;
  std::string lines = annotations(results, results, {}, notices);
  for (const ClosedScope& scope : results.scopes)
    lines += annotations(results, scope, "scope " + printable(scope.name), notices);
  bool is_first = true;
  for (const std::string& remark : remarks(results)) {
    // If no client came or no request was served, the first remark says so.
    lines += annotation(is_first && missed(results) ? "error" : "warning", {}, "mock-gateway", remark);
    is_first = false;
  }
  lines += notices;
  for (const std::string& note : failed(results) ? results.notes : std::vector<std::string>())
    lines += annotation("notice", {}, "mock-gateway", note);
  return lines + annotation("notice", {}, "mock-gateway", conclusion(results));
}

}  // namespace

std::string annotation(const char* command, const SourceLocation& where, const std::string& title,
                       const std::string& message) {
  std::string line = std::string("::") + command + " ";
  if (is_in_script(where))
    line += "file=" + escaped_for_github(where.file, true) + ",line=" + std::to_string(where.line) + ",";
  return line + "title=" + escaped_for_github(title, true) + "::" + escaped_for_github(message, false) + "\n";
}

void require_writable(const std::vector<ReportTarget>& targets) {
  for (const ReportTarget& target : targets)
    if (!target.file.empty() && target.file != "-") require_publishable("--report", target.file);
}

void write_reports(const std::vector<ReportTarget>& targets, std::ostream& usual,
                   const std::function<std::string(const std::string&)>& rendered) {
  std::optional<BadValue> missing;
  for (const ReportTarget& target : targets) {
    const std::string text = rendered(target.format);
    try {
      if (!target.file.empty() && target.file != "-") {
        publish("--report", target.file, text);
        continue;
      }
      std::ostream& out = target.file.empty() ? usual : std::cout;
      out.clear();
      errno = 0;
      out << text << std::flush;
      if (!out && errno != EPIPE) throw BadValue("--report: cannot write to stdout");  // `| head` is fine
    } catch (const BadValue& problem) {
      missing = problem;
    }
  }
  if (missing) throw *missing;
}

void write_reports(const std::vector<ReportTarget>& targets, Results& results) {
  std::optional<BadValue> missing;
  try {
    write_reports(targets, std::cerr, [&results](const std::string& format) {
      return format == "json"     ? report_json(results)
             : format == "junit"  ? report_junit(results)
             : format == "github" ? report_github(results)
                                  : report_text(results);
    });
  } catch (const BadValue& problem) {
    missing = problem;
  }
  results.report_missing = missing.has_value();
  std::cerr << "mock-gateway: " << coloured(failed(results) ? Colour::red : Colour::green, conclusion(results))
            << std::endl;
  if (missing) throw *missing;
}

bool want_evidence(const std::vector<ReportTarget>& targets) {
  return std::any_of(targets.begin(), targets.end(),
                     [](const ReportTarget& target) { return target.format == "json"; });
}

}  // namespace endpoint
}  // namespace mock_gateway
