// The real, instant and manual clocks, and the texts of waits ("timed out: …"). The header has the defaults of the
// manual clock's guard and start.

#include "clock.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <ostream>
#include <set>
#include <utility>

#include "access.hpp"
#include "calendar.hpp"
#include "error.hpp"
#include "printed.hpp"
#include "text.hpp"
#include "timeline.hpp"

namespace mock_gateway {
namespace detail {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Returns the timeline of the exchange that the calling thread works for; null if none.
Timeline*& own_timeline() {
  thread_local Timeline* own = nullptr;
  return own;
}

class ClockState {
 public:
  virtual ~ClockState() = default;
  virtual TimePoint now() const = 0;
  virtual TimePoint at(SteadyTime real) const = 0;
  virtual void begin(ClockWait& wait) = 0;
  virtual void end(ClockWait& wait) = 0;
  virtual bool over(ClockWait& wait) = 0;
  virtual std::optional<Duration> recheck_in(ClockWait& wait) = 0;
  virtual Duration lateness(TimePoint) const { return Duration{0}; }
  virtual void settle(Timeline& timeline) = 0;
  /// Whether waits are ended by another thread rather than by the passage of time.
  virtual bool wakes() const { return false; }
  virtual bool is_instant() const { return false; }
  virtual ExpiredSleeps expired_sleeps() const { return {}; }
  virtual void note_date(TimePoint) {}
};

class RealClockState : public ClockState {
 public:
  TimePoint now() const override { return at(std::chrono::steady_clock::now()); }
  TimePoint at(SteadyTime real) const override {
    return start_ + std::chrono::duration_cast<Duration>(real - steady_start_);
  }
  void begin(ClockWait&) override {}
  void end(ClockWait&) override {}
  bool over(ClockWait& wait) override { return wait.deadline_ != TimePoint::max() && now() >= wait.deadline_; }
  std::optional<Duration> recheck_in(ClockWait& wait) override {
    if (wait.deadline_ == TimePoint::max()) return std::nullopt;
    return std::max(Duration{0}, wait.deadline_ - now());
  }
  Duration lateness(TimePoint moment) const override { return std::max(Duration{0}, now() - moment); }
  void settle(Timeline&) override {}

 private:
  // Read once, then advanced by the steady clock, so that adjustments of the system clock do not distort a pace.
  TimePoint start_ = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  SteadyTime steady_start_ = std::chrono::steady_clock::now();
};

class InstantClockState final : public RealClockState {
 public:
  void begin(ClockWait& wait) override {
    if (wait.deadline_ == TimePoint::max()) return;
    Timeline& timeline = wait.timeline_;
    timeline.offset_ += std::max(Duration{0}, wait.deadline_ - timeline.now());
  }
  bool over(ClockWait& wait) override { return wait.deadline_ != TimePoint::max(); }
  Duration lateness(TimePoint) const override { return Duration{0}; }
  bool is_instant() const override { return true; }
};

class ManualClockState final : public ClockState {
 public:
  ManualClockState(TimePoint start, Duration guard) : now_(start), guard_(bounded(guard)) {}

  TimePoint now() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return now_;
  }
  TimePoint at(SteadyTime) const override { return now(); }

