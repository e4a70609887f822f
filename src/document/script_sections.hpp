#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../evidence/record.hpp"
#include "../gateway/catalogue_entries.hpp"
#include "../gateway/options.hpp"
#include "../keys/key_store.hpp"
#include "../model/connection_fault.hpp"
#include "../model/failure.hpp"
#include "../model/http_reply.hpp"
#include "../model/operation.hpp"
#include "../model/reply.hpp"
#include "../script/chaos.hpp"
#include "../script/failure_scope.hpp"
#include "../script/matcher.hpp"
#include "../script/script.hpp"
#include "script_reader.hpp"

namespace mock_gateway::detail {

struct GatewayState;

/// A name that none of the documents read together declares: only a gateway knows whether it exists.
struct OpenReference {
  ScriptReference::Kind kind;
  std::string name;
  /// The first place with the name, without a message.
  ScriptProblem place;
  std::size_t others = 0;
};

struct ScriptedFailure {
  Failure failure;
  /// Empty: until cleared.
  std::optional<std::size_t> times;
  FailureScope scope;
  /// The name of a key, whose id is known when mounted; empty: `scope` applies.
  std::string key;
};

struct ScriptedConnectionFault {
  ConnectionFault fault;
  /// Empty: every connection.
  std::optional<std::size_t> times;
  SourceLocation where;
};

struct ScriptedOperation {
  std::string method;
  std::string path;
  NeedsKey needs_key = NeedsKey::yes;
  /// The replies in order: each answers one request, and the last one repeats. Never empty.
  std::vector<HttpReply> replies = {};
};

struct ScriptPart {
  const ScriptSource* source;
  std::size_t first_stub;  // index of its first stub in the plan
  std::vector<ScriptReference> references;
  std::vector<MachineState> states;  // from its section "states"
};

struct ScriptPlan {
  std::vector<std::string> files;
  std::vector<ScriptProblem> warnings;
  std::vector<Json> gateways;
  std::vector<ScriptedKey> keys;
  std::vector<StubPlan> stubs;
  std::vector<ScriptedOperation> operations;
  std::vector<ScriptedFailure> failures;
  std::vector<Chaos> chaos;
  std::vector<ScriptedConnectionFault> connections;
  std::vector<MachineState> states;
  /// The scenario of the last document that has one. Its name is empty if no document has one.
  ScenarioDescription scenario;
  std::map<std::string, Gate> gates;
  /// The sections' JSON by name, to mount only changed ones again. Excludes "stubs" and "gateway".
  std::map<std::string, std::string> sections;
  /// Only used while reading. `taken` has pairs that must be unique: ("name" or "secret", its value), (method, path).
  std::vector<ScriptPart> parts;
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<OpenReference> open_references;
  /// Whether one of the documents is a bundle. A bundle repeats refusals of the client for any request.
  bool has_bundle = false;
};

/// The state of a mounted script; the code is in `script_document.cpp`.
struct LoadedDocument {
  /// Held while a document that shares these gates is read, so that two documents never make two gates with one name.
  /// Locked before `mutex`.
  std::mutex naming = {};
  std::mutex mutex = {};  // for everything that a replacement changes
  std::uint64_t owner = 0;
  std::shared_ptr<Script> script;
  std::shared_ptr<JournalState> journal;
  std::uint64_t place = 0;  // the position of its block of stubs
  Script::Stubs stubs = {};
  std::map<std::string, Gate> gates = {};
  std::map<std::string, std::string> sections = {};
  std::vector<Operation> operations = {};
  std::vector<std::uint64_t> connection_faults = {};  // serial numbers; 0: for every connection
  std::weak_ptr<const ScriptPlan> plan = {};          // the mounted plan, while its document exists

