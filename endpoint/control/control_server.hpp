#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "control.hpp"
#include "guard.hpp"
#include "http/connection_handler.hpp"
#include "http/server.hpp"
#include "router.hpp"

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

  bool accept(const Start& start) override;
  void turn_away(detail::Connection& connection, const detail::HeadCheck& check_head,
                 const std::string& why) noexcept override;
  void serve(detail::Connection& connection, const detail::HeadCheck& check_head) noexcept;
  Response respond(const detail::IncomingRequest& incoming, const detail::Connection& connection);
  Response respond_to_api(const detail::IncomingRequest& incoming, const detail::Connection& connection);
  /// A file of the page.
  static Response page(const ReceivedRequest& request);
  static Response error_response(const ControlError& error);
  static bool send(detail::Connection& connection, const detail::IncomingRequest& incoming, const Response& response);

  /// Takes one of the places for connections. Where all are taken, it waits a moment: whoever has closed a connection
  /// and opens the next may be faster than the thread that served it.
  bool take_place();
  void give_place_back();

  static constexpr std::size_t most_connections = 64;

  const ControlSettings settings_;
  ControlGuard guard_;
  const ControlRouter router_;
  Control control_;
  RealClock clock_;
  std::mutex places_mutex_;
  std::condition_variable place_or_end_;
  std::size_t taken_places_ = 0;
  bool ending_ = false;
  bool is_full_ = false;                  // of the accepting thread: why the connection at hand is turned away
  std::optional<detail::Server> server_;  // last: it stops before what its connections use goes
};

}  // namespace endpoint
}  // namespace mock_gateway
