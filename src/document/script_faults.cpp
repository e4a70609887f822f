// The script keys and names of failures, faults, effects and connection faults.

#include <algorithm>  // find, find_if
#include <iterator>   // size
#include <string_view>

#include "../core/text.hpp"
#include "../model/failure_rows.hpp"
#include "../model/fault_rows.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
namespace script_types {

/// Reads a value and passes it to the overload of the setter with the parameter type `V`.
template <class V, Failure (Failure::*Setter)(V) const>
void set_failure(ScriptReader& reader, const ScriptNode& node, void* target) {
  SetBy<Setter>::apply(reader, node, target);
}

inline constexpr ScriptRow setter_rows[] = {
    in_group("$failure_setter",
             {"retry_after", &duration, "with failure: Retry-After in seconds; with a 429, 1 s unless set",
              &set_failure<Duration, &Failure::retry_after>}),
    in_group("$failure_setter", {"retry_after_text", &text, "with failure: Retry-After, any text",
                                 &set_failure<std::string, &Failure::retry_after>}),
    in_group("$failure_setter", {"retry_after_date", &duration, "with failure: Retry-After as a date",
                                 &SetBy<&Failure::retry_after_date>::apply}),
    in_group("$failure_setter", {"without_retry_after", &yes, "with failure: no Retry-After, not even with a 429",
                                 &SetBy<&Failure::without_retry_after>::apply}),
    in_group("$failure_setter",
             {"retry_after_ms", &duration, "with failure: retry-after-ms", &SetBy<&Failure::retry_after_ms>::apply}),
    in_group("$failure_setter",
             {"should_retry", &boolean, "with failure: x-should-retry", &SetBy<&Failure::should_retry>::apply}),
    in_group("$failure_setter",
             {"type", &text, "with failure: `error.type`", &set_failure<std::string, &Failure::type>}),
    in_group("$failure_setter",
             {"param", &text, "with failure: `error.param`", &set_failure<std::string, &Failure::param>}),
    in_group("$failure_setter", {"error_body", &text, "with failure: a body in place of the error", nullptr}),
    in_group("$failure_setter",
             {"error_json", &any, "with failure: JSON in place of the error", &SetBy<&Failure::json_body>::apply}),
    {"content_type", &text, "with error_body: its Content-Type", nullptr},
};
inline constexpr ScriptTable setter_table{"setters of a failure", setter_rows, std::size(setter_rows)};

const ScriptTable& failure_setters() { return setter_table; }

inline constexpr ScriptRow failure_key_rows[] = {
    {"status", &whole, "from 200 to 599", nullptr, true, R"("minimum":200,"maximum":599)"},
    {"code", &text, "`error.code`", nullptr, true},
    {"message", &text, "`error.message`", nullptr, true},
};
inline constexpr ScriptTable failure_table{"failure", failure_key_rows, std::size(failure_key_rows)};

template <class Row, std::size_t count>
std::vector<std::string> names_of(const Row (&rows)[count]) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> failure_names() { return names_of(failure_rows); }

ScriptType failure() {
  return {"name, status, or object",
          R"({"anyOf":[{"enum":"$names"},{"type":"integer","minimum":200,"maximum":599},"$rows"]})", &failure_table,
          &failure_names};
}

Failure bare_failure(ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) {
    return failure_rows[script_values::one_of(node, failure_names())].make();
  }
  if (node.value.is_number()) {
    const int status = read_value<int>(reader, node);
    if (status < 200 || status > 599) script_reading::fail_expected(node, "a status from 200 to 599");
    return failure_with_status(status);
  }
  if (!node.value.is_object()) script_reading::fail_expected(node, "a name, a status, or an object");
  reader.read_strictly(node, failure_table);
  return mock_gateway::failure(read_value<int>(reader, node.at("status")), script_values::text_of(node.at("code")),
                               script_values::text_of(node.at("message")));
}

ScriptType inside_event_type() {
  return {"[event, bytes]", R"({"type":"array","items":{"type":"integer","minimum":1},"minItems":2,"maxItems":2})"};
}

void add_trigger_rows(std::vector<ScriptRow>& rows, const char* lead) {
  const auto type_of = [](TriggerArgument argument) {
    return argument == TriggerArgument::none    ? &yes
           : argument == TriggerArgument::count ? &positive
                                                : &inside_event_type;
  };
  for (const TriggerRow& trigger : faults::trigger_rows())
    rows.push_back(
        in_group("$trigger", {trigger.name, type_of(trigger.argument), trigger.help, nullptr, false, "", lead}));
}

ScriptType fault() {
  static const std::vector<ScriptRow> rows = [] {
    std::vector<ScriptRow> made;
    add_trigger_rows(made, "");
    made.push_back({"effect", &effect, "what happens at that place", nullptr, true});
    return made;
  }();
  static const ScriptTable table{"fault", rows.data(), rows.size(), R"("oneOf":["$trigger"])"};
  return {"object with a trigger and an effect", nullptr, &table};
}

