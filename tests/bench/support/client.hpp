#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

/// A connection to a port of this machine that costs as little as possible. Every failure ends the program with status
/// 2: a benchmark of failures would be fast.
class Client {
 public:
  explicit Client(int port, int receive_buffer = 0);
  ~Client();
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes);
  /// Receives available bytes, at least one. Valid until this thread receives again.
  std::string_view receive();
  /// Reads until the bytes received since the last call end in `end`. Returns their number.
  std::size_t receive_until(std::string_view end);
  /// Reads one response with Content-Length that is not pipelined. Returns its size including the head. `ready_only`:
  /// reads once, and returns 0 if the response is incomplete.
  std::size_t receive_response(bool ready_only = false);
  /// Accepts responses of every status, for benchmarks of failures.
  void allow_any_status() { any_status_ = true; }
  /// The body of the last response of receive_response().
  std::string_view body() const;
  int socket() const { return socket_; }

 private:
  int socket_;
  std::string response_;
  std::size_t head_ = 0;
  std::size_t total_ = 0;  // 0: not known yet
  bool any_status_ = false;
};

/// A chat request with this body, on a kept-alive connection.
std::string chat_request(const std::string& key, const std::string& body);
[[noreturn]] void give_up(const std::string& why);

}  // namespace bench
