#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "completion.hpp"
#include "events.hpp"

namespace mock_gateway::detail {

/// The events of a completion without `[DONE]`. First come the deltas, one per choice in turn. Then come the finish
/// chunks in order, then the usage chunk if there is one. Tool calls of a choice are sequential or interleaved. A
/// finish_reason may be in the last delta.
/// The constant parts are rendered once. The completion must outlive this object.
class CompletionEvents final : public EventSource {
 public:
  explicit CompletionEvents(const Completion& completion);
  bool next(StreamEvent& event) override;
  std::size_t count() const { return count_; }

 private:
  /// A delta of a tool call: its first one, or a fragment of its arguments.
  struct CallDelta {
    std::size_t call;
    std::size_t fragment;  // 0: the first delta, without arguments
  };

  /// Returns the deltas of a choice's tool calls, call by call, or in turn if `interleaved`.
  static std::vector<CallDelta> order_of(const CompletionChoice& choice, bool interleaved);

  bool write(StreamEvent& event);
  bool write_delta(std::size_t index, StreamEvent& event);
  void write_token(const TextForm& form, const TokenizedText& text, std::size_t delta, StreamEvent& event);
  /// Adds the usage of the tokens sent so far; after the last delta, the usage of the completion.
  void append_usage_so_far(StreamEvent& event);
  void write_finish(std::size_t index, StreamEvent& event);
  /// Puts a choice's finish_reason into its last delta, if the reply asks for it.
  void finish_delta(std::size_t index, StreamEvent& event);
  /// Writes a finish_reason and the rest of the chunk. The `last` one includes the usage if the profile requires it.
  void end_with_finish_reason(std::size_t index, bool last, StreamEvent& event);
  /// Writes the start of a choice's chunk, up to and including `"delta":`.
  void begin(std::size_t index, StreamEvent& event);
  /// Writes the rest of a chunk after a text or refusal delta. `before`: the choice's tokens before `text`.
  void end_with_logprobs(std::size_t index, std::size_t before, const TokenizedText& text, std::size_t delta,
                         StreamEvent& event);

  const Completion& completion_;
  const ProfileTraits& traits_;
  std::vector<std::size_t> positions_;  // per choice, the index of its next delta
  std::size_t turn_ = 0;                // the choice that sends the next delta
  std::size_t deltas_left_ = 0;         // of all choices
  std::size_t finished_ = 0;            // finish chunks sent
  std::size_t count_ = 0;
  std::vector<std::vector<CallDelta>> call_deltas_;  // per choice
  bool usage_on_finish_ = false;                     // usage is in the last finish chunk, not in a separate chunk
  bool usage_due_ = false;
  bool has_extra_ = false;
  bool begins_choice_ = false;  // the chunk is a choice's first
  std::uint64_t shares_ = 0;    // of the tokens sent, for append_usage_so_far()

  // The constant parts of a chunk: head_, the choice's index and delta, rest_.
  std::string head_;        // up to and including `"choices":[`
  std::string rest_;        // after a delta without logprobs
  std::string unfinished_;  // from the finish_reason
  std::string tail_;        // after the choice's object
};

}  // namespace mock_gateway::detail
