#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "../mock_gateway.hpp"

namespace mock_gateway::internal {

struct HttpRequest {
  const ReceivedRequest& received;
  /// The host of an absolute-form target; overrides the Host header.
  const std::string& authority;
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
  /// Judges a request by its head, before its body is read. A `trusted` connection may take more time and bytes.
  virtual std::optional<Failure> refuse(const HttpRequest& head, bool& trusted) = 0;
  virtual HttpAnswer answer(const HttpRequest& request) = 0;
  virtual HttpAnswer turn_away(const std::string& why) = 0;
};
/// An HTTP server beside the gateway's, with descriptors of its own. Idle and slow clients take no thread. A connection
/// that is not trusted is closed 5 s after it was accepted.
class HttpServer {
 public:
  /// `on_bound` learns the port before the first connection. Throws GatewayError when it cannot listen.
  HttpServer(HttpHandler& handler, const std::string& host, int port, const std::function<void(int port)>& on_bound);
  ~HttpServer();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mock_gateway::internal
