#include "script_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <set>
#include <utility>

#include "../core/error.hpp"
#include "../core/json_pointer.hpp"
#include "../core/text.hpp"
#include "script_values.hpp"

namespace mock_gateway {
namespace detail {
namespace script_reading {

std::string kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return value.empty() ? "an empty list" : "a list";
    case Json::value_t::string: return "a string";
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case Json::value_t::null: return "null";
    default: return "the number " + value.dump();
  }
}

void fail(const ScriptNode& node, const std::string& message) { throw ScriptMistake{node.pointer, message}; }

void fail_expected(const ScriptNode& node, const std::string& what) {
  fail(node, "expected " + what + ", got " + kind_of(node.value));
}

std::string suggestion(const std::string& given, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;  // beyond it nothing is near
  const std::string wanted = text::lower_ascii(given.substr(0, longest));
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(wanted.size() / 3, 1) + 1;
  for (const std::string& one : known) {
    const std::size_t distance = text::edit_distance(wanted, text::lower_ascii(one));
    if (distance >= least) continue;
    least = distance;
    nearest = &one;
  }
  if (nearest) return "; did you mean \"" + text::printable(*nearest) + "\"?";
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "; known: " : ", ") + text::printable(one);
  return all;
}

const char* only_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what) {
  const char* found = nullptr;
  for (const char* key : keys) {
    if (!node.find(key)) continue;
    if (found) fail(node, std::string("\"") + found + "\" and \"" + key + "\" exclude each other");
    found = key;
  }
  if (found) return found;
  std::string all;
  for (const char* key : keys) all += (all.empty() ? "" : ", ") + std::string(key);
  fail(node, std::string(what) + " needs one of: " + all);
}

const char* single_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what) {
  for (const auto& [key, value] : node.value.get_ref<const Json::object_t&>()) {
    if (std::any_of(keys.begin(), keys.end(), [name = &key](const char* known) { return *name == known; })) continue;
    throw ScriptMistake{node.member(key, value).pointer,
                        "unknown key \"" + text::printable(key, 60) + "\"" +
                            suggestion(key, std::vector<std::string>(keys.begin(), keys.end())),
                        true};
  }
  return only_key(node, keys, what);
}

void require_not_both(const ScriptNode& node, const char* one, const char* other) {
  if (node.find(one) && node.find(other))
    fail(node, std::string("\"") + one + "\" and \"" + other + "\" exclude each other");
}

/// "a whole number from 0 to 65535".
std::string range_text(const Json& schema, const std::string& kind) {
  const Json* const least = json_pointer::child(schema, "minimum");
  const Json* const most = json_pointer::child(schema, "maximum");
  if (least && most) return kind + " from " + least->dump() + " to " + most->dump();
  if (least) return kind + " from " + least->dump() + " on";
  return most ? kind + " up to " + most->dump() : kind;
}

/// Whether it is a number without a fraction: 2, and 2.0 too, as JSON Schema has it.
bool is_whole(const Json& value) {
  return value.is_number_integer() || (value.is_number() && value.get<double>() == std::floor(value.get<double>()));
}

void require_limits(const ScriptNode& node, const ScriptRow& row) {
  const ScriptType type = row.type();
  if (!type.schema || type.table) return;
  Json schema = read_json(type.schema);
  if (!schema.is_object()) return;
  if (*row.limits) schema.update(read_json("{" + std::string(row.limits) + "}"));
  const Json* const kind = json_pointer::child(schema, "type");
  if (!kind) return;
  if (*kind == "object" && schema.size() == 1 && !node.value.is_object()) fail_expected(node, "an object");
  if (*kind == "integer" || *kind == "number") {
    const bool fits = *kind == "integer" ? is_whole(node.value) : node.value.is_number();
    const std::string expected = range_text(schema, *kind == "integer" ? "a whole number" : "a number");
    if (!fits || (schema.contains("minimum") && node.value < schema["minimum"]) ||
        (schema.contains("maximum") && node.value > schema["maximum"]))
      fail_expected(node, expected);
  }
  if (*kind != "string" || !node.value.is_string()) return;
  if (schema.contains("minLength") && node.value == "") fail(node, "expected a text that is not empty");
  if (schema.contains("enum")) script_values::one_of(node, schema["enum"].get<std::vector<std::string>>());
}

bool is_remark(const std::string& key) { return key == "comment" || key == "$schema" || key.substr(0, 2) == "x-"; }

std::string plain_message(const std::exception& exception) {
  const std::string message = exception.what();
  std::string_view plain = message;
  // The class and the function are the key's business here.
  for (const std::string_view prefix : {"mock_gateway: ", "Options: ", "SseDialect::", "HttpReply: ", "raw_reply: "})
    if (plain.substr(0, prefix.size()) == prefix) plain.remove_prefix(prefix.size());
  plain = plain.substr(0, plain.find(". TextMatcher("));  // what C++ has for what no pattern can say
  std::string names(plain);
  for (std::size_t call = names.find("()"); call != std::string::npos; call = names.find("()", call))
    names.erase(call, 2);
  return names;
}

void hide_keys(std::string& text) {
  constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (std::size_t at = text.find("sk-"); at != std::string::npos; at = text.find("sk-", at + 1)) {
    if (at > 0 && characters.find(text[at - 1]) != std::string_view::npos) continue;
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_not_of(characters, begin), text.size());
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), '*');
  }
}

