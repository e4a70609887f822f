// Counts equal requests; the limit of separate counters.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "../core/version.hpp"

namespace mock_gateway::detail {

/// Counts occurrences of each request, so that generated content depends on the request and not on earlier ones. Exact
/// for the first 65,536 different requests. Later ones share counters, to bound memory: their answers are still unique,
/// but repeatable only if the requests come in the same order.
class Occurrences {
 public:
  /// Returns 1 for the first request with this fingerprint, 2 for the next, and so on.
  std::uint64_t next(std::uint64_t fingerprint) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = counts_.find(fingerprint);
    if (known != counts_.end()) return ++known->second;
    if (counts_.size() < exact) return counts_[fingerprint] = 1;
    return ++shared_[fingerprint % shared_.size()];
  }
  void reset() {
    const std::lock_guard<std::mutex> lock(mutex_);
    counts_.clear();
    shared_.fill(0);
  }

 private:
  static constexpr std::size_t exact = 65'536;

  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> counts_;
  std::array<std::uint64_t, 1024> shared_{};
};

}  // namespace mock_gateway::detail
