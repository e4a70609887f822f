#pragma once

// A small chat client for OpenAI-compatible gateways, on libcurl. An example of a client worth testing: its suite,
// chat_client_test.cpp, is how a user of mock_gateway would write one.

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace chat_client {

/// What went wrong, in the terms in which a caller can do something about it.
class ClientError : public std::runtime_error {
 public:
  enum Kind {
    /// 401: the key is missing or invalid.
    unauthorized,
    /// 403: the key is disabled, or has no right to this.
    forbidden,
    /// 429, still, after the retries.
    rate_limited,
    /// Any other 4xx: the request itself is wrong.
    rejected,
    /// 5xx, still, after the retries; or an error event in a stream.
    server_error,
    /// The connection failed, or ended before the reply was whole.
    connection_lost,
    /// Nothing arrived for Settings::stall_timeout.
    timed_out,
    cancelled,
    /// A reply that is none.
    invalid_response,
  };

  ClientError(Kind kind, int status, const std::string& message)
      : std::runtime_error(message), kind_(kind), status_(status) {}

  Kind kind() const { return kind_; }
  /// The HTTP status; 0 when none arrived.
  int status() const { return status_; }

 private:
  Kind kind_;
  int status_;
};

/// Takes the bytes of an event stream, split anywhere, and gives the data of each event (WHATWG HTML, 9.2.6). What is
/// no data field is skipped, and so is an event that its blank line never followed.
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

/// What became of a streamed reply.
class StreamResult {
 public:
  StreamResult(std::string received, std::string finish_reason, std::optional<ClientError> error)
      : received_(std::move(received)), finish_reason_(std::move(finish_reason)), error_(std::move(error)) {}

  /// The text that arrived, whether the reply is whole or not.
  const std::string& received() const { return received_; }
  /// The whole text. Throws the ClientError when the reply is not whole.
  const std::string& joined() const {
    if (error_) throw ClientError(*error_);
    return received_;
  }
  const std::string& finish_reason() const { return finish_reason_; }
  /// Nothing when the reply is whole.
  std::optional<ClientError::Kind> error() const {
    return error_ ? std::optional<ClientError::Kind>(error_->kind()) : std::nullopt;
  }

 private:
  std::string received_;
  std::string finish_reason_;
  std::optional<ClientError> error_;
};

/// Called with each piece of text; false cancels the stream.
using OnDelta = std::function<bool(std::string_view text)>;
/// Waits before a retry.
using Sleeper = std::function<void(std::chrono::nanoseconds)>;

void sleep_in_real_time(std::chrono::nanoseconds duration);

struct Settings {
  std::string model = "mock-model";
  std::optional<double> temperature;
  int max_retries = 2;
  /// When a server asks for more than this, its error is reported instead of retried.
  std::chrono::seconds longest_wait{120};
  /// How long a reply may stand still.
  std::chrono::seconds stall_timeout{60};
};

namespace detail {

class Connection;
class Exchange;

}  // namespace detail

/// A stream that runs on a thread of its own. Its destructor cancels it.
class RunningStream {
 public:
  RunningStream(std::shared_ptr<detail::Connection> connection, std::shared_future<StreamResult> result)
      : connection_(std::move(connection)), result_(std::move(result)) {}
  ~RunningStream();
  RunningStream(RunningStream&&) = default;
  RunningStream& operator=(RunningStream&&) = delete;

  /// Closes the connection at once; from any thread.
  void cancel();
  /// Waits for the end.
  StreamResult result() const { return result_.get(); }

 private:
  std::shared_ptr<detail::Connection> connection_;
  std::shared_future<StreamResult> result_;
};

/// Asks a gateway. It retries 408, 409, 429, 5xx and connections that failed before a byte of the reply, as often as
/// Settings::max_retries says, after the time that `retry-after-ms` or Retry-After asks for, else after a growing
/// one; never anything else, and never once a stream has begun. For one thread at a time.
class ChatClient {
 public:
  /// `base_url` ends in /v1.
  ChatClient(std::string base_url, std::string api_key, Sleeper sleep = sleep_in_real_time, Settings settings = {});
  /// Takes OPENAI_API_KEY, OPENAI_BASE_URL (else OpenAI's own) and OPENAI_MODEL (else that of Settings). Throws
  /// std::runtime_error without a key.
  static ChatClient from_environment(Settings settings = {});

  /// The next request uses this key.
  void use_key(std::string api_key) { api_key_ = std::move(api_key); }

  /// The reply's text. Throws ClientError.
  std::string ask(const std::string& prompt);
  /// Streams the reply. Problems of the wire are in the result; what `on_delta` throws passes through.
  StreamResult stream(const std::string& prompt, const OnDelta& on_delta = {});
  /// The same on a thread of its own, where `on_delta` and the sleeper are called.
  RunningStream start_stream(const std::string& prompt, OnDelta on_delta = {});

 private:
  /// Sends a chat request, again while that helps.
  void send(detail::Exchange& exchange, const std::string& prompt, bool stream);

  std::string base_url_;
  std::string api_key_;
  Sleeper sleep_;
  Settings settings_;
  std::shared_ptr<detail::Connection> connection_;
};

}  // namespace chat_client
