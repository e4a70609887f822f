#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include "version.hpp"
#include "wait.hpp"

namespace mock_gateway {

/// Every duration of the library; std::chrono literals (2s, 20ms) convert.
using Duration = std::chrono::nanoseconds;
/// A moment on a gateway's clock: time since the Unix epoch.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;

namespace detail {

/// Ends the blocking of one thread; callable from any thread, also when nobody blocks.
class Wake {
 public:
  virtual ~Wake() = default;
  virtual void wake() noexcept = 0;
};

/// Something that a connection's thread waits for besides its socket.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual bool over() = 0;
  /// The longest real time until over() must be asked again; nothing: only a wake can end the wait.
  virtual std::optional<Duration> look_again_in() = 0;
  /// Whether another thread may end it, by the Wake it was given.
  virtual bool needs_wake() const { return true; }
  /// Whether the wait ended because real time ran out on a manual clock or a gate, not because the test released it.
  virtual bool guard_expired() const { return false; }
};

class ClockState;

/// The time of one exchange. On the instant clock each has an offset of its own; on the manual clock it tells
/// `advance` when the exchange has done what its last deadline set off.
class Timeline {
 public:
  Timeline(std::shared_ptr<ClockState> clock, std::shared_ptr<Wake> wake);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  TimePoint now() const;
  /// The moment at which real time was `real`, some time ago; on a manual clock the present, for it may have been moved
  /// since.
  TimePoint at(std::chrono::steady_clock::time_point real) const;
  /// To be called before blocking on anything but the clock, so that `advance` does not wait for this exchange.
  void settle();
  /// Whether a wait for a moment takes no time.
  bool is_instant() const;
  /// A guard has ended a wait of this exchange: the test has failed, and would end no further wait either. From now on
  /// no wait of this exchange for a moment on the manual clock takes any time.
  void spend_guard() { guard_spent_ = true; }
  bool is_guard_spent() const { return guard_spent_; }

 private:
  friend class ClockWait;
  friend class ManualClockState;
  friend class InstantClockState;

  std::shared_ptr<ClockState> clock_;
  std::shared_ptr<Wake> wake_;
  Duration offset_{0};
  bool guard_spent_ = false;
};

/// A wait of one exchange for a moment on its timeline; TimePoint::max() waits until woken.
class ClockWait final : public Pending {
 public:
  ClockWait(Timeline& timeline, TimePoint deadline, std::string name);
  ~ClockWait() override;
  ClockWait(const ClockWait&) = delete;
  ClockWait& operator=(const ClockWait&) = delete;

  bool over() override;
  std::optional<Duration> look_again_in() override;
  bool needs_wake() const override;
  bool guard_expired() const override { return guard_expired_; }

 private:
  friend class RealClockState;
  friend class ManualClockState;
  friend class InstantClockState;

  Timeline& timeline_;
  TimePoint deadline_;
  std::string name_;
  bool fired_ = false;  // guarded by the manual clock's mutex
  bool guard_expired_ = false;
  std::chrono::steady_clock::time_point began_;
};

class GateState;
class GateWait;

}  // namespace detail

/// The clock by which a gateway does everything scripted: pace, holds, stalls, rate limit windows, `created`, the
/// journal's times. A handle: copies share one clock. Transport timeouts are always real.
class Clock {
 public:
  TimePoint now() const;
  const std::shared_ptr<detail::ClockState>& state() const { return state_; }

 protected:
  explicit Clock(std::shared_ptr<detail::ClockState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<detail::ClockState> state_;
};

/// Time as it passes; what a gateway uses unless told otherwise. Never goes backwards.
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
/// that uses the clock tells it, of a sleep_for too.
class ManualClock : public Clock {
 public:
  struct PendingWait {
    std::string name;
    TimePoint deadline;
  };

  /// 2024-01-01T00:00:00Z, so that `created` and HTTP dates can be compared literally.
  static constexpr TimePoint default_start{std::chrono::seconds{1704067200}};

  explicit ManualClock(TimePoint start = default_start, Duration guard = std::chrono::seconds{10});

