#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../library.hpp"
#include "api_layer.hpp"

// Types that all routes of the control API share: requests, answers, errors, and the state that routes work on.

namespace mock_gateway {
namespace endpoint {

class Serving;

/// An error response of the control API, with a status of at least 400.
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
  /// The complete message, including the problems.
  std::string message;
  std::vector<ScriptProblem> problems;
  /// The value of Allow, for `method_not_allowed`.
  std::string allow = {};
  /// The value of Retry-After in seconds, if any.
  std::string retry_after = {};
};

/// An authorized request that matched a route.
struct ControlRequest {
  std::string method;
  /// The percent-decoded values of the path's `{…}` segments, in order.
  std::vector<std::string> parameters;
  /// Percent-decoded parameters. Each is known to the route and occurs once.
  std::map<std::string, std::string> query;
  std::string body;
  /// Whether the client has closed its connection.
  std::function<bool()> is_abandoned = nullptr;

  /// Parses the body as an object with only these keys; an empty body is an empty object. Throws ControlError
  /// `invalid_request` for another key, and suggests the nearest known key.
  Json object(const std::vector<std::string>& keys) const;
  /// Returns an `invalid_request` error about the value at a JSON pointer, with its line and column in the body.
  ControlError invalid(const std::string& pointer, const std::string& message) const;
  /// Throws `invalid_request` if a name is too long. An empty pointer means a name in the path.
  void require_name(const std::string& pointer, const std::string& name) const;

  /// Returns a query parameter, if present.
  std::optional<std::string> value(const std::string& name) const;
  /// Returns an integer query parameter, if present. Throws ControlError `invalid_request` outside `least` to `most`.
  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least, std::uint64_t most) const;
  /// Returns a duration such as "250ms" from the query, if present. Throws ControlError `invalid_request` for an
  /// invalid duration or one above `most`.
  std::optional<Duration> duration(const std::string& name, Duration most = std::chrono::seconds{60}) const;
  /// Returns a path segment as the ID of a stub or an exchange. If it is not a number, throws a 404 with `code`.
  std::uint64_t id(std::size_t parameter, const char* code, const char* what) const;
};

/// A route's response. The body is `text` if set, otherwise `json`.
struct ControlAnswer {
  int status = 200;
  Json json = Json::object();
  std::optional<std::string> text = std::nullopt;
  /// Called after the response was sent.
  std::function<void()> after = nullptr;
  /// The Content-Type of `text`.
  const char* type = "text/plain; charset=utf-8";
};

/// The parsed JSON body of a request.
class ControlBody {
 public:
  /// Mounted stubs show `label` in place of a file name. Comments are allowed. Throws ControlError `invalid_json` for
  /// invalid JSON and duplicate keys.
  explicit ControlBody(const std::string& text, const std::string& label = {});

  const Json& value() const { return json_->value(); }
  const internal::JsonText& json() const { return *json_; }
  bool has(const char* key) const { return value().is_object() && value().contains(key); }
  /// Throws ControlError `invalid_request` if the body is not an object or has another key.
  void require_keys(const std::vector<std::string>& keys) const;
  /// Returns an `invalid_request` error about the value at a JSON pointer.
  ControlError error(const std::string& pointer, const std::string& message) const;

 private:
  std::optional<internal::JsonText> json_;
};

/// Returns a 404 for an object that does not belong to the query's scope.
ControlError not_of(const std::string& what, const char* code, const std::string& name, const std::string& scope);
/// Returns a 404 such as `no_such_key`: "there is no key "x""; suggests the nearest of the `known` names.
ControlError no_such(const std::string& what, const std::string& name, const std::vector<std::string>& known = {});
/// Returns a 400 with the first 20 problems. The message tells whether there are more.
ControlError error_of(const std::string& code, std::vector<ScriptProblem> problems);
/// Returns a 400 about a query parameter: `?name=text: expected …`.
ControlError invalid_query(const std::string& name, const std::string& text, const std::string& expected);
/// Returns severity, file, line, column, pointer, message, source and source_column as JSON.
Json as_json(const ScriptProblem& problem);
/// Returns the first 20 problems. If there are more, adds an entry with their number.
Json as_json(const std::vector<ScriptProblem>& problems);
/// Formats a time as RFC 3339 with milliseconds.
Json as_json(TimePoint moment);

/// Returns a unique name for a scope's state machine or gate. Without a scope, returns the name itself.
std::string scoped_name(const std::string& scope, const std::string& name);

/// The gates of scripts. Within a scope, and outside all scopes, a name means the same gate in every document.
class Gates {
 public:
  /// Returns a lock to hold from known() to add(); otherwise two documents could create the same gate twice. Reading
  /// script files takes the same lock.
  std::unique_lock<std::mutex> naming();
  /// Returns the gates of a scope by name, for reading a document. An empty scope means the gates outside all scopes.
  std::map<std::string, Gate> known(const std::string& scope) const;
  /// Adds the gates that a document named.
  void add(const std::string& scope, const std::map<std::string, Gate>& gates);
  void forget(const std::string& scope);
  /// Resets all gates to their initial state.
  void reset();
  /// Shares the gates outside all scopes with the script files, in both directions. Call it before reading any
  /// document.
  void share(const LoadedScript& files);
  /// Returns the gates of a scope. Without a scope, returns all gates, those of scopes under their scoped names.
  std::map<std::string, Gate> all(const std::string& scope) const;

 private:
  std::mutex naming_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, Gate>> gates_;  // by scope
  std::optional<LoadedScript> files_;                         // set if there are script files
};

