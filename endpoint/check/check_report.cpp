// Reports of `check` as text, JSON, JUnit and GitHub annotations; their targets; the text about one cell.

#include "check_report.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "../messages.hpp"
#include "../report.hpp"
#include "../xml.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

Json as_json_of(const std::vector<Finding>& findings) {
  Json all = Json::array();
  for (const Finding& finding : findings)
    all.push_back(
        Json{{"code", finding.code}, {"severity", to_string(finding.severity)}, {"message", finding.message}});
  return all;
}

Json as_json_of(const CheckResults& results, const Cell& cell) {
  Json calls = Json::array();
  for (const wire::ToolCall& call : cell.result.outcome.tool_calls)
    calls.push_back(Json{{"name", call.name}, {"arguments", call.arguments}});
  const std::optional<TokenUsage>& usage = cell.result.outcome.usage;
  Json told_usage;
  if (usage)
    told_usage = Json{{"prompt_tokens", usage->prompt_tokens()},
                      {"completion_tokens", usage->completion_tokens()},
                      {"total_tokens", usage->total_tokens()}};
  const auto& reason = cell.result.outcome.finish_reason;
  return Json{{"scenario", cell.name},
              {"group", cell.group},
              {"form", to_string(cell.form)},
              {"kind", to_string(cell.mark)},
              {"good", faults_of(cell, results.flags).empty() && cell.mark != Mark::skipped},
              {"flaky", cell.flaky},
              {"accepted", cell.accepted},
              {"expected", to_string(cell.scenario->expected())},
              {"why", cell.why},
              {"text", cell.result.outcome.text},
              {"tool_calls", std::move(calls)},
              {"finish_reason", reason ? Json(*reason) : Json()},
              {"usage", std::move(told_usage)},
              {"told", cell.result.told},
              {"requests", cell.requests},
              {"seconds", cell.result.seconds},
              {"findings", as_json_of(cell.findings)},
              {"beyond", as_json_of(cell.beyond)},
              {"reference", cell.scenario->reference()},
              {"again", results.again(cell)},
              {"stdout", cell.result.output},
              {"stderr", cell.result.errors}};
}

