// The lower bound for every server: one thread, epoll, a constant response of BYTES bytes, and no parsing of the
// request except for its end. bench_floor PORT BYTES; ends at the end of its standard input.

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string body(static_cast<std::size_t>(std::atol(argv[2])), 'x');
  const std::string answer =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener, 1024) != 0)
    return 1;
  const int events = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [events](int descriptor) {
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.fd = descriptor;
    ::epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &interest);
  };
  watch(listener);
  watch(STDIN_FILENO);
  for (;;) {
    epoll_event ready[64];
    const int count = ::epoll_wait(events, ready, 64, -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = ready[i].data.fd;
      char bytes[16384];
      if (descriptor == STDIN_FILENO) {
        if (::read(descriptor, bytes, sizeof bytes) <= 0) return 0;
      } else if (descriptor == listener) {
        watch(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
      } else if (const ssize_t size = ::recv(descriptor, bytes, sizeof bytes, 0); size <= 0) {
        ::close(descriptor);
      } else if (bytes[size - 1] == '}') {
        ::send(descriptor, answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    }
  }
}
