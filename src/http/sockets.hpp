#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../core/clock.hpp"

namespace mock_gateway::detail {
/// All calls to the system's socket interface (POSIX). Ports to other systems reimplement them.
namespace sockets {

/// `reset`: the peer sent RST while its side was open. `failed`: any other error.
enum class Transfer { done, would_block, reset, failed };

/// Sets close-on-exec (a descriptor inherited by a child defeats RST), TCP_NODELAY, and no SIGPIPE.
void adopt(int socket);
/// Sends without blocking. `bytes` is the number of accepted bytes.
Transfer send(int socket, const char* data, std::size_t size, std::size_t& bytes);
/// Receives without blocking. `done` with 0 `bytes` is the end of the stream. `age`: how long ago the last byte reached
/// this system; empty if unknown, or without stamp_arrivals() on the listener.
Transfer receive(int socket, char* data, std::size_t size, std::size_t& bytes, std::optional<Duration>& age);

enum class Interest { nothing, readable, writable };
struct Readiness {
  bool ready = false;         // readable or writable, as requested
  bool woken = false;         // the wake descriptor is readable
  bool peer_closed = false;   // FIN has arrived
  bool disconnected = false;  // RST has arrived, or the socket was shut down here
};
/// Blocks until a Readiness event or the timeout (empty: none). `wake`: a descriptor or -1. `watch_peer`: a FIN counts.
Readiness poll(int socket, Interest interest, bool watch_peer, int wake, std::optional<Duration> timeout);
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
  int descriptor;
  Wanted wanted = {};
  bool is_ready = false;
  bool hung_up = false;  // the peer closed its side, or the connection is gone
};
/// Blocks until a descriptor is ready, its peer has gone, or the timeout (empty: none). May return early.
void poll_each(std::vector<Watched>& descriptors, std::optional<Duration> timeout);

/// Whether the peer of a disconnected socket sent RST while its side was open. Returns true only once.
bool was_reset(int socket);
/// Whether the peer has closed or reset the connection, and no received bytes are unread.
bool was_closed(int socket);
/// Returns the number of sent bytes that the peer's kernel has not acknowledged; 0 if unknown.
std::size_t unacknowledged(int socket);
/// Bytes sent that may not have reached the peer's kernel. Up to 40 ms late, except on Linux in one network namespace.
std::size_t under_way(int socket);
/// Returns the number of unsent bytes, for example because the peer's window is full; 0 if unknown.
std::size_t unsent(int socket);
/// Whether the peer's program has read all sent bytes; empty if unknown. Known on Linux in one network namespace.
std::optional<bool> was_read_by_peer(int socket);
/// Shuts down both directions, so that every blocked call on the socket returns. The descriptor stays valid.
void shut_down(int socket);
void shut_down_sending(int socket);
/// Discards received bytes, because close() sends RST instead of FIN if any are unread.
void discard_received(int socket);
void close(int socket);
/// Closes with RST (SO_LINGER 0, no shutdown before it). Where possible, sends RST even if a forked child holds a copy
/// of the descriptor.
void reset(int socket);
/// Sends RST now, where the system can. The descriptor stays valid until reset() closes it.
void send_reset(int socket);

/// Stops the system from growing the receive buffer beyond the window already offered to the peer.
void stop_buffer_growth(int socket);

/// Enables the `age` of receive() for connections accepted by this listener from now on.
void stamp_arrivals(int listener);
void enlarge_backlog(int listener);
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
Acceptance accept(int listener, int& socket);
void never_block(int descriptor);
/// Duplicates a descriptor. Returns -1 on failure.
int duplicate(int descriptor);
/// Grows the descriptor table to about `number` entries, in this call instead of in a later accept(). On Linux, growth
/// halts threads that need larger descriptors for an RCU grace period, tens of milliseconds.
void make_room_for_descriptors(std::size_t number);
/// Returns the process's descriptor limit, or nothing if unlimited or unknown.
std::optional<std::size_t> descriptor_limit();
std::string last_error();
/// Reserves an address: connections are refused, and no other socket can listen there. Returns -1 on failure.
int reserve(const std::string& host, int port);
/// Releases a reserved address. If a forked child holds a copy of the descriptor, only sockets with SO_REUSEADDR can
/// use the address.
void give_up_reserved(int reserved);
/// Closes a listener. A copy in a forked child would otherwise keep accepting connections without a server.
void stop_listening(int listener);
bool listen_on_reserved(int reserved);
/// Returns why the address cannot be listened on; empty if it can.
std::optional<std::string> why_not_listen(const std::string& host, int port);

/// A descriptor to poll and one to signal it; the same descriptor where the system can.
struct WakePair {
  int reading = -1;
  int writing = -1;
};
WakePair open_wake();
void signal_wake(const WakePair& wake);
void clear_wake(const WakePair& wake);
void close_wake(const WakePair& wake);

}  // namespace sockets
}  // namespace mock_gateway::detail
