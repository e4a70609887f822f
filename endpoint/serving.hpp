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

/// What a run of the program is known by, and what nobody may read of it.
struct RunIdentity {
  /// Random: no other run has the same. As `instance` of the info file.
  std::string instance;
  /// The token of the control API; empty without one.
  std::string token;
};

/// A gateway that serves what the flags and the scripts say, its log included. What it says on stderr is a line of the
/// log: nobody waits for whoever reads it.
class Serving {
 public:
  /// `default_port` is taken where neither a flag nor a script says one. `judged`: verify() and review() are asked at
  /// the end, so that scripted waits have their guard. The flags must outlive this. Throws BadValue, ScriptError and
  /// GatewayError.
  Serving(const Flags& flags, int default_port, bool judged, const RunIdentity& identity);

  Gateway& gateway() { return *gateway_; }
  /// Says on stderr that others than this machine can connect to `what`, which listens on that host, when they can.
  void warn_of_network(const std::string& what, const std::string& host);
  /// Puts the scripts in place again whenever their files change, unless --no-reload was given.
  void watch_scripts(const Flags& flags);
  /// Reads the scripts again now. Nothing happens without scripts.
  void reload_scripts();
  /// The scripts as they are served and as they are in their files. Without scripts, nothing.
  ScriptState script_state() const;
  /// What the scripts have mounted; nothing without scripts.
  const std::optional<LoadedScript>& script() const { return script_; }
  /// What was answered so far. Counted where there is a control API, whose token `identity` has.
  const Metrics& metrics() const { return metrics_; }
  /// Clears what is named ("stubs", "states", "failures", "chaos", "connections", "journal"), then mounts what flags
  /// and scripts say of it again. With "connections" the port is opened. Any thread may call it.
  void reset(const std::vector<std::string>& what);
  /// What verify() and review() say; `evidence`: as Json too. Waits at most two seconds for exchanges to end.
  Results judge(const Flags& flags, bool evidence);
  /// Closes the port, and logs the last exchanges.
  void stop();

 private:
  /// Mounts the stubs that flags ask for. Stubs of scripts come before them.
  void mount_stubs_of_flags();
  void force_failures_of_flags();
  Options start_options(const Flags& flags, int default_port, bool judged, const std::string& token);
  /// Finds out whether nothing but refused requests came.
  void judge_refusals(Results& results);
  /// Says on stderr what the scripts are, when there are any.
  void tell_what_it_serves(const Flags& flags);

  const Flags& flags_;
  const std::string signature_;  // of the scripts, from before they were read: a change meanwhile is seen
  const std::optional<ScriptDocument> document_;
  const std::optional<Scenario> chosen_;
  Log log_;          // the gateway's callbacks use it
  Metrics metrics_;  // likewise
  std::optional<Gateway> gateway_;
  std::vector<ForcedFailure> forced_;  // by --fail; read once, since names of keys may mean others later, or none
  std::optional<LoadedScript> script_;
  std::mutex resetting_;
  std::optional<ScriptWatch> watch_;  // last: it ends before what it changes
};

/// Each connection takes a descriptor, and what a shell allows is often 1024. A test's process may use select(), which
/// knows no more, so that the library leaves its limit alone; nothing here does.
void raise_descriptor_limit();

}  // namespace endpoint
}  // namespace mock_gateway
