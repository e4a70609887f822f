// The script keys of `when`, `should` and of texts.

#include <iterator>  // size

#include "../script/field_matchers.hpp"
#include "../script/matchers.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
namespace script_types {

using Matchers = std::vector<Matcher>;

/// Reads a key's value and adds its matcher: `match<TextMatcher, &user_says>`.
template <class V, Matcher (*Make)(V)>
void match(ScriptReader& reader, const ScriptNode& node, void* target) {
  static_cast<Matchers*>(target)->push_back(Make(read_value<V>(reader, node)));
}

void add(void* target, Matcher matcher) { static_cast<Matchers*>(target)->push_back(std::move(matcher)); }

Matcher all_of(const Matchers& matchers) {
  Matcher all = matchers.front();
  for (std::size_t index = 1; index < matchers.size(); ++index) all = all && matchers[index];
  return all;
}

/// Returns the matchers of an object, joined by &&.
Matcher one_matcher(ScriptReader& reader, const ScriptNode& node) {
  const std::size_t noted = reader.noted();
  const Matchers matchers = read_matchers(reader, node);
  if (reader.noted() > noted) throw ScriptMistake();
  if (matchers.empty()) script_reading::fail(node, "an object without a matcher matches everything; leave it out");
  return all_of(matchers);
}

Matchers each_matcher(ScriptReader& reader, const ScriptNode& node) {
  if (!node.value.is_array() || node.value.empty()) script_reading::fail_expected(node, "a list of objects");
  Matchers matchers;
  for (std::size_t index = 0; index < node.value.size(); ++index)
    matchers.push_back(one_matcher(reader, node.element(index)));
  return matchers;
}

void match_any(ScriptReader& reader, const ScriptNode& node, void* target) {
  const Matchers matchers = each_matcher(reader, node);
  Matcher any = matchers.front();
  for (std::size_t index = 1; index < matchers.size(); ++index) any = any || matchers[index];
  add(target, std::move(any));
}

void match_all(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, all_of(each_matcher(reader, node)));
}

void match_not(ScriptReader& reader, const ScriptNode& node, void* target) { add(target, !one_matcher(reader, node)); }

TextMatcher text_or_any(ScriptReader& reader, const ScriptNode& node, const char* key) {
  return node.find(key) ? read_value<TextMatcher>(reader, node.at(key)) : any_text();
}

inline constexpr ScriptRow message_rows[] = {
    {"position", &whole, "counts from 0; negative positions count from the end", nullptr, true},
    {"role", &text, "its role", nullptr, true},
    {"text", &text_matcher, "its text", nullptr},
};
inline constexpr ScriptRow tool_result_rows[] = {
    {"tool", &text, "the function that was called", nullptr, true},
    {"text", &text_matcher, "the result's text", nullptr},
};
inline constexpr ScriptRow tool_result_of_rows[] = {
    {"call_id", &text, "the call's id", nullptr, true},
    {"text", &text_matcher, "the result's text", nullptr},
};
inline constexpr const char* pointer_pattern = R"("pattern":"^(/([^~/]|~[01])*)*$")";
inline constexpr ScriptRow json_at_rows[] = {
    {"pointer", &text, "JSON pointer", nullptr, true, pointer_pattern},
    {"value", &any, "the value", nullptr, true},
};
inline constexpr ScriptRow json_text_at_rows[] = {
    {"pointer", &text, "JSON pointer", nullptr, true, pointer_pattern},
    {"text", &text_matcher, "the string", nullptr, true},
};
inline constexpr ScriptRow named_text_rows[] = {
    {"name", &text, "its name", nullptr, true},
    {"value", &text_matcher, "its value", nullptr},
};
inline constexpr ScriptRow header_is_rows[] = {
    {"name", &text, "its name", nullptr, true, R"("pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")"},
    {"value", &text, "its exact value", nullptr, true},
};
inline constexpr ScriptTable message_table{"message_is", message_rows, std::size(message_rows)};
inline constexpr ScriptTable tool_result_table{"tool_result", tool_result_rows, std::size(tool_result_rows)};
inline constexpr ScriptTable tool_result_of_table{"tool_result_of", tool_result_of_rows,
                                                  std::size(tool_result_of_rows)};
