#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "version.hpp"

namespace mock_gateway::detail {

/// FNV-1a, 64 bits; unlike std::hash, the same on every platform.
std::uint64_t fingerprint(std::string_view bytes, std::uint64_t basis = 0xcbf29ce484222325u);

/// SplitMix64 with portable distributions: the standard library's differ by platform, and runs must be repeatable.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  /// Uniform in [0, bound). `bound` must be positive.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [low, high], both included. `low <= high`.
  std::int64_t between(std::int64_t low, std::int64_t high);
  /// Uniform in [0, 1).
  double unit();
  /// Normally distributed with mean 0 and deviation 1. <cmath> differs between platforms in the last bit at most.
  double normal();
  /// `length` characters of [0-9a-zA-Z].
  std::string alphanumeric(std::size_t length);

 private:
  std::uint64_t state_;
};

}  // namespace mock_gateway::detail
