#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "../core/duration.hpp"
#include "../core/json.hpp"
#include "received_request.hpp"

namespace mock_gateway {

/// An HTTP error reply: a status, the error's code, message and type, and whatever headers a test needs beside them.
/// A value; each setter returns a changed copy. Serves as a scripted reply and as a forced failure.
class Failure {
 public:
  /// `status` from 200 to 599, or GatewayError. The type is `error`, as documented. Code and message are UTF-8.
  /// A 429 has `Retry-After: 1` until another setter replaces it.
  Failure(int status, std::string code, std::string message);
  // A move copies too, so that nothing is emptied.
  Failure(const Failure&) = default;
  Failure& operator=(const Failure&) = default;

  /// The body's `error.type`. `error` unless set.
  [[nodiscard]] Failure type(std::string type) const;
  /// The body's `error.param`, which only the openai profile sends: the JSON path of what was wrong.
  [[nodiscard]] Failure param(std::string path) const;
  /// Retry-After in seconds; a fraction is written out ("1.5"), which RFC 9110 does not allow and SDKs parse. Throws
  /// GatewayError for a negative duration, as the other setters of a duration do: header("Retry-After", "-1") sends
  /// one.
  [[nodiscard]] Failure retry_after(Duration duration) const;
  /// Retry-After as an HTTP date, `duration` from the moment of the answer on the gateway's clock. A date has whole
  /// seconds, and this one is rounded up to them, so that it lies at least `duration` ahead, and less than a second
  /// more. Date is rounded down: against it a date may lie up to a second more ahead, 2 s for 1 s. Throws GatewayError
  /// for a negative duration: header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT") sends a date that has passed.
  [[nodiscard]] Failure retry_after_date(Duration duration) const;
  /// Retry-After with this text as its value, whatever it says. Throws as header() does.
  [[nodiscard]] Failure retry_after(std::string literal) const;
  /// Sends no Retry-After, not even with a 429.
  [[nodiscard]] Failure without_retry_after() const;
  /// `retry-after-ms`, which OpenAI's SDKs read before Retry-After. Throws GatewayError for a negative duration:
  /// header("retry-after-ms", "-1") sends one.
  [[nodiscard]] Failure retry_after_ms(Duration duration) const;
  /// `x-should-retry`, which OpenAI's SDKs obey whatever the status says.
  [[nodiscard]] Failure should_retry(bool retry) const;
  /// Sets a header in place of every one of that name in any case, whichever setter it came from. Throws GatewayError
  /// when the name is no token or the value holds CR, LF or NUL (RFC 9110, 5.5): a header that would split the response
  /// is a mistake in the test.
  [[nodiscard]] Failure header(std::string name, std::string value) const;
  /// Adds a header beside those of the same name, which are then sent as several lines. Throws as header() does.
  [[nodiscard]] Failure add_header(std::string name, std::string value) const;
  /// Replaces the error body, by a proxy's HTML page with its `content_type`, say.
  [[nodiscard]] Failure body(std::string body, std::string content_type = "application/json") const;
  // For a message that says what to call: the conversion of JSON to a string would throw.
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  Failure body(const T&) const {
    static_assert(!std::is_same_v<T, Json>, "body(...) takes text; json_body(...) takes JSON");
    return *this;
  }
  /// Replaces the error body by this JSON.
  [[nodiscard]] Failure json_body(const Json& body) const;

  int status() const { return status_; }
  const std::string& code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& type() const { return type_; }
  const std::string& param() const { return param_; }
  /// Headers to send; a Retry-After date is resolved against `now`.
  wire::Headers headers(TimePoint now) const;
  /// The body that body() or json_body() set in place of the error; empty unless set.
  const std::optional<std::string>& raw_body() const { return body_; }
  const std::string& content_type() const { return content_type_; }
  /// Whether code and message are the documented ones of 401 and 403, so that a profile may put its own in their place.
  bool is_documented_authentication_failure() const;

 private:
  int status_;
  std::string code_;
  std::string message_;
  std::string type_ = "error";
  std::string param_;
  wire::Headers headers_;
  std::optional<Duration> retry_after_date_;
  std::optional<std::string> body_;
  std::string content_type_ = "application/json";
};

/// Any failure. `status` is from 200 to 599, or GatewayError. A 429 has `Retry-After: 1`; see Failure.
Failure failure(int status, std::string code, std::string message);
/// 400 `bad_request`.
Failure bad_request(std::string message = "bad request");
/// 401 with the documented body `unauthorized`.
Failure unauthorized();
/// 403 with the documented body `unauthorized`.
Failure forbidden();
/// 404 `not_found`.
Failure not_found();
/// 408 `request_timeout`.
Failure request_timeout();
/// 409 `conflict`.
Failure conflict();
/// 429 `rate_limit_exceeded` with Retry-After. Throws GatewayError for a negative duration; see Failure::retry_after.
/// Failure::without_retry_after() leaves the header out.
Failure rate_limited(Duration retry_after = std::chrono::seconds(1));
/// 500 `internal_error`.
Failure server_error();
/// 502 `bad_gateway`.
Failure bad_gateway();
/// 503 `service_unavailable`.
Failure service_unavailable();
/// 504 `gateway_timeout`.
Failure gateway_timeout();
/// 529 `overloaded`, as some gateways send it.
Failure overloaded();

}  // namespace mock_gateway
