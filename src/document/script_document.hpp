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

/// A problem in a script document, with its location.
struct ScriptProblem {
  /// A document with an error cannot be served. One with a warning can, but probably does not do what its author means.
  Severity severity = Severity::error;
  /// The file name as given; empty for a document that was passed as Json.
  std::string file;
  /// Line and column, from 1; both 0 for a document that was passed as Json.
  std::size_t line = 0;
  std::size_t column = 0;
  /// JSON pointer (RFC 6901) of the value.
  std::string pointer;
  /// What is wrong, and how to correct it.
  std::string message;
  /// The line of the file, without its line end. Of a longer line, up to 500 bytes on each side of the place. API keys
  /// and the values of "secret" and "api_key" are masked with asterisks.
  std::string source;
  /// The column at which `source` begins; greater than 1 if a long line was cut.
  std::size_t source_column = 1;

  /// Returns "demo.json:3:5: /stubs/0/repply: unknown key …", the line of the file, and a caret below the place.
  std::string to_string() const;
};

/// The error for script documents that cannot be served. what() lists the problems.
class ScriptError : public GatewayError {
 public:
  /// Keeps only the first twenty problems; what() says if there are more.
  explicit ScriptError(std::vector<ScriptProblem> problems);
  // Defined in the .cpp, so that files that include this header need not compile them.
  ScriptError(const ScriptError& other);
  ScriptError& operator=(const ScriptError& other);
  ~ScriptError() override;

  /// The problems, at most twenty.
  const std::vector<ScriptProblem>& problems() const { return *problems_; }

 private:
  std::shared_ptr<const std::vector<ScriptProblem>> problems_;
};

namespace detail {

struct Access;
struct LoadedDocument;
struct ScriptPlan;

}  // namespace detail

/// A handle to everything that a script document has mounted on a gateway. Thread-safe. It may outlive the document and
/// the gateway.
class LoadedScript {
 public:
  /// Returns the stubs in the order of the document.
  std::vector<Stub> stubs() const;
  /// Returns the stub of that name, or the first of several. Throws GatewayError, which lists the names, if there is
  /// none.
  Stub stub(const std::string& name) const;
  /// Returns the gate that `hold` or `stall_at_gate` names. Throws GatewayError, which lists the names, if there is
  /// none.
  Gate gate(const std::string& name) const;

 private:
  friend struct detail::Access;
  friend class ScriptDocument;
  explicit LoadedScript(std::shared_ptr<detail::LoadedDocument> state) : state_(std::move(state)) {}

  detail::Lasting<detail::LoadedDocument> state_;
};

/// Checked script documents: the values of the C++ API, written as JSON. docs/scripts.md describes their keys. A value
/// type, cheap to copy.
///
///     const ScriptDocument script = ScriptDocument::read({"agent.jsonc"});
///     Gateway gateway(script.options());
///     script.mount(gateway);
///
/// Gateway::load does the same for a gateway that is already running; its document must not have "gateway".
class ScriptDocument {
 public:
  /// Reads files, and every `*.json` and `*.jsonc` of folders and their subfolders, sorted bytewise by path. Several
  /// files form one document, with stubs in the given order. Comments (`//`, `/* */`) are allowed. Throws ScriptError
  /// with the problems of all files.
  static ScriptDocument read(const std::vector<std::string>& paths);
  /// Does the same for a document that will replace `loaded`: gates of the same name are shared with it.
  static ScriptDocument read(const std::vector<std::string>& paths, const LoadedScript& loaded);
  /// Reads and checks a document that is passed as a value. Throws ScriptError.
  static ScriptDocument from_json(const Json& document);

  /// Returns the options with which the gateway must start: `base`, changed by the document's "gateway" and "keys".
  /// Models and keys are added. If `base` has a model already, the document may change its owner. Throws GatewayError
  /// for a value of `base` that is invalid.
  Options options(Options base = Options()) const;
  /// Mounts stubs, operations, failures, chaos, connection faults and states of state machines, and creates missing
  /// keys. The stubs form one block, before all stubs mounted earlier; the first match answers. Throws GatewayError if
  /// a key's secret or name belongs to a key with another name or secret. Throws ScriptError for a failure whose key
  /// neither the gateway nor the document has. After an exception nothing is mounted.
  LoadedScript mount(Gateway& gateway) const;
  /// Replaces the document that `loaded` has mounted on that gateway. Stubs change in one step: each request is
  /// answered by the old ones or by the new ones. A stub that is the same in both keeps its counts and its position in
  /// its sequence. Keys, failures, chaos, connection faults and operations change only if their section has changed. If
  /// a key has a new secret, its old one is refused. What other callers mounted stays. Throws like mount(), and then
  /// changes nothing.
  void replace(Gateway& gateway, LoadedScript& loaded) const;
  /// Whether the document has "gateway" settings.
  bool has_options() const;
  /// Whether both documents have the same "gateway" settings.
  bool starts_like(const ScriptDocument& other) const;
  /// Returns the warnings: probable mistakes in a valid document, such as a stub hidden by an earlier one, or an
  /// unreachable state.
  const std::vector<ScriptProblem>& warnings() const&;
  std::vector<ScriptProblem> warnings() &&;
  /// Also returns warnings that depend on the gateway: models that it does not serve, unknown keys in `key_is`,
  /// operations in a key's rights that are not mounted, and probable spelling mistakes of operations in a failure's
  /// scope.
  std::vector<ScriptProblem> warnings(const Gateway& gateway) const;
  /// The files that were read, in order; empty for a document that was passed as Json.
  const std::vector<std::string>& files() const&;
  std::vector<std::string> files() &&;

 private:
  friend struct detail::Access;
  explicit ScriptDocument(std::shared_ptr<const detail::ScriptPlan> plan) : plan_(std::move(plan)) {}
  static ScriptDocument read_again(const std::vector<std::string>& paths, detail::LoadedDocument* loaded);

  detail::Lasting<const detail::ScriptPlan> plan_;
};

/// Returns the JSON Schema (draft 2020-12) of script documents.
Json script_schema();

template <class T, std::enable_if_t<std::is_same_v<T, Json>, int>>
LoadedScript Gateway::load(const T& document) {
  return load_json(document);
}

}  // namespace mock_gateway
