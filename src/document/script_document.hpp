#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/json.hpp"
#include "../core/shared.hpp"
#include "../gateway/chat_script.hpp"
#include "../gateway/gateway.hpp"
#include "../gateway/options.hpp"
#include "../model/finding.hpp"

namespace mock_gateway {

class Gate;

/// A problem in a script document, with its position.
struct ScriptProblem {
  /// An error prevents the document from being served. A warning marks a probable mistake.
  Severity severity = Severity::error;
  /// The file as named by the caller; empty for a document passed as Json.
  std::string file;
  /// Line and column, from 1; both are 0 for a document passed as Json.
  std::size_t line = 0;
  std::size_t column = 0;
  /// The JSON pointer (RFC 6901) of the value.
  std::string pointer;
  /// What is wrong, and how to correct it.
  std::string message;
  /// The line of the file, without its end; of long lines, 500 bytes on each side of the position. Keys and the values
  /// of "secret" and "api_key" are replaced by asterisks.
  std::string source;
  /// The column at which `source` begins; more than 1 if a long line is cut.
  std::size_t source_column = 1;

  /// Returns "demo.json:3:5: /stubs/0/repply: unknown key …", the line of the file, and a caret below the position.
  std::string to_string() const;
};

/// The error for script documents that cannot be served. what() lists the problems.
class ScriptError : public GatewayError {
 public:
  /// Keeps the first 20 problems; what() tells whether there are more.
  explicit ScriptError(std::vector<ScriptProblem> problems);
  // Defined in the .cpp, to keep them out of including files.
  ScriptError(const ScriptError& other);
  ScriptError& operator=(const ScriptError& other);
  ~ScriptError() override;

  /// Returns the first 20 problems.
  const std::vector<ScriptProblem>& problems() const { return *problems_; }

 private:
  std::shared_ptr<const std::vector<ScriptProblem>> problems_;
};

namespace detail {

struct Access;
struct LoadedDocument;
struct ScriptPlan;

}  // namespace detail

/// The part of a gateway that a script document has mounted. A thread-safe handle that may outlive both.
class LoadedScript {
 public:
  /// Returns the stubs in the order of the document.
  std::vector<Stub> stubs() const;
  /// Returns the first stub with this name. Throws GatewayError with the known names if there is none.
  Stub stub(const std::string& name) const;
  /// Returns the gate named in `hold` or `stall_at_gate`. Throws GatewayError with the known names if there is none.
  Gate gate(const std::string& name) const;

 private:
  friend struct detail::Access;
  friend class ScriptDocument;
  explicit LoadedScript(std::shared_ptr<detail::LoadedDocument> state) : state_(std::move(state)) {}

  detail::HandlePointer<detail::LoadedDocument> state_;
};

/// Script documents, read and checked: everything that the C++ API can express as a value, written as JSON.
/// docs/scripts.md lists their contents. A value: cheap to copy.
///
///     const ScriptDocument script = ScriptDocument::read({"agent.jsonc"});
///     Gateway gateway(script.options());
///     script.mount(gateway);
///
/// For a document without settings for the start of the gateway, Gateway::load does the last step.
class ScriptDocument {
 public:
  /// Reads files, and all `*.json` and `*.jsonc` files in folders and their subfolders, in byte order. Several files
  /// form one document, with stubs in the order given. Comments (`//`, `/* */`) are allowed. Throws ScriptError with
  /// the problems of all files.
  static ScriptDocument read(const std::vector<std::string>& paths);
  /// Reads files for a replacement of `loaded`. Gates with the same name stay the same gates.
  static ScriptDocument read(const std::vector<std::string>& paths, const LoadedScript& loaded);
  /// Checks a document passed as a value. Throws ScriptError.
  static ScriptDocument from_json(const Json& document);

  /// Returns `base` with the document's settings for the start of the gateway ("gateway", "keys"). Models and keys are
  /// added; a model in `base` gets the document's owner if it sets one. Throws GatewayError for invalid values in
  /// `base`.
  Options options(Options base = Options()) const;
  /// Mounts stubs, operations, failures, chaos, connection faults and states of state machines, and creates missing
  /// keys. The stubs are one block: the first matching one answers, and all of them precede stubs mounted earlier.
  /// Throws GatewayError if a key's secret belongs to a key with another name, or its name to a key with another
  /// secret. Throws ScriptError for a failure for a key that neither the gateway nor the document has. In both cases
  /// nothing is mounted.
  LoadedScript mount(Gateway& gateway) const;
  /// Replaces the document that `loaded` has mounted on this gateway, atomically for stubs: the old stubs or the
  /// new stubs answer a request. A stub that is the same in both keeps its counts and its place in its sequence. Keys,
  /// failures, chaos, connection faults and operations only change if their section has changed. A key with a new
  /// secret no longer accepts the old one. Anything not from `loaded` stays. Throws as mount() does, without changes.
  void replace(Gateway& gateway, LoadedScript& loaded) const;
  /// Whether it has settings for the start of the gateway ("gateway").
  bool has_options() const;
  /// Whether both have the same settings for the start of the gateway.
  bool starts_like(const ScriptDocument& other) const;
  /// Returns the parts that can be served but are probably mistakes: a stub hidden by an earlier one, a state that is
  /// never reached.
  const std::vector<ScriptProblem>& warnings() const&;
  std::vector<ScriptProblem> warnings() &&;
  /// Also returns warnings about names that the gateway does not know: models, keys in `key_is`, and operations in the
  /// rights of keys. Operations of failures are included if they look misspelled.
  std::vector<ScriptProblem> warnings(const Gateway& gateway) const;
  /// Returns the files read, in order, or an empty list for a value.
  const std::vector<std::string>& files() const&;
  std::vector<std::string> files() &&;

 private:
  friend struct detail::Access;
  explicit ScriptDocument(std::shared_ptr<const detail::ScriptPlan> plan) : plan_(std::move(plan)) {}
  static ScriptDocument read_again(const std::vector<std::string>& paths, detail::LoadedDocument* loaded);

  detail::HandlePointer<const detail::ScriptPlan> plan_;
};

/// Returns the JSON Schema (draft 2020-12) of script documents.
Json script_schema();

template <class T, std::enable_if_t<std::is_same_v<T, Json>, int>>
LoadedScript Gateway::load(const T& document) {
  return load_json(document);
}

}  // namespace mock_gateway
