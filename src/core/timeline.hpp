// The time of one exchange, and its waits for a clock or a gate; its code is in `clock.cpp`.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clock.hpp"

namespace mock_gateway {
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
  /// How much real time has passed since that moment; zero on a clock that takes none.
  Duration lateness(TimePoint moment) const;
  /// A client was told to wait until a date on this time.
  void note_date(TimePoint date);
  /// Must be called before blocking on anything but the clock, so that `advance` does not wait for this exchange.
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

/// While this lives, the calling thread does what the exchange of that timeline wants: the tester's functions that it
/// calls may move or stop the clock, which tells exchanges apart by that.
class OnTimeline {
 public:
  explicit OnTimeline(Timeline& timeline);
  ~OnTimeline();
  OnTimeline(const OnTimeline&) = delete;
  OnTimeline& operator=(const OnTimeline&) = delete;

 private:
  Timeline* before_;
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

}  // namespace detail

namespace detail {

/// A wait until a client's kernel has acknowledged: no event tells of it, so that the system has to be asked.
class Acknowledgement {
 public:
  Acknowledgement();
  ~Acknowledgement();
  Acknowledgement(const Acknowledgement&) = delete;
  Acknowledgement& operator=(const Acknowledgement&) = delete;

  Duration lasted() const { return std::chrono::steady_clock::now() - began_; }
  /// When the system is to be asked again: the later, the longer this has lasted, and the more of them there are.
  Duration look_again_in() const;

 private:
  static std::atomic<int>& count();

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The wait of one exchange at a gate, from its arrival on.
class GateWait final : public Pending {
 public:
  /// `delivered`: whether everything sent has come to the client's kernel; asked again and again until it is.
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
  std::function<bool()> delivered_;
  std::optional<Acknowledgement> acknowledgement_{std::in_place};  // nothing once it came
  bool released_ = false;                                          // guarded by the gate's mutex
  bool guard_expired_ = false;
  std::uint64_t round_ = 0;  // of the gate when this came to it; guarded by the gate's mutex
  std::chrono::steady_clock::time_point began_;
};

/// Makes a gate as it was made: closed, and nobody has come to it. Whom it holds may pass.
void reset(const Gate& gate);

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
/// Whether no scripted wait takes any time on it.
bool is_instant(const Clock& clock);
/// What a manual clock can do, for a handle that does not say that it is one; for no other clock.
std::vector<ManualClock::PendingWait> pending_waits(const Clock& clock);
/// As ManualClock::advance. Returns what fired, in order, the first thousand. `is_given_up` is asked before each
/// moment, with the clock's mutex held: true leaves the clock where it is then; null: never.
std::vector<ManualClock::PendingWait> advance_manual(const Clock& clock, Duration step,
                                                     const std::function<bool()>& is_given_up = nullptr);

/// Who came to a gate.
struct GateCounts {
  std::size_t reached = 0;
  std::size_t waiting = 0;
  bool open = false;
};
GateCounts counts(const Gate& gate);
/// A real-time limit that deadlines can be computed with: at most a year, which to a test is for ever.
Duration bounded(Duration limit);

}  // namespace detail

}  // namespace mock_gateway
