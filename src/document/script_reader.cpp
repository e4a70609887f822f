// Reads scripts by tables of keys: unknown and missing keys, remarks (`x-…`), lines of problems, at most 20 problems.

#include "script_reader.hpp"

#include <algorithm>  // any_of, fill, max, min, upper_bound
#include <cmath>
#include <cstddef>
#include <iterator>  // prev
#include <mutex>
#include <set>
#include <utility>

#include "../core/error.hpp"
#include "../core/json_pointer.hpp"
#include "../core/text.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
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

/// Whether the name is that of a secret, possibly misspelled.
bool names_secret(std::string_view name) {
  constexpr std::size_t longest = 9;  // two characters more than the longest name
  if (name.size() > longest) return false;
  const std::string lower = text::lower_ascii(name);
  // Counting common letters is faster than the edit distance and excludes most words.
  const auto is_near = [&lower](std::string_view secret) {
    const auto shared = std::count_if(lower.begin(), lower.end(),
                                      [secret](char letter) { return secret.find(letter) != std::string_view::npos; });
    return static_cast<std::size_t>(shared) + 2 >= secret.size() && text::edit_distance(lower, secret) <= 2;
  };
  return is_near("secret") || is_near("api_key");
}

void fail_expected(const ScriptNode& node, const std::string& what) {
  // The value of a secret may be a number by mistake. The message must not show it.
  const bool is_secret = node.value.is_number() && names_secret(node.key());
  fail(node, "expected " + what + ", got " + (is_secret ? "a number" : kind_of(node.value)));
}

/// A name from other test doubles or from the API, and the script key that its user probably means.
struct Meaning {
  std::string_view given;
  std::string_view meant;
};

constexpr Meaning meanings[] = {
    {"body", "json_at"},
    {"body", "text"},
    {"content", "text"},
    {"content", "user_says"},
    {"delay", "first_token_after"},
    {"disconnect", "reset_connection"},
    {"error", "failure"},
    {"fault", "faults"},
    {"fixed_delay", "first_token_after"},
    {"latency", "first_token_after"},
    {"match", "when"},
    {"matches", "when"},
    {"message", "text"},
    {"messages", "messages_are"},
    {"path", "json_at"},
    {"prompt", "user_says"},
    {"regex", "matches_regex"},
    {"regexp", "matches_regex"},
    {"request", "when"},
    {"response", "reply"},
    {"response", "text"},
    {"responses", "replies"},
    {"return", "reply"},
    {"scenario_state", "in_state"},
    {"status", "failure"},
    {"status_code", "failure"},
    {"tools", "has_tool"},
    {"ttft", "first_token_after"},
};

/// Returns the known name that was probably meant; null if there is none.
const std::string* meant(const std::string& given, const std::vector<std::string>& known) {
  for (const Meaning& meaning : meanings)
    if (meaning.given == given)
      for (const std::string& one : known)
        if (one == meaning.meant) return &one;
  // The first words of a name are enough if they are unique: "model" means model_is, "reset" means reset_connection.
  const std::string* only = nullptr;
  for (const std::string& one : known) {
    if (given.size() < 3 || one.compare(0, given.size() + 1, given + "_") != 0) continue;
    if (only) return nullptr;
    only = &one;
  }
  return only;
}

std::string suggestion(const std::string& given, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;
  const std::string wanted = text::lower_ascii(given.substr(0, longest));
  const std::string* nearest = meant(wanted, known);
  if (nearest) return "; did you mean \"" + text::printable(*nearest) + "\"?";
  std::size_t least = std::max<std::size_t>(wanted.size() / 3, 1) + 1;
  for (const std::string& one : known) {
    const std::size_t distance = text::edit_distance(wanted, text::lower_ascii(one));
    if (distance >= least) continue;
    least = distance;
    nearest = &one;
  }
  if (nearest) return "; did you mean \"" + text::printable(*nearest) + "\"?";
  constexpr std::size_t room = 1500;  // the maximum bytes of the list
  std::string all;
  for (std::size_t listed = 0; listed < known.size(); ++listed) {
    const std::string one = text::printable(known[listed], room);
    if (all.size() + one.size() > room) {
      const std::string others = text::counted(known.size() - listed, "other");
      return all + (all.empty() ? "; known: " : " and ") + others;
    }
    all += (all.empty() ? "; known: " : ", ") + one;
  }
  return all;
}

