#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "flags.hpp"
#include "results.hpp"

namespace mock_gateway {
namespace endpoint {

/// Suites `verify` and `review`, whose cases have the same names from run to run.
std::string report_junit(const Results& results);

/// A workflow command of GitHub, with its line end. `command`: "error", "warning", "notice".
std::string annotation(const char* command, const SourceLocation& where, const std::string& title,
                       const std::string& message);

/// Throws BadValue when a report could not be written to its file, before anything runs.
void require_writable(const std::vector<ReportTarget>& targets);
/// Writes each report, which `rendered` makes of its format; `usual` gets those without FILE. Throws BadValue, after
/// all were tried, when one cannot be written.
void write_reports(const std::vector<ReportTarget>& targets, std::ostream& usual,
                   const std::function<std::string(const std::string&)>& rendered);
/// Writes each, and after them one line that says how it ended. When a file cannot be written, it notes that in the
/// results, and throws BadValue after all were tried.
void write_reports(const std::vector<ReportTarget>& targets, Results& results);
/// Whether one of them needs the evidence as Json.
bool want_evidence(const std::vector<ReportTarget>& targets);

}  // namespace endpoint
}  // namespace mock_gateway
