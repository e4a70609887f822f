#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control.hpp"
#include "guard.hpp"
#include "program/http_server.hpp"
#include "session_codes.hpp"

namespace mock_gateway {
namespace endpoint {

/// Address and access settings of the control API.
struct ControlSettings {
  std::string host = "127.0.0.1";
  int port = 0;
  /// Allowed Host names besides loopback names.
  std::vector<std::string> allowed_hosts = {};
  std::string token;
  std::string instance;
  /// Shows a console address on the terminal. Returns false if it cannot. Thread-safe.
  std::function<bool(const std::string& address)> show_address = nullptr;
};

/// Serves the control API and the console on a separate port. The gateway's faults, limits and descriptors do not
/// affect it.
class ControlServer final : private internal::HttpHandler {
 public:
  /// Starts listening. Throws BadValue on failure. `serving` must outlive this.
  ControlServer(Serving& serving, ControlSettings settings);
  /// Ends all long polls and connections.
  ~ControlServer() override;
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// "http://127.0.0.1:8081".
  const std::string& url() const { return control_.url; }
  const std::string& token() const { return settings_.token; }
  /// Returns the console's address with a new single-use code, which the console exchanges for the token.
  std::string console_address() { return console_address(codes_.make()); }
  const std::string& host() const { return settings_.host; }

 private:
  std::optional<Failure> refuse(const internal::HttpRequest& head, bool& trusted) override;
  internal::HttpAnswer answer(const internal::HttpRequest& request) override;
  internal::HttpAnswer turn_away(const std::string& why) override;
  internal::HttpAnswer answer_of_api(const internal::HttpRequest& request);
  /// Checks the code of a session request. Throws 401 `no_token`, `wrong_code`, `used_code` or `late_code`. Before the
  /// last two, it shows a new address.
  void require_code(const wire::Headers& headers);
  std::string console_address(const std::string& code) const { return url() + "/#code=" + code; }
  /// Serves a file of the console.
  static internal::HttpAnswer page(const ReceivedRequest& request);
  static internal::HttpAnswer error_answer(const ControlError& error);

  const ControlSettings settings_;
  ControlGuard guard_;
  SessionCodes codes_;
  Control control_;
  std::optional<internal::HttpServer> server_;  // last, so that it is destroyed before members that connections use
};

}  // namespace endpoint
}  // namespace mock_gateway