/// Returns a row of the table: "  usage-chunk-without-choices  plain –      streamed LOSS   key_in_query".
std::string line_of(const CheckResults& results, const Row& row, std::size_t width) {
  std::string line = "  " + padded(row.front()->name, width);
  std::string remarks;
  const auto add = [&remarks](const std::string& remark) {
    if (!remark.empty() && remarks.find(remark) == std::string::npos) remarks += "  " + remark;
  };
  constexpr std::size_t widest = 6;
  for (const Form form : results.run.forms()) {
    const auto found = std::find_if(row.begin(), row.end(), [form](const Cell* cell) { return cell->form == form; });
    if (found == row.end()) {
      // A sweep's step has only one form. For scenarios, show the missing form as a dash.
      if (!results.flags.sweeps()) line += std::string("  ") + to_string(form) + " –" + std::string(widest - 1, ' ');
      continue;
    }
    const Cell& cell = **found;
    const bool is_bad_by_finding = cell.good && !faults_of(cell, results.flags).empty();
    line += std::string("  ") + to_string(form) + " " + padded(shown(cell) + (is_bad_by_finding ? "!" : ""), widest);
    if (cell.flaky) add("flaky");
    if (cell.accepted) add("known");
    if (cell.mark == Mark::skipped) add(cell.why);
    add(codes_of(cell.findings));
    if (cell.mark == Mark::ok) add(cell.why.substr(std::min(cell.why.find("remark: "), cell.why.size())));
  }
  line += remarks;
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

/// Failed cells, grouped by mark and error message.
using Causes = std::map<std::string, std::vector<const Cell*>>;

std::string cause_of(const Cell& cell) {
  return cell.result.told.empty() ? "" : std::string(to_string(cell.mark)) + cell.result.told + codes_of(cell.findings);
}

Causes causes_of(const CheckResults& results) {
  Causes causes;
  for (const Cell& cell : results.run.cells())
    if (results.fails(cell)) causes[cause_of(cell)].push_back(&cell);
  causes.erase("");  // without a message the causes may differ
  return causes;
}

/// Returns the text about a cell. If more than three cells fail alike, only the first gets a text, with the others'
/// names.
std::string story_once(const CheckResults& results, const Causes& causes, const Cell& cell) {
  constexpr std::size_t most_alike = 3;
  const auto alike = causes.find(cause_of(cell));
  if (alike == causes.end() || alike->second.size() <= most_alike) return "\n" + results.story(cell) + "\n";
  if (alike->second.front() != &cell) return "";
  std::string others;
  for (const Cell* const other : alike->second)
    if (other != &cell) others += (others.empty() ? " " : ", ") + other->id();
  return "\n" + results.story(cell) + "\n  the same in " + std::to_string(alike->second.size() - 1) +
         " others:" + others + "\n";
}

std::string report_text(const CheckResults& results) {
  std::string text = results.client();
  if (!text.empty()) text += "\n";
  std::string group;
  std::size_t width = 0;
  const std::vector<Row> rows = rows_of(results.run);
  for (const Row& row : rows) width = std::max(width, row.front()->name.size());
  for (const Row& row : rows) {
    if (group != row.front()->group) {
      group = row.front()->group;
      text += (text.empty() ? "" : "\n") + group + "\n";
    }
    text += line_of(results, row, width) + "\n";
  }
  std::set<std::string> beyond;
  const Causes causes = causes_of(results);
  for (const Cell& cell : results.run.cells()) {
    if (results.fails(cell)) text += story_once(results, causes, cell);
    for (const Finding& one : cell.beyond) beyond.insert(one.code + ": " + printable(one.message));
  }
  if (!beyond.empty()) {
    text += "\nbeyond the documented surface\n";
    for (const std::string& line : beyond) text += "  " + line + "\n";
  }
  if (!results.stale.empty()) {
    text += "\nin the baseline, but no longer true; --write-baseline updates it\n";
    for (const std::string& line : results.stale) text += "  " + line + "\n";
  }
  for (const std::string& remark : results.run.remarks()) text += "\n" + remark + "\n";
  return text + "\n" + results.summary() + "\n" + results.conclusion() + "\n";
}

std::string report_json(const CheckResults& results) {
  Json forms = Json::array();
  for (const Form form : results.run.forms()) forms.push_back(to_string(form));
  Json cells = Json::array();
  for (const Cell& cell : results.run.cells()) cells.push_back(as_json_of(results, cell));
  Json counts = Json::object();
  for (std::size_t i = 0; i < marks; ++i) counts[to_string(static_cast<Mark>(i))] = results.count(static_cast<Mark>(i));
  const Json report{{"version", MOCK_GATEWAY_VERSION},
                    {"failed", results.failed},
                    {"conclusion", results.conclusion()},
                    {"client", Json{{"name", results.run.client_name()}, {"version", results.run.client_version()}}},
                    {"command", results.command},
                    {"forms", std::move(forms)},
                    {"remarks", results.run.remarks()},
                    {"cells", std::move(cells)},
                    {"stale", results.stale},
                    {"counts", std::move(counts)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// One suite per group, one case per scenario and form.
std::string report_junit(const CheckResults& results) {
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

std::string report_github(const CheckResults& results) {
  std::string lines;
  for (const Cell& cell : results.run.cells())
    if (results.fails(cell))
      lines += annotation("error", {}, cell.id() + " " + to_string(cell.mark), results.story(cell));
  for (const std::string& line : results.stale) lines += annotation("error", {}, "stale baseline", line);
  for (const std::string& remark : results.run.remarks()) lines += annotation("warning", {}, "mock-gateway", remark);
  return lines + annotation("notice", {}, "mock-gateway", results.conclusion());
}

bool goes_to_stdout(const ReportTarget& target) { return target.file.empty() || target.file == "-"; }

}  // namespace

bool CheckResults::fails(const Cell& cell) const {
  if (cell.flaky) return flags.strict;
  return !cell.accepted && !faults_of(cell, flags).empty();
}

bool CheckResults::finds_fault() const {
  return judged() == 0 || run.is_incomplete() || !stale.empty() || run.ended_by().has_value() ||
         count([this](const Cell& one) { return fails(one); }) > 0;
}

std::size_t CheckResults::count(const std::function<bool(const Cell&)>& is_counted) const {
  return static_cast<std::size_t>(std::count_if(run.cells().begin(), run.cells().end(), is_counted));
}

std::size_t CheckResults::count(Mark mark) const {
  return count([mark](const Cell& cell) { return cell.mark == mark; });
}

std::string CheckResults::client() const {
  return printable(run.client_name() + (run.client_version().empty() ? "" : " " + run.client_version()));
}

std::string CheckResults::summary() const {
  std::string text;
  for (std::size_t i = 0; i < marks; ++i) {
    const auto mark = static_cast<Mark>(i);
    text += (i == 0 ? "" : ", ") + std::to_string(count(mark)) + " " + to_string(mark);
    // Counts unacceptable errors, and cells with a failing finding.
    const std::size_t bad =
        count([this, mark](const Cell& cell) { return cell.mark == mark && !faults_of(cell, flags).empty(); });
    if (bad > 0 && bad < count(mark)) text += " (" + std::to_string(bad) + " of them bad)";
  }
  return text;
}

std::string CheckResults::conclusion() const {
  const std::size_t bad = count([this](const Cell& cell) { return fails(cell); });
  const std::size_t accepted = count([](const Cell& cell) { return cell.accepted; });
  const std::size_t flaky = count([](const Cell& cell) { return cell.flaky; });
  const std::size_t skipped = count(Mark::skipped);
  std::string text = failed ? "failed: " : "passed: ";
  if (run.ended_by()) text += "ended by a signal, ";
  if (judged() == 0) return text + "nothing was judged";
  text += counted(judged(), "call") + " judged, " + std::to_string(bad) + " bad";
  if (accepted > 0) text += ", " + std::to_string(accepted) + " known from the baseline";
  if (!stale.empty()) text += ", " + counted(stale.size(), "stale line") + " of the baseline";
  if (flaky > 0) text += ", " + std::to_string(flaky) + " flaky";
  if (skipped > 0) text += ", " + std::to_string(skipped) + " skipped";
  return text;
}

std::string CheckResults::again(const Cell& cell) const {
  return command_to_repeat(flags, command, cell.name, cell.form);
}

std::string CheckResults::story(const Cell& cell) const {
  std::string text = cell.id() + ": " + shown(cell);
  const std::size_t line_end = cell.why.find('\n');
  const bool has_no_verdict = cell.mark == Mark::hang && cell.result.outcome.hung;
  if (cell.mark == Mark::skipped || cell.mark == Mark::crash || has_no_verdict) {
    const std::string prefix = cell.name + ": ";
    text += "\n  what        " +
            (cell.why.compare(0, prefix.size(), prefix) == 0 ? cell.why.substr(prefix.size()) : cell.why);
    text += "\n  the gateway " + cell.scenario->description() + "\n  a good client " + cell.scenario->good_client();
  } else if (!cell.good) {
    text += ", expected " + to_string(cell.scenario->expected());
    if (line_end != std::string::npos) text += cell.why.substr(line_end);
  } else {
    if (!cell.findings.empty()) text += ", with findings";
    text += "\n  the gateway " + cell.scenario->description();
  }
  if (cell.flaky) text += "\n  at first    " + printable(cell.first);
  if (!cell.result.told.empty()) {
    constexpr std::size_t most = 300;
    const std::string& told = cell.result.told;
    text += "\n  error shown: " + printable(told.size() > most ? "…" + told.substr(told.size() - most)
                                                               : told.substr(0, told.find_last_not_of('\n') + 1));
  }
  if (cell.result.told.empty() && !cell.result.errors.empty() && (cell.mark == Mark::crash || cell.mark == Mark::hang))
    text +=
        "\n  its stderr  " + printable(cell.result.errors.substr(
                                 cell.result.errors.size() - std::min<std::size_t>(300, cell.result.errors.size())));
  std::set<std::string> known;
  for (const Finding& finding : cell.findings)
    if (known.insert(finding.code).second) text += "\n  finding " + finding.code + ": " + printable(finding.message);
  if (!cell.scenario->reference().empty()) text += "\n  seen in " + cell.scenario->reference();
  return text + "\n  again: " + again(cell);
}

std::vector<Row> rows_of(const CheckRun& run) {
  std::vector<Row> rows;
  for (const Cell& cell : run.cells()) {
    if (rows.empty() || rows.back().front()->name != cell.name) rows.emplace_back();
    rows.back().push_back(&cell);
  }
  return rows;
}

std::string codes_of(const std::vector<Finding>& findings) {
  std::string codes;
  std::set<std::string> known;
  for (const Finding& finding : findings)
    if (known.insert(finding.code).second) codes += (codes.empty() ? "" : ", ") + finding.code;
  return codes;
}

std::vector<ReportTarget> check_report_targets(const CheckFlags& flags) {
  std::vector<ReportTarget> targets = report_targets(flags.reports, true);
  if (std::none_of(targets.begin(), targets.end(), goes_to_stdout)) targets.insert(targets.begin(), {"text", {}});
  return targets;
}

void write_reports(const std::vector<ReportTarget>& targets, const CheckResults& results) {
  write_reports(targets, std::cout, [&results](const std::string& format) {
    return format == "json"     ? report_json(results)
           : format == "junit"  ? report_junit(results)
           : format == "html"   ? check_report_html(results)
           : format == "github" ? report_github(results)
                                : report_text(results);
  });
}

}  // namespace endpoint
}  // namespace mock_gateway
