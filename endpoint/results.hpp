#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

using internal::text::counted;

/// A stub with `expect`, `should` or `never`, which verify() judges by itself.
struct JudgedStub {
  std::string title;
  SourceLocation where;
};

/// What verify() and review() found, and the number of exchanges that review() judged.
struct Judged {
  std::vector<Problem> problems;
  std::vector<Finding> findings;
  std::size_t judged = 0;
};

/// A scope of the control API, judged when it was closed.
struct ClosedScope : Judged {
  std::string id;
  std::string name;
  /// The text of verify() and review().
  std::string message;
};

/// The results of verify() and review() as plain data for reports. `judged` includes the closed scopes.
struct Results : Judged {
  std::string fail_on = "error";
  std::vector<JudgedStub> stubs;
  std::vector<std::string> notes;
  std::vector<ClosedScope> scopes;
  /// The codes of --without-finding.
  std::vector<std::string> left_out;
  /// The text of verify(), without notes, and that of review().
  std::string verification_text;
  std::string review_text;
  /// The notes of verify() that are not in the review's text; starts with a line end if there are any.
  std::string notes_text;
  /// The exchanges that the journal had evicted, and that were still open.
  std::size_t evicted = 0;
  std::size_t open = 0;
  /// Whether any client came, including connections with a fault. Clearing the journal does not change it.
  bool reached = false;
  /// Whether the gateway refused every request because of what its client sent, so that nothing was tested. `refusals`
  /// counts the errors: "2 with 404 unknown_path, 1 with 401 unauthorized".
  bool only_refused = false;
  std::string refusals;
  /// --allow-refused.
  bool allow_refused = false;
  /// The number of mock-gateway programs that the command of `run` started itself.
  std::size_t own_gateways = 0;
  /// The errors of scripts that changed and could not be reloaded.
  std::vector<std::string> reload_errors;
  /// The exit of `run`'s command: "pytest exited with 1". Empty for `serve`.
  std::string command;
  /// Whether the command failed: another exit status than 0, or a signal. Independent of --fail-on.
  bool command_failed = false;
  /// Whether a report could not be written.
  bool report_missing = false;
  /// The results as JSON, and the exchanges that problems and findings name. Null unless requested.
  Json verification = nullptr;
  Json review = nullptr;
  Json exchanges = nullptr;
};

/// Whether --fail-on counts the problem.
bool counts(const Results& results, const Problem& problem);
bool counts(const Results& results, const Finding& finding);
/// Whether --fail-on counts one of the problems or findings.
bool found(const Results& results, const Judged& judged);
/// Whether it counts as a failure that no client came, or that no request was served.
bool missed(const Results& results);
/// Whether anything that counts was found.
bool found(const Results& results);
/// Whether the exit code is not 0: something was found, the command of `run` failed, or a report is missing. Only then
/// are notes shown.
bool failed(const Results& results);
/// Returns one line: "failed: 1 problem, 2 findings", "passed: 12 requests judged".
std::string conclusion(const Results& results);
/// Returns remarks for all formats, one per line: that no client came or no request was served (first), evicted or open
/// exchanges, scripts that could not be reloaded.
std::vector<std::string> remarks(const Results& results);

/// Whether the location is in a script. Stubs of flags have a meaningless location in this program.
bool is_in_script(const SourceLocation& where);

}  // namespace endpoint
}  // namespace mock_gateway
