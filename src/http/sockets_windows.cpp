// The system calls for sockets on Windows: options, FIN, RST, backlog, WSAPoll; the precision of timers.

#include "sockets.hpp"

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>

#include <windows.h>
#include <ws2tcpip.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>

namespace mock_gateway::detail {
namespace sockets {

SOCKET handle(Socket socket) { return static_cast<SOCKET>(socket); }

/// Starts Winsock and sets the resolution of timers from 15.6 ms to 1 ms, once per process.
void start_system() {
  static const bool started = [] {
    WSADATA data{};
    if (::WSAStartup(MAKEWORD(2, 2), &data) != 0) return false;
    // Loaded here, so that programs need not link winmm.
    using Begin = unsigned(__stdcall*)(unsigned);
    if (const HMODULE library = ::LoadLibraryW(L"winmm.dll"))
      if (const FARPROC begin = ::GetProcAddress(library, "timeBeginPeriod"))
        reinterpret_cast<Begin>(reinterpret_cast<void*>(begin))(1);
    return true;
  }();
  static_cast<void>(started);
}

Transfer outcome_of(int result, std::size_t& bytes) {
  bytes = result > 0 ? static_cast<std::size_t>(result) : 0;
  if (result >= 0) return Transfer::done;
  const int error = ::WSAGetLastError();
  if (error == WSAEWOULDBLOCK) return Transfer::would_block;
  return error == WSAECONNRESET ? Transfer::reset : Transfer::failed;
}

void set_option(Socket socket, int level, int name, int value) {
  ::setsockopt(handle(socket), level, name, reinterpret_cast<const char*>(&value), sizeof value);
}

void adopt(Socket socket) {
  ::SetHandleInformation(reinterpret_cast<HANDLE>(handle(socket)), HANDLE_FLAG_INHERIT, 0);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  never_block(socket);
}

Transfer send(Socket socket, const char* data, std::size_t size, std::size_t& bytes) {
  // Winsock would buffer any number of bytes of one call.
  constexpr std::size_t most = 65536;
  return outcome_of(::send(handle(socket), data, static_cast<int>(std::min(size, most)), 0), bytes);
}

Transfer receive(Socket socket, char* data, std::size_t size, std::size_t& bytes, std::optional<Duration>& age) {
  age.reset();
  constexpr std::size_t most = std::size_t{1} << 30;
  return outcome_of(::recv(handle(socket), data, static_cast<int>(std::min(size, most)), 0), bytes);
}

int poll_for(WSAPOLLFD* watched, std::size_t count, std::optional<Duration> timeout) {
  int limit = -1;
  if (timeout) {
    const auto milliseconds = (std::max(Duration{0}, *timeout).count() + 999'999) / 1'000'000;
    limit = static_cast<int>(std::min<Duration::rep>(milliseconds, std::numeric_limits<int>::max()));
  }
  return ::WSAPoll(watched, static_cast<ULONG>(count), limit);
}

/// Whether the connection is gone, not only closed by the peer.
bool is_gone(Socket socket) {
  WSAPOLLFD polled{handle(socket), 0, 0};
  char byte = 0;
  return (poll_for(&polled, 1, Duration{0}) > 0 && (polled.revents & (POLLERR | POLLNVAL)) != 0) ||
         (::recv(handle(socket), &byte, 1, MSG_PEEK) < 0 && ::WSAGetLastError() != WSAEWOULDBLOCK);
}

/// Like poll_each(). `polled` has room for `count` entries.
void poll_these(Watched* descriptors, WSAPOLLFD* polled, std::size_t count, std::optional<Duration> timeout) {
  // WSAPoll reports a FIN even if only POLLOUT is wanted, so such sockets are left out and looked at this often.
  constexpr Duration pause = std::chrono::milliseconds{5};
  for (std::size_t i = 0; i < count; ++i) {
    const Wanted& wanted = descriptors[i].wanted;
    const int events = (wanted.bytes ? POLLRDNORM : 0) | (wanted.room ? POLLWRNORM : 0);
    polled[i] = {handle(descriptors[i].descriptor), static_cast<short>(events), 0};
  }
  if (poll_for(polled, count, timeout) <= 0) return;
  bool found = false;
  std::size_t rest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Watched& one = descriptors[i];
    const short events = polled[i].revents;
    const bool peer_closed = (events & POLLHUP) != 0;
    one.hung_up = (events & (POLLERR | POLLNVAL)) != 0 ||
                  (peer_closed && (one.wanted.close || one.wanted.bytes || is_gone(one.descriptor)));
    one.is_ready = (events & (POLLRDNORM | POLLWRNORM)) != 0 || (one.hung_up && one.wanted.bytes);
    found = found || one.is_ready || one.hung_up;
    if (!peer_closed) polled[rest++] = polled[i];
  }
  if (found) return;
  const Duration left = timeout ? std::clamp(*timeout, Duration{0}, pause) : pause;
  if (rest > 0)
    poll_for(polled, rest, left);  // the caller looks again
  else
    std::this_thread::sleep_for(left);
}

Readiness poll(Socket socket, Interest interest, bool watch_peer, Socket wake, std::optional<Duration> timeout) {
  Watched watched[2] = {{socket, {interest == Interest::readable, watch_peer, interest == Interest::writable}}, {wake}};
  WSAPOLLFD polled[2];
  constexpr Duration longest = std::chrono::milliseconds{20};
  if (wake == Socket::none) timeout = std::min(timeout.value_or(longest), longest);
  poll_these(watched, polled, wake == Socket::none ? 1 : 2, timeout);
  Readiness readiness;
  readiness.ready = watched[0].is_ready;
  readiness.woken = watched[1].is_ready;
  readiness.disconnected = watched[0].hung_up && is_gone(socket);
  readiness.peer_closed = watched[0].hung_up && !readiness.disconnected;
  return readiness;
}

void poll_each(std::vector<Watched>& descriptors, std::optional<Duration> timeout) {
  std::vector<WSAPOLLFD> polled(descriptors.size());
  poll_these(descriptors.data(), polled.data(), descriptors.size(), timeout);
}

bool was_reset(Socket socket) { return is_gone(socket); }

bool was_closed(Socket socket) {
  char byte = 0;
  return ::recv(handle(socket), &byte, 1, MSG_PEEK) == 0 || is_gone(socket);
}

std::size_t unacknowledged(Socket socket) {
  // SIO_TCP_INFO since Windows 10 1703. Its TCP_INFO_v0 is missing in headers for earlier systems.
  constexpr DWORD request = IOC_INOUT | IOC_VENDOR | 39;
  constexpr std::size_t bytes_in_flight = 28;
  alignas(std::uint64_t) char info[88];
  DWORD version = 0;
  DWORD size = 0;
  std::uint32_t bytes = 0;
  const int failed =
      ::WSAIoctl(handle(socket), request, &version, sizeof version, info, sizeof info, &size, nullptr, nullptr);
  if (failed == 0 && size >= bytes_in_flight + sizeof bytes) std::memcpy(&bytes, info + bytes_in_flight, sizeof bytes);
  return bytes;
}

std::size_t unsent(Socket) { return 0; }
std::optional<bool> was_read_by_peer(Socket) { return std::nullopt; }
std::size_t under_way(Socket socket) { return unacknowledged(socket); }

void shut_down(Socket socket) { ::shutdown(handle(socket), SD_BOTH); }

void shut_down_sending(Socket socket) { ::shutdown(handle(socket), SD_SEND); }

void close(Socket socket) { ::closesocket(handle(socket)); }

void reset(Socket socket) {
  const linger at_once{1, 0};
  ::setsockopt(handle(socket), SOL_SOCKET, SO_LINGER, reinterpret_cast<const char*>(&at_once), sizeof at_once);
  close(socket);
}

void send_reset(Socket) {}

void stop_buffer_growth(Socket socket) { set_option(socket, SOL_SOCKET, SO_RCVBUF, 65536); }

void stamp_arrivals(Socket) {}

void never_block(Socket descriptor) {
  u_long on = 1;
  ::ioctlsocket(handle(descriptor), static_cast<long>(FIONBIO), &on);
}

Acceptance accept(Socket listener, Socket& socket) {
  const SOCKET accepted = ::accept(handle(listener), nullptr, nullptr);
  socket = static_cast<Socket>(accepted);
  if (accepted != INVALID_SOCKET) return Acceptance::accepted;
  switch (::WSAGetLastError()) {
    case WSAEMFILE:
    case WSAENOBUFS: return Acceptance::exhausted;
    case WSAENOTSOCK:
    case WSAEINVAL: return Acceptance::failed;
    default: return Acceptance::nobody_waits;  // no connection, or it broke before accept()
  }
}

// Handles are not limited in a way that a reserve would help.
Socket duplicate(Socket) { return Socket::none; }
std::optional<std::size_t> table_position(Socket) { return std::nullopt; }
void make_room_for_descriptors(std::size_t) {}
std::optional<std::size_t> descriptor_limit() { return std::nullopt; }

/// Returns a system's error in English if the system knows it, in UTF-8.
std::string text_of(int error) {
  wchar_t wide[512];
  DWORD size = 0;
  for (const DWORD language : {DWORD{MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US)}, DWORD{0}})
    if (size == 0)
      size = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                              static_cast<DWORD>(error), language, wide, 512, nullptr);
  char text[2048];
  const int length =
      ::WideCharToMultiByte(CP_UTF8, 0, wide, static_cast<int>(size), text, sizeof text, nullptr, nullptr);
  std::string plain(text, static_cast<std::size_t>(std::max(length, 0)));
  plain.erase(plain.find_last_not_of(". \r\n") + 1);
  return plain.empty() ? "error " + std::to_string(error) : plain;
}

