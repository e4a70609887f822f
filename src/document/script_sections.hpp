#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
#include "script_references.hpp"

namespace mock_gateway::detail {

struct ScriptedFailure {
  Failure failure;
  /// Empty: until cleared.
  std::optional<std::size_t> times;
  FailureScope scope;
  /// The name of a key, whose id is known once the key is mounted. Empty: use `scope`.
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
  /// Each answers one request, the last one all later requests. Never empty.
  std::vector<HttpReply> replies;
};

/// One of the documents that are read together.
struct ScriptPart {
  const ScriptSource* source;
  std::size_t first_stub;  // index in the plan
  std::vector<ScriptReference> references;
  std::vector<MachineState> states;  // the section "states"
};

/// The contents of all documents.
struct ScriptPlan {
  std::vector<std::string> files;
  std::vector<ScriptProblem> warnings;
  /// The "gateway" sections of the documents that have one.
  std::vector<Json> gateways;
  std::vector<ScriptedKey> keys;
  std::vector<StubPlan> stubs;
  std::vector<ScriptedOperation> operations;
  std::vector<ScriptedFailure> failures;
  std::vector<Chaos> chaos;
  std::vector<ScriptedConnectionFault> connections;
  std::vector<MachineState> states;
  /// The last "scenario" section of the documents. Without one, its name is empty.
  ScenarioDescription scenario;
  std::map<std::string, Gate> gates;
  /// The JSON of each section, except "stubs" and "gateway", by name. Unchanged sections are not mounted again.
  std::map<std::string, std::string> sections;
  /// Used while reading: the documents read so far, and values that must be unique: {"name", name of a key}, {"secret",
  /// secret of a key}, {method, path}.
  std::vector<ScriptPart> parts;
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<OpenReference> open_references;
  /// Whether a document is a bundle. A bundle forces the failure that its client received, for any operation.
  bool has_bundle = false;
};

namespace script_types {

ScriptType when();
ScriptType reply();
ScriptType written_reply();
ScriptType replies();
ScriptType failure();
ScriptType fault();
ScriptType faults();
/// The keys allowed beside "failure".
const ScriptTable& failure_setters();
/// Adds a row, of the group "$trigger", for each trigger; `lead` is a prefix of its text.
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

/// Reads the matchers of a "when" or "should".
std::vector<Matcher> read_matchers(ScriptReader& reader, const ScriptNode& node);
ReplyStep read_reply(ScriptReader& reader, const ScriptNode& node);
/// Reads a list of tool calls, as a client sees them.
std::vector<wire::ToolCall> read_tool_calls(ScriptReader& reader, const ScriptNode& node);
/// Reads the failure of an object with "failure" and its setters; ignores other keys.
Failure read_failure(ScriptReader& reader, const ScriptNode& node);
/// Returns the named failure with this status. For other statuses, returns one with the code `forced_failure`.
Failure failure_with_status(int status);
/// Whether read_failure reads the key.
bool is_failure_key(const std::string& key);
/// Throws ScriptMistake for a setter of a failure in an object without "failure". `content_type`: whether
/// "content_type" counts as such a setter.
void require_no_failure_key(const ScriptNode& node, bool content_type);
ConnectionFault read_connection_fault(ScriptReader& reader, const ScriptNode& node);
Effect read_effect(ScriptReader& reader, const ScriptNode& node);
/// Reads the trigger of an object; ignores other keys.
Trigger read_trigger(ScriptReader& reader, const ScriptNode& node);
/// Reads a fault. Throws ScriptMistake, after noting the problems, if it is invalid.
std::pair<Trigger, Effect> read_fault(ScriptReader& reader, const ScriptNode& node);
HttpReply read_http_reply(ScriptReader& reader, const ScriptNode& node);
/// Applies a "gateway" section to options.
void read_gateway(ScriptReader& reader, const ScriptNode& node, Options& options);
/// Adds a document to the plan. The reader's source must exist until script_references::resolve.
void read_document(ScriptReader& reader, const ScriptNode& node, ScriptPlan& plan);

namespace script_documents {

/// Does the same, and notes every mistake. If the document has a known foreign format, notes only that.
void read_whole(ScriptReader& reader, const Json& document, ScriptPlan& plan);
/// Returns the heading, the number of problems if there are several, and the problems. Removes problems beyond the
/// maximum.
std::string text_of(std::vector<ScriptProblem>& problems, const std::string& heading);
/// Runs the checks that need the whole plan. Throws ScriptError for errors, and adds warnings to the plan. The sources
/// must still exist.
std::shared_ptr<const ScriptPlan> finish(std::shared_ptr<ScriptPlan> plan, std::vector<ScriptProblem> problems);

}  // namespace script_documents

}  // namespace mock_gateway::detail