inline constexpr ScriptTable json_at_table{"json_at", json_at_rows, std::size(json_at_rows)};
inline constexpr ScriptTable json_text_at_table{"json_text_at", json_text_at_rows, std::size(json_text_at_rows)};
inline constexpr ScriptTable named_text_table{"name and value", named_text_rows, std::size(named_text_rows)};
inline constexpr ScriptTable header_is_table{"header_is", header_is_rows, std::size(header_is_rows)};

inline constexpr const char* text_or_rows = R"({"anyOf":[{"type":"string"},"$rows"]})";

ScriptType message() { return {"object", nullptr, &message_table}; }
ScriptType tool_result_type() { return {"name of a function, or object", text_or_rows, &tool_result_table}; }
ScriptType tool_result_of_type() { return {"id of a call, or object", text_or_rows, &tool_result_of_table}; }
ScriptType json_at_type() { return {"object", nullptr, &json_at_table}; }
ScriptType json_text_at_type() { return {"object", nullptr, &json_text_at_table}; }
ScriptType named_text() { return {"name, or object", text_or_rows, &named_text_table}; }
ScriptType header_is_type() { return {"object", nullptr, &header_is_table}; }
ScriptType list_of_whens() {
  return {"list of such objects", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/when","minProperties":1}})"};
}

/// Notes mistakes. Returns whether all required keys are present.
bool has_keys(ScriptReader& reader, const ScriptNode& node, const ScriptTable& table) {
  reader.read_object(node, table, nullptr);
  for (std::size_t row = 0; row < table.count; ++row)
    if (table.rows[row].required && !node.find(table.rows[row].name)) return false;
  return true;
}

std::string member_text(const ScriptNode& node, const char* key) { return script_values::text_of(node.at(key)); }

void match_message(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (!has_keys(reader, node, message_table)) return;
  add(target, message_is(read_value<int>(reader, node.at("position")), member_text(node, "role"),
                         text_or_any(reader, node, "text")));
}

void require_text_or_object(const ScriptNode& node) {
  if (!node.value.is_object()) script_reading::fail_expected(node, "a text, or an object");
}

void match_tool_result(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value.is_string()) return add(target, tool_result(script_values::text_of(node)));
  require_text_or_object(node);
  if (!has_keys(reader, node, tool_result_table)) return;
  add(target, tool_result(member_text(node, "tool"), text_or_any(reader, node, "text")));
}

void match_tool_result_of(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value.is_string()) return add(target, tool_result_of(script_values::text_of(node)));
  require_text_or_object(node);
  if (!has_keys(reader, node, tool_result_of_table)) return;
  add(target, tool_result_of(member_text(node, "call_id"), text_or_any(reader, node, "text")));
}

void match_last_is_tool_result(ScriptReader& reader, const ScriptNode& node, void* target) {
  const Matcher last = last_is_tool_result();
  add(target, read_value<bool>(reader, node) ? last : !last);
}

void match_json_at(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (!has_keys(reader, node, json_at_table)) return;
  add(target, json_at(member_text(node, "pointer"), node.at("value").value));
}

void match_json_text_at(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (!has_keys(reader, node, json_text_at_table)) return;
  add(target, json_text_at(member_text(node, "pointer"), read_value<TextMatcher>(reader, node.at("text"))));
}

void match_has_header(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value.is_string()) return add(target, has_header(script_values::text_of(node)));
  require_text_or_object(node);
  if (!has_keys(reader, node, named_text_table)) return;
  if (!node.find("value")) return add(target, has_header(member_text(node, "name")));
  add(target, has_header(member_text(node, "name"), read_value<TextMatcher>(reader, node.at("value"))));
}

void match_header_is(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (!has_keys(reader, node, header_is_table)) return;
  add(target, header_is(member_text(node, "name"), member_text(node, "value")));
}

void match_key_is(ScriptReader& reader, const ScriptNode& node, void* target) {
  const std::string& key = script_values::key_name(node);
  reader.refer(ScriptReference::Kind::key, key, node.pointer);
  add(target, key_is(key));
}