/// A text that lives as long as the program: reports name the file after its document is gone.
const char* lasting(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard<std::mutex> lock(mutex);
  return texts.insert(text).first->c_str();
}

std::string line_at(std::string_view text, std::size_t offset) {
  const std::size_t begin = offset == 0 ? 0 : text.find_last_of("\r\n", offset - 1) + 1;
  const std::size_t end = std::min(text.find_first_of("\r\n", offset), text.size());
  return std::string(text.substr(begin, end - begin));
}

}  // namespace script_reading

ScriptNode ScriptNode::member(const std::string& key, const Json& its_value) const {
  return {its_value, pointer + json_pointer::token(key)};
}

const Json* ScriptNode::find(const char* key) const {
  return value.is_object() ? json_pointer::child(value, key) : nullptr;
}

ScriptNode ScriptNode::at(const char* key) const { return member(key, *find(key)); }

ScriptNode ScriptNode::element(std::size_t index) const {
  return {value[index], pointer + "/" + std::to_string(index)};
}

ScriptProblem ScriptSource::problem(Severity severity, const ScriptMistake& mistake) const {
  ScriptProblem problem;
  problem.severity = severity;
  problem.file = file;
  problem.pointer = mistake.pointer;
  // It may quote a key or a value.
  constexpr std::size_t longest = 2000;
  problem.message = text::printable(mistake.message, longest);
  script_reading::hide_keys(problem.pointer);
  script_reading::hide_keys(problem.message);
  const auto place = places.find(mistake.pointer);
  if (place == places.end()) return problem;
  const std::size_t offset = mistake.key ? place->second.key : place->second.begin;
  const text::Position position = text::position_in(text, offset);
  problem.line = position.line;
  problem.column = position.column;
  problem.source = script_reading::line_at(text, offset);
  script_reading::hide_keys(problem.source);
  return problem;
}

void ScriptReader::note(const ScriptMistake& mistake) {
  ++noted_;
  if (mistake.message.empty()) return;
  // One more than is shown tells that there are more. Warnings of other documents may stand among them.
  const auto errors = std::count_if(problems_.begin(), problems_.end(),
                                    [](const ScriptProblem& one) { return one.severity == Severity::error; });
  if (static_cast<std::size_t>(errors) <= script_reading::most_problems)
    problems_.push_back(source_.problem(Severity::error, mistake));
}

void ScriptReader::warn(const std::string& pointer, const std::string& message) {
  problems_.push_back(source_.problem(Severity::warning, {pointer, message}));
}

Gate ScriptReader::gate(const std::string& name) { return gates_.try_emplace(name).first->second; }

SourceLocation ScriptReader::where(const std::string& pointer) const {
  SourceLocation where;
  where.file = script_reading::lasting(source_.file.empty() ? "the script" : source_.file);
  const auto place = source_.places.find(pointer);
  if (place != source_.places.end())
    where.line = static_cast<int>(text::position_in(source_.text, place->second.begin).line);
  return where;
}

void ScriptReader::guarded(const ScriptNode& node, void (*read)(ScriptReader&, const ScriptNode&, void*),
                           void* target) {
  try {
    read(*this, node, target);
  } catch (const ScriptMistake& mistake) {
    note(mistake);
  } catch (const GatewayError& error) {
    note({node.pointer, script_reading::plain_message(error)});
  }
}

void ScriptReader::read_object(const ScriptNode& node, const ScriptTable& table, void* target, bool apply) {
  if (!node.value.is_object()) script_reading::fail_expected(node, "an object");
  const ScriptRow* const end = table.rows + table.count;
  for (const auto& [key, value] : node.value.get_ref<const Json::object_t&>()) {
    const std::string& name = key;
    const ScriptRow* const row =
        std::find_if(table.rows, end, [&name](const ScriptRow& one) { return name == one.name; });
    const ScriptNode child = node.member(key, value);
    if (row != end) {
      read_member(child, *row, target, apply);
    } else if (!script_reading::is_remark(key)) {
      std::vector<std::string> known;
      for (const ScriptRow* one = table.rows; one != end; ++one) known.emplace_back(one->name);
      note({child.pointer, "unknown key \"" + text::printable(key, 60) + "\"" + script_reading::suggestion(key, known),
            true});
    }
  }
  for (const ScriptRow* row = table.rows; row != end; ++row) {
    if (row->required && !node.find(row->name)) note({node.pointer, std::string("\"") + row->name + "\" is missing"});
  }
}

void ScriptReader::read_member(const ScriptNode& node, const ScriptRow& row, void* target, bool apply) {
  try {
    script_reading::require_limits(node, row);
  } catch (const ScriptMistake& mistake) {
    return note(mistake);
  }
  if (row.apply && apply) guarded(node, row.apply, target);
}

void ScriptReader::read_list(const ScriptNode& node, void (*element)(ScriptReader&, const ScriptNode&, void*),
                             void* target) {
  if (!node.value.is_array()) script_reading::fail_expected(node, "a list");
  for (std::size_t index = 0; index < node.value.size(); ++index) guarded(node.element(index), element, target);
}

}  // namespace detail
}  // namespace mock_gateway
