#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// The baseline of the gateway: cpp-httplib, with its connections taken over as the gateway does it, and nothing else.
/// One thread per connection, TCP_NODELAY, unlimited keep-alive, and no system calls except recv and send.
class BareServer {
 public:
  /// Maps a request body to a response body.
  using Answer = std::function<std::string(const std::string& body)>;

  /// Answers POST /v1/chat/completions with JSON.
  static BareServer answering(Answer answer);
  /// Answers it with an event stream, with one write per piece.
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
