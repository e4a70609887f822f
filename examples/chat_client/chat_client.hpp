#pragma once

// A small chat client for OpenAI-compatible gateways, on libcurl. It is an example of a client worth testing. Its
// suite, chat_client_test.cpp, shows how a user of mock_gateway would test it.

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace chat_client {

/// An error, by what a caller can do about it.
class ClientError : public std::runtime_error {
 public:
  enum Kind {
    /// 401: the key is missing or invalid.
    unauthorized,
    /// 403: the key is disabled, or has no permission for this request.
    forbidden,
    /// 429 after all retries.
    rate_limited,
    /// Any other 4xx: the request itself is wrong.
    rejected,
    /// 5xx after all retries, or an error event in a stream.
    server_error,
    /// The connection failed, or ended before the reply was complete.
    connection_lost,
    /// Nothing arrived for Settings::stall_timeout.
    timed_out,
    cancelled,
    /// The response is not a valid reply.
    invalid_response,
  };

  ClientError(Kind kind, int status, const std::string& message)
      : std::runtime_error(message), kind_(kind), status_(status) {}

  Kind kind() const { return kind_; }
  /// The HTTP status; 0 if there was no response.
  int status() const { return status_; }

 private:
  Kind kind_;
  int status_;
};

/// Splits an event stream, given in pieces of any size, into the data of its events (WHATWG HTML, 9.2.6). Skips other
/// fields, and a last event without its blank line.
class SseParser {
 public:
  explicit SseParser(std::function<void(const std::string& data)> on_data) : on_data_(std::move(on_data)) {}
  void feed(std::string_view bytes);

 private:
  void end_line();

  std::function<void(const std::string&)> on_data_;
  std::string line_;
  std::optional<std::string> data_;
  bool after_cr_ = false;
  bool first_line_ = true;
};

/// The result of a streamed reply.
class StreamResult {
 public:
  StreamResult(std::string received, std::string finish_reason, std::optional<ClientError> error)
      : received_(std::move(received)), finish_reason_(std::move(finish_reason)), error_(std::move(error)) {}

  /// The text that arrived, complete or not.
  const std::string& received() const { return received_; }
  /// The complete text. Throws ClientError if the reply is incomplete.
  const std::string& joined() const {
    if (error_) throw ClientError(*error_);
    return received_;
  }
  const std::string& finish_reason() const { return finish_reason_; }
  /// Empty if the reply is complete.
  std::optional<ClientError::Kind> error() const {
    return error_ ? std::optional<ClientError::Kind>(error_->kind()) : std::nullopt;
  }

 private:
  std::string received_;
  std::string finish_reason_;
  std::optional<ClientError> error_;
};

/// Called with each piece of text; returns false to cancel the stream.
using OnDelta = std::function<bool(std::string_view text)>;
/// Waits before a retry.
using Sleeper = std::function<void(std::chrono::nanoseconds)>;

void sleep_in_real_time(std::chrono::nanoseconds duration);

struct Settings {
  std::string model = "mock-model";
  std::optional<double> temperature;
  int max_retries = 2;
  /// If a server requests a longer wait, the client reports its error and does not retry.
  std::chrono::seconds longest_wait{120};
  /// The timeout between bytes of a reply.
  std::chrono::seconds stall_timeout{60};
};

namespace detail {

class Connection;
class Exchange;

}  // namespace detail

/// A stream on its own thread. The destructor cancels it.
class RunningStream {
 public:
  RunningStream(std::shared_ptr<detail::Connection> connection, std::shared_future<StreamResult> result)
      : connection_(std::move(connection)), result_(std::move(result)) {}
  ~RunningStream();
  RunningStream(RunningStream&&) = default;
  RunningStream& operator=(RunningStream&&) = delete;

  /// Closes the connection at once. Callable from any thread.
  void cancel();
  /// Waits for the end of the stream.
  StreamResult result() const { return result_.get(); }

 private:
  std::shared_ptr<detail::Connection> connection_;
  std::shared_future<StreamResult> result_;
};

/// A client of a gateway. Retries 408, 409, 429, 5xx and connections that failed before the first byte of a reply, up
/// to Settings::max_retries times. Waits as `retry-after-ms` or Retry-After says, else with a growing backoff. Never
/// retries a stream that has begun. Not thread-safe.
class ChatClient {
 public:
  /// `base_url` ends in /v1.
  ChatClient(std::string base_url, std::string api_key, Sleeper sleep = sleep_in_real_time, Settings settings = {});
  /// Reads OPENAI_API_KEY, OPENAI_BASE_URL (default: OpenAI's own) and OPENAI_MODEL (default: that of Settings). Throws
  /// std::runtime_error without a key.
  static ChatClient from_environment(Settings settings = {});

  /// Uses this key from the next request on.
  void use_key(std::string api_key) { api_key_ = std::move(api_key); }

  /// Returns the text of the reply. Throws ClientError.
  std::string ask(const std::string& prompt);
  /// Streams the reply. Connection and protocol errors are in the result; exceptions of `on_delta` propagate.
  StreamResult stream(const std::string& prompt, const OnDelta& on_delta = {});
  /// The same on a separate thread, which calls `on_delta` and the sleeper.
  RunningStream start_stream(const std::string& prompt, OnDelta on_delta = {});

 private:
  /// Sends a chat request and retries it where that can help.
  void send(detail::Exchange& exchange, const std::string& prompt, bool stream);

  std::string base_url_;
  std::string api_key_;
  Sleeper sleep_;
  Settings settings_;
  std::shared_ptr<detail::Connection> connection_;
};

}  // namespace chat_client
