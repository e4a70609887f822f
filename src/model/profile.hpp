#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

/// The shape of what the gateway sends: the keys of replies, chunks, error bodies and headers. See also Acceptance.
// A new profile needs a name here and a row in profile.cpp.
enum class Profile {
  /// Exactly the documented fields and error keys; streamed chunks carry the minimum that SDKs need.
  documented,
  /// OpenAI's shapes: refusal, logprobs, system_fingerprint, its error codes, x-request-id, x-ratelimit-…, and
  /// retry-after-ms with Retry-After. Fields that OpenAI documents cause no finding.
  openai,
  /// Alibaba DashScope's shapes in compatible mode: system_fingerprint null, logprobs in every choice, content null in
  /// deltas of reasoning, empty content in the finish chunk, request_id in errors.
  dashscope,
  /// DeepSeek's shapes: system_fingerprint, logprobs, reasoning_content null without reasoning,
  /// prompt_cache_hit_tokens, and streamed usage on the finish chunk.
  deepseek,
  /// SiliconFlow's shapes: usage in every chunk, errors with an integer code and without `error`.
  siliconflow,
  /// OpenRouter's shapes: a comment before the first chunk, no role chunk, `reasoning`, `native_finish_reason`, usage
  /// beside a choice, errors with an integer code, also in a chunk.
  openrouter,
};

/// Returns "documented", "openai", "dashscope", "deepseek", "siliconflow", "openrouter".
std::string to_string(Profile profile);
std::ostream& operator<<(std::ostream& out, Profile profile);
/// Returns the profile with this name. Throws GatewayError with the list of names if it is unknown.
Profile profile_named(std::string_view name);
std::vector<std::string> profile_names();

}  // namespace mock_gateway