std::string bounded(const std::string& message) {
  constexpr std::size_t longest = 2000;
  return text::printable(message, longest);
}

void require_not_both(const ScriptNode& node, const char* one, const char* other) {
  if (node.find(one) && node.find(other))
    fail(node, std::string("\"") + one + "\" and \"" + other + "\" cannot be combined");
}

const char* one_key(const ScriptNode& node, const std::vector<const char*>& keys) {
  const char* found = nullptr;
  for (const char* key : keys) {
    if (!node.find(key)) continue;
    if (found) require_not_both(node, found, key);
    found = key;
  }
  return found;
}

const char* only_key(const ScriptNode& node, const std::vector<const char*>& keys, const char* what) {
  if (const char* const found = one_key(node, keys)) return found;
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

/// Returns text such as "a whole number from 0 to 65535".
std::string range_text(const std::optional<Json>& least, const std::optional<Json>& most, const std::string& kind) {
  if (least && most) return kind + " from " + least->dump() + " to " + most->dump();
  if (least) return kind + " of at least " + least->dump();
  return most ? kind + " up to " + most->dump() : kind;
}

/// Whether the number has no fraction: 2 and 2.0, as in JSON Schema.
bool is_whole(const Json& value) {
  return value.is_number_integer() || (value.is_number() && value.get<double>() == std::floor(value.get<double>()));
}

bool is_remark(const std::string& key) { return key == "comment" || key == "$schema" || key.substr(0, 2) == "x-"; }

std::string plain_message(const std::exception& exception) {
  const std::string message = exception.what();
  std::string_view plain = message;
  // Scripts have no C++ classes and functions, and the error already names the key.
  for (const std::string_view prefix : {"mock_gateway: ", "Options: ", "SseDialect::", "HttpReply: ", "raw_reply: "})
    if (plain.substr(0, prefix.size()) == prefix) plain.remove_prefix(prefix.size());
  plain = plain.substr(0, plain.find(". TextMatcher("));  // the C++ alternative, which scripts do not have
  std::string names(plain);
  for (std::size_t call = names.find("()"); call != std::string::npos; call = names.find("()", call))
    names.erase(call, 2);
  return names;
}

inline constexpr std::string_view word_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void hide_keys(std::string& text) {
  for (std::size_t at = text.find("sk-"); at != std::string::npos; at = text.find("sk-", at + 1)) {
    if (at > 0 && word_characters.find(text[at - 1]) != std::string_view::npos) continue;
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_not_of(word_characters, begin), text.size());
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), '*');
  }
}

const char* lasting(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard<std::mutex> lock(mutex);
  return texts.insert(text).first->c_str();
}

/// Returns the position after white space and comments, at most the end.
std::size_t skip_space(std::string_view text, std::size_t at) {
  for (;;) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    const std::string_view opening = text.substr(at, 2);
    if (opening == "//")
      at = std::min(text.find('\n', at), text.size());
    else if (opening == "/*")
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    else
      return at;
  }
}

