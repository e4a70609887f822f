#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "../core/version.hpp"

namespace mock_gateway {

/// What the gateway emits: which keys its replies, chunks, error bodies and headers carry. It also decides what
/// requests may hold, where Options::acceptance does not.
enum class Profile {
  /// Exactly the documented fields and error keys; streamed chunks carry the least that SDKs need.
  documented,
  /// OpenAI's shapes: refusal, logprobs, system_fingerprint, its error codes, x-request-id. Takes Acceptance::openai()
  /// unless another is set, and makes no finding of a field that OpenAI documents.
  openai,
  /// Alibaba's DashScope in its compatible mode.
  dashscope,
  /// DeepSeek: usage on the finish chunk.
  deepseek,
};

/// "documented", "openai", "dashscope", "deepseek".
std::string to_string(Profile profile);
std::ostream& operator<<(std::ostream& out, Profile profile);
/// The reverse of to_string. Throws GatewayError, naming the four, for anything else.
Profile profile_named(std::string_view name);

}  // namespace mock_gateway
