// Who is let in before a body is read; limits; header fields of answers; Content-Security-Policy; types of the page;
// JSON of errors.

#include "control_server.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "../messages.hpp"
#include "core/calendar.hpp"
#include "core/text.hpp"
#include "embedded.hpp"
#include "http/request_reader.hpp"
#include "http/response.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using namespace std::chrono_literals;
using detail::Connection;
using detail::IncomingRequest;

/// Everything under it needs the token, whether there is such a route or not.
constexpr std::string_view api = "/control";

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

std::string address_of(const std::string& host, int port) {
  const std::string reachable = host == "0.0.0.0" || host == "localhost" ? "127.0.0.1" : host == "::" ? "::1" : host;
  return "http://" + (reachable.find(':') == std::string::npos ? reachable : "[" + reachable + "]") + ":" +
         std::to_string(port);
}

/// What each answer has, that of the page too.
wire::Headers common_headers() {
  return {{"Cache-Control", "no-store"},
          {"X-Content-Type-Options", "nosniff"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

std::string content_type_of(std::string_view name) {
  const std::string_view extension = name.substr(std::min(name.rfind('.'), name.size()));
  if (extension == ".html") return "text/html; charset=utf-8";
  if (extension == ".mjs" || extension == ".js") return "text/javascript; charset=utf-8";
  if (extension == ".css") return "text/css; charset=utf-8";
  if (extension == ".json") return "application/json";
  if (extension == ".svg") return "image/svg+xml";
  if (extension == ".png") return "image/png";
  return "application/octet-stream";
}

/// What reading the request found wrong with it, before anything else is looked at.
ControlError unreadable(const Failure& failure) {
  return {failure.status(), failure.status() == 413 ? "too_large" : "invalid_request", failure.message()};
}

bool is_page(const ReceivedRequest& request) { return std::string_view(request.target).substr(0, api.size()) != api; }
/// Whether it is the one request of the API that comes without the token, with the code of a console address instead.
bool is_code_exchange(const ReceivedRequest& request) {
  return request.method == "POST" && request.path() == "/control/v1/session";
}

[[noreturn]] void refuse_method(const std::string& path, const char* allowed) {
  ControlError error(405, "method_not_allowed", detail::text::printable(path, 200) + " takes " + allowed);
  error.allow = allowed;
  throw error;
}

}  // namespace

ControlServer::ControlServer(Serving& serving, ControlSettings settings)
    : settings_(std::move(settings)),
      guard_(settings_.token, settings_.allowed_hosts),
      control_(serving, ControlIdentity{settings_.instance, {}}) {
  control_.token = settings_.token;
  // The same path as of a signal from outside, which the main thread waits for.
  control_.stop = [] { ::kill(::getpid(), SIGTERM); };
  constexpr std::size_t turned_away_and_files = 24;
  detail::Server::keep_descriptors(Places::most + Places::most_closed + turned_away_and_files);
  try {
    server_.emplace(static_cast<detail::ConnectionHandler&>(*this), settings_.host, settings_.port, limits(),
                    [this](int port) {
                      guard_.listens_on(settings_.host, port);
                      control_.identity.control_url = address_of(settings_.host, port);
                    });
  } catch (const GatewayError& error) {
    throw BadValue("--control: " + without_prefix(error.what()));
  }
}

ControlServer::~ControlServer() {
  places_.end();
  control_.waits.stop();
  server_.reset();
}

std::optional<std::string> ControlServer::accept(const Start& start) {
  std::shared_ptr<Places::Place> place = places_.take();
  if (!place)
    return "the control API is answering " + std::to_string(Places::most) +
           " requests, and no more; wait for one of them to end";
  return start(Beginning::accepted,
               [this, place = std::move(place)](Connection& connection, const detail::HeadCheck& check_head) {
                 serve(connection, check_head, *place);
                 return false;
               });
}

void ControlServer::turn_away(Connection& connection, const detail::HeadCheck& check_head,
                              const std::string& why) noexcept {
  try {
    const Connection::Arrival arrival = connection.wait_for_request();
    if (arrival != Connection::Arrival::arrived && arrival != Connection::Arrival::timed_out) return;
    std::optional<IncomingRequest> incoming;
    if (arrival == Connection::Arrival::arrived)
      incoming = detail::read_request(connection, check_head, clock_, nullptr);
    if (!incoming) incoming.emplace();
    incoming->keep_alive = false;
    ControlError error(503, "too_many_connections", why);
    error.retry_after = "1";
    const Response response = error_response(error);
    send(connection, *incoming, response);
  } catch (const std::exception&) {  // out of memory: the connection is closed without an answer
  }
}

void ControlServer::serve(Connection& connection, const detail::HeadCheck& check_head, Places::Place& place) noexcept {
  place.begin(connection.stop_line());
  const detail::RefuseHead refuse_head = [&](const IncomingRequest& head) -> std::optional<Failure> {
    try {
      let_in(head, connection, place);
      return std::nullopt;
    } catch (const ControlError& error) {
      return Failure(error.status, error.code, error.message);
    }
  };
  try {
    while (connection.ending() == detail::Outlet::Ending::keep_alive) {
      if (connection.wait_for_request() != Connection::Arrival::arrived) break;
      place.begin_request();
      const std::optional<IncomingRequest> incoming = detail::read_request(connection, check_head, clock_, refuse_head);
      if (!incoming) break;
      const Response response = respond(*incoming, connection);
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
    complain(std::string("a request to the control API was given up: ") + exception.what());
  }
}

void ControlServer::require_code(const wire::Headers& headers) {
  const SessionCodes::Verdict verdict = codes_.take(ControlGuard::credential(headers));
  if (verdict == SessionCodes::Verdict::good) return;
  if (verdict == SessionCodes::Verdict::unknown)
    throw ControlError(
        401, "wrong_code",
        "this code is not of this program, which may have been started anew since; on its terminal is an "
        "address with a code of its own");
  if (settings_.show_address)
    codes_.renew([this](const std::string& code) { return settings_.show_address(console_address(code)); });
  const bool is_used = verdict == SessionCodes::Verdict::used;
  throw ControlError(401, is_used ? "used_code" : "late_code",
                     std::string("this address ") + (is_used ? "was used already" : "is older than 60 s") +
                         "; the program shows a fresh one on its terminal");
}

void ControlServer::let_in(const IncomingRequest& head, Connection& connection, Places::Place& place) {
  const wire::Headers& headers = head.request.headers;
  guard_.require_host(headers, head.authority);
  if (is_page(head.request)) return;
  guard_.require_origin(headers);
  if (is_code_exchange(head.request))
    require_code(headers);
  else
    guard_.require_token(headers);
  connection.trust();
  if (!place.hold()) throw ControlError(503, "too_many_connections", "this connection was closed for another one");
}

ControlServer::Response ControlServer::respond(const IncomingRequest& incoming, const Connection& connection) {
  try {
    if (incoming.malformed) throw unreadable(*incoming.malformed);
    if (incoming.refused)
      throw ControlError(incoming.refused->status(), incoming.refused->code(), incoming.refused->message());
    if (incoming.body_too_large) throw unreadable(*incoming.body_too_large);
    return is_page(incoming.request) ? page(incoming.request) : respond_to_api(incoming, connection);
  } catch (const ControlError& error) {
    return error_response(error);
  } catch (const ScriptError& error) {
    return error_response(ControlError(400, "invalid_script", without_prefix(error.what()), error.problems()));
  } catch (const GatewayError& error) {
    return error_response(ControlError(400, "invalid_request", without_prefix(error.what())));
  } catch (const std::exception& error) {
    return error_response(ControlError(500, "internal_error", error.what()));
  }
}

ControlServer::Response ControlServer::respond_to_api(const IncomingRequest& incoming, const Connection& connection) {
  const ReceivedRequest& received = incoming.request;
  ControlRequest request;
  const ControlRoute& route = router_.find(received.method, received.path(), request.parameters);
  request.method = received.method;
  request.query = ControlRouter::query(route, received.query());
  request.body = received.body;
  request.is_abandoned = [&connection] { return connection.is_abandoned(); };
  ControlAnswer answer = route.answer(control_, request);
  Response response;
  response.status = answer.status;
  response.type = answer.text ? answer.type : "application/json";
  // What is no UTF-8 came from a client of the gateway, and must not keep anybody from reading the rest.
  response.body =
      answer.text ? std::move(*answer.text) : answer.json.dump(-1, ' ', false, Json::error_handler_t::replace);
  response.headers = common_headers();
  response.after = std::move(answer.after);
  return response;
}

ControlServer::Response ControlServer::page(const ReceivedRequest& request) {
  const std::string path = request.path();
  const EmbeddedFile* found = nullptr;
  for (const EmbeddedFile* file = embedded_files; file != embedded_files + embedded_file_count; ++file)
    if (path == "/" + std::string(file->name) || (path == "/" && file->name == "index.html")) found = file;
  if (request.method == "OPTIONS" || (found && request.method != "GET")) refuse_method(path, "GET");
  if (!found)
    throw ControlError(404, "no_such_route",
                       "there is no " + detail::text::printable(path, 200) +
                           "; the console is at /, and the control API at /control/v1");
  Response response;
  response.type = content_type_of(found->name);
  response.body = found->content;
  response.headers = common_headers();
  response.headers.add("Content-Security-Policy",
                       "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
                       "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                       "require-trusted-types-for 'script'");
  response.headers.add("Referrer-Policy", "no-referrer");
  return response;
}

ControlServer::Response ControlServer::error_response(const ControlError& error) {
  const Json body{{"code", error.code}, {"message", error.message}, {"problems", as_json(error.problems)}};
  Response response;
  response.status = error.status;
  response.type = "application/json";
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  response.headers = common_headers();
  if (error.status == 401) response.headers.add("WWW-Authenticate", "Bearer");
  if (!error.allow.empty()) response.headers.add("Allow", error.allow);
  if (!error.retry_after.empty()) response.headers.add("Retry-After", error.retry_after);
  return response;
}

bool ControlServer::send(Connection& connection, const IncomingRequest& incoming, const Response& response) {
  wire::Headers headers = response.headers;
  headers.add("Date", detail::calendar::http_date(std::chrono::system_clock::now()));
  // A client that has nothing to follow closes at once, which tells that the answer has come; an acknowledgement alone
  // may take its system 40 ms.
  if (!incoming.keep_alive || response.after) {
    headers.add("Connection", "close");
    connection.end(detail::Outlet::Ending::close);
    if (incoming.malformed || incoming.is_body_unread) connection.linger();
  } else if (!incoming.http_1_1) {
    headers.add("Connection", "keep-alive");
  }
  std::string bytes = detail::response_head(response.status, response.type, detail::BodyFraming::content_length,
                                            response.body.size(), headers);
  if (incoming.request.method != "HEAD") bytes += response.body;
  return connection.write(bytes);
}

}  // namespace endpoint
}  // namespace mock_gateway
