#pragma once

#include <array>
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

  /// Status, decision, key and stub.
  using Labels = std::array<std::string, 4>;

  mutable std::mutex mutex_;
  std::map<Labels, std::uint64_t> requests_;
  std::map<std::string, std::uint64_t> ended_;  // by outcome
  std::map<std::string, std::uint64_t> faults_{{"reply", 0}, {"chaos", 0}, {"connection", 0}};
  std::uint64_t bytes_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace endpoint
}  // namespace mock_gateway
