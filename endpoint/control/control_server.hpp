#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control.hpp"
#include "guard.hpp"
#include "program/http_server.hpp"
#include "router.hpp"
#include "session_codes.hpp"

namespace mock_gateway {
namespace endpoint {

/// Where the control API listens, and who may use it.
struct ControlSettings {
  std::string host = "127.0.0.1";
  int port = 0;
  /// Names that Host may have beside those of loopback.
  std::vector<std::string> allowed_hosts = {};
  std::string token;
  std::string instance;
  /// Shows an address of the console to the person who started the program. Returns false when it cannot. Any thread
  /// may call it.
  std::function<bool(const std::string& address)> show_address = nullptr;
};

/// Serves the control API and the console page on a port of its own, beside the gateway's, whose faults, limits and
/// descriptors it has nothing to do with.
class ControlServer final : private internal::HttpHandler {
 public:
  /// Listens when it returns. Throws BadValue when it cannot. `serving` must outlive this.
  ControlServer(Serving& serving, ControlSettings settings);
  /// Ends all long polls and connections.
  ~ControlServer() override;
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// "http://127.0.0.1:8081".
  const std::string& url() const { return control_.identity.control_url; }
  const std::string& token() const { return settings_.token; }
  /// The console's address with a new code, which is exchanged for the token once.
  std::string console_address() { return console_address(codes_.make()); }
  const std::string& host() const { return settings_.host; }

 private:
  std::optional<Failure> refuse(const internal::HttpRequest& head, bool& trusted) override;
  internal::HttpAnswer answer(const internal::HttpRequest& request) override;
  internal::HttpAnswer turn_away(const std::string& why) override;
  internal::HttpAnswer answer_of_api(const internal::HttpRequest& request);
  /// Takes the code of a request that asks for the token. Throws 401 `no_token`, `wrong_code`, and, after it has shown
  /// a fresh address, `used_code` and `late_code`.
  void require_code(const wire::Headers& headers);
  std::string console_address(const std::string& code) const { return url() + "/#code=" + code; }
  /// A file of the page.
  static internal::HttpAnswer page(const ReceivedRequest& request);
  static internal::HttpAnswer error_answer(const ControlError& error);

  const ControlSettings settings_;
  ControlGuard guard_;
  SessionCodes codes_;
  const ControlRouter router_;
  Control control_;
  std::optional<internal::HttpServer> server_;  // last: it stops before what its connections use goes
};

}  // namespace endpoint
}  // namespace mock_gateway
