// Listening and "cannot listen on …"; stopping and its warning; connections without a descriptor or thread.

#include "server.hpp"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/process.hpp"
#include "../core/warning.hpp"
#include "acceptor.hpp"
#include "reactor.hpp"
#include "turned_away.hpp"
#include "workers.hpp"

namespace mock_gateway::detail {

/// Passes a head to cpp-httplib and takes the status of its answer. Defines the pure functions of all versions of the
/// base class, without `override`, because older ones lack some.
class CheckedHead final : public httplib::Stream {
 public:
  explicit CheckedHead(std::string_view head) : head_(head) {}
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

  /// Returns the status that was written; 0 if none.
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

namespace servers {

std::atomic<std::size_t>& kept_descriptors() {
  static std::atomic<std::size_t> count{0};
  return count;
}

/// Whether this descriptor is in the reserve: the highest numbers, because the system assigns the lowest free one.
bool is_kept(Socket descriptor) {
  const std::size_t kept = kept_descriptors();
  if (kept == 0) return false;
  const std::optional<std::size_t> limit = sockets::descriptor_limit();
  const std::optional<std::size_t> position = sockets::table_position(descriptor);
  return limit && position && *position >= *limit - std::min(kept, *limit / 4);
}

/// Tracks whether the static tables that cpp-httplib creates with its first request are destroyed. A gateway in the
/// destructor of a static variable may run after that.
class Tables {
 public:
  ~Tables() { gone() = true; }
  static std::atomic<bool>& gone() {
    static std::atomic<bool> gone{false};
    return gone;
  }
};

}  // namespace servers

class Server::Impl final : public httplib::Server {
 public:
  Impl(ConnectionHandler& handler, const ConnectionLimits& limits) : handler_(handler), limits_(limits) {
    reactors_.push_back(std::make_unique<Reactor>(workers_));
    set_pre_routing_handler([](const httplib::Request&, httplib::Response& response) {
      response.status = accepted;
      return HandlerResponse::Handled;
    });
  }

  void listen_on(const std::string& host, int port, const std::function<void(int port)>& on_bound) {
    host_ = host;
    const sockets::Binding bound = sockets::bind_to(host, port, true);
    if (bound.socket == Socket::none)
      throw GatewayError("cannot listen on " + host + ":" + std::to_string(port) + ": " +
                         sockets::explain(bound, host, port) +
                         (port == 0 ? "" : "; choose another port, or 0 for a free one"));
    listener_ = bound.socket;
    port_ = sockets::port_of(listener_);
    if (!reactors_.front()->is_open()) {
      sockets::stop_listening(listener_);
      throw GatewayError("cannot accept connections: this process has no descriptor left (ulimit -n)");
    }
    on_bound(port_);
    begin_to_accept();
    warn_of_few_descriptors();
  }

  int port() const { return port_; }

  void refuse() {
    require_other_thread(is_turning_away());
    const std::lock_guard<std::mutex> one_at_a_time(listening_mutex_);
    if (!acceptor_) return;
    acceptor_.reset();
    reserved_ = sockets::reserve(host_, port_);
  }

  void accept_again() {
    // On the accepting thread refuse() throws, so the port is still open.
    if (is_turning_away()) return;
    const std::lock_guard<std::mutex> one_at_a_time(listening_mutex_);
    if (stopped_ || acceptor_) return;
    if (reserved_ == Socket::none || !sockets::listen_on_reserved(reserved_))
      throw GatewayError("cannot listen on " + host_ + ":" + std::to_string(port_) + " again: " + why_not_listen());
    listener_ = std::exchange(reserved_, Socket::none);
    begin_to_accept();
  }

  void catch_up(Duration patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end && is_behind())
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  void stop_all() {
    require_other_thread(is_own_thread());
    const std::lock_guard<std::mutex> one_at_a_time(stop_mutex_);
    std::unique_ptr<Acceptor> accepting;
    {
      const std::lock_guard<std::mutex> lock(listening_mutex_);
      if (std::exchange(stopped_, true)) return;
      accepting = std::move(acceptor_);
    }
    // First, so that threads whose connections end do not wait for another job.
    workers_.retire();
    std::vector<std::shared_ptr<StopLine>> lines;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      for (const Connection* connection : connections_) lines.push_back(connection->stop_line());
    }
    for (const auto& line : lines) line->stop();
    if (!sockets::shutdown_wakes)
      for (const auto& line : lines) line->wake();
    accepting.reset();
    for (const auto& reactor : reactors_) reactor->retire();
    workers_.shut_down(std::chrono::seconds{1}, [this] { warn_of_busy_connections(); });
    const std::lock_guard<std::mutex> lock(listening_mutex_);
    if (reserved_ != Socket::none) sockets::give_up_reserved(std::exchange(reserved_, Socket::none));
  }

  bool is_own_thread() const { return workers_.is_current() || is_turning_away(); }

 private:
  static constexpr int accepted = 204;
  /// Below so many connections per reactor, another reactor does not help: its thread would sleep between requests.
  static constexpr std::size_t connections_of_one = 4;

