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

/// The clock of everything scripted: pace, holds, stalls, rate limit windows, `created`, the times in the journal. A
/// handle: copies share one clock. Transport timeouts always use real time.
class Clock {
 public:
  /// Returns the current time, since the Unix epoch.
  TimePoint now() const;

 protected:
  explicit Clock(std::shared_ptr<detail::ClockState> state);

 private:
  friend struct detail::Access;
  detail::HandlePointer<detail::ClockState> state_;
};

/// Real time, which never goes backwards. The default of Options::clock.
class RealClock : public Clock {
 public:
  RealClock();
};

/// Real time, but scripted waits end at once. Each exchange has its own time, which advances by its waits. So its
/// record has the times of an exchange that waited. A stall without a duration still waits.
class InstantClock : public Clock {
 public:
  InstantClock();
};

/// A clock that only the test advances.
/// A wait ends after at most `guard` of real time, even if the test does not advance. So a failing test never hangs.
/// The exchange's record then says so, and the exchange no longer waits on this clock or at a gate. An expired guard,
/// also of sleep_for, is reported by verify() of each gateway that uses the clock.
class ManualClock : public Clock {
 public:
  struct PendingWait {
    /// What waits: `token 3`, `a stall`, `a ping`, `a slow body`, `the whole reply`, `sleep_for`.
    std::string name;
    TimePoint deadline;
  };

  /// 2024-01-01T00:00:00Z, so that tests can compare `created` and HTTP dates literally.
  static constexpr TimePoint default_start{std::chrono::seconds{1704067200}};

  /// Starts at `start`. `guard` is in real time.
  explicit ManualClock(TimePoint start = default_start, Duration guard = std::chrono::seconds{10});

  /// Advances by `step`, stopping at each deadline in order. At each stop, waits up to the guard until the gateway has
  /// done what the deadline triggers. A sleep_for() that ends only wakes the client. The test must wait for the
  /// client's reaction, so advance one sleep at a time. Functions of the test that a gateway calls (such as handlers)
  /// may advance; this does not wait for their own exchange. Throws GatewayError if `step` is negative.
  void advance(Duration step);
  /// Advances to the nearest deadline and returns the time advanced. Throws GatewayError if there is no pending wait.
  Duration advance_to_next_event();

  /// Sleeps on this clock. Use it as the sleep function of the client under test. Returns after the guard, in real
  /// time, even if the test does not advance.
  void sleep_for(Duration duration);
  /// Waits in real time until `count` callers are in sleep_for.
  Wait wait_for_sleepers(std::size_t count, Duration timeout) const;
  /// Waits in real time until `count` waits of any kind are pending, including sleepers.
  Wait wait_for_waits(std::size_t count, Duration timeout) const;
  /// Returns the pending waits, nearest deadline first, except waits without a deadline.
  std::vector<PendingWait> waits() const;
};

/// Holds exchanges at a point of their replies until the test releases them. A handle: copies share one gate. After
/// `guard` of real time the gate opens by itself. The records of the exchanges that it held then say so, and these are
/// not held again.
class Gate {
 public:
  explicit Gate(Duration guard = std::chrono::seconds{10});
  /// A gate with a name, for reports: `held at gate "first" before token 3`.
  explicit Gate(std::string name, Duration guard = std::chrono::seconds{10});

  /// Waits in real time until `count` exchanges in all, by default one, have reached the gate.
  Wait wait_until_reached(Duration timeout) const;
  Wait wait_until_reached(std::size_t count, Duration timeout) const;
  /// Waits in real time until the clients' kernels have received everything sent before the gate, for `count` exchanges
  /// in all. Bytes kept back by Reply::one_write and split_write do not count, nor do exchanges that are released
  /// earlier. An exchange at the gate may still have bytes in the gateway's kernel: they stay there while the client's
  /// receive buffer is full. If the system cannot tell, this equals wait_until_reached.
  Wait wait_until_delivered(Duration timeout) const;
  Wait wait_until_delivered(std::size_t count, Duration timeout) const;
  /// Releases the exchange that has been held longest. If none is held, the next exchange passes.
  void release();
  /// Releases all exchanges, now and in the future.
  void open();

 private:
  friend struct detail::Access;
  detail::HandlePointer<detail::GateState> state_;
};

}  // namespace mock_gateway
