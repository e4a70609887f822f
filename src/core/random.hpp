#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "version.hpp"

namespace mock_gateway::detail {

/// Returns the 64-bit FNV-1a hash, which unlike std::hash is the same on every platform.
std::uint64_t fingerprint(std::string_view bytes, std::uint64_t basis = 0xcbf29ce484222325u);

/// SplitMix64 with portable distributions: the standard library's differ by platform, and runs must be repeatable.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  /// Returns a number that is uniform in [0, bound). `bound` must be positive.
  std::uint64_t below(std::uint64_t bound);
  /// Returns a number that is uniform in [low, high], both included. `low <= high`.
  std::int64_t between(std::int64_t low, std::int64_t high);
  /// Returns a number that is uniform in [0, 1).
  double unit();
  /// Returns a normally distributed number with mean 0 and deviation 1. Platforms differ at most in the last bit.
  double normal();
  /// Returns a character of [0-9a-zA-Z].
  char alphanumeric();
  std::string alphanumeric(std::size_t length);

 private:
  std::uint64_t state_;
};

}  // namespace mock_gateway::detail