  /// cpp-httplib's cached verdict on a head; never of an empty one.
  struct Verdict {
    std::string head;
    int status = 400;
  };

  static void require_other_thread(bool is_own) {
    if (is_own)
      throw GatewayError("a gateway cannot be stopped by a function that it called itself: it would wait for itself");
  }

  /// In the order of a connection's way: one that has left a place meanwhile is found in the next.
  bool is_behind() {
    {
      const std::lock_guard<std::mutex> lock(listening_mutex_);
      if (acceptor_ && acceptor_->is_behind()) return true;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const Connection* connection : connections_)
        if (sockets::poll(connection->descriptor(), sockets::Interest::readable, true, Socket::none, Duration{0}).ready)
          return true;
    }
    return serving_ > 0;
  }

  bool is_turning_away() const { return turning_away_ == std::this_thread::get_id(); }

  void begin_to_accept() {
    sockets::stamp_arrivals(listener_);
    Acceptor::Calls calls;
    calls.serve = [this](Socket socket, bool last_descriptor) { take(socket, last_descriptor); };
    calls.deaf = [](const std::string& why) { warn({"no connection can be accepted any more: ", why}); };
    acceptor_ = std::make_unique<Acceptor>(listener_, std::move(calls), turned_away_);
  }

  std::string why_not_listen() const {
    const sockets::Binding probe = sockets::bind_to(host_, port_, true);
    if (probe.socket == Socket::none) return sockets::explain(probe, host_, port_);
    sockets::stop_listening(probe.socket);
    return "the system refused";
  }

  void warn_of_few_descriptors() const {
    constexpr std::size_t few = 64;
    const std::optional<std::size_t> limit = sockets::descriptor_limit();
    if (limit && *limit < sockets::table_position(listener_).value_or(0) + few)
      warn({"this process may have ", std::to_string(*limit), " descriptors (ulimit -n) and has used most; ",
            "when none is left, a connection is answered 503 connection_limit"});
  }

  void take(Socket socket, bool last_descriptor) noexcept {
    try {
      if (const std::optional<std::string> why_not = serve_on_a_thread(socket, last_descriptor))
        turn_away(socket, *why_not);
    } catch (const std::bad_alloc&) {
      turn_away(socket, "this process has no memory for another connection");
    }
  }

  /// Returns why the connection cannot be served, or nothing.
  std::optional<std::string> serve_on_a_thread(Socket socket, bool last_descriptor) {
    if (last_descriptor || (!limits_.uses_kept_descriptors && servers::is_kept(socket))) {
      const std::optional<std::size_t> limit = sockets::descriptor_limit();
      return with_open_count("this process has no descriptor left for another connection: its limit is " +
                             (limit ? std::to_string(*limit) : "unknown") + " (ulimit -n)");
    }
    return handler_.accept([this, socket](ConnectionHandler::Beginning beginning,
                                          ConnectionHandler::Serve serve) -> std::optional<std::string> {
      Reactor::Serve served = [this, serve = std::move(serve)](Connection& connection) {
        return serve_or_close(connection, serve);
      };
      if (beginning == ConnectionHandler::Beginning::accepted) {
        if (reactors_.front()->start([this, socket] { return open(socket); }, std::move(served))) return std::nullopt;
      } else if (Reactor* const reactor = attended()) {
        if (std::unique_ptr<Connection> connection = open(socket))
          reactor->add(std::move(connection), std::move(served));
        return std::nullopt;
      }
      return with_open_count("the system refuses another thread for a connection (ulimit -u, or a container's limit)");
    });
  }

  /// Returns a reactor with a leader, preferably the least busy. Null if the system gives no thread.
  Reactor* attended() {
    Reactor& least = least_busy();
    if (least.attend()) return &least;
    for (const auto& reactor : reactors_)
      if (reactor->attend()) return reactor.get();
    return nullptr;
  }

  /// Returns the reactor with the fewest connections, or a new one if all are busy: up to four, one per processor.
  Reactor& least_busy() {
    static const std::size_t most = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
    Reactor* least = reactors_.front().get();
    for (const auto& reactor : reactors_)
      if (reactor->size() < least->size()) least = reactor.get();
    if (least->size() < connections_of_one || reactors_.size() == most) return *least;
    auto another = std::make_unique<Reactor>(workers_);
    if (!another->is_open()) return *least;
    reactors_.push_back(std::move(another));
    return *reactors_.back();
  }

  std::string with_open_count(const std::string& why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return why + ", and " + std::to_string(connections_.size()) + " are open at this gateway";
  }

  /// Queues a connection that cannot be served. The accepting thread answers it later, without blocking.
  void turn_away(Socket socket, const std::string& why) noexcept {
    ConnectionLimits limits = limits_;
    // No waiting: only bytes that have arrived are read, and the system accepts an answer at once.
    for (Duration* limit : {&limits.read_timeout, &limits.idle_timeout, &limits.head_timeout, &limits.body_timeout})
      *limit = Duration{0};
    limits.write_timeout = std::chrono::milliseconds{1};
    limits.body_grows = false;
    limits.max_body = std::min<std::size_t>(limits.max_body, 65536);
    std::unique_ptr<Connection> connection;
    try {
      connection = std::make_unique<Connection>(socket, ++last_connection_, limits);
    } catch (const std::bad_alloc&) {
      sockets::close(socket);
      return;
    }
    try {
      turned_away_.add(std::move(connection), why);
    } catch (const std::bad_alloc&) {  // the connection is closed without an answer
    }
  }

