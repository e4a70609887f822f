#pragma once

#include <functional>
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
  /// Hands the connection to a thread, which calls `serve`. False: the system gives no thread. Throws std::bad_alloc.
  using Start = std::function<bool(Serve serve)>;

  virtual ~ConnectionHandler() = default;
  /// Decides how an accepted connection is served, and starts that. Returns whether there is a thread for it. Called on
  /// the accepting thread, in the order in which connections are accepted. Throws std::bad_alloc.
  virtual bool accept(const Start& start) = 0;
  /// Answers a connection that cannot be served, and says `why`. Called on the accepting thread, for which others wait.
  virtual void turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept = 0;
};

}  // namespace detail
}  // namespace mock_gateway
