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

/// An HTTP error reply: status, code, message, type, optional headers. A value; each setter returns a changed copy.
class Failure {
 public:
  /// `status` is from 200 to 599. The type is `error`, as documented. Code and message are UTF-8. A 429 has
  /// `Retry-After: 1` until another setter replaces it.
  Failure(int status, std::string code, std::string message);
  // A move copies, so that the moved-from value stays valid.
  Failure(const Failure&) = default;
  Failure& operator=(const Failure&) = default;

  /// Sets the body's `error.type`. Default: `error`.
  [[nodiscard]] Failure type(std::string type) const;
  /// Sets the body's `error.param`, the JSON path of the error's cause. Profiles with such a field send it.
  [[nodiscard]] Failure param(std::string path) const;
  /// Sets Retry-After in seconds. A fraction is sent as is ("1.5"), which RFC 9110 does not allow but SDKs parse. The
  /// duration of this and the other setters is not negative; header("Retry-After", "-1") sends a negative one.
  [[nodiscard]] Failure retry_after(Duration duration) const;
  /// Sets Retry-After to an HTTP date, `duration` after the answer on the gateway's clock, rounded up to whole seconds.
  /// The Date header is rounded down, so the difference to it may be a second larger: 2 s for 1 s. For a date in the
  /// past, use header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT").
  [[nodiscard]] Failure retry_after_date(Duration duration) const;
  /// Sets Retry-After to this text, unchecked except as in header().
  [[nodiscard]] Failure retry_after(std::string literal) const;
  /// Removes Retry-After, even from a 429.
  [[nodiscard]] Failure without_retry_after() const;
  /// Sets `retry-after-ms`, which OpenAI's SDKs read before Retry-After.
  [[nodiscard]] Failure retry_after_ms(Duration duration) const;
  /// Sets `x-should-retry`, which OpenAI's SDKs obey for any status.
  [[nodiscard]] Failure should_retry(bool retry) const;
  /// Sets a header and replaces all headers of its name, in any case. The name is a token, the value without CR, LF and
  /// NUL (RFC 9110, 5.5).
  [[nodiscard]] Failure header(std::string name, std::string value) const;
  /// Adds a header and keeps those of the same name; each is sent as a separate line.
  [[nodiscard]] Failure add_header(std::string name, std::string value) const;
  /// Replaces the error body, for example by a proxy's HTML page with its `content_type`.
  [[nodiscard]] Failure body(std::string body, std::string content_type = "application/json") const;
  // Makes the compiler say what to call: converting JSON to a string would throw.
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  Failure body(const T&) const {
    static_assert(!std::is_same_v<T, Json>, "body(...) takes text; json_body(...) takes JSON");
    return *this;
  }
  [[nodiscard]] Failure json_body(const Json& body) const;

  int status() const { return status_; }
  const std::string& code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& type() const { return type_; }
  const std::string& param() const { return param_; }
  /// Returns the headers to send; `now` is the base of a Retry-After date.
  wire::Headers headers(TimePoint now) const;
  /// Returns the body set by body() or json_body(); empty unless set.
  const std::optional<std::string>& raw_body() const { return body_; }
  const std::string& content_type() const { return content_type_; }

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

/// Any failure. `status` is from 200 to 599. A 429 has `Retry-After: 1`; see Failure.
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
/// 429 `rate_limit_exceeded` with Retry-After; Failure::without_retry_after() removes it.
Failure rate_limited(Duration retry_after = std::chrono::seconds(1));
/// 500 `internal_error`.
Failure server_error();
/// 502 `bad_gateway`.
Failure bad_gateway();
/// 503 `service_unavailable`.
Failure service_unavailable();
/// 504 `gateway_timeout`.
Failure gateway_timeout();
/// 529 `overloaded`, which some gateways send.
Failure overloaded();

}  // namespace mock_gateway