/// Returns for each byte whether it belongs to a secret. The text may be invalid JSON, with wrong or missing quotes.
std::vector<bool> secret_bytes(std::string_view text) {
  std::vector<bool> secret(text.size());
  const auto is_quote = [text](std::size_t at) { return at < text.size() && (text[at] == '"' || text[at] == '\''); };
  for (std::size_t at = 0; (at = text.find_first_of(word_characters, at)) != std::string_view::npos;) {
    const std::size_t name = at;
    at = std::min(text.find_first_not_of(word_characters, at), text.size());
    if (!names_secret(text.substr(name, at - name))) continue;
    std::size_t value = skip_space(text, is_quote(at) ? at + 1 : at);
    const bool separated = value < text.size() && (text[value] == ':' || text[value] == '=');
    if (separated) value = skip_space(text, value + 1);
    if (!is_quote(value) && !separated) continue;
    std::size_t end = std::min(text.find_first_of(",}] \t\r\n", value), text.size());
    if (is_quote(value)) {
      const char quote = text[value++];
      for (end = value; end < text.size() && text[end] != quote && text[end] != '\n';) end += text[end] == '\\' ? 2 : 1;
      end = std::min(end, text.size());
    }
    for (at = value; at < end; ++at) secret[at] = true;
  }
  return secret;
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

std::string without_secrets(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::size_t reach = 1000;  // a secret or its name may begin this many bytes before the part
  const std::size_t from = begin - std::min(begin, reach);
  std::string shown(text.substr(from, end - from));
  hide_keys(shown);
  const std::vector<bool> secret = secret_bytes(shown);
  std::string part;
  for (std::size_t at = begin - from; at < shown.size(); ++at) {
    if (!secret[at])
      part += shown[at];
    else if (!continues_character(shown[at]))
      part += '*';
  }
  return part;
}

std::pair<std::size_t, std::size_t> line_around(std::string_view text, std::size_t offset) {
  constexpr std::size_t reach = 500;
  std::size_t begin = offset - std::min(offset, reach);
  const std::size_t line_end = text.substr(begin, offset - begin).find_last_of("\r\n");
  if (line_end != std::string_view::npos) begin += line_end + 1;
  while (begin < offset && continues_character(text[begin])) ++begin;
  std::size_t end =
      offset + std::min(text.substr(offset, reach).find_first_of("\r\n"), text.substr(offset, reach).size());
  while (end < text.size() && end > offset && continues_character(text[end])) --end;
  return {begin, end};
}

}  // namespace script_reading

ScriptLimits::ScriptLimits(const ScriptRow& row) {
  const ScriptType type = row.type();
  if (!type.schema || type.table) return;
  Json schema = read_json(type.schema);
  if (!schema.is_object()) return;
  if (*row.limits) schema.update(read_json("{" + std::string(row.limits) + "}"));
  const Json* const kind = json_pointer::child(schema, "type");
  if (!kind) return;
  if (*kind == "object" && schema.size() == 1) kind_ = Kind::object;
  if (*kind == "integer") kind_ = Kind::integer;
  if (*kind == "number") kind_ = Kind::number;
  if (*kind == "string") kind_ = Kind::text;
  if (const Json* const least = json_pointer::child(schema, "minimum")) least_.emplace(*least);
  if (const Json* const most = json_pointer::child(schema, "maximum")) most_.emplace(*most);
  not_empty_ = schema.contains("minLength");
  if (kind_ == Kind::text && schema.contains("enum")) words_ = schema["enum"].get<std::vector<std::string>>();
}

void ScriptLimits::require(const ScriptNode& node) const {
  if (kind_ == Kind::object && !node.value.is_object()) script_reading::fail_expected(node, "an object");
  if (kind_ == Kind::integer || kind_ == Kind::number) {
    const bool fits = kind_ == Kind::integer ? script_reading::is_whole(node.value) : node.value.is_number();
    if (!fits || (least_ && node.value < *least_) || (most_ && node.value > *most_))
      script_reading::fail_expected(
          node, script_reading::range_text(least_, most_, kind_ == Kind::integer ? "a whole number" : "a number"));
  }
  if (kind_ != Kind::text || !node.value.is_string()) return;
  if (not_empty_ && node.value == "") script_reading::fail(node, "expected a text that is not empty");
  if (!words_.empty()) script_values::one_of(node, words_);
}

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
  problem.message = script_reading::bounded(mistake.message);
  script_reading::hide_keys(problem.pointer);
  script_reading::hide_keys(problem.message);
  const auto place = places.find(mistake.pointer);
  if (place == places.end()) return problem;
  show(problem, mistake.key ? place->second.key : place->second.begin);
  return problem;
}

