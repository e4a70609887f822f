#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "../core/json.hpp"
#include "failure.hpp"
#include "received_request.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// A whole answer of an operation mounted with Gateway::on: status, headers and body as they are.
class HttpReply {
 public:
  /// 200 with this JSON.
  HttpReply(const Json& body) : body_(body.dump()) {}  // NOLINT: implicit, so that a handler returns JSON
  /// This status with JSON; the range is that below.
  HttpReply(int status, const Json& body) : HttpReply(status, body.dump(), "application/json") {}
  /// `status` from 200 to 599, or GatewayError.
  HttpReply(int status, std::string body, std::string content_type)
      : status_(status), body_(std::move(body)), content_type_(std::move(content_type)) {
    if (status < 200 || status > 599)
      throw GatewayError("HttpReply: status " + std::to_string(status) +
                         " is no final status; give one from 200 to 599");
    detail::require_header_field("Content-Type", content_type_);
  }
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
  int status_ = 200;
  std::string body_;
  std::string content_type_ = "application/json";
  Headers headers_;
  std::optional<Failure> failure_;
};

using OperationHandler = std::function<HttpReply(const ReceivedRequest&)>;

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
