#pragma once

#include <array>

#include "../core/version.hpp"

namespace mock_gateway {

namespace detail {

/// One switch of an Acceptance. `as_documented` is off, but for what the profile's service documents.
enum class AcceptanceSwitch : signed char { off, on, as_documented };
struct StrictAcceptance;

}  // namespace detail

/// What the gateway takes beyond the documented request. It has a switch for each extension, which is on unless its
/// comment says otherwise: a default value takes what common SDKs send. A request that needs what is off gets 400 (or
/// the 401, 404 or 415 of the rule that it breaks). A value; each setter returns a changed copy. Where
/// Options::acceptance sets none, the profile decides: openai() for the openai profile, a default value for the others.
class Acceptance {
 public:
  /// What OpenAI takes: a default value, and role `developer`, other content parts, allowed and custom tools, JSON
  /// schemas without a schema, and `max_completion_tokens`.
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
    return with(&Acceptance::bearer_in_any_case_, accepted);
  }
  bool bearer_in_any_case() const { return bearer_in_any_case_ == Switch::on; }
  /// Fields that the documentation does not list, `frequency_penalty` among them; a finding, unless the profile is
  /// openai and OpenAI documents the field. So is a JSON object that names a key twice; where this is off, it gets 400
  /// too.
  [[nodiscard]] Acceptance unknown_fields(bool accepted) const { return with(&Acceptance::unknown_fields_, accepted); }
  bool unknown_fields() const { return unknown_fields_ == Switch::on; }
  /// Messages of role `tool`; tool calling needs them.
  [[nodiscard]] Acceptance tool_role(bool accepted) const { return with(&Acceptance::tool_role_, accepted); }
  bool tool_role() const { return tool_role_ == Switch::on; }
  /// Messages of role `developer`. Off; on in openai().
  [[nodiscard]] Acceptance developer_role(bool accepted) const { return with(&Acceptance::developer_role_, accepted); }
  bool developer_role() const { return developer_role_ == Switch::on; }
  /// `content: null`, or none, in an assistant message that has tool calls.
  [[nodiscard]] Acceptance null_content_with_tool_calls(bool accepted) const {
    return with(&Acceptance::null_content_with_tool_calls_, accepted);
  }
  bool null_content_with_tool_calls() const { return null_content_with_tool_calls_ == Switch::on; }
  /// `content` as an array of `{"type":"text"}` parts.
  [[nodiscard]] Acceptance text_parts(bool accepted) const { return with(&Acceptance::text_parts_, accepted); }
  bool text_parts() const { return text_parts_ == Switch::on; }
  /// Content parts of other types (`image_url`, `input_audio`, `file`, …). Off; on in openai().
  [[nodiscard]] Acceptance other_parts(bool accepted) const { return with(&Acceptance::other_parts_, accepted); }
  bool other_parts() const { return other_parts_ == Switch::on; }
  /// `tool_calls` in assistant messages.
  [[nodiscard]] Acceptance tool_calls_in_messages(bool accepted) const {
    return with(&Acceptance::tool_calls_in_messages_, accepted);
  }
  bool tool_calls_in_messages() const { return tool_calls_in_messages_ == Switch::on; }
  /// `stop` as a plain string; a finding, except in the openai profile: OpenAI documents it.
  [[nodiscard]] Acceptance stop_as_string(bool accepted) const { return with(&Acceptance::stop_as_string_, accepted); }
  bool stop_as_string() const { return stop_as_string_ == Switch::on; }
  /// `tool_choice: "required"`.
  [[nodiscard]] Acceptance tool_choice_required(bool accepted) const {
    return with(&Acceptance::tool_choice_required_, accepted);
  }
  bool tool_choice_required() const { return tool_choice_required_ == Switch::on; }
  /// `tool_choice` of type `allowed_tools`: mode `auto` or `required` over the tools that it names. Off; on in
  /// openai().
  [[nodiscard]] Acceptance allowed_tools(bool accepted) const { return with(&Acceptance::allowed_tools_, accepted); }
  bool allowed_tools() const { return allowed_tools_ == Switch::on; }
  /// `response_format` of type `json_schema` without `schema`, which any JSON object satisfies. Off; on in openai().
  [[nodiscard]] Acceptance json_schema_without_schema(bool accepted) const {
    return with(&Acceptance::json_schema_without_schema_, accepted);
  }
  bool json_schema_without_schema() const { return json_schema_without_schema_ == Switch::on; }
  /// Tools of type `custom`, whose input is text, not JSON: in `tools`, in `tool_choice`, and calls of them in
  /// messages. Off; on in openai().
  [[nodiscard]] Acceptance custom_tools(bool accepted) const { return with(&Acceptance::custom_tools_, accepted); }
  bool custom_tools() const { return custom_tools_ == Switch::on; }
  /// `max_completion_tokens`, which means what `max_tokens` means; both together get OpenAI's 400
  /// `invalid_parameter_combination`. Where it is off, it is an unknown field. Off; on in openai().
  [[nodiscard]] Acceptance max_completion_tokens(bool accepted) const {
    return with(&Acceptance::max_completion_tokens_, accepted);
  }
  bool max_completion_tokens() const { return max_completion_tokens_ == Switch::on; }
  /// `logprobs` and `top_logprobs`.
  [[nodiscard]] Acceptance logprobs(bool accepted) const { return with(&Acceptance::logprobs_, accepted); }
  bool logprobs() const { return logprobs_ == Switch::on; }
  /// `null` for an optional field, which then counts as absent.
  [[nodiscard]] Acceptance null_as_absent(bool accepted) const { return with(&Acceptance::null_as_absent_, accepted); }
  bool null_as_absent() const { return null_as_absent_ == Switch::on; }
  /// `stream_options` without `stream: true`; a finding.
  [[nodiscard]] Acceptance stream_options_without_stream(bool accepted) const {
    return with(&Acceptance::stream_options_without_stream_, accepted);
  }
  bool stream_options_without_stream() const { return stream_options_without_stream_ == Switch::on; }
  /// `GET /v1/models/{id}`.
  [[nodiscard]] Acceptance model_by_id(bool accepted) const { return with(&Acceptance::model_by_id_, accepted); }
  bool model_by_id() const { return model_by_id_ == Switch::on; }
  /// `Content-Type: application/json` with parameters, such as charset.
  [[nodiscard]] Acceptance content_type_parameters(bool accepted) const {
    return with(&Acceptance::content_type_parameters_, accepted);
  }
  bool content_type_parameters() const { return content_type_parameters_ == Switch::on; }
  /// `application/x-www-form-urlencoded` when the body parses as JSON, as `curl -d` sends it.
  [[nodiscard]] Acceptance json_as_form(bool accepted) const { return with(&Acceptance::json_as_form_, accepted); }
  bool json_as_form() const { return json_as_form_ == Switch::on; }
  /// Any JSON body with `model` and `messages` is taken; nothing else is validated. Off; on in lenient().
  [[nodiscard]] Acceptance anything_with_model_and_messages(bool accepted) const {
    return with(&Acceptance::anything_with_model_and_messages_, accepted);
  }
  bool anything_with_model_and_messages() const { return anything_with_model_and_messages_ == Switch::on; }

