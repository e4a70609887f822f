// Formats times as RFC 3339 and HTTP dates; parses HTTP dates of the years 1970 to 2200.

#include "calendar.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>

#include "text.hpp"

namespace mock_gateway::detail {
namespace calendar {

inline constexpr std::array<std::string_view, 7> weekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
inline constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
// The functions of C libraries for UTC differ, so these count days themselves. Their years begin in March, so that a
// leap day is the last, and an era has 400 years. 1970 began 719,468 days after the first era.
inline constexpr std::int64_t era = 146'097;

/// Returns the date and time in UTC.
std::tm civil_time(TimePoint moment) {
  const std::int64_t seconds = unix_seconds(std::chrono::floor<std::chrono::seconds>(moment));
  const std::int64_t in_day = ((seconds % 86400) + 86400) % 86400;
  const std::int64_t days = (seconds - in_day) / 86400 + 719'468;
  const std::int64_t in_era = days % era;
  const std::int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146'096) / 365;
  const std::int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
  const std::int64_t month = (5 * in_year + 2) / 153;  // 0 is March
  std::tm time{};
  time.tm_year = static_cast<int>(days / era * 400 + year + (month < 10 ? 0 : 1) - 1900);
  time.tm_mon = static_cast<int>(month < 10 ? month + 2 : month - 10);
  time.tm_mday = static_cast<int>(in_year - (153 * month + 2) / 5 + 1);
  time.tm_wday = static_cast<int>((days + 3) % 7);
  time.tm_hour = static_cast<int>(in_day / 3600);
  time.tm_min = static_cast<int>(in_day / 60 % 60);
  time.tm_sec = static_cast<int>(in_day % 60);
  return time;
}

/// Returns the seconds since 1970 of a date and time in UTC. A day beyond its month is one of the next month.
std::chrono::seconds seconds_since_1970(const std::tm& time) {
  const std::int64_t month = (time.tm_mon + 10) % 12;  // 0 is March
  const std::int64_t year = time.tm_year + 1900 - (month < 10 ? 0 : 1);
  const std::int64_t days =
      365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + time.tm_mday - 1 - 719'468;
  return std::chrono::seconds{((days * 24 + time.tm_hour) * 60 + time.tm_min) * 60 + time.tm_sec};
}

std::string date_and_time(TimePoint moment) {
  const std::tm time = civil_time(moment);
  char text[128];
  std::snprintf(text, sizeof text, "%d-%02d-%02dT%02d:%02d:%02d", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday,
                time.tm_hour, time.tm_min, time.tm_sec);
  return text;
}

std::int64_t unix_seconds(TimePoint moment) {
  return std::chrono::duration_cast<std::chrono::seconds>(moment.time_since_epoch()).count();
}

std::string rfc3339(TimePoint moment) {
  const Duration rest = moment - std::chrono::floor<std::chrono::seconds>(moment);
  return date_and_time(moment) + text::decimal(rest.count(), 1'000'000'000).substr(1) + "Z";
}

std::string rfc3339_milliseconds(TimePoint moment) {
  const Duration rest = moment - std::chrono::floor<std::chrono::seconds>(moment);
  // The leading 1 preserves zeros.
  const auto decimals = std::to_string(1000 + std::chrono::duration_cast<std::chrono::milliseconds>(rest).count());
  return date_and_time(moment) + "." + decimals.substr(1) + "Z";
}

std::string http_date(TimePoint moment) {
  const std::tm time = civil_time(moment);
  char text[128];  // strftime would depend on the locale
  std::snprintf(text, sizeof text, "%s, %02d %s %d %02d:%02d:%02d GMT",
                weekdays[static_cast<std::size_t>(time.tm_wday)].data(), time.tm_mday,
                months[static_cast<std::size_t>(time.tm_mon)].data(), time.tm_year + 1900, time.tm_hour, time.tm_min,
                time.tm_sec);
  return text;
}

std::optional<TimePoint> parse_http_date(std::string_view text) {
  text = text::trim(text);
  constexpr std::string_view form = "Sun, 06 Nov 1994 08:49:37 GMT";
  if (text.size() != form.size()) return std::nullopt;
  for (const std::size_t at : {3u, 4u, 7u, 11u, 16u, 19u, 22u, 25u, 26u, 27u, 28u})
    if (text[at] != form[at]) return std::nullopt;
  const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
  const auto number = [text](std::size_t at, std::size_t count) {
    return static_cast<int>(text::whole_number(text.substr(at, count)).value_or(-1));
  };
  std::tm time{};
  const int year = number(12, 4);
  time.tm_year = year - 1900;
  time.tm_mon = static_cast<int>(month - months.begin());
  time.tm_mday = number(5, 2);
  time.tm_hour = number(17, 2);
  time.tm_min = number(20, 2);
  time.tm_sec = number(23, 2);
  if (month == months.end() || time.tm_mday < 1 || time.tm_mday > 31 || year < 1970 || year > 2200 ||
      time.tm_hour < 0 || time.tm_hour > 23 || time.tm_min < 0 || time.tm_min > 59 || time.tm_sec < 0 ||
      time.tm_sec > 60) {
    return std::nullopt;
  }
  return TimePoint{seconds_since_1970(time)};
}

}  // namespace calendar
}  // namespace mock_gateway::detail
