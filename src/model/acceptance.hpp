#pragma once

#include "../core/version.hpp"

namespace mock_gateway {

/// What the gateway takes beyond the documented request: a switch per extension. What is off gets 400 (or 401, 404,
/// 415 where that is the rule broken). A default value takes what common SDKs send. Where Options::acceptance sets
/// none, the profile decides: openai() for the openai profile, a default value for the others.
struct Acceptance {
  /// `Authorization: bearer …` in any case; off: exactly `Bearer`.
  bool bearer_in_any_case = true;
  /// Fields that the documentation does not list, `frequency_penalty` among them. Recorded as a finding, unless the
  /// profile is openai and OpenAI documents the field.
  bool unknown_fields = true;
  /// Messages of role `tool`; tool calling needs them.
  bool tool_role = true;
  /// Messages of role `developer`. On in openai().
  bool developer_role = false;
  /// `content: null`, or none, in an assistant message that has tool calls.
  bool null_content_with_tool_calls = true;
  /// `content` as an array of `{"type":"text"}` parts.
  bool text_parts = true;
  /// Content parts of other types (`image_url`, `input_audio`, `file`, …). On in openai().
  bool other_parts = false;
  /// `tool_calls` in assistant messages.
  bool tool_calls_in_messages = true;
  /// `stop` as a plain string. Recorded as a finding, except in the openai profile: OpenAI documents it.
  bool stop_as_string = true;
  /// `tool_choice: "required"`.
  bool tool_choice_required = true;
  /// Tools of type `custom`, whose input is text, not JSON: in `tools`, in `tool_choice`, and calls of them in
  /// messages. On in openai().
  bool custom_tools = false;
  /// `max_completion_tokens`, which means what `max_tokens` means; both together get OpenAI's 400
  /// `invalid_parameter_combination`. Off: an unknown field. On in openai().
  bool max_completion_tokens = false;
  /// `logprobs` and `top_logprobs`.
  bool logprobs = true;
  /// null for an optional field counts as absent.
  bool null_as_absent = true;
  /// `stream_options` without `stream: true`. Recorded as a finding.
  bool stream_options_without_stream = true;
  /// `GET /v1/models/{id}`.
  bool model_by_id = true;
  /// `Content-Type: application/json` with parameters, such as charset.
  bool content_type_parameters = true;
  /// `application/x-www-form-urlencoded` when the body parses as JSON, as `curl -d` sends it.
  bool json_as_form = true;
  /// Any JSON body with `model` and `messages` is taken; nothing else is validated.
  bool anything_with_model_and_messages = false;

  /// What OpenAI takes: a default value, and role `developer`, other content parts, custom tools and
  /// `max_completion_tokens`.
  static Acceptance openai();
  /// Every extension off: only what the documentation lists.
  static Acceptance strict();
  /// Any body that is JSON with model and messages, from any content type.
  static Acceptance lenient();
};

}  // namespace mock_gateway
