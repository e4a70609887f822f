#pragma once

#include <string>
#include <vector>

#include "flags.hpp"
#include "results.hpp"

namespace mock_gateway {
namespace endpoint {

/// Each format, whole, with a line end behind it.
std::string report_text(const Results& results);
std::string report_json(const Results& results);
/// Suites `verify` and `review`, whose cases have the same names from run to run.
std::string report_junit(const Results& results);
/// Workflow commands of GitHub: an annotation per problem and finding.
std::string report_github(const Results& results);

/// A workflow command of GitHub, with its line end. `command`: "error", "warning", "notice".
std::string annotation(const char* command, const SourceLocation& where, const std::string& title,
                       const std::string& message);

/// Throws BadValue when a report could not be written to its file, before anything runs.
void require_writable(const std::vector<ReportTarget>& targets);
/// Writes each, and after them one line that says how it ended. When a file cannot be written, it notes that in the
/// results, and throws BadValue after all were tried.
void write_reports(const std::vector<ReportTarget>& targets, Results& results);
/// Whether one of them needs the evidence as Json.
bool want_evidence(const std::vector<ReportTarget>& targets);

}  // namespace endpoint
}  // namespace mock_gateway
