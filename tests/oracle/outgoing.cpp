// Recording of a gateway's writes: this program defines send(2), which the library calls instead of the system's
// function.

#include "outgoing.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

namespace oracle {
namespace {

struct Watched {
  std::mutex mutex;
  std::map<int, Outgoing*> by_port;
};

Watched& watched() {
  static Watched all;
  return all;
}

/// Returns the local port of a socket, or 0 if it has none. All connections of a gateway have the port of its listener;
/// no client's connection has it.
int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

}  // namespace

Outgoing::Outgoing(const mock_gateway::Gateway& gateway, std::function<std::chrono::nanoseconds()> now, int send_buffer)
    : port_(gateway.port()), now_(std::move(now)), send_buffer_(send_buffer) {
  const std::lock_guard<std::mutex> lock(watched().mutex);
  watched().by_port[port_] = this;
}

Outgoing::~Outgoing() {
  const std::lock_guard<std::mutex> lock(watched().mutex);
  watched().by_port.erase(port_);
}

std::vector<Outgoing::Write> Outgoing::writes() const {
  const std::lock_guard<std::mutex> lock(watched().mutex);
  return writes_;
}

bool Outgoing::was_full() const {
  const std::lock_guard<std::mutex> lock(watched().mutex);
  return was_full_;
}

void Outgoing::begin_send(int socket, std::size_t size) {
  const int port = port_of(socket);
  const std::lock_guard<std::mutex> lock(watched().mutex);
  if (const auto found = watched().by_port.find(port); found != watched().by_port.end())
    found->second->begin(socket, size);
}

void Outgoing::begin(int socket, std::size_t size) {
  if (send_buffer_ > 0) ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer_, sizeof send_buffer_);
  const bool is_rest = taken_ != promised_ && taken_ + size == promised_;
  if (!is_rest) writes_.push_back({size, now_()});
  promised_ = taken_ + size;
}

void Outgoing::end_send(int socket, std::size_t taken) {
  const int port = port_of(socket);
  const std::lock_guard<std::mutex> lock(watched().mutex);
  const auto found = watched().by_port.find(port);
  if (found == watched().by_port.end()) return;
  found->second->taken_ += taken;
  if (taken == 0) found->second->was_full_ = true;
}

}  // namespace oracle

extern "C" ssize_t send(int socket, const void* bytes, std::size_t size, int flags) {
  oracle::Outgoing::begin_send(socket, size);
  const ssize_t taken = ::sendto(socket, bytes, size, flags, nullptr, 0);
  const int problem = errno;
  oracle::Outgoing::end_send(socket, static_cast<std::size_t>(std::max<ssize_t>(taken, 0)));
  errno = problem;
  return taken;
}
