#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include "sockets.hpp"

namespace mock_gateway {
namespace detail {

/// The thread that accepts a listener's connections. At the limit of descriptors a connection would wait in silence,
/// accepted by the kernel and by nobody else; a descriptor held in reserve lets it be told.
class Acceptor {
 public:
  /// Takes a connection over. `last_descriptor`: it has the reserve, so that no other can be told anything until it is
  /// closed; it must be before the function returns. Throws nothing.
  using Serve = std::function<void(int socket, bool last_descriptor)>;

  /// Takes the listener over. `deaf` is told why when no connection can be accepted any more. Throws GatewayError,
  /// saying why, when it cannot begin.
  Acceptor(int listener, Serve serve, std::function<void(const std::string& why)> deaf);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Whether the caller is its thread.
  bool is_current() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void run();
  void accept_on_the_reserve();
  /// Called with the newest descriptor.
  void make_room(int descriptor);

  int listener_;
  Serve serve_;
  std::function<void(const std::string& why)> deaf_;
  sockets::WakePair wake_;
  int reserve_ = -1;
  std::size_t room_ = 256;  // the kernel's table of descriptors has at least this, or is about to
  std::thread room_maker_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace detail
}  // namespace mock_gateway
