#include "server.hpp"

#include <httplib.h>

#include <atomic>
#include <charconv>
#include <iostream>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "../core/error.hpp"
#include "compatibility.hpp"
#include "workers.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

/// A request's head, given to cpp-httplib to read. What it writes in answer never reaches the client: of that only
/// the status tells whether it took the request. Newer versions of the base class ask for more functions than older
/// ones declare; hence all of them, and no `override`.
class JudgedHead final : public httplib::Stream {
 public:
  explicit JudgedHead(std::string_view head) : head_(head) {}
  using httplib::Stream::write;

  bool is_readable() const { return position_ < head_.size(); }
  bool wait_readable() const { return true; }
  bool is_writable() const { return true; }
  bool wait_writable() const { return true; }
  bool is_peer_alive() const { return true; }
  ssize_t read(char* data, std::size_t size) {
    const std::size_t taken = head_.copy(data, size, position_);
    position_ += taken;
    return static_cast<ssize_t>(taken);
  }
  ssize_t write(const char* data, std::size_t size) {
    if (written_.size() < 16) written_.append(data, size < 16 ? size : 16);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const {
    ip = "127.0.0.1";
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const { get_remote_ip_and_port(ip, port); }
  socket_t socket() const { return 0; }
  time_t duration() const { return 0; }
  void set_read_timeout(time_t, time_t) {}

  /// Of the status line that was written; 0 when none was.
  int status() const {
    int status = 0;
    constexpr std::size_t version = std::string_view("HTTP/1.1 ").size();
    if (written_.size() > version)
      std::from_chars(written_.data() + version, written_.data() + written_.size(), status);
    return status;
  }

 private:
  std::string_view head_;
  std::size_t position_ = 0;
  std::string written_;
};

/// Hands accepted connections to threads of ours.
class ConnectionQueue final : public httplib::TaskQueue {
 public:
  using Accepted = decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>{}));

  ConnectionQueue(Workers& workers, std::function<void()> still_waiting)
      : workers_(workers), still_waiting_(std::move(still_waiting)) {}
  // void before cpp-httplib 0.15, bool since.
  Accepted enqueue(std::function<void()> job) override { return static_cast<Accepted>(workers_.run(std::move(job))); }
  void shutdown() override { workers_.shut_down(std::chrono::seconds{1}, still_waiting_); }

 private:
  Workers& workers_;
  std::function<void()> still_waiting_;
};

class Server::Impl final : public httplib::Server {
 public:
  Impl(Service& service, const ConnectionLimits& limits) : service_(service), limits_(limits) {
    new_task_queue = [this] { return new ConnectionQueue(workers_, [this] { name_the_busy(); }); };
    set_socket_options([this](socket_t listener) {
      // Not SO_REUSEPORT, which cpp-httplib sets: two gateways on one port must not share it in silence.
      const int on = 1;
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      sockets::adopt(listener);
      listener_ = listener;
    });
    set_pre_routing_handler([](const httplib::Request&, httplib::Response& response) {
      response.status = accepted;
      return HandlerResponse::Handled;
    });
  }

