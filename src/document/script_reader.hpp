#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/json.hpp"
#include "../core/json_reader.hpp"
#include "../core/source_location.hpp"
#include "../core/text.hpp"
#include "script_document.hpp"

// Tables for reading script documents. Each row describes a key: its type, a one-line text, and the function that
// applies its value. The JSON Schema and the tables of the documentation are made from the same rows.

namespace mock_gateway::detail {

class ScriptReader;

/// A value of a document, and its JSON pointer.
struct ScriptNode {
  const Json& value;
  std::string pointer;

  ScriptNode member(const std::string& key, const Json& its_value) const;
  /// Returns the value of a key, or null if the key is missing.
  const Json* find(const char* key) const;
  /// Returns the value of a key, which must exist.
  ScriptNode at(const char* key) const;
  ScriptNode element(std::size_t index) const;
  /// Returns the last part of the pointer, without unescaping it. Keys of tables need no escaping.
  std::string_view key() const { return std::string_view(pointer).substr(pointer.rfind('/') + 1); }
};

/// An exception of functions that read a value. The row or list element that called them notes it. An empty message
/// means that the mistake has been noted already.
struct ScriptMistake {
  std::string pointer;
  std::string message;
  /// Whether the key is wrong, not its value.
  bool key = false;
};

/// A name in a document that refers to another section, another file, or the gateway.
struct ScriptReference {
  enum class Kind { model, key, key_of_failure, operation, operation_of_failure };
  Kind kind;
  std::string name;
  std::string pointer;
};

struct ScriptTable;

/// The type of a value. Rows name it by a function, so that a table can contain itself.
struct ScriptType {
  /// Name for messages and documentation: "duration", "list of stubs".
  const char* name;
  /// JSON Schema as JSON text. "$rows" stands for the schema of the table's object, "$names" for the list of names.
  /// Null means "$rows".
  const char* schema;
  /// The keys of its objects; null if it has none.
  const ScriptTable* table = nullptr;
  /// The allowed strings; null if there are none, or if the schema lists them.
  std::vector<std::string> (*names)() = nullptr;
};

/// A key of an object.
struct ScriptRow {
  const char* name;
  ScriptType (*type)();
  /// One-line description.
  const char* text;
  /// Applies the value to the target of the table; null if the object's own reader does.
  void (*apply)(ScriptReader& reader, const ScriptNode& node, void* target);
  bool required = false;
  /// JSON Schema members that this key adds to those of its type: `"minimum":1`.
  const char* limits = "";
  /// Prefix of the text.
  const char* lead = "";
  /// Name of a group of keys for the table's rules: "$trigger". Empty if the key is in no group.
  const char* group = "";
};

/// Returns the row with its group set.
constexpr ScriptRow in_group(const char* group, ScriptRow row) {
  row.group = group;
  return row;
}

/// The keys of an object.
struct ScriptTable {
  const char* name;
  const ScriptRow* rows;
  std::size_t count;
  /// JSON Schema members that say which keys may be combined: `"oneOf":[…]`. The object's own reader checks the same. A
  /// group stands for its keys: as a list element for `{"required":[KEY]}` of each key, as a member name for each key.
  const char* rules = "";
  /// Another table whose keys are allowed too, and are applied by another reader. Null if there is none.
  const ScriptTable& (*beside)() = nullptr;

  /// Finds the row of a key in either table; null if there is none.
  const ScriptRow* find(const std::string& key) const;
  /// Returns the keys of a group in either table.
  std::vector<const char*> keys_of(std::string_view group) const;
};

/// The text of a script document, and the place of each value.
struct ScriptSource {
  std::string file;  // empty if it was passed as Json
  std::string text;
  std::map<std::string, JsonPlace> places;  // by pointer

  /// Makes a problem with the place of a value, or of its key.
  ScriptProblem problem(Severity severity, const ScriptMistake& mistake) const;
  /// Sets the line, the column and the excerpt of a problem. Secrets in the excerpt are masked.
  void show(ScriptProblem& problem, std::size_t offset) const;
  /// Returns the line and column of a byte. Scans the text at most once in total, whatever the order of calls.
  text::Position position(std::size_t offset) const;

