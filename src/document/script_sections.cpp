// The script keys of a document, of stubs, operations, failures, chaos and connections; the contents of scripts (in the
// header).

#include "script_sections.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../script/chaos_plan.hpp"
#include "../serve/operations.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
namespace script_types {

ScriptPlan& plan_of(void* target) { return *static_cast<ScriptPlan*>(target); }

// "stubs".

StubPlan& stub_of(void* target) { return *static_cast<StubPlan*>(target); }

void set_stub_name(ScriptReader&, const ScriptNode& node, void* target) {
  stub_of(target).name = script_values::name_of(node);
}

template <std::vector<Matcher> StubPlan::*Member>
void set_matchers(ScriptReader& reader, const ScriptNode& node, void* target) {
  stub_of(target).*Member = read_matchers(reader, node);
}

void add_reply(ScriptReader& reader, const ScriptNode& node, void* target) {
  stub_of(target).replies.push_back(read_reply(reader, node));
}

ScriptType replies() {
  return {"list of replies", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/reply"}})"};
}

void read_replies(ScriptReader& reader, const ScriptNode& node, void (*read)(ScriptReader&, const ScriptNode&, void*),
                  void* target) {
  if (node.value.is_array() && node.value.empty()) script_reading::fail(node, "the list needs at least one reply");
  reader.read_list(node, read, target);
}

void add_replies(ScriptReader& reader, const ScriptNode& node, void* target) {
  read_replies(reader, node, &add_reply, target);
}

void set_never(ScriptReader&, const ScriptNode& node, void* target) {
  script_values::require_yes(node);
  stub_of(target).expected_calls = Range(0);
}

ScriptType then() { return {"\"nothing_more\"", R"({"const":"nothing_more"})"}; }

void set_then(ScriptReader&, const ScriptNode& node, void* target) {
  script_values::one_of(node, {"nothing_more"});
  stub_of(target).nothing_more = true;
}

ScriptType calls() {
  return {"whole number, or a range",
          R"({"anyOf":[{"type":"integer","minimum":0},)"
          R"({"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{)"
          R"("at_least":{"type":"integer","minimum":0},"at_most":{"type":"integer","minimum":0},)"
          R"("between":{"type":"array","items":{"type":"integer","minimum":0},"minItems":2,"maxItems":2}}}]})"};
}

void set_expect(ScriptReader& reader, const ScriptNode& node, void* target) {
  const Range calls = read_value<Range>(reader, node);
  const auto whole = [](double number) { return std::isinf(number) || number == std::floor(number); };
  if (calls.most() < 0 || (calls.least() < 0 && !std::isinf(calls.least())) || !whole(calls.least()) ||
      !whole(calls.most()))
    script_reading::fail(node, "a number of calls must be a whole number of at least 0");
  stub_of(target).expected_calls = calls;
}

void set_times(ScriptReader& reader, const ScriptNode& node, void* target) {
  stub_of(target).at_most = read_value<std::size_t>(reader, node);
}

ScriptType machine_states() {
  return {"object of state machines and their states",
          R"({"type":"object","propertyNames":{"minLength":1,"maxLength":256},)"
          R"("additionalProperties":{"type":"string","maxLength":256}})"};
}

std::vector<MachineState> read_states(const ScriptNode& node) {
  if (!node.value.is_object()) script_reading::fail_expected(node, "an object such as {\"order\": \"paid\"}");
  std::vector<MachineState> states;
  for (const auto& [machine, state] : node.value.get_ref<const Json::object_t&>()) {
    if (machine.empty()) script_reading::fail(node, "a state machine needs a name");
    const std::string problem = script_values::name_length_error(machine);
    if (!problem.empty()) script_reading::fail(node.member(machine, state), problem);
    states.push_back({machine, script_values::name_of(node.member(machine, state))});
  }
  return states;
}

template <std::vector<MachineState> StubPlan::*Member>
void set_states(ScriptReader&, const ScriptNode& node, void* target) {
  stub_of(target).*Member = read_states(node);
}

ScriptType source() { return {"file and line", R"({"type":"string","pattern":"^.+:[1-9][0-9]{0,8}$"})"}; }

SourceLocation source_of(const ScriptNode& node) {
  constexpr std::size_t most_digits = 9;
  const std::string& text = script_values::text_of(node);
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const std::string digits = text.substr(std::min(colon + 1, text.size()));
  if (colon == 0 || digits.empty() || digits.size() > most_digits || digits.front() == '0' ||
      digits.find_first_not_of("0123456789") != std::string::npos || text.find_first_of("\r\n") != std::string::npos)
    script_reading::fail(node, "expected a file and a line in it, such as \"test_agent.py:12\"");
  return {script_reading::lasting(text::printable(text.substr(0, colon))), std::stoi(digits)};
}

void check_source(ScriptReader&, const ScriptNode& node, void*) { source_of(node); }

inline constexpr ScriptRow stub_rows[] = {
    {"name", &name_text, "the name that reports show", &set_stub_name},
    {"when", &when, "which requests it answers; unless set, all", &set_matchers<&StubPlan::matchers>},
    {"should", &when, "what verify() requires of the requests that it answers", &set_matchers<&StubPlan::validators>},
    {"reply", &reply, "its reply", &add_reply},
    {"replies", &replies, "its replies, one per request; the last one repeats", &add_replies},
    {"never", &yes, "instead of a reply: no request may match it", &set_never},
    {"then", &then, "after the last reply, further requests are refused", &set_then},
    {"expect", &calls, "how many calls verify() expects", &set_expect},
    {"times", &positive, "how many requests it answers; later ones go to other stubs", &set_times},
    {"priority", &whole, "stubs with a higher priority are tried first; 0 unless set",
     &SetMember<&StubPlan::priority>::apply, false, R"("minimum":-2147483648,"maximum":2147483647)"},
    {"in_state", &machine_states, "answers only while state machines are in these states",
     &set_states<&StubPlan::in_states>},
    {"then_state", &machine_states, "each answer moves state machines to these states",
     &set_states<&StubPlan::then_states>},
    {"source", &source,
     "its place in the source, such as \"test_agent.py:12\", for reports; unless set, its line in the script",
     &check_source},
};
inline constexpr ScriptTable stub_table{
    "stub", stub_rows, std::size(stub_rows),
    R"("oneOf":[{"required":["reply"]},{"required":["replies"]},{"required":["never"],"properties":)"
    R"({"expect":false,"times":false,"should":false,"then":false}}],"not":{"required":["times","then"]})"};

ScriptType stub() { return {"object", nullptr, &stub_table}; }
ScriptType stubs() { return {"list of stubs", R"({"type":"array","items":{"$ref":"#/$defs/stub"}})"}; }

void add_stub(ScriptReader& reader, const ScriptNode& node, void* target) {
  const std::size_t noted = reader.noted();
  StubPlan stub;
  reader.read_object(node, stub_table, &stub);
  if (reader.noted() == noted)
    stub.where = node.find("source") ? source_of(node.at("source")) : reader.where(node.pointer);
  script_reading::only_key(node, {"reply", "replies", "never"}, "a stub");
  if (node.find("never") && node.find("expect"))
    script_reading::fail(node, "\"never\" expects no call, and \"expect\" some; choose one");
  for (const char* key : {"times", "should", "then"})
    if (node.find("never") && node.find(key))
      script_reading::fail(node.at(key),
                           std::string("\"") + key + "\" has no meaning beside \"never\", which answers nothing");
  if (node.find("times") && node.find("then"))
    script_reading::fail(node, "\"times\" passes later requests to other stubs, and \"then\" refuses them; choose one");
  if (reader.noted() > noted) return;
  // Contradictions of keys were reported above. This checks the contradictions of their values.
  script_reading::checked(node.find("expect") ? node.at("expect") : node, [&] { require_consistent(stub); });
  // Omit the position, so that a stub that only moved within its file counts as unchanged.
  Json json = node.value;
  json.erase("source");
  stub.json = share<const std::string>(json.dump());
  plan_of(target).stubs.push_back(std::move(stub));
}

// "operations".

inline constexpr ScriptRow http_reply_rows[] = {
    {"status", &whole, "from 200 to 599; 200 unless set", nullptr, false, R"("minimum":200,"maximum":599)"},
    {"json", &any, "a body of JSON, in compact form", nullptr},
    {"body", &text, "a body of text", nullptr},
    {"base64", &base64, "a body of any bytes", nullptr},
    {"content_type", &text, "its Content-Type", nullptr},
    {"headers", &headers, "response headers", nullptr},
    {"failure", &failure, "a failure in place of a body; its setters are keys beside it", nullptr},
    {"first_token_after", &timing, "when the answer starts", nullptr},
    {"faults", &faults, "what breaks the answer, and where", nullptr},
};
inline constexpr ScriptTable http_reply_table{
    "operation reply", http_reply_rows, std::size(http_reply_rows),
    R"("oneOf":[{"required":["failure"],"properties":{"status":false,"json":false,"body":false,"base64":false},)"
    R"("dependentRequired":{"content_type":["error_body"]},"not":{"anyOf":[{"required":["error_body","error_json"]},)"
    R"({"required":["retry_after","retry_after_text"]}]}},{"properties":{"failure":false,)"
    R"("$failure_setter":false},"not":{"anyOf":[{"required":["json","body"]},)"
    R"({"required":["json","base64"]},{"required":["body","base64"]}]}}])",
    &failure_setters};

ScriptType http_reply() { return {"object", nullptr, &http_reply_table}; }
ScriptType http_replies() {
  return {"list of replies", R"({"type":"array","minItems":1,"items":{"$ref":"#/$defs/operation_reply"}})"};
}

inline constexpr ScriptRow operation_rows[] = {
    {"method", &text, "in capitals", nullptr, true, R"("pattern":"^[A-Z]+$")"},
    {"path", &text, "begins with \"/\"; a segment {name} matches any segment", nullptr, true, R"("pattern":"^/")"},
    {"open", &boolean, "whether it needs no key; false unless set", nullptr},
    {"reply", &http_reply, "its reply", nullptr},
    {"replies", &http_replies, "its replies, one per request; the last one repeats", nullptr},
};
inline constexpr ScriptTable operation_table{"operation", operation_rows, std::size(operation_rows),
                                             R"("oneOf":[{"required":["reply"]},{"required":["replies"]}])"};

ScriptType operations_section() {
  return {"list of operations", R"({"type":"array","items":"$rows"})", &operation_table};
}

void add_fault(ScriptReader& reader, const ScriptNode& node, void* target) {
  auto [trigger, effect] = read_fault(reader, node);
  HttpReply& reply = *static_cast<HttpReply*>(target);
  reply = reply.fault(std::move(trigger), std::move(effect));
}

void add_http_reply(ScriptReader& reader, const ScriptNode& node, void* target) {
  static_cast<ScriptedOperation*>(target)->replies.push_back(read_http_reply(reader, node));
}

void add_operation(ScriptReader& reader, const ScriptNode& node, void* target) {
  const std::size_t noted = reader.noted();
  reader.read_object(node, operation_table);
  const std::string_view key = script_reading::only_key(node, {"reply", "replies"}, "an operation");
  if (reader.noted() > noted) return;
  ScriptedOperation mounted{script_values::text_of(node.at("method")), script_values::text_of(node.at("path"))};
  if (node.find("open") && read_value<bool>(reader, node.at("open"))) mounted.needs_key = NeedsKey::no;
  if (key == "reply")
    add_http_reply(reader, node.at("reply"), &mounted);
  else
    read_replies(reader, node.at("replies"), &add_http_reply, &mounted);
  if (reader.noted() > noted) return;
  try {
    const auto nothing = [](const ReceivedRequest&) { return HttpReply(Json()); };
    Operations(true, false).mount({{mounted.method, mounted.path}, nothing});
  } catch (const GatewayError& error) {
    const std::string message = error.what();
    constexpr std::string_view after = "…): ";  // the end of the prefix that names the C++ call
    script_reading::fail(node, message.substr(message.find(after) + after.size()));
  }
  if (!plan_of(target).taken.insert({mounted.method, mounted.path}).second)
    script_reading::fail(node, "this operation occurs twice");
  plan_of(target).operations.push_back(std::move(mounted));
}

// "failures".

inline constexpr ScriptRow scope_rows[] = {
    {"operation", &operation, "an operation", nullptr},
    {"key", &name_text, "a key, by name or id", nullptr, false, R"("minLength":1)"},
    {"model", &text, "a model", nullptr, false, R"("minLength":1)"},
};
inline constexpr ScriptTable scope_table{
    "for", scope_rows, std::size(scope_rows),
    R"("oneOf":[{"required":["operation"]},{"required":["key"]},{"required":["model"]}])"};

ScriptType scope() { return {"object with one key", nullptr, &scope_table}; }

inline constexpr ScriptRow forced_failure_rows[] = {
    {"failure", &failure, "the failure; its setters are keys beside it", nullptr, true},
    {"times", &positive, "how many requests; 1 unless set", nullptr},
    {"always", &yes, "every request", nullptr},
    {"for", &scope, "which requests; unless set, all", nullptr},
    {"headers", &headers, "response headers", nullptr},
};
inline constexpr ScriptTable forced_failure_table{
    "failures", forced_failure_rows, std::size(forced_failure_rows),
    R"("dependentRequired":{"content_type":["error_body"]},"not":{"anyOf":[{"required":["times","always"]},)"
    R"({"required":["error_body","error_json"]},{"required":["retry_after","retry_after_text"]}]})",
    &failure_setters};

ScriptType failures_section() {
  return {"list of failures", R"({"type":"array","items":"$rows"})", &forced_failure_table};
}

Failure failure_with_headers(ScriptReader& reader, const ScriptNode& node) {
  Failure failure = read_failure(reader, node);
  return node.find("headers") ? script_values::with_headers(reader, node.at("headers"), failure) : failure;
}

std::optional<std::size_t> read_times(ScriptReader& reader, const ScriptNode& node) {
  script_reading::require_not_both(node, "times", "always");
  if (node.find("always")) {
    script_values::require_yes(node.at("always"));
    return std::nullopt;
  }
  return node.find("times") ? read_value<std::size_t>(reader, node.at("times")) : 1;
}

void add_failure(ScriptReader& reader, const ScriptNode& node, void* target) {
  const std::size_t noted = reader.noted();
  reader.read_strictly(node, forced_failure_table);
  ScriptedFailure forced{failure_with_headers(reader, node), read_times(reader, node), {}, {}};
  if (node.find("for")) {
    const ScriptNode scope = node.at("for");
    reader.read_object(scope, scope_table);
    const std::string_view kind = script_reading::only_key(scope, {"operation", "key", "model"}, "a scope");
    const ScriptNode value = scope.at(kind.data());
    if (kind == "operation") {
      const auto named = read_value<Operation>(reader, value);
      forced.scope = named;
      reader.refer(ScriptReference::Kind::operation_of_failure, named.to_string(), value.pointer);
    }
    if (kind == "model") {
      forced.scope = for_model(script_values::text_of(value));
      reader.refer(ScriptReference::Kind::model, script_values::text_of(value), value.pointer);
    }
    if (kind == "key") {
      forced.key = script_values::key_name(value);
      reader.refer(ScriptReference::Kind::key_of_failure, forced.key, value.pointer);
    }
  }
  if (reader.noted() == noted) plan_of(target).failures.push_back(std::move(forced));
}

// "chaos".

ScriptType interim() {
  return {"connection fault",
          R"({"allOf":[{"$ref":"#/$defs/connection_fault"},{"anyOf":[{"enum":["unsolicited_continue","early_hints"]},)"
          R"({"type":"object","required":["early_hints"]}]}]})"};
}

inline constexpr ScriptRow chaos_kind_rows[] = {
    {"failure", &failure, "answers with a failure; its setters are keys beside it", nullptr},
    {"pace", &pace, "slows the reply", nullptr},
    {"interim", &interim, "\"unsolicited_continue\" or early_hints before the reply", nullptr},
    {"effect", &effect, "what breaks the reply; needs a trigger beside it", nullptr},
};
inline constexpr ScriptRow chaos_setter_rows[] = {
    {"probability", &number, "strikes with this probability", &SetBy<&Chaos::probability>::apply, false,
     R"("minimum":0,"maximum":1)"},
    {"nth", &positive, "strikes each nth occurrence of a request", &SetBy<&Chaos::nth>::apply},
    {"first", &positive, "strikes the first occurrences of a request", &SetBy<&Chaos::first>::apply},
    {"by_request", &yes, "draws the same result each time a request comes, in every gateway with the same seed",
     &SetBy<&Chaos::by_request>::apply},
    {"when", &when, "strikes only these requests", nullptr},
    {"headers", &headers, "with failure: response headers", nullptr},
};
inline constexpr const char* chaos_rules =
    R"("oneOf":[{"required":["failure"]},{"required":["pace"]},{"required":["interim"]},)"
    R"({"required":["effect"],"oneOf":["$trigger"]}],"dependentRequired":{"headers":["failure"],)"
    R"("$trigger":["effect"],"$failure_setter":["failure"],"content_type":["error_body"]},)"
    R"("not":{"anyOf":[{"required":["error_body","error_json"]},{"required":["retry_after","retry_after_text"]}]})";

const ScriptTable& chaos_table() {
  static const std::vector<ScriptRow> rows = [] {
    std::vector<ScriptRow> made(std::begin(chaos_kind_rows), std::end(chaos_kind_rows));
    add_trigger_rows(made, "trigger: ");
    for (const DrawnTriggerRow& drawn : drawn_triggers)
      made.push_back(in_group("$trigger", {drawn.name, &positive, drawn.help, nullptr}));
    made.insert(made.end(), std::begin(chaos_setter_rows), std::end(chaos_setter_rows));
    return made;
  }();
  static const ScriptTable table{"chaos", rows.data(), rows.size(), chaos_rules, &failure_setters};
  return table;
}

ScriptType chaos_section() { return {"list of rules", R"({"type":"array","items":"$rows"})", &chaos_table()}; }

Chaos chaos_around(ScriptReader& reader, const ScriptNode& node, std::string_view kind) {
  if (kind == "pace") {
    const Pace pace = read_value<Pace>(reader, node.at("pace"));
    if (!pace.sets_anything()) script_reading::fail(node.at("pace"), "the pace must set something");
    if (pace.chunking() && pace.chunking()->kind() == Chunking::Kind::pieces)
      script_reading::fail(node.at("pace").at("chunked"), "\"pieces\" fit only one reply: set them there");
    return Chaos(pace);
  }
  const ConnectionFault fault = read_connection_fault(reader, node.at("interim"));
  if (fault.kind() != ConnectionFault::Kind::unsolicited_continue && fault.kind() != ConnectionFault::Kind::early_hints)
    script_reading::fail(
        node.at("interim"),
        "only \"unsolicited_continue\" and early_hints can come before a reply; put the others into \"connections\"");
  return Chaos(fault);
}

Chaos read_chaos_kind(ScriptReader& reader, const ScriptNode& node) {
  const std::string_view kind =
      script_reading::only_key(node, {"failure", "pace", "interim", "effect"}, "a rule of chaos");
  if (kind != "failure") {
    require_no_failure_key(node, true);
    if (node.find("headers")) script_reading::fail(node.at("headers"), "\"headers\" belongs beside \"failure\"");
  }
  const std::vector<const char*> triggers = chaos_table().keys_of("$trigger");
  for (const char* key : triggers)
    if (kind != "effect" && node.find(key))
      script_reading::fail(node.at(key), std::string("\"") + key + "\" belongs beside \"effect\"");
  if (kind == "failure") return Chaos(failure_with_headers(reader, node));
  if (kind == "pace" || kind == "interim") return chaos_around(reader, node, kind);
  const Effect struck = read_effect(reader, node.at("effect"));
  script_reading::only_key(node, triggers, "a rule with an effect");
  for (const DrawnTriggerRow& drawn : drawn_triggers)
    if (node.find(drawn.name))
      return Chaos(DrawnTrigger(drawn.kind, read_value<std::size_t>(reader, node.at(drawn.name))), struck);
  return Chaos(read_trigger(reader, node), struck);
}

void add_chaos(ScriptReader& reader, const ScriptNode& node, void* target) {
  // Check keys and limits first. Read the kind of the rule only if they are valid.
  Chaos placeholder_rule((server_error()));
  reader.read_strictly(node, chaos_table(), &placeholder_rule);
  const std::size_t noted = reader.noted();
  Chaos rule = read_chaos_kind(reader, node);
  reader.read_object(node, chaos_table(), &rule);
  if (node.find("when")) {
    for (const Matcher& matcher : read_matchers(reader, node.at("when"))) rule = rule.when(matcher);
  }
  if (reader.noted() == noted) plan_of(target).chaos.push_back(std::move(rule));
}

// "connections".

inline constexpr ScriptRow connection_rows[] = {
    {"fault", &connection_fault, "what goes wrong", nullptr, true},
    {"times", &positive, "how many connections; 1 unless set", nullptr},
    {"always", &yes, "every connection", nullptr},
};
inline constexpr ScriptTable connection_table{"connections", connection_rows, std::size(connection_rows),
                                              R"("not":{"required":["times","always"]})"};

ScriptType connections_section() {
  return {"list of connection faults", R"({"type":"array","items":"$rows"})", &connection_table};
}

void add_connection_fault(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, connection_table);
  plan_of(target).connections.push_back(
      {read_connection_fault(reader, node.at("fault")), read_times(reader, node), reader.where(node.pointer)});
}

// The document.

template <void (*Add)(ScriptReader&, const ScriptNode&, void*)>
void read_section(ScriptReader& reader, const ScriptNode& node, void* target) {
  plan_of(target).sections[node.pointer] += node.value.dump();
  reader.read_list(node, Add, target);
}

void read_gateway_section(ScriptReader& reader, const ScriptNode& node, void* target) {
  Options options;
  read_gateway(reader, node, options);
  for (const auto& [key, value] : node.value.get_ref<const Json::object_t&>()) {
    for (const Json& other : plan_of(target).gateways)
      if (other.contains(key)) script_reading::fail(node.member(key, value), "an earlier file has set this already");
  }
  plan_of(target).gateways.push_back(node.value);
}

void add_states(ScriptReader&, const ScriptNode& node, void* target) {
  plan_of(target).sections[node.pointer] += node.value.dump();
  for (MachineState& state : read_states(node)) plan_of(target).states.push_back(std::move(state));
}

// "bundle".

ScriptType findings() { return {"list of objects", R"({"type":"array","items":{"type":"object"}})"}; }

inline constexpr ScriptRow bundle_rows[] = {
    {"about", &text, "what this file contains, for people who pass it on", nullptr, true},
    {"version", &text, "the version of mock_gateway that made it", nullptr},
    {"seed", &count, "the seed of that gateway", nullptr},
    {"exchange", &json_object, "the exchange, as the control API shows it", nullptr},
    {"findings", &findings, "the findings of the review about it", nullptr},
};
inline constexpr ScriptTable bundle_table{"bundle", bundle_rows, std::size(bundle_rows)};

ScriptType bundle() { return {"object", nullptr, &bundle_table}; }

/// Checks the section. It only describes where the rest of the script comes from.
void check_bundle(ScriptReader& reader, const ScriptNode& node, void* target) {
  plan_of(target).has_bundle = true;
  reader.read_object(node, bundle_table);
  if (const Json* const list = node.find("findings")) {
    if (!list->is_array()) script_reading::fail_expected(node.at("findings"), "a list");
    for (std::size_t index = 0; index < list->size(); ++index)
      if (!(*list)[index].is_object()) script_reading::fail_expected(node.at("findings").element(index), "an object");
  }
}

ScriptType version() { return {"1", R"({"const":1})"}; }

void check_version(ScriptReader&, const ScriptNode& node, void*) {
  if (node.value != 1)
    script_reading::fail(node, "this release reads version 1 of the format, but the script says " + node.value.dump());
}

inline constexpr ScriptRow document_rows[] = {
    {"bundle", &bundle, "in a bundle: the exchange that it answers again", &check_bundle},
    {"mock_gateway", &version, "the version of the format", &check_version, true},
    {"gateway", &gateway, "how the gateway starts", &read_gateway_section},
    {"keys", &keys, "API keys besides the default one", &read_section<&add_key>},
    {"stubs", &stubs, "the stubs; the first one that matches answers", &read_section<&add_stub>},
    {"operations", &operations_section, "other operations, with the same keys", &read_section<&add_operation>},
    {"failures", &failures_section, "failures forced on requests", &read_section<&add_failure>},
    {"chaos", &chaos_section, "rules of chaos", &read_section<&add_chaos>},
    {"connections", &connections_section, "faults of connections", &read_section<&add_connection_fault>},
    {"states", &machine_states, "the initial states of state machines", &add_states},
    {"scenario", &scenario_section, "what makes the script a scenario of a catalogue", &read_scenario_section},
};
inline constexpr ScriptTable document_table{"document", document_rows, std::size(document_rows)};

ScriptType document() { return {"document", nullptr, &document_table}; }

}  // namespace script_types

HttpReply read_delivery(ScriptReader& reader, const ScriptNode& node, HttpReply reply) {
  if (node.find("first_token_after"))
    reply = reply.first_token_after(read_value<Timing>(reader, node.at("first_token_after")));
  const std::size_t noted = reader.noted();
  if (node.find("faults")) reader.read_list(node.at("faults"), &script_types::add_fault, &reply);
  reader.require_none_since(noted);
  return reply;
}

HttpReply read_http_reply(ScriptReader& reader, const ScriptNode& node) {
  reader.read_strictly(node, script_types::http_reply_table);
  if (node.find("failure")) {
    for (const char* key : {"status", "json", "body", "base64"})
      if (node.find(key))
        script_reading::fail(node.at(key), std::string("\"") + key + "\" has no meaning beside \"failure\"");
    return read_delivery(reader, node, script_types::failure_with_headers(reader, node));
  }
  require_no_failure_key(node, false);
  const int status = node.find("status") ? read_value<int>(reader, node.at("status")) : 200;
  const char* const kind = script_reading::one_key(node, {"json", "body", "base64"});
  const char* const usual_type = !kind || kind == std::string_view("body") ? "text/plain; charset=utf-8"
                                 : kind == std::string_view("json")        ? "application/json"
                                                                           : "application/octet-stream";
  const std::string type = node.find("content_type") ? script_values::text_of(node.at("content_type")) : usual_type;
  HttpReply reply(status, script_values::body_of(node, kind), type);
  if (node.find("headers")) reply = script_values::with_headers(reader, node.at("headers"), std::move(reply));
  return read_delivery(reader, node, std::move(reply));
}

void read_document(ScriptReader& reader, const ScriptNode& node, void* target) {
  ScriptPlan& plan = script_types::plan_of(target);
  const std::size_t stubs = plan.stubs.size();
  const std::size_t states = plan.states.size();
  reader.read_object(node, script_types::document_table, &plan);
  plan.parts.push_back({&reader.source(),
                        stubs,
                        reader.take_references(),
                        {plan.states.begin() + static_cast<std::ptrdiff_t>(states), plan.states.end()}});
}

}  // namespace mock_gateway::detail
