#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "connection.hpp"
#include "connection_handler.hpp"

namespace mock_gateway {
namespace detail {

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

}  // namespace detail
}  // namespace mock_gateway
