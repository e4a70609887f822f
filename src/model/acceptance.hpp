#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

namespace detail {

/// What an Acceptance has a switch for; see its setters. An extension has a row below.
enum class Extension : unsigned char {
  bearer_in_any_case,
  unknown_fields,
  openai_fields,
  tool_role,
  developer_role,
  null_content_with_tool_calls,
  text_parts,
  other_parts,
  tool_calls_in_messages,
  stop_as_string,
  tool_choice_required,
  allowed_tools,
  json_schema_without_schema,
  custom_tools,
  max_completion_tokens,
  logprobs,
  null_as_absent,
  stream_options_without_stream,
  model_by_id,
  content_type_parameters,
  json_as_form,
  anything_with_model_and_messages,
  count,
};
/// One switch of an Acceptance. `as_documented` is off, but for what the profile's service documents.
enum class AcceptanceSwitch : signed char { off, on, as_documented };
struct ExtensionRow;
struct StrictAcceptance;

}  // namespace detail

/// What the gateway takes beyond the documented request. It has a switch for each extension, which is on unless its
/// comment says otherwise: a default value takes what common SDKs send. A request that needs what is off gets 400 (or
/// the 401, 404 or 415 of the rule that it breaks). A value; each setter returns a changed copy. Where
/// Options::acceptance sets none, the profile decides: openai() for the openai profile, a default value for the others.
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

  /// `Authorization: bearer …` in any case. Where it is off, exactly `Bearer`.
  [[nodiscard]] Acceptance bearer_in_any_case(bool accepted) const {
    return with(Extension::bearer_in_any_case, accepted);
  }
  bool bearer_in_any_case() const { return is_on(Extension::bearer_in_any_case); }
  /// Fields that the documentation does not list, `frequency_penalty` among them; a finding, unless the profile is
  /// openai and OpenAI documents the field. So is a JSON object that names a key twice; where this is off, it gets 400
  /// too.
  [[nodiscard]] Acceptance unknown_fields(bool accepted) const { return with(Extension::unknown_fields, accepted); }
  bool unknown_fields() const { return is_on(Extension::unknown_fields); }
  /// Fields that OpenAI documents and the gateway's documentation does not, such as `metadata`. They have no effect; a
  /// note (`beyond_documentation`), and no warning. Off; on in openai().
  [[nodiscard]] Acceptance openai_fields(bool accepted) const { return with(Extension::openai_fields, accepted); }
  bool openai_fields() const { return is_on(Extension::openai_fields); }
  /// Messages of role `tool`; tool calling needs them.
  [[nodiscard]] Acceptance tool_role(bool accepted) const { return with(Extension::tool_role, accepted); }
  bool tool_role() const { return is_on(Extension::tool_role); }
  /// Messages of role `developer`. Off; on in openai().
  [[nodiscard]] Acceptance developer_role(bool accepted) const { return with(Extension::developer_role, accepted); }
  bool developer_role() const { return is_on(Extension::developer_role); }
  /// `content: null`, or none, in an assistant message that has tool calls.
  [[nodiscard]] Acceptance null_content_with_tool_calls(bool accepted) const {
    return with(Extension::null_content_with_tool_calls, accepted);
  }
  bool null_content_with_tool_calls() const { return is_on(Extension::null_content_with_tool_calls); }
  /// `content` as an array of `{"type":"text"}` parts.
  [[nodiscard]] Acceptance text_parts(bool accepted) const { return with(Extension::text_parts, accepted); }
  bool text_parts() const { return is_on(Extension::text_parts); }
  /// Content parts of other types (`image_url`, `input_audio`, `file`, …). Off; on in openai().
  [[nodiscard]] Acceptance other_parts(bool accepted) const { return with(Extension::other_parts, accepted); }
  bool other_parts() const { return is_on(Extension::other_parts); }
  /// `tool_calls` in assistant messages.
  [[nodiscard]] Acceptance tool_calls_in_messages(bool accepted) const {
    return with(Extension::tool_calls_in_messages, accepted);
  }
  bool tool_calls_in_messages() const { return is_on(Extension::tool_calls_in_messages); }
  /// `stop` as a plain string; a finding, except in the openai profile: OpenAI documents it.
  [[nodiscard]] Acceptance stop_as_string(bool accepted) const { return with(Extension::stop_as_string, accepted); }
  bool stop_as_string() const { return is_on(Extension::stop_as_string); }
  /// `tool_choice: "required"`.
  [[nodiscard]] Acceptance tool_choice_required(bool accepted) const {
    return with(Extension::tool_choice_required, accepted);
  }
  bool tool_choice_required() const { return is_on(Extension::tool_choice_required); }
  /// `tool_choice` of type `allowed_tools`: mode `auto` or `required` over the tools that it names. Off; on in
  /// openai().
  [[nodiscard]] Acceptance allowed_tools(bool accepted) const { return with(Extension::allowed_tools, accepted); }
  bool allowed_tools() const { return is_on(Extension::allowed_tools); }
  /// `response_format` of type `json_schema` without `schema`, which any JSON object satisfies. Off; on in openai().
  [[nodiscard]] Acceptance json_schema_without_schema(bool accepted) const {
    return with(Extension::json_schema_without_schema, accepted);
  }
  bool json_schema_without_schema() const { return is_on(Extension::json_schema_without_schema); }
  /// Tools of type `custom`, whose input is text, not JSON: in `tools`, in `tool_choice`, and calls of them in
  /// messages. Off; on in openai().
  [[nodiscard]] Acceptance custom_tools(bool accepted) const { return with(Extension::custom_tools, accepted); }
  bool custom_tools() const { return is_on(Extension::custom_tools); }
  /// `max_completion_tokens`, which means what `max_tokens` means; both together get OpenAI's 400
  /// `invalid_parameter_combination`. Where it is off, it is an unknown field. Off; on in openai().
  [[nodiscard]] Acceptance max_completion_tokens(bool accepted) const {
    return with(Extension::max_completion_tokens, accepted);
  }
  bool max_completion_tokens() const { return is_on(Extension::max_completion_tokens); }
  /// `logprobs` and `top_logprobs`.
  [[nodiscard]] Acceptance logprobs(bool accepted) const { return with(Extension::logprobs, accepted); }
  bool logprobs() const { return is_on(Extension::logprobs); }
  /// `null` for an optional field, which then counts as absent.
  [[nodiscard]] Acceptance null_as_absent(bool accepted) const { return with(Extension::null_as_absent, accepted); }
  bool null_as_absent() const { return is_on(Extension::null_as_absent); }
  /// `stream_options` without `stream: true`; a finding.
  [[nodiscard]] Acceptance stream_options_without_stream(bool accepted) const {
    return with(Extension::stream_options_without_stream, accepted);
  }
  bool stream_options_without_stream() const { return is_on(Extension::stream_options_without_stream); }
  /// `GET /v1/models/{id}`.
  [[nodiscard]] Acceptance model_by_id(bool accepted) const { return with(Extension::model_by_id, accepted); }
  bool model_by_id() const { return is_on(Extension::model_by_id); }
  /// `Content-Type: application/json` with parameters, such as charset.
  [[nodiscard]] Acceptance content_type_parameters(bool accepted) const {
    return with(Extension::content_type_parameters, accepted);
  }
  bool content_type_parameters() const { return is_on(Extension::content_type_parameters); }
  /// `application/x-www-form-urlencoded` when the body parses as JSON, as `curl -d` sends it.
  [[nodiscard]] Acceptance json_as_form(bool accepted) const { return with(Extension::json_as_form, accepted); }
  bool json_as_form() const { return is_on(Extension::json_as_form); }
  /// Any JSON body with `model` and `messages` is taken; nothing else is validated. Off; on in lenient().
  [[nodiscard]] Acceptance anything_with_model_and_messages(bool accepted) const {
    return with(Extension::anything_with_model_and_messages, accepted);
  }
  bool anything_with_model_and_messages() const { return is_on(Extension::anything_with_model_and_messages); }

 private:
  friend struct detail::ExtensionRow;
  friend struct detail::StrictAcceptance;
  using Extension = detail::Extension;
  using Switch = detail::AcceptanceSwitch;

  Acceptance with(Extension extension, bool accepted) const;
  bool is_on(Extension extension) const { return switches_[static_cast<std::size_t>(extension)] == Switch::on; }

  Switch switches_[static_cast<std::size_t>(Extension::count)] = {};
};

namespace detail {

/// The narrowest Acceptance that has an extension; the later ones have it too.
enum class TakenBy : unsigned char { usual, openai, lenient };

/// An extension. Its switch in scripts comes from its row too.
struct ExtensionRow {
  Extension extension;
  /// Its setter, and its key in scripts.
  const char* name;
  TakenBy taken_by;
  /// Its line in the table of a script's keys.
  const char* text;

  bool is_on(const Acceptance& acceptance) const { return acceptance.is_on(extension); }
  void set(Acceptance& acceptance, bool accepted) const { acceptance = acceptance.with(extension, accepted); }
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
