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

// Reads script documents by tables. Each row describes a key: its type, its description and how to apply its value. The
// JSON Schema and the tables of the documentation come from the same rows.

namespace mock_gateway::detail {

class ScriptReader;

struct ScriptNode {
  const Json& value;
  std::string pointer;

  ScriptNode member(const std::string& key, const Json& its_value) const;
  /// Returns the value of the key; null if it is missing.
  const Json* find(const char* key) const;
  ScriptNode at(const char* key) const;
  ScriptNode element(std::size_t index) const;
  /// Returns the name of the value's key: the last part of the pointer, not unescaped. Only for names in tables.
  std::string_view key() const { return std::string_view(pointer).substr(pointer.rfind('/') + 1); }
};

/// Thrown while reading a value. Without a message, the problem is already noted.
struct ScriptMistake {
  std::string pointer;
  std::string message;
  /// Whether the mistake is the key, not its value.
  bool key = false;
};

/// A name that refers to another section, another file or the gateway.
struct ScriptReference {
  /// `failure_as_data` is the name of a failure in the data of an error event. `refusal` is a field that only some
  /// profiles have.
  enum class Kind { model, key, key_of_failure, operation, operation_of_failure, failure_as_data, refusal };
  Kind kind;
  std::string name;
  std::string pointer;
};

struct ScriptTable;

/// A type of values. Rows refer to it by a function, so that a table may contain rows of its own type.
struct ScriptType {
  /// Its name for users: "duration", "list of stubs".
  const char* name;
  /// Its JSON Schema as JSON text. In it, "$rows" is replaced by the schema of an object with the table's keys, and
  /// "$names" by the list of names. Null means "$rows".
  const char* schema;
  /// The keys of its objects; null without keys.
  const ScriptTable* table = nullptr;
  /// Its possible texts; null if there are none, or the schema lists them.
  std::vector<std::string> (*names)() = nullptr;
};

struct ScriptRow {
  const char* name;
  ScriptType (*type)();
  const char* text;
  /// Applies the value to the target of read_object(). Null: the caller of read_object() applies it.
  void (*apply)(ScriptReader& reader, const ScriptNode& node, void* target);
  bool required = false;
  /// Additional JSON Schema keywords of this key, as members: `"minimum":1`.
  const char* limits = "";
  const char* lead = "";
  /// The group of keys that rules treat alike: "$trigger". Empty: none.
  const char* group = "";
};

constexpr ScriptRow in_group(const char* group, ScriptRow row) {
  row.group = group;
  return row;
}

struct ScriptTable {
  const char* name;
  const ScriptRow* rows;
  std::size_t count;
  /// JSON Schema keywords for combinations of keys, as members: `"oneOf":[…]`. The reader of the object makes the same
  /// checks. A group such as "$trigger" is replaced by all of its keys. In a list, each becomes `{"required":[KEY]}`;
  /// as the name of a member, each becomes a member.
  const char* rules = "";
  /// A table of further allowed keys, which another reader applies; null if none.
  const ScriptTable& (*beside)() = nullptr;

  /// Returns the row of the key in this table or `beside`, or null for an unknown key.
  const ScriptRow* find(const std::string& key) const;
  /// Returns the keys of the group in this table and `beside`.
  std::vector<const char*> keys_of(std::string_view group) const;
};

/// The text of a document, with the positions of its values.
struct ScriptSource {
  std::string file;  // empty: a value passed as Json
  std::string text;
  std::map<std::string, JsonPlace> places;  // by pointer

  ScriptProblem problem(Severity severity, const ScriptMistake& mistake) const;
  /// Adds position and source line to the problem, without secrets.
  void show(ScriptProblem& problem, std::size_t offset) const;
  /// Returns the line and column of a byte. Scans the text only once, for any number and order of calls.
  text::Position position(std::size_t offset) const;

  struct Mark {
    std::size_t offset;
    text::Position position;
  };
  mutable std::vector<Mark> marks = {};  // at regular distances, as far as needed
};

/// The limits in the JSON Schema of a row. For types with keys or a pattern, their own readers check them.
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

class ScriptReader {
 public:
  ScriptReader(const ScriptSource& source, std::vector<ScriptProblem>& problems, std::map<std::string, Gate>& gates)
      : source_(source), problems_(problems), gates_(gates) {}