  void answer_turned_away(Connection& connection, const std::string& why) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return;
    }
    turning_away_ = std::this_thread::get_id();
    handler_.turn_away(connection, head_check_, why);
    turning_away_ = std::thread::id();
  }

  /// Returns null if the server stops or is out of memory; then the connection is closed.
  std::unique_ptr<Connection> open(Socket socket) noexcept {
    std::unique_ptr<Connection> connection;
    try {
      connection = std::make_unique<Connection>(socket, ++last_connection_, limits_);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return nullptr;
      connections_.insert(connection.get());
      return connection;
    } catch (const std::bad_alloc&) {
      if (!connection) sockets::close(socket);
      return nullptr;
    }
  }

  bool serve_or_close(Connection& connection, const ConnectionHandler::Serve& serve) noexcept {
    ++serving_;
    const bool stays = (!connection.is_finishing() && serve(connection, head_check_)) || !connection.finish();
    --serving_;
    if (stays) return true;
    const std::lock_guard<std::mutex> lock(mutex_);
    connections_.erase(&connection);
    return false;
  }

  /// Returns 0 if cpp-httplib accepts the head, else its error status. Cached, because most clients repeat their heads.
  int refusal(std::string_view head) {
    Verdict& kept = verdicts_[std::hash<std::string_view>()(head) % verdicts_.size()];
    {
      const std::lock_guard<std::mutex> lock(verdicts_mutex_);
      if (kept.head == head) return kept.status;
    }
    const int status = compute_refusal(head);
    const std::lock_guard<std::mutex> lock(verdicts_mutex_);
    kept.head = head;
    kept.status = status;
    return status;
  }

  int compute_refusal(std::string_view head) {
    if (servers::Tables::gone()) return 0;  // the gateway's own checks have passed
    CheckedHead stream(head);
    bool closed = false;
    process(*this, stream, closed, 0);
    static const servers::Tables tables;  // constructed after cpp-httplib's, so destroyed before them
    return stream.status() == accepted ? 0 : stream.status() == 0 ? 400 : stream.status();
  }

  // process_request takes addresses since 0.18.0; SFINAE selects the overload.
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

  void warn_of_busy_connections() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Connection* connection : connections_)
      if (const std::string what = connection->busy_with(); !what.empty()) warn({"stopping waits for ", what});
  }

  ConnectionHandler& handler_;
  ConnectionLimits limits_;
  const HeadCheck head_check_ = [this](std::string_view head) { return refusal(head); };
  std::string host_;
  Socket listener_ = Socket::none;
  int port_ = 0;
  // Held during a stop, so that a second stop waits for it. Functions of the test only lock other mutexes.
  std::mutex stop_mutex_;
  std::atomic<std::uint64_t> last_connection_{0};
  std::mutex mutex_;
  std::set<Connection*> connections_;
  std::atomic<int> serving_{0};  // calls of serve_or_close() in progress
  bool stopping_ = false;
  std::mutex verdicts_mutex_;
  std::array<Verdict, 64> verdicts_;
  std::mutex listening_mutex_;
  bool stopped_ = false;            // guarded by listening_mutex_
  Socket reserved_ = Socket::none;  // likewise; keeps the port while connections are refused
  std::atomic<std::thread::id> turning_away_{std::thread::id()};
  Workers workers_;
  std::vector<std::unique_ptr<Reactor>> reactors_;  // used only by the accepting thread until it has ended
  TurnedAway turned_away_{
      [this](Connection& connection, const std::string& why) { answer_turned_away(connection, why); }};
  // Guarded by listening_mutex_. Null while the gateway refuses connections, and once it is stopped.
  std::unique_ptr<Acceptor> acceptor_;
};

Server::Server(ConnectionHandler& handler, const std::string& host, int port, const ConnectionLimits& limits,
               const std::function<void(int port)>& on_bound)
    : impl_((require_matching_httplib(), make_impl(handler, limits))) {
  impl_->listen_on(host, port, on_bound);
}

std::unique_ptr<Server::Impl> Server::make_impl(ConnectionHandler& handler, const ConnectionLimits& limits) {
  std::unique_ptr<Impl> made;
  process::keep_sigpipe([&] { made = std::make_unique<Impl>(handler, limits); });
  return made;
}

Server::~Server() { stop(); }

void Server::keep_descriptors(std::size_t count) { servers::kept_descriptors() = count; }

int Server::port() const { return impl_->port(); }

void Server::refuse() { impl_->refuse(); }

void Server::accept_again() { impl_->accept_again(); }

void Server::catch_up(Duration patience) const { impl_->catch_up(patience); }

void Server::stop() { impl_->stop_all(); }

bool Server::is_own_thread() const { return impl_->is_own_thread(); }

}  // namespace mock_gateway::detail
