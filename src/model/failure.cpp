// Ready-made failures (status, code, message, type); Retry-After and related headers; custom error headers and bodies.

#include "failure.hpp"

#include <utility>

#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "checks.hpp"
#include "failure_rows.hpp"

namespace mock_gateway {
namespace detail {
namespace failures {

void require_not_negative(Duration duration, const char* setter, const char* instead) {
  if (duration >= Duration::zero()) return;
  throw GatewayError(std::string(setter) + " takes a duration of 0 or more, not " +
                     text::decimal(duration.count(), 1000000000) + " s; " + instead);
}

}  // namespace failures
}  // namespace detail

Failure::Failure(int status, std::string code, std::string message)
    : status_(status),
      code_(detail::require_utf8(std::move(code), "code of a failure")),
      message_(detail::require_utf8(std::move(message), "message of a failure")) {
  if (status < 200 || status > 599) {
    throw GatewayError("a failure's status must be from 200 to 599, not " + std::to_string(status));
  }
  if (status == 429) headers_.set("Retry-After", "1");  // documented: every 429 has one
}

Failure Failure::type(std::string type) const {
  return detail::with(*this, &Failure::type_, detail::require_utf8(std::move(type), "type of a failure"));
}

Failure Failure::param(std::string path) const {
  return detail::with(*this, &Failure::param_, detail::require_utf8(std::move(path), "param of a failure"));
}

Failure Failure::retry_after(Duration duration) const {
  detail::failures::require_not_negative(duration, "retry_after",
                                         "header(\"Retry-After\", \"-1\") sends a negative one");
  return retry_after(detail::text::decimal(duration.count(), 1000000000));
}

Failure Failure::retry_after_date(Duration duration) const {
  detail::failures::require_not_negative(
      duration, "retry_after_date",
      "header(\"Retry-After\", \"Sun, 06 Nov 1994 08:49:37 GMT\") sends a date that has passed, and "
      "header(\"Retry-After\", \"-1\") a negative number");
  return detail::with(without_retry_after(), &Failure::retry_after_date_, duration);
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
  detail::failures::require_not_negative(duration, "retry_after_ms",
                                         "header(\"retry-after-ms\", \"-1\") sends a negative one");
  Failure changed = *this;
  changed.headers_.set("retry-after-ms", detail::text::decimal(duration.count(), 1000000));
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

wire::Headers Failure::headers(TimePoint now) const {
  wire::Headers headers = headers_;
  if (retry_after_date_) {
    // Saturate: a date in a thousand years must not overflow.
    const Duration since_epoch = now.time_since_epoch();
    TimePoint moment = since_epoch > Duration::max() - *retry_after_date_ ? TimePoint::max() : now + *retry_after_date_;
    const Duration fraction = moment - std::chrono::floor<std::chrono::seconds>(moment);
    if (fraction > Duration::zero() && moment < TimePoint::max() - std::chrono::seconds{1})
      moment += std::chrono::seconds{1} - fraction;
    headers.add("Retry-After", detail::calendar::http_date(moment));
  }
  return headers;
}

Failure failure(int status, std::string code, std::string message) {
  return Failure(status, std::move(code), std::move(message));
}

Failure bad_request(std::string message) { return Failure(400, "bad_request", std::move(message)); }
Failure unauthorized() { return detail::failure_with_status(401); }
Failure forbidden() { return detail::failure_with_status(403); }
Failure not_found() { return detail::failure_with_status(404); }
Failure request_timeout() { return detail::failure_with_status(408); }
Failure conflict() { return detail::failure_with_status(409); }
Failure rate_limited(Duration retry_after) { return detail::failure_with_status(429).retry_after(retry_after); }
Failure server_error() { return detail::failure_with_status(500); }
Failure bad_gateway() { return detail::failure_with_status(502); }
Failure service_unavailable() { return detail::failure_with_status(503); }
Failure gateway_timeout() { return detail::failure_with_status(504); }
Failure overloaded() { return detail::failure_with_status(529); }

}  // namespace mock_gateway
