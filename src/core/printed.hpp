// Durations and times as printed in checks ("20ms"); `clock.cpp` chooses the unit.

#pragma once

#include <chrono>
#include <ratio>
#include <string>

#include "duration.hpp"

namespace mock_gateway::detail {

/// Returns text such as "20ms", "60s", "1.5s". The unit is the largest of s, ms, us and ns with a value of at least 1.
std::string printed(Duration duration);
/// Returns text such as "2024-01-01T00:00:00Z", with as many decimals as needed.
std::string printed(TimePoint moment);
/// Prints a duration that is outside the range of Duration.
std::string printed_seconds(long double seconds);

template <class Rep, class Period>
std::string printed(const std::chrono::duration<Rep, Period>& duration) {
  const long double nanoseconds =
      std::chrono::duration_cast<std::chrono::duration<long double, std::nano>>(duration).count();
  constexpr long double most = 9.2e18L;
  if (nanoseconds > -most && nanoseconds < most) return printed(std::chrono::duration_cast<Duration>(duration));
  return printed_seconds(nanoseconds / 1e9L);
}

template <class Any>
std::string printed(const std::chrono::time_point<std::chrono::system_clock, Any>& moment) {
  return printed(std::chrono::time_point_cast<Duration>(moment));
}

}  // namespace mock_gateway::detail
