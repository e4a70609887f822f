#pragma once

#include <memory>
#include <optional>
#include <string>

#include "control/control_server.hpp"
#include "flags.hpp"
#include "library.hpp"
#include "published_file.hpp"
#include "serving.hpp"

namespace mock_gateway {
namespace endpoint {

/// What the flags say of the control API, checked, before anything is served.
class ControlAccess {
 public:
  /// Throws BadValue for a flag or a token that cannot be used. Removes the info file of an earlier run.
  explicit ControlAccess(const Flags& flags);

  /// Starts the control API if it is wanted, and writes the info file. Throws BadValue.
  void begin(Serving& serving);
  /// Removes the info file, then ends the control API. Nothing happens the second time.
  void end();

  /// What this run is known by, and the token.
  RunIdentity identity() const;
  /// "http://127.0.0.1:8081"; empty when the control API is off.
  std::string url() const;
  /// The console's address, with a new code that opens it once, within 60 s.
  std::string console_with_code();
  /// What --info-file and --print json tell, on one line.
  std::string info(const Gateway& gateway) const;

 private:
  std::optional<ControlSettings> settings_;
  const std::string instance_;
  std::optional<PublishedFile> info_file_;
  std::optional<ControlServer> server_;
};

/// The time in which the control API serves a gateway, which must outlive this.
class ControlSession {
 public:
  /// Throws BadValue.
  ControlSession(ControlAccess& access, Serving& serving) : access_(access) { access_.begin(serving); }
  ~ControlSession() { access_.end(); }
  ControlSession(const ControlSession&) = delete;
  ControlSession& operator=(const ControlSession&) = delete;

 private:
  ControlAccess& access_;
};

/// Ends the program, as SIGTERM does, when stdin is closed.
void end_with_stdin();

}  // namespace endpoint
}  // namespace mock_gateway
