#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "flags.hpp"
#include "results.hpp"

namespace mock_gateway {
namespace endpoint {

/// Returns the suites `verify` and `review`, and `scopes` if scopes were closed. The names of their cases are stable
/// between runs.
std::string report_junit(const Results& results);

/// Returns a GitHub workflow command with its line end. `command`: "error", "warning", "notice".
std::string annotation(const char* command, const SourceLocation& where, const std::string& title,
                       const std::string& message);

/// Throws BadValue if a report's file cannot be written. Call it before the run.
void require_writable(const std::vector<ReportTarget>& targets);
/// Writes each report in its format. Targets without a file go to `usual`. Writes every report, then throws BadValue if
/// one failed.
void write_reports(const std::vector<ReportTarget>& targets, std::ostream& usual,
                   const std::function<std::string(const std::string&)>& rendered);
/// Writes the reports, then a line with the conclusion. On failure, sets `report_missing`, and throws BadValue after
/// writing the others.
void write_reports(const std::vector<ReportTarget>& targets, Results& results);
/// Whether a report needs the evidence as JSON.
bool want_evidence(const std::vector<ReportTarget>& targets);

}  // namespace endpoint
}  // namespace mock_gateway