ScriptType (*type_of(EffectArgument argument))() {
  switch (argument) {
    case EffectArgument::duration: return &duration;
    case EffectArgument::gate: return &name_text;
    case EffectArgument::bytes: return &text;
    case EffectArgument::base64: return &base64;
    case EffectArgument::json: return &any;
    case EffectArgument::failure: return &failure;
    case EffectArgument::difference: return &whole;
  }
  return &any;
}

std::vector<std::string> effect_names() {
  std::vector<std::string> names;
  for (const EffectRow& row : faults::effect_rows())
    if (!row.has(EffectTraits::needs_argument)) names.emplace_back(row.name);
  return names;
}

ScriptType effect() {
  static const std::vector<ScriptRow> rows = [] {
    std::vector<ScriptRow> made;
    for (const EffectForm& form : faults::effect_forms()) {
      const char* const limits = form.argument == EffectArgument::bytes ? R"("minLength":1)" : "";
      made.push_back(in_group("$effect", {form.key, type_of(form.argument), form.help, nullptr, false, limits}));
    }
    return made;
  }();
  static const ScriptTable table{"effect", rows.data(), rows.size(), R"("oneOf":["$effect"])"};
  return {"name, or object with one key", R"({"anyOf":[{"enum":"$names"},"$rows"]})", &table, &effect_names};
}

inline constexpr ScriptRow slow_body_rows[] = {
    {"bytes", &positive, "how many bytes are read at a time", nullptr, true},
    {"gap", &duration, "the pause between two reads", nullptr, true},
};
inline constexpr ScriptTable slow_body_table{"slow_body", slow_body_rows, std::size(slow_body_rows)};

ScriptType slow_body_type() { return {"object", nullptr, &slow_body_table}; }

inline constexpr ScriptRow connection_fault_rows[] = {
    in_group("$connection_fault", {"garbage_on_accept", &text, "sends this text immediately, then ends the connection",
                                   nullptr, false, R"("minLength":1)"}),
    in_group("$connection_fault",
             {"early_hints", &headers, "a response 103 with these headers before the reply", nullptr}),
    in_group("$connection_fault", {"slow_body", &slow_body_type, "reads the request's body slowly", nullptr}),
    in_group("$connection_fault", {"reply_before_body", &failure, "answers before the body has arrived", nullptr}),
    in_group("$connection_fault", {"reply_then_read_body", &failure,
                                   "answers equally early, then reads the body and keeps the connection", nullptr}),
};
inline constexpr ScriptTable connection_fault_table{
    "connection fault", connection_fault_rows, std::size(connection_fault_rows), R"("oneOf":["$connection_fault"])"};

struct NamedConnectionFault {
  const char* name;
  ConnectionFault (*make)();
};

inline constexpr NamedConnectionFault named_connection_faults[] = {
    {"reset_on_accept", &reset_on_accept},
    {"close_on_accept", &close_on_accept},
    {"garbage_on_accept", [] { return garbage_on_accept(); }},
    {"close_when_reused", &close_when_reused},
    {"reset_when_reused", &reset_when_reused},
    {"unsolicited_continue", &unsolicited_continue},
    {"early_hints", [] { return early_hints(); }},
};

std::vector<std::string> connection_fault_names() { return names_of(named_connection_faults); }

ScriptType connection_fault() {
  return {"name, or object with one key", R"({"anyOf":[{"enum":"$names"},"$rows"]})", &connection_fault_table,
          &connection_fault_names};
}

}  // namespace script_types

bool is_failure_key(const std::string& key) { return key == "failure" || script_types::setter_table.find(key); }

void require_no_failure_key(const ScriptNode& node, bool content_type) {
  for (const auto& [key, value] : node.value.get_ref<const Json::object_t&>()) {
    if (key != "failure" && is_failure_key(key) && (content_type || key != "content_type"))
      script_reading::fail(node.member(key, value), "\"" + key + "\" belongs beside \"failure\"");
  }
}

Failure read_failure(ScriptReader& reader, const ScriptNode& node) {
  Failure failure = script_types::bare_failure(reader, node.at("failure"));
  script_reading::require_not_both(node, "retry_after", "retry_after_text");
  for (const ScriptRow& row : script_types::setter_rows)
    if (row.apply && node.find(row.name)) reader.guarded(node.at(row.name), row.apply, &failure);
  script_reading::require_not_both(node, "error_body", "error_json");
  if (node.find("error_body")) {
    const std::string& body = script_values::text_of(node.at("error_body"));
    failure = node.find("content_type") ? failure.body(body, script_values::text_of(node.at("content_type")))
                                        : failure.body(body);
  } else if (node.find("content_type")) {
    script_reading::fail(node.at("content_type"), "\"content_type\" belongs beside \"error_body\"");
  }
  return failure;
}

