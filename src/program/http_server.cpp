// The control API's HTTP server: limits of connections, and the header fields Date and Connection of answers.

#include "http_server.hpp"

#include <iostream>
#include <utility>

#include "../core/calendar.hpp"
#include "../core/clock.hpp"
#include "../http/request_reader.hpp"
#include "../http/response.hpp"
#include "../http/server.hpp"
#include "internal.hpp"

namespace mock_gateway::internal {
namespace {

using namespace std::chrono_literals;
using detail::Connection;
using detail::IncomingRequest;

detail::ConnectionLimits limits() {
  constexpr std::size_t largest_head = 64 * 1024;
  constexpr std::size_t largest_body = 16 * 1024 * 1024;
  detail::ConnectionLimits limits{};
  limits.read_timeout = 10s;
  limits.write_timeout = 30s;
  limits.idle_timeout = 60s;
  limits.head_timeout = 10s;
  limits.body_timeout = 30s;
  limits.max_head = largest_head;
  limits.max_body = largest_body;
  limits.uses_kept_descriptors = true;
  limits.untrusted = detail::ConnectionLimits::UntrustedBudget{5s, largest_head};
  return limits;
}

/// Returns the failure with an error code of the control API.
Failure unreadable(const Failure& failure) {
  return Failure(failure.status(), failure.status() == 413 ? "too_large" : "invalid_request", failure.message());
}

/// Reserves descriptors for this server before it listens.
const detail::ConnectionLimits& limits_with_descriptors() {
  constexpr std::size_t kept = 100;
  detail::Server::keep_descriptors(kept);
  static const detail::ConnectionLimits all = limits();
  return all;
}

/// Returns the answer's head and body. Marks the connection to be closed if the client or the answer asks for that.
std::string bytes_of(Connection& connection, const IncomingRequest& incoming, const HttpAnswer& answer) {
  wire::Headers headers = answer.headers;
  const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  headers.add("Date", detail::calendar::http_date(now));
  // "Connection: close" makes the client close at once, so the server learns quickly that the answer arrived. The
  // client's system may delay a plain acknowledgement by 40 ms.
  if (!incoming.keep_alive || answer.after) {
    headers.add("Connection", "close");
    connection.end(detail::Outlet::Ending::close);
    if (incoming.malformed || incoming.is_body_unread) connection.linger();
  } else if (!incoming.http_1_1) {
    headers.add("Connection", "keep-alive");
  }
  std::string bytes = detail::response_head(answer.status, answer.type, detail::BodyFraming::content_length,
                                            answer.body.size(), headers);
  if (incoming.request.method != "HEAD") bytes += answer.body;
  return bytes;
}

}  // namespace

class HttpServer::Impl final : private detail::ConnectionHandler {
 public:
  Impl(HttpHandler& handler, const std::string& host, int port, const std::function<void(int port)>& on_bound)
      : handler_(handler),
        server_(static_cast<detail::ConnectionHandler&>(*this), host, port, limits_with_descriptors(), on_bound) {}

 private:
  /// The state of a connection. A default-constructed Progress waits for the next request.
  struct Progress {
    std::unique_ptr<detail::RequestReader> reader = nullptr;
    std::string answer = {};
    std::size_t sent = 0;  // bytes of the answer
    bool is_sending = false;
    std::function<void()> after = nullptr;
  };

  std::optional<std::string> accept(const Start& start) override {
    const auto progress = std::make_shared<Progress>();
    return start(Beginning::client_speaks,
                 [this, progress](Connection& connection, const detail::HeadCheck& check_head) {
                   return serve(connection, check_head, *progress);
                 });
  }

  void turn_away(Connection& connection, const detail::HeadCheck& check_head,
                 const std::string& why) noexcept override {
    try {
      const Connection::Arrival arrival = connection.wait_for_request();
      if (arrival != Connection::Arrival::arrived && arrival != Connection::Arrival::timed_out) return;
      std::optional<IncomingRequest> incoming;
      if (arrival == Connection::Arrival::arrived)
        incoming = detail::read_request(connection, check_head, clock_, nullptr);
      if (!incoming) incoming.emplace();
      incoming->keep_alive = false;
      connection.write(bytes_of(connection, *incoming, handler_.turn_away(why)));
    } catch (const std::exception&) {  // for example out of memory: the connection closes without an answer
    }
  }

