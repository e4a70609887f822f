#include "failure.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "../core/error.hpp"
#include "../core/text.hpp"
#include "request_error.hpp"

namespace mock_gateway {
namespace detail {
namespace failure_format {

/// `count` units of which `unit` make one, as a decimal number without trailing zeros. `unit` is a power of ten.
std::string decimal(std::int64_t count, std::uint64_t unit);
/// A number below 100 in two digits.
std::string two_digits(std::int64_t number);
bool is_token(std::string_view name);
/// Throws GatewayError for a negative duration; `instead` sends one.
void require_not_negative(Duration duration, const char* setter, const char* instead);

std::string decimal(std::int64_t count, std::uint64_t unit) {
  const bool negative = count < 0;
  // Negated without a sign, because the smallest int64 has no positive counterpart.
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  std::string number = (negative ? "-" : "") + std::to_string(size / unit);
  if (size % unit != 0) {
    std::string fraction = std::to_string(unit + size % unit).substr(1);  // the leading 1 keeps the zeros
    fraction.erase(fraction.find_last_not_of('0') + 1);
    number += "." + fraction;
  }
  return number;
}

std::string two_digits(std::int64_t number) {
  return {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
}

bool is_token(std::string_view name) {
  constexpr std::string_view allowed = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return !name.empty() && name.find_first_not_of(allowed) == std::string_view::npos;
}

void require_not_negative(Duration duration, const char* setter, const char* instead) {
  if (duration >= Duration::zero()) return;
  throw GatewayError(std::string(setter) + " takes a duration of 0 or more, not " +
                     decimal(duration.count(), 1000000000) + " s; " + instead);
}

}  // namespace failure_format

std::string http_date(TimePoint time) {
  constexpr std::array<const char*, 7> weekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::int64_t day_length = 86400;
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  const std::int64_t second_of_day = (seconds % day_length + day_length) % day_length;
  const std::int64_t day = (seconds - second_of_day) / day_length;

  // The proleptic Gregorian calendar in years that begin in March, so that the leap day comes last. A TimePoint lies
  // within 300 years of 1970, and 719468 days lie between 0000-03-01 and 1970-01-01: nothing below is negative.
  const std::int64_t since_year_0 = day + 719468;
  const std::int64_t era = since_year_0 / 146097;  // of 400 years
  const std::int64_t day_of_era = since_year_0 % 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const std::int64_t month = (month_from_march + 2) % 12;
  const std::int64_t year = year_of_era + era * 400 + (month < 2 ? 1 : 0);

  const std::int64_t weekday = (since_year_0 + 3) % 7;  // 0000-03-01 was a Wednesday
  return std::string(weekdays[static_cast<std::size_t>(weekday)]) + ", " + failure_format::two_digits(day_of_month) +
         " " + months[static_cast<std::size_t>(month)] + " " + std::to_string(year) + " " +
         failure_format::two_digits(second_of_day / 3600) + ":" + failure_format::two_digits(second_of_day / 60 % 60) +
         ":" + failure_format::two_digits(second_of_day % 60) + " GMT";
}

void require_header_field(const std::string& name, const std::string& value) {
  if (!failure_format::is_token(name)) {
    throw GatewayError("\"" + text::excerpt(name, 60) +
                       "\" is no header name: it must consist of letters, digits and !#$%&'*+-.^_`|~");
  }
  if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    throw GatewayError("the value of header \"" + text::excerpt(name, 60) +
                       "\" holds CR, LF or NUL, which would split the response; leave it out");
  }
}

std::string require_utf8(std::string value, std::string_view what) {
  const std::size_t valid = text::valid_utf8_prefix(value);
  if (valid != value.size()) {
    throw GatewayError("the " + std::string(what) + " is sent as JSON and must be UTF-8, but byte " +
                       std::to_string(valid + 1) + " is not");
  }
  return value;
}

}  // namespace detail

Failure::Failure(int status, std::string code, std::string message)
    : status_(status),
      code_(detail::require_utf8(std::move(code), "code of a failure")),
      message_(detail::require_utf8(std::move(message), "message of a failure")) {
  if (status < 200 || status > 599) {
    throw GatewayError("a failure's status must be from 200 to 599, not " + std::to_string(status));
  }
}

Failure Failure::type(std::string type) const {
  Failure changed = *this;
  changed.type_ = detail::require_utf8(std::move(type), "type of a failure");
  return changed;
}

Failure Failure::param(std::string path) const {
  Failure changed = *this;
  changed.param_ = detail::require_utf8(std::move(path), "param of a failure");
  return changed;
}

Failure Failure::retry_after(Duration duration) const {
  detail::failure_format::require_not_negative(duration, "retry_after",
                                               "header(\"Retry-After\", \"-1\") sends a negative one");
  return retry_after(detail::failure_format::decimal(duration.count(), 1000000000));
}

Failure Failure::retry_after_date(Duration duration) const {
  detail::failure_format::require_not_negative(
      duration, "retry_after_date",
      "header(\"Retry-After\", \"Sun, 06 Nov 1994 08:49:37 GMT\") sends a date that has passed, and "
      "header(\"Retry-After\", \"-1\") a negative number");
  Failure changed = without_retry_after();
  changed.retry_after_date_ = duration;
  return changed;
}

Failure Failure::retry_after(std::string literal) const {
  detail::require_header_field("Retry-After", literal);
  Failure changed = *this;
  changed.retry_after_date_.reset();
  changed.headers_.set("Retry-After", std::move(literal));
  return changed;
}

Failure Failure::without_retry_after() const {
  Failure changed = *this;
  changed.retry_after_date_.reset();
  changed.headers_.remove("Retry-After");
  return changed;
}

Failure Failure::retry_after_ms(Duration duration) const {
  detail::failure_format::require_not_negative(duration, "retry_after_ms",
                                               "header(\"retry-after-ms\", \"-1\") sends a negative one");
  Failure changed = *this;
  changed.headers_.set("retry-after-ms", detail::failure_format::decimal(duration.count(), 1000000));
  return changed;
}

Failure Failure::should_retry(bool retry) const {
  Failure changed = *this;
  changed.headers_.set("x-should-retry", retry ? "true" : "false");
  return changed;
}

Failure Failure::header(std::string name, std::string value) const {
  detail::require_header_field(name, value);
  Failure changed = *this;
  if (detail::text::equals_ignoring_case(name, "Retry-After")) changed.retry_after_date_.reset();
  changed.headers_.set(std::move(name), std::move(value));
  return changed;
}

Failure Failure::add_header(std::string name, std::string value) const {
  detail::require_header_field(name, value);
  Failure changed = *this;
  changed.headers_.add(std::move(name), std::move(value));
  return changed;
}

Failure Failure::body(std::string body, std::string content_type) const {
  detail::require_header_field("Content-Type", content_type);
  Failure changed = *this;
  changed.body_ = std::move(body);
  changed.content_type_ = std::move(content_type);
  return changed;
}

Failure Failure::json_body(const Json& body) const {
  try {
    return this->body(body.dump());
  } catch (const Json::exception& error) {
    throw GatewayError(std::string("the body of a failure cannot be written as JSON: ") + error.what());
  }
}

Headers Failure::headers(TimePoint now) const {
  Headers headers = headers_;
  if (retry_after_date_) {
    // Saturated, because "in a thousand years" must not wrap around.
    const Duration since_epoch = now.time_since_epoch();
    TimePoint moment = since_epoch > Duration::max() - *retry_after_date_ ? TimePoint::max() : now + *retry_after_date_;
    const Duration fraction = moment - std::chrono::floor<std::chrono::seconds>(moment);
    if (fraction > Duration::zero() && moment < TimePoint::max() - std::chrono::seconds{1})
      moment += std::chrono::seconds{1} - fraction;
    headers.add("Retry-After", detail::http_date(moment));
  }
  return headers;
}

bool Failure::is_documented_authentication_failure() const {
  return code_ == "unauthorized" && message_ == "unauthorized";
}

Failure failure(int status, std::string code, std::string message) {
  return Failure(status, std::move(code), std::move(message));
}

Failure bad_request(std::string message) { return Failure(400, "bad_request", std::move(message)); }

Failure unauthorized() { return Failure(401, "unauthorized", "unauthorized"); }

Failure forbidden() { return Failure(403, "unauthorized", "unauthorized"); }

Failure not_found() { return Failure(404, "not_found", "The requested resource does not exist."); }

Failure request_timeout() { return Failure(408, "request_timeout", "The request took too long to arrive. Try again."); }

Failure conflict() { return Failure(409, "conflict", "The request conflicts with another one. Try again."); }

Failure rate_limited() { return Failure(429, "rate_limit_exceeded", "The rate limit is exceeded. Try again later."); }

Failure rate_limited(Duration retry_after) {
  return Failure(429, "rate_limit_exceeded", "The rate limit is exceeded. Try again after the time in Retry-After.")
      .retry_after(retry_after);
}

Failure server_error() {
  return Failure(500, "internal_error", "The server failed to process the request. Try again later.");
}

Failure bad_gateway() {
  return Failure(502, "bad_gateway", "The server got no valid answer from upstream. Try again later.");
}

Failure service_unavailable() {
  return Failure(503, "service_unavailable", "The service is unavailable. Try again later.");
}

Failure gateway_timeout() {
  return Failure(504, "gateway_timeout", "The server got no answer from upstream in time. Try again later.");
}

Failure overloaded() { return Failure(529, "overloaded", "The service is overloaded. Try again later."); }

}  // namespace mock_gateway