  /// An offset in the text with its line and column.
  struct Mark {
    std::size_t offset;
    text::Position position;
  };
  mutable std::vector<Mark> marks = {};  // at regular distances, as far as needed
};

/// The limits of a row's JSON Schema: type, "minimum", "maximum", "minLength" and "enum". Types with keys or a pattern
/// are checked by their own readers.
struct ScriptLimits {
  explicit ScriptLimits(const ScriptRow& row);

  /// Throws ScriptMistake for a value outside the limits.
  void require(const ScriptNode& node) const;

 private:
  enum class Kind { any, object, integer, number, text };
  Kind kind_ = Kind::any;
  std::optional<Json> least_ = {};
  std::optional<Json> most_ = {};
  bool not_empty_ = false;
  std::vector<std::string> words_ = {};
};

/// The state of reading a document.
class ScriptReader {
 public:
  ScriptReader(const ScriptSource& source, std::vector<ScriptProblem>& problems, std::map<std::string, Gate>& gates)
      : source_(source), problems_(problems), gates_(gates) {}

  void note(const ScriptMistake& mistake);
  /// The number of mistakes so far.
  std::size_t noted() const { return noted_; }
  /// Keeps a reference, to be resolved after all documents are read.
  void refer(ScriptReference::Kind kind, const std::string& name, const std::string& pointer);
  std::vector<ScriptReference> take_references() { return std::move(references_); }
  const ScriptSource& source() const { return source_; }
  /// Returns the gate of that name, which is shared by all documents that are read together.
  Gate gate(const std::string& name);
  /// Returns the source location of a value, for reports.
  SourceLocation where(const std::string& pointer) const;

  /// Applies each key of an object to `target` by its row, if the value is within the row's limits. Notes mistakes and
  /// continues with the next key. Throws ScriptMistake if the value is not an object. Without `apply`, it only checks
  /// keys and limits.
  void read_object(const ScriptNode& node, const ScriptTable& table, void* target, bool apply = true);
  /// Reads each element of a list, and notes mistakes. Throws ScriptMistake if the value is not a list.
  void read_list(const ScriptNode& node, void (*element)(ScriptReader& reader, const ScriptNode& node, void* target),
                 void* target);
  /// Calls a function, and notes a ScriptMistake or GatewayError that it throws.
  void guarded(const ScriptNode& node, void (*read)(ScriptReader& reader, const ScriptNode& node, void* target),
               void* target);

 private:
  void read_member(const ScriptNode& node, const ScriptRow& row, void* target, bool apply);

  const ScriptSource& source_;
  std::vector<ScriptProblem>& problems_;
  std::map<std::string, Gate>& gates_;
  std::size_t noted_ = 0;
  std::size_t told_ = 0;                             // how many noted mistakes have a message
  std::map<const ScriptRow*, ScriptLimits> limits_;  // of the rows used so far
  std::vector<ScriptReference> references_;
};

namespace script_reading {

inline constexpr std::size_t most_problems = 20;

/// Throws ScriptMistake: "expected WHAT, got a string".
[[noreturn]] void fail_expected(const ScriptNode& node, const std::string& what);
[[noreturn]] void fail(const ScriptNode& node, const std::string& message);
/// "an object", "a string".
std::string kind_of(const Json& value);
/// Returns `; did you mean "text"?` if a known word is near, otherwise the known words, shortened to fit into a
/// message.
std::string suggestion(const std::string& given, const std::vector<std::string>& known);
/// Makes a message printable and cuts it to the maximum length. The message may quote keys and values.
std::string bounded(const std::string& message);
/// Whether the gateway ignores the key: "comment", "$schema", "x-…".
bool is_remark(const std::string& key);
/// Throws ScriptMistake if both keys are present.
void require_not_both(const ScriptNode& node, const char* one, const char* other);
/// Returns the only one of several keys that an object has. Throws ScriptMistake for none or more than one.
const char* only_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what);
/// Does the same, and throws ScriptMistake for any other key.
const char* single_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what);
/// Masks API keys with asterisks: `sk-` at the beginning of a word, and the rest of the word. The length stays the
/// same, so that columns stay correct.
void hide_keys(std::string& text);
/// Returns a copy that lives as long as the program: reports name a file after its document is destroyed.
const char* lasting(const std::string& text);
/// Returns the message without the library's name, and without the parentheses of function names.
std::string plain_message(const std::exception& exception);

}  // namespace script_reading

}  // namespace mock_gateway::detail
