#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/random.hpp"
#include "../model/profile_traits.hpp"
#include "../model/reply.hpp"
#include "../model/reply_data.hpp"
#include "../request/chat_request.hpp"
#include "tokens.hpp"

namespace mock_gateway::detail {

/// What an answer takes from the gateway rather than from the request or the reply.
struct AnswerContext {
  Profile profile = Profile::documented;
  /// Unique per response.
  std::string id;
  /// Unix seconds.
  std::int64_t created = 0;
  /// Randomness of this answer's content: tool call ids, logprobs.
  std::uint64_t seed = 0;
};

struct CompletionToolCall {
  std::string id;
  std::string name;
  TokenizedText arguments;  // a delta is a streamed fragment
  bool custom = false;      // of a custom tool: the arguments are its input
};

/// A choice as the client will see it: stop, max_tokens and profile applied.
struct CompletionChoice {
  TokenizedText thinking;
  TokenizedText text;
  TokenizedText refusal;  // only where the profile has the field
  bool has_text = false;  // false: content is null
  bool has_refusal = false;
  std::vector<CompletionToolCall> tool_calls;
  /// Scripted, of the first tokens of text and refusal; only when the request asks for logprobs.
  std::vector<TokenLogprob> logprobs;
  std::string finish_reason;

  /// Content deltas: of thinking, text, refusal and arguments.
  std::size_t deltas() const;
};

/// What an answer says of its tokens.
struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;  // of all choices
  std::int64_t total_tokens = 0;
  std::optional<std::int64_t> reasoning_tokens;  // nothing: no such key
  std::optional<std::int64_t> cached_tokens;     // nothing: none, where the profile has the key
};

namespace completions {

/// Randomness of one part of a choice: the same for the same answer, whatever else the answer holds.
Random random_for(std::uint64_t seed, std::size_t choice, std::size_t part);

}  // namespace completions

/// A reply made whole, the same for a plain and a streamed answer.
///
/// Each choice obeys `max_tokens`, which pays for its reasoning, text, refusal and tool arguments in this order, and
/// whose exhaustion is `length`; and `stop`, which ends text or refusal before the earliest match and drops what would
/// have followed. Calls for which no token is left are not made. A verbatim reply obeys neither, nor `n`.
class Completion {
 public:
  /// In deltas as `chunking` says; null: a token each. Throws GatewayError when that fails; lets one of `tokens` pass.
  Completion(const ReplyData& reply, const ChatRequest& request, AnswerContext context, const Tokens& tokens,
             const Chunking* chunking);

  /// The body of a plain answer.
  std::string body() const;
  /// Content deltas in all: what the pace counts, whatever the usage says.
  std::size_t delta_count() const { return delta_count_; }
  const std::vector<CompletionChoice>& choices() const { return choices_; }
  const Usage& usage() const { return usage_; }
  const AnswerContext& context() const { return context_; }
  const ProfileTraits& traits() const { return traits_of(context_.profile); }
  const std::string& model() const { return model_; }
  bool include_usage() const { return include_usage_; }
  bool logprobs() const { return logprobs_; }
  std::int64_t top_logprobs() const { return top_logprobs_; }
  /// Merges the scripted fields into a body, in whose choices the message is called `message`, or a chunk: `delta`.
  void merge_extra(std::string& json, const char* message) const;
  /// Whether there is anything to merge.
  bool has_extra() const { return !extra_.empty() || !extra_message_.empty(); }
  /// What is merged into single chunks.
  const std::vector<ExtraChunk>& extra_chunks() const { return extra_chunks_; }
  /// The scripted usage, as it is sent; nothing: usage().
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
  Usage usage_;
  std::vector<Json> extra_;
  std::vector<Json> extra_message_;
  std::vector<ExtraChunk> extra_chunks_;
  std::optional<std::string> usage_json_;
  bool interleaved_ = false;
  bool finish_in_last_chunk_ = false;
};

}  // namespace mock_gateway::detail