Trigger read_trigger(ScriptReader& reader, const ScriptNode& node) {
  const std::string_view key =
      script_reading::only_key(node, script_types::fault().table->keys_of("$trigger"), "a fault");
  const ScriptNode value = node.at(key.data());
  const Rows<TriggerRow> rows = faults::trigger_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [key](const TriggerRow& one) { return key == one.name; });
  if (row->argument == TriggerArgument::count)
    return faults::trigger(row->kind, read_value<std::size_t>(reader, value));
  if (row->argument == TriggerArgument::event_and_byte) {
    script_values::require_list(value, 2, "[event, bytes]");
    for (std::size_t index = 0; index < 2; ++index)
      if (read_value<std::size_t>(reader, value.element(index)) == 0)
        script_reading::fail_expected(value.element(index), "a whole number of at least 1");
    return faults::trigger(row->kind, read_value<std::size_t>(reader, value.element(0)),
                           read_value<std::size_t>(reader, value.element(1)));
  }
  script_values::require_yes(value);
  return faults::trigger(row->kind);
}

Effect read_effect_with(ScriptReader& reader, const ScriptNode& node, const EffectForm& form) {
  switch (form.argument) {
    case EffectArgument::duration: return faults::effect(form.kind, read_value<Duration>(reader, node));
    case EffectArgument::gate: return faults::effect(form.kind, reader.gate(script_values::name_of(node)));
    case EffectArgument::bytes: return faults::effect(form.kind, script_values::text_of(node));
    case EffectArgument::base64: return faults::effect(form.kind, script_values::decode_base64(node));
    case EffectArgument::json: {
      const bool is_wrapped = node.value.is_object() && node.find("failure");
      const Json& data = is_wrapped ? node.at("failure").value : node.value;
      const Json status = data.is_object() ? data.value("status", Json()) : data;
      const std::vector<std::string> failures = script_types::failure_names();
      if (std::find(failures.begin(), failures.end(), data) != failures.end() ||
          (is_wrapped && status.is_number_integer() && status >= 200 && status <= 599))
        reader.refer(ScriptReference::Kind::failure_as_data, data.dump(), node.pointer);
      return faults::effect(form.kind, node.value);
    }
    case EffectArgument::failure: return faults::effect(form.kind, script_types::bare_failure(reader, node));
    case EffectArgument::difference: return faults::effect(form.kind, read_value<std::int64_t>(reader, node));
  }
  return faults::effect(form.kind);
}

Effect read_effect(ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) {
    const std::vector<std::string> names = script_types::effect_names();
    const std::string& name = names[script_values::one_of(node, names)];
    const Rows<EffectRow> rows = faults::effect_rows();
    return faults::effect(
        std::find_if(rows.begin(), rows.end(), [&name](const EffectRow& row) { return name == row.name; })->kind);
  }
  if (!node.value.is_object())
    script_reading::fail_expected(node, "the name of an effect, or an object such as {\"stall\": \"2s\"}");
  const ScriptTable& table = *script_types::effect().table;
  reader.read_strictly(node, table);
  const std::string_view key = script_reading::only_key(node, table.keys_of("$effect"), "an effect");
  const Rows<EffectForm> forms = faults::effect_forms();
  return read_effect_with(
      reader, node.at(key.data()),
      *std::find_if(forms.begin(), forms.end(), [key](const EffectForm& form) { return key == form.key; }));
}

std::pair<Trigger, Effect> read_fault(ScriptReader& reader, const ScriptNode& node) {
  if (!node.value.is_object()) script_reading::fail_expected(node, "an object with a trigger and an effect");
  reader.read_strictly(node, *script_types::fault().table);
  return {read_trigger(reader, node), read_effect(reader, node.at("effect"))};
}

ConnectionFault read_connection_fault(ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) {
    const std::size_t index = script_values::one_of(node, script_types::connection_fault_names());
    return script_types::named_connection_faults[index].make();
  }
  if (!node.value.is_object())
    script_reading::fail_expected(
        node, "the name of a connection fault, or an object such as {\"garbage_on_accept\": \"text\"}");
  reader.read_strictly(node, script_types::connection_fault_table);
  const std::string_view key = script_reading::only_key(
      node, script_types::connection_fault_table.keys_of("$connection_fault"), "a connection fault");
  const ScriptNode value = node.at(key.data());
  if (key == "garbage_on_accept") return garbage_on_accept(script_values::text_of(value));
  if (key == "early_hints") return early_hints(read_value<wire::Headers>(reader, value));
  if (key == "reply_before_body") return reply_before_body(script_types::bare_failure(reader, value));
  if (key == "reply_then_read_body") return reply_then_read_body(script_types::bare_failure(reader, value));
  reader.read_strictly(value, script_types::slow_body_table);
  return slow_body(read_value<std::size_t>(reader, value.at("bytes")), read_value<Duration>(reader, value.at("gap")));
}

}  // namespace mock_gateway::detail
