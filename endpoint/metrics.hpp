#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Counters of a whole run. Resets and the journal's limit do not change them. Thread-safe.
class Metrics {
 public:
  /// Counts a completed exchange.
  void note(const Exchange& exchange);
  /// Counts a connection fault, with or without a request.
  void note(const ConnectionHit& hit);
  /// Returns all counters in Prometheus text format 0.0.4. `instance` identifies the run; `open` is the number of
  /// exchanges in progress.
  std::string text(const std::string& instance, std::size_t open) const;

 private:
  /// Limits the series if a test keeps creating keys and stubs. Further exchanges are counted without key and stub.
  static constexpr std::size_t most_series = 2000;

  /// Upper bounds of the lateness histogram's buckets; one more bucket has no bound.
  static constexpr std::array lateness_bounds{
      std::chrono::milliseconds(1),   std::chrono::milliseconds(2),   std::chrono::milliseconds(5),
      std::chrono::milliseconds(10),  std::chrono::milliseconds(20),  std::chrono::milliseconds(50),
      std::chrono::milliseconds(100), std::chrono::milliseconds(500), std::chrono::milliseconds(1000)};

  /// Status, decision, key and stub.
  using Labels = std::array<std::string, 4>;

  /// Requires the mutex to be locked.
  void add_lateness(std::string& text) const;

  mutable std::mutex mutex_;
  std::map<Labels, std::uint64_t> requests_;
  std::map<std::string, std::uint64_t> ended_;                        // by outcome
  std::array<std::uint64_t, lateness_bounds.size() + 1> lateness_{};  // one per bucket
  Duration lateness_sum_{0};
  std::map<std::string, std::uint64_t> faults_{{"reply", 0}, {"chaos", 0}, {"connection", 0}};
  std::uint64_t bytes_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace endpoint
}  // namespace mock_gateway
