#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "../mock_gateway.hpp"

namespace mock_gateway::internal {

/// A request of which the head, or everything, has been read.
struct HttpRequest {
  const ReceivedRequest& received;
  /// The host of an absolute-form target; overrides the Host header.
  const std::string& authority;
  /// The error with which to answer it.
  std::optional<Failure> refused = std::nullopt;
  std::function<bool()> is_abandoned = nullptr;
};
struct HttpAnswer {
  int status = 200;
  std::string type = {};
  std::string body = {};
  wire::Headers headers = {};
  std::function<void()> after = nullptr;  // called after the answer is sent
};
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Checks a request's head before its body is read. If the function sets `trusted`, the connection gets higher limits
  /// of time and bytes, and is not closed for another one until the request is answered.
  virtual std::optional<Failure> refuse(const HttpRequest& head, bool& trusted) = 0;
  virtual HttpAnswer answer(const HttpRequest& request) = 0;
  /// Returns the answer for a connection that cannot be served.
  virtual HttpAnswer turn_away(const std::string& why) = 0;
};
/// The HTTP server of the control API, with its own file descriptors. It serves at most 64 connections, and closes the
/// one that has been idle longest for a new one.
class HttpServer {
 public:
  /// The maximum number of connections that may wait for an event.
  static constexpr std::size_t most_waiting = 48;

  /// Listens. Calls `on_bound` with the port before the first connection. Throws GatewayError if it cannot listen.
  HttpServer(HttpHandler& handler, const std::string& host, int port, const std::function<void(int port)>& on_bound);
  ~HttpServer();
  /// Turns away new connections from now on, and ends waits for a slot.
  void end();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mock_gateway::internal
