#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../core/json.hpp"
#include "../core/shared.hpp"
#include "failure.hpp"
#include "received_request.hpp"
#include "reply.hpp"

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
  HttpReply(const Json& body);  // NOLINT: implicit, so that a handler returns JSON
  /// 200 with this text as it stands, `text/plain; charset=utf-8`.
  template <class Text, std::enable_if_t<detail::is_body_text<Text>, int> = 0>
  HttpReply(const Text& body) : HttpReply(200, body) {}  // NOLINT: implicit, so that a handler returns text
  /// This status, from 200 to 599 or GatewayError, with this text as it stands: any bytes.
  // Text is a template so that a braced body is always JSON.
  template <class Text, std::enable_if_t<detail::is_body_text<Text>, int> = 0>
  HttpReply(int status, const Text& body, std::string content_type = "text/plain; charset=utf-8")
      : HttpReply(Whole{status, std::string(std::string_view(body)), std::move(content_type)}) {}
  /// The same with JSON, in compact form.
  HttpReply(int status, const Json& body, std::string content_type = "application/json");
  /// A failure with its status, headers and body.
  HttpReply(Failure failure);  // NOLINT: a failure is an answer
  // A move copies too, so that nothing is emptied.
  HttpReply(const HttpReply&) = default;
  HttpReply& operator=(const HttpReply&) = default;

  /// Sets a response header in place of every one of that name, a failure's own included; see Failure::header.
  [[nodiscard]] HttpReply header(std::string name, std::string value) const;
  /// Adds a response header beside those of the same name; see Failure::add_header.
  [[nodiscard]] HttpReply add_header(std::string name, std::string value) const;

  /// Breaks the answer as Reply::fault breaks a raw reply, or a failure: `fault(after_bytes(10), reset_connection())`.
  /// Throws GatewayError for what cannot happen in such a one.
  [[nodiscard]] HttpReply fault(Trigger trigger, Effect effect) const;
  /// When the answer begins to leave, after the complete request, on the gateway's clock; at once unless set. See
  /// Reply::first_token_after.
  [[nodiscard]] HttpReply first_token_after(Timing delay) const;

  /// The failure's, if it is one.
  int status() const;
  /// The body and its type; those of a failure are asked of failure().
  const std::string& body() const { return *body_; }
  const std::string& content_type() const { return content_type_; }
  /// The headers that were set or added here; a failure keeps its own.
  const wire::Headers& headers() const { return headers_; }
  /// The failure that it was made of; empty for any other answer.
  const std::optional<Failure>& failure() const { return failure_; }
  /// For the library. The reply whose faults and pace the answer has; null: none.
  const std::shared_ptr<const Reply>& delivery() const { return delivery_; }

 private:
  struct Whole {
    int status;
    std::string body;
    std::string content_type;
  };

  explicit HttpReply(Whole whole);
  /// What of a reply a delivery looks at.
  Reply delivered() const;

  int status_ = 200;
  detail::Lasting<const std::string> body_ = detail::share<const std::string>();  // never null
  std::string content_type_ = "application/json";
  wire::Headers headers_;
  std::optional<Failure> failure_;
  std::shared_ptr<const Reply> delivery_;
};

/// Answers a request to an operation mounted with Gateway::on.
using OperationHandler = std::function<HttpReply(const ReceivedRequest&)>;

}  // namespace mock_gateway
