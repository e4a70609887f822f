// Counts changes by the test, per key.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace mock_gateway::detail {

/// Counts the test's changes to stubs and other settings that affect answers, in total and per key. Thread-safe.
class ChangeCount {
 public:
  void note() {
    ++of_all_;
    ++total_;
  }
  /// Counts a change that affects requests with this key (its id or description). An empty `key` means every request.
  void note_for(const std::string& key) {
    if (key.empty()) return note();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++of_key_[key];
    }
    ++total_;
  }
  std::uint64_t of(const std::string& id, const std::string& description) const {
    // Without changes for single keys, this takes no lock.
    if (const std::uint64_t total = total_; total == of_all_) return total;
    const std::lock_guard<std::mutex> lock(mutex_);
    std::uint64_t sum = of_all_;
    for (const std::string* name : {&id, &description}) {
      const auto found = of_key_.find(*name);
      if (found != of_key_.end()) sum += found->second;
    }
    return sum;
  }
  std::uint64_t total() const { return total_; }

 private:
  std::atomic<std::uint64_t> of_all_{0};
  std::atomic<std::uint64_t> total_{0};
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> of_key_;
};

}  // namespace mock_gateway::detail
