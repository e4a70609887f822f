#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control.hpp"
#include "guard.hpp"
#include "http/server.hpp"
#include "places.hpp"
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
class ControlServer final : private detail::ConnectionHandler {
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
  /// An answer as it is sent.
  struct Response {
    int status = 200;
    std::string type;
    std::string body;
    wire::Headers headers;
    std::function<void()> after;
  };

  std::optional<std::string> accept(const Start& start) override;
  void turn_away(detail::Connection& connection, const detail::HeadCheck& check_head,
                 const std::string& why) noexcept override;
  bool free_a_descriptor() override { return places_.free_a_descriptor(); }
  void serve(detail::Connection& connection, const detail::HeadCheck& check_head, Places::Place& place) noexcept;
  /// What decides, from its head alone, whether a request comes in. Throws ControlError where it does not. A connection
  /// that has shown the token is trusted from then on, and keeps its place as long as the request lasts.
  void let_in(const detail::IncomingRequest& head, detail::Connection& connection, Places::Place& place);
  Response respond(const detail::IncomingRequest& incoming, const detail::Connection& connection);
  Response respond_to_api(const detail::IncomingRequest& incoming, const detail::Connection& connection);
  /// Takes the code of a request that asks for the token. Throws 401 `no_token`, `wrong_code`, and, after it has shown
  /// a fresh address, `used_code` and `late_code`.
  void require_code(const wire::Headers& headers);
  std::string console_address(const std::string& code) const { return url() + "/#code=" + code; }
  /// A file of the page.
  static Response page(const ReceivedRequest& request);
  static Response error_response(const ControlError& error);
  static bool send(detail::Connection& connection, const detail::IncomingRequest& incoming, const Response& response);

  const ControlSettings settings_;
  ControlGuard guard_;
  SessionCodes codes_;
  const ControlRouter router_;
  Control control_;
  RealClock clock_;
  Places places_;
  std::optional<detail::Server> server_;  // last: it stops before what its connections use goes
};

}  // namespace endpoint
}  // namespace mock_gateway
