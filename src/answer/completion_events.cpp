// The chunks of a stream and their order: role, deltas, tool calls, finish, usage.

#include "completion_events.hpp"

#include <algorithm>
#include <utility>

#include "../core/text.hpp"
#include "completion_json.hpp"

namespace mock_gateway::detail {
namespace completions {

std::string_view role_delta(const CompletionChoice& choice, const RoleDelta& roles) {
  if (choice.thinking.size() > 0 && !roles.thinking.empty()) return roles.thinking;
  return choice.has_text || choice.tool_calls.empty() ? roles.text : roles.calls;
}

}  // namespace completions

CompletionEvents::CompletionEvents(const Completion& completion)
    : completion_(completion), traits_(completion.traits()) {
  const bool is_asked = completion_.include_usage() && !traits_.usage_so_far;
  usage_on_finish_ = is_asked && traits_.usage_on_finish;
  usage_due_ = traits_.usage_repeats_finish || (is_asked && !usage_on_finish_);
  has_extra_ = completion_.has_extra();
  deltas_left_ = completion_.delta_count();
  for (const CompletionChoice& choice : completion_.choices()) {
    const std::size_t others = choice.deltas() + choice.tool_calls.size();
    const bool has_role_delta = traits_.begins_with_role || others == 0;
    positions_.push_back(has_role_delta ? 0 : 1);
    deltas_left_ += (has_role_delta ? 1 : 0) + choice.tool_calls.size();
    call_deltas_.push_back(order_of(choice, completion_.interleaved()));
  }
  if (completion_.finish_in_last_chunk()) finished_ = positions_.size();

  completions::append_envelope(head_, completion_, "chat.completion.chunk");
  tail_ = "]";
  const bool fingerprint_follows = traits_.system_fingerprint == SystemFingerprint::empty;
  completions::append_system_fingerprint(fingerprint_follows ? tail_ : head_, completion_);
  head_ += R"(,"choices":[)";
  if (is_asked && !traits_.usage_repeats_finish) tail_ += R"(,"usage":null)";
  tail_ += '}';
  completions::append_finish_reason(unfinished_, std::nullopt, traits_);
  unfinished_ += '}' + tail_;
  if (completions::has_logprobs_key(completion_)) rest_ = R"(,"logprobs":null)";
  rest_ += unfinished_;
}

bool CompletionEvents::next(StreamEvent& event) {
  begins_choice_ = false;
  if (!write(event)) return false;
  ++count_;
  if (traits_.usage_so_far) append_usage_so_far(event);
  if (has_extra_) completion_.merge_extra(event.data, "delta", begins_choice_);
  for (const ExtraChunk& extra : completion_.extra_chunks()) {
    if (extra.number != count_) continue;
    Json chunk = completions::read_own(event.data);
    chunk.merge_patch(extra.patch);
    event.data = chunk.dump();
  }
  return true;
}

std::vector<CompletionEvents::CallDelta> CompletionEvents::order_of(const CompletionChoice& choice, bool interleaved) {
  std::vector<CallDelta> order;
  for (std::size_t call = 0; call < choice.tool_calls.size(); ++call)
    for (std::size_t fragment = 0; fragment <= choice.tool_calls[call].arguments.deltas(); ++fragment)
      order.push_back({call, fragment});
  const auto by_fragment = [](const CallDelta& a, const CallDelta& b) { return a.fragment < b.fragment; };
  if (interleaved) std::stable_sort(order.begin(), order.end(), by_fragment);
  return order;
}

bool CompletionEvents::write(StreamEvent& event) {
  while (deltas_left_ > 0) {
    const std::size_t index = turn_;
    turn_ = turn_ + 1 == positions_.size() ? 0 : turn_ + 1;
    if (!write_delta(index, event)) continue;
    --deltas_left_;
    if (completion_.finish_in_last_chunk()) finish_delta(index, event);
    return true;
  }
  event.token = false;
  if (finished_ < positions_.size()) {
    write_finish(finished_++, event);
    return true;
  }
  if (!usage_due_) return false;
  usage_due_ = false;
  if (traits_.usage_repeats_finish && !positions_.empty()) {
    usage_on_finish_ = true;
    write_finish(positions_.size() - 1, event);
    return true;
  }
  event.data = head_;
  event.data += ']';
  completions::append_usage(event.data, completion_);
  event.data += '}';
  return true;
}

bool CompletionEvents::write_delta(std::size_t index, StreamEvent& event) {
  const CompletionChoice& choice = completion_.choices()[index];
  std::size_t position = positions_[index]++;
  begins_choice_ = position == 0 || (position == 1 && !traits_.begins_with_role);
  if (position == 0) {
    begin(index, event);
    event.token = false;
    event.data += completions::role_delta(choice, traits_.role_delta);
    event.data += rest_;
    return true;
  }
  position -= 1;
  if (position < choice.thinking.deltas()) {
    begin(index, event);
    write_token(traits_.thinking_delta, choice.thinking, position, event);
    event.data += rest_;
    return true;
  }
  position -= choice.thinking.deltas();
  if (position < choice.text.deltas()) {
    begin(index, event);
    write_token(traits_.text_delta, choice.text, position, event);
    end_with_logprobs(index, 0, choice.text, position, event);
    return true;
  }
  position -= choice.text.deltas();
  if (position < choice.refusal.deltas()) {
    begin(index, event);
    write_token({R"({"refusal":)", "}"}, choice.refusal, position, event);
    end_with_logprobs(index, choice.text.size(), choice.refusal, position, event);
    return true;
  }
  position -= choice.refusal.deltas();
  if (position >= call_deltas_[index].size()) {
    --positions_[index];  // no delta was sent: the next turn starts here again
    return false;
  }
  const CallDelta& delta = call_deltas_[index][position];
  const CompletionToolCall& call = choice.tool_calls[delta.call];
  begin(index, event);
  event.data += traits_.calls_delta;
  completions::append_integer(event.data, "index", delta.call);
  if (delta.fragment == 0) {
    event.token = false;
    completions::append_call(event.data, call, "");
  } else {
    write_token({call.custom ? R"(,"custom":{"input":)" : R"(,"function":{"arguments":)", "}}"}, call.arguments,
                delta.fragment - 1, event);
  }
  event.data += "]}";
  event.data += rest_;
  return true;
}

void CompletionEvents::begin(std::size_t index, StreamEvent& event) {
  event.data = head_;
  event.data += R"({"index":)";
  event.data += std::to_string(index);
  event.data += R"(,"delta":)";
}

void CompletionEvents::write_token(const TextForm& form, const TokenizedText& text, std::size_t delta,
                                   StreamEvent& event) {
  event.token = true;
  event.share = text.share(delta);
  completions::append_text(event.data, form, text.delta(delta));
}

void CompletionEvents::append_usage_so_far(StreamEvent& event) {
  if (event.token) shares_ += event.share;
  const TokenUsage& whole = completion_.usage();
  const std::int64_t sent = std::min(static_cast<std::int64_t>(shares_ / whole_token), whole.completion_tokens());
  TokenUsage so_far(whole.prompt_tokens(), sent);
  if (whole.reasoning_tokens() && sent > 0) so_far = so_far.reasoning(std::min(sent, *whole.reasoning_tokens()));
  event.data.pop_back();
  completions::append_usage(event.data, completion_, deltas_left_ > 0 ? &so_far : nullptr);
  event.data += '}';
}

void CompletionEvents::end_with_logprobs(std::size_t index, std::size_t before, const TokenizedText& text,
                                         std::size_t delta, StreamEvent& event) {
  const auto [first, last] =
      completion_.logprobs() ? text.tokens_ending_in(delta) : std::pair<std::size_t, std::size_t>{};
  if (first == last) {
    event.data += rest_;
    return;
  }
  completions::append_logprobs(event.data, completion_, index, before + first, before + last);
  event.data += unfinished_;
}

void CompletionEvents::write_finish(std::size_t index, StreamEvent& event) {
  begin(index, event);
  event.data += traits_.finish_delta;
  if (completions::has_logprobs_key(completion_)) event.data += R"(,"logprobs":null)";
  end_with_finish_reason(index, index + 1 == positions_.size(), event);
}

void CompletionEvents::finish_delta(std::size_t index, StreamEvent& event) {
  const CompletionChoice& choice = completion_.choices()[index];
  if (positions_[index] != 1 + choice.deltas() + choice.tool_calls.size()) return;
  event.data.resize(event.data.size() - unfinished_.size());
  end_with_finish_reason(index, deltas_left_ == 0, event);
}

void CompletionEvents::end_with_finish_reason(std::size_t index, bool last, StreamEvent& event) {
  completions::append_finish_reason(event.data, completion_.choices()[index].finish_reason, traits_);
  event.data += '}';
  if (usage_on_finish_ && last) {
    event.data += ']';
    completions::append_usage(event.data, completion_);
    event.data += '}';
  } else {
    event.data += tail_;
  }
}

}  // namespace mock_gateway::detail