  void begin(ClockWait& wait) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wait.deadline_ <= now_) {
      wait.fired_ = true;  // without a pause: the exchange counts as running
      return;
    }
    if (wait.timeline_.is_guard_spent() && wait.deadline_ != TimePoint::max()) {
      wait.fired_ = wait.guard_expired_ = true;
      return;
    }
    settle_locked(wait.timeline_);
    if (wait.deadline_ == TimePoint::max()) return;
    pending_.emplace(Key{wait.deadline_, serial_++}, Entry{wait.name_, &wait, nullptr});
    changed_.notify_all();
  }

  void end(ClockWait& wait) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!wait.fired_) erase_locked(wait);
  }

  bool over(ClockWait& wait) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wait.fired_) return true;
    if (wait.deadline_ == TimePoint::max() || std::chrono::steady_clock::now() - wait.began_ < guard_) return false;
    wait.guard_expired_ = true;
    wait.fired_ = true;
    erase_locked(wait);
    return true;
  }

  std::optional<Duration> recheck_in(ClockWait& wait) override {
    if (wait.deadline_ == TimePoint::max()) return std::nullopt;
    const auto spent = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - wait.began_);
    return std::max(Duration{0}, guard_ - spent);
  }

  bool wakes() const override { return true; }

  void settle(Timeline& timeline) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    settle_locked(timeline);
  }

  std::vector<ManualClock::PendingWait> advance(Duration step, const std::function<bool()>& is_given_up) {
    if (step < Duration{0})
      throw GatewayError("ManualClock::advance: time does not go backwards; give a positive step");
    std::unique_lock<std::mutex> lock(mutex_);
    return run_until(lock, later(now_, step), is_given_up);
  }

  Duration advance_to_next_event() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (pending_.empty())
      throw GatewayError(
          "ManualClock::advance_to_next_event: nothing waits on this clock; wait_for_waits or wait_for_sleepers waits "
          "until something does");
    const TimePoint from = now_;
    const TimePoint next = pending_.begin()->first.first;
    run_until(lock, next, nullptr);
    return next - from;
  }

  void sleep_for(Duration duration) {
    if (duration <= Duration{0}) return;
    std::unique_lock<std::mutex> lock(mutex_);
    const auto sleeper = share<Sleeper>();
    const Key key{later(now_, duration), serial_++};
    // A test function sleeps within an exchange. An advance that waited for the exchange would deadlock.
    if (is_own_running()) {
      sleeper->exchange = own_timeline();
      settle_locked(*sleeper->exchange);
    }
    pending_.emplace(key, Entry{"sleep_for", nullptr, sleeper});
    ++sleepers_;
    changed_.notify_all();
    sleeper->awake.wait_for(lock, guard_, [&] { return sleeper->fired; });
    if (sleeper->fired) return;
    pending_.erase(key);
    --sleepers_;
    ++expired_sleeps_.count;
    expired_sleeps_.last = duration;
  }

  ExpiredSleeps expired_sleeps() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return expired_sleeps_;
  }

  void note_date(TimePoint date) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    date_ = date;
  }

  /// Explains that a client may compare Retry-After's date with the machine's clock. Empty if it may safely do so.
  std::string about_date() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const TimePoint machine = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const Duration difference = machine - now_;
    if (!date_ || *date_ <= now_ || (difference <= std::chrono::seconds{1} && difference >= std::chrono::seconds{-1}))
      return "";
    return "; the date in Retry-After, " + calendar::http_date(*date_) + ", comes from the gateway's clock" +
           (*date_ < machine ? ", and has passed" : ", and is far ahead") +
           " for a client that reads the machine's clock: send retry_after with a duration, or start the clock at the "
           "machine's time";
  }

  /// Waits until there are `count` sleepers, or pending waits of any kind. Returns how many there are.
  std::size_t wait(Duration timeout, std::size_t count, bool only_sleepers) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto there = [&] { return only_sleepers ? sleepers_ : pending_.size(); };
    changed_.wait_for(lock, bounded(timeout), [&] { return there() >= count; });
    return there();
  }

  std::vector<ManualClock::PendingWait> waits() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<ManualClock::PendingWait> waits;
    for (const auto& [key, entry] : pending_) waits.push_back({entry.name, key.first});
    return waits;
  }

 private:
  using Key = std::pair<TimePoint, std::uint64_t>;  // deadline, then order of arrival
  struct Sleeper {
    std::condition_variable awake;
    bool fired = false;
    Timeline* exchange = nullptr;  // whose test function sleeps; null: a client sleeps
  };
  struct Entry {
    std::string name;
    ClockWait* wait;                   // for an exchange's wait; otherwise null
    std::shared_ptr<Sleeper> sleeper;  // for a call of sleep_for; otherwise null
  };

  void settle_locked(Timeline& timeline) {
    if (running_.erase(&timeline) > 0) changed_.notify_all();
  }

  bool is_own_running() const { return running_.count(own_timeline()) > 0; }

  void erase_locked(const ClockWait& wait) {
    const auto found = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const auto& pending) { return pending.second.wait == &wait; });
    if (found != pending_.end()) pending_.erase(found);
  }

  std::vector<ManualClock::PendingWait> run_until(std::unique_lock<std::mutex>& lock, TimePoint target,
                                                  const std::function<bool()>& is_given_up) {
    constexpr std::size_t most_returned = 1000;
    std::vector<ManualClock::PendingWait> fired;
    // A test function that advances keeps its exchange running until it returns, so such exchanges are not waited for.
    const bool on_running = is_own_running();
    if (on_running) {
      ++advancing_;
      changed_.notify_all();
    }
    const auto awaited = [&] { return running_.size() - (on_running ? advancing_ : 0); };
    std::size_t stuck = 0;  // exchanges that were not idle within the guard
    while (!pending_.empty() && pending_.begin()->first.first <= target) {
      if (is_given_up && is_given_up()) {
        target = now_;
        break;
      }
      now_ = std::max(now_, pending_.begin()->first.first);
      std::vector<std::shared_ptr<Wake>> wakes;
      while (!pending_.empty() && pending_.begin()->first.first <= now_) {
        Entry entry = std::move(pending_.begin()->second);
        if (fired.size() < most_returned) fired.push_back({entry.name, pending_.begin()->first.first});
        pending_.erase(pending_.begin());
        if (entry.sleeper) {
          entry.sleeper->fired = true;
          --sleepers_;
          if (entry.sleeper->exchange) running_.insert(entry.sleeper->exchange);
          entry.sleeper->awake.notify_one();
          continue;
        }
        entry.wait->fired_ = true;
        running_.insert(&entry.wait->timeline_);
        wakes.push_back(entry.wait->timeline_.wake_);
      }
      lock.unlock();
      for (const auto& wake : wakes) wake->wake();
      lock.lock();
      // Waits until the exchanges woken at this deadline are idle, so that the next deadline comes after their actions.
      changed_.wait_for(lock, guard_, [&] { return awaited() <= stuck; });
      stuck = awaited();
    }
    if (on_running) --advancing_;
    now_ = std::max(now_, target);
    changed_.notify_all();
    return fired;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  TimePoint now_;
  Duration guard_;
  std::map<Key, Entry> pending_;
  std::uint64_t serial_ = 0;
  std::size_t sleepers_ = 0;
  std::set<Timeline*> running_;  // exchanges woken by the clock that are not idle yet
  std::size_t advancing_ = 0;    // running exchanges whose test functions are in run_until
  ExpiredSleeps expired_sleeps_;
  std::optional<TimePoint> date_;  // the last date sent in Retry-After
};

