#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

using internal::text::counted;

/// A stub that verify() judges by itself: it has `expect` or `should`, or is `never` to be called.
struct JudgedStub {
  std::string title;
  SourceLocation where;
};

/// What verify() and review() said at the end, as plain data, for the reports.
struct Results {
  std::string fail_on = "error";
  std::vector<JudgedStub> stubs;
  std::vector<Problem> problems;
  std::vector<std::string> notes;
  std::vector<Finding> findings;
  /// Codes that --without-finding leaves out.
  std::vector<std::string> left_out;
  /// What verify(), its notes left out, and review() print.
  std::string verification_text;
  std::string review_text;
  /// The notes of verify() that the review's text does not have, as verify() prints them behind a line end; empty
  /// without any.
  std::string notes_text;
  /// How many exchanges review() judged; how many the journal had evicted before; how many had not ended.
  std::size_t judged = 0;
  std::size_t evicted = 0;
  std::size_t open = 0;
  /// Whether any client came, a connection that a fault struck included. The journal may have been cleared since.
  bool reached = false;
  /// Whether the gateway refused each request for what its client sent, so that nothing was tested; and how often with
  /// which error: "2 with 404 unknown_path, 1 with 401 unauthorized".
  bool only_refused = false;
  std::string refusals;
  /// --allow-refused.
  bool allow_refused = false;
  /// How many programs of this kind the command of `run` has started itself.
  std::size_t own_gateways = 0;
  /// Scripts that changed while they were served, and could not be read again.
  std::vector<std::string> reload_errors;
  /// How the command of `run` ended: "pytest exited with 1". Empty for `serve`.
  std::string command;
  /// Whether it ended with another status than 0, or by a signal. --fail-on has no say in it.
  bool command_failed = false;
  /// Whether a report could not be written to its file.
  bool report_missing = false;
  /// The same as Json, and the exchanges that problems and findings name. Null unless it was asked for.
  Json verification = nullptr;
  Json review = nullptr;
  Json exchanges = nullptr;
};

/// Whether --fail-on counts it.
bool counts(const Results& results, const Problem& problem);
bool counts(const Results& results, const Finding& finding);
/// Whether no client came, or none whose request was served, and that counts.
bool missed(const Results& results);
/// Whether anything that counts was found.
bool found(const Results& results);
/// Whether the exit code is another than 0: something was found, the command of `run` failed, or a report is missing.
/// Notes are told then only.
bool failed(const Results& results);
/// One line: "failed: 1 problem, 2 findings", "passed: 12 requests judged".
std::string conclusion(const Results& results);
/// What every format says beside problems and findings, a line each: exchanges that were evicted or are open, scripts
/// that could not be read again, and first that no client came, or none whose request was served.
std::vector<std::string> remarks(const Results& results);

/// Whether the gateway refused it for what its client sent.
bool is_refusal(const Exchange& exchange);
/// Whether it is a line of a script. What flags mounted has a line of this program, which tells nobody anything.
bool is_in_script(const SourceLocation& where);

}  // namespace endpoint
}  // namespace mock_gateway
