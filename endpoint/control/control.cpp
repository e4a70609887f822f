// Shared code of routes: errors; parsing bodies, scripts, numbers, durations (limit in the header) and IDs; scopes;
// which documents share gates; the polling interval of long polls.

#include "control.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "../serving.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Quotes external text for a message, shortened to 60 characters.
std::string quoted_shortly(const std::string& text) { return "\"" + internal::printable(text, 60) + "\""; }

}  // namespace

ControlError error_of(const std::string& code, std::vector<ScriptProblem> problems) {
  constexpr std::size_t most = internal::most_problems;
  std::string text;
  if (problems.size() > most) {
    problems.erase(problems.begin() + most, problems.end());
    text = "the first " + std::to_string(most) + " problems of more";
  }
  for (const ScriptProblem& problem : problems) text += (text.empty() ? "" : "\n") + problem.to_string();
  return {400, code, text, std::move(problems)};
}

ControlError invalid_query(const std::string& name, const std::string& text, const std::string& expected) {
  return {400, "invalid_request", "?" + name + "=" + internal::printable(text, 60) + ": expected " + expected};
}

ControlError no_such(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  return {404, "no_such_" + what,
          "there is no " + what + " " + quoted_shortly(name) +
              (known.empty() ? "; there is none yet" : internal::suggestion(name, known))};
}

ControlError not_of(const std::string& what, const char* code, const std::string& name, const std::string& scope) {
  return {404, code, what + " " + quoted_shortly(name) + " does not belong to the scope " + quoted_shortly(scope)};
}

Json as_json(const ScriptProblem& problem) {
  return Json{{"severity", to_string(problem.severity)},
              {"file", internal::text::as_utf8(problem.file)},
              {"line", problem.line},
              {"column", problem.column},
              {"pointer", internal::text::as_utf8(problem.pointer)},
              {"message", internal::text::as_utf8(problem.message)},
              {"source", internal::text::as_utf8(problem.source)},
              {"source_column", problem.source_column}};
}

Json as_json(const std::vector<ScriptProblem>& problems) {
  const std::size_t shown = std::min(problems.size(), internal::most_problems);
  Json all = Json::array();
  for (std::size_t index = 0; index < shown; ++index) all.push_back(as_json(problems[index]));
  if (shown == problems.size()) return all;
  ScriptProblem others;
  others.severity = Severity::warning;  // all errors fit in the list; only warnings are cut
  others.message = "warnings not shown here: " + std::to_string(problems.size() - shown);
  all.push_back(as_json(others));
  return all;
}

Json as_json(TimePoint moment) { return internal::rfc3339(moment); }

ControlBody::ControlBody(const std::string& text, const std::string& label) {
  if (text.empty()) throw ControlError(400, "invalid_json", "the request has no body, and this route needs one: JSON");
  internal::Problems problems;
  json_.emplace(text, label, problems);
  if (!problems.empty()) throw error_of("invalid_json", std::move(problems));
}

void ControlBody::require_keys(const std::vector<std::string>& keys) const {
  if (std::optional<ScriptProblem> problem = json_->unknown_key(keys))
    throw error_of("invalid_request", {std::move(*problem)});
}

ControlError ControlBody::error(const std::string& pointer, const std::string& message) const {
  return error_of("invalid_request", {json_->problem(pointer, message)});
}

Json ControlRequest::object(const std::vector<std::string>& keys) const {
  if (body.empty()) return Json::object();
  const ControlBody parsed(body);
  parsed.require_keys(keys);
  return parsed.value();
}

ControlError ControlRequest::invalid(const std::string& pointer, const std::string& message) const {
  if (body.empty()) return {400, "invalid_request", message};
  return ControlBody(body).error(pointer, message);
}

void ControlRequest::require_name(const std::string& pointer, const std::string& name) const {
  const std::string problem = internal::name_length_error(name);
  if (problem.empty()) return;
  throw pointer.empty() ? ControlError(400, "invalid_request", problem) : invalid(pointer, problem);
}

