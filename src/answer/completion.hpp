#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../model/profile_traits.hpp"
#include "../model/reply.hpp"
#include "../model/reply_data.hpp"
#include "../request/chat_request.hpp"
#include "tokens.hpp"

namespace mock_gateway::detail {

/// Values of an answer that come from the gateway instead of the request or the reply.
struct AnswerContext {
  Profile profile = Profile::documented;
  /// Unique per response.
  std::string id;
  /// Unix seconds.
  std::int64_t created = 0;
  /// The seed of random content of this answer, such as tool call ids and logprobs.
  std::uint64_t seed = 0;
};

struct CompletionToolCall {
  std::string id;
  std::string name;
  TokenizedText arguments;  // a delta is a streamed fragment
  bool custom = false;      // of a custom tool, whose input is in `arguments`
};

/// A choice as the client sees it, after stop, max_tokens and profile are applied.
struct CompletionChoice {
  TokenizedText thinking;
  TokenizedText text;
  TokenizedText refusal;  // only if the profile has the field
  bool has_text = false;  // false: content is null
  bool has_refusal = false;
  std::vector<CompletionToolCall> tool_calls;
  /// Scripted, for the first tokens of text and refusal; only if the request asks for logprobs.
  std::vector<TokenLogprob> logprobs;
  std::string finish_reason;

  /// Returns the number of content deltas: thinking, text, refusal and arguments.
  std::size_t deltas() const;
};

/// A complete reply, the same for plain and streamed answers.
/// `max_tokens` limits the reasoning, text, refusal and tool arguments of each choice, in this order; exceeding it
/// gives `length`. Tool calls without remaining tokens are omitted. `stop` ends text or refusal before the earliest
/// match and drops the rest. Verbatim replies ignore both, and `n`.
class Completion {
 public:
  /// Splits deltas by `chunking`, or one per token if it is null. Throws GatewayError, and exceptions of `tokens`.
  Completion(const ReplyData& reply, const ChatRequest& request, AnswerContext context, const Tokens& tokens,
             const Chunking* chunking);

  std::string body() const;
  /// Returns the number of content deltas, which the pace uses regardless of the usage.
  std::size_t delta_count() const { return delta_count_; }
  const std::vector<CompletionChoice>& choices() const { return choices_; }
  const TokenUsage& usage() const { return usage_; }
  const AnswerContext& context() const { return context_; }
  const ProfileTraits& traits() const { return traits_of(context_.profile); }
  const std::string& model() const { return model_; }
  bool include_usage() const { return include_usage_; }
  bool logprobs() const { return logprobs_; }
  std::int64_t top_logprobs() const { return top_logprobs_; }
  /// Merges the scripted fields into a body or a chunk, whose choices have the key `message`: "message" or "delta".
  /// Fields of the message are only merged if it `begins`.
  void merge_extra(std::string& json, const char* message, bool begins) const;
  bool has_extra() const { return !extra_.empty() || !extra_message_.empty(); }
  const std::vector<ExtraChunk>& extra_chunks() const { return extra_chunks_; }
  /// Returns the scripted usage as sent, or nothing if usage() applies.
  const std::optional<std::string>& usage_json() const { return usage_json_; }
  bool interleaved() const { return interleaved_; }
  bool finish_in_last_chunk() const { return finish_in_last_chunk_; }

 private:
  AnswerContext context_;
  std::string model_;
  bool include_usage_ = false;
  bool logprobs_ = false;
  std::int64_t top_logprobs_ = 0;
  void cut(const ReplyData& reply, const Chunking& chunking);

  std::vector<CompletionChoice> choices_;
  std::size_t delta_count_ = 0;
  TokenUsage usage_{0, 0};
  std::vector<Json> extra_;
  std::vector<Json> extra_message_;
  std::vector<ExtraChunk> extra_chunks_;
  std::optional<std::string> usage_json_;
  bool interleaved_ = false;
  bool finish_in_last_chunk_ = false;
};

}  // namespace mock_gateway::detail
