#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../flags.hpp"
#include "check_run.hpp"

namespace mock_gateway {
namespace endpoint {

/// What `check` found, as every report says it.
struct CheckResults {
  const CheckRun& run;
  const CheckFlags& flags;
  const std::vector<std::string>& command;
  /// Lines of the baseline that are no longer so.
  std::vector<std::string> stale;
  bool failed = false;

  /// Whether the cell fails the check.
  bool fails(const Cell& cell) const;
  /// How many cells were not skipped.
  std::size_t judged() const { return run.cells().size() - count(Mark::skipped); }
  /// Whether anything fails it: a cell, the baseline, or that nothing was judged.
  bool finds_fault() const;
  /// "failed: 240 calls judged, 2 bad, 1 stale line of the baseline".
  std::string conclusion() const;
  /// "openai 3.54.0"; empty where the client does not tell.
  std::string client() const;
  /// "121 ok, 84 error, 7 loss, …".
  std::string summary() const;
  /// The number of cells that this is true of, or that have this mark.
  std::size_t count(const std::function<bool(const Cell&)>& is_counted) const;
  std::size_t count(Mark mark) const;
  /// What is bad about a cell, or why it was skipped, in lines.
  std::string story(const Cell& cell) const;
  /// The command that makes the call again.
  std::string again(const Cell& cell) const;
};

/// A text report on stdout, unless another goes there. Throws BadValue.
std::vector<ReportTarget> check_report_targets(const CheckFlags& flags);
/// Writes each. Throws BadValue, after all were tried, when one cannot be written.
void write_reports(const std::vector<ReportTarget>& targets, const CheckResults& results);

std::string check_report_junit(const CheckResults& results);
/// One file that needs nothing else.
std::string check_report_html(const CheckResults& results);

/// The neighbouring cells of one name.
using Row = std::vector<const Cell*>;
std::vector<Row> rows_of(const CheckRun& run);
/// The codes of findings, each once: "retry_after_ignored, key_in_query".
std::string codes_of(const std::vector<Finding>& findings);

}  // namespace endpoint
}  // namespace mock_gateway
