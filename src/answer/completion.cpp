// Completes a reply: `stop`, `max_tokens`, `n`, finish_reason, usage, ids of tool calls.

#include "completion.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "completion_json.hpp"

namespace mock_gateway::detail {
namespace completions {

struct Limits {
  std::size_t tokens = std::numeric_limits<std::size_t>::max();  // remaining
  std::vector<std::string> stop;
};

void spend(Limits& limits, TokenizedText& text) {
  text.keep_tokens(limits.tokens);
  limits.tokens -= text.size();
}

/// Truncates before the earliest match of a stop sequence. Returns whether there was one.
bool cut_at_stop(const Limits& limits, TokenizedText& text) {
  std::size_t earliest = std::string::npos;
  for (const std::string& stop : limits.stop) {
    if (!stop.empty()) earliest = std::min(earliest, text.text.find(stop));
  }
  if (earliest == std::string::npos) return false;
  text.keep_bytes(earliest);
  return true;
}

Random random_for(std::uint64_t seed, std::size_t choice, std::size_t part) {
  return Random(seed ^ (static_cast<std::uint64_t>(choice) << 32) ^ part);
}

CompletionChoice make_choice(const ScriptedChoice& scripted, std::size_t index, Limits limits,
                             const AnswerContext& context, const Tokens& tokens) {
  CompletionChoice choice;
  choice.has_refusal = scripted.refusal && traits_of(context.profile).refusal_key;
  choice.has_text = scripted.text || (scripted.refusal && !choice.has_refusal);
  std::string text = scripted.text.value_or("");
  if (scripted.refusal && !choice.has_refusal) text += *scripted.refusal;

  choice.thinking = tokens.split(scripted.thinking);
  spend(limits, choice.thinking);
  choice.text = tokens.split(std::move(text));
  spend(limits, choice.text);
  bool stopped = cut_at_stop(limits, choice.text);
  if (choice.has_refusal && !stopped) {
    choice.refusal = tokens.split(*scripted.refusal);
    spend(limits, choice.refusal);
    stopped = cut_at_stop(limits, choice.refusal);
  }
  for (const ScriptedToolCall& call : scripted.tool_calls) {
    if (stopped || limits.tokens == 0) break;
    Random random = random_for(context.seed, index, choice.tool_calls.size());
    choice.tool_calls.push_back({call.id.empty() ? "call_" + random.alphanumeric(24) : call.id, call.name,
                                 tokens.split(call.arguments, true), call.custom});
    spend(limits, choice.tool_calls.back().arguments);
  }
  // Only messages with tool calls or a refusal may have no content. Other messages have at least an empty text.
  if (choice.tool_calls.empty() && !choice.has_refusal) choice.has_text = true;

  if (scripted.finish_reason) {
    choice.finish_reason = *scripted.finish_reason;
  } else if (!stopped && limits.tokens == 0) {
    choice.finish_reason = "length";
  } else {
    choice.finish_reason = choice.tool_calls.empty() ? "stop" : "tool_calls";
  }
  return choice;
}

/// Returns the scripted usage, or else the counted one.
TokenUsage make_usage(const std::optional<TokenUsage>& scripted, std::size_t prompt, std::size_t completion,
                      std::size_t reasoning) {
  const TokenUsage usage =
      scripted.value_or(TokenUsage(static_cast<std::int64_t>(prompt), static_cast<std::int64_t>(completion)));
  if (usage.reasoning_tokens() || reasoning == 0) return usage;
  return usage.reasoning(std::min(static_cast<std::int64_t>(reasoning), usage.completion_tokens()));
}

std::size_t tokens_of(const CompletionChoice& choice) {
  std::size_t count = choice.thinking.size() + choice.text.size() + choice.refusal.size();
  for (const CompletionToolCall& call : choice.tool_calls) count += call.arguments.size();
  return count;
}

struct ScriptedCuts {
  std::vector<std::size_t> thinking;
  std::vector<std::size_t> text;
  std::vector<std::size_t> refusal;
  std::vector<std::vector<std::size_t>> arguments;
};

std::vector<ScriptedCuts> cut_by_pieces(const std::vector<ScriptedChoice>& choices,
                                        const std::vector<std::string>& pieces) {
  std::vector<ScriptedCuts> all;
  PieceCutter cutter(pieces);
  for (const ScriptedChoice& choice : choices) {
    ScriptedCuts& cuts = all.emplace_back();
    cuts.thinking = cutter.cut(choice.thinking);
    cuts.text = cutter.cut(choice.text.value_or(""));
    cuts.refusal = cutter.cut(choice.refusal.value_or(""));
    for (const ScriptedToolCall& call : choice.tool_calls) cuts.arguments.push_back(cutter.cut(call.arguments));
  }
  cutter.require_end();
  return all;
}

/// Adds deltas that end at `cuts`, relative to byte `start`, up to the end of the text.
void add_cuts(TokenizedText& text, const std::vector<std::size_t>& cuts, std::size_t start) {
  for (const std::size_t cut : cuts) {
    const std::size_t last = text.cuts.empty() ? 0 : text.cuts.back();
    if (last < text.text.size()) text.cuts.push_back(std::min(start + cut, text.text.size()));
  }
}

}  // namespace completions

std::size_t CompletionChoice::deltas() const {
  std::size_t count = thinking.deltas() + text.deltas() + refusal.deltas();
  for (const CompletionToolCall& call : tool_calls) count += call.arguments.deltas();
  return count;
}

Completion::Completion(const ReplyData& reply, const ChatRequest& request, AnswerContext context, const Tokens& tokens,
                       const Chunking* chunking)
    : context_(std::move(context)),
      model_(reply.model.empty() ? request.model : reply.model),
      include_usage_(request.include_usage),
      logprobs_(request.logprobs),
      top_logprobs_(request.top_logprobs),
      extra_(reply.extra),
      extra_message_(reply.extra_message),
      extra_chunks_(reply.extra_chunks),
      usage_json_(reply.usage_json),
      interleaved_(reply.interleaved),
      finish_in_last_chunk_(reply.finish_in_last_chunk) {
  completions::Limits limits;
  std::size_t count = reply.choices.size();
  if (!reply.verbatim) {
    limits.stop = request.stop;
    if (request.max_tokens) limits.tokens = static_cast<std::size_t>(std::max<std::int64_t>(*request.max_tokens, 0));
    count = reply.choices.empty() ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(request.n, 1));
  }
  choices_.reserve(count);
  std::size_t token_count = 0;
  std::size_t reasoning = 0;
  for (std::size_t index = 0; index < count; ++index) {
    const ScriptedChoice& scripted = reply.choices[index % reply.choices.size()];
    choices_.push_back(completions::make_choice(scripted, index, limits, context_, tokens));
    if (logprobs_) choices_.back().logprobs = scripted.logprobs;
    token_count += completions::tokens_of(choices_.back());
    reasoning += choices_.back().thinking.size();
  }
  usage_ = completions::make_usage(reply.usage, tokens.count_prompt(request), token_count, reasoning);
  delta_count_ = token_count;
  if (!chunking) return;
  cut(reply, *chunking);
  delta_count_ = 0;
  for (const CompletionChoice& choice : choices_) delta_count_ += choice.deltas();
}

