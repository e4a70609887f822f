#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// What the gateway is measured against: cpp-httplib with its connections taken over as the gateway does it, and
/// nothing else. A thread per connection, TCP_NODELAY, connections kept alive without a limit, no system call but the
/// recv and send that the exchange needs.
class BareServer {
 public:
  /// Answers a request's body with a body.
  using Answer = std::function<std::string(const std::string& body)>;

  /// Answers POST /v1/chat/completions with JSON.
  static BareServer answering(Answer answer);
  /// Answers it with an event stream, one write per piece.
  static BareServer streaming(std::vector<std::string> pieces);
  ~BareServer();
  BareServer(BareServer&&) noexcept;

  int port() const;

 private:
  class Impl;
  explicit BareServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bench
