// What the server asks of `src/serve/connection_loop.cpp`.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "connection.hpp"
#include "request_reader.hpp"

namespace mock_gateway {
namespace detail {

/// What becomes of the connections of a Server: decided by the layer above, on the server's threads.
class ConnectionHandler {
 public:
  /// Serves a connection until it ends. Called on a thread that has nothing else to do. Throws nothing.
  using Serve = std::function<void(Connection& connection, const HeadCheck& check_head)>;
  /// Hands the connection to a thread, which calls `serve`, and destroys it when the connection is closed. Returns why
  /// not, when the system gives no thread. Throws std::bad_alloc.
  using Start = std::function<std::optional<std::string>(Serve serve)>;

  virtual ~ConnectionHandler() = default;
  /// Decides how an accepted connection is served, and starts that. Returns why it cannot be served; nothing when it
  /// is. Called on the accepting thread, in the order in which connections are accepted: it waits for no client. Throws
  /// std::bad_alloc.
  virtual std::optional<std::string> accept(const Start& start) = 0;
  /// Answers a connection that cannot be served, and says `why`. Called on the accepting thread, for which others wait:
  /// the connection's limits are such that nothing waits for its client.
  virtual void turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept = 0;
  /// Called on the accepting thread when the process has no descriptor for the next connection. Returns whether one is
  /// free now, because a connection was closed that is not in use.
  virtual bool free_a_descriptor() { return false; }
};

}  // namespace detail
}  // namespace mock_gateway
