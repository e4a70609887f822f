#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/clock.hpp"

namespace mock_gateway::detail {

/// A socket or another descriptor to poll, in any system's type.
enum class Socket : std::intptr_t { none = -1 };

/// All calls to the system's socket interface. Each system has its own file.
namespace sockets {

/// `reset`: the peer sent RST while its side was open. `failed`: any other error.
enum class Transfer { done, would_block, reset, failed };

/// Sets close-on-exec (a descriptor inherited by a child defeats RST), TCP_NODELAY, and no SIGPIPE.
void adopt(Socket socket);
/// Sends without blocking. `bytes` is the number of accepted bytes.
Transfer send(Socket socket, const char* data, std::size_t size, std::size_t& bytes);
/// Receives without blocking. `done` with 0 `bytes` is the end of the stream. `age`: how long ago the last byte reached
/// this system; empty if unknown, or without stamp_arrivals() on the listener.
Transfer receive(Socket socket, char* data, std::size_t size, std::size_t& bytes, std::optional<Duration>& age);

enum class Interest { nothing, readable, writable };
struct Readiness {
  bool ready = false;         // readable or writable, as requested
  bool woken = false;         // the wake descriptor is readable
  bool peer_closed = false;   // FIN has arrived
  bool disconnected = false;  // RST has arrived, or the socket was shut down here
};
/// Blocks until a Readiness event or the timeout (empty: none). `wake`: a descriptor or none. `watch_peer`: a FIN
/// counts.
Readiness poll(Socket socket, Interest interest, bool watch_peer, Socket wake, std::optional<Duration> timeout);
/// The socket events that are wanted. Loss of the connection is always reported.
struct Wanted {
  bool bytes = true;
  bool close = true;  // FIN of the peer
  bool room = false;

  bool operator==(const Wanted& other) const {
    return bytes == other.bytes && close == other.close && room == other.room;
  }
};
struct Watched {
  Socket descriptor;
  Wanted wanted = {};
  bool is_ready = false;
  bool hung_up = false;  // the peer closed its side, or the connection is gone
};
/// Blocks until a descriptor is ready, its peer has gone, or the timeout (empty: none). May return early.
void poll_each(std::vector<Watched>& descriptors, std::optional<Duration> timeout);

/// Whether the peer of a disconnected socket sent RST while its side was open. Returns true only once.
bool was_reset(Socket socket);
/// Whether the peer has closed or reset the connection, and no received bytes are unread.
bool was_closed(Socket socket);
/// Returns the number of sent bytes that the peer's kernel has not acknowledged; 0 if unknown.
std::size_t unacknowledged(Socket socket);
/// Bytes sent that may not have reached the peer's kernel. Up to 40 ms late, except on Linux in one network namespace.
std::size_t under_way(Socket socket);
/// Returns the number of unsent bytes, for example because the peer's window is full; 0 if unknown.
std::size_t unsent(Socket socket);
/// Whether the peer's program has read all sent bytes; empty if unknown. Known on Linux in one network namespace.
std::optional<bool> was_read_by_peer(Socket socket);
/// Whether shut_down() ends waits for the socket. If not, sockets::poll without a wake descriptor returns every 20 ms.
#ifdef _WIN32
inline constexpr bool shutdown_wakes = false;
#else
inline constexpr bool shutdown_wakes = true;
#endif
/// Shuts down both directions. The descriptor stays valid.
void shut_down(Socket socket);
void shut_down_sending(Socket socket);
/// Discards received bytes, because close() sends RST instead of FIN if any are unread.
void discard_received(Socket socket);
void close(Socket socket);
/// Closes with RST (SO_LINGER 0, no shutdown before it). Where possible, sends RST even if a forked child holds a copy
/// of the descriptor.
void reset(Socket socket);
/// Sends RST now, where the system can. The descriptor stays valid until reset() closes it.
void send_reset(Socket socket);

/// Stops the system from growing the receive buffer beyond the window already offered to the peer.
void stop_buffer_growth(Socket socket);

/// Enables the `age` of receive() for connections accepted by this listener from now on.
void stamp_arrivals(Socket listener);
enum class Acceptance {
  accepted,
  nobody_waits,
  /// The process has no descriptor left.
  no_descriptor,
  /// The system is out of descriptors or memory, perhaps temporarily.
  exhausted,
  /// The listener is unusable.
  failed,
};
/// Accepts a connection. The listener must be non-blocking (never_block).
Acceptance accept(Socket listener, Socket& socket);
void never_block(Socket descriptor);
/// Duplicates a descriptor. Returns none on failure.
Socket duplicate(Socket descriptor);
/// Returns the descriptor's position in the process's table; empty on systems whose descriptors are no positions.
std::optional<std::size_t> table_position(Socket descriptor);
/// Grows the descriptor table to about `number` entries, in this call instead of in a later accept(). On Linux, growth
/// halts threads that need larger descriptors for an RCU grace period, tens of milliseconds.
void make_room_for_descriptors(std::size_t number);
/// Returns the process's descriptor limit, or nothing if unlimited or unknown.
std::optional<std::size_t> descriptor_limit();
std::string last_error();
enum class Problem { unresolved_host, taken_port, foreign_host, no_privileges, other };
/// A bound socket, or why there is none.
struct Binding {
  Socket socket = Socket::none;
  Problem problem = Problem::other;
  std::string text = {};  // in the system's words
};
/// Binds a new socket to the host's first address that can be used, and listens if `listens`.
Binding bind_to(const std::string& host, int port, bool listens);
/// Returns why there is no socket.
std::string explain(const Binding& failed, const std::string& host, int port);
int port_of(Socket bound);
/// Reserves an address: connections are refused, and no other socket can listen there. Returns none on failure.
Socket reserve(const std::string& host, int port);
/// Releases a reserved address. If a forked child holds a copy of the descriptor, only sockets with SO_REUSEADDR can
/// use the address.
void give_up_reserved(Socket reserved);
/// Closes a listener. A copy in a forked child would otherwise keep accepting connections without a server.
void stop_listening(Socket listener);
bool listen_on_reserved(Socket reserved);

/// A descriptor to poll and one to signal it; the same descriptor where the system can.
struct WakePair {
  Socket reading = Socket::none;
  Socket writing = Socket::none;
};
WakePair open_wake();
void signal_wake(const WakePair& wake);
void clear_wake(const WakePair& wake);
void close_wake(const WakePair& wake);

}  // namespace sockets
}  // namespace mock_gateway::detail