TimePoint later(TimePoint time, Duration step) {
  if (step > Duration{0} && time > TimePoint::max() - step) return TimePoint::max();
  return time + step;
}

std::string printed(Duration duration) {
  const auto count = duration.count();
  const auto reaches = [count](std::int64_t unit) { return count >= unit || count <= -unit; };
  if (count == 0 || reaches(1'000'000'000)) return text::decimal(count, 1'000'000'000) + "s";
  if (reaches(1'000'000)) return text::decimal(count, 1'000'000) + "ms";
  if (reaches(1'000)) return text::decimal(count, 1'000) + "us";
  return std::to_string(count) + "ns";
}

std::string printed(TimePoint moment) { return calendar::rfc3339(moment); }

std::string printed_seconds(long double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%Lgs", seconds);
  return text;
}

bool is_manual(const Clock& clock) { return Access::state(clock)->wakes(); }

bool is_instant(const Clock& clock) { return Access::state(clock)->is_instant(); }

ExpiredSleeps expired_sleeps(const Clock& clock) { return Access::state(clock)->expired_sleeps(); }

Duration bounded(Duration limit) { return std::min<Duration>(limit, std::chrono::hours{24 * 365}); }

Timeline::Timeline(std::shared_ptr<ClockState> clock, std::shared_ptr<Wake> wake)
    : clock_(std::move(clock)), wake_(std::move(wake)) {}

Timeline::~Timeline() { clock_->settle(*this); }

TimePoint Timeline::now() const { return later(clock_->now(), offset_); }

TimePoint Timeline::at(SteadyTime real) const { return later(clock_->at(real), offset_); }

void Timeline::note_date(TimePoint date) { clock_->note_date(date); }

void Timeline::settle() { clock_->settle(*this); }

Duration Timeline::lateness(TimePoint moment) const { return clock_->lateness(moment); }

bool Timeline::is_instant() const { return clock_->is_instant(); }

OnTimeline::OnTimeline(Timeline& timeline) : before_(std::exchange(own_timeline(), &timeline)) {}

OnTimeline::~OnTimeline() { own_timeline() = before_; }

ClockWait::ClockWait(Timeline& timeline, TimePoint deadline, std::string name)
    : timeline_(timeline), deadline_(deadline), name_(std::move(name)), began_(std::chrono::steady_clock::now()) {
  timeline_.clock_->begin(*this);
}

ClockWait::~ClockWait() { timeline_.clock_->end(*this); }

bool ClockWait::is_over() { return timeline_.clock_->over(*this); }

std::optional<Duration> ClockWait::recheck_in() { return timeline_.clock_->recheck_in(*this); }

bool ClockWait::needs_wake() const { return timeline_.clock_->wakes(); }

ManualClockState& manual(const Clock& clock) { return static_cast<ManualClockState&>(*Access::state(clock)); }

std::vector<ManualClock::PendingWait> pending_waits(const Clock& clock) { return manual(clock).waits(); }

std::vector<ManualClock::PendingWait> advance_manual(const Clock& clock, Duration step,
                                                     const std::function<bool()>& is_given_up) {
  return manual(clock).advance(step, is_given_up);
}

}  // namespace detail

Clock::Clock(std::shared_ptr<detail::ClockState> state) : state_(std::move(state)) {}

TimePoint Clock::now() const { return state_->now(); }

RealClock::RealClock() : Clock(detail::share<detail::RealClockState>()) {}

InstantClock::InstantClock() : Clock(detail::share<detail::InstantClockState>()) {}

ManualClock::ManualClock(TimePoint start, Duration guard)
    : Clock(detail::share<detail::ManualClockState>(start, guard)) {}

void ManualClock::advance(Duration step) { detail::manual(*this).advance(step, nullptr); }

Duration ManualClock::advance_to_next_event() { return detail::manual(*this).advance_to_next_event(); }

void ManualClock::sleep_for(Duration duration) { detail::manual(*this).sleep_for(duration); }

Wait ManualClock::wait_for_sleepers(std::size_t count, Duration timeout) const {
  auto& clock = detail::manual(*this);
  const std::size_t there = clock.wait(timeout, count, true);
  const bool reached = there >= count;
  const std::string message = (reached ? "" : std::to_string(there) + " of ") + std::to_string(count) +
                              " callers are inside ManualClock::sleep_for" + (reached ? "" : clock.about_date());
  return detail::Access::make<Wait>(reached, message);
}

Wait ManualClock::wait_for_waits(std::size_t count, Duration timeout) const {
  auto& clock = detail::manual(*this);
  const std::size_t there = clock.wait(timeout, count, false);
  const bool reached = there >= count;
  std::string message = (reached ? "" : std::to_string(there) + " of ") + std::to_string(count) +
                        " waits are pending on the manual clock";
  for (const PendingWait& pending : waits()) message += "; " + pending.name;
  if (!reached) message += clock.about_date();
  return detail::Access::make<Wait>(reached, message);
}

std::vector<ManualClock::PendingWait> ManualClock::waits() const { return detail::manual(*this).waits(); }

std::ostream& operator<<(std::ostream& out, const Wait& wait) {
  return out << (wait ? "" : "timed out: ") << wait.message();
}

}  // namespace mock_gateway
