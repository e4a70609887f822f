#pragma once

#include "../core/version.hpp"

namespace mock_gateway {

/// What the gateway takes beyond the documented request. It has a switch for each extension, which is on unless its
/// comment says otherwise: a default value takes what common SDKs send. A request that needs what is off gets 400 (or
/// the 401, 404 or 415 of the rule that it breaks). A value; each setter returns a changed copy. Where
/// Options::acceptance sets none, the profile decides: openai() for the openai profile, a default value for the others.
class Acceptance {
 public:
  /// What OpenAI takes: a default value, and role `developer`, other content parts, custom tools and
  /// `max_completion_tokens`.
  static Acceptance openai();
  /// Every extension off: only what the documentation lists.
  static Acceptance strict();
  /// Any body that is JSON with model and messages, from any content type.
  static Acceptance lenient();

  /// `Authorization: bearer …` in any case. Where it is off, exactly `Bearer`.
  [[nodiscard]] Acceptance bearer_in_any_case(bool accepted) const {
    return with(&Acceptance::bearer_in_any_case_, accepted);
  }
  bool bearer_in_any_case() const { return bearer_in_any_case_; }
  /// Fields that the documentation does not list, `frequency_penalty` among them; a finding, unless the profile is
  /// openai and OpenAI documents the field. So is a JSON object that names a key twice; where this is off, it gets 400
  /// too.
  [[nodiscard]] Acceptance unknown_fields(bool accepted) const { return with(&Acceptance::unknown_fields_, accepted); }
  bool unknown_fields() const { return unknown_fields_; }
  /// Messages of role `tool`; tool calling needs them.
  [[nodiscard]] Acceptance tool_role(bool accepted) const { return with(&Acceptance::tool_role_, accepted); }
  bool tool_role() const { return tool_role_; }
  /// Messages of role `developer`. Off; on in openai().
  [[nodiscard]] Acceptance developer_role(bool accepted) const { return with(&Acceptance::developer_role_, accepted); }
  bool developer_role() const { return developer_role_; }
  /// `content: null`, or none, in an assistant message that has tool calls.
  [[nodiscard]] Acceptance null_content_with_tool_calls(bool accepted) const {
    return with(&Acceptance::null_content_with_tool_calls_, accepted);
  }
  bool null_content_with_tool_calls() const { return null_content_with_tool_calls_; }
  /// `content` as an array of `{"type":"text"}` parts.
  [[nodiscard]] Acceptance text_parts(bool accepted) const { return with(&Acceptance::text_parts_, accepted); }
  bool text_parts() const { return text_parts_; }
  /// Content parts of other types (`image_url`, `input_audio`, `file`, …). Off; on in openai().
  [[nodiscard]] Acceptance other_parts(bool accepted) const { return with(&Acceptance::other_parts_, accepted); }
  bool other_parts() const { return other_parts_; }
  /// `tool_calls` in assistant messages.
  [[nodiscard]] Acceptance tool_calls_in_messages(bool accepted) const {
    return with(&Acceptance::tool_calls_in_messages_, accepted);
  }
  bool tool_calls_in_messages() const { return tool_calls_in_messages_; }
  /// `stop` as a plain string; a finding, except in the openai profile: OpenAI documents it.
  [[nodiscard]] Acceptance stop_as_string(bool accepted) const { return with(&Acceptance::stop_as_string_, accepted); }
  bool stop_as_string() const { return stop_as_string_; }
  /// `tool_choice: "required"`.
  [[nodiscard]] Acceptance tool_choice_required(bool accepted) const {
    return with(&Acceptance::tool_choice_required_, accepted);
  }
  bool tool_choice_required() const { return tool_choice_required_; }
  /// Tools of type `custom`, whose input is text, not JSON: in `tools`, in `tool_choice`, and calls of them in
  /// messages. Off; on in openai().
  [[nodiscard]] Acceptance custom_tools(bool accepted) const { return with(&Acceptance::custom_tools_, accepted); }
  bool custom_tools() const { return custom_tools_; }
  /// `max_completion_tokens`, which means what `max_tokens` means; both together get OpenAI's 400
  /// `invalid_parameter_combination`. Where it is off, it is an unknown field. Off; on in openai().
  [[nodiscard]] Acceptance max_completion_tokens(bool accepted) const {
    return with(&Acceptance::max_completion_tokens_, accepted);
  }
  bool max_completion_tokens() const { return max_completion_tokens_; }
  /// `logprobs` and `top_logprobs`.
  [[nodiscard]] Acceptance logprobs(bool accepted) const { return with(&Acceptance::logprobs_, accepted); }
  bool logprobs() const { return logprobs_; }
  /// `null` for an optional field, which then counts as absent.
  [[nodiscard]] Acceptance null_as_absent(bool accepted) const { return with(&Acceptance::null_as_absent_, accepted); }
  bool null_as_absent() const { return null_as_absent_; }
  /// `stream_options` without `stream: true`; a finding.
  [[nodiscard]] Acceptance stream_options_without_stream(bool accepted) const {
    return with(&Acceptance::stream_options_without_stream_, accepted);
  }
  bool stream_options_without_stream() const { return stream_options_without_stream_; }
  /// `GET /v1/models/{id}`.
  [[nodiscard]] Acceptance model_by_id(bool accepted) const { return with(&Acceptance::model_by_id_, accepted); }
  bool model_by_id() const { return model_by_id_; }
  /// `Content-Type: application/json` with parameters, such as charset.
  [[nodiscard]] Acceptance content_type_parameters(bool accepted) const {
    return with(&Acceptance::content_type_parameters_, accepted);
  }
  bool content_type_parameters() const { return content_type_parameters_; }
  /// `application/x-www-form-urlencoded` when the body parses as JSON, as `curl -d` sends it.
  [[nodiscard]] Acceptance json_as_form(bool accepted) const { return with(&Acceptance::json_as_form_, accepted); }
  bool json_as_form() const { return json_as_form_; }
  /// Any JSON body with `model` and `messages` is taken; nothing else is validated. Off; on in lenient().
  [[nodiscard]] Acceptance anything_with_model_and_messages(bool accepted) const {
    return with(&Acceptance::anything_with_model_and_messages_, accepted);
  }
  bool anything_with_model_and_messages() const { return anything_with_model_and_messages_; }

 private:
  Acceptance with(bool Acceptance::*extension, bool accepted) const;
  static Acceptance with_every(bool accepted);

  bool bearer_in_any_case_ = true;
  bool unknown_fields_ = true;
  bool tool_role_ = true;
  bool developer_role_ = false;
  bool null_content_with_tool_calls_ = true;
  bool text_parts_ = true;
  bool other_parts_ = false;
  bool tool_calls_in_messages_ = true;
  bool stop_as_string_ = true;
  bool tool_choice_required_ = true;
  bool custom_tools_ = false;
  bool max_completion_tokens_ = false;
  bool logprobs_ = true;
  bool null_as_absent_ = true;
  bool stream_options_without_stream_ = true;
  bool model_by_id_ = true;
  bool content_type_parameters_ = true;
  bool json_as_form_ = true;
  bool anything_with_model_and_messages_ = false;
};

}  // namespace mock_gateway
