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

/// What becomes of a gateway's connections: one exchange after the other, or the fault that strikes them.
class ConnectionLoop final : public ConnectionHandler {
 public:
  explicit ConnectionLoop(GatewayState& gateway) : gateway_(gateway) {}

  std::optional<std::string> accept(const Start& start) override;
  void turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept override;

 private:
  /// How far a connection has come.
  struct Course {
    /// The request's that is served, or comes next, on the connection.
    std::size_t position = 1;
    /// By a fault, as soon as the reply before has arrived.
    bool is_reset = false;
    // At most one of them is there: what is under way.
    std::unique_ptr<RequestReader> reader;
    std::unique_ptr<RunningExchange> exchange;
    std::unique_ptr<SkippedBody> skipped;
    /// The head of the request, where its body is read after the exchange.
    std::unique_ptr<IncomingRequest> answered;
  };

  /// Goes on with what is under way, and serves the requests that have come. Returns whether more may come.
  bool serve(Connection& connection, const HeadCheck& check_head, Course& course) noexcept;
  // Each of these returns whether the connection goes on at once; nothing: it waits.
  std::optional<bool> begin(Connection& connection, const HeadCheck& check_head, Course& course);
  std::optional<bool> read(Connection& connection, Course& course);
  static std::optional<bool> answer(Connection& connection, Course& course);
  static std::optional<bool> skip(Connection& connection, Course& course);
  /// Ends a connection without a request. Returns false, as serve() then does.
  bool strike(Connection& connection, const ConnectionFault& fault) noexcept;
  /// Records that a fault strikes a connection, and calls Options::on_connection_hit.
  void note_hit(Connection& connection, const ConnectionFault& fault);

  GatewayState& gateway_;
  bool has_turned_away_ = false;  // of the accepting thread
};

}  // namespace mock_gateway::detail
