#include "bare_server.hpp"

#include <httplib.h>
#include <netinet/tcp.h>

#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace bench {
namespace {

/// A stream directly on a socket. Newer versions of the base class require more functions than older versions declare,
/// so this class defines all of them, without `override`.
class SocketStream final : public httplib::Stream {
 public:
  explicit SocketStream(int socket) : socket_(socket) {}
  using httplib::Stream::write;

  /// Waits for the first bytes of a request.
  bool fill() {
    if (begin_ < end_) return true;
    const ssize_t count = ::recv(socket_, buffer_, sizeof buffer_, 0);
    begin_ = 0;
    end_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    return count > 0;
  }

  bool is_readable() const { return begin_ < end_; }
  bool wait_readable() const { return true; }
  bool is_writable() const { return true; }
  bool wait_writable() const { return true; }
  bool is_peer_alive() const { return true; }
  ssize_t read(char* data, std::size_t size) {
    if (!fill()) return -1;
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(data, buffer_ + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* data, std::size_t size) { return ::send(socket_, data, size, MSG_NOSIGNAL); }
  void get_remote_ip_and_port(std::string& ip, int& port) const {
    ip = "127.0.0.1";
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const { get_remote_ip_and_port(ip, port); }
  socket_t socket() const { return socket_; }
  time_t duration() const { return 0; }
  void set_read_timeout(time_t, time_t) {}

 private:
  int socket_;
  char buffer_[16384];
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

class ThreadPerConnection final : public httplib::TaskQueue {
 public:
  // void before cpp-httplib 0.15, bool since then.
  using Accepted = decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>{}));
  Accepted enqueue(std::function<void()> job) override {
    threads_.emplace_back(std::move(job));
    return static_cast<Accepted>(true);
  }
  void shutdown() override {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

class BareServer::Impl final : public httplib::Server {
 public:
  Impl() {
    new_task_queue = [] { return new ThreadPerConnection; };
  }
  ~Impl() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    stop();
    listening_.join();
  }

  void start() {
    int listener = -1;
    set_socket_options([&listener](socket_t socket) { listener = socket; });
    port_ = bind_to_any_port("127.0.0.1");
    ::listen(listener, SOMAXCONN);  // instead of cpp-httplib's 5, as in the gateway
    listening_ = std::thread([this] { listen_after_bind(); });
    while (!is_running()) std::this_thread::yield();
  }
  int port() const { return port_; }

 private:
  bool process_and_close_socket(socket_t socket) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      sockets_.insert(socket);
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SocketStream stream(socket);
    for (bool closed = false; !closed && stream.fill();)
      if (!process(*this, stream, closed, 0)) break;
    const std::lock_guard<std::mutex> lock(mutex_);
    sockets_.erase(socket);
    ::close(socket);
    return true;
  }

  // Since 0.18.0 process_request takes the addresses; the overload that compiles is used.
  template <class Self>
  auto process(Self& self, httplib::Stream& stream, bool& closed, int)
      -> decltype(self.process_request(stream, std::string(), 0, std::string(), 0, false, closed, nullptr)) {
    return self.process_request(stream, "127.0.0.1", 0, "127.0.0.1", 0, false, closed, nullptr);
  }
  template <class Self>
  auto process(Self& self, httplib::Stream& stream, bool& closed, long)
      -> decltype(self.process_request(stream, false, closed, nullptr)) {
    return self.process_request(stream, false, closed, nullptr);
  }

  int port_ = 0;
  std::thread listening_;
  std::mutex mutex_;
  std::set<int> sockets_;
};

BareServer BareServer::answering(Answer answer) {
  auto server = std::make_unique<Impl>();
  server->Post("/v1/chat/completions",
               [answer = std::move(answer)](const httplib::Request& request, httplib::Response& response) {
                 response.set_content(answer(request.body), "application/json");
               });
  server->start();
  return BareServer(std::move(server));
}

BareServer BareServer::streaming(std::vector<std::string> pieces) {
  auto server = std::make_unique<Impl>();
  server->Post(
      "/v1/chat/completions", [pieces = std::move(pieces)](const httplib::Request&, httplib::Response& response) {
        response.set_chunked_content_provider("text/event-stream", [&pieces](std::size_t, httplib::DataSink& sink) {
          for (const std::string& piece : pieces)
            if (!sink.write(piece.data(), piece.size())) return false;
          sink.done();
          return true;
        });
      });
  server->start();
  return BareServer(std::move(server));
}

BareServer::BareServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BareServer::~BareServer() = default;
BareServer::BareServer(BareServer&&) noexcept = default;
int BareServer::port() const { return impl_->port(); }

}  // namespace bench
