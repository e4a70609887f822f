// The types of durations and moments.

#pragma once

#include <chrono>

#include "version.hpp"

namespace mock_gateway {
/// Every duration of the library; std::chrono literals (2s, 20ms) convert.
using Duration = std::chrono::nanoseconds;
/// A moment on a gateway's clock: time since the Unix epoch.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;

}  // namespace mock_gateway
