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

/// What a run has answered, counted from its start: neither a reset nor the bounds of the journal take anything away.
/// Any thread may call it.
class Metrics {
 public:
  /// Counts an exchange that has ended.
  void note(const Exchange& exchange);
  /// Counts a fault that struck a connection, with a request on it or without.
  void note(const ConnectionHit& hit);
  /// All counts in the text format of Prometheus, 0.0.4. `instance`: names the run. `open`: exchanges under way.
  std::string text(const std::string& instance, std::size_t open) const;

 private:
  /// A server that makes keys and stubs without end would else have as many series. What is beyond has no key or stub.
  static constexpr std::size_t most_series = 2000;

  /// The histogram of lateness has a bucket up to each of these, and one beyond.
  static constexpr std::array lateness_bounds{
      std::chrono::milliseconds(1),   std::chrono::milliseconds(2),   std::chrono::milliseconds(5),
      std::chrono::milliseconds(10),  std::chrono::milliseconds(20),  std::chrono::milliseconds(50),
      std::chrono::milliseconds(100), std::chrono::milliseconds(500), std::chrono::milliseconds(1000)};

  /// Status, decision, key and stub.
  using Labels = std::array<std::string, 4>;

  /// Expects the mutex to be held.
  void add_lateness(std::string& text) const;

  mutable std::mutex mutex_;
  std::map<Labels, std::uint64_t> requests_;
  std::map<std::string, std::uint64_t> ended_;                        // by outcome
  std::array<std::uint64_t, lateness_bounds.size() + 1> lateness_{};  // by the first bound that is not below it
  Duration lateness_sum_{0};
  std::map<std::string, std::uint64_t> faults_{{"reply", 0}, {"chaos", 0}, {"connection", 0}};
  std::uint64_t bytes_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace endpoint
}  // namespace mock_gateway