void match_has_query(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value.is_string()) return add(target, has_query(script_values::text_of(node)));
  require_text_or_object(node);
  if (!has_keys(reader, node, named_text_table)) return;
  add(target, has_query(member_text(node, "name"), text_or_any(reader, node, "value")));
}

void match_number(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, request_field(node.key()).in_range(read_value<Range>(reader, node)));
}

void match_whole(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, request_field(node.key()).whole_is(read_value<std::int64_t>(reader, node)));
}

void match_flag(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, request_field(node.key()).flag_is(read_value<bool>(reader, node)));
}

void match_word(ScriptReader&, const ScriptNode& node, void* target) {
  add(target, request_field(node.key()).word_is(script_values::text_of(node)));
}

void match_model(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.refer(ScriptReference::Kind::model, script_values::text_of(node), node.pointer);
  match_word(reader, node, target);
}

const char* limits_of(const FieldWords& known) {
  if (known.count == 0) return "";
  Json words = Json::array();
  for (std::size_t index = 0; index < known.count; ++index) words.push_back(std::string(known.words[index]));
  return script_reading::lasting("\"enum\":" + words.dump());
}

ScriptRow row_of(const RequestField& field) {
  switch (field.kind) {
    case RequestField::Kind::number: return {field.matcher, &range, field.help, &match_number};
    case RequestField::Kind::whole: return {field.matcher, &whole, field.help, &match_whole};
    case RequestField::Kind::flag: return {field.matcher, &boolean, field.help, &match_flag};
    case RequestField::Kind::model: return {field.matcher, &text, field.help, &match_model};
    case RequestField::Kind::word:
    case RequestField::Kind::list: break;
  }
  return {field.matcher, &text, field.help, &match_word, false, limits_of(field.words)};
}

inline constexpr ScriptRow said_rows[] = {
    {"user_says", &text_matcher, "the text of the last user message", &match<TextMatcher, &user_says>},
    {"system_says", &text_matcher, "the text of some system message", &match<TextMatcher, &system_says>},
    {"any_message_says", &text_matcher, "the text of some message", &match<TextMatcher, &any_message_says>},
    {"message_is", &message, "the message at a position", &match_message},
};
inline constexpr ScriptRow ended_rows[] = {
    {"last_is_tool_result", &boolean, "the last message is a tool result", &match_last_is_tool_result},
    {"tool_result", &tool_result_type, "a tool result at the end, by the function that was called", &match_tool_result},
    {"tool_result_of", &tool_result_of_type, "a tool result at the end, by the call's id", &match_tool_result_of},
};
inline constexpr ScriptRow other_when_rows[] = {
    {"has_field", &text, "the body has this field", &match<std::string, &has_field>},
    {"json_at", &json_at_type, "the value at a JSON pointer", &match_json_at},
    {"json_text_at", &json_text_at_type, "the string at a JSON pointer", &match_json_text_at},
    {"body_includes", &any, "the body includes this JSON", &match<Json, &body_includes>},
    {"has_header", &named_text, "a header, or one whose value matches", &match_has_header},
    {"header_is", &header_is_type, "a header with exactly this value; the stub then belongs to the test that sends it",
     &match_header_is},
    {"key_is", &name_text, "the key, by name or id; the stub then belongs to the test that uses it", &match_key_is,
     false, R"("minLength":1)"},
    {"has_query", &named_text, "a parameter of the query", &match_has_query},
    {"any", &list_of_whens, "one of these matches", &match_any},
    {"all", &list_of_whens, "each of these matches", &match_all},
    {"not", &when, "this does not match", &match_not, false, R"("minProperties":1)"},
};

void append(std::vector<ScriptRow>& rows, const ScriptRow* added, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) rows.push_back(added[index]);
}

/// In the order of the schema and the documentation.
std::vector<ScriptRow> all_when_rows() {
  std::vector<ScriptRow> rows;
  append(rows, said_rows, std::size(said_rows));
  for (const RequestField& field : fields_of_messages()) rows.push_back(row_of(field));
  append(rows, ended_rows, std::size(ended_rows));
  for (const RequestField& field : fields_of_requests()) rows.push_back(row_of(field));
  append(rows, other_when_rows, std::size(other_when_rows));
  return rows;
}