void ScriptSource::show(ScriptProblem& problem, std::size_t offset) const {
  const text::Position place = position(offset);
  const auto [begin, end] = script_reading::line_around(text, offset);
  problem.line = place.line;
  problem.column = place.column;
  problem.source = script_reading::without_secrets(text, begin, end);
  problem.source_column = place.column - text::code_points(std::string_view(text).substr(begin, offset - begin));
}

text::Position ScriptSource::position(std::size_t offset) const {
  constexpr std::size_t step = 4096;
  const auto after = [this](const Mark& mark, std::size_t end) {
    const text::Position moved = text::position_in(std::string_view(text).substr(mark.offset), end - mark.offset);
    if (moved.line == 1) return text::Position{mark.position.line, mark.position.column + moved.column - 1};
    return text::Position{mark.position.line + moved.line - 1, moved.column};
  };
  if (marks.empty()) marks.push_back({0, {1, 1}});
  while (marks.back().offset + step <= offset) {
    std::size_t next = marks.back().offset + step;
    while (next < offset && script_reading::continues_character(text[next])) ++next;
    marks.push_back({next, after(marks.back(), next)});
  }
  const auto behind = std::upper_bound(marks.begin(), marks.end(), offset,
                                       [](std::size_t wanted, const Mark& mark) { return wanted < mark.offset; });
  return after(*std::prev(behind), offset);
}

void ScriptReader::note(const ScriptMistake& mistake) {
  ++noted_;
  if (mistake.message.empty()) return;
  // Keep one problem more than reports show, so that they can say that there are more.
  if (++reported_ <= script_reading::most_problems + 1) problems_.push_back(source_.problem(Severity::error, mistake));
}

void ScriptReader::refer(ScriptReference::Kind kind, const std::string& name, const std::string& pointer) {
  references_.push_back({kind, name, pointer});
}

const ScriptRow* ScriptTable::find(const std::string& key) const {
  for (const ScriptRow* row = rows; row != rows + count; ++row)
    if (key == row->name) return row;
  return beside ? beside().find(key) : nullptr;
}

std::vector<const char*> ScriptTable::keys_of(std::string_view group) const {
  std::vector<const char*> keys;
  for (const ScriptRow* row = rows; row != rows + count; ++row)
    if (group == row->group) keys.push_back(row->name);
  return keys.empty() && beside ? beside().keys_of(group) : keys;
}

Gate ScriptReader::gate(const std::string& name) { return gates_.try_emplace(name, name).first->second; }

SourceLocation ScriptReader::where(const std::string& pointer) const {
  SourceLocation where;
  where.file = script_reading::lasting(source_.file.empty() ? "the script" : source_.file);
  const auto place = source_.places.find(pointer);
  if (place != source_.places.end()) where.line = static_cast<int>(source_.position(place->second.begin).line);
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
    const ScriptRow* const row = table.find(key);
    const ScriptNode child = node.member(key, value);
    if (row) {
      const bool is_own = row >= table.rows && row < end;
      read_member(child, *row, target, apply && is_own);
    } else if (!script_reading::is_remark(key)) {
      std::vector<std::string> known;
      for (const ScriptTable* one = &table; one; one = one->beside ? &one->beside() : nullptr)
        for (const ScriptRow* known_row = one->rows; known_row != one->rows + one->count; ++known_row)
          known.emplace_back(known_row->name);
      note({child.pointer, "unknown key \"" + text::printable(key, 60) + "\"" + script_reading::suggestion(key, known),
            true});
    }
  }
  for (const ScriptRow* row = table.rows; row != end; ++row) {
    if (row->required && !node.find(row->name)) note({node.pointer, std::string("\"") + row->name + "\" is missing"});
  }
}

void ScriptReader::read_strictly(const ScriptNode& node, const ScriptTable& table, void* target, bool apply) {
  const std::size_t noted = noted_;
  read_object(node, table, target, apply);
  require_none_since(noted);
}

void ScriptReader::read_member(const ScriptNode& node, const ScriptRow& row, void* target, bool apply) {
  try {
    limits_.try_emplace(&row, row).first->second.require(node);
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

}  // namespace mock_gateway::detail
