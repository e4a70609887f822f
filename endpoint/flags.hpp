#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "library.hpp"

namespace CLI {
class App;
}

namespace mock_gateway {
namespace endpoint {

/// Where a report goes, and in which form.
struct ReportTarget {
  /// "text", "json", "junit", "html" or "github".
  std::string format;
  /// "-": stdout. Empty: stderr, or of `check`, whose CMD has no stdout of its own, stdout.
  std::string file;
};

/// What one --fail asks for. A key is named by its id.
struct ForcedFailure {
  Failure failure;
  /// Nothing: until cleared.
  std::optional<std::size_t> times;
  FailureScope scope;
};

/// The flags of `serve` and `run` as they were given. What was not given is empty, so that a script may decide it.
struct Flags {
  std::vector<std::string> scripts;
  bool no_reload = false;
  std::string journal;
  std::optional<std::string> host;
  std::optional<int> port;
  std::string port_file;
  std::optional<std::string> control;
  std::optional<std::string> control_host;
  std::vector<std::string> control_allowed_hosts;
  std::string info_file;
  std::string print = "text";
  bool until_eof = false;
  std::vector<std::string> models;
  std::vector<std::string> cors;
  std::vector<std::string> keys;
  std::vector<std::string> failures;
  std::optional<std::string> limit;
  std::optional<std::string> limit_tokens;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> profile;
  std::optional<std::string> acceptance;
  bool strict = false;
  std::optional<std::string> reply;
  std::optional<std::string> scenario;
  std::optional<int> first_token_ms;
  std::optional<int> gap_ms;
  bool quiet = false;
  std::vector<std::string> reports;
  std::optional<std::string> fail_on;
  bool allow_refused = false;
  std::vector<std::string> without_findings;

  /// Whether what was found is to be told at the end.
  bool wants_judgement() const { return !reports.empty() || fail_on; }
};

/// Adds the flags that `serve` and `run` share. `default_port` is told in the help.
void add_flags(CLI::App& app, Flags& flags, const std::string& default_port);

/// The options, changed by each flag that was given. Throws BadValue.
Options with_flags(Options options, const Flags& flags);
/// Throws BadValue when there is no such scenario.
std::optional<Scenario> scenario_from(const Flags& flags);
/// What --fail asks for, with the keys that the gateway has now. Throws BadValue.
std::vector<ForcedFailure> forced_failures(const Gateway& gateway, const Flags& flags);

/// What --report asks for; html only where there is such a report. Throws BadValue.
std::vector<ReportTarget> report_targets(const std::vector<std::string>& specs, bool has_html);
/// A text report when none is asked for. Throws BadValue.
std::vector<ReportTarget> report_targets(const Flags& flags);

/// What stands before and after the first `mark`; nothing after when there is none.
std::pair<std::string, std::optional<std::string>> split(const std::string& text, char mark);

}  // namespace endpoint
}  // namespace mock_gateway
