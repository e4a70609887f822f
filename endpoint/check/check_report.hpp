#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../flags.hpp"
#include "check_run.hpp"

namespace mock_gateway {
namespace endpoint {

/// The results that all reports show.
struct CheckResults {
  const CheckRun& run;
  const CheckFlags& flags;
  const std::vector<std::string>& command;
  /// Lines of the baseline that no longer apply.
  std::vector<std::string> stale;
  bool failed = false;

  bool fails(const Cell& cell) const;
  /// The number of cells that were not skipped.
  std::size_t judged() const { return run.cells().size() - count(Mark::skipped); }
  /// Returns true for a failing cell, a stale line of the baseline, or if no call was judged.
  bool finds_fault() const;
  /// "failed: 240 calls judged, 2 bad, 1 stale line of the baseline".
  std::string conclusion() const;
  /// The client's name and version: "openai 3.54.0". Empty if the driver does not tell them.
  std::string client() const;
  /// "121 ok, 84 error, 7 loss, …".
  std::string summary() const;
  /// Returns the number of cells that match the predicate, or that have the mark.
  std::size_t count(const std::function<bool(const Cell&)>& is_counted) const;
  std::size_t count(Mark mark) const;
  /// Returns the faults of a cell, or why it was skipped; several lines.
  std::string story(const Cell& cell) const;
  /// Returns the command that repeats the call.
  std::string again(const Cell& cell) const;
};

/// Returns the targets of --report. Adds a text report on stdout unless another report goes there. Throws BadValue.
std::vector<ReportTarget> check_report_targets(const CheckFlags& flags);
/// Writes every report, then throws BadValue if one could not be written.
void write_reports(const std::vector<ReportTarget>& targets, const CheckResults& results);

/// Returns a self-contained HTML page.
std::string check_report_html(const CheckResults& results);

/// Adjacent cells with the same name.
using Row = std::vector<const Cell*>;
std::vector<Row> rows_of(const CheckRun& run);
/// Returns the distinct codes of the findings: "retry_after_ignored, key_in_query".
std::string codes_of(const std::vector<Finding>& findings);

}  // namespace endpoint
}  // namespace mock_gateway
