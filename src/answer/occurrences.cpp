// Counts equal requests; the limit of separate counters.

#include "occurrences.hpp"

namespace mock_gateway::detail {

std::uint64_t Occurrences::next(std::uint64_t fingerprint) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = counts_.find(fingerprint);
  if (known != counts_.end()) return ++known->second;
  if (counts_.size() < exact) return counts_[fingerprint] = 1;
  return ++shared_[fingerprint % shared_.size()];
}

void Occurrences::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.clear();
  shared_.fill(0);
}

}  // namespace mock_gateway::detail
