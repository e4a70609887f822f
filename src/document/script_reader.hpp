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

// Reads script documents by tables: a row per key, which names its type, says it in a line and applies its value. The
// same rows make the JSON Schema and the tables of the documentation.

namespace mock_gateway::detail {

class ScriptReader;

/// A value of a document, and its JSON pointer.
struct ScriptNode {
  const Json& value;
  std::string pointer;

  ScriptNode member(const std::string& key, const Json& its_value) const;
  /// Null when there is no such key.
  const Json* find(const char* key) const;
  /// The value of a key that is there.
  ScriptNode at(const char* key) const;
  ScriptNode element(std::size_t index) const;
  /// The last part of the pointer: its name in its object. Such names as tables have.
  std::string_view key() const { return std::string_view(pointer).substr(pointer.rfind('/') + 1); }
};

/// Thrown by what reads a value, and noted by the row or element that it belongs to. Without a message, what is wrong
/// has been noted.
struct ScriptMistake {
  std::string pointer;
  std::string message;
  /// Whether the key is wrong, not its value.
  bool key = false;
};

/// A name in a document of something that another place has: another section, another file, or the gateway.
struct ScriptReference {
  enum class Kind { model, key, key_of_failure, operation, operation_of_failure };
  Kind kind;
  std::string name;
  std::string pointer;
};

struct ScriptTable;

/// A kind of value. Rows name it by a function, so that a table may have rows of its own kind.
struct ScriptType {
  /// What a reader calls it: "duration", "list of stubs".
  const char* name;
  /// JSON Schema as JSON text. "$rows" stands for the object that the table describes, "$names" for the list of names.
  /// Null: just "$rows".
  const char* schema;
  /// The keys of its objects; null when it has none.
  const ScriptTable* table = nullptr;
  /// The texts that it may be; null when it has none, or the schema tells them.
  std::vector<std::string> (*names)() = nullptr;
};

/// A key of an object.
struct ScriptRow {
  const char* name;
  ScriptType (*type)();
  /// What it means, in a line.
  const char* text;
  /// Applies the value to what the table is of; null: the object's own reader does.
  void (*apply)(ScriptReader& reader, const ScriptNode& node, void* target);
  bool required = false;
  /// JSON Schema keywords that this key adds to those of its type, as members: `"minimum":1`.
  const char* limits = "";
  /// What stands in front of the text.
  const char* lead = "";
  /// The keys that rules treat alike have the same group: "$trigger". Empty: none.
  const char* group = "";
};

/// The row as one of a group.
constexpr ScriptRow in_group(const char* group, ScriptRow row) {
  row.group = group;
  return row;
}

/// The keys of an object.
struct ScriptTable {
  const char* name;
  const ScriptRow* rows;
  std::size_t count;
  /// JSON Schema keywords that tell which keys go together, as members: `"oneOf":[…]`. The object's own reader checks
  /// the same. A group stands for its keys: as an element of a list for `{"required":[KEY]}` of each, as the name of a
  /// member for each KEY.
  const char* rules = "";
  /// Keys of another table that may stand among these; another reader applies them. Null: none.
  const ScriptTable& (*beside)() = nullptr;

  /// The row of a key, whichever of the two tables has it; null when none does.
  const ScriptRow* find(const std::string& key) const;
  /// The keys of a group, whichever of the two tables has it.
  std::vector<const char*> keys_of(std::string_view group) const;
};

/// A text that documents are in, and where each value of it stands.
struct ScriptSource {
  std::string file;  // empty: a value that came as Json
  std::string text;
  std::map<std::string, JsonPlace> places;  // by pointer

  /// Where a value stands, or its key.
  ScriptProblem problem(Severity severity, const ScriptMistake& mistake) const;
  /// Gives a problem its line and column, and what stands around them, without secrets.
  void show(ScriptProblem& problem, std::size_t offset) const;
  /// The line and column of a byte. However many are asked for, in whatever order, the text is walked through once.
  text::Position position(std::size_t offset) const;

