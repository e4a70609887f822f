// Replies that chaos broke, for the next equal request; how many are kept.

#pragma once

#include <algorithm>  // find_if
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "../core/version.hpp"

namespace mock_gateway::detail {

class StubState;

/// Thread-safe.
class OwedReplies {
 public:
  struct Owed {
    std::uint64_t request = 0;  // its fingerprint
    std::weak_ptr<StubState> stub;
    std::size_t call = 0;  // the number of the stub's call, from 0
  };

  void add(const Owed& owed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    owed_.push_back(owed);
    if (owed_.size() > most) owed_.pop_front();
    any_ = true;
  }
  /// Returns the reply owed longest to an equal request, and owes it no longer.
  std::optional<Owed> take(std::uint64_t request) {
    return take_if([request](const Owed& owed) { return owed.request == request; });
  }
  /// Undoes add(), unless the reply was taken.
  void withdraw(const Owed& added) {
    take_if([&](const Owed& owed) {
      return owed.request == added.request && owed.call == added.call && owed.stub.lock() == added.stub.lock();
    });
  }
  /// Whether replies are owed. Without such replies, a request only pays for this atomic load.
  bool any() const { return any_; }
  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    owed_.clear();
    any_ = false;
  }

 private:
  static constexpr std::size_t most = 1000;

  template <class IsWanted>
  std::optional<Owed> take_if(const IsWanted& is_wanted) {
    if (!any_) return std::nullopt;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(owed_.begin(), owed_.end(), is_wanted);
    if (found == owed_.end()) return std::nullopt;
    std::optional<Owed> taken = std::move(*found);
    owed_.erase(found);
    any_ = !owed_.empty();
    return taken;
  }

  std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::deque<Owed> owed_;
};

}  // namespace mock_gateway::detail
