#include "script_reader.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "../core/error.hpp"
#include "../core/json_pointer.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace script_reading {

std::string kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
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
  if (nearest) return "; did you mean \"" + *nearest + "\"?";
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "; known: " : ", ") + one;
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

/// Keys that say nothing to the gateway.
bool is_remark(const std::string& key) { return key == "comment" || key == "$schema" || key.substr(0, 2) == "x-"; }

/// Without the library's name in front, which a problem of a document needs no more than a compiler's message does.
std::string plain_message(const std::exception& exception) {
  const std::string message = exception.what();
  constexpr std::string_view prefix = "mock_gateway: ";
  return message.compare(0, prefix.size(), prefix) == 0 ? message.substr(prefix.size()) : message;
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
  problem.message = mistake.message;
  const auto place = places.find(mistake.pointer);
  if (place == places.end()) return problem;
  const std::size_t offset = mistake.key ? place->second.key : place->second.begin;
  const text::Position position = text::position_in(text, offset);
  problem.line = position.line;
  problem.column = position.column;
  problem.source = script_reading::line_at(text, offset);
  return problem;
}

void ScriptReader::note(const ScriptMistake& mistake) {
  ++noted_;
  if (mistake.message.empty()) return;
  if (problems_.size() < script_reading::most_problems) problems_.push_back(source_.problem(Severity::error, mistake));
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

void ScriptReader::read_object(const ScriptNode& node, const ScriptTable& table, void* target) {
  if (!node.value.is_object()) script_reading::fail_expected(node, "an object");
  const ScriptRow* const end = table.rows + table.count;
  for (const auto& [key, value] : node.value.get_ref<const Json::object_t&>()) {
    const std::string& name = key;
    const ScriptRow* const row =
        std::find_if(table.rows, end, [&name](const ScriptRow& one) { return name == one.name; });
    const ScriptNode child = node.member(key, value);
    if (row != end) {
      if (row->apply) guarded(child, row->apply, target);
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

void ScriptReader::read_list(const ScriptNode& node, void (*element)(ScriptReader&, const ScriptNode&, void*),
                             void* target) {
  if (!node.value.is_array()) script_reading::fail_expected(node, "a list");
  for (std::size_t index = 0; index < node.value.size(); ++index) guarded(node.element(index), element, target);
}

}  // namespace detail
}  // namespace mock_gateway
