// The differences between profiles, with the values of the documented one as defaults.

#pragma once

#include <cstddef>
#include <string_view>

#include "acceptance.hpp"
#include "profile.hpp"

namespace mock_gateway::detail {

enum class ErrorShape {
  code_message_type,
  /// `message`, `type`, `param`, `code`, with OpenAI's wording for the documented failures.
  openai,
};

enum class SystemFingerprint {
  absent,
  null,
  /// `fp_…`, different for each model.
  made_up,
};

/// The first delta of a choice, as JSON.
struct RoleDelta {
  std::string_view text;
  /// For a choice with only tool calls, whose plain message has null content.
  std::string_view calls;
  /// For a choice that begins with reasoning; empty: the same as without reasoning.
  std::string_view thinking;
};

/// Names in an array with static lifetime.
struct NameList {
  const std::string_view* names = nullptr;
  std::size_t count = 0;

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

  ErrorShape error_shape = ErrorShape::code_message_type;
  /// The 429 of a rate limit has `retry-after-ms` in addition to `Retry-After`.
  bool retry_after_ms = false;
  /// Each answer has `x-request-id` and `openai-processing-ms`. For a key with a rate limit it also has
  /// `x-ratelimit-*-requests`, and with a token limit `x-ratelimit-*-tokens`.
  bool request_headers = false;

  // Completions and chunks.

  SystemFingerprint system_fingerprint = SystemFingerprint::absent;
  /// Messages and logprobs have the key `refusal`; otherwise a refusal is sent as content.
  bool refusal_key = false;
  /// Choices and chunks have the key `logprobs` even if the request does not ask for them.
  bool logprobs_key = false;
  /// Messages without reasoning and deltas of content have null `reasoning_content`.
  bool null_reasoning = false;
  bool null_content_while_thinking = false;
  RoleDelta role_delta = {R"({"role":"assistant","content":""})", R"({"role":"assistant","content":null})", ""};
  /// The delta of a finish chunk, as JSON.
  std::string_view finish_delta = "{}";

  // Usage.

  /// `prompt_tokens_details.cached_tokens` is sent even if it is 0.
  bool cached_tokens_key = false;
  bool prompt_cache_tokens = false;
  /// Streamed usage is in the last finish chunk; otherwise in a separate chunk.
  bool usage_on_finish = false;
};

/// Throws GatewayError for an unknown profile.
const ProfileTraits& traits_of(Profile profile);

}  // namespace mock_gateway::detail
