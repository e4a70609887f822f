#include "acceptor.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include "../core/error.hpp"

namespace mock_gateway {
namespace detail {

Acceptor::Acceptor(int listener, Serve serve, std::function<void(const std::string& why)> deaf)
    : listener_(listener), serve_(std::move(serve)), deaf_(std::move(deaf)), wake_(sockets::open_wake()) {
  const auto give_up = [this](const std::string& why) {
    sockets::close_wake(wake_);
    sockets::stop_listening(listener_);
    throw GatewayError("cannot accept connections: " + why);
  };
  if (wake_.reading < 0) give_up("this process has no descriptor left (ulimit -n)");
  reserve_ = sockets::duplicate(wake_.reading);
  sockets::never_block(listener_);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    if (reserve_ >= 0) sockets::close(reserve_);
    give_up("the system gives no thread (ulimit -u, or the limit of the container)");
  }
}

Acceptor::~Acceptor() {
  stopping_ = true;
  sockets::signal_wake(wake_);
  thread_.join();
  if (room_maker_.joinable()) room_maker_.join();
  sockets::stop_listening(listener_);
  sockets::close_wake(wake_);
  if (reserve_ >= 0) sockets::close(reserve_);
}

void Acceptor::run() {
  // After what may pass by itself: the system's own tables are full, say.
  constexpr Duration pause = std::chrono::milliseconds{10};
  while (!stopping_) {
    int socket = -1;
    switch (sockets::accept(listener_, socket)) {
      case sockets::Acceptance::accepted:
        make_room(socket);
        serve_(socket, false);
        break;
      case sockets::Acceptance::nobody_waits:
        sockets::poll(listener_, sockets::Interest::readable, false, wake_.reading, std::nullopt);
        break;
      case sockets::Acceptance::no_descriptor:
        // The system says so also when nobody waits.
        if (!sockets::poll(listener_, sockets::Interest::readable, false, wake_.reading, std::nullopt).ready) break;
        accept_on_the_reserve();
        if (reserve_ < 0) reserve_ = sockets::duplicate(wake_.reading);
        if (reserve_ >= 0) break;
        [[fallthrough]];
      case sockets::Acceptance::exhausted:
        sockets::poll(wake_.reading, sockets::Interest::readable, false, -1, pause);
        break;
      case sockets::Acceptance::failed:
        if (!stopping_) deaf_(sockets::last_error());
        return;
    }
  }
}

void Acceptor::make_room(int descriptor) {
  if (static_cast<std::size_t>(descriptor) < room_ / 4 * 3) return;
  room_ *= 4;
  if (room_maker_.joinable()) room_maker_.join();
  try {
    room_maker_ = std::thread(sockets::make_room_for_descriptors, room_ - 1);
  } catch (const std::system_error&) {
    // Then there is a pause, some hundreds of connections later.
  }
}

void Acceptor::accept_on_the_reserve() {
  if (reserve_ < 0) return;
  sockets::close(std::exchange(reserve_, -1));
  int socket = -1;
  if (sockets::accept(listener_, socket) == sockets::Acceptance::accepted) serve_(socket, true);
}

}  // namespace detail
}  // namespace mock_gateway
