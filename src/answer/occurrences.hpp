#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "../core/version.hpp"

namespace mock_gateway::detail {

/// Counts how often each request came, so that what is generated for it follows from what it is, never from what
/// came before it. Exact for the first 65,536 different requests; later ones share counters, so that memory is
/// bounded: their answers are still unique, and repeat as long as the same requests come in the same order.
class Occurrences {
 public:
  /// 1 for the first request with this fingerprint, 2 for the next, …
  std::uint64_t next(std::uint64_t fingerprint);
  void reset();

 private:
  static constexpr std::size_t exact = 65'536;

  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> counts_;
  std::array<std::uint64_t, 1024> shared_{};
};

}  // namespace mock_gateway::detail