const ScriptTable& when_table() {
  static const std::vector<ScriptRow> rows = all_when_rows();
  static const ScriptTable table{"when", rows.data(), rows.size()};
  return table;
}

ScriptType when() { return {"object of matchers", nullptr, &when_table()}; }

struct MatchedText {
  std::vector<TextMatcher> matchers;
};

template <TextMatcher (*Make)(std::string)>
void match_text(ScriptReader&, const ScriptNode& node, void* target) {
  static_cast<MatchedText*>(target)->matchers.push_back(Make(script_values::text_of(node)));
}

std::vector<TextMatcher> each_text(ScriptReader& reader, const ScriptNode& node) {
  if (!node.value.is_array() || node.value.empty()) script_reading::fail_expected(node, "a list of texts or objects");
  std::vector<TextMatcher> texts;
  for (std::size_t index = 0; index < node.value.size(); ++index)
    texts.push_back(read_value<TextMatcher>(reader, node.element(index)));
  return texts;
}

void match_any_of_texts(ScriptReader& reader, const ScriptNode& node, void* target) {
  const std::vector<TextMatcher> texts = each_text(reader, node);
  TextMatcher any = texts.front();
  for (std::size_t index = 1; index < texts.size(); ++index) any = any || texts[index];
  static_cast<MatchedText*>(target)->matchers.push_back(std::move(any));
}

void match_all_texts(ScriptReader& reader, const ScriptNode& node, void* target) {
  for (TextMatcher& one : each_text(reader, node))
    static_cast<MatchedText*>(target)->matchers.push_back(std::move(one));
}

void match_no_text(ScriptReader& reader, const ScriptNode& node, void* target) {
  static_cast<MatchedText*>(target)->matchers.push_back(!read_value<TextMatcher>(reader, node));
}

void match_every_text(ScriptReader&, const ScriptNode& node, void* target) {
  script_values::require_yes(node);
  static_cast<MatchedText*>(target)->matchers.push_back(any_text());
}

ScriptType list_of_texts() {
  return {"list of texts or such objects", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/text_matcher"}})"};
}

inline constexpr ScriptRow text_rows[] = {
    {"contains", &text, "contains this; a bare string means the same", &match_text<&contains>},
    {"equals", &text, "equals this", &match_text<&equals>},
    {"starts_with", &text, "begins with this", &match_text<&starts_with>},
    {"ends_with", &text, "ends with this", &match_text<&ends_with>},
    {"matches_regex", &text, "some part matches the pattern (ECMAScript, without lookaround and backreferences)",
     &match_text<&matches_regex>},
    {"any_text", &yes, "matches every text", &match_every_text},
    {"any", &list_of_texts, "one of these matches", &match_any_of_texts},
    {"all", &list_of_texts, "each of these matches", &match_all_texts},
    {"not", &text_matcher, "this does not match", &match_no_text},
};
inline constexpr ScriptTable text_table{"text", text_rows, std::size(text_rows), R"("minProperties":1)"};

ScriptType text_matcher() {
  return {"text that is contained, or object", R"({"anyOf":[{"type":"string"},"$rows"]})", &text_table};
}

}  // namespace script_types

std::vector<Matcher> read_matchers(ScriptReader& reader, const ScriptNode& node) {
  std::vector<Matcher> matchers;
  reader.read_object(node, script_types::when_table(), &matchers);
  return matchers;
}

TextMatcher read_as(As<TextMatcher>, ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) return contains(script_values::text_of(node));
  if (!node.value.is_object()) script_reading::fail_expected(node, "a text, or an object such as {\"equals\": …}");
  script_types::MatchedText text;
  const std::size_t noted = reader.noted();
  reader.read_object(node, script_types::text_table, &text);
  if (reader.noted() > noted) throw ScriptMistake();
  if (text.matchers.empty())
    script_reading::fail(node, "an object without a condition; {\"any_text\": true} matches every text");
  TextMatcher all = text.matchers.front();
  for (std::size_t index = 1; index < text.matchers.size(); ++index) all = all && text.matchers[index];
  return all;
}

}  // namespace mock_gateway::detail
