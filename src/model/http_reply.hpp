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

/// Whether the body is text to send unchanged. JSON is not, though MSVC converts it to a string_view.
template <class T>
inline constexpr bool is_body_text = std::is_convertible_v<const T&, std::string_view> &&
                                     !nlohmann::detail::is_basic_json<T>::value && !std::is_same_v<T, std::nullptr_t>;

}  // namespace detail

/// A complete answer of an operation mounted with Gateway::on: status, headers and body, sent unchanged.
class HttpReply {
 public:
  /// 200 with this JSON.
  HttpReply(const Json& body);  // NOLINT: implicit, so that a handler returns JSON
  /// 200 with this text unchanged, as `text/plain; charset=utf-8`.
  template <class Text, std::enable_if_t<detail::is_body_text<Text>, int> = 0>
  HttpReply(const Text& body) : HttpReply(200, body) {}  // NOLINT: implicit, so that a handler returns text
  /// A status from 200 to 599 with this text unchanged; any bytes.
  // Text is a template so that a braced body is always JSON.
  template <class Text, std::enable_if_t<detail::is_body_text<Text>, int> = 0>
  HttpReply(int status, const Text& body, std::string content_type = "text/plain; charset=utf-8")
      : HttpReply(Whole{status, std::string(std::string_view(body)), std::move(content_type)}) {}
  /// The same with JSON, in compact form.
  HttpReply(int status, const Json& body, std::string content_type = "application/json");
  HttpReply(Failure failure);  // NOLINT: a failure is an answer
  // A move copies, so that the moved-from value stays valid.
  HttpReply(const HttpReply&) = default;
  HttpReply& operator=(const HttpReply&) = default;

  /// Sets a response header and replaces all headers of that name, also a failure's; see Failure::header.
  [[nodiscard]] HttpReply header(std::string name, std::string value) const;
  /// Adds a response header and keeps those of the same name; see Failure::add_header.
  [[nodiscard]] HttpReply add_header(std::string name, std::string value) const;

  /// Breaks the answer as Reply::fault breaks a raw reply or a failure: `fault(after_bytes(10), reset_connection())`.
  [[nodiscard]] HttpReply fault(Trigger trigger, Effect effect) const;
  /// Sets the delay from the complete request to the answer, on the gateway's clock. Default: none.
  [[nodiscard]] HttpReply first_token_after(Timing delay) const;

  int status() const;
  /// Returns the body and its type. For a failure, see failure().
  const std::string& body() const { return *body_; }
  const std::string& content_type() const { return content_type_; }
  /// Returns the headers set or added here, without a failure's own.
  const wire::Headers& headers() const { return headers_; }
  /// Returns the failure that it was made from, or nothing for other answers.
  const std::optional<Failure>& failure() const { return failure_; }
  /// For the library: a reply with the faults and pace of this answer; null without them.
  const std::shared_ptr<const Reply>& delivery() const { return delivery_; }

 private:
  struct Whole {
    int status;
    std::string body;
    std::string content_type;
  };

  explicit HttpReply(Whole whole);
  Reply reply_to_deliver() const;

  int status_ = 200;
  detail::HandlePointer<const std::string> body_ = detail::share<const std::string>();  // never null
  std::string content_type_ = "application/json";
  wire::Headers headers_;
  std::optional<Failure> failure_;
  std::shared_ptr<const Reply> delivery_;
};

/// Answers a request to an operation mounted with Gateway::on.
using OperationHandler = std::function<HttpReply(const ReceivedRequest&)>;

}  // namespace mock_gateway
