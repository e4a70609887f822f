// The accepting thread and its reserve descriptor. Listening is in `server.cpp`, its errors in `sockets.cpp`.

#include "acceptor.hpp"

#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "../core/error.hpp"

namespace mock_gateway::detail {

Acceptor::Acceptor(Socket listener, Calls calls, TurnedAway& turned_away)
    : listener_(listener), calls_(std::move(calls)), turned_away_(turned_away), wake_(sockets::open_wake()) {
  const auto give_up = [this](const std::string& why) {
    sockets::close_wake(wake_);
    sockets::stop_listening(listener_);
    throw GatewayError("cannot accept connections: " + why);
  };
  if (wake_.reading == Socket::none) give_up("this process has no descriptor left (ulimit -n)");
  reserve_ = sockets::duplicate(wake_.reading);
  sockets::never_block(listener_);
  try {
    thread_.start([this] { run(); });
  } catch (const std::system_error&) {
    if (reserve_ != Socket::none) sockets::close(reserve_);
    give_up("the system refuses another thread (ulimit -u, or the limit of the container)");
  }
}

Acceptor::~Acceptor() {
  stopping_ = true;
  sockets::signal_wake(wake_);
  thread_.join();
  if (table_grower_.joinable()) table_grower_.join();
  sockets::stop_listening(listener_);
  sockets::close_wake(wake_);
  if (reserve_ != Socket::none) sockets::close(reserve_);
}

bool Acceptor::is_behind() const {
  // In this order: a connection that has left the queue meanwhile is still being accepted.
  return sockets::poll(listener_, sockets::Interest::readable, false, Socket::none, Duration{0}).ready || is_accepting_;
}

void Acceptor::run() {
  // Pause after an error that may be temporary, such as full system tables.
  constexpr Duration pause = std::chrono::milliseconds{10};
  while (!stopping_) {
    turned_away_.attend();
    if (reserve_ == Socket::none) reserve_ = sockets::duplicate(wake_.reading);
    Socket socket = Socket::none;
    is_accepting_ = true;
    switch (sockets::accept(listener_, socket)) {
      case sockets::Acceptance::accepted:
        make_room(socket);
        calls_.serve(socket, false);
        break;
      case sockets::Acceptance::nobody_waits: wait(); break;
      case sockets::Acceptance::no_descriptor:
        if (find_a_descriptor()) break;
        [[fallthrough]];
      case sockets::Acceptance::exhausted:
        sockets::poll(wake_.reading, sockets::Interest::readable, false, Socket::none, pause);
        break;
      case sockets::Acceptance::failed:
        if (!stopping_) calls_.deaf(sockets::last_error());
        turned_away_.close_all();
        return;
    }
  }
  turned_away_.close_all();
}

void Acceptor::wait() {
  is_accepting_ = false;
  if (turned_away_.empty()) {
    sockets::poll(listener_, sockets::Interest::readable, false, wake_.reading, std::nullopt);
    return;
  }
  std::vector<sockets::Watched> descriptors = {{listener_}, {wake_.reading}};
  turned_away_.watch(descriptors);
  sockets::poll_each(descriptors, turned_away_.due());
}

bool Acceptor::find_a_descriptor() {
  // accept() reports a missing descriptor even if no connection is pending.
  if (!sockets::poll(listener_, sockets::Interest::readable, false, Socket::none, Duration{0}).ready) {
    wait();
    return true;
  }
  if (turned_away_.empty()) return accept_on_the_reserve();
  if (!turned_away_.close_answered()) {
    std::vector<sockets::Watched> descriptors = {{wake_.reading}};
    turned_away_.watch(descriptors);
    sockets::poll_each(descriptors, turned_away_.due());
  }
  return true;
}

void Acceptor::make_room(Socket descriptor) {
  if (sockets::table_position(descriptor).value_or(0) < table_size_ / 4 * 3) return;
  table_size_ *= 4;
  if (table_grower_.joinable()) table_grower_.join();
  try {
    table_grower_ = std::thread(sockets::make_room_for_descriptors, table_size_ - 1);
  } catch (const std::system_error&) {
    // Without this thread, a later accept() enlarges the table and halts briefly.
  }
}

bool Acceptor::accept_on_the_reserve() {
  if (reserve_ == Socket::none) return false;
  sockets::close(std::exchange(reserve_, Socket::none));
  Socket socket = Socket::none;
  if (sockets::accept(listener_, socket) == sockets::Acceptance::accepted) calls_.serve(socket, true);
  return true;
}

}  // namespace mock_gateway::detail
