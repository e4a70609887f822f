// The system calls for sockets on Linux, macOS and other POSIX systems: options, FIN, RST, backlog, poll.

#include "sockets.hpp"

#ifndef _WIN32
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>

#ifdef __linux__
#include <linux/sockios.h>
#include <sys/eventfd.h>
#if __has_include(<linux/inet_diag.h>) && __has_include(<linux/sock_diag.h>)
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#endif
#endif

namespace mock_gateway::detail {
namespace sockets {

#ifdef MSG_NOSIGNAL
inline constexpr int send_flags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
inline constexpr int send_flags = MSG_DONTWAIT;
#ifndef SO_NOSIGPIPE
#error "mock_gateway needs a system that can send without SIGPIPE: with MSG_NOSIGNAL or SO_NOSIGPIPE"
#endif
#endif
#ifdef POLLRDHUP
inline constexpr short peer_closed_event = POLLRDHUP;
#else
inline constexpr short peer_closed_event = 0;
#endif

inline constexpr int backlog = 4096;

int number(Socket socket) { return static_cast<int>(socket); }

Transfer outcome_of(ssize_t result, std::size_t& bytes) {
  bytes = result > 0 ? static_cast<std::size_t>(result) : 0;
  if (result >= 0) return Transfer::done;
  if (errno == EAGAIN || errno == EWOULDBLOCK) return Transfer::would_block;
  // After a FIN, Linux reports EPIPE in both directions.
  return errno == ECONNRESET ? Transfer::reset : Transfer::failed;
}

void adopt(Socket socket) {
  ::fcntl(number(socket), F_SETFD, FD_CLOEXEC);
  const int on = 1;
  ::setsockopt(number(socket), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef SO_NOSIGPIPE
  ::setsockopt(number(socket), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

Transfer send(Socket socket, const char* data, std::size_t size, std::size_t& bytes) {
  ssize_t result;
  do result = ::send(number(socket), data, size, send_flags);
  while (result < 0 && errno == EINTR);
  return outcome_of(result, bytes);
}

#ifdef SO_TIMESTAMPNS
/// Returns how long ago a message's bytes reached this system, by the system clock; empty if unknown.
std::optional<Duration> age_of(msghdr& message) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SO_TIMESTAMPNS) continue;
    timespec arrived{};
    std::memcpy(&arrived, CMSG_DATA(item), sizeof arrived);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const Duration age = std::chrono::seconds{now.tv_sec - arrived.tv_sec} + Duration{now.tv_nsec - arrived.tv_nsec};
    // Then the clock was probably set: bytes do not wait that long.
    if (age < Duration{0} || age > std::chrono::minutes{1}) return std::nullopt;
    return age;
  }
  return std::nullopt;
}
#endif

Transfer receive(Socket socket, char* data, std::size_t size, std::size_t& bytes, std::optional<Duration>& age) {
  age.reset();
  ssize_t result;
#ifdef SO_TIMESTAMPNS
  iovec into{data, size};
  alignas(cmsghdr) char items[CMSG_SPACE(sizeof(timespec))];
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = items;
  message.msg_controllen = sizeof items;
  do result = ::recvmsg(number(socket), &message, MSG_DONTWAIT);
  while (result < 0 && errno == EINTR);
  if (result > 0) age = age_of(message);
#else
  do result = ::recv(number(socket), data, size, MSG_DONTWAIT);
  while (result < 0 && errno == EINTR);
#endif
  return outcome_of(result, bytes);
}

int poll_for(pollfd* watched, nfds_t count, std::optional<Duration> timeout) {
#ifdef __linux__
  timespec limit{};
  if (timeout) {
    // Linux may end a wait late by 0.1%, at most 100 ms. If the reduced timeout ends early, the caller looks again.
    constexpr Duration::rep most_slack = 100'000'000;
    auto nanoseconds = std::max(Duration{0}, *timeout).count();
    nanoseconds -= std::min(nanoseconds / 1001, most_slack);
    limit.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
  }
  return ::ppoll(watched, count, timeout ? &limit : nullptr, nullptr);
#else
  int limit = -1;
  if (timeout) {
    const auto milliseconds = (std::max(Duration{0}, *timeout).count() + 999'999) / 1'000'000;
    limit = static_cast<int>(std::min<Duration::rep>(milliseconds, std::numeric_limits<int>::max()));
  }
  return ::poll(watched, count, limit);
#endif
}

Readiness poll(Socket socket, Interest interest, bool watch_peer, Socket wake, std::optional<Duration> timeout) {
  pollfd watched[2] = {{number(socket), 0, 0}, {number(wake), POLLIN, 0}};
  if (interest == Interest::readable) watched[0].events = POLLIN;
  if (interest == Interest::writable) watched[0].events = POLLOUT;
  if (watch_peer) watched[0].events = static_cast<short>(watched[0].events | peer_closed_event);
  const nfds_t count = wake == Socket::none ? 1 : 2;
  const int ready = poll_for(watched, count, timeout);
  Readiness readiness;
  if (ready <= 0) return readiness;  // timeout or signal: the caller polls again
  const short events = watched[0].revents;
  readiness.disconnected = (events & (POLLERR | POLLHUP | POLLNVAL)) != 0;
  readiness.peer_closed = (events & peer_closed_event) != 0;
  readiness.ready = (events & (POLLIN | POLLOUT)) != 0;
  readiness.woken = count == 2 && watched[1].revents != 0;
  return readiness;
}

void poll_each(std::vector<Watched>& descriptors, std::optional<Duration> timeout) {
  std::vector<pollfd> watched;
  watched.reserve(descriptors.size());
  for (const Watched& one : descriptors) {
    const int events =
        (one.wanted.bytes ? POLLIN : 0) | (one.wanted.close ? peer_closed_event : 0) | (one.wanted.room ? POLLOUT : 0);
    watched.push_back({number(one.descriptor), static_cast<short>(events), 0});
  }
  if (poll_for(watched.data(), static_cast<nfds_t>(watched.size()), timeout) <= 0) return;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    descriptors[i].is_ready = (watched[i].revents & (POLLIN | POLLOUT)) != 0;
    descriptors[i].hung_up = (watched[i].revents & (peer_closed_event | POLLERR | POLLHUP | POLLNVAL)) != 0;
  }
}

bool was_reset(Socket socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(number(socket), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNRESET;
}

bool was_closed(Socket socket) {
  char byte = 0;
  const ssize_t received = ::recv(number(socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return received == 0 || (received < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

#ifdef SIOCOUTQNSD
/// Returns a number of bytes that the system reports; 0 if unknown.
std::size_t queued(Socket socket, unsigned long request) {
  int bytes = 0;
  return ::ioctl(number(socket), request, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::size_t unacknowledged(Socket socket) { return queued(socket, SIOCOUTQ); }
std::size_t unsent(Socket socket) { return queued(socket, SIOCOUTQNSD); }
#else
std::size_t unacknowledged(Socket) { return 0; }
std::size_t unsent(Socket) { return 0; }
#endif

#ifdef INET_DIAG_NOCOOKIE
/// Sets the addresses of a connection as its peer's socket has them. Returns false for other than IP connections.
bool ends_of_peer(Socket socket, inet_diag_req_v2& asked) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_size = sizeof own;
  socklen_t peer_size = sizeof peer;
  if (::getsockname(number(socket), reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(number(socket), reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
    return false;
  const auto put = [](const sockaddr_storage& end, auto& port, auto& address) {
    if (end.ss_family == AF_INET) {
      const auto& internet = reinterpret_cast<const sockaddr_in&>(end);
      port = internet.sin_port;
      std::memcpy(&address, &internet.sin_addr, sizeof internet.sin_addr);
    } else {
      const auto& internet = reinterpret_cast<const sockaddr_in6&>(end);
      port = internet.sin6_port;
      std::memcpy(&address, &internet.sin6_addr, sizeof internet.sin6_addr);
    }
  };
  if (own.ss_family != peer.ss_family || (own.ss_family != AF_INET && own.ss_family != AF_INET6)) return false;
  asked.sdiag_family = static_cast<std::uint8_t>(own.ss_family);
  put(peer, asked.id.idiag_sport, asked.id.idiag_src);
  put(own, asked.id.idiag_dport, asked.id.idiag_dst);
  return true;
}

/// Offsets of byte counts in the kernel's tcp_info. The C library's tcp_info ends before them.
enum class ByteCount : std::size_t { acknowledged = 120, received = 128 };

std::optional<std::uint64_t> counted_in(const char* info, std::size_t size, ByteCount count) {
  std::uint64_t bytes = 0;
  if (size < static_cast<std::size_t>(count) + sizeof bytes) return std::nullopt;
  std::memcpy(&bytes, info + static_cast<std::size_t>(count), sizeof bytes);
  return bytes;
}

/// Returns the number of bytes ever passed to the system on an accepted connection.
std::optional<std::uint64_t> passed_to_system(Socket socket) {
  char info[512];
  socklen_t size = sizeof info;
  if (::getsockopt(number(socket), IPPROTO_TCP, TCP_INFO, info, &size) != 0) return std::nullopt;
  const std::optional<std::uint64_t> acknowledged = counted_in(info, size, ByteCount::acknowledged);
  if (!acknowledged) return std::nullopt;
  return *acknowledged + unacknowledged(socket);
}

struct PeerAddress {
  std::size_t unread = 0;
  std::optional<std::uint64_t> received = {};
};

std::optional<PeerAddress> peer_address(Socket socket) {
  struct {
    nlmsghdr head;
    inet_diag_req_v2 asked;
  } request{};
  if (!ends_of_peer(socket, request.asked)) return std::nullopt;
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST;
  request.asked.sdiag_protocol = IPPROTO_TCP;
  request.asked.idiag_ext = 1u << (INET_DIAG_INFO - 1);
  request.asked.idiag_states = ~0U;
  request.asked.id.idiag_cookie[0] = request.asked.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const int system = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (system < 0) return std::nullopt;
  char answer[2048];
  ssize_t size = -1;
  // The kernel answers before send() returns.
  if (::send(system, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request))
    size = ::recv(system, answer, sizeof answer, MSG_DONTWAIT);
  ::close(system);
  nlmsghdr head{};
  inet_diag_msg found{};
  constexpr std::size_t attributes = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof found);
  if (size < static_cast<ssize_t>(attributes)) return std::nullopt;
  std::memcpy(&head, answer, sizeof head);
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;  // no such socket on this machine
  std::memcpy(&found, answer + NLMSG_HDRLEN, sizeof found);
  PeerAddress end;
  end.unread = found.idiag_rqueue;
  nlattr attribute{};
  for (std::size_t at = attributes; at + sizeof attribute <= static_cast<std::size_t>(size);
       at += NLA_ALIGN(attribute.nla_len)) {
    std::memcpy(&attribute, answer + at, sizeof attribute);
    if (attribute.nla_len < NLA_HDRLEN || at + attribute.nla_len > static_cast<std::size_t>(size)) break;
    if (attribute.nla_type == INET_DIAG_INFO)
      end.received = counted_in(answer + at + NLA_HDRLEN, attribute.nla_len - NLA_HDRLEN, ByteCount::received);
  }
  return end;
}

std::optional<bool> has_all(const PeerAddress& end, Socket socket) {
  const std::optional<std::uint64_t> sent = passed_to_system(socket);
  if (!sent || !end.received) return std::nullopt;
  return *end.received >= *sent;
}

std::optional<bool> was_read_by_peer(Socket socket) {
  const std::optional<PeerAddress> end = peer_address(socket);
  if (!end) return std::nullopt;
  // The queue may be empty because nothing has arrived yet.
  return end->unread == 0 && has_all(*end, socket).value_or(unacknowledged(socket) == 0);
}

std::size_t under_way(Socket socket) {
  const std::size_t bytes = unacknowledged(socket);
  if (bytes == 0 || unsent(socket) > 0) return bytes;
  const std::optional<PeerAddress> end = peer_address(socket);
  return end && has_all(*end, socket).value_or(false) ? 0 : bytes;
}
#else
std::optional<bool> was_read_by_peer(Socket) { return std::nullopt; }
std::size_t under_way(Socket socket) { return unacknowledged(socket); }
#endif

void shut_down(Socket socket) { ::shutdown(number(socket), SHUT_RDWR); }

void shut_down_sending(Socket socket) { ::shutdown(number(socket), SHUT_WR); }

void close(Socket socket) { ::close(number(socket)); }

void reset(Socket socket) {
  send_reset(socket);
  const linger at_once{1, 0};
  ::setsockopt(number(socket), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(number(socket));
}

void send_reset(Socket socket) {
#ifdef __linux__
  // connect(2): "Some protocol sockets may dissolve the association by connecting to an address with AF_UNSPEC".
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  ::connect(number(socket), &nobody, sizeof nobody);
#else
  (void)socket;
#endif
}

void stop_buffer_growth(Socket socket) {
  // A smaller buffer would drop bytes that the peer may already send and would retransmit late.
  const int bytes = 65536;
  ::setsockopt(number(socket), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

void stamp_arrivals(Socket listener) {
#ifdef SO_TIMESTAMPNS
  // Connections inherit the option, so bytes that arrive before accept() are stamped too.
  const int on = 1;
  ::setsockopt(number(listener), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
#else
  (void)listener;
#endif
}

/// Lets a socket use a port of connections that are still open, but not of another listener.
void allow_rebinding(Socket listener) {
  const int on = 1;
  ::setsockopt(number(listener), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

void never_block(Socket descriptor) { ::fcntl(number(descriptor), F_SETFL, O_NONBLOCK); }

Acceptance accept(Socket listener, Socket& socket) {
#ifdef __linux__
  const int accepted = ::accept4(number(listener), nullptr, nullptr, SOCK_CLOEXEC);
#else
  const int accepted = ::accept(number(listener), nullptr, nullptr);
#endif
  socket = Socket{accepted};
  if (accepted >= 0) return Acceptance::accepted;
  switch (errno) {
    case EMFILE: return Acceptance::no_descriptor;
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return Acceptance::exhausted;
    case EBADF:
    case EINVAL:
    case ENOTSOCK: return Acceptance::failed;
    default: return Acceptance::nobody_waits;  // no connection, or it broke before accept()
  }
}

Socket duplicate(Socket descriptor) { return Socket{::fcntl(number(descriptor), F_DUPFD_CLOEXEC, 0)}; }

std::optional<std::size_t> table_position(Socket descriptor) { return static_cast<std::size_t>(descriptor); }

void make_room_for_descriptors(std::size_t number) {
#ifdef __linux__
  const std::size_t highest = std::min(number, descriptor_limit().value_or(number) - 1);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const int high = ::fcntl(socket, F_DUPFD_CLOEXEC, static_cast<int>(highest));
  if (high >= 0) ::close(high);
  ::close(socket);
#else
  (void)number;
#endif
}

std::optional<std::size_t> descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::string last_error() { return std::strerror(errno); }

Binding bind_to(const std::string& host, int port, bool listens) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* addresses = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &addresses); error != 0)
    return {Socket::none, Problem::unresolved_host, ::gai_strerror(error)};
  Binding binding;
  for (const addrinfo* address = addresses; address && binding.socket == Socket::none; address = address->ai_next) {
    const int made = ::socket(address->ai_family, address->ai_socktype, address->ai_protocol);
    if (made < 0) {
      binding = {Socket::none, Problem::other, last_error()};
      continue;
    }
    ::fcntl(made, F_SETFD, FD_CLOEXEC);
    allow_rebinding(Socket{made});
    const int off = 0;
    if (address->ai_family == AF_INET6) ::setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(made, address->ai_addr, address->ai_addrlen) == 0 && (!listens || ::listen(made, backlog) == 0)) {
      binding = {Socket{made}};
      continue;
    }
    const Problem problem = errno == EADDRINUSE      ? Problem::taken_port
                            : errno == EADDRNOTAVAIL ? Problem::foreign_host
                            : errno == EACCES        ? Problem::no_privileges
                                                     : Problem::other;
    binding = {Socket::none, problem, last_error()};
    ::close(made);
  }
  ::freeaddrinfo(addresses);
  return binding;
}

int port_of(Socket bound) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ::getsockname(number(bound), reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

Socket reserve(const std::string& host, int port) {
  const Socket reserved = bind_to(host, port, false).socket;
  // bind() needs the option if connections are still open. Left on, a listener could share the address.
  const int off = 0;
  if (reserved != Socket::none) ::setsockopt(number(reserved), SOL_SOCKET, SO_REUSEADDR, &off, sizeof off);
  return reserved;
}

void give_up_reserved(Socket reserved) {
  allow_rebinding(reserved);
  close(reserved);
}

void stop_listening(Socket listener) {
  ::shutdown(number(listener), SHUT_RDWR);
  ::close(number(listener));
}

bool listen_on_reserved(Socket reserved) {
  allow_rebinding(reserved);
  return ::listen(number(reserved), backlog) == 0;
}

WakePair open_wake() {
#ifdef __linux__
  const Socket counter{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  return {counter, counter};
#else
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return {};
  for (const int end : ends) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
#ifdef F_SETNOSIGPIPE
    ::fcntl(end, F_SETNOSIGPIPE, 1);
#endif
  }
  return {Socket{ends[0]}, Socket{ends[1]}};
#endif
}

void signal_wake(const WakePair& wake) {
  const std::uint64_t once = 1;  // the size that an eventfd requires; a pipe accepts it
  ssize_t result;
  do result = ::write(number(wake.writing), &once, sizeof once);
  while (result < 0 && errno == EINTR);  // a full pipe is readable already
}

void clear_wake(const WakePair& wake) {
  char bytes[64];
  while (::read(number(wake.reading), bytes, sizeof bytes) > 0) {
  }
}

}  // namespace sockets
}  // namespace mock_gateway::detail
#endif
