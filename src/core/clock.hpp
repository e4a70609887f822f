#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "duration.hpp"
#include "shared.hpp"
#include "wait.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
class ClockState;
class GateState;

}  // namespace detail

/// The clock by which a gateway does everything scripted: pace, holds, stalls, rate limit windows, `created`, the
/// journal's times. A handle: copies share one clock. Transport timeouts are always real.
class Clock {
 public:
  /// The moment that it shows: time since the Unix epoch.
  TimePoint now() const;

 protected:
  explicit Clock(std::shared_ptr<detail::ClockState> state);

 private:
  friend struct detail::Access;
  detail::Lasting<detail::ClockState> state_;
};

/// Time as it passes, never backwards. A gateway uses it unless Options::clock sets another.
class RealClock : public Clock {
 public:
  RealClock();
};

/// Real time on which no scripted wait takes any: each exchange runs ahead on a time of its own, so that its record
/// carries the times it would have had. A stall without end still waits.
class InstantClock : public Clock {
 public:
  InstantClock();
};

/// Time that moves only when the test moves it.
///
/// A wait on it ends after `guard` of real time even if nobody advances, so that a failing test never hangs; the
/// exchange's record then says so, and the exchange waits no more on this clock or at a gate. verify() of each gateway
/// that uses the clock reports it, and a sleep_for that ended so too.
class ManualClock : public Clock {
 public:
  /// Something that waits for a moment.
  struct PendingWait {
    /// `token 3`, `a stall`, `a ping`, `a slow body`, `the whole reply`, `sleep_for`.
    std::string name;
    /// The moment at which its wait is over.
    TimePoint deadline;
  };

  /// 2024-01-01T00:00:00Z, so that `created` and HTTP dates can be compared literally.
  static constexpr TimePoint default_start{std::chrono::seconds{1704067200}};

  /// Shows `start` until it is moved. `guard` is in real time.
  explicit ManualClock(TimePoint start = default_start, Duration guard = std::chrono::seconds{10});

  /// Moves on by `step`, stopping at every deadline on the way in order; returns when what each set off in the gateway
  /// has happened; what takes longer than the guard is waited for no more. A client's sleep_for is only woken: what
  /// the client then does is for the test to wait for, so advance one sleep at a time. A function of the test that a
  /// gateway calls (on_exchange, a reply, a handler) may call it too: the exchange that called is not waited for.
  /// Throws GatewayError when `step` is negative.
  void advance(Duration step);
  /// Moves to the nearest deadline and returns how far that was. Throws GatewayError when nothing waits.
  Duration advance_to_next_event();

  /// Sleeps on this clock: for the sleeper of the client under test. Returns after the guard, in real time, even if
  /// nobody advances.
  void sleep_for(Duration duration);
  /// Waits in real time until `count` callers are inside sleep_for.
  Wait wait_for_sleepers(std::size_t count, Duration timeout) const;
  /// Waits in real time until `count` waits of any kind are pending, sleepers included.
  Wait wait_for_waits(std::size_t count, Duration timeout) const;
  /// The pending waits, nearest deadline first; waits without end are not listed.
  std::vector<PendingWait> waits() const;
};

/// Holds an exchange at a point of its reply until the test lets it pass. A handle: copies share one gate.
/// A held exchange passes by itself after `guard` of real time, and its record then says so; nothing holds it after
/// that.
class Gate {
 public:
  explicit Gate(Duration guard = std::chrono::seconds{10});

  /// Waits in real time until `count` exchanges in all, one unless given, have reached the gate.
  Wait wait_until_reached(Duration timeout) const;
  Wait wait_until_reached(std::size_t count, Duration timeout) const;
  /// Waits in real time until, of `count` exchanges in all that have reached the gate, the clients' kernels have
  /// everything sent before it; what Reply::one_write and split_write keep back was not sent. An exchange
  /// that passes earlier is not counted. Reaching the gate alone means that those bytes were handed to the gateway's
  /// kernel, where they stay while a client with a full receive buffer does not read. Where the system cannot tell what
  /// has come there, the two are the same.
  Wait wait_until_delivered(Duration timeout) const;
  Wait wait_until_delivered(std::size_t count, Duration timeout) const;
  /// Lets one exchange pass: the one held longest, else the next to arrive.
  void release();
  /// Lets everything pass, now and later.
  void open();

 private:
  friend struct detail::Access;
  detail::Lasting<detail::GateState> state_;
};

}  // namespace mock_gateway
