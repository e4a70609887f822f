#include "client.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace bench {

void give_up(const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "benchmark: %s\n", why.c_str());
  // std::exit would destroy objects that the servers' threads still use.
  std::_Exit(2);
}

Client::Client(int port, int receive_buffer) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) give_up("no connection");
}

Client::~Client() {
  if (socket_ >= 0) ::close(socket_);
}

Client::Client(Client&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      response_(std::move(other.response_)),
      head_(other.head_),
      total_(other.total_) {}

void Client::send(std::string_view bytes) {
  const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count != static_cast<ssize_t>(bytes.size())) give_up("a request was not sent");
}

std::string_view Client::receive() {
  // On the heap: an array would also enlarge each thread of the measured gateway.
  thread_local std::vector<char> buffer(65536);
  const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count <= 0) give_up("a connection was closed");
  return {buffer.data(), static_cast<std::size_t>(count)};
}

std::size_t Client::receive_until(std::string_view end) {
  std::size_t total = 0;
  for (std::string tail; tail != end;) {
    const std::string_view bytes = receive();
    total += bytes.size();
    tail.append(bytes.substr(bytes.size() - std::min(bytes.size(), end.size())));
    if (tail.size() > end.size()) tail.erase(0, tail.size() - end.size());
  }
  return total;
}

std::size_t Client::receive_response(bool ready_only) {
  if (total_ > 0 && response_.size() >= total_) {
    response_.clear();
    total_ = 0;
  }
  do {
    response_.append(receive());
    if (total_ == 0 && (head_ = response_.find("\r\n\r\n")) != std::string::npos) {
      head_ += 4;
      if (!any_status_ && response_.compare(0, 12, "HTTP/1.1 200") != 0) give_up("an answer is not 200:\n" + response_);
      constexpr std::string_view name = "Content-Length: ";
      const std::size_t at = response_.find(name);
      std::size_t length = 0;
      if (at == std::string::npos) give_up("an answer has no Content-Length");
      std::from_chars(response_.data() + at + name.size(), response_.data() + head_, length);
      total_ = head_ + length;
    }
  } while (!ready_only && (total_ == 0 || response_.size() < total_));
  return total_ > 0 && response_.size() >= total_ ? total_ : 0;
}

std::string_view Client::body() const { return std::string_view(response_).substr(head_); }

std::string chat_request(const std::string& key, const std::string& body) {
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nUser-Agent: "
         "bench/1.0\r\n"
         "Content-Type: application/json\r\nAuthorization: Bearer " +
         key + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace bench