std::optional<std::string> ControlRequest::value(const std::string& name) const {
  const auto found = query.find(name);
  if (found == query.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint64_t> ControlRequest::number(const std::string& name, std::uint64_t least,
                                                    std::uint64_t most) const {
  const std::optional<std::string> text = value(name);
  if (!text) return std::nullopt;
  std::uint64_t parsed = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), parsed);
  if (problem == std::errc{} && end == text->data() + text->size() && parsed >= least && parsed <= most) return parsed;
  throw invalid_query(name, *text,
                      most == std::numeric_limits<std::uint64_t>::max()
                          ? "a whole number of at least " + std::to_string(least)
                          : "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

std::optional<Duration> ControlRequest::duration(const std::string& name, Duration most) const {
  const std::optional<std::string> text = value(name);
  if (!text) return std::nullopt;
  const std::optional<Duration> parsed = internal::duration_from(*text);
  if (parsed && *parsed <= most) return parsed;
  throw invalid_query(name, *text,
                      "a duration with its unit, such as 250ms or 1.5s, of at most " + internal::printed(most));
}

std::uint64_t ControlRequest::id(std::size_t parameter, const char* code, const char* what) const {
  const std::string& text = parameters.at(parameter);
  std::uint64_t parsed = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (problem == std::errc{} && end == text.data() + text.size()) return parsed;
  throw ControlError(404, code,
                     std::string("there is no ") + what + " " + quoted_shortly(text) + ": such ids are numbers");
}

void Scopes::add(std::string id, std::string name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  scopes_.emplace_back(std::move(id), std::move(name));
}

bool Scopes::remove(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(scopes_.begin(), scopes_.end(), [&id](const auto& scope) { return scope.first == id; });
  if (found == scopes_.end()) return false;
  scopes_.erase(found);
  return true;
}

bool Scopes::has(const std::string& id) const {
  const auto scopes = all();
  return std::any_of(scopes.begin(), scopes.end(), [&id](const auto& scope) { return scope.first == id; });
}

ControlError Scopes::unknown(const std::string& id) const {
  std::vector<std::string> known;
  for (const auto& scope : all()) known.push_back(scope.first);
  return no_such("scope", id, known);
}

std::string Scopes::id_of(const std::string& id_or_name) const {
  if (has(id_or_name)) return id_or_name;
  std::string ids;
  for (const auto& [id, name] : all())
    if (name == id_or_name && !name.empty()) ids += (ids.empty() ? "" : ", ") + id;
  if (ids.empty()) throw unknown(id_or_name);
  if (ids.find(',') != std::string::npos)
    throw ControlError(400, "invalid_request",
                       "several scopes have the name " + quoted_shortly(id_or_name) + ": " + ids + "; use an id");
  return ids;
}

std::vector<std::pair<std::string, std::string>> Scopes::all() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return scopes_;
}

Control::Control(Serving& its_serving, std::string its_instance, std::string its_token)
    : serving(its_serving),
      instance(std::move(its_instance)),
      token(std::move(its_token)),
      feed(its_serving.gateway()) {
  if (serving.script()) gates.share(*serving.script());
  inside().keep_answers();
}

Gateway& Control::gateway() const { return serving.gateway(); }

internal::Inside Control::inside() const { return internal::Inside(serving.gateway()); }

std::string Control::scope_of(const ControlRequest& request) const {
  const std::optional<std::string> scope = request.value("scope");
  return scope ? scopes.id_of(*scope) : std::string();
}

RequestScope requests_of(const std::string& scope) { return scope.empty() ? RequestScope() : RequestScope(scope); }

internal::ScriptText read_script(Control& control, const std::string& body, const std::string& scope,
                                 const char* section, bool mounts) {
  const bool is_whole = *section == '\0';
  // The label has no slash, since a file name would start there.
  const ControlBody parsed(body, is_whole ? "PUT script" : std::string("POST ") + section);
  if (!is_whole && parsed.has(section)) parsed.require_keys({"mock_gateway", section});
  const auto naming = control.gates.naming();
  internal::Gates gates = control.gates.known(scope);
  internal::ScriptText script = parsed.json().script(
      control.gateway(), {section, scope, scoped_name(scope, ""), control.layer.document_owner()}, gates);
  if (!script.document) throw ControlError(400, "invalid_script", std::move(script.message), std::move(script.errors));
  if (mounts) control.gates.add(scope, gates);
  return script;
}

std::string scoped_name(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + ":" + name;
}

std::unique_lock<std::mutex> Gates::naming() {
  return files_ ? internal::lock_gate_names(*files_) : std::unique_lock<std::mutex>(naming_);
}

std::map<std::string, Gate> Gates::known(const std::string& scope) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = gates_.find(scope);
  std::map<std::string, Gate> known = found == gates_.end() ? std::map<std::string, Gate>() : found->second;
  if (!scope.empty() || !files_) return known;
  known.merge(internal::gates_of(*files_));
  return known;
}

void Gates::add(const std::string& scope, const std::map<std::string, Gate>& gates) {
  const std::lock_guard<std::mutex> lock(mutex_);
  gates_[scope].insert(gates.begin(), gates.end());
  if (!scope.empty() || !files_) return;
  // A script file that is reloaded uses the same gates.
  internal::add_gates(*files_, gates);
}

void Gates::forget(const std::string& scope) {
  const std::lock_guard<std::mutex> lock(mutex_);
  gates_.erase(scope);
}

void Gates::reset() {
  for (const auto& [name, gate] : all({})) internal::reset(gate);
}

void Gates::share(const LoadedScript& files) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_ = files;
}

std::map<std::string, Gate> Gates::all(const std::string& scope) const {
  std::map<std::string, Gate> all = known(scope);
  if (!scope.empty()) return all;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [its_scope, gates] : gates_) {
    if (its_scope.empty()) continue;
    for (const auto& [name, gate] : gates) all.emplace(scoped_name(its_scope, name), gate);
  }
  return all;
}

class Waits::Turn {
 public:
  explicit Turn(std::atomic<std::size_t>& waiting) : waiting_(waiting) {
    if (++waiting_ <= most) return;
    --waiting_;
    ControlError error(503, "too_many_waits",
                       std::to_string(most) +
                           " requests are waiting already, which is the limit; ask again in a second, or without "
                           "waiting");
    error.retry_after = "1";
    throw error;
  }
  ~Turn() { --waiting_; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<std::size_t>& waiting_;
};

bool Waits::wait_for(Duration time, const ControlRequest& request, const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  // Poll fast at first: most conditions hold soon.
  constexpr std::chrono::milliseconds longest_pause{20};
  std::chrono::milliseconds pause{1};
  std::optional<Turn> turn;
  for (;;) {
    if (condition()) return true;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return false;
    if (request.is_abandoned && request.is_abandoned())
      throw ControlError(503, "client_left", "the client has left");  // not read by a client
    if (!turn) turn.emplace(waiting_);
    std::unique_lock<std::mutex> lock(mutex_);
    if (ended_.wait_until(lock, std::min(deadline, now + pause), [this] { return stopped_.load(); })) require_running();
    pause = std::min(2 * pause, longest_pause);
  }
}

void Waits::require_running() const {
  if (stopped_) throw ControlError(503, "stopping", "the program is about to end");
}

void Waits::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  ended_.notify_all();
}

}  // namespace endpoint
}  // namespace mock_gateway
