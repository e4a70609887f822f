// The script keys of `when`, `should` and of texts.

#include <iterator>  // size

#include "../script/field_matchers.hpp"
#include "../script/matchers.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
namespace script_types {

template <class M>
void add(void* target, M matcher) {
  static_cast<std::vector<M>*>(target)->push_back(std::move(matcher));
}

/// Reads a value of type V and adds its matcher: `match<TextMatcher, &user_says>`.
template <class V, auto Make>
void match(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, Make(read_value<V>(reader, node)));
}

/// Combines the matchers with `&&` or `||`.
template <class M>
M joined(const std::vector<M>& matchers, bool by_or = false) {
  M result = matchers.front();
  for (std::size_t index = 1; index < matchers.size(); ++index)
    result = by_or ? result || matchers[index] : result && matchers[index];
  return result;
}

template <class M>
std::vector<M> each(ScriptReader& reader, const ScriptNode& node) {
  if (!node.value.is_array() || node.value.empty())
    script_reading::fail_expected(node,
                                  std::is_same_v<M, Matcher> ? "a list of objects" : "a list of texts or objects");
  return read_value<std::vector<M>>(reader, node);
}

template <class M>
void match_any(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, joined(each<M>(reader, node), true));
}

void match_all(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, joined(each<Matcher>(reader, node)));
}

template <class M>
void match_not(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, !read_value<M>(reader, node));
}

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
inline constexpr ScriptRow any_at_rows[] = {
    {"pointer", &text, "JSON pointer to an array or object", nullptr, true, pointer_pattern},
    {"match", &when,
     "conditions on one element: json_at, json_text_at, has_field, body_includes, any_at, any, all, not; their "
     "pointers begin at the element",
     nullptr, true, R"("minProperties":1)"},
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
inline constexpr ScriptTable any_at_table{"any_at", any_at_rows, std::size(any_at_rows)};
inline constexpr ScriptTable named_text_table{"name and value", named_text_rows, std::size(named_text_rows)};
inline constexpr ScriptTable header_is_table{"header_is", header_is_rows, std::size(header_is_rows)};

inline constexpr const char* text_or_rows = R"({"anyOf":[{"type":"string"},"$rows"]})";

ScriptType message() { return {"object", nullptr, &message_table}; }
ScriptType tool_result_type() { return {"name of a function, or object", text_or_rows, &tool_result_table}; }
ScriptType tool_result_of_type() { return {"id of a call, or object", text_or_rows, &tool_result_of_table}; }
ScriptType json_at_type() { return {"object", nullptr, &json_at_table}; }
ScriptType json_text_at_type() { return {"object", nullptr, &json_text_at_table}; }
ScriptType any_at_type() { return {"object", nullptr, &any_at_table}; }
ScriptType named_text() { return {"name, or object", text_or_rows, &named_text_table}; }
ScriptType header_is_type() { return {"object", nullptr, &header_is_table}; }
ScriptType list_of_whens() {
  return {"list of such objects", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/when","minProperties":1}})"};
}

std::string member_text(const ScriptNode& node, const char* key) { return script_values::text_of(node.at(key)); }

void match_message(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, message_table);
  add(target, message_is(read_value<int>(reader, node.at("position")), member_text(node, "role"),
                         text_or_any(reader, node, "text")));
}

/// A text, or an object whose first key is that text and whose second one is a condition on another text.
template <Matcher (*Make)(std::string, TextMatcher), const ScriptTable& table>
void match_named(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value.is_string()) return add(target, Make(script_values::text_of(node), any_text()));
  if (!node.value.is_object()) script_reading::fail_expected(node, "a text, or an object");
  reader.read_strictly(node, table);
  const char* const condition = table.rows[1].name;
  add(target, Make(member_text(node, table.rows[0].name), text_or_any(reader, node, condition)));
}

void match_last_is_tool_result(ScriptReader& reader, const ScriptNode& node, void* target) {
  const Matcher last = last_is_tool_result();
  add(target, read_value<bool>(reader, node) ? last : !last);
}

void match_json_at(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, json_at_table);
  add(target, json_at(member_text(node, "pointer"), node.at("value").value));
}

void match_json_text_at(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, json_text_at_table);
  add(target, json_text_at(member_text(node, "pointer"), read_value<TextMatcher>(reader, node.at("text"))));
}

void match_any_at(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, any_at_table);
  add(target, any_at(member_text(node, "pointer"), read_value<Matcher>(reader, node.at("match"))));
}

void match_header_is(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, header_is_table);
  add(target, header_is(member_text(node, "name"), member_text(node, "value")));
}

void match_key_is(ScriptReader& reader, const ScriptNode& node, void* target) {
  const std::string& key = script_values::key_name(node);
  reader.refer(ScriptReference::Kind::key, key, node.pointer);
  add(target, key_is(key));
}

template <class V, auto Make>
void match_field(ScriptReader& reader, const ScriptNode& node, void* target) {
  add(target, (request_field(node.key()).*Make)(read_value<V>(reader, node)));
}

void match_model(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.refer(ScriptReference::Kind::model, script_values::text_of(node), node.pointer);
  match_field<std::string, &RequestField::word_is>(reader, node, target);
}