  void listen_on(const std::string& host, int port, const std::function<void(int port)>& on_bound) {
    port_ = port;
    const bool bound = port == 0 ? (port_ = bind_to_any_port(host)) > 0 : bind_to_port(host, port);
    if (!bound) {
      const std::string why = sockets::why_not_listen(host, port).value_or("the system refused");
      throw GatewayError("cannot listen on " + host + ":" + std::to_string(port) + ": " + why +
                         (port == 0 ? "" : "; choose another port, or 0 for a free one"));
    }
    sockets::enlarge_backlog(listener_);
    on_bound(port_);
    listening_ = std::thread([this] {
      listen_after_bind();
      deaf_ = true;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!stopping_) std::cerr << "mock_gateway: the system failed to accept a connection; the gateway is deaf now\n";
    });
  }

  int port() const { return port_; }

  void stop_all() {
    if (workers_.is_current())
      throw GatewayError("a gateway cannot be stopped by a function that it called itself: it would wait for itself");
    const std::lock_guard<std::mutex> one_at_a_time(stop_mutex_);
    if (!listening_.joinable()) return;
    // A stop before the accepting loop has begun would be lost.
    while (!is_running() && !deaf_) std::this_thread::sleep_for(std::chrono::microseconds{50});
    // First, so that no thread whose connection ends lies down to wait for the next.
    workers_.retire();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      for (Connection* connection : connections_) connection->stop();
    }
    httplib::Server::stop();
    listening_.join();
  }

 private:
  static constexpr int accepted = 204;

  // A private virtual of cpp-httplib's, and the one seam at which a connection can be taken over whole.
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, ++last_connection_, limits_);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return false;
      connections_.insert(&connection);
    }
    serve(connection);
    connection.finish();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      connections_.erase(&connection);
    }
    return true;
  }

  void serve(Connection& connection) noexcept {
    const HeadJudge judge = [this](std::string_view head) { return refusal(head); };
    for (std::size_t position = 1; connection.ending() == Outlet::Ending::keep_alive; ++position) {
      if (connection.wait_for_request() != Connection::Arrival::arrived) return;
      service_.journal().began();
      std::optional<IncomingRequest> incoming;
      try {
        incoming = read_request(connection, judge);
      } catch (const std::exception& exception) {  // out of memory, say
        std::cerr << "mock_gateway: a request could not be read: " << exception.what() << '\n';
      }
      if (!incoming) {
        service_.journal().dropped();
        return;
      }
      service_.serve(connection, std::move(*incoming), position);
    }
  }

  /// 0 when cpp-httplib takes the head, else the status with which it refuses it.
  int refusal(std::string_view head) {
    JudgedHead stream(head);
    bool closed = false;
    judge(*this, stream, closed, 0);
    return stream.status() == accepted ? 0 : stream.status() == 0 ? 400 : stream.status();
  }

  // process_request takes the addresses since 0.18.0; which of these two compiles tells.
  template <class Self>
  auto judge(Self& self, httplib::Stream& stream, bool& closed, int)
      -> decltype(self.process_request(stream, std::string(), 0, std::string(), 0, false, closed, nullptr)) {
    return self.process_request(stream, "127.0.0.1", 0, "127.0.0.1", 0, false, closed, nullptr);
  }
  template <class Self>
  auto judge(Self& self, httplib::Stream& stream, bool& closed, long)
      -> decltype(self.process_request(stream, false, closed, nullptr)) {
    return self.process_request(stream, false, closed, nullptr);
  }

  void name_the_busy() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Connection* connection : connections_)
      if (const std::string what = connection->busy_with(); !what.empty())
        std::cerr << "mock_gateway: stopping waits for " << what << '\n';
  }

  Service& service_;
  ConnectionLimits limits_;
  socket_t listener_ = INVALID_SOCKET;
  int port_ = 0;
  std::thread listening_;
  std::atomic<bool> deaf_{false};  // the accepting loop has ended
  std::mutex stop_mutex_;
  std::atomic<std::uint64_t> last_connection_{0};
  std::mutex mutex_;
  std::set<Connection*> connections_;
  bool stopping_ = false;
  Workers workers_;
};

MOCK_GATEWAY_INLINE Server::Server(Service& service, const std::string& host, int port, const ConnectionLimits& limits,
                                   const std::function<void(int port)>& on_bound)
    : impl_((require_one_httplib(), std::make_unique<Impl>(service, limits))) {
  impl_->listen_on(host, port, on_bound);
}

MOCK_GATEWAY_INLINE Server::~Server() { stop(); }

MOCK_GATEWAY_INLINE int Server::port() const { return impl_->port(); }

MOCK_GATEWAY_INLINE void Server::stop() { impl_->stop_all(); }

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
