// Gates: arrivals and releases; the polling interval for acknowledgements.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "access.hpp"
#include "clock.hpp"
#include "printed.hpp"
#include "shared.hpp"
#include "timeline.hpp"

namespace mock_gateway {
namespace detail {

class GateState {
 public:
  GateState(std::string name, Duration guard) : name_(std::move(name)), guard_(bounded(guard)) {}

  const std::string& name() const { return name_; }

  void arrive(GateWait& wait) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++arrived_;
    wait.round_ = round_;
    changed_.notify_all();
    if (open_ || permits_ > 0) {
      wait.released_ = true;
      if (!open_) --permits_;
    } else {
      held_.push_back(&wait);
    }
  }

  void pass_by() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++arrived_;
    changed_.notify_all();
  }

  void leave(GateWait& wait) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_.erase(std::remove(held_.begin(), held_.end(), &wait), held_.end());
  }

  bool over(GateWait& wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (wait.released_) return true;
    if (std::chrono::steady_clock::now() - wait.began_ < guard_) return false;
    for (GateWait* held : held_) held->guard_expired_ = true;
    open_ = true;
    let_all_go(std::move(lock));
    return true;
  }

  void note_delivered(const GateWait& wait) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wait.round_ != round_) return;
    ++delivered_;
    changed_.notify_all();
  }

  Duration guard() const { return guard_; }

  void release() {
    std::shared_ptr<Wake> wake;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (held_.empty()) {
        ++permits_;
        return;
      }
      wake = let_go(*held_.front());
      held_.pop_front();
    }
    wake->wake();
  }

  void open() {
    std::unique_lock<std::mutex> lock(mutex_);
    open_ = true;
    let_all_go(std::move(lock));
  }

  void reset() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++round_;
    open_ = false;
    permits_ = arrived_ = delivered_ = 0;
    let_all_go(std::move(lock));
  }

  GateCounts counts() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return {arrived_, held_.size(), open_};
  }

  Wait wait_until_reached(std::size_t count, Duration timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool reached = changed_.wait_for(lock, bounded(timeout), [&] { return arrived_ >= count; });
    const std::string message =
        std::to_string(arrived_) + " of " + std::to_string(count) + " exchanges have reached the gate";
    return detail::Access::make<Wait>(reached, message);
  }

  Wait wait_until_delivered(std::size_t count, Duration timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool delivered = changed_.wait_for(lock, bounded(timeout), [&] { return delivered_ >= count; });
    const std::string message = std::to_string(arrived_) + " of " + std::to_string(count) +
                                " exchanges have reached the gate, " + std::to_string(delivered_) +
                                " with everything before it delivered";
    return detail::Access::make<Wait>(delivered, message);
  }

 private:
  static std::shared_ptr<Wake> let_go(GateWait& wait) {
    wait.released_ = true;
    return wait.wake_;
  }

  /// Unlocks before it wakes the threads of the held exchanges.
  void let_all_go(std::unique_lock<std::mutex> lock) {
    std::vector<std::shared_ptr<Wake>> wakes;
    for (GateWait* wait : held_) wakes.push_back(let_go(*wait));
    held_.clear();
    lock.unlock();
    for (const auto& wake : wakes) wake->wake();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::string name_;
  Duration guard_;
  std::uint64_t round_ = 0;  // number of resets
  std::size_t arrived_ = 0;
  std::size_t delivered_ = 0;
  std::size_t permits_ = 0;
  bool open_ = false;
  std::deque<GateWait*> held_;
};

Acknowledgement::Acknowledgement() { ++count(); }

Acknowledgement::~Acknowledgement() { --count(); }

std::atomic<int>& Acknowledgement::count() {
  static std::atomic<int> count{0};
  return count;
}

Duration Acknowledgement::recheck_in() const {
  // Most acknowledgements arrive at once, some after tens of milliseconds, the rest when the client reads.
  constexpr Duration shortest = std::chrono::microseconds{20};
  const Duration lasted = this->lasted();
  Duration longest = std::max<Duration>(std::chrono::milliseconds{1}, lasted / 64);
  // Limits all polling to 5% of a processor: with many waits, intervals are longer and more waits share a moment.
  const int count = Acknowledgement::count().load(std::memory_order_relaxed);
  longest = std::max<Duration>(longest, std::chrono::microseconds{250} * count);
  const Duration step = std::clamp(lasted, shortest, longest);
  const Duration slot = std::min<Duration>(step / 4, std::chrono::microseconds{5} * count);
  const Duration now = std::chrono::steady_clock::now().time_since_epoch();
  return step + (slot - (now + step) % slot);
}

GateWait::GateWait(std::shared_ptr<GateState> gate, std::shared_ptr<Wake> wake, std::function<bool()> delivered)
    : gate_(std::move(gate)),
      wake_(std::move(wake)),
      delivered_(std::move(delivered)),
      began_(std::chrono::steady_clock::now()) {
  gate_->arrive(*this);
}

GateWait::~GateWait() { gate_->leave(*this); }

bool GateWait::is_over() {
  if (acknowledgement_ && delivered_()) {
    acknowledgement_.reset();
    gate_->note_delivered(*this);
  }
  return gate_->over(*this);
}

std::optional<Duration> GateWait::recheck_in() {
  const auto spent = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_);
  const Duration left = std::max(Duration{0}, gate_->guard() - spent);
  return acknowledgement_ ? std::min(left, acknowledgement_->recheck_in()) : left;
}

void pass_by(const Gate& gate) { Access::state(gate)->pass_by(); }

void reset(const Gate& gate) { Access::state(gate)->reset(); }

GateCounts counts(const Gate& gate) { return Access::state(gate)->counts(); }

const std::string& name_of(const Gate& gate) { return Access::state(gate)->name(); }

}  // namespace detail

Gate::Gate(Duration guard) : Gate(std::string(), guard) {}

Gate::Gate(std::string name, Duration guard) : state_(detail::share<detail::GateState>(std::move(name), guard)) {}

Wait Gate::wait_until_reached(Duration timeout) const { return wait_until_reached(1, timeout); }

Wait Gate::wait_until_reached(std::size_t count, Duration timeout) const {
  return state_->wait_until_reached(count, timeout);
}

Wait Gate::wait_until_delivered(Duration timeout) const { return wait_until_delivered(1, timeout); }

Wait Gate::wait_until_delivered(std::size_t count, Duration timeout) const {
  return state_->wait_until_delivered(count, timeout);
}

void Gate::release() { state_->release(); }

void Gate::open() { state_->open(); }

}  // namespace mock_gateway
