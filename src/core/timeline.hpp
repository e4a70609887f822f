// The time of one exchange, and its waits for a clock or a gate; implemented in `clock.cpp` and `gate.cpp`.

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

namespace mock_gateway::detail {

/// Wakes a blocked thread. Thread-safe; harmless if no thread is blocked.
class Wake {
 public:
  virtual ~Wake() = default;
  virtual void wake() noexcept = 0;
};

/// A condition that a connection's thread waits for besides its socket.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual bool is_over() = 0;
  /// Returns the longest real time until is_over() must be called again. Empty if only a wake can end the wait.
  virtual std::optional<Duration> recheck_in() = 0;
  /// Whether another thread may end it through its Wake.
  virtual bool needs_wake() const { return true; }
  /// Whether the wait ended by the real-time guard of a manual clock or gate, instead of by the test.
  virtual bool guard_expired() const { return false; }
};

class ClockState;

/// The time of one exchange. With the instant clock, each exchange has its own offset. With the manual clock, it tells
/// `advance` when the exchange has done what its last deadline triggered.
class Timeline {
 public:
  Timeline(std::shared_ptr<ClockState> clock, std::shared_ptr<Wake> wake);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  TimePoint now() const;
  /// This timeline's time at the past real time `real`. A manual clock does not know it and returns its present time.
  TimePoint at(std::chrono::steady_clock::time_point real) const;
  /// Returns the time since that moment on the real clock, or 0 on other clocks.
  Duration lateness(TimePoint moment) const;
  void note_date(TimePoint date);
  /// Must be called before blocking on anything but the clock, so that `advance` does not wait for this exchange.
  void settle();
  bool is_instant() const;
  /// Notes that a guard ended a wait of this exchange: its later waits on the manual clock take no time.
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

/// Marks the calling thread as working for a timeline's exchange, in case a test function moves or stops the clock.
class OnTimeline {
 public:
  explicit OnTimeline(Timeline& timeline);
  ~OnTimeline();
  OnTimeline(const OnTimeline&) = delete;
  OnTimeline& operator=(const OnTimeline&) = delete;

 private:
  Timeline* before_;
};

/// A wait of one exchange until a time on its timeline; TimePoint::max() waits for a wake.
class ClockWait final : public Pending {
 public:
  ClockWait(Timeline& timeline, TimePoint deadline, std::string name);
  ~ClockWait() override;
  ClockWait(const ClockWait&) = delete;
  ClockWait& operator=(const ClockWait&) = delete;

  bool is_over() override;
  std::optional<Duration> recheck_in() override;
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

/// A wait for an acknowledgement by a client's kernel. No event reports it, so it is polled.
class Acknowledgement {
 public:
  Acknowledgement();
  ~Acknowledgement();
  Acknowledgement(const Acknowledgement&) = delete;
  Acknowledgement& operator=(const Acknowledgement&) = delete;

  Duration lasted() const { return std::chrono::steady_clock::now() - began_; }
  /// Returns the time until the next poll. It grows with the duration of the wait and the number of such waits.
  Duration recheck_in() const;

 private:
  static std::atomic<int>& count();

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

class GateWait final : public Pending {
 public:
  /// `delivered` tells whether the client's kernel has received all sent bytes. It is polled until it returns true.
  GateWait(std::shared_ptr<GateState> gate, std::shared_ptr<Wake> wake, std::function<bool()> delivered);
  ~GateWait() override;
  GateWait(const GateWait&) = delete;
  GateWait& operator=(const GateWait&) = delete;

  bool is_over() override;
  std::optional<Duration> recheck_in() override;
  bool guard_expired() const override { return guard_expired_; }

 private:
  friend class GateState;

  std::shared_ptr<GateState> gate_;
  std::shared_ptr<Wake> wake_;
  std::function<bool()> delivered_;
  std::optional<Acknowledgement> acknowledgement_{std::in_place};  // empty after the acknowledgement
  bool released_ = false;                                          // guarded by the gate's mutex
  bool guard_expired_ = false;
  std::uint64_t round_ = 0;  // the gate's round on arrival; guarded by the gate's mutex
  std::chrono::steady_clock::time_point began_;
};

/// Resets a gate to its initial state: closed, with no arrivals. Releases held exchanges.
void reset(const Gate& gate);

/// Counts the arrival of an exchange that the gate does not hold. It uses no release(), and its delivery is ignored.
void pass_by(const Gate& gate);

/// Calls of ManualClock::sleep_for that the guard ended.
struct ExpiredSleeps {
  std::size_t count = 0;
  Duration last{0};
};
/// Returns the sleeps that a manual clock's guard ended. Zero for other clocks.
ExpiredSleeps expired_sleeps(const Clock& clock);

/// Returns `time` + `step`, or TimePoint::max() on overflow.
TimePoint later(TimePoint time, Duration step);
bool is_manual(const Clock& clock);
bool is_instant(const Clock& clock);
/// Returns waits() of a clock that must be a manual clock.
std::vector<ManualClock::PendingWait> pending_waits(const Clock& clock);
/// Like ManualClock::advance. Returns the waits that ended, in order, at most the first thousand. `is_given_up` is
/// called before each deadline, with the clock's mutex held; true stops there. May be null.
std::vector<ManualClock::PendingWait> advance_manual(const Clock& clock, Duration step,
                                                     const std::function<bool()>& is_given_up = nullptr);

struct GateCounts {
  std::size_t reached = 0;
  std::size_t waiting = 0;
  bool open = false;
};
GateCounts counts(const Gate& gate);
/// Empty if it has none.
const std::string& name_of(const Gate& gate);
/// Limits a real-time timeout to a year, to avoid overflow of deadlines.
Duration bounded(Duration limit);

}  // namespace mock_gateway::detail
