#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

/// What requests may have beyond the documentation. Each is on in a default Acceptance, and off in
/// Acceptance::strict(), unless its comment says otherwise.
enum class Extension : unsigned char {
  /// `Authorization: bearer …` in any case. Where it is off, exactly `Bearer`.
  bearer_in_any_case,
  /// Fields that the documentation does not list, `frequency_penalty` among them; a finding, unless the profile is
  /// openai and OpenAI documents the field. So is a JSON object that names a key twice; where this is off, it gets 400
  /// too.
  unknown_fields,
  /// Fields that OpenAI documents and the gateway's documentation does not, such as `metadata`. They have no effect; a
  /// note (`beyond_documentation`), and no warning. Off; on in openai().
  openai_fields,
  /// Messages of role `tool`; tool calling needs them.
  tool_role,
  /// Messages of role `developer`. Off; on in openai().
  developer_role,
  /// `content: null`, or none, in an assistant message that has tool calls.
  null_content_with_tool_calls,
  /// `content` as an array of `{"type":"text"}` parts.
  text_parts,
  /// Content parts of other types (`image_url`, `input_audio`, `file`, …). Off; on in openai().
  other_parts,
  /// `tool_calls` in assistant messages.
  tool_calls_in_messages,
  /// `stop` as a plain string; a finding, except in the openai profile: OpenAI documents it.
  stop_as_string,
  /// `tool_choice: "required"`.
  tool_choice_required,
  /// `tool_choice` of type `allowed_tools`: mode `auto` or `required` over the tools that it names. Off; on in
  /// openai().
  allowed_tools,
  /// `response_format` of type `json_schema` without `schema`, which any JSON object satisfies. Off; on in openai().
  json_schema_without_schema,
  /// Tools of type `custom`, whose input is text, not JSON: in `tools`, in `tool_choice`, and calls of them in
  /// messages. Off; on in openai().
  custom_tools,
  /// `max_completion_tokens`, which means what `max_tokens` means; both together get OpenAI's 400
  /// `invalid_parameter_combination`. Where it is off, it is an unknown field. Off; on in openai().
  max_completion_tokens,
  /// `logprobs` and `top_logprobs`.
  logprobs,
  /// `null` for an optional field, which then counts as absent.
  null_as_absent,
  /// `stream_options` without `stream: true`; a finding.
  stream_options_without_stream,
  /// `GET /v1/models/{id}`.
  model_by_id,
  /// `Content-Type: application/json` with parameters, such as charset.
  content_type_parameters,
  /// `application/x-www-form-urlencoded` when the body parses as JSON, as `curl -d` sends it.
  json_as_form,
  /// Any JSON body with `model` and `messages` is taken; nothing else is validated. Off; on in lenient().
  anything_with_model_and_messages,
};

namespace detail {

/// One switch of an Acceptance. `as_documented` is off, but for what the profile's service documents.
enum class AcceptanceSwitch : signed char { off, on, as_documented };
inline constexpr std::size_t extension_count =
    static_cast<std::size_t>(Extension::anything_with_model_and_messages) + 1;
struct StrictAcceptance;

}  // namespace detail

/// What the gateway takes beyond the documented request, with a switch for each Extension: a default value takes what
/// common SDKs send. A request that needs what is off gets 400 (or the 401, 404 or 415 of the rule that it breaks).
/// Where Options::acceptance sets none, the profile decides: openai() for the openai profile, a default value for the
/// others.
class Acceptance {
 public:
  Acceptance();
  /// What OpenAI takes: a default value, and role `developer`, other content parts, allowed and custom tools, JSON
  /// schemas without a schema, `max_completion_tokens`, and its other fields. Under a profile whose service does not
  /// document these, the review notes what a request has of them: `beyond_documentation`.
  static Acceptance openai();
  /// Only what the documentation lists: every extension off. Under the openai profile the documentation is OpenAI's, so
  /// that what OpenAI documents is taken, tool calls in messages and `stop` as a string among it, and a field of the
  /// gateway's own (`enable_thinking`, `repetition_penalty`) gets 400. A switch that is set afterwards is obeyed under
  /// every profile.
  static Acceptance strict();
  /// Any body that is JSON with model and messages, from any content type.
  static Acceptance lenient();

  /// The same with that switch on, or off.
  [[nodiscard]] Acceptance with(Extension extension, bool accepted = true) const;
  /// Whether that switch is on.
  bool has(Extension extension) const { return switches_[static_cast<std::size_t>(extension)] == Switch::on; }

 private:
  friend struct detail::StrictAcceptance;
  using Switch = detail::AcceptanceSwitch;

  Switch switches_[detail::extension_count] = {};
};

namespace detail {

/// The narrowest Acceptance that has an extension; the later ones have it too.
enum class TakenBy : unsigned char { usual, openai, lenient };

/// An extension. Its switch in scripts comes from its row too.
struct ExtensionRow {
  Extension extension;
  /// Its key in scripts.
  const char* name;
  TakenBy taken_by;
  /// Its line in the table of a script's keys.
  const char* text;
};

/// An acceptance that has a name in scripts and for the program.
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

/// What Acceptance::strict() leaves to the profile.
struct StrictAcceptance {
  /// The same under a profile whose service documents what `documented` takes.
  static Acceptance under(const Acceptance& acceptance, const Acceptance& documented);
  /// Whether a request may have, besides the fields of the gateway's documentation, those that the profile's service
  /// documents, and no others.
  static bool takes_documented_fields(const Acceptance& acceptance) {
    return is_as_documented(acceptance, Extension::unknown_fields);
  }
  /// Whether null is absence for the fields for which the service documents it.
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
