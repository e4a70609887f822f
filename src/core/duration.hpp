// The types of durations and times.

#pragma once

#include <chrono>

#include "version.hpp"

namespace mock_gateway {
/// All durations of the library; std::chrono literals (2s, 20ms) convert.
using Duration = std::chrono::nanoseconds;
/// A time on a gateway's clock, since the Unix epoch.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;

}  // namespace mock_gateway
