#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "duration.hpp"

namespace mock_gateway::detail {
namespace calendar {

/// Returns the whole seconds since the Unix epoch.
std::int64_t unix_seconds(TimePoint moment);
/// Returns text such as "2024-01-01T00:00:00.25Z": RFC 3339, with as many decimals as the moment has.
std::string rfc3339(TimePoint moment);
/// Returns text such as "2024-01-01T00:00:00.250Z": always three decimals, rounded towards the past.
std::string rfc3339_milliseconds(TimePoint moment);
/// Returns text such as "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7).
std::string http_date(TimePoint moment);
/// Parses an HTTP date, ignoring surrounding spaces. Empty for invalid text and years outside 1970 to 2200.
std::optional<TimePoint> parse_http_date(std::string_view text);

}  // namespace calendar
}  // namespace mock_gateway::detail
