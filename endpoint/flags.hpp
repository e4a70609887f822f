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

/// The format and file of a report.
struct ReportTarget {
  /// "text", "json", "junit", "html" or "github".
  std::string format;
  /// "-" is stdout. Empty is stderr; for `check`, whose CMD does not print to its stdout, it is stdout.
  std::string file;
};

/// The failure of one --fail. Keys are named by ID.
struct ForcedFailure {
  Failure failure;
  /// Empty: until cleared.
  std::optional<std::size_t> times;
  FailureScope scope;
};

/// The flags of `serve` and `run`. Flags that were not given stay empty, so that a script may set the value.
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
  std::vector<std::string> context_windows;
  std::vector<std::string> cors;
  std::vector<std::string> base_paths;
  std::vector<std::string> keys;
  std::vector<std::string> key_headers;
  bool no_key_required = false;
  std::vector<std::string> failures;
  std::optional<std::string> limit;
  std::optional<std::string> limit_tokens;
  std::optional<std::size_t> limit_concurrent;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> profile;
  std::optional<std::string> acceptance;
  bool strict = false;
  std::optional<std::string> enforce;
  std::optional<std::string> reply;
  std::optional<std::string> scenario;
  std::optional<int> first_token_ms;
  std::optional<int> gap_ms;
  bool quiet = false;
  bool logs_all = true;  // not set by a flag: `run` logs only what the gateway could not serve
  std::vector<std::string> reports;
  std::optional<std::string> fail_on;
  bool allow_refused = false;
  std::vector<std::string> without_findings;

  /// Whether to report the results at the end.
  bool wants_judgement() const { return !reports.empty() || fail_on; }
};

/// Adds the flags that `serve` and `run` share. The help shows `default_port`.
void add_flags(CLI::App& app, Flags& flags, const std::string& default_port);

/// Returns the options with all given flags applied. Throws BadValue.
Options with_flags(Options options, const Flags& flags);
/// Throws BadValue for an unknown scenario.
std::optional<Scenario> scenario_from(const Flags& flags);
/// Returns the failures of --fail, with the gateway's current keys. Throws BadValue.
std::vector<ForcedFailure> forced_failures(const Gateway& gateway, const Flags& flags);

/// Returns the targets of --report. html is valid only with `has_html`. Throws BadValue.
std::vector<ReportTarget> report_targets(const std::vector<std::string>& specs, bool has_html);
/// The default is one text report. Throws BadValue.
std::vector<ReportTarget> report_targets(const Flags& flags);

/// Splits at the first `mark`. Without a mark, the second part is empty.
std::pair<std::string, std::optional<std::string>> split(const std::string& text, char mark);

}  // namespace endpoint
}  // namespace mock_gateway
