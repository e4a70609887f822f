#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "connection.hpp"
#include "request_reader.hpp"

namespace mock_gateway::detail {

/// Serves a Server's connections, on its threads. Implemented in `src/serve/connection_loop.cpp`.
class ConnectionHandler {
 public:
  /// Serves what a client has sent, on any thread. Returns false to close the connection. Otherwise it is called again
  /// after more bytes or the idle timeout. Throws nothing.
  using Serve = std::function<bool(Connection& connection, const HeadCheck& check_head)>;
  enum class Beginning { accepted, client_speaks };
  /// Starts serving; destroys `serve` with the connection. Returns an error if out of threads. Throws std::bad_alloc.
  using Start = std::function<std::optional<std::string>(Beginning beginning, Serve serve)>;

  virtual ~ConnectionHandler() = default;
  /// Starts serving a connection. Returns why it cannot, or nothing. Called on the accepting thread in the order of
  /// acceptance, so it must not wait. Throws std::bad_alloc.
  virtual std::optional<std::string> accept(const Start& start) = 0;
  /// Answers a connection that cannot be served. Called on the accepting thread; the limits keep it from blocking.
  virtual void turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept = 0;
};

/// Throws GatewayError if this program is linked with a cpp-httplib that was compiled with other macros, which change
/// the layout of its classes. Implemented in `compatibility.cpp`.
void require_matching_httplib();

/// The listening socket and connections of a gateway. cpp-httplib only binds it and checks heads.
class Server {
 public:
  /// Starts listening. `on_bound` gets the port before the first connection is served. `handler` must outlive the
  /// server. Throws GatewayError if it cannot listen.
  Server(ConnectionHandler& handler, const std::string& host, int port, const ConnectionLimits& limits,
         const std::function<void(int port)>& on_bound);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Reserves up to `count` descriptors of this process, at most a quarter of its limit, for connections with
  /// uses_kept_descriptors. A control server stays reachable this way.
  static void keep_descriptors(std::size_t count);

  int port() const;
  /// Closes the listening socket until accept_again(); open connections continue.
  void refuse();
  /// Throws GatewayError if the port is no longer available.
  void accept_again();
  /// Waits in real time, up to `patience`, until all is read that clients have sent so far, including their FIN.
  void catch_up(Duration patience) const;
  /// Ends every connection and stops listening. Further calls do nothing.
  void stop();
  /// Whether the calling thread belongs to this server, and so must not wait for it to stop.
  bool is_own_thread() const;

 private:
  class Impl;
  /// Keeps the process's SIGPIPE handling, which cpp-httplib would change.
  static std::unique_ptr<Impl> make_impl(ConnectionHandler& handler, const ConnectionLimits& limits);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mock_gateway::detail
