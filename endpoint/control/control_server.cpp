// Access checks before bodies are read; limits; response headers; Content-Security-Policy; console files; JSON of
// errors.

#include "control_server.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "../messages.hpp"
#include "embedded.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// All paths below need the token, even unknown ones.
constexpr std::string_view api = "/control";

std::string address_of(const std::string& host, int port) {
  const std::string reachable = host == "0.0.0.0" || host == "localhost" ? "127.0.0.1" : host == "::" ? "::1" : host;
  return "http://" + (reachable.find(':') == std::string::npos ? reachable : "[" + reachable + "]") + ":" +
         std::to_string(port);
}

/// Headers of all responses, including the console's.
wire::Headers common_headers() {
  return {{"Cache-Control", "no-store"},
          {"X-Content-Type-Options", "nosniff"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

std::string content_type_of(std::string_view name) {
  const std::string_view extension = name.substr(std::min(name.rfind('.'), name.size()));
  if (extension == ".html") return "text/html; charset=utf-8";
  return extension == ".css" ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
}

bool is_page(const ReceivedRequest& request) { return std::string_view(request.target).substr(0, api.size()) != api; }
/// Whether it is the session request, the only one that has a console code in place of the token.
bool is_code_exchange(const ReceivedRequest& request) {
  return request.method == "POST" && request.path() == "/control/v1/session";
}

[[noreturn]] void refuse_method(const std::string& path, const char* allowed) {
  ControlError error(405, "method_not_allowed", internal::printable(path, 200) + " takes " + allowed);
  error.allow = allowed;
  throw error;
}

}  // namespace

ControlServer::ControlServer(Serving& serving, ControlSettings settings)
    : settings_(std::move(settings)),
      guard_(settings_.token, settings_.allowed_hosts),
      control_(serving, settings_.instance, settings_.token) {
  // Stop through the signal that the main thread waits for.
  control_.stop = [] { ::kill(::getpid(), SIGTERM); };
  try {
    server_.emplace(static_cast<internal::HttpHandler&>(*this), settings_.host, settings_.port, [this](int port) {
      guard_.set_allowed_hosts(settings_.host, port);
      control_.url = address_of(settings_.host, port);
    });
  } catch (const GatewayError& error) {
    throw BadValue("--control: " + without_prefix(error.what()));
  }
}

ControlServer::~ControlServer() {
  control_.waits.stop();
  server_.reset();
}

internal::HttpAnswer ControlServer::turn_away(const std::string& why) {
  ControlError error(503, "too_many_connections", why);
  error.retry_after = "1";
  return error_answer(error);
}

void ControlServer::require_code(const wire::Headers& headers) {
  const SessionCodes::Verdict verdict = codes_.take(ControlGuard::credential(headers));
  if (verdict == SessionCodes::Verdict::good) return;
  if (verdict == SessionCodes::Verdict::unknown)
    throw ControlError(
        401, "wrong_code",
        "unknown code: the program may have restarted. Open the address that it printed last on its terminal");
  if (settings_.show_address)
    codes_.renew([this](const std::string& code) { return settings_.show_address(console_address(code)); });
  const bool is_used = verdict == SessionCodes::Verdict::used;
  throw ControlError(401, is_used ? "used_code" : "late_code",
                     std::string("this address ") + (is_used ? "was used already" : "is older than 60 s") +
                         "; the program shows a fresh one on its terminal");
}

std::optional<Failure> ControlServer::refuse(const internal::HttpRequest& head, bool& trusted) {
  const wire::Headers& headers = head.received.headers;
  try {
    guard_.require_host(headers, head.authority);
    if (is_page(head.received)) return std::nullopt;
    guard_.require_origin(headers);
    if (is_code_exchange(head.received))
      require_code(headers);
    else
      guard_.require_token(headers);
  } catch (const ControlError& error) {
    return Failure(error.status, error.code, error.message);
  }
  trusted = true;
  return std::nullopt;
}

internal::HttpAnswer ControlServer::answer(const internal::HttpRequest& request) {
  try {
    if (request.refused)
      throw ControlError(request.refused->status(), request.refused->code(), request.refused->message());
    return is_page(request.received) ? page(request.received) : answer_of_api(request);
  } catch (const ControlError& error) {
    return error_answer(error);
  } catch (const ScriptError& error) {
    return error_answer(ControlError(400, "invalid_script", without_prefix(error.what()), error.problems()));
  } catch (const GatewayError& error) {
    return error_answer(ControlError(400, "invalid_request", without_prefix(error.what())));
  } catch (const std::exception& error) {
    return error_answer(ControlError(500, "internal_error", error.what()));
  }
}

internal::HttpAnswer ControlServer::answer_of_api(const internal::HttpRequest& incoming) {
  const ReceivedRequest& received = incoming.received;
  ControlRequest request;
  const ControlRoute& route = find_route(received.method, received.path(), request.parameters);
  request.method = received.method;
  request.query = query_of(route, received.query());
  request.body = received.body;
  request.is_abandoned = incoming.is_abandoned;
  ControlAnswer answer = route.answer(control_, request);
  internal::HttpAnswer response;
  response.status = answer.status;
  response.type = answer.text ? answer.type : "application/json";
  // A gateway's client may have sent invalid UTF-8; replace it.
  response.body =
      answer.text ? std::move(*answer.text) : answer.json.dump(-1, ' ', false, Json::error_handler_t::replace);
  response.headers = common_headers();
  response.after = std::move(answer.after);
  return response;
}

internal::HttpAnswer ControlServer::page(const ReceivedRequest& request) {
  const std::string path = request.path();
  const EmbeddedFile* found = nullptr;
  for (const EmbeddedFile* file = embedded_files; file != embedded_files + embedded_file_count; ++file)
    if (path == "/" + std::string(file->name) || (path == "/" && file->name == "index.html")) found = file;
  if (request.method == "OPTIONS" || (found && request.method != "GET")) refuse_method(path, "GET");
  if (!found)
    throw ControlError(
        404, "no_such_route",
        "there is no " + internal::printable(path, 200) + "; the console is at /, and the control API at /control/v1");
  internal::HttpAnswer response;
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

internal::HttpAnswer ControlServer::error_answer(const ControlError& error) {
  const Json body{{"code", error.code}, {"message", error.message}, {"problems", as_json(error.problems)}};
  internal::HttpAnswer response;
  response.status = error.status;
  response.type = "application/json";
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  response.headers = common_headers();
  if (error.status == 401) response.headers.add("WWW-Authenticate", "Bearer");
  if (!error.allow.empty()) response.headers.add("Allow", error.allow);
  if (!error.retry_after.empty()) response.headers.add("Retry-After", error.retry_after);
  return response;
}

}  // namespace endpoint
}  // namespace mock_gateway