/// The long polls of the control API.
class Waits {
 public:
  /// Polls the condition until it holds or the time has passed, and returns whether it held. Checks at once, then every
  /// few milliseconds, without a lock. Throws ControlError `stopping` at the end of the program, and `client_left` if
  /// the client disconnects, which frees the connection.
  bool wait_for(Duration time, const ControlRequest& request, const std::function<bool()>& condition);
  /// Ends all current and future waits.
  void stop();
  bool is_stopped() const { return stopped_; }
  /// Throws ControlError `stopping` at the end of the program. Long operations call it between steps.
  void require_running() const;

  /// Fewer than the connection limit, to leave connections for the requests that end the waits.
  static constexpr std::size_t most = 48;

 private:
  /// One wait.
  class Turn;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::atomic<bool> stopped_{false};  // changed with the mutex locked
  std::atomic<std::size_t> waiting_{0};
};

/// The active scopes of the control API: tests that share the gateway. The key of a scope has the same ID.
class Scopes {
 public:
  void add(std::string id, std::string name);
  /// Returns whether the scope existed.
  bool remove(const std::string& id);
  bool has(const std::string& id) const;
  /// Returns a 404 that suggests the nearest scope.
  ControlError unknown(const std::string& id) const;
  /// Returns the ID of a scope by ID or name. Throws ControlError `no_such_scope`, or for a name of several scopes.
  std::string id_of(const std::string& id_or_name) const;
  /// ID and name of each, oldest first.
  std::vector<std::pair<std::string, std::string>> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> scopes_;
};

/// The state that routes work on. Thread-safe. Lives as long as the control server; the gateway outlives it.
struct Control {
  Control(Serving& its_serving, std::string its_instance, std::string its_token);

  /// The gateway, its scripts and its flags.
  Serving& serving;
  /// A random ID per run. If it changes, the client talks to another program.
  const std::string instance;
  /// The API's token. Only the answer to a console code may contain it.
  const std::string token;
  /// "http://127.0.0.1:8081".
  std::string url;
  const std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
  /// All long polls, so that stop() can end them.
  Waits waits;
  /// Everything mounted through the API.
  ApiLayer layer;
  Scopes scopes;
  Gates gates;
  internal::JournalFeed feed;
  /// Whether the gateway's port is open.
  std::atomic<bool> listening{true};
  /// Stops the program like SIGTERM. Set by the owner of the control server.
  std::function<void()> stop;

  Gateway& gateway() const;
  internal::Inside inside() const;
  /// Returns the ID of `?scope=`, or an empty text. Throws like Scopes::id_of().
  std::string scope_of(const ControlRequest& request) const;
};

/// A route of the API. Routes may share a path. Literal paths take precedence over paths with `{…}` segments.
struct ControlRoute {
  const char* method;
  /// Relative to `/control/v1`: "" is the root, another is "/stubs/{id}/wait".
  const char* path;
  /// The allowed query parameters. A route without "scope" sets `no_scope`.
  std::vector<const char*> query;
  /// Throws ControlError; GatewayError becomes 400 `invalid_request`.
  ControlAnswer (*answer)(Control& control, const ControlRequest& request);
  /// The error message for `?scope=`: why the route has no scopes, and what to use instead.
  const char* no_scope = nullptr;
};

/// The ID of the key that the program prints.
inline constexpr char default_key_id[] = "key_1";

/// The `no_scope` of routes about the whole server.
inline constexpr char of_server[] = "it belongs to the whole server, which all scopes share; omit the scope";

/// Returns the OpenAPI 3.1 document of the control API, which includes the schema of scripts.
Json openapi_document();

/// Selects the requests of a scope; of an empty one, all requests.
RequestScope requests_of(const std::string& scope);
/// Reads a body as a script. Within the scope, if any, `section` says which entry or entries the body is; an empty one
/// means a whole document. Keeps new gates if the script will be mounted. Throws ControlError `invalid_json` and
/// `invalid_script` with positions in the body.
internal::ScriptText read_script(Control& control, const std::string& body, const std::string& scope,
                                 const char* section, bool mounts = true);
/// Returns stubs as JSON, with layer and scope.
Json stubs_json(const Control& control, const std::vector<Stub>& stubs);
/// Returns a script that replays the answer of this exchange: same bytes, same timing, same ending. Its first member
/// warns that it contains a client's prompts and answers; it contains no secrets. Throws ControlError 404 `no_bundle`,
/// with the reason, if no script can replay the answer.
std::string bundle_of(const Control& control, const Exchange& exchange);

/// Returns all routes, literal paths first.
const std::vector<ControlRoute>& control_routes();
/// Matches raw paths, without decoding or normalizing them first. `path` excludes the query. Sets `parameters`. Throws
/// ControlError `no_such_route` or `method_not_allowed`.
const ControlRoute& find_route(const std::string& method, const std::string& path,
                               std::vector<std::string>& parameters);
/// Parses the query. Throws ControlError `invalid_request` for an unknown or repeated name.
std::map<std::string, std::string> query_of(const ControlRoute& route, const std::string& text);

// The route tables, one per file.

std::vector<ControlRoute> root_routes();
std::vector<ControlRoute> script_routes();
std::vector<ControlRoute> stub_routes();
std::vector<ControlRoute> failure_routes();
std::vector<ControlRoute> key_routes();
std::vector<ControlRoute> clock_routes();
std::vector<ControlRoute> asked_routes();
std::vector<ControlRoute> journal_routes();
std::vector<ControlRoute> scope_routes();

}  // namespace endpoint
}  // namespace mock_gateway
