#pragma once

#include <optional>
#include <string>

#include "../http/server.hpp"
#include "../model/connection_fault.hpp"
#include "gateway_state.hpp"
#include "runner.hpp"

namespace mock_gateway::detail {

/// What becomes of a gateway's connections: one exchange after the other, or the fault that strikes them.
class ConnectionLoop final : public ConnectionHandler {
 public:
  explicit ConnectionLoop(GatewayState& gateway) : gateway_(gateway), runner_(gateway) {}

  std::optional<std::string> accept(const Start& start) override;
  void turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept override;

 private:
  /// Serves the requests that have come. `position` is the next one's on the connection. Returns whether more may come.
  bool serve(Connection& connection, const HeadCheck& check_head, std::size_t& position) noexcept;
  /// Reads the body of a request that was answered before it. Returns whether the next request can follow it.
  static bool skip(Connection& connection, IncomingRequest&& head) noexcept;
  /// Ends a connection without a request. Returns false, as serve() then would.
  bool strike(Connection& connection, const ConnectionFault& fault) noexcept;
  /// Records that a fault strikes a connection, and calls Options::on_connection_hit.
  void note_hit(Connection& connection, const ConnectionFault& fault);

  GatewayState& gateway_;
  Runner runner_;
  bool has_turned_away_ = false;  // of the accepting thread
};

}  // namespace mock_gateway::detail
