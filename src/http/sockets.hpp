#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../core/clock.hpp"

namespace mock_gateway::detail {
/// Every call to the system's socket interface, so that another system's version can stand beside this one (POSIX).
namespace sockets {

/// `reset`: the peer sent RST while its side was open. `failed`: any other way in which nothing more can pass.
enum class Transfer { done, would_block, reset, failed };

/// Close-on-exec (a forked child that holds the descriptor defeats RST), no delay, no SIGPIPE.
void adopt(int socket);
/// Sends what fits; `bytes` is what was taken.
Transfer send(int socket, const char* data, std::size_t size, std::size_t& bytes);
/// Receives what is there; `bytes` 0 with `done` is the end of the stream. `age`: how long ago the last of it reached
/// this system; nothing where the system cannot tell, or stamp_arrivals was not called for the listener.
Transfer receive(int socket, char* data, std::size_t size, std::size_t& bytes, std::optional<Duration>& age);

enum class Interest { nothing, readable, writable };
struct Readiness {
  bool ready = false;         // readable or writable, as asked
  bool woken = false;         // the wake descriptor is readable
  bool peer_closed = false;   // FIN has arrived
  bool disconnected = false;  // RST has arrived, or the socket was shut down here
};
/// Blocks until something of it is true or the time is up (nothing: without end). `wake` may be -1. `watch_peer`:
/// whether a FIN ends the wait.
Readiness poll(int socket, Interest interest, bool watch_peer, int wake, std::optional<Duration> timeout);
/// What of a socket somebody waits for. That its connection is gone is always told of.
struct Wanted {
  bool bytes = true;
  bool close = true;  // by the peer, of its side
  bool room = false;

  bool operator==(const Wanted& other) const {
    return bytes == other.bytes && close == other.close && room == other.room;
  }
};
struct Watched {
  int descriptor;
  Wanted wanted = {};
  bool is_ready = false;
  bool hung_up = false;  // the peer has closed its side, or the connection is gone
};
/// Blocks until one of these descriptors is ready, or its peer has gone, or the time is up; nothing: without end.
/// May return before that.
void poll_each(std::vector<Watched>& descriptors, std::optional<Duration> timeout);

/// Whether the peer of a disconnected socket sent RST while its side was open. True once.
bool was_reset(int socket);
/// Whether the peer has closed its side, or reset, and nothing that it sent before is unread.
bool was_closed(int socket);
/// Bytes received that nobody has taken; 0 where the system cannot tell.
std::size_t received(int socket);
/// Bytes sent that the peer's kernel has not acknowledged; 0 where the system cannot tell.
std::size_t unacknowledged(int socket);
/// How many of these are not known to have come to the peer's kernel. One that has just sent something delays its
/// acknowledgement by 40 ms; Linux tells of a peer on the same machine and in the same network namespace before that.
std::size_t under_way(int socket);
/// How many of them have not been sent, because the peer's window is full, say; 0 where the system cannot tell.
std::size_t unsent(int socket);
/// Whether all that was sent has come to the other end, and the program there has read it; nothing where the system
/// cannot tell. Linux can of a peer on the same machine and in the same network namespace.
std::optional<bool> was_read_by_peer(int socket);
/// FIN both ways: every blocked call on the socket returns. The descriptor stays valid.
void shut_down(int socket);
void shut_down_sending(int socket);
/// Discards what has been received and not read: with unread bytes, close would send RST in place of FIN.
void discard_received(int socket);
void close(int socket);
/// Closes with RST (SO_LINGER 0, no shutdown before it). Where the system can send RST without closing, it is sent
/// although a forked child holds a copy of the descriptor.
void reset(int socket);
/// Sends RST now where the system can; the descriptor stays valid, and is then to be closed by reset().
void send_reset(int socket);

/// Keeps the system from buffering more than it has offered the peer so far.
void stop_buffer_growth(int socket);

/// Lets receive() tell the age of what it receives, on every connection that the listener accepts from now on.
void stamp_arrivals(int listener);
/// Listens on with room for bursts of connections.
void enlarge_backlog(int listener);
enum class Acceptance {
  accepted,
  nobody_waits,
  /// This process has no descriptor left.
  no_descriptor,
  /// The system has none left, or no memory: it may later.
  exhausted,
  /// The listener is of no use any more.
  failed,
};
/// Takes the next connection of a listener that never_block was called for.
Acceptance accept(int listener, int& socket);
void never_block(int descriptor);
/// A descriptor more for the same thing; -1 when there is none.
int duplicate(int descriptor);
/// Lets the process have descriptors up to about this number without a pause. Linux enlarges its table by halting all
/// other users of it for as long as an RCU grace period takes, tens of milliseconds; those who need no more
/// descriptors than it has meanwhile are not halted.
void make_room_for_descriptors(std::size_t number);
/// How many descriptors this process may have; nothing: without a limit, or unknown.
std::optional<std::size_t> descriptor_limit();
/// Why the calling thread's last call failed, in the system's words.
std::string last_error();
/// Takes an address without listening on it: connections to it are refused, and nobody else can listen there. -1 when
/// it cannot be had.
int reserve(const std::string& host, int port);
/// Closes a reserved address. Others can listen there although a forked child holds a copy of the descriptor: as far as
/// the system allows, which is for those that set SO_REUSEADDR.
void give_up_reserved(int reserved);
/// Closes a listener. It ends although a forked child holds a copy of the descriptor, which would otherwise go on
/// accepting connections that nobody serves.
void stop_listening(int listener);
/// Listens on a reserved address. False when the system refuses.
bool listen_on_reserved(int reserved);
/// Why nobody can listen there, in words; nothing when one can.
std::optional<std::string> why_not_listen(const std::string& host, int port);

/// A descriptor that one thread polls and others make readable; where the system can, both are the same one.
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
