#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

/// What the gateway emits: which keys its replies, chunks, error bodies and headers carry. It also decides what
/// requests may hold, where Options::acceptance does not.
// A further profile needs a name here and a row in profile.cpp, nothing else.
enum class Profile {
  /// Exactly the documented fields and error keys; streamed chunks carry the least that SDKs need.
  documented,
  /// OpenAI's shapes: refusal, logprobs, system_fingerprint, its error codes, x-request-id, x-ratelimit-…, and
  /// retry-after-ms beside Retry-After. It takes Acceptance::openai() unless another is set, and makes no finding of a
  /// field that OpenAI documents.
  openai,
  /// The shapes of Alibaba's DashScope in its compatible mode: system_fingerprint null, logprobs in every choice,
  /// content null while it reasons, and empty content in the finish chunk.
  dashscope,
  /// DeepSeek's shapes: system_fingerprint, logprobs, reasoning_content null where nothing was reasoned,
  /// prompt_cache_hit_tokens, and streamed usage on the finish chunk.
  deepseek,
};

/// "documented", "openai", "dashscope", "deepseek".
std::string to_string(Profile profile);
std::ostream& operator<<(std::ostream& out, Profile profile);
/// The reverse of to_string. Throws GatewayError, which lists the names, for anything else.
Profile profile_named(std::string_view name);
/// The names of all profiles, as to_string gives them.
std::vector<std::string> profile_names();

}  // namespace mock_gateway