  /// Returns false to close the connection. While the handler blocks this thread, another thread runs the event loop.
  bool serve(Connection& connection, const detail::HeadCheck& check_head, Progress& progress) noexcept {
    try {
      for (;;) {
        std::optional<bool> goes_on;
        if (progress.is_sending)
          goes_on = send(connection, progress);
        else if (progress.reader)
          goes_on = read(connection, progress);
        else
          goes_on = begin(connection, check_head, progress);
        if (!goes_on) return true;
        if (!*goes_on) return false;
      }
    } catch (const std::exception& exception) {  // for example out of memory
      std::cerr << std::string("mock-gateway: a request to the control API was given up: ") + exception.what() + "\n";
      return false;
    }
  }

  // The next functions return whether the connection continues, or empty while it waits for bytes or buffer space.

  std::optional<bool> begin(Connection& connection, const detail::HeadCheck& check_head, Progress& progress) {
    if (connection.ending() != detail::Outlet::Ending::keep_alive) return false;
    const std::optional<Connection::Arrival> arrival = connection.check_request();
    if (!arrival) return std::nullopt;
    if (*arrival != Connection::Arrival::arrived) return false;
    progress.reader = std::make_unique<detail::RequestReader>(
        connection, check_head, no_fault_, clock_,
        [this, &connection](const IncomingRequest& head) { return refuse(head, connection); });
    return true;
  }

  std::optional<bool> read(Connection& connection, Progress& progress) {
    if (!progress.reader->advance()) return std::nullopt;
    const std::optional<IncomingRequest> incoming = progress.reader->take();
    progress.reader.reset();
    if (!incoming) return false;
    hand_off_event_loop();
    HttpAnswer response = answer(*incoming, connection);
    progress.answer = bytes_of(connection, *incoming, response);
    progress.sent = 0;
    progress.after = std::move(response.after);
    progress.is_sending = true;
    return true;
  }

  static std::optional<bool> send(Connection& connection, Progress& progress) {
    while (progress.sent < progress.answer.size()) {
      const auto count = connection.write_some(std::string_view(progress.answer).substr(progress.sent));
      if (!count) return false;
      progress.sent += *count;
      if (*count > 0) continue;
      const detail::Outlet::WaitState room = connection.check_room();
      if (room == detail::Outlet::WaitState::not_yet) return std::nullopt;
      if (room == detail::Outlet::WaitState::given_up) return false;
    }
    progress.answer.clear();
    progress.is_sending = false;
    if (!progress.after) return true;
    hand_off_event_loop();
    connection.drain();
    progress.after();
    return false;
  }

  std::optional<Failure> refuse(const IncomingRequest& head, Connection& connection) {
    hand_off_event_loop();  // a refusal may write to a terminal, which may block
    bool trusted = false;
    std::optional<Failure> refused = handler_.refuse(HttpRequest{head.request, head.authority}, trusted);
    if (!refused && trusted) connection.trust();
    return refused;
  }

  HttpAnswer answer(const IncomingRequest& incoming, const Connection& connection) {
    HttpRequest request{incoming.request, incoming.authority};
    if (incoming.malformed)
      request.refused = unreadable(*incoming.malformed);
    else if (incoming.refused)
      request.refused = *incoming.refused;
    else if (incoming.body_too_large)
      request.refused = unreadable(*incoming.body_too_large);
    request.is_abandoned = [&connection] { return connection.is_abandoned(); };
    return handler_.answer(request);
  }

  HttpHandler& handler_;
  RealClock clock_;
  const std::optional<ConnectionFault> no_fault_ = std::nullopt;
  detail::Server server_;  // last, so that it stops before the objects that its connections use are destroyed
};

HttpServer::HttpServer(HttpHandler& handler, const std::string& host, int port,
                       const std::function<void(int port)>& on_bound)
    : impl_(std::make_unique<Impl>(handler, host, port, on_bound)) {}
HttpServer::~HttpServer() = default;

}  // namespace mock_gateway::internal