  /// Moves on by `step`, stopping at every deadline on the way in order; returns when what each set off in the gateway
  /// has happened (what takes longer than the guard is waited for no more). A client's sleep_for is only woken: what
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

  /// Waits in real time until `count` exchanges in all have reached the gate.
  Wait wait_until_reached(Duration timeout) const;
  Wait wait_until_reached(std::size_t count, Duration timeout) const;
  /// Waits in real time until, of `count` exchanges in all that have reached the gate, the clients' kernels have
  /// acknowledged everything sent before it; what Reply::one_write and split_write keep back was not sent. An exchange
  /// that passes earlier is not counted. Reaching the gate alone means that those bytes were handed to the gateway's
  /// kernel, where they stay while a client with a full receive buffer does not read. Where the system cannot tell what
  /// is acknowledged, the two are the same.
  Wait wait_until_delivered(Duration timeout) const;
  Wait wait_until_delivered(std::size_t count, Duration timeout) const;
  /// Lets one exchange pass: the one held longest, else the next to arrive.
  void release();
  /// Lets everything pass, now and later.
  void open();

  const std::shared_ptr<detail::GateState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::GateState> state_;
};

namespace detail {

/// The wait of one exchange at a gate, from its arrival on.
class GateWait final : public Pending {
 public:
  /// `delivered`: whether everything sent is acknowledged; asked again and again until it is.
  GateWait(std::shared_ptr<GateState> gate, std::shared_ptr<Wake> wake, std::function<bool()> delivered);
  ~GateWait() override;
  GateWait(const GateWait&) = delete;
  GateWait& operator=(const GateWait&) = delete;

  bool over() override;
  std::optional<Duration> look_again_in() override;
  bool guard_expired() const override { return guard_expired_; }

 private:
  friend class GateState;

  std::shared_ptr<GateState> gate_;
  std::shared_ptr<Wake> wake_;
  std::function<bool()> delivered_;  // null once it was
  bool released_ = false;            // guarded by the gate's mutex
  bool guard_expired_ = false;
  std::chrono::steady_clock::time_point began_;
};

/// Notes that an exchange comes to a gate that does not hold it: it takes no permit, and what it has delivered is not
/// counted.
void pass_by(const Gate& gate);

/// Calls of ManualClock::sleep_for that the guard ended.
struct ExpiredSleeps {
  std::size_t count = 0;
  /// What the last of them was to last.
  Duration last{0};
};
/// None on a clock that is not manual.
ExpiredSleeps expired_sleeps(const Clock& clock);

/// `time` + `step`, or TimePoint::max() where that overflows.
TimePoint later(TimePoint time, Duration step);
/// Whether time moves on it only when the test moves it.
bool is_manual(const Clock& clock);
/// A real-time limit that deadlines can be computed with: at most a year, which to a test is for ever.
Duration bounded(Duration limit);

/// As checks print it: "20ms", "60s", "1.5s". The unit is the largest of s, ms, us and ns of which there is one at
/// least.
std::string printed(Duration duration);
/// "2024-01-01T00:00:00Z", with as many decimals as the moment has.
std::string printed(TimePoint moment);
/// For what a Duration cannot hold.
std::string printed_seconds(long double seconds);

/// The same for a duration of any unit.
template <class Rep, class Period>
std::string printed(const std::chrono::duration<Rep, Period>& duration) {
  const long double nanoseconds =
      std::chrono::duration_cast<std::chrono::duration<long double, std::nano>>(duration).count();
  constexpr long double most = 9.2e18L;
  if (nanoseconds > -most && nanoseconds < most) return printed(std::chrono::duration_cast<Duration>(duration));
  return printed_seconds(nanoseconds / 1e9L);
}
/// The same for a moment of any precision.
template <class Any>
std::string printed(const std::chrono::time_point<std::chrono::system_clock, Any>& moment) {
  return printed(std::chrono::time_point_cast<Duration>(moment));
}

}  // namespace detail

}  // namespace mock_gateway