  /// A place in the text, and how far it is.
  struct Mark {
    std::size_t offset;
    text::Position position;
  };
  mutable std::vector<Mark> marks = {};  // every so many bytes, as far as they were needed
};

/// What the JSON Schema of a row demands of a number, a text or an object: its kind, "minimum", "maximum", "minLength"
/// and "enum". Types with keys or a pattern of their own are left to their readers.
struct ScriptLimits {
  explicit ScriptLimits(const ScriptRow& row);

  /// Throws ScriptMistake for a value that is not within them.
  void require(const ScriptNode& node) const;

 private:
  enum class Kind { any, object, integer, number, text };
  Kind kind_ = Kind::any;
  std::optional<Json> least_ = {};
  std::optional<Json> most_ = {};
  bool not_empty_ = false;
  std::vector<std::string> words_ = {};
};

/// What is known while a document is read.
class ScriptReader {
 public:
  ScriptReader(const ScriptSource& source, std::vector<ScriptProblem>& problems, std::map<std::string, Gate>& gates)
      : source_(source), problems_(problems), gates_(gates) {}

  void note(const ScriptMistake& mistake);
  /// How many mistakes there are.
  std::size_t noted() const { return noted_; }
  /// Keeps a name until it is known what there is.
  void refer(ScriptReference::Kind kind, const std::string& name, const std::string& pointer);
  std::vector<ScriptReference> take_references() { return std::move(references_); }
  const ScriptSource& source() const { return source_; }
  /// The gate of that name, one for all documents that are read together.
  Gate gate(const std::string& name);
  /// The line of a value, for reports.
  SourceLocation where(const std::string& pointer) const;

  /// Applies each key of an object to `target` by its row, when its value is within the row's limits. Notes what is
  /// wrong with a key, and goes on with the next. Throws ScriptMistake when it is no object. Without `apply`, only the
  /// keys and limits are looked at.
  void read_object(const ScriptNode& node, const ScriptTable& table, void* target, bool apply = true);
  /// Reads each element of a list, and notes what is wrong with one. Throws ScriptMistake when it is no list.
  void read_list(const ScriptNode& node, void (*element)(ScriptReader& reader, const ScriptNode& node, void* target),
                 void* target);
  /// Calls what may throw ScriptMistake or GatewayError, and notes it.
  void guarded(const ScriptNode& node, void (*read)(ScriptReader& reader, const ScriptNode& node, void* target),
               void* target);

 private:
  void read_member(const ScriptNode& node, const ScriptRow& row, void* target, bool apply);

  const ScriptSource& source_;
  std::vector<ScriptProblem>& problems_;
  std::map<std::string, Gate>& gates_;
  std::size_t noted_ = 0;
  std::size_t told_ = 0;                             // of the noted ones, those with a message
  std::map<const ScriptRow*, ScriptLimits> limits_;  // of the rows that were met
  std::vector<ScriptReference> references_;
};

namespace script_reading {

inline constexpr std::size_t most_problems = 20;

/// Throws ScriptMistake: "expected WHAT, got a string".
[[noreturn]] void fail_expected(const ScriptNode& node, const std::string& what);
[[noreturn]] void fail(const ScriptNode& node, const std::string& message);
/// "an object", "a string".
std::string kind_of(const Json& value);
/// `; did you mean "text"?` when one of the words is near, else the words, as many as a message has room for.
std::string suggestion(const std::string& given, const std::vector<std::string>& known);
/// A message in which keys and values are quoted, as long as it may be, and printable.
std::string bounded(const std::string& message);
/// Whether the key says nothing to the gateway: "comment", "$schema", "x-…".
bool is_remark(const std::string& key);
/// Throws ScriptMistake when both keys are there.
void require_not_both(const ScriptNode& node, const char* one, const char* other);
/// The key by which exactly one of several says what an object is. Throws ScriptMistake for none or two of them.
const char* only_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what);
/// The same for an object that has no other key.
const char* single_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what);
/// Puts asterisks in place of what has the form of a key: `sk-` at the beginning of a word, and what follows. It has as
/// many characters as before, so that columns stay.
void hide_keys(std::string& text);
/// A text that lives as long as the program: reports name a file after its document is gone.
const char* lasting(const std::string& text);
/// The message without the library's name in front, and with names in place of calls: a key is not called.
std::string plain_message(const std::exception& exception);

}  // namespace script_reading

}  // namespace mock_gateway::detail