const char* limits_of(const FieldWords& known) {
  if (known.count == 0) return "";
  Json words = Json::array();
  for (std::size_t index = 0; index < known.count; ++index) words.push_back(std::string(known.words[index]));
  return script_reading::lasting("\"enum\":" + words.dump());
}

ScriptRow row_of(const RequestField& field) {
  switch (field.kind) {
    case RequestField::Kind::number:
      return {field.matcher, &range, field.help, &match_field<Range, &RequestField::in_range>};
    case RequestField::Kind::whole:
      return {field.matcher, &whole, field.help, &match_field<std::int64_t, &RequestField::whole_is>};
    case RequestField::Kind::flag:
      return {field.matcher, &boolean, field.help, &match_field<bool, &RequestField::flag_is>};
    case RequestField::Kind::model: return {field.matcher, &text, field.help, &match_model};
    case RequestField::Kind::word:
    case RequestField::Kind::list: break;
  }
  return {field.matcher,         &text, field.help, &match_field<std::string, &RequestField::word_is>, false,
          limits_of(field.words)};
}

inline constexpr ScriptRow said_rows[] = {
    {"user_says", &text_matcher, "the text of the last user message", &match<TextMatcher, &user_says>},
    {"system_says", &text_matcher, "the text of some system message", &match<TextMatcher, &system_says>},
    {"any_message_says", &text_matcher, "the text of some message", &match<TextMatcher, &any_message_says>},
    {"message_is", &message, "the message at a position", &match_message},
};
inline constexpr ScriptRow ended_rows[] = {
    {"last_is_tool_result", &boolean, "a tool result follows the assistant's last message", &match_last_is_tool_result},
    {"tool_result", &tool_result_type,
     "a tool result after the assistant's last message, by the function that was called",
     &match_named<&tool_result, tool_result_table>},
    {"tool_result_of", &tool_result_of_type, "a tool result after the assistant's last message, by the call's id",
     &match_named<&tool_result_of, tool_result_of_table>},
};
inline constexpr ScriptRow other_when_rows[] = {
    {"has_field", &text, "the body has this field", &match<std::string, &has_field>},
    {"json_at", &json_at_type, "the value at a JSON pointer", &match_json_at},
    {"json_text_at", &json_text_at_type, "the string at a JSON pointer", &match_json_text_at},
    {"body_includes", &any, "the body includes this JSON", &match<Json, &body_includes>},
    {"any_at", &any_at_type, "some element of the array, or member of the object, at a JSON pointer", &match_any_at},
    {"has_header", &named_text, "a header, or one whose value matches", &match_named<&has_header, named_text_table>},
    {"header_is", &header_is_type, "a header with exactly this value; the stub then belongs to the test that sends it",
     &match_header_is},
    {"key_is", &name_text, "the key, by name or id; the stub then belongs to the test that uses it", &match_key_is,
     false, R"("minLength":1)"},
    {"has_query", &named_text, "a parameter of the query", &match_named<&has_query, named_text_table>},
    {"any", &list_of_whens, "one of these matches", &match_any<Matcher>},
    {"all", &list_of_whens, "each of these matches", &match_all},
    {"not", &when, "this does not match", &match_not<Matcher>, false, R"("minProperties":1)"},
};

void append(std::vector<ScriptRow>& rows, const ScriptRow* added, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) rows.push_back(added[index]);
}

/// Returns the rows in the order of the JSON Schema and of the documentation.
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

void match_all_texts(ScriptReader& reader, const ScriptNode& node, void* target) {
  for (TextMatcher& one : each<TextMatcher>(reader, node)) add(target, std::move(one));
}

void match_every_text(ScriptReader&, const ScriptNode& node, void* target) {
  script_values::require_yes(node);
  add(target, any_text());
}

ScriptType list_of_texts() {
  return {"list of texts or such objects", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/text_matcher"}})"};
}

inline constexpr ScriptRow text_rows[] = {
    {"contains", &text, "contains this; a bare string means the same", &match<std::string, &contains>},
    {"equals", &text, "equals this", &match<std::string, &equals>},
    {"starts_with", &text, "begins with this", &match<std::string, &starts_with>},
    {"ends_with", &text, "ends with this", &match<std::string, &ends_with>},
    {"matches_regex", &text, "some part matches the pattern (ECMAScript, without lookaround and backreferences)",
     &match<std::string, &matches_regex>},
    {"any_text", &yes, "matches every text", &match_every_text},
    {"any", &list_of_texts, "one of these matches", &match_any<TextMatcher>},
    {"all", &list_of_texts, "each of these matches", &match_all_texts},
    {"not", &text_matcher, "this does not match", &match_not<TextMatcher>},
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
  std::vector<TextMatcher> texts;
  reader.read_strictly(node, script_types::text_table, &texts);
  if (texts.empty())
    script_reading::fail(node, "an object without a condition; {\"any_text\": true} matches every text");
  return script_types::joined(texts);
}

Matcher read_as(As<Matcher>, ScriptReader& reader, const ScriptNode& node) {
  std::vector<Matcher> matchers;
  reader.read_strictly(node, script_types::when_table(), &matchers);
  if (matchers.empty()) script_reading::fail(node, "an object without a matcher matches everything; leave it out");
  return script_types::joined(matchers);
}

}  // namespace mock_gateway::detail
