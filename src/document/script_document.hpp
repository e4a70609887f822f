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

/// What is wrong with a script document, and where.
struct ScriptProblem {
  /// An error keeps the document from being served. With a warning it can be served, but hardly does what its author
  /// means.
  Severity severity = Severity::error;
  /// The file as it was named; empty for a document that came as Json.
  std::string file;
  /// Line and column count from 1; both are 0 for a document that came as Json.
  std::size_t line = 0;
  std::size_t column = 0;
  /// JSON pointer (RFC 6901) of the value.
  std::string pointer;
  /// What is wrong, and what would be right.
  std::string message;
  /// The line of the file, without its end; of a longer one, the 500 bytes on each side of the place. Keys and the
  /// values of "secret" and "api_key" are asterisks.
  std::string source;
  /// The column that `source` begins with; greater than 1 where a long line is cut.
  std::size_t source_column = 1;

  /// "demo.json:3:5: /stubs/0/repply: unknown key …", the line of the file, and a caret under the place.
  std::string to_string() const;
};

/// Says why script documents cannot be served. what() has all problems.
class ScriptError : public GatewayError {
 public:
  /// Keeps the first twenty problems; what() says when there are more.
  explicit ScriptError(std::vector<ScriptProblem> problems);
  // Defined in the .cpp: a file that copies one need not compile it.
  ScriptError(const ScriptError& other);
  ScriptError& operator=(const ScriptError& other);
  ~ScriptError() override;

  /// The first twenty.
  const std::vector<ScriptProblem>& problems() const { return *problems_; }

 private:
  std::shared_ptr<const std::vector<ScriptProblem>> problems_;
};

namespace detail {

struct Access;
struct LoadedDocument;
struct ScriptPlan;

}  // namespace detail

/// What a script document has mounted on a gateway. A handle for any thread: may outlive both.
class LoadedScript {
 public:
  /// The stubs in the order of the document.
  std::vector<Stub> stubs() const;
  /// The stub of that name, the first of several. Throws GatewayError, which lists the names, when there is none.
  Stub stub(const std::string& name) const;
  /// The gate that `hold` or `stall_at_gate` names. Throws GatewayError, which lists the names, when there is none.
  Gate gate(const std::string& name) const;

 private:
  friend struct detail::Access;
  friend class ScriptDocument;
  explicit LoadedScript(std::shared_ptr<detail::LoadedDocument> state) : state_(std::move(state)) {}

  detail::Lasting<detail::LoadedDocument> state_;
};

/// Script documents, read and checked: all that the C++ API can say as a value, written as JSON. docs/scripts.md says
/// what they hold. A value: cheap to copy.
///
///     const ScriptDocument script = ScriptDocument::read({"agent.jsonc"});
///     Gateway gateway(script.options());
///     script.mount(gateway);
///
/// Gateway::load does the last step for a document that says nothing of how the gateway starts.
class ScriptDocument {
 public:
  /// Reads files, and of folders every `*.json` and `*.jsonc`, those in folders within included, in the order of their
  /// bytes. Several are one document: stubs in the order given. Comments (`//`, `/* */`) are allowed. Throws
  /// ScriptError with the problems of all of them.
  static ScriptDocument read(const std::vector<std::string>& paths);
  /// The same, to be put in the place of `loaded`: gates of the same name are the same gates.
  static ScriptDocument read(const std::vector<std::string>& paths, const LoadedScript& loaded);
  /// Reads and checks a document that is a value. Throws ScriptError.
  static ScriptDocument from_json(const Json& document);

  /// How the gateway must start: `base`, changed by what the document says of it ("gateway", "keys"). Models and keys
  /// are added; a model that `base` has gets the document's owner, if it names one. Throws GatewayError for a value of
  /// `base` that no gateway can have.
  Options options(Options base = Options()) const;
  /// Mounts stubs, operations, failures, chaos, connection faults and states of state machines, and creates the keys
  /// that the gateway does not have. The stubs are one block: the first one that matches answers, and all of them come
  /// before stubs that were mounted earlier. Throws GatewayError, and mounts nothing, for a key whose secret or name
  /// belongs to a key that has another name or secret, and ScriptError for a failure that is for a key which neither
  /// the gateway nor the document has.
  LoadedScript mount(Gateway& gateway) const;
  /// Puts this document in the place of the one that `loaded` has mounted on that gateway, in one step for stubs: a
  /// request is answered by the old ones or by the new ones. A stub that is the same in both keeps its counts and its
  /// place in its sequence. Of keys, failures, chaos, connection faults and operations those change whose section has
  /// changed. A key with a new secret is refused with its old one. What did not come from `loaded` stays. Throws as
  /// mount() does, and changes nothing then.
  void replace(Gateway& gateway, LoadedScript& loaded) const;
  /// Whether it says how the gateway starts ("gateway").
  bool has_options() const;
  /// Whether both say the same of how the gateway starts.
  bool starts_like(const ScriptDocument& other) const;
  /// What can be served and is hardly meant: a stub that an earlier one hides, a state that nothing leads to.
  const std::vector<ScriptProblem>& warnings() const&;
  std::vector<ScriptProblem> warnings() &&;
  /// The same, and what only that gateway can tell: models that it does not serve, keys in `key_is` that it does not
  /// have, operations in a key's rights that nobody mounts, and such as are near to another in a failure's scope.
  std::vector<ScriptProblem> warnings(const Gateway& gateway) const;
  /// The files that were read, in order; empty for a value.
  const std::vector<std::string>& files() const&;
  std::vector<std::string> files() &&;

 private:
  friend struct detail::Access;
  explicit ScriptDocument(std::shared_ptr<const detail::ScriptPlan> plan) : plan_(std::move(plan)) {}
  static ScriptDocument read_again(const std::vector<std::string>& paths, detail::LoadedDocument* loaded);

  detail::Lasting<const detail::ScriptPlan> plan_;
};

/// The JSON Schema (draft 2020-12) of script documents.
Json script_schema();

template <class T, std::enable_if_t<std::is_same_v<T, Json>, int>>
LoadedScript Gateway::load(const T& document) {
  return load_json(document);
}

}  // namespace mock_gateway