std::string last_error() { return text_of(::WSAGetLastError()); }

Binding bind_to(const std::string& host, int port, bool listens) {
  start_system();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* addresses = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &addresses); error != 0)
    return {Socket::none, Problem::unresolved_host, text_of(error)};
  Binding binding;
  for (const addrinfo* address = addresses; address && binding.socket == Socket::none; address = address->ai_next) {
    const SOCKET made = ::WSASocketW(address->ai_family, address->ai_socktype, address->ai_protocol, nullptr, 0,
                                     WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    // Without options, Windows lets a socket use a port of connections that are still open, but not of another
    // listener.
    if (made != INVALID_SOCKET && address->ai_family == AF_INET6)
      set_option(static_cast<Socket>(made), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (made != INVALID_SOCKET && ::bind(made, address->ai_addr, static_cast<int>(address->ai_addrlen)) == 0 &&
        (!listens || ::listen(made, SOMAXCONN) == 0)) {
      binding = {static_cast<Socket>(made)};
      continue;
    }
    const int error = ::WSAGetLastError();
    const Problem problem = error == WSAEADDRINUSE      ? Problem::taken_port
                            : error == WSAEADDRNOTAVAIL ? Problem::foreign_host
                            : error == WSAEACCES        ? Problem::no_privileges
                                                        : Problem::other;
    binding = {Socket::none, problem, text_of(error)};
    if (made != INVALID_SOCKET) ::closesocket(made);
  }
  ::freeaddrinfo(addresses);
  return binding;
}

int port_of(Socket bound) {
  sockaddr_storage own{};
  int size = sizeof own;
  ::getsockname(handle(bound), reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

Socket reserve(const std::string& host, int port) { return bind_to(host, port, false).socket; }

void give_up_reserved(Socket reserved) { close(reserved); }

void stop_listening(Socket listener) { close(listener); }

bool listen_on_reserved(Socket reserved) { return ::listen(handle(reserved), SOMAXCONN) == 0; }

/// A UDP socket that is connected to itself.
WakePair open_wake() {
  start_system();
  const SOCKET made =
      ::WSASocketW(AF_INET, SOCK_DGRAM, IPPROTO_UDP, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (made == INVALID_SOCKET) return {};
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int size = sizeof own;
  const auto address = reinterpret_cast<sockaddr*>(&own);
  if (::bind(made, address, size) != 0 || ::getsockname(made, address, &size) != 0 ||
      ::connect(made, address, size) != 0) {
    ::closesocket(made);
    return {};
  }
  const auto wake = static_cast<Socket>(made);
  never_block(wake);
  return {wake, wake};
}

void signal_wake(const WakePair& wake) {
  const char once = 1;
  // wine sometimes refuses a send during a receive. A full receive buffer is no error.
  while (::send(handle(wake.writing), &once, 1, 0) < 0 && ::WSAGetLastError() == WSAEWOULDBLOCK)
    std::this_thread::yield();
}

void clear_wake(const WakePair& wake) {
  char bytes[64];
  while (::recv(handle(wake.reading), bytes, sizeof bytes, 0) >= 0) {
  }
}

}  // namespace sockets
}  // namespace mock_gateway::detail
#endif
