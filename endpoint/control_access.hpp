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

/// The validated settings of the control API.
class ControlAccess {
 public:
  /// Throws BadValue for an invalid flag or token. Removes the info file of an earlier run.
  explicit ControlAccess(const Flags& flags);

  /// Starts the control API, if enabled, and writes the info file. Throws BadValue.
  void begin(Serving& serving);
  /// Removes the info file, then stops the control API. Calling it again has no effect.
  void end();

  /// The ID of this run, and the token.
  RunIdentity identity() const;
  /// "http://127.0.0.1:8081"; empty when the control API is off.
  std::string url() const;
  /// Returns the console's address with a new single-use code, which is valid for 60 s.
  std::string console_with_code();
  /// Returns the JSON line of --info-file and --print json.
  std::string info(const Gateway& gateway) const;

 private:
  std::optional<ControlSettings> settings_;
  const std::string instance_;
  std::optional<PublishedFile> info_file_;
  std::optional<ControlServer> server_;
};

/// Starts the control API, and stops it when it goes out of scope. The gateway must outlive this.
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

/// Stops the program like SIGTERM when stdin is closed.
void end_with_stdin();

}  // namespace endpoint
}  // namespace mock_gateway
