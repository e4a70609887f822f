// Limits of the control API's connections; who is turned away; Date and Connection of its answers.

#include "http_server.hpp"

#include <iostream>
#include <utility>

#include "../core/calendar.hpp"
#include "../core/clock.hpp"
#include "../http/request_reader.hpp"
#include "../http/response.hpp"
#include "../http/server.hpp"
#include "internal.hpp"
#include "places.hpp"

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
  limits.trial = detail::ConnectionLimits::Trial{5s, largest_head};
  return limits;
}

/// Why reading a request failed, in the words of the control API.
Failure unreadable(const Failure& failure) {
  return Failure(failure.status(), failure.status() == 413 ? "too_large" : "invalid_request", failure.message());
}

/// Keeps descriptors for this server before it listens.
const detail::ConnectionLimits& limits_with_descriptors() {
  constexpr std::size_t turned_away_and_files = 24;
  detail::Server::keep_descriptors(Places::most + Places::most_closed + turned_away_and_files);
  static const detail::ConnectionLimits kept = limits();
  return kept;
}

bool send(Connection& connection, const IncomingRequest& incoming, const HttpAnswer& answer) {
  wire::Headers headers = answer.headers;
  headers.add("Date",
              detail::calendar::http_date(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())));
  // A client that has nothing to follow closes at once, which tells that the answer has come; an acknowledgement alone
  // may take its system 40 ms.
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
  return connection.write(bytes);
}

}  // namespace

class HttpServer::Impl final : private detail::ConnectionHandler {
 public:
  Impl(HttpHandler& handler, const std::string& host, int port, const std::function<void(int port)>& on_bound)
      : handler_(handler),
        server_(static_cast<detail::ConnectionHandler&>(*this), host, port, limits_with_descriptors(), on_bound) {}

  void end() { places_.end(); }

 private:
  std::optional<std::string> accept(const Start& start) override {
    std::shared_ptr<Places::Place> place = places_.take();
    if (!place)
      return "the control API is answering " + std::to_string(Places::most) +
             " requests, which is the limit; wait for one of them to end";
    return start(Beginning::accepted,
                 [this, place = std::move(place)](Connection& connection, const detail::HeadCheck& check_head) {
                   serve(connection, check_head, *place);
                   return false;
                 });
  }

  bool free_a_descriptor() override { return places_.free_a_descriptor(); }

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
      send(connection, *incoming, handler_.turn_away(why));
    } catch (const std::exception&) {  // out of memory: the connection is closed without an answer
    }
  }

  /// Judges a head. A connection that is trusted keeps its place as long as the request lasts.
  std::optional<Failure> refuse(const IncomingRequest& head, Connection& connection, Places::Place& place) {
    bool trusted = false;
    std::optional<Failure> refused = handler_.refuse(HttpRequest{head.request, head.authority}, trusted);
    if (refused || !trusted) return refused;
    connection.trust();
    if (place.hold()) return std::nullopt;
    return Failure(503, "too_many_connections", "this connection was closed for another one");
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

  void serve(Connection& connection, const detail::HeadCheck& check_head, Places::Place& place) noexcept {
    place.begin(connection.stop_line());
    try {
      while (connection.ending() == detail::Outlet::Ending::keep_alive) {
        if (connection.wait_for_request() != Connection::Arrival::arrived) break;
        place.begin_request();
        const std::optional<IncomingRequest> incoming =
            detail::read_request(connection, check_head, clock_,
                                 [&](const IncomingRequest& head) { return refuse(head, connection, place); });
        if (!incoming) break;
        const HttpAnswer response = answer(*incoming, connection);
        const auto answered = std::chrono::steady_clock::now();
        const bool sent = send(connection, *incoming, response);
        if (sent && response.after) {
          connection.drain();
          response.after();
        }
        if (!sent) break;
        place.release(answered);
      }
      place.leave();
      while (!connection.finish()) connection.wait_for_news();  // as long as it has its place
    } catch (const std::exception& exception) {                 // out of memory, say
      std::cerr << std::string("mock-gateway: a request to the control API was given up: ") + exception.what() + "\n";
    }
  }

  HttpHandler& handler_;
  RealClock clock_;
  Places places_;
  detail::Server server_;  // last: it stops before what its connections use goes
};

HttpServer::HttpServer(HttpHandler& handler, const std::string& host, int port,
                       const std::function<void(int port)>& on_bound)
    : impl_(std::make_unique<Impl>(handler, host, port, on_bound)) {}
HttpServer::~HttpServer() = default;
void HttpServer::end() { impl_->end(); }

}  // namespace mock_gateway::internal