 private:
  friend struct detail::StrictAcceptance;
  using Switch = detail::AcceptanceSwitch;

  Acceptance with(Switch Acceptance::*extension, bool accepted) const;
  static Acceptance with_every(Switch state);

  Switch bearer_in_any_case_ = Switch::on;
  Switch unknown_fields_ = Switch::on;
  Switch tool_role_ = Switch::on;
  Switch developer_role_ = Switch::off;
  Switch null_content_with_tool_calls_ = Switch::on;
  Switch text_parts_ = Switch::on;
  Switch other_parts_ = Switch::off;
  Switch tool_calls_in_messages_ = Switch::on;
  Switch stop_as_string_ = Switch::on;
  Switch tool_choice_required_ = Switch::on;
  Switch allowed_tools_ = Switch::off;
  Switch json_schema_without_schema_ = Switch::off;
  Switch custom_tools_ = Switch::off;
  Switch max_completion_tokens_ = Switch::off;
  Switch logprobs_ = Switch::on;
  Switch null_as_absent_ = Switch::on;
  Switch stream_options_without_stream_ = Switch::on;
  Switch model_by_id_ = Switch::on;
  Switch content_type_parameters_ = Switch::on;
  Switch json_as_form_ = Switch::on;
  Switch anything_with_model_and_messages_ = Switch::off;
};

namespace detail {

/// What Acceptance::strict() leaves to the profile.
struct StrictAcceptance {
  /// Every switch.
  static const std::array<AcceptanceSwitch Acceptance::*, 21> all;

  /// The same under a profile whose service documents what `documented` takes.
  static Acceptance under(const Acceptance& acceptance, const Acceptance& documented);
  /// Whether a request may have, besides the fields of the gateway's documentation, those that the profile's service
  /// documents, and no others.
  static bool takes_documented_fields(const Acceptance& acceptance) {
    return acceptance.unknown_fields_ == AcceptanceSwitch::as_documented;
  }
  /// Whether null is absence for the fields for which the service documents it.
  static bool takes_documented_nulls(const Acceptance& acceptance) {
    return acceptance.null_as_absent_ == AcceptanceSwitch::as_documented;
  }
};

}  // namespace detail

}  // namespace mock_gateway
