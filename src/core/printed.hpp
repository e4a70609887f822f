// Durations and moments as checks print them ("20ms"); the unit is chosen in `clock.cpp`.

#pragma once

#include <chrono>
#include <ratio>
#include <string>

#include "duration.hpp"

namespace mock_gateway::detail {

/// What checks print: "20ms", "60s", "1.5s". The unit is the largest of s, ms, us and ns of which there is one at
/// least.
std::string printed(Duration duration);
/// "2024-01-01T00:00:00Z", with as many decimals as the moment has.
std::string printed(TimePoint moment);
/// The same for a time that a Duration cannot hold.
std::string printed_seconds(long double seconds);

/// The same for a duration of any unit.
template <class Rep, class Period>
std::string printed(const std::chrono::duration<Rep, Period>& duration) {
  const long double nanoseconds =
      std::chrono::duration_cast<std::chrono::duration<long double, std::nano>>(duration).count();
  constexpr long double most = 9.2e18L;
  if (nanoseconds > -most && nanoseconds < most) return printed(std::chrono::duration_cast<Duration>(duration));
  return printed_seconds(nanoseconds / 1e9L);
}
/// The same for a moment of any precision.
template <class Any>
std::string printed(const std::chrono::time_point<std::chrono::system_clock, Any>& moment) {
  return printed(std::chrono::time_point_cast<Duration>(moment));
}

}  // namespace mock_gateway::detail
