// The interface between the program mock-gateway and the library's internals.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

#include "../mock_gateway.hpp"

// endpoint/ includes no other internal header. The files beside this one implement it, outside the assembled header.
// Any thread may call these functions, unless a class says otherwise.

namespace mock_gateway::detail {
struct ReplyStep;
struct ScriptSource;

namespace text {  // as in src/core/text.hpp
std::size_t decode_utf8(std::string_view text, std::size_t offset, char32_t& code_point);
bool is_valid_utf8(std::string_view text);
std::string as_utf8(std::string_view text);
std::string excerpt(std::string_view text, std::size_t max_bytes);
std::string printable_lines(std::string_view text);
std::string counted(std::size_t count, std::string_view noun);
std::string decimal(std::int64_t count, std::int64_t unit);
std::optional<std::int64_t> whole_number(std::string_view digits);
bool is_token(std::string_view text);
std::string lower_ascii(std::string_view text);
std::string_view trim(std::string_view text);
std::optional<std::string> percent_decode(std::string_view text);
std::string base64(std::string_view bytes);
std::string scripted(std::chrono::nanoseconds duration);
}  // namespace text
}  // namespace mock_gateway::detail

namespace mock_gateway::internal {

namespace text = detail::text;
/// Returns the text on one line, with terminal control characters escaped, cut after `max_bytes` with "…".
std::string printable(std::string_view text, std::size_t max_bytes = std::string_view::npos);
/// Formats a duration: "20ms", "1.5s".
std::string printed(Duration duration);
/// Returns `; did you mean "text"?` if a known word is near, otherwise the known words.
std::string suggestion(const std::string& given, const std::vector<std::string>& known);
/// Formats a time as in RFC 3339, with milliseconds.
std::string rfc3339(TimePoint moment);
bool looks_like_key(std::string_view text);
bool is_sensitive_header(std::string_view name);
/// Returns the journal's mask for a secret that is not a key of the gateway.
std::string_view masked_secret();
/// Throws GatewayError with line and column for invalid JSON, or JSON that nests deeper.
Json read_json(std::string_view text, std::size_t max_depth);
/// The size of the largest script file in bytes.
std::size_t largest_script();
/// Returns the format of another tool's document: "an aimock fixture file"; empty if it is unknown.
std::string foreign_format(const Json& document);

/// Call this before a thread of the gateway waits: another thread then serves its connections.
void hand_off_event_loop() noexcept;

/// Starts a thread with a stack large enough for the deepest JSON that the library reads. Returns the function that
/// joins it. Throws std::system_error if the system has no thread left.
[[nodiscard]] std::function<void()> start_thread(std::function<void()> job);

// Options, failures, scenarios.

std::string message_of(const std::vector<Problem>& problems, const std::vector<std::string>& notes);
std::vector<std::string> acceptance_names();
std::vector<std::string> enforced_names();  // of services with rules
Acceptance acceptance_named(const std::string& name);
/// Adds the program's defaults to options that are not set: any model, OpenAI's fields, embeddings.
Options with_program_defaults(Options options);
/// Declares that on_exchange never waits, and that `secret` is masked like a key.
Options with_program_hooks(Options options, const std::string& secret);
/// Returns the named failure with this status. For other statuses, returns one with the code `forced_failure`.
Failure failure_with_status(int status);
/// The texts and properties of a Scenario that is not in a catalogue.
struct ScenarioText {
  std::string name;
  std::string group;
  std::string description;
  std::string reference;
  std::string good_client;
  Scenario::Expected expected = Scenario::Expected::answer;
  std::string text;
  bool needs_stream = false;
  int calls = 1;
};
Scenario make_scenario(const ScenarioText& text);

// Scripts.

/// Returns the files of the paths. A folder is replaced by the scripts in it.
std::vector<std::string> script_files(const std::vector<std::string>& paths);
/// See LoadedDocument::forget.
void forget_sections(const LoadedScript& script, const std::vector<std::string>& sections);
/// See LoadedDocument::naming.
std::unique_lock<std::mutex> lock_gate_names(const LoadedScript& script);
std::map<std::string, Gate> gates_of(const LoadedScript& script);
void add_gates(const LoadedScript& script, const std::map<std::string, Gate>& gates);
std::uint64_t owner_of(const LoadedScript& script);
bool has_chaos(const LoadedScript& script);
std::vector<Operation> operations_of(const LoadedScript& script);
inline constexpr std::size_t most_problems = 20;
std::optional<Duration> duration_from(const std::string& text);
/// Returns the error message for a name that is too long; empty for other names.
std::string name_length_error(const std::string& name);

using Problems = std::vector<ScriptProblem>;
using Gates = std::map<std::string, Gate>;

struct ScriptTextOptions {
  /// The section to which the body belongs, as one entry or as a list of entries: "stubs". Empty for a whole document.
  const char* section = "";
  /// The key id of the scope, and the prefix of the scope's state machines.
  std::string scope = {};
  std::string machine_prefix = {};
  /// The owner of the document to be replaced; 0 if there is none.
  std::uint64_t replaces = 0;
};
struct ScriptText {
  std::optional<ScriptDocument> document;  // unless there are errors
  std::size_t entries = 0;
  Problems errors = {};
  std::string message = {};
};
/// A request body as JSON, with the line and column of each value. Functions add what is wrong to `problems`.
class JsonText {
 public:
  /// `label` is the file name while the text is read: "POST stubs". It must not contain a slash.
  JsonText(const std::string& text, const std::string& label, Problems& problems);
  const Json& value() const { return value_; }
  /// Returns a problem with the value at that JSON pointer, or with its key.
  ScriptProblem problem(const std::string& pointer, const std::string& message, bool of_key = false) const;
  /// Returns the problem with the first unknown key; empty if the object only has these keys.
  std::optional<ScriptProblem> unknown_key(const std::vector<std::string>& keys) const;
  std::vector<Matcher> matchers(Problems& problems) const;
  /// Creates the key in the body, or the keys in its "keys". Creates none if there are problems.
  std::vector<CreatedKey> create_keys(const Gateway& gateway, Problems& problems) const;
  /// Changes the settings that the body has: "name", "models", "operations", and limits. None if there are problems.
  /// With an empty id, changes the limits that all keys share.
  void change_key(const Gateway& gateway, const std::string& id, Problems& problems) const;
  /// Adds the reply's gates that are missing in `gates`.
  std::shared_ptr<const detail::ReplyStep> reply(Gates& gates, Problems& problems) const;
  /// Adds the script's gates that are missing in `gates`.
  ScriptText script(const Gateway& gateway, const ScriptTextOptions& options, Gates& gates) const;

