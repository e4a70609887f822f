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

/// The thread that accepts a listener's connections. At the limit of descriptors a connection would wait in silence,
/// accepted by the kernel and by nobody else; a descriptor held in reserve lets it be told.
class Acceptor {
 public:
  /// What it does with connections: called on its thread. Throws nothing.
  struct Calls {
    /// Takes a connection over. `last_descriptor`: it has the reserve, and must be turned away.
    std::function<void(int socket, bool last_descriptor)> serve;
    /// Whether a descriptor was made free for the next connection.
    std::function<bool()> free_a_descriptor;
    /// Is told why when no connection can be accepted any more.
    std::function<void(const std::string& why)> deaf;
  };

  /// Takes the listener over. `turned_away` is where `serve` puts what cannot be served; it outlives this, which closes
  /// all that is there at its end. Throws GatewayError, saying why, when it cannot begin.
  Acceptor(int listener, Calls calls, TurnedAway& turned_away);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void run();
  /// Waits for a connection, or until there is something to do for one that is turned away.
  void wait();
  /// When somebody waits whom there is no descriptor for. Returns whether something was done about it.
  bool find_a_descriptor();
  bool accept_on_the_reserve();
  /// Called with the newest descriptor.
  void make_room(int descriptor);

  int listener_;
  Calls calls_;
  TurnedAway& turned_away_;
  sockets::WakePair wake_;
  int reserve_ = -1;        // none as long as one that is turned away has it
  std::size_t room_ = 256;  // the kernel's table of descriptors has at least this, or is about to
  std::thread room_maker_;
  std::atomic<bool> stopping_{false};
  StackedThread thread_;  // it answers requests that are turned away
};

}  // namespace mock_gateway::detail
