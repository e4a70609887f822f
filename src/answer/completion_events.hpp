#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "completion.hpp"
#include "events.hpp"

namespace mock_gateway::detail {

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

}  // namespace mock_gateway::detail
