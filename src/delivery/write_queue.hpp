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

/// The bytes of an answer that wait to be written, grouped into writes, and the progress of the written bytes.
class WriteQueue {
 public:
  struct Sent {
    std::size_t events = 0;
    std::size_t tokens = 0;
    bool done = false;
    bool byte_order_mark = false;
    /// Whether the last event lacks its blank line.
    bool unfinished = false;
  };

  /// Arguments must outlive the queue.
  WriteQueue(const Writes& writes, Outlet& outlet, Timeline& timeline, DeliveryProgress& progress)
      : writes_(writes), outlet_(outlet), timeline_(timeline), progress_(progress) {}

  void reserve(std::size_t size);
  /// Notes that the answer is a stream, whose events may each have a write.
  void stream() { is_stream_ = true; }
  /// Adds bytes to the next write. If it grows too large, it is flushed first.
  void send(std::string_view bytes);
  /// Sets the progress that is reached with the bytes added so far.
  void mark(const Sent& sent);
  /// Marks the end of the head, an event, or bytes between events.
  void end_part();
  /// Called before a wait or a ping: flushes, unless the whole answer is one write or split in two.
  void flush_before_wait();
  void flush();

  bool has_writes() const { return !units_.empty(); }
  /// Passes pending writes to the connection, as far as it accepts them.
  Outlet::WaitState hand_over();
  void forget();
  /// Frees unused memory. Returns false if bytes are pending.
  bool shrink();

  /// Returns the number of bytes of the answer added so far.
  std::size_t position() const { return position_; }
  std::size_t written() const { return written_; }
  bool is_split() const { return is_split_; }

 private:
  /// The progress once `bytes` bytes have been written.
  struct Mark {
    std::size_t bytes;
    Sent sent;
  };
  struct Unit {
    std::size_t size;
    /// Whether the bytes are in `large_`, not copied.
    bool is_large = false;
    /// Whether the client should read the bytes separately from earlier ones.
    bool is_second_half = false;
  };

  /// Larger pieces are not copied, to save time and memory.
  static constexpr std::size_t largest_copy = 65536;

  /// Writes as much as the connection accepts. Returns false if the client has gone or the gateway stops.
  bool write(Unit& unit);
  /// Waits, if the reply asks for it, until the client has read earlier bytes.
  Outlet::WaitState pause_before(Unit& unit);
  void publish();

  const Writes& writes_;
  Outlet& outlet_;
  Timeline& timeline_;
  DeliveryProgress& progress_;
  bool is_stream_ = false;

  std::size_t position_ = 0;
  std::string gathered_;      // pending bytes, except `large_`
  std::size_t taken_ = 0;     // bytes of `gathered_` that the connection has accepted
  std::size_t in_units_ = 0;  // bytes of `gathered_` that are in units
  std::string_view large_;    // pending bytes too large to copy
  std::vector<Unit> units_;
  std::size_t next_unit_ = 0;
  bool awaits_room_ = false;
  std::optional<delivery::BetweenWrites> pause_;
  std::size_t paused_at_ = std::string::npos;  // the offset of the last pause
  std::size_t written_ = 0;
  std::vector<Mark> marks_;
  std::size_t published_ = 0;  // the number of published marks
  bool is_split_ = false;
  /// Real time spent in pauses. Beyond the limit there are no more pauses.
  Duration time_to_read_{0};
  bool reads_too_slowly_ = false;
};

}  // namespace mock_gateway::detail
