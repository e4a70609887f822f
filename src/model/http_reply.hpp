#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/json.hpp"
#include "failure.hpp"
#include "received_request.hpp"

namespace mock_gateway {

namespace detail {

/// Whether it is text that is sent as it stands; Json is not, though it converts to a string.
template <class T>
inline constexpr bool is_body_text =
    std::is_convertible_v<const T&, std::string_view> && !std::is_same_v<T, Json> && !std::is_same_v<T, std::nullptr_t>;

}  // namespace detail

/// A whole answer of an operation mounted with Gateway::on: status, headers and body as they are.
class HttpReply {
 public:
  /// 200 with this JSON.
  HttpReply(const Json& body) : body_(body.dump()) {}  // NOLINT: implicit, so that a handler returns JSON
  /// 200 with this text as it stands, as below.
  template <class Text, std::enable_if_t<detail::is_body_text<Text>, int> = 0>
  HttpReply(const Text& body) : HttpReply(200, body) {}  // NOLINT: implicit, so that a handler returns text
  /// This status, from 200 to 599 or GatewayError, with this text as it stands: any bytes.
  // Text is a template so that a braced body is always JSON.
  template <class Text, std::enable_if_t<detail::is_body_text<Text>, int> = 0>
  HttpReply(int status, const Text& body, std::string content_type = "text/plain; charset=utf-8")
      : HttpReply(Whole{status, std::string(std::string_view(body)), std::move(content_type)}) {}
  /// The same with JSON, in compact form.
  HttpReply(int status, const Json& body, std::string content_type = "application/json")
      : HttpReply(Whole{status, body.dump(), std::move(content_type)}) {}
  HttpReply(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: a failure is an answer

  /// Sets a response header in place of every one of that name, a failure's own included; see Failure::header.
  [[nodiscard]] HttpReply header(std::string name, std::string value) const {
    detail::require_header_field(name, value);
    HttpReply changed = *this;
    if (changed.failure_) {
      changed.failure_ = changed.failure_->header(std::move(name), std::move(value));
    } else {
      changed.headers_.set(std::move(name), std::move(value));
    }
    return changed;
  }
  /// Adds a response header beside those of the same name; see Failure::add_header.
  [[nodiscard]] HttpReply add_header(std::string name, std::string value) const {
    detail::require_header_field(name, value);
    HttpReply changed = *this;
    if (changed.failure_) {
      changed.failure_ = changed.failure_->add_header(std::move(name), std::move(value));
    } else {
      changed.headers_.add(std::move(name), std::move(value));
    }
    return changed;
  }

  int status() const { return failure_ ? failure_->status() : status_; }
  const std::string& body() const { return body_; }
  const std::string& content_type() const { return content_type_; }
  /// Those that were set or added here; a failure keeps its own.
  const Headers& headers() const { return headers_; }
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  struct Whole {
    int status;
    std::string body;
    std::string content_type;
  };

  explicit HttpReply(Whole whole)
      : status_(whole.status), body_(std::move(whole.body)), content_type_(std::move(whole.content_type)) {
    if (status_ < 200 || status_ > 599)
      throw GatewayError("HttpReply: status " + std::to_string(status_) +
                         " is no final status; give one from 200 to 599");
    detail::require_header_field("Content-Type", content_type_);
  }

  int status_ = 200;
  std::string body_;
  std::string content_type_ = "application/json";
  Headers headers_;
  std::optional<Failure> failure_;
};

using OperationHandler = std::function<HttpReply(const ReceivedRequest&)>;

}  // namespace mock_gateway
