// All that profiles can differ in; the values of the documented one.

#pragma once

#include <cstddef>
#include <string_view>

#include "acceptance.hpp"
#include "profile.hpp"

namespace mock_gateway::detail {

/// The keys of an error body.
enum class ErrorShape {
  /// `code`, `message`, `type`.
  code_message_type,
  /// `message`, `type`, `param`, `code`, in OpenAI's own words where a failure carries the documented ones.
  openai,
};

/// Whether completions and chunks have the key `system_fingerprint`, and what it holds.
enum class SystemFingerprint {
  absent,
  null,
  /// `fp_…`, one for each model.
  made_up,
};

/// The first delta of a choice, as JSON.
struct RoleDelta {
  /// A choice with text.
  std::string_view text;
  /// A choice of tool calls alone, whose plain message has null content.
  std::string_view calls;
  /// A choice that reasons first; empty: the same as without reasoning.
  std::string_view thinking;
};

/// Names in an array that outlives this.
struct NameList {
  const std::string_view* names = nullptr;
  std::size_t count = 0;

  bool has(std::string_view name) const;
};

/// One profile: all that makes it differ from another. The defaults are those of the documented profile. The rows stand
/// in profile.cpp.
struct ProfileTraits {
  Profile profile = Profile::documented;
  std::string_view name;

  // Requests.

  /// What requests may hold, unless Options::acceptance is set.
  Acceptance (*acceptance)() = nullptr;
  /// What of it the service documents itself, which Acceptance::strict() takes too.
  const Acceptance& (*documented)() = nullptr;
  /// Request fields that the service documents besides. They have no effect and are no finding. One of
  /// `stream_options` is written "stream_options.name".
  NameList further_fields;
  /// Fields of the gateway's documentation that the service does not document: unknown to Acceptance::strict().
  NameList own_fields;
  /// Fields for which the service documents null, which Acceptance::strict() takes for absent. `strict` is a tool's.
  NameList nullable_fields;
  /// A temperature outside 0 to 2 gets 400; else it is a finding.
  bool rejects_temperature_out_of_range = false;
  /// The service documents `stop` as a string, which is no finding then.
  bool documents_stop_as_string = false;
  /// `refusal`, `audio` or `function_call` may stand in for the content of an assistant's message.
  bool content_may_be_replaced = false;
  /// The service documents `POST /v1/embeddings`, which is served unless Options::embeddings says otherwise.
  bool documents_embeddings = false;
  /// Content parts of images, audio and files need the members that OpenAI documents.
  bool checks_other_parts = false;

  // Errors and headers.

  ErrorShape error_shape = ErrorShape::code_message_type;
  /// The 429 of a rate limit has `retry-after-ms` besides `Retry-After`.
  bool retry_after_ms = false;
  /// Each answer has `x-request-id` and `openai-processing-ms`; for a key with a rate limit, `x-ratelimit-*-requests`
  /// too, and with a limit of tokens `x-ratelimit-*-tokens`.
  bool request_headers = false;

  // Completions and chunks.

  SystemFingerprint system_fingerprint = SystemFingerprint::absent;
  /// A message has the key `refusal`, and so have logprobs; else a refusal is content.
  bool refusal_key = false;
  /// A choice or chunk has the key `logprobs` though the request asks for none.
  bool logprobs_key = false;
  /// A message without reasoning has null `reasoning_content`, and so has a delta of content.
  bool null_reasoning = false;
  /// A delta of reasoning has null `content`.
  bool null_content_while_thinking = false;
  RoleDelta role_delta = {R"({"role":"assistant","content":""})", R"({"role":"assistant","content":null})", ""};
  /// The delta of a finish chunk, as JSON.
  std::string_view finish_delta = "{}";

  // Usage.

  /// `prompt_tokens_details.cached_tokens` is there without a cached token.
  bool cached_tokens_key = false;
  /// `prompt_cache_hit_tokens` and `prompt_cache_miss_tokens` are there.
  bool prompt_cache_tokens = false;
  /// Streamed usage stands on the last finish chunk; else it has a chunk of its own.
  bool usage_on_finish = false;
};

/// The row of a profile. Throws GatewayError when it has none.
const ProfileTraits& traits_of(Profile profile);

}  // namespace mock_gateway::detail
