#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

/// Request features beyond the documentation. Unless noted, on by default and off in Acceptance::strict().
enum class Extension : unsigned char {
  /// `Authorization: bearer …` in any case. If off, exactly `Bearer`.
  bearer_in_any_case,
  /// Fields that the documentation does not list, such as `frequency_penalty`: a finding, unless the profile is openai
  /// and OpenAI documents the field. Also JSON objects that repeat a key: always a finding. If off, both get 400.
  unknown_fields,
  /// Fields that OpenAI documents and the gateway's documentation does not, such as `metadata`, and messages of role
  /// `function`. They have no effect and cause a note (`beyond_documentation`), not a warning. Off; on in openai().
  openai_fields,
  /// Messages of role `tool`, which tool calling needs.
  tool_role,
  /// Messages of role `developer`. Off; on in openai().
  developer_role,
  /// `content: null` or no `content` in an assistant message that has tool calls.
  null_content_with_tool_calls,
  /// `content` as an array of `{"type":"text"}` parts.
  text_parts,
  /// Content parts of other types (`image_url`, `input_audio`, `file`, …). Off; on in openai().
  other_parts,
  /// `tool_calls` in assistant messages.
  tool_calls_in_messages,
  /// `stop` as a plain string: a finding, except in the openai profile, because OpenAI documents it.
  stop_as_string,
  tool_choice_required,
  /// `tool_choice` of type `allowed_tools`: mode `auto` or `required`, limited to its tools. Off; on in openai().
  allowed_tools,
  /// `response_format` of type `json_schema` without `schema`; any JSON object satisfies it. Off; on in openai().
  json_schema_without_schema,
  /// Tools of type `custom` (their input is text), also in `tool_choice` and in messages. Off; on in openai().
  custom_tools,
  /// `max_completion_tokens`, a synonym of `max_tokens`. Both together get OpenAI's 400
  /// `invalid_parameter_combination`. If off, it is an unknown field. Off; on in openai().
  max_completion_tokens,
  logprobs,
  /// `null` for an optional field, treated as absent.
  null_as_absent,
  /// `stream_options` without `stream: true`; a finding.
  stream_options_without_stream,
  /// `GET /v1/models/{id}`.
  model_by_id,
  /// `Content-Type: application/json` with parameters, such as charset.
  content_type_parameters,
  /// `application/x-www-form-urlencoded` if the body parses as JSON, as `curl -d` sends it.
  json_as_form,
  /// Any JSON body with `model` and `messages`, without further validation. Off; on in lenient().
  anything_with_model_and_messages,
};

namespace detail {

/// One switch of an Acceptance. `as_documented` accepts only what the profile's service documents.
enum class AcceptanceSwitch : signed char { off, on, as_documented };
inline constexpr std::size_t extension_count =
    static_cast<std::size_t>(Extension::anything_with_model_and_messages) + 1;
struct StrictAcceptance;

}  // namespace detail

/// The request features that the gateway accepts, with a switch for each Extension. The default accepts what common
/// SDKs send. A request that needs a feature that is off gets 400 (or the 401, 404 or 415 of the rule it breaks).
/// Unless Options::acceptance is set, the profile decides: openai() for the openai profile, the default for the others.
class Acceptance {
 public:
  Acceptance();
  /// What OpenAI accepts: the default plus the extensions marked as on in openai(). If the profile's service does not
  /// document one of these, the review notes its use: `beyond_documentation`.
  static Acceptance openai();
  /// Only what the documentation lists: every extension is off. Under the openai profile, OpenAI's documentation
  /// counts. It lists tool calls in messages and `stop` as a string. The gateway's own fields (`enable_thinking`,
  /// `repetition_penalty`) get 400. A switch set afterwards applies under every profile.
  static Acceptance strict();
  /// Any JSON body with model and messages, of any content type.
  static Acceptance lenient();

  /// Returns a copy with this extension on or off.
  [[nodiscard]] Acceptance with(Extension extension, bool accepted = true) const;
  bool has(Extension extension) const { return switches_[static_cast<std::size_t>(extension)] == Switch::on; }

 private:
  friend struct detail::StrictAcceptance;
  using Switch = detail::AcceptanceSwitch;

