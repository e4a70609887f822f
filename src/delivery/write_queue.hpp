#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/timeline.hpp"
#include "../model/writes.hpp"
#include "outlet.hpp"
#include "progress.hpp"
#include "waits.hpp"

namespace mock_gateway::detail {

/// The bytes of one answer on their way to the connection: which of them share a write, and how far the reply has come
/// with those that the connection took.
class WriteQueue {
 public:
  /// How far the reply has come.
  struct Sent {
    std::size_t events = 0;
    std::size_t tokens = 0;
    bool done = false;
    bool byte_order_mark = false;
    /// The last event has no blank line after it yet.
    bool unfinished = false;
  };

  /// What is given here must outlive this.
  WriteQueue(const Writes& writes, Outlet& outlet, Timeline& timeline, DeliveryProgress& progress)
      : writes_(writes), outlet_(outlet), timeline_(timeline), progress_(progress) {}

  /// So many bytes will be gathered, perhaps.
  void reserve(std::size_t size);
  /// The answer is a stream, whose events may have a write each.
  void stream() { is_stream_ = true; }
  /// Gathers bytes for the next write. What does not fit into one becomes a write now.
  void send(std::string_view bytes);
  /// The bytes gathered so far are as much of the reply as `sent` says.
  void mark(const Sent& sent);
  /// What was gathered is the head, or an event, or what stands between events.
  void end_part();
  /// Something is waited for, or pinged: what was due before leaves first, unless all is to leave together.
  void leave();
  /// What was gathered becomes a write.
  void flush();

  /// Whether a write waits to be handed over.
  bool has_writes() const { return !units_.empty(); }
  /// Hands the writes to the connection, as much as it takes.
  Outlet::Look hand_over();
  /// Throws away what was not handed over.
  void forget();
  /// Gives back the memory of what has left; false when something has not.
  bool shrink();

  /// How many bytes of the answer were gathered or handed over so far.
  std::size_t position() const { return position_; }
  /// How many were handed over.
  std::size_t written() const { return written_; }
  /// Whether the answer was split in two as the reply wants.
  bool is_split() const { return is_split_; }

 private:
  /// What the progress is when so many bytes of the answer have been handed over.
  struct Mark {
    std::size_t bytes;
    Sent sent;
  };
  /// Bytes that leave by a write of their own.
  struct Unit {
    std::size_t size;
    /// Its bytes are those of `large_`, and were not gathered.
    bool is_large = false;
    /// The client is to read it apart from what was written before.
    bool is_second_half = false;
  };

  /// Writes as much of the unit as the connection takes; false when the client has gone or the gateway stops.
  bool write(Unit& unit);
  /// Waits, where the reply wants it, until the client has read what was written before.
  Outlet::Look pause_before(Unit& unit);
  /// Tells the progress of the marks that have been handed over.
  void publish();

  const Writes& writes_;
  Outlet& outlet_;
  Timeline& timeline_;
  DeliveryProgress& progress_;
  bool is_stream_ = false;

  std::size_t position_ = 0;
  std::string gathered_;    // what has not been handed over, but for `large_`
  std::size_t taken_ = 0;   // of that, by the connection
  std::size_t united_ = 0;  // of that, in units
  std::string_view large_;  // not worth a copy
  std::vector<Unit> units_;
  std::size_t next_unit_ = 0;
  bool awaits_room_ = false;
  std::optional<delivery::BetweenWrites> pause_;
  std::size_t paused_at_ = std::string::npos;  // before the write of that byte
  std::size_t written_ = 0;
  std::vector<Mark> marks_;
  std::size_t published_ = 0;  // of the marks
  bool is_split_ = false;
  /// The real time that the client took to read between writes. When it takes too long, it gets no more time.
  Duration time_to_read_{0};
  bool reads_too_slowly_ = false;
};

}  // namespace mock_gateway::detail
