#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../model/chat_request.hpp"
#include "../model/profile_traits.hpp"
#include "../model/reply.hpp"
#include "../model/reply_data.hpp"
#include "events.hpp"
#include "tokens.hpp"

namespace mock_gateway {
namespace detail {

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
};

/// What an answer says of its tokens.
struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;  // of all choices
  std::int64_t total_tokens = 0;
  std::optional<std::int64_t> reasoning_tokens;  // nothing: no such key
  std::optional<std::int64_t> cached_tokens;     // nothing: none, where the profile has the key
};

/// A reply made whole, the same for a plain and a streamed answer.
///
/// Each choice obeys `max_tokens`, which pays for its reasoning, text, refusal and tool arguments in this order, and
/// whose exhaustion is `length`; and `stop`, which ends text or refusal before the earliest match and drops what would
/// have followed. Calls for which no token is left are not made. A verbatim reply obeys neither, nor `n`.
class Completion {
 public:
  /// In deltas as `chunking` says; null: a token each. Throws GatewayError when that fails; lets one of `tokens` pass.
  Completion(const ReplyData& reply, const ChatRequest& request, const AnswerContext& context, const Tokens& tokens,
             const Chunking* chunking);

  /// The body of a plain answer.
  std::string body() const;
  /// Content deltas in all: what the pace counts, whatever the usage says.
  std::size_t delta_count() const { return delta_count_; }
  const std::vector<CompletionChoice>& choices() const { return choices_; }
  const Usage& usage() const { return usage_; }
  const AnswerContext& context() const { return context_; }
  const ProfileTraits& profile() const { return traits_of(context_.profile); }
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

/// The events of a completion, one after the other, `[DONE]` not included: of each choice in turn one delta, until no
/// choice has any left; then the finish chunks in order; then the usage chunk, where there is one. Tool calls of a
/// choice come one after the other, or interleaved; a finish_reason may come with the last delta.
///
/// What all events share is rendered once; each then costs little more than escaping its delta. The completion must
/// outlive this.
class CompletionEvents final : public EventSource {
 public:
  explicit CompletionEvents(const Completion& completion);
  bool next(StreamEvent& event) override;
  /// How many there have been.
  std::size_t count() const { return count_; }

 private:
  /// A delta of a tool call: its head, or a fragment of its arguments.
  struct CallDelta {
    std::size_t call;
    std::size_t fragment;  // 0: the head
  };

  /// The deltas of a choice's tool calls in turn: every head, then the first fragment of each that has one, and so on.
  static std::vector<CallDelta> interleave(const CompletionChoice& choice);
  /// The delta at a position among those of a choice's tool calls; nothing when there are no more.
  std::optional<CallDelta> call_delta(std::size_t index, std::size_t position) const;

  /// The next event as the profile has it.
  bool write(StreamEvent& event);
  bool write_delta(std::size_t index, StreamEvent& event);
  void write_token(std::string_view open, const TokenizedText& text, std::size_t delta, std::string_view close,
                   StreamEvent& event);
  void write_finish(std::size_t index, StreamEvent& event);
  /// Puts the finish_reason of a choice into its last delta, where the reply wants it there.
  void finish_delta(std::size_t index, StreamEvent& event);
  /// Writes a finish_reason and what follows it; the `last` carries the usage, where the profile has it there.
  void end_with_finish_reason(std::size_t index, bool last, StreamEvent& event);
  /// Writes the start of the chunk of one choice, up to and including `"delta":`.
  void begin(std::size_t index, StreamEvent& event);
  /// Writes what follows a delta of text or refusal: the logprobs of the tokens that end in it. `before` is the number
  /// of the choice's tokens before `text`.
  void end_with_logprobs(std::size_t index, std::size_t before, const TokenizedText& text, std::size_t delta,
                         StreamEvent& event);

  const Completion& completion_;
  std::vector<std::size_t> positions_;               // of each choice, in its deltas
  std::size_t turn_ = 0;                             // the choice that is next to send a delta
  std::size_t deltas_left_ = 0;                      // of all choices
  std::size_t finished_ = 0;                         // finish chunks sent
  std::size_t count_ = 0;                            // events
  std::vector<std::vector<CallDelta>> call_deltas_;  // of each choice, when they are interleaved
  bool usage_on_finish_ = false;                     // on the last finish chunk, instead of a chunk of its own
  bool usage_due_ = false;
  bool has_extra_ = false;

  // The parts of a chunk that do not change: head_, the choice's index and delta, rest_.
  std::string head_;  // up to and including `"choices":[`
  std::string rest_;  // after a delta without logprobs
  std::string tail_;  // after the choice's object
  // Around the string of a delta.
  std::string_view thinking_open_;
  std::string_view text_close_;
};

}  // namespace detail
}  // namespace mock_gateway
