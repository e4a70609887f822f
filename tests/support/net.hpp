#pragma once

// The socket functions that tests call, for POSIX and for Windows. Sockets are ints on both.

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
// Macros of the header that are names in tests; its other macros use FAR.
#undef near
#undef far
#undef FAR
#define FAR
#else
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#endif

#include <cstddef>

namespace test_support {

/// Whether the system tells which sent bytes the peer's kernel has received. Without it, a gateway does not wait for
/// clients that read late, and tests of that are skipped.
#ifdef _WIN32
constexpr bool tells_delivery = false;
constexpr bool tells_arrival = false;  // when a request's bytes reached the system
#else
constexpr bool tells_delivery = true;
constexpr bool tells_arrival = true;
#endif

namespace net {

#ifdef _WIN32

constexpr int would_block = WSAEWOULDBLOCK;
constexpr int interrupted = WSAEINTR;
constexpr int was_reset = WSAECONNRESET;
constexpr int was_refused = WSAECONNREFUSED;
constexpr int end_of_sending = SD_SEND;
inline int last_error() { return ::WSAGetLastError(); }

inline int open(int family, int protocol) {
  static const int started = [] {
    WSADATA data;
    return ::WSAStartup(MAKEWORD(2, 2), &data);
  }();
  return started == 0 ? static_cast<int>(::socket(family, SOCK_STREAM, protocol)) : -1;
}
inline void close(int socket) { ::closesocket(socket); }
inline int poll(pollfd& socket, int milliseconds) { return ::WSAPoll(&socket, 1, milliseconds); }
inline int control(int socket, long request, u_long& value) { return ::ioctlsocket(socket, request, &value); }
/// Sends without blocking.
inline long send(int socket, const char* bytes, std::size_t size) {
  u_long enable = 1;
  u_long disable = 0;
  control(socket, FIONBIO, enable);
  const int sent = ::send(socket, bytes, static_cast<int>(size), 0);
  const int error = last_error();
  control(socket, FIONBIO, disable);
  ::WSASetLastError(error);
  return sent;
}
inline long receive(int socket, char* bytes, std::size_t size) {
  return ::recv(socket, bytes, static_cast<int>(size), 0);
}
inline std::size_t unread(int socket) {
  u_long bytes = 0;
  control(socket, FIONREAD, bytes);
  return bytes;
}

#else

constexpr int would_block = EAGAIN;
constexpr int interrupted = EINTR;
constexpr int was_reset = ECONNRESET;
constexpr int was_refused = ECONNREFUSED;
constexpr int end_of_sending = SHUT_WR;
inline int last_error() { return errno; }

inline int open(int family, int protocol) { return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol); }
inline void close(int socket) { ::close(socket); }
inline int poll(pollfd& socket, int milliseconds) { return ::poll(&socket, 1, milliseconds); }
/// Sends without blocking.
inline long send(int socket, const char* bytes, std::size_t size) {
  return ::send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}
inline long receive(int socket, char* bytes, std::size_t size) { return ::recv(socket, bytes, size, 0); }
inline std::size_t unread(int socket) {
  int bytes = 0;
  ::ioctl(socket, FIONREAD, &bytes);
  return static_cast<std::size_t>(bytes);
}

#endif

template <class Value>
void set_option(int socket, int level, int name, const Value& value) {
  ::setsockopt(socket, level, name, reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace net

}  // namespace test_support