  /// The next replacement mounts these sections ("/failures") even if unchanged, because their effects were cleared.
  /// With "/stubs", its stubs come before all stubs mounted by then.
  void forget(const std::vector<std::string>& cleared);
};

namespace script_types {

ScriptType when();
ScriptType reply();
ScriptType written_reply();
ScriptType replies();
ScriptType failure();
ScriptType fault();
ScriptType faults();
/// Returns the keys allowed with "failure", wherever it occurs.
const ScriptTable& failure_setters();
/// Adds a row for each trigger, in the group "$trigger"; `lead` is a prefix of its description.
void add_trigger_rows(std::vector<ScriptRow>& rows, const char* lead);
ScriptType effect();
ScriptType connection_fault();
ScriptType stub();
ScriptType http_reply();
ScriptType tool_call_type();
ScriptType tool_calls_type();
ScriptType gateway();
ScriptType keys();
void add_key(ScriptReader& reader, const ScriptNode& node, void* target);
ScriptType scenario_section();
void read_scenario_section(ScriptReader& reader, const ScriptNode& node, void* target);
ScriptType document();

}  // namespace script_types

std::vector<Matcher> read_matchers(ScriptReader& reader, const ScriptNode& node);
ReplyStep read_reply(ScriptReader& reader, const ScriptNode& node);
/// Returns the calls in the form that a client gets.
std::vector<wire::ToolCall> read_tool_calls(ScriptReader& reader, const ScriptNode& node);
Failure read_failure(ScriptReader& reader, const ScriptNode& node);
bool is_failure_key(const std::string& key);
/// Throws ScriptMistake if an object that has no failure has a setter of failures. `content_type` tells whether that
/// key has another meaning in the object.
void require_no_failure_key(const ScriptNode& node, bool content_type);
ConnectionFault read_connection_fault(ScriptReader& reader, const ScriptNode& node);
Effect read_effect(ScriptReader& reader, const ScriptNode& node);
Trigger read_trigger(ScriptReader& reader, const ScriptNode& node);
/// Throws ScriptMistake for an invalid fault, with its problems noted.
std::pair<Trigger, Effect> read_fault(ScriptReader& reader, const ScriptNode& node);
HttpReply read_http_reply(ScriptReader& reader, const ScriptNode& node);
void read_gateway(ScriptReader& reader, const ScriptNode& node, Options& options);
/// Reads a document into the plan. The reader's source must live until script_references::resolve().
void read_document(ScriptReader& reader, const ScriptNode& node, void* plan);

namespace script_files {

/// The size of the largest file in bytes.
inline constexpr std::size_t largest_file = std::size_t{64} << 20;
/// The maximum number of JSON values in a file.
inline constexpr std::size_t most_values = 4'000'000;

/// Returns the files of the paths: for a folder, its `*.json` and `*.jsonc` files and those of its subfolders, in byte
/// order. Notes paths that do not exist.
std::vector<std::string> expand(const std::vector<std::string>& paths, std::vector<ScriptProblem>& problems);
/// Returns false and notes the problem if the file cannot be read.
bool read(const std::string& file, std::string& text, std::vector<ScriptProblem>& problems);
/// Finds the positions of values too. Notes invalid JSON and duplicate keys. Returns false if there is no value.
bool parse(ScriptSource& source, Json& document, std::vector<ScriptProblem>& problems,
           std::size_t max_values = most_values);
/// Returns the probable format of a document without "mock_gateway": "an aimock fixture file"; empty if it is unknown.
std::string foreign_format(const Json& document);

}  // namespace script_files

// Checks of references: hidden stubs, unreachable states, unknown models, keys and operations.

namespace script_references {

/// Checks complete documents without mistakes: warns of stubs that never answer, and keeps the names that no document
/// declares. Uses the sources of the plan's parts and then drops them. `is_all` is false for stubs mounted one by one
/// by calls: then states are only checked for misspelling.
void resolve(ScriptPlan& plan, std::vector<ScriptProblem>& problems, bool is_all = true);
std::vector<ScriptProblem> unknown_names(const ScriptPlan& plan, const GatewayState& gateway);
/// Returns problems for keys that the gateway would not have with the document mounted as `owner`.
std::vector<ScriptProblem> missing_keys(const ScriptPlan& plan, const KeyStore& keys, std::uint64_t owner);

}  // namespace script_references

namespace script_documents {

/// Like read_document(), but notes all mistakes; for a document in another format, only the probable format.
void read_whole(ScriptReader& reader, const Json& document, ScriptPlan& plan);
/// Returns the text of the problems, and removes those beyond the limit.
std::string text_of(std::vector<ScriptProblem>& problems, const std::string& heading);
/// Throws ScriptError for errors; stores warnings in the plan. The sources must still exist.
std::shared_ptr<const ScriptPlan> finish(std::shared_ptr<ScriptPlan> plan, std::vector<ScriptProblem> problems);

}  // namespace script_documents

}  // namespace mock_gateway::detail