void Completion::cut(const ReplyData& reply, const Chunking& chunking) {
  if (chunking.kind() != Chunking::Kind::pieces) {
    for (CompletionChoice& choice : choices_) {
      for (TokenizedText* const text : {&choice.thinking, &choice.text, &choice.refusal})
        cut_into_deltas(*text, chunking, false);
      for (CompletionToolCall& call : choice.tool_calls) cut_into_deltas(call.arguments, chunking, true);
    }
    return;
  }
  const auto scripted = completions::cut_by_pieces(reply.choices, chunking.pieces());
  for (std::size_t index = 0; index < choices_.size(); ++index) {
    CompletionChoice& choice = choices_[index];
    const completions::ScriptedCuts& cuts = scripted[index % scripted.size()];
    completions::add_cuts(choice.thinking, cuts.thinking, 0);
    completions::add_cuts(choice.text, cuts.text, 0);
    // A refusal without its own field follows the text.
    if (choice.has_refusal)
      completions::add_cuts(choice.refusal, cuts.refusal, 0);
    else
      completions::add_cuts(choice.text, cuts.refusal, cuts.text.empty() ? 0 : cuts.text.back());
    for (std::size_t call = 0; call < choice.tool_calls.size(); ++call)
      completions::add_cuts(choice.tool_calls[call].arguments, cuts.arguments[call], 0);
  }
}

std::string Completion::body() const {
  std::string out;
  out.reserve(512);
  completions::append_envelope(out, *this, "chat.completion");
  completions::append_name(out, "choices");
  out += '[';
  for (std::size_t index = 0; index < choices_.size(); ++index) {
    const CompletionChoice& choice = choices_[index];
    out += index == 0 ? "{" : ",{";
    completions::append_integer(out, "index", index);
    completions::append_message(out, choice, traits());
    const std::size_t visible = choice.text.size() + choice.refusal.size();
    if (logprobs_ && visible > 0) {
      completions::append_logprobs(out, *this, index, 0, visible);
    } else if (completions::has_logprobs_key(*this)) {
      out += R"(,"logprobs":null)";
    }
    completions::append_finish_reason(out, choice.finish_reason, traits());
    out += '}';
  }
  out += ']';
  completions::append_usage(out, *this);
  completions::append_system_fingerprint(out, *this);
  out += '}';
  if (has_extra()) merge_extra(out, "message", true);
  return out;
}

void Completion::merge_extra(std::string& json, const char* message, bool begins) const {
  Json value = completions::read_own(json);
  if (begins)
    for (Json& choice : value["choices"])
      for (const Json& patch : extra_message_) choice[message].merge_patch(patch);
  for (const Json& patch : extra_) value.merge_patch(patch);
  json = value.dump();
}

}  // namespace mock_gateway::detail