  Switch switches_[detail::extension_count] = {};
};

namespace detail {

/// The narrowest named acceptance that has an extension on. The wider ones have it too.
enum class TakenBy : unsigned char { usual, openai, lenient };

/// An extension, its key in scripts (`name`) and its line in the table of these keys (`text`).
struct ExtensionRow {
  Extension extension;
  const char* name;
  TakenBy taken_by;
  const char* text;
};

struct NamedAcceptance {
  const char* name;
  Acceptance (*make)();
};

inline constexpr NamedAcceptance acceptances[] = {
    {"strict", &Acceptance::strict},
    {"default", [] { return Acceptance(); }},
    {"lenient", &Acceptance::lenient},
    {"openai", &Acceptance::openai},
};
std::vector<std::string> acceptance_names();

/// In the order of the enum.
inline constexpr ExtensionRow extensions[] = {
    {Extension::bearer_in_any_case, "bearer_in_any_case", TakenBy::usual, "`Authorization: bearer`"},
    {Extension::unknown_fields, "unknown_fields", TakenBy::usual, "fields that the documentation does not list"},
    {Extension::openai_fields, "openai_fields", TakenBy::openai,
     "fields that OpenAI documents: a note, and no warning"},
    {Extension::tool_role, "tool_role", TakenBy::usual, "messages of role tool"},
    {Extension::developer_role, "developer_role", TakenBy::openai, "messages of role developer"},
    {Extension::null_content_with_tool_calls, "null_content_with_tool_calls", TakenBy::usual,
     "no content in a message with tool calls"},
    {Extension::text_parts, "text_parts", TakenBy::usual, "content as a list of text parts"},
    {Extension::other_parts, "other_parts", TakenBy::openai, "content parts of other types"},
    {Extension::tool_calls_in_messages, "tool_calls_in_messages", TakenBy::usual, "tool_calls in assistant messages"},
    {Extension::stop_as_string, "stop_as_string", TakenBy::usual, "stop as a plain string"},
    {Extension::tool_choice_required, "tool_choice_required", TakenBy::usual, "tool_choice \"required\""},
    {Extension::allowed_tools, "allowed_tools", TakenBy::openai, "tool_choice of type allowed_tools"},
    {Extension::json_schema_without_schema, "json_schema_without_schema", TakenBy::openai,
     "response_format json_schema without schema"},
    {Extension::custom_tools, "custom_tools", TakenBy::openai, "tools of type custom"},
    {Extension::max_completion_tokens, "max_completion_tokens", TakenBy::openai, "max_completion_tokens"},
    {Extension::logprobs, "logprobs", TakenBy::usual, "logprobs and top_logprobs"},
    {Extension::null_as_absent, "null_as_absent", TakenBy::usual, "null for an optional field"},
    {Extension::stream_options_without_stream, "stream_options_without_stream", TakenBy::usual,
     "stream_options without stream"},
    {Extension::model_by_id, "model_by_id", TakenBy::usual, "GET /v1/models/{id}"},
    {Extension::content_type_parameters, "content_type_parameters", TakenBy::usual, "parameters of the content type"},
    {Extension::json_as_form, "json_as_form", TakenBy::usual, "JSON sent as a form, as curl -d does"},
    {Extension::anything_with_model_and_messages, "anything_with_model_and_messages", TakenBy::lenient,
     "any JSON with model and messages"},
};

/// The part of Acceptance::strict() that depends on the profile.
struct StrictAcceptance {
  /// Returns the acceptance under a profile whose service documents what `documented` accepts.
  static Acceptance under(const Acceptance& acceptance, const Acceptance& documented);
  /// Whether a request may use exactly the fields that the gateway's documentation and the profile's service list.
  static bool takes_documented_fields(const Acceptance& acceptance) {
    return is_as_documented(acceptance, Extension::unknown_fields);
  }
  static bool takes_documented_nulls(const Acceptance& acceptance) {
    return is_as_documented(acceptance, Extension::null_as_absent);
  }

 private:
  static bool is_as_documented(const Acceptance& acceptance, Extension extension) {
    return acceptance.switches_[static_cast<std::size_t>(extension)] == AcceptanceSwitch::as_documented;
  }
};

}  // namespace detail

}  // namespace mock_gateway
