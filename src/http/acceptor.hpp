#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include "sockets.hpp"
#include "turned_away.hpp"
#include "workers.hpp"

namespace mock_gateway::detail {

/// The thread that accepts connections. A reserve descriptor lets it answer a connection when no other is left.
class Acceptor {
 public:
  /// Callbacks, called on the accepting thread. They throw nothing.
  struct Calls {
    /// Serves a connection, or turns it away. If `last_descriptor`, it uses the reserve and must be turned away.
    std::function<void(Socket socket, bool last_descriptor)> serve;
    /// Reports why no more connections can be accepted.
    std::function<void(const std::string& why)> deaf;
  };

  /// Takes ownership of the listener. `serve` puts connections it cannot serve into `turned_away`, which must outlive
  /// the acceptor. The destructor closes the remaining ones. Throws GatewayError if it cannot start.
  Acceptor(Socket listener, Calls calls, TurnedAway& turned_away);
  ~Acceptor();
  /// Whether a connection waits to be accepted, or is being accepted.
  bool is_behind() const;
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void run();
  void wait();
  /// Handles a pending connection when no descriptor is left. Returns false if it could do nothing.
  bool find_a_descriptor();
  bool accept_on_the_reserve();
  void make_room(Socket descriptor);

  Socket listener_;
  Calls calls_;
  TurnedAway& turned_away_;
  sockets::WakePair wake_;
  Socket reserve_ = Socket::none;  // none while a turned-away connection uses it
  std::size_t table_size_ = 256;   // size of the kernel's descriptor table after the growth under way
  std::thread table_grower_;
  std::atomic<bool> is_accepting_{false};
  std::atomic<bool> stopping_{false};
  StackedThread thread_;
};

}  // namespace mock_gateway::detail
