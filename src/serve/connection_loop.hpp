#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "../http/server.hpp"
#include "../model/connection_fault.hpp"
#include "gateway_state.hpp"
#include "runner.hpp"

namespace mock_gateway::detail {

/// The handler of a gateway's connections: one exchange after the other, or a connection fault.
class ConnectionLoop final : public ConnectionHandler {
 public:
  explicit ConnectionLoop(GatewayState& gateway) : gateway_(gateway) {}

  std::optional<std::string> accept(const Start& start) override;
  void turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept override;

 private:
  struct ConnectionProgress {
    /// The number of the current or next request on the connection, from 1.
    std::size_t position = 1;
    /// Whether a fault resets the connection once the previous reply has been delivered.
    bool is_reset = false;
    // At most one of these is set: the current activity.
    std::unique_ptr<RequestReader> reader;
    std::unique_ptr<RunningExchange> exchange;
    std::unique_ptr<SkippedBody> skipped;
    /// The head of the request, if its body is read after the exchange.
    std::unique_ptr<IncomingRequest> answered;
  };

  /// Continues the current activity and serves the requests that have arrived. Returns whether more may arrive.
  bool serve(Connection& connection, const HeadCheck& check_head, ConnectionProgress& progress) noexcept;
  // Each function returns true to continue at once, false to end the connection, and nothing to wait.
  std::optional<bool> begin(Connection& connection, const HeadCheck& check_head, ConnectionProgress& progress);
  std::optional<bool> read(Connection& connection, ConnectionProgress& progress);
  static std::optional<bool> answer(Connection& connection, ConnectionProgress& progress);
  static std::optional<bool> skip(Connection& connection, ConnectionProgress& progress);
  /// Ends a connection without a request. Returns false, for serve().
  bool strike(Connection& connection, const ConnectionFault& fault) noexcept;
  void note_hit(Connection& connection, const ConnectionFault& fault);

  GatewayState& gateway_;
  bool has_turned_away_ = false;  // only used by the accepting thread
};

}  // namespace mock_gateway::detail
