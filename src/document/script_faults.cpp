// Keys and names of failures, faults, effects and faults of connections.

#include <iterator>  // size
#include <string_view>

#include "../core/text.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway {
namespace detail {
namespace script_types {

// Failures.

Failure& failure_of(void* target) { return *static_cast<Failure*>(target); }

template <Failure (Failure::*Setter)(Duration) const>
void set_time(ScriptReader& reader, const ScriptNode& node, void* target) {
  SetBy<Setter>::apply(reader, node, target);
}

template <Failure (Failure::*Setter)(std::string) const>
void set_text(ScriptReader& reader, const ScriptNode& node, void* target) {
  SetBy<Setter>::apply(reader, node, target);
}

void set_json_body(ScriptReader&, const ScriptNode& node, void* target) {
  failure_of(target) = failure_of(target).json_body(node.value);
}

inline constexpr ScriptRow setter_rows[] = {
    {"retry_after", &duration, "with failure: Retry-After in seconds", &set_time<&Failure::retry_after>},
    {"retry_after_text", &text, "with failure: Retry-After, any text", &set_text<&Failure::retry_after>},
    {"retry_after_date", &duration, "with failure: Retry-After as a date", &set_time<&Failure::retry_after_date>},
    {"retry_after_ms", &duration, "with failure: retry-after-ms", &set_time<&Failure::retry_after_ms>},
    {"should_retry", &boolean, "with failure: x-should-retry", &SetBy<&Failure::should_retry>::apply},
    {"type", &text, "with failure: `error.type`", &set_text<&Failure::type>},
    {"param", &text, "with failure: `error.param`", &set_text<&Failure::param>},
    {"error_body", &text, "with failure: a body in place of the error", nullptr},
    {"error_json", &any, "with failure: JSON in place of the error", &set_json_body},
    {"content_type", &text, "with error_body: its Content-Type", nullptr},
};
inline constexpr ScriptTable setter_table{"setters of a failure", setter_rows, std::size(setter_rows)};

const ScriptTable& failure_setters() { return setter_table; }

inline constexpr ScriptRow failure_rows[] = {
    {"status", &whole, "from 200 to 599", nullptr, true, R"("minimum":200,"maximum":599)"},
    {"code", &text, "`error.code`", nullptr, true},
    {"message", &text, "`error.message`", nullptr, true},
};
inline constexpr ScriptTable failure_table{"failure", failure_rows, std::size(failure_rows)};

ScriptType failure() {
  return {"name, status, or object",
          R"({"anyOf":[{"enum":["bad_request","unauthorized","forbidden","not_found","request_timeout","conflict",)"
          R"("rate_limited","server_error","bad_gateway","service_unavailable","gateway_timeout","overloaded"]},)"
          R"({"type":"integer","minimum":200,"maximum":599},"$rows"]})",
          &failure_table};
}

struct NamedFailure {
  const char* name;
  Failure failure;
};

std::vector<NamedFailure> named_failures() {
  return {{"bad_request", bad_request()},
          {"unauthorized", unauthorized()},
          {"forbidden", forbidden()},
          {"not_found", not_found()},
          {"request_timeout", request_timeout()},
          {"conflict", conflict()},
          {"rate_limited", rate_limited()},
          {"server_error", server_error()},
          {"bad_gateway", bad_gateway()},
          {"service_unavailable", service_unavailable()},
          {"gateway_timeout", gateway_timeout()},
          {"overloaded", overloaded()}};
}

Failure bare_failure(ScriptReader& reader, const ScriptNode& node) {
  const std::vector<NamedFailure> named = named_failures();
  if (node.value.is_string()) {
    std::vector<std::string> names;
    for (const NamedFailure& one : named) names.emplace_back(one.name);
    return named[script_values::one_of(node, names)].failure;
  }
  if (node.value.is_number()) {
    const int status = read_value<int>(reader, node);
    if (status < 200 || status > 599) script_reading::fail_expected(node, "a status from 200 to 599");
    for (const NamedFailure& one : named)
      if (one.failure.status() == status) return one.failure;
    return mock_gateway::failure(status, "forced_failure", "this failure was forced");
  }
  if (!node.value.is_object()) script_reading::fail_expected(node, "a name, a status, or an object");
  const std::size_t noted = reader.noted();
  reader.read_object(node, failure_table, nullptr);
  if (reader.noted() > noted) throw ScriptMistake();
  return mock_gateway::failure(read_value<int>(reader, node.at("status")), script_values::text_of(node.at("code")),
                               script_values::text_of(node.at("message")));
}

// Faults.

inline constexpr ScriptRow fault_rows[] = {
    {"before_headers", &yes, "before the status line", nullptr},
    {"after_headers", &yes, "the head is sent, the body not begun", nullptr},
    {"after_events", &positive, "after the event of that number", nullptr},
    {"after_tokens", &positive, "after the token of that number", nullptr},
    {"after_bytes", &positive, "after so many bytes of the body", nullptr},
    {"inside_event", &inside_event_type, "after so many bytes of an event: [event, bytes]", nullptr},
    {"inside_character", &positive, "inside the first character of several bytes of that event", nullptr},
    {"before_done", &yes, "after every event but [DONE]", nullptr},
    {"at_end", &yes, "after the last event, before the body is terminated", nullptr},
    {"effect", &effect, "what happens there", nullptr, true},
};
inline constexpr ScriptTable fault_table{
    "fault", fault_rows, std::size(fault_rows),
    R"("oneOf":[{"required":["before_headers"]},{"required":["after_headers"]},{"required":["after_events"]},)"
    R"({"required":["after_tokens"]},{"required":["after_bytes"]},{"required":["inside_event"]},)"
    R"({"required":["inside_character"]},{"required":["before_done"]},{"required":["at_end"]}])"};

ScriptType fault() { return {"object with a trigger and an effect", nullptr, &fault_table}; }

ScriptType inside_event_type() {
  return {"[event, bytes]", R"({"type":"array","items":{"type":"integer","minimum":1},"minItems":2,"maxItems":2})"};
}

inline constexpr ScriptRow effect_rows[] = {
    {"stall", &duration, "sends nothing for so long, then goes on", nullptr},
    {"stall_at_gate", &name_text, "sends nothing until the gate of that name opens", nullptr},
    {"garbage", &text, "this text in place of what would follow, then the connection ends", nullptr, false,
     R"("minLength":1)"},
    {"garbage_base64", &base64, "these bytes, likewise", nullptr},
    {"error_event", &any, "an event with this data, then the end", nullptr},
    {"error_event_failure", &failure, "an event with the body of a failure, then the end", nullptr},
    {"wrong_content_length", &whole, "a Content-Length that is wrong by so many bytes", nullptr},
};
inline constexpr ScriptTable effect_table{
    "effect", effect_rows, std::size(effect_rows),
    R"("oneOf":[{"required":["stall"]},{"required":["stall_at_gate"]},{"required":["garbage"]},)"
    R"({"required":["garbage_base64"]},{"required":["error_event"]},{"required":["error_event_failure"]},)"
    R"({"required":["wrong_content_length"]}])"};

ScriptType effect() {
  return {"name, or object with one key",
          R"({"anyOf":[{"enum":["close_connection","reset_connection","half_close","truncate","stall","skip_event",)"
          R"("duplicate_event"]},"$rows"]})",
          &effect_table};
}

// Faults of connections.

inline constexpr ScriptRow slow_body_rows[] = {
    {"bytes", &positive, "how many bytes are read at a time", nullptr, true},
    {"gap", &duration, "after what time", nullptr, true},
};
inline constexpr ScriptTable slow_body_table{"slow_body", slow_body_rows, std::size(slow_body_rows)};

ScriptType slow_body_type() { return {"object", nullptr, &slow_body_table}; }

inline constexpr ScriptRow connection_fault_rows[] = {
    {"garbage_on_accept", &text, "this text at once, then the end", nullptr, false, R"("minLength":1)"},
    {"early_hints", &headers, "a response 103 with these headers before the reply", nullptr},
    {"slow_body", &slow_body_type, "reads the request's body slowly", nullptr},
    {"reply_before_body", &failure, "answers before the body has come", nullptr},
};
inline constexpr ScriptTable connection_fault_table{
    "connection fault", connection_fault_rows, std::size(connection_fault_rows),
    R"("oneOf":[{"required":["garbage_on_accept"]},{"required":["early_hints"]},{"required":["slow_body"]},)"
    R"({"required":["reply_before_body"]}])"};

ScriptType connection_fault() {
  return {"name, or object with one key",
          R"({"anyOf":[{"enum":["reset_on_accept","close_on_accept","garbage_on_accept","close_when_reused",)"
          R"("reset_when_reused","unsolicited_continue","early_hints"]},"$rows"]})",
          &connection_fault_table};
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
      script_reading::only_key(node,
                               {"before_headers", "after_headers", "after_events", "after_tokens", "after_bytes",
                                "inside_event", "inside_character", "before_done", "at_end"},
                               "a fault");
  const ScriptNode value = node.at(key.data());
  if (key == "inside_event") {
    script_values::require_list(value, 2, "[event, bytes]");
    for (std::size_t index = 0; index < 2; ++index)
      if (read_value<std::size_t>(reader, value.element(index)) == 0)
        script_reading::fail_expected(value.element(index), "a whole number from 1 on");
    return inside_event(read_value<std::size_t>(reader, value.element(0)),
                        read_value<std::size_t>(reader, value.element(1)));
  }
  if (key == "after_events") return after_events(read_value<std::size_t>(reader, value));
  if (key == "after_tokens") return after_tokens(read_value<std::size_t>(reader, value));
  if (key == "after_bytes") return after_bytes(read_value<std::size_t>(reader, value));
  if (key == "inside_character") return inside_character(read_value<std::size_t>(reader, value));
  script_values::require_yes(value);
  if (key == "before_headers") return before_headers();
  if (key == "after_headers") return after_headers();
  return key == "before_done" ? before_done() : at_end();
}

Effect read_effect(ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) {
    switch (script_values::one_of(node, {"close_connection", "reset_connection", "half_close", "truncate", "stall",
                                         "skip_event", "duplicate_event"})) {
      case 0: return close_connection();
      case 1: return reset_connection();
      case 2: return half_close();
      case 3: return truncate();
      case 4: return stall();
      case 5: return skip_event();
      default: return duplicate_event();
    }
  }
  if (!node.value.is_object())
    script_reading::fail_expected(node, "the name of an effect, or an object such as {\"stall\": \"2s\"}");
  const std::size_t noted = reader.noted();
  reader.read_object(node, script_types::effect_table, nullptr);
  if (reader.noted() > noted) throw ScriptMistake();
  const std::string_view key = script_reading::only_key(node,
                                                        {"stall", "stall_at_gate", "garbage", "garbage_base64",
                                                         "error_event", "error_event_failure", "wrong_content_length"},
                                                        "an effect");
  const ScriptNode value = node.at(key.data());
  if (key == "stall") return stall(read_value<Duration>(reader, value));
  if (key == "stall_at_gate") return stall(reader.gate(script_values::name_of(value)));
  if (key == "garbage") return garbage(script_values::text_of(value));
  if (key == "garbage_base64") return garbage(script_values::decode_base64(value));
  if (key == "error_event") return error_event(value.value);
  if (key == "error_event_failure") return error_event(script_types::bare_failure(reader, value));
  return wrong_content_length(read_value<std::int64_t>(reader, value));
}

std::optional<DrawnTrigger> read_drawn_trigger(ScriptReader& reader, const ScriptNode& node) {
  if (node.find("at_any_event")) return at_any_event(read_value<std::size_t>(reader, node.at("at_any_event")));
  if (node.find("at_any_token")) return at_any_token(read_value<std::size_t>(reader, node.at("at_any_token")));
  if (node.find("at_any_byte")) return at_any_byte(read_value<std::size_t>(reader, node.at("at_any_byte")));
  return std::nullopt;
}

ConnectionFault read_connection_fault(ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) {
    switch (script_values::one_of(node, {"reset_on_accept", "close_on_accept", "garbage_on_accept", "close_when_reused",
                                         "reset_when_reused", "unsolicited_continue", "early_hints"})) {
      case 0: return reset_on_accept();
      case 1: return close_on_accept();
      case 2: return garbage_on_accept();
      case 3: return close_when_reused();
      case 4: return reset_when_reused();
      case 5: return unsolicited_continue();
      default: return early_hints();
    }
  }
  if (!node.value.is_object())
    script_reading::fail_expected(
        node, "the name of a connection fault, or an object such as {\"garbage_on_accept\": \"text\"}");
  const std::size_t noted = reader.noted();
  reader.read_object(node, script_types::connection_fault_table, nullptr);
  if (reader.noted() > noted) throw ScriptMistake();
  const std::string_view key = script_reading::only_key(
      node, {"garbage_on_accept", "early_hints", "slow_body", "reply_before_body"}, "a connection fault");
  const ScriptNode value = node.at(key.data());
  if (key == "garbage_on_accept") return garbage_on_accept(script_values::text_of(value));
  if (key == "early_hints") return early_hints(read_value<wire::Headers>(reader, value));
  if (key == "reply_before_body") return reply_before_body(script_types::bare_failure(reader, value));
  reader.read_object(value, script_types::slow_body_table, nullptr);
  if (reader.noted() > noted) throw ScriptMistake();
  return slow_body(read_value<std::size_t>(reader, value.at("bytes")), read_value<Duration>(reader, value.at("gap")));
}

}  // namespace detail
}  // namespace mock_gateway