  void note(const ScriptMistake& mistake);
  std::size_t noted() const { return noted_; }
  /// Keeps a name for a check after all documents are read.
  void refer(ScriptReference::Kind kind, const std::string& name, const std::string& pointer);
  std::vector<ScriptReference> take_references() { return std::move(references_); }
  const ScriptSource& source() const { return source_; }
  /// Returns the gate with this name, shared by all documents read together.
  Gate gate(const std::string& name);
  SourceLocation where(const std::string& pointer) const;

  /// Applies each key of an object to `target` by its row. Notes mistakes and continues with the next key. Throws
  /// ScriptMistake if the value is not an object. Without `apply`, only checks keys and limits.
  void read_object(const ScriptNode& node, const ScriptTable& table, void* target = nullptr, bool apply = true);
  /// Like read_object(), but throws ScriptMistake if it noted a mistake.
  void read_strictly(const ScriptNode& node, const ScriptTable& table, void* target = nullptr, bool apply = true);
  /// Throws ScriptMistake if mistakes were noted since their number was `noted`.
  void require_none_since(std::size_t noted) const {
    if (noted_ > noted) throw ScriptMistake();
  }
  /// Reads each element, and notes the mistakes in it. Throws ScriptMistake if the value is not a list.
  void read_list(const ScriptNode& node, void (*element)(ScriptReader& reader, const ScriptNode& node, void* target),
                 void* target);
  /// Calls `read`. If it throws ScriptMistake or GatewayError, notes that as a mistake.
  void guarded(const ScriptNode& node, void (*read)(ScriptReader& reader, const ScriptNode& node, void* target),
               void* target);

 private:
  void read_member(const ScriptNode& node, const ScriptRow& row, void* target, bool apply);

  const ScriptSource& source_;
  std::vector<ScriptProblem>& problems_;
  std::map<std::string, Gate>& gates_;
  std::size_t noted_ = 0;
  std::size_t reported_ = 0;  // noted mistakes with a message
  std::map<const ScriptRow*, ScriptLimits> limits_;
  std::vector<ScriptReference> references_;
};

namespace script_reading {

inline constexpr std::size_t most_problems = 20;

/// Throws ScriptMistake with "expected WHAT, got a string".
[[noreturn]] void fail_expected(const ScriptNode& node, const std::string& what);
[[noreturn]] void fail(const ScriptNode& node, const std::string& message);
/// Returns text such as "an object", "a string".
std::string kind_of(const Json& value);
/// Returns `; did you mean "text"?` if a word is similar, otherwise the words, as far as they fit.
std::string suggestion(const std::string& given, const std::vector<std::string>& known);
std::string bounded(const std::string& message);
/// Whether the gateway ignores the key: "comment", "$schema", "x-…".
bool is_remark(const std::string& key);
/// Throws ScriptMistake if both keys are present.
void require_not_both(const ScriptNode& node, const char* one, const char* other);
/// Returns the key of `keys` that the object has, or null if it has none. Throws ScriptMistake if it has several.
const char* one_key(const ScriptNode& node, const std::vector<const char*>& keys);
/// Like one_key(), but also throws ScriptMistake if there is none.
const char* only_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what);
/// Like only_key(), for an object that must have no other keys.
const char* single_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what);
/// Replaces strings that look like keys (`sk-…`) by as many asterisks, so that columns stay.
void hide_keys(std::string& text);
/// Returns a copy that lives as long as the program: reports name files after their documents are gone.
const char* lasting(const std::string& text);
/// Returns the message without the library's name, and with names instead of C++ calls.
std::string plain_message(const std::exception& exception);
/// Turns a GatewayError of `function` into a ScriptMistake at the node.
template <class Function>
auto checked(const ScriptNode& node, const Function& function) {
  try {
    return function();
  } catch (const GatewayError& error) {
    fail(node, plain_message(error));
  }
}

}  // namespace script_reading

}  // namespace mock_gateway::detail
