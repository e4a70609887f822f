#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "connection.hpp"
#include "request_reader.hpp"

namespace mock_gateway::detail {

/// What becomes of the connections of a Server: decided by the layer above, in `src/serve/connection_loop.cpp`, on the
/// server's threads.
class ConnectionHandler {
 public:
  /// Serves what a client has sent. Returns whether it may send more: then this is called again when it has, or has
  /// sent nothing for as long as a connection may be idle, on any thread; else the connection is closed. Throws
  /// nothing.
  using Serve = std::function<bool(Connection& connection, const HeadCheck& check_head)>;
  /// When a connection is served first: as soon as it is accepted, or when its client has sent something.
  enum class Beginning { accepted, client_speaks };
  /// Has the connection served, and destroys `serve` when it is closed. Returns why not, when the system gives no
  /// thread. Throws std::bad_alloc.
  using Start = std::function<std::optional<std::string>(Beginning beginning, Serve serve)>;

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

/// The listening socket and the connections of one gateway. cpp-httplib binds the socket and checks the grammar of
/// requests; accepting, and the connections, are ours.
class Server {
 public:
  /// Listens when it returns; `on_bound` learns the port before the first connection is served. `handler` must outlive
  /// this. Throws GatewayError, saying why, when it cannot.
  Server(ConnectionHandler& handler, const std::string& host, int port, const ConnectionLimits& limits,
         const std::function<void(int port)>& on_bound);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Keeps so many descriptors of this process from connections whose limits do not allow them, from now on; but at
  /// most a quarter of all. A server that must be reached whatever happens to the others has them.
  static void keep_descriptors(std::size_t count);

  int port() const;
  /// Closes the listening socket until accept_again; connections go on.
  void refuse();
  /// Throws GatewayError when the port cannot be had any more.
  void accept_again();
  /// Ends every connection and stops listening; nothing happens the second time.
  void stop();
  /// Whether the caller was called by this server: it must not wait for the server to stop.
  bool is_own_thread() const;

 private:
  class Impl;
  /// cpp-httplib changes what the process does on SIGPIPE; this does not.
  static std::unique_ptr<Impl> make_impl(ConnectionHandler& handler, const ConnectionLimits& limits);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mock_gateway::detail
