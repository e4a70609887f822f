// The differences between profiles, with the values of the documented one as defaults.

#pragma once

#include <cstddef>
#include <string_view>

#include "../core/rows.hpp"
#include "acceptance.hpp"
#include "profile.hpp"

namespace mock_gateway::detail {

enum class SystemFingerprint {
  absent,
  null,
  /// `fp_…`, different for each model.
  made_up,
  /// An empty string, after the choices.
  empty,
};

/// The first delta of a choice, as JSON.
struct RoleDelta {
  std::string_view text;
  /// For a choice with only tool calls, whose plain message has null content.
  std::string_view calls;
  /// For a choice that begins with reasoning; empty: the same as without reasoning.
  std::string_view thinking;
};

/// The JSON around a text: `open`, the text, `close`. Unless `again` is empty, it and the text come before `close`.
struct TextForm {
  std::string_view open;
  std::string_view close;
  std::string_view again = {};
};

/// What a profile sends instead of a failure's code, type and message, unless the test has chosen them.
struct ErrorRow {
  int status = 0;                 // 5: 500 to 599; 0: any
  std::string_view when = {};     // the failure's code; empty: any
  std::string_view code = {};     // empty: the failure's; "$null"; a number: "#20015", "#status"
  std::string_view type = {};     // empty: the failure's
  std::string_view message = {};  // empty: the failure's
  std::string_view body = {};     // empty: the profile's
};

/// Names with spaces between them.
struct NameList {
  std::string_view names;
  bool has(std::string_view name) const;
};

/// The properties of one profile. The defaults are the documented profile's; profile.cpp has a row for each profile.
struct ProfileTraits {
  Profile profile = Profile::documented;
  std::string_view name;

  // Requests.

  /// The request features accepted unless Options::acceptance is set.
  Acceptance (*acceptance)() = nullptr;
  /// The extensions that the service documents, which Acceptance::strict() accepts too.
  const Acceptance& (*documented)() = nullptr;
  /// Further fields that the service documents, without effect or finding. In `stream_options`: "stream_options.name".
  NameList further_fields;
  /// Fields in the gateway's documentation that the service does not document: unknown to Acceptance::strict().
  NameList own_fields;
  /// Fields whose null the service documents; Acceptance::strict() treats it as absent. `strict` is a field of tools.
  NameList nullable_fields;
  /// A temperature outside 0 to 2 gets 400; otherwise it is a finding.
  bool rejects_temperature_out_of_range = false;
  bool documents_stop_as_string = false;
  /// `refusal`, `audio` or `function_call` may replace the content of an assistant's message.
  bool content_may_be_replaced = false;
  /// The service documents `POST /v1/embeddings`: served by default, see Options::embeddings.
  bool documents_embeddings = false;
  /// Content parts with images, audio and files need the members that OpenAI documents.
  bool checks_other_parts = false;

  // Errors and headers.

  /// JSON without spaces, in which a string with `$` names a value of `error_values()`. Other text is sent unchanged.
  std::string_view error_body = R"({"error":{"code":"$code","message":"$message","type":"$type"}})";
  /// The data of an event with an error. Empty: as error_body.
  std::string_view error_event;
  /// The first row that fits a failure counts.
  Rows<ErrorRow> errors = {nullptr, 0};
  /// The form of request ids, see make_id(), and their header. Empty: none.
  std::string_view request_id;
  std::string_view id_header;
  /// All answers have the header; otherwise only successful answers to chat requests.
  bool identifies_errors = true;
  /// The 429 of a rate limit has `retry-after-ms` in addition to `Retry-After`.
  bool retry_after_ms = false;
  /// Each answer has `openai-processing-ms` and `openai-version`. For a key with a rate limit it also has
  /// `x-ratelimit-*-requests`, and with a token limit `x-ratelimit-*-tokens`.
  bool openai_headers = false;

  // Completions and chunks.

  /// The form of ids, see make_id(). Empty: the id is the request id.
  std::string_view completion_id = "chatcmpl-************************";
  /// A comment before the first chunk, with its blank line.
  std::string_view opening_comment;
  /// JSON after the model: `,"provider":…`.
  std::string_view provider;
  SystemFingerprint system_fingerprint = SystemFingerprint::absent;
  /// Messages and logprobs have the key `refusal`; otherwise a refusal is sent as content.
  bool refusal_key = false;
  /// Choices and chunks have the key `logprobs` even if the request does not ask for them.
  bool logprobs_key = false;
  bool native_finish_reason = false;
  /// The member of a message with reasoning, and of one without.
  TextForm thinking = {R"(,"reasoning_content":)", ""};
  std::string_view no_thinking;
  TextForm thinking_delta = {R"({"reasoning_content":)", "}"};
  TextForm text_delta = {R"({"content":)", "}"};
  std::string_view calls_delta = R"({"tool_calls":[{)";
  /// A choice that has other deltas begins with a role delta.
  bool begins_with_role = true;
  RoleDelta role_delta = {R"({"role":"assistant","content":""})", R"({"role":"assistant","content":null})", ""};
  /// The delta of a finish chunk, as JSON.
  std::string_view finish_delta = "{}";

  // Usage.

  /// `prompt_tokens_details.cached_tokens` is sent even if it is 0.
  bool cached_tokens_key = false;
  bool prompt_cache_tokens = false;
  /// Members of usage after the totals.
  std::string_view further_usage;
  /// Streamed usage is in the last finish chunk; otherwise in a separate chunk.
  bool usage_on_finish = false;
  /// Each chunk has the usage of the tokens sent so far.
  bool usage_so_far = false;
  /// Usage is sent even if the request does not ask for it, in a chunk that repeats the finish chunk.
  bool usage_repeats_finish = false;
};

/// Throws GatewayError for an unknown profile.
const ProfileTraits& traits_of(Profile profile);
/// Returns the profile's row for a failure with this status and code.
const ErrorRow& error_row_of(const ProfileTraits& profile, int status, std::string_view code);

}  // namespace mock_gateway::detail
