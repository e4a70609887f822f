#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../library.hpp"
#include "api_layer.hpp"
#include "gates.hpp"
#include "scopes.hpp"
#include "waits.hpp"

// What the routes of the control API share: a request that passed the gate, its answer or error, and what it works on.

namespace mock_gateway {
namespace endpoint {

class Serving;

/// What the control API answers with a status from 400 on.
class ControlError : public std::exception {
 public:
  ControlError(int its_status, std::string its_code, std::string its_message,
               std::vector<ScriptProblem> its_problems = {})
      : status(its_status),
        code(std::move(its_code)),
        message(std::move(its_message)),
        problems(std::move(its_problems)) {}

  const char* what() const noexcept override { return message.c_str(); }

  int status;
  std::string code;
  /// The whole text for people, problems included.
  std::string message;
  std::vector<ScriptProblem> problems;
  /// The methods that a path has, for `method_not_allowed`.
  std::string allow = {};
  /// Retry-After, in seconds; empty: none.
  std::string retry_after = {};
};

/// A request of the control API that has passed the gate and has a route.
struct ControlRequest {
  std::string method;
  /// The values of the `{…}` segments of the route's path, percent-decoded, in order.
  std::vector<std::string> parameters;
  /// Percent-decoded. Each name is one that the route knows, and is there once.
  std::map<std::string, std::string> query;
  std::string body;
  /// Whether the client has closed its connection meanwhile.
  std::function<bool()> is_abandoned = nullptr;

  /// The body as JSON; comments are allowed. Throws ControlError `invalid_json` for what is none, and for an object
  /// that has a key twice.
  Json json() const;
  /// The same for a body that is an object with no other keys than these, or none at all: then an empty object. Throws
  /// ControlError `invalid_request` for another key, with the nearest of these.
  Json object(const std::vector<std::string>& keys) const;
  /// The error `invalid_request` for a value of the body, with its line and column. `pointer` is a JSON pointer.
  ControlError invalid(const std::string& pointer, const std::string& message) const;
  /// Throws that error for a name that is too long for one. Without a pointer it stands in the path.
  void require_name(const std::string& pointer, const std::string& name) const;

  /// The value in the query; nothing where it is not given.
  std::optional<std::string> value(const std::string& name) const;
  /// A whole number in the query. Throws ControlError `invalid_request` when it is none from `least` to `most`.
  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least, std::uint64_t most) const;
  /// A duration in the query, such as "250ms". Throws ControlError `invalid_request` for another text and for more than
  /// `most`.
  std::optional<Duration> duration(const std::string& name, Duration most = std::chrono::seconds{60}) const;
  /// The value of a `{…}` segment as the id of a stub or an exchange. Throws the 404 of `code` for what is no number:
  /// nothing has such an id.
  std::uint64_t id(std::size_t parameter, const char* code, const char* what) const;
};

/// What a route answers. Its JSON is the body unless there is a text.
struct ControlAnswer {
  int status = 200;
  Json json = Json::object();
  std::optional<std::string> text = std::nullopt;
  /// Called once the answer was sent.
  std::function<void()> after = nullptr;
  /// The Content-Type of the text.
  const char* type = "text/plain; charset=utf-8";
};

/// 404 `no_such_key`, say: "there is no key "x"". `known` are the names that there are, for "did you mean".
/// The 404 of `code` for what the path names, where it belongs to another scope than the query's, or to none.
ControlError not_of(const std::string& what, const char* code, const std::string& name, const Scope& scope);
ControlError no_such(const std::string& what, const std::string& name, const std::vector<std::string>& known = {});
/// A 400 of several problems, of which it tells the first 20. The text for people says whether there are more.
ControlError error_of(const std::string& code, std::vector<ScriptProblem> problems);
/// The 400 of a value in the query: `?name=text: expected …`.
ControlError invalid_query(const std::string& name, const std::string& text, const std::string& expected);
/// The text of a script's problem as JSON: severity, file, line, column, pointer, message, source, source_column.
Json as_json(const ScriptProblem& problem);
/// The first 20; of more, one more says how many are left out.
Json as_json(const std::vector<ScriptProblem>& problems);
/// A moment as RFC 3339 with milliseconds.
Json as_json(TimePoint moment);

/// Who a control API is, for whoever looks for it.
struct ControlIdentity {
  /// Random: a client that finds another one here talks to another program.
  std::string instance;
  /// "http://127.0.0.1:8081".
  std::string control_url;
  std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
};

/// What the routes work on. Its members can be used from any thread. It lives as long as the control server, and the
/// gateway outlives it.
struct Control {
  Control(Serving& its_serving, ControlIdentity its_identity);

  /// The gateway, its scripts, and what it was started with.
  Serving& serving;
  ControlIdentity identity;
  /// The token of this API, which no answer may hold but that to a code.
  std::string token;
  /// Every long poll waits here, so that a stop ends it.
  Waits waits;
  /// What the API has mounted.
  ApiLayer layer;
  Scopes scopes;
  Gates gates;
  internal::JournalFeed feed;
  /// Whether the gateway's port is open.
  std::atomic<bool> listening{true};
  /// Ends the program as SIGTERM does; set by who owns the control server.
  std::function<void()> stop;

  Gateway& gateway() const;
  internal::Inside inside() const;
  /// The scope that `?scope=` names; nothing without it. Throws ControlError `no_such_scope`.
  std::optional<Scope> scope_of(const ControlRequest& request) const;
};

/// A route of the API. Several may have the same path; a path without a `{…}` segment comes before one with.
struct ControlRoute {
  const char* method;
  /// Behind `/control/v1`: "" is the root, else "/stubs/{id}/wait".
  const char* path;
  /// The names that its query may hold. "scope" is one of them, or `no_scope` says why not.
  std::vector<const char*> query;
  /// Throws ControlError; GatewayError becomes 400 `invalid_request`.
  ControlAnswer (*answer)(Control& control, const ControlRequest& request);
  /// What a test that asks for its scope's part is told: what has no parts, and what to use.
  const char* no_scope = nullptr;
};

/// The id of the key that the program gives out.
inline constexpr char default_key_id[] = "key_1";

/// The `no_scope` of what a server has once.
inline constexpr char of_server[] = "it belongs to the whole server, which all scopes share; omit the scope";

// The tables of routes, one for each file.

std::vector<ControlRoute> root_routes();
std::vector<ControlRoute> script_routes();
std::vector<ControlRoute> stub_routes();
std::vector<ControlRoute> failure_routes();
std::vector<ControlRoute> evidence_routes();

}  // namespace endpoint
}  // namespace mock_gateway