 private:
  std::shared_ptr<detail::ScriptSource> source_;
  Json value_;
};

// Stubs and exchanges.

std::uint64_t id_of(const Stub& stub);
bool is_removed(const Stub& stub);
/// Returns the stub's JSON in its script, with keys masked; null if it is not from a script.
Json script_of(const Gateway& gateway, const Stub& stub);
/// A snapshot of the mounted stubs. Not thread-safe.
class StubViewer {
 public:
  explicit StubViewer(const Gateway& gateway);
  ~StubViewer();
  /// Returns the stubs in order of evaluation.
  std::vector<Stub> stubs() const;
  /// Returns "id", "name", "title", "file", "line", "calls", "expected", "met", "hidden_by" and "conditions", with keys
  /// masked.
  Json json(const Stub& stub);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether the gateway refused the request because of what its client sent.
bool is_refusal(const Exchange& exchange);
bool is_chat(const Exchange& exchange);
/// Returns a number that differs between unnamed stubs whose conditions are shortened: " #12345". Otherwise empty.
std::string stub_number(const Exchange& exchange);
bool meets(const Exchange& exchange, const std::vector<Matcher>& conditions);
/// Returns why the documented rules refused the request; empty if they did not.
std::string refusal_of(const Exchange& exchange);
/// Returns the code in the answer's error body, or an empty string if there is no code.
std::string error_code_of(const Exchange& exchange);
/// Returns the number of bytes that the exchange takes in the journal, without its answer.
std::size_t weight_of(const Exchange& exchange);
/// Returns objects with "number", "kind", "at_ms" and "bytes".
Json events_of(const Exchange& exchange, std::size_t most);

/// The changes in a journal, in order: an exchange is recorded, or ends. Each has a revision. Looking takes time only
/// for new and open exchanges.
class JournalFeed {
 public:
  struct Change {
    std::uint64_t revision;
    Exchange exchange;
  };
  explicit JournalFeed(const Gateway& gateway);
  ~JournalFeed();
  /// Returns the revision of the newest change.
  std::uint64_t update();
  /// Returns the first change after that revision, as of the last update().
  std::optional<Change> after(std::uint64_t revision);
  /// Returns the newest exchange with a lower id, as of the last update().
  std::optional<Change> before(std::uint64_t id);
  /// Returns the revision of an exchange; 0 if it is unknown.
  std::uint64_t revision_of(std::uint64_t id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The gateway.

enum class Answered { yes, too_late, unknown };
struct QueuedFailure {
  Failure failure;
  std::optional<std::size_t> left;  // empty: until cleared
  FailureScope scope;
};

/// Access to the internals of a gateway. Must not outlive the gateway.
class Inside {
 public:
  explicit Inside(const Gateway& gateway);

  std::size_t open_requests() const;
  std::size_t stub_count() const;
  void keep_answers() const;
  /// Masks every secret that the gateway knows. Returns whether there was one.
  bool mask(std::string& text) const;
  std::string first_model() const;
  std::uint64_t seed() const;
  std::optional<Duration> stall_guard() const;
  /// Returns the non-default settings that affect the answer of this exchange, as "gateway" of a script.
  Json settings_for(const Exchange& exchange) const;
  /// Returns "chat_completions", "list_models", or method and path, for a path as sent.
  std::string operation_name(const std::string& method, const std::string& path) const;
  /// Returns the keys that are not deleted, and those that KeyOptions::deleted_after has deleted.
  std::vector<ApiKey> keys() const;
  /// Returns the limits that all keys share, as a key without an id.
  ApiKey limits() const;
  std::vector<QueuedFailure> failures() const;
  /// Returns "text" and "left" of each fault.
  Json connection_faults() const;
  /// Returns "text" of each rule with a wanted owner.
  Json chaos(const std::function<bool(std::uint64_t owner)>& is_wanted) const;
  std::vector<Operation> operations() const;
  /// Returns the mounted operations that need no key: "GET /health".
  std::set<std::string> open_operations() const;
  /// Returns the headers that may carry a key, besides Authorization.
  std::vector<std::string> key_headers() const;
  bool requires_key() const;
  void unmount(const std::vector<std::pair<Operation, std::uint64_t>>& of_owners) const;
  void clear_chaos_of(std::uint64_t owner) const;
  void remove(const std::vector<Stub>& stubs) const;
  /// Resets parts: "stubs", "states", "failures", "chaos", "connections", "journal".
  void reset(const std::vector<std::string>& parts) const;
  /// Returns the states of machines that stubs use or that have been set.
  std::map<std::string, std::string> states() const;
  /// Sets the state of a machine. `key` is the id of the only key whose stubs use the machine; empty if any may.
  void set_state(const std::string& machine, const std::string& state, const std::string& key) const;
  /// Drops the states of machines with this prefix that only stubs of this key use. The next two functions drop removed
  /// stubs and exchanges of a scope.
  void forget_states(const std::string& machines, const std::string& key) const;
  void forget_removed(const RequestScope& scope) const;
  void forget_exchanges(const RequestScope& scope) const;
  /// Returns what would answer this chat request now, without forced failures, chaos, limits and the key's state.
  /// Changes nothing and runs no function of the test.
  Json explain(const std::string& body, const ApiKey& key) const;
  /// Returns the requests that wait for the test's reply: "exchange", "stub", "request", "since" of each.
  Json asked(const RequestScope& scope) const;
  /// Returns the key id of a waiting request; empty if it does not wait.
  std::string asking_key(std::uint64_t exchange) const;
  Answered answer(std::uint64_t exchange, const std::shared_ptr<const detail::ReplyStep>& reply) const;
  void answer_all(const RequestScope& scope, const Reply& reply) const;

  TimePoint now() const;
  /// Returns "real", "manual" or "instant".
  const char* clock_kind() const;
  /// Returns the waits of a manual clock. Empty for other clocks.
  std::vector<ManualClock::PendingWait> pending_waits() const;
  /// Advances a manual clock, and returns the waits that ended. Stops early if `is_given_up` returns true.
  std::vector<ManualClock::PendingWait> advance(Duration step, const std::function<bool()>& is_given_up) const;

 private:
  Json reference(const detail::StubState& stub) const;

  detail::GatewayState& state_;
};

/// Returns "reached", "passed", "waiting" and "open".
Json counts(const Gate& gate);
void reset(const Gate& gate);

}  // namespace mock_gateway::internal
