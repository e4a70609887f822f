#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "flags.hpp"
#include "library.hpp"
#include "log.hpp"
#include "metrics.hpp"
#include "results.hpp"
#include "script_watch.hpp"

namespace mock_gateway {
namespace endpoint {

/// The ID of a run, and its secret.
struct RunIdentity {
  /// A random ID, unique per run; `instance` of the info file.
  std::string instance;
  /// The token of the control API, or empty.
  std::string token;
};

/// The gateway that flags and scripts describe, with its log. Messages to stderr go through the log and never block.
class Serving {
 public:
  /// `default_port` applies if neither flags nor scripts set a port. `judged`: judge() will be called, so that scripted
  /// waits have a timeout. The flags must outlive this. Throws BadValue, ScriptError and GatewayError.
  Serving(const Flags& flags, int default_port, bool judged, const RunIdentity& identity);

  Gateway& gateway() { return *gateway_; }
  /// Warns on stderr if `what` listens on a host that is reachable from the network.
  void warn_of_network(const std::string& what, const std::string& host);
  /// Reloads the scripts when their files change, unless --no-reload is set.
  void watch_scripts(const Flags& flags);
  /// Reloads the scripts now, if there are any.
  void reload_scripts();
  /// The scripts in use, and problems of their files. Empty without scripts.
  ScriptState script_state() const;
  /// What the scripts have mounted, if there are any.
  const std::optional<LoadedScript>& script() const { return script_; }
  /// The counters. They count only if there is a control API, that is, if `identity` has a token.
  const Metrics& metrics() const { return metrics_; }
  /// Resets parts ("stubs", "states", "failures", "chaos", "connections", "journal") to what flags and scripts
  /// describe. "connections" also opens the port. Thread-safe.
  void reset(const std::vector<std::string>& what);
  /// Adds the verdict about a closed scope to the results of judge(). Thread-safe.
  void add_closed(ClosedScope scope);
  /// Returns the results of verify() and review(); with `evidence`, also as JSON. Waits up to two seconds for open
  /// exchanges.
  Results judge(const Flags& flags, bool evidence);
  /// Closes the port and logs the last exchanges.
  void stop();

 private:
  /// Mounts the stubs of flags. Stubs of scripts take precedence.
  void mount_stubs_of_flags();
  void force_failures_of_flags();
  Options start_options(const Flags& flags, int default_port, bool judged, const std::string& token);
  /// Checks whether all requests were refused.
  void judge_refusals(Results& results);
  /// Lists the contents of the scripts on stderr, if there are any.
  void log_contents(const Flags& flags);

  const Flags& flags_;
  const bool is_judged_;
  const std::string signature_;  // of the scripts, taken before reading them to notice changes
  const std::optional<ScriptDocument> document_;
  const std::optional<Scenario> chosen_;
  Log log_;          // used by the gateway's callbacks
  Metrics metrics_;  // used by the gateway's callbacks
  std::optional<Gateway> gateway_;
  std::vector<ForcedFailure> forced_;  // of --fail; parsed once, since key names may change their meaning later
  std::optional<LoadedScript> script_;
  std::mutex resetting_;
  std::mutex closing_;
  std::vector<ClosedScope> closed_;
  std::optional<ScriptWatch> watch_;  // last, so that it ends before the members it uses
};

/// Raises the descriptor limit, often 1024, to its maximum: each connection takes one. The library does not, since a
/// test may use select(), which is limited to 1024.
void raise_descriptor_limit();

}  // namespace endpoint
}  // namespace mock_gateway
