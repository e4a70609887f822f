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
  /// Nothing: until cleared.
  std::optional<std::size_t> times;
  FailureScope scope;
  /// The name of a key, whose id is known once it is mounted; empty: the scope above.
  std::string key;
};

struct ScriptedConnectionFault {
  ConnectionFault fault;
  /// Nothing: every connection.
  std::optional<std::size_t> times;
  SourceLocation where;
};

struct ScriptedOperation {
  std::string method;
  std::string path;
  /// Each answers one request, the last one all that follow; never empty.
  std::vector<HttpReply> replies;
};

/// One of several documents that are read together.
struct ScriptPart {
  const ScriptSource* source;
  std::size_t first_stub;  // of the plan's
  std::vector<ScriptReference> references;
  std::vector<MachineState> states;  // its section of that name
};

/// All that documents say.
struct ScriptPlan {
  std::vector<std::string> files;
  std::vector<ScriptProblem> warnings;
  /// What "gateway" holds, one for each document that has it.
  std::vector<Json> gateways;
  std::vector<ScriptedKey> keys;
  std::vector<StubPlan> stubs;
  std::vector<ScriptedOperation> operations;
  std::vector<ScriptedFailure> failures;
  std::vector<Chaos> chaos;
  std::vector<ScriptedConnectionFault> connections;
  std::vector<MachineState> states;
  /// What the last document with a "scenario" says there. Without a name there is none.
  ScenarioDescription scenario;
  std::map<std::string, Gate> gates;
  /// The JSON of each section but "stubs" and "gateway", by its name: what is the same need not be mounted again.
  std::map<std::string, std::string> sections;
  /// While documents are read: those read so far, and what may be there only once: {"name", a key's}, {"secret", a
  /// key's}, {method, path}.
  std::vector<ScriptPart> parts;
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<OpenReference> open_references;
  /// Whether one of them is a bundle, which forces what a client was refused on whatever it asked for.
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
/// The keys that stand beside "failure", wherever it is.
const ScriptTable& failure_setters();
/// Adds the row of each trigger's key, of the group "$trigger"; `lead` stands in front of its text.
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

/// The matchers of a "when" or "should".
std::vector<Matcher> read_matchers(ScriptReader& reader, const ScriptNode& node);
ReplyStep read_reply(ScriptReader& reader, const ScriptNode& node);
/// The calls of a list, as a client sees them.
std::vector<wire::ToolCall> read_tool_calls(ScriptReader& reader, const ScriptNode& node);
/// The failure of an object that has "failure" and setters of it beside other keys.
Failure read_failure(ScriptReader& reader, const ScriptNode& node);
/// The keys that read_failure looks at.
bool is_failure_key(const std::string& key);
/// Throws ScriptMistake for a setter of a failure in an object without one. `content_type`: whether that is no such
/// setter there.
void require_no_failure_key(const ScriptNode& node, bool content_type);
ConnectionFault read_connection_fault(ScriptReader& reader, const ScriptNode& node);
Effect read_effect(ScriptReader& reader, const ScriptNode& node);
/// Reads the trigger of an object that has one among other keys.
Trigger read_trigger(ScriptReader& reader, const ScriptNode& node);
/// Throws ScriptMistake for what is none, with its problems noted.
std::pair<Trigger, Effect> read_fault(ScriptReader& reader, const ScriptNode& node);
HttpReply read_http_reply(ScriptReader& reader, const ScriptNode& node);
/// Applies a "gateway" to options.
void read_gateway(ScriptReader& reader, const ScriptNode& node, Options& options);
/// A whole document: adds what it says to the plan. The reader's source must stay until script_references::resolve.
void read_document(ScriptReader& reader, const ScriptNode& node, ScriptPlan& plan);

namespace script_documents {

/// The same, with every mistake noted; of another format only which one it seems to be.
void read_whole(ScriptReader& reader, const Json& document, ScriptPlan& plan);
/// The heading, how many problems there are when there are several, and the problems. Takes away what is beyond the
/// most that are told.
std::string text_of(std::vector<ScriptProblem>& problems, const std::string& heading);
/// Looks at what needs the whole of the plan. Throws ScriptError for errors; warnings become the plan's. The sources
/// must still be there.
std::shared_ptr<const ScriptPlan> finish(std::shared_ptr<ScriptPlan> plan, std::vector<ScriptProblem> problems);

}  // namespace script_documents

}  // namespace mock_gateway::detail
