// Times as RFC 3339 and HTTP dates; parses HTTP dates, with their range of years.

#include "calendar.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "text.hpp"

namespace mock_gateway::detail {
namespace calendar {

inline constexpr std::array<std::string_view, 7> weekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
inline constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
inline constexpr std::int64_t day_length = 86400;

// Years begin in March here, so that the leap day comes last.
inline constexpr std::int64_t days_to_1970 = 719468;  // from 0000-03-01, which was a Wednesday, to 1970-01-01

std::string two_digits(std::int64_t number) {
  return {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
}

std::string time_of_day(const CivilTime& time) {
  return two_digits(time.hour) + ":" + two_digits(time.minute) + ":" + two_digits(time.second);
}

std::string date_and_time(const CivilTime& time) {
  return std::to_string(time.year) + "-" + two_digits(time.month) + "-" + two_digits(time.day) + "T" +
         time_of_day(time);
}

std::int64_t unix_seconds(TimePoint moment) {
  return std::chrono::duration_cast<std::chrono::seconds>(moment.time_since_epoch()).count();
}

CivilTime civil_time(TimePoint moment) {
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count();
  const std::int64_t second_of_day = (seconds % day_length + day_length) % day_length;
  // A TimePoint is within 300 years of 1970, so nothing below is negative.
  const std::int64_t since_year_0 = (seconds - second_of_day) / day_length + days_to_1970;
  const std::int64_t era = since_year_0 / 146097;  // of 400 years
  const std::int64_t day_of_era = since_year_0 % 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  CivilTime time{};
  time.month = (month_from_march + 2) % 12 + 1;
  time.year = year_of_era + era * 400 + (time.month < 3 ? 1 : 0);
  time.day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  time.weekday = (since_year_0 + 3) % 7;
  time.hour = second_of_day / 3600;
  time.minute = second_of_day / 60 % 60;
  time.second = second_of_day % 60;
  return time;
}

TimePoint moment_of(const CivilTime& time) {
  const std::int64_t year = time.month < 3 ? time.year - 1 : time.year;
  const std::int64_t day_of_year = (153 * ((time.month + 9) % 12) + 2) / 5 + time.day - 1;
  const std::int64_t days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - days_to_1970;
  return TimePoint{std::chrono::hours{24 * days + time.hour} + std::chrono::minutes{time.minute} +
                   std::chrono::seconds{time.second}};
}

std::string rfc3339(TimePoint moment) {
  const Duration rest = moment - std::chrono::floor<std::chrono::seconds>(moment);
  return date_and_time(civil_time(moment)) + text::decimal(rest.count(), 1'000'000'000).substr(1) + "Z";
}

std::string rfc3339_milliseconds(TimePoint moment) {
  const Duration rest = moment - std::chrono::floor<std::chrono::seconds>(moment);
  // The leading 1 preserves zeros.
  const auto decimals = std::to_string(1000 + std::chrono::duration_cast<std::chrono::milliseconds>(rest).count());
  return date_and_time(civil_time(moment)) + "." + decimals.substr(1) + "Z";
}

std::string http_date(TimePoint moment) {
  const CivilTime time = civil_time(moment);
  std::string date;
  date.reserve(29);
  date.append(weekdays[static_cast<std::size_t>(time.weekday)]).append(", ").append(two_digits(time.day)).append(" ");
  date.append(months[static_cast<std::size_t>(time.month - 1)]).append(" ").append(std::to_string(time.year));
  date.append(" ").append(time_of_day(time)).append(" GMT");
  return date;
}

std::optional<TimePoint> parse_http_date(std::string_view text) {
  text = text::trim(text);
  constexpr std::string_view form = "Sun, 06 Nov 1994 08:49:37 GMT";
  if (text.size() != form.size()) return std::nullopt;
  for (const std::size_t at : {3u, 4u, 7u, 11u, 16u, 19u, 22u, 25u, 26u, 27u, 28u})
    if (text[at] != form[at]) return std::nullopt;
  const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
  const auto number = [text](std::size_t at, std::size_t count) {
    return text::whole_number(text.substr(at, count)).value_or(-1);
  };
  CivilTime time{};
  time.year = number(12, 4);
  time.month = month - months.begin() + 1;
  time.day = number(5, 2);
  time.hour = number(17, 2);
  time.minute = number(20, 2);
  time.second = number(23, 2);
  if (month == months.end() || time.day < 1 || time.day > 31 || time.year < 1970 || time.year > 2200 || time.hour < 0 ||
      time.hour > 23 || time.minute < 0 || time.minute > 59 || time.second < 0 || time.second > 60) {
    return std::nullopt;
  }
  return moment_of(time);
}

}  // namespace calendar
}  // namespace mock_gateway::detail
