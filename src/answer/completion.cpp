#include "completion.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "../core/json_reader.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../model/reply_data.hpp"
#include "words.hpp"

namespace mock_gateway {
namespace detail {
namespace completions {

/// What a request allows one of its choices.
struct Limits {
  std::size_t tokens = std::numeric_limits<std::size_t>::max();  // left
  std::vector<std::string> stop;
};

/// Keeps what the limits still pay for.
void spend(Limits& limits, TokenizedText& text) {
  text.keep_tokens(limits.tokens);
  limits.tokens -= text.size();
}

/// Cuts before the earliest match of a stop sequence; whether there was one.
bool cut_at_stop(const Limits& limits, TokenizedText& text) {
  std::size_t earliest = std::string::npos;
  for (const std::string& stop : limits.stop) {
    if (!stop.empty()) earliest = std::min(earliest, text.text.find(stop));
  }
  if (earliest == std::string::npos) return false;
  text.keep_bytes(earliest);
  return true;
}

/// Randomness of one part of a choice: the same for the same answer, whatever else the answer holds.
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
                                 tokens.split_arguments(call.arguments), call.custom});
    spend(limits, choice.tool_calls.back().arguments);
  }
  // A message without content is one of tool calls or a refusal; any other has at least an empty one.
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

/// What the script claims, or else what was counted.
Usage make_usage(const std::optional<TokenUsage>& scripted, std::size_t prompt, std::size_t completion,
                 std::size_t reasoning) {
  const auto counted = TokenUsage(static_cast<std::int64_t>(prompt), static_cast<std::int64_t>(completion));
  const TokenUsage& tokens = scripted ? *scripted : counted;
  Usage usage;
  usage.prompt_tokens = tokens.prompt_tokens();
  usage.completion_tokens = tokens.completion_tokens();
  usage.total_tokens = tokens.total_tokens();
  usage.reasoning_tokens = tokens.reasoning_tokens();
  if (!usage.reasoning_tokens && reasoning > 0)
    usage.reasoning_tokens = std::min(static_cast<std::int64_t>(reasoning), usage.completion_tokens);
  usage.cached_tokens = tokens.cached_tokens();
  return usage;
}

std::size_t tokens_of(const CompletionChoice& choice) {
  std::size_t count = choice.thinking.size() + choice.text.size() + choice.refusal.size();
  for (const CompletionToolCall& call : choice.tool_calls) count += call.arguments.size();
  return count;
}

std::size_t deltas_of(const CompletionChoice& choice) {
  std::size_t count = choice.thinking.deltas() + choice.text.deltas() + choice.refusal.deltas();
  for (const CompletionToolCall& call : choice.tool_calls) count += call.arguments.deltas();
  return count;
}

/// The ends of the deltas of each part of a scripted choice.
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

/// Adds deltas that end at `cuts`, counted from byte `start`, as far as the text goes.
void add_cuts(TokenizedText& text, const std::vector<std::size_t>& cuts, std::size_t start) {
  for (const std::size_t cut : cuts) {
    const std::size_t last = text.cuts.empty() ? 0 : text.cuts.back();
    if (last < text.text.size()) text.cuts.push_back(std::min(start + cut, text.text.size()));
  }
}

/// `,"name":`, or without the comma at the start of an object.
void append_name(std::string& out, std::string_view name) {
  if (out.back() != '{') out += ',';
  out += '"';
  out += name;
  out += "\":";
}

void append_string(std::string& out, std::string_view name, std::string_view value) {
  append_name(out, name);
  text::append_json_string(out, value);
}

template <class Integer>
void append_integer(std::string& out, std::string_view name, Integer value) {
  append_name(out, name);
  out += std::to_string(value);
}

/// How some services tell one configuration of a model from another.
void append_system_fingerprint(std::string& out, const Completion& completion) {
  const SystemFingerprint kind = completion.profile().system_fingerprint;
  if (kind == SystemFingerprint::absent) return;
  append_name(out, "system_fingerprint");
  if (kind == SystemFingerprint::null) {
    out += "null";
    return;
  }
  std::uint64_t bits = fingerprint(completion.model());
  out += "\"fp_";
  for (int count = 0; count < 10; ++count, bits >>= 4) out += text::hex_digits[bits & 0xfu];
  out += '"';
}

/// From the opening brace to the model.
void append_envelope(std::string& out, const Completion& completion, std::string_view object) {
  out += '{';
  append_string(out, "id", completion.context().id);
  append_string(out, "object", object);
  append_integer(out, "created", completion.context().created);
  append_string(out, "model", completion.model());
}

void append_usage(std::string& out, const Completion& completion) {
  const Usage& usage = completion.usage();
  append_name(out, "usage");
  if (completion.usage_json()) {
    out += *completion.usage_json();
    return;
  }
  out += '{';
  append_integer(out, "prompt_tokens", usage.prompt_tokens);
  append_integer(out, "completion_tokens", usage.completion_tokens);
  append_integer(out, "total_tokens", usage.total_tokens);
  const std::int64_t cached = usage.cached_tokens.value_or(0);
  if (usage.cached_tokens || completion.profile().cached_tokens_key) {
    append_name(out, "prompt_tokens_details");
    out += '{';
    append_integer(out, "cached_tokens", cached);
    out += '}';
  }
  if (usage.reasoning_tokens) {
    append_name(out, "completion_tokens_details");
    out += '{';
    append_integer(out, "reasoning_tokens", *usage.reasoning_tokens);
    out += '}';
  }
  if (completion.profile().prompt_cache_tokens) {
    append_integer(out, "prompt_cache_hit_tokens", cached);
    append_integer(out, "prompt_cache_miss_tokens", std::max<std::int64_t>(usage.prompt_tokens - cached, 0));
  }
  out += '}';
}

/// `{"id","type","function"}` of a tool call, from the id on.
void append_call(std::string& out, const CompletionToolCall& call, std::string_view arguments) {
  append_string(out, "id", call.id);
  const std::string_view kind = call.custom ? "custom" : "function";
  append_string(out, "type", kind);
  append_name(out, kind);
  out += '{';
  append_string(out, "name", call.name);
  append_string(out, call.custom ? "input" : "arguments", arguments);
  out += "}}";
}

/// A logprob that is made up, in ten-thousandths below 0.
std::string made_up_logprob(std::uint64_t below_zero) {
  const std::string decimals = std::to_string(below_zero % 10000);
  return '-' + std::to_string(below_zero / 10000) + '.' + std::string(4 - decimals.size(), '0') + decimals;
}

/// `"token","logprob","bytes"`.
void append_candidate(std::string& out, std::string_view token, const std::string& logprob) {
  append_string(out, "token", token);
  append_name(out, "logprob");
  out += logprob;
  append_name(out, "bytes");
  out += '[';
  for (const char byte : token) {
    if (out.back() != '[') out += ',';
    out += std::to_string(static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  out += ']';
}

/// The logprobs of one token. What is not scripted is made up: the token is the likeliest, the alternatives are words.
void append_token_logprobs(std::string& out, const Completion& completion, std::size_t choice, std::size_t number,
                           std::string_view token) {
  constexpr std::uint64_t likely = 15000;  // e^-1.5
  const std::vector<TokenLogprob>& all_scripted = completion.choices()[choice].logprobs;
  const TokenLogprob* const scripted = number < all_scripted.size() ? &all_scripted[number] : nullptr;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(completion.top_logprobs(), 0));
  Random random = random_for(~completion.context().seed, choice, number);
  std::uint64_t below_zero = 1 + random.below(likely);
  std::string logprob = made_up_logprob(below_zero);
  if (scripted) {
    constexpr double lowest = 1e15;  // far from where the sum below would wrap around
    below_zero = static_cast<std::uint64_t>(std::min(-scripted->logprob() * 10000, lowest));
    logprob = Json(scripted->logprob()).dump();
  }
  out += '{';
  append_candidate(out, token, logprob);
  append_name(out, "top_logprobs");
  out += '[';
  if (scripted && scripted->top()) {
    for (std::size_t place = 0; place < std::min(wanted, scripted->top()->size()); ++place) {
      const TopLogprob& alternative = (*scripted->top())[place];
      out += place == 0 ? "{" : ",{";
      append_candidate(out, alternative.token, Json(alternative.logprob).dump());
      out += '}';
    }
    out += "]}";
    return;
  }
  std::vector<std::string> candidates;
  while (candidates.size() < wanted) {
    std::string candidate = candidates.empty() ? std::string(token) : ' ' + words::word(random);
    if (std::find(candidates.begin(), candidates.end(), candidate) != candidates.end()) continue;
    out += candidates.empty() ? "{" : ",{";
    append_candidate(out, candidate, candidates.empty() ? logprob : made_up_logprob(below_zero));
    out += '}';
    below_zero += 1 + random.below(likely);
    candidates.push_back(std::move(candidate));
  }
  out += "]}";
}

void append_logprobs_list(std::string& out, const Completion& completion, std::size_t index, std::size_t first,
                          std::size_t last) {
  const CompletionChoice& choice = completion.choices()[index];
  if (first >= last) {
    out += "null";
    return;
  }
  out += '[';
  for (std::size_t number = first; number < last; ++number) {
    const std::size_t border = choice.text.size();
    if (number != first) out += ',';
    append_token_logprobs(out, completion, index, number,
                          number < border ? choice.text.token(number) : choice.refusal.token(number - border));
  }
  out += ']';
}

/// The `logprobs` of a choice or chunk. Tokens are numbered through text and refusal.
void append_logprobs(std::string& out, const Completion& completion, std::size_t index, std::size_t first,
                     std::size_t last) {
  const std::size_t border = completion.choices()[index].text.size();
  out += R"(,"logprobs":{"content":)";
  append_logprobs_list(out, completion, index, first, std::min(last, border));
  if (completion.profile().refusal_key) {
    append_name(out, "refusal");
    append_logprobs_list(out, completion, index, std::max(first, border), last);
  }
  out += '}';
}

/// Whether every choice and chunk carries the key `logprobs`.
bool has_logprobs_key(const Completion& completion) {
  return completion.logprobs() || completion.profile().logprobs_key;
}

void append_message(std::string& out, const CompletionChoice& choice, const ProfileTraits& profile) {
  append_name(out, "message");
  out += R"({"role":"assistant","content":)";
  if (choice.has_text) {
    text::append_json_string(out, choice.text.text);
  } else {
    out += "null";
  }
  if (choice.thinking.size() > 0) {
    append_string(out, "reasoning_content", choice.thinking.text);
  } else if (profile.null_reasoning) {
    out += R"(,"reasoning_content":null)";  // its deltas have the key in any case
  }
  if (!choice.tool_calls.empty()) {
    append_name(out, "tool_calls");
    out += '[';
    for (const CompletionToolCall& call : choice.tool_calls) {
      out += out.back() == '[' ? "{" : ",{";
      append_call(out, call, call.arguments.text);
    }
    out += ']';
  }
  if (choice.has_refusal) {
    append_string(out, "refusal", choice.refusal.text);
  } else if (profile.refusal_key) {
    out += R"(,"refusal":null)";
  }
  out += '}';
}

/// The first delta of a choice.
std::string_view role_delta(const CompletionChoice& choice, const RoleDelta& roles) {
  if (choice.thinking.size() > 0 && !roles.thinking.empty()) return roles.thinking;
  return choice.has_text || choice.tool_calls.empty() ? roles.text : roles.calls;
}

/// Reads what was written here. A script's values in it may nest as deep as they like.
Json read_own(const std::string& json) {
  JsonReadOptions options;
  options.max_depth = std::numeric_limits<std::size_t>::max();
  return read_json(json, options);
}

}  // namespace completions

Completion::Completion(const ReplyData& reply, const ChatRequest& request, const AnswerContext& context,
                       const Tokens& tokens, const Chunking* chunking)
    : context_(context),
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
  for (const CompletionChoice& choice : choices_) delta_count_ += completions::deltas_of(choice);
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
    // A refusal without a field of its own follows the text.
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
    completions::append_message(out, choice, profile());
    const std::size_t visible = choice.text.size() + choice.refusal.size();
    if (logprobs_ && visible > 0) {
      completions::append_logprobs(out, *this, index, 0, visible);
    } else if (completions::has_logprobs_key(*this)) {
      out += R"(,"logprobs":null)";
    }
    completions::append_string(out, "finish_reason", choice.finish_reason);
    out += '}';
  }
  out += ']';
  completions::append_usage(out, *this);
  completions::append_system_fingerprint(out, *this);
  out += '}';
  if (has_extra()) merge_extra(out, "message");
  return out;
}

void Completion::merge_extra(std::string& json, const char* message) const {
  Json value = completions::read_own(json);
  for (Json& choice : value["choices"]) {
    if (!choice[message].contains("role")) continue;  // a later delta
    for (const Json& patch : extra_message_) choice[message].merge_patch(patch);
  }
  for (const Json& patch : extra_) value.merge_patch(patch);
  json = value.dump();
}

CompletionEvents::CompletionEvents(const Completion& completion)
    : completion_(completion), positions_(completion.choices().size()) {
  const ProfileTraits& profile = completion_.profile();
  usage_on_finish_ = completion_.include_usage() && profile.usage_on_finish;
  usage_due_ = completion_.include_usage() && !usage_on_finish_;
  has_extra_ = completion_.has_extra();
  deltas_left_ = completion_.delta_count();
  for (const CompletionChoice& choice : completion_.choices()) {
    deltas_left_ += 1 + choice.tool_calls.size();
    if (completion_.interleaved()) call_deltas_.push_back(interleave(choice));
  }
  if (completion_.finish_in_last_chunk()) finished_ = positions_.size();

  completions::append_envelope(head_, completion_, "chat.completion.chunk");
  completions::append_system_fingerprint(head_, completion_);
  head_ += R"(,"choices":[)";
  tail_ = completion_.include_usage() ? R"(],"usage":null})" : "]}";
  if (completions::has_logprobs_key(completion_)) rest_ = R"(,"logprobs":null)";
  rest_ += R"(,"finish_reason":null})" + tail_;

  thinking_open_ =
      profile.null_content_while_thinking ? R"({"content":null,"reasoning_content":)" : R"({"reasoning_content":)";
  text_close_ = profile.null_reasoning ? R"(,"reasoning_content":null})" : "}";
}

bool CompletionEvents::next(StreamEvent& event) {
  if (!write(event)) return false;
  ++count_;
  if (has_extra_) completion_.merge_extra(event.data, "delta");
  for (const ExtraChunk& extra : completion_.extra_chunks()) {
    if (extra.number != count_) continue;
    Json chunk = completions::read_own(event.data);
    chunk.merge_patch(extra.patch);
    event.data = chunk.dump();
  }
  return true;
}

std::vector<CompletionEvents::CallDelta> CompletionEvents::interleave(const CompletionChoice& choice) {
  std::vector<CallDelta> order;
  for (std::size_t fragment = 0, before = 0; fragment == 0 || order.size() > before; ++fragment) {
    before = order.size();
    for (std::size_t call = 0; call < choice.tool_calls.size(); ++call)
      if (fragment <= choice.tool_calls[call].arguments.deltas()) order.push_back({call, fragment});
  }
  return order;
}

std::optional<CompletionEvents::CallDelta> CompletionEvents::call_delta(std::size_t index, std::size_t position) const {
  if (!call_deltas_.empty()) {
    const std::vector<CallDelta>& order = call_deltas_[index];
    return position < order.size() ? std::make_optional(order[position]) : std::nullopt;
  }
  const std::vector<CompletionToolCall>& calls = completion_.choices()[index].tool_calls;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const std::size_t fragments = calls[call].arguments.deltas();
    if (position <= fragments) return CallDelta{call, position};
    position -= 1 + fragments;
  }
  return std::nullopt;
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
  event.data = head_;
  event.data += ']';
  completions::append_usage(event.data, completion_);
  event.data += '}';
  return true;
}

bool CompletionEvents::write_delta(std::size_t index, StreamEvent& event) {
  const CompletionChoice& choice = completion_.choices()[index];
  std::size_t position = positions_[index]++;
  if (position == 0) {
    begin(index, event);
    event.token = false;
    event.data += completions::role_delta(choice, completion_.profile().role_delta);
    event.data += rest_;
    return true;
  }
  position -= 1;
  if (position < choice.thinking.deltas()) {
    begin(index, event);
    write_token(thinking_open_, choice.thinking, position, "}", event);
    event.data += rest_;
    return true;
  }
  position -= choice.thinking.deltas();
  if (position < choice.text.deltas()) {
    begin(index, event);
    write_token(R"({"content":)", choice.text, position, text_close_, event);
    end_with_logprobs(index, 0, choice.text, position, event);
    return true;
  }
  position -= choice.text.deltas();
  if (position < choice.refusal.deltas()) {
    begin(index, event);
    write_token(R"({"refusal":)", choice.refusal, position, "}", event);
    end_with_logprobs(index, choice.text.size(), choice.refusal, position, event);
    return true;
  }
  position -= choice.refusal.deltas();
  const std::optional<CallDelta> delta = call_delta(index, position);
  if (!delta) {
    --positions_[index];  // nothing was sent
    return false;
  }
  const CompletionToolCall& call = choice.tool_calls[delta->call];
  begin(index, event);
  event.data += R"({"tool_calls":[{)";
  completions::append_integer(event.data, "index", delta->call);
  if (delta->fragment == 0) {
    event.token = false;
    completions::append_call(event.data, call, "");
  } else {
    write_token(call.custom ? R"(,"custom":{"input":)" : R"(,"function":{"arguments":)", call.arguments,
                delta->fragment - 1, "}}", event);
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

void CompletionEvents::write_token(std::string_view open, const TokenizedText& text, std::size_t delta,
                                   std::string_view close, StreamEvent& event) {
  event.token = true;
  event.share = text.share(delta);
  event.data += open;
  text::append_json_string(event.data, text.delta(delta));
  event.data += close;
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
  event.data += R"(,"finish_reason":null})";
  event.data += tail_;
}

void CompletionEvents::write_finish(std::size_t index, StreamEvent& event) {
  begin(index, event);
  event.data += completion_.profile().finish_delta;
  if (completions::has_logprobs_key(completion_)) event.data += R"(,"logprobs":null)";
  end_with_finish_reason(index, index + 1 == positions_.size(), event);
}

void CompletionEvents::finish_delta(std::size_t index, StreamEvent& event) {
  const CompletionChoice& choice = completion_.choices()[index];
  if (positions_[index] != 1 + completions::deltas_of(choice) + choice.tool_calls.size()) return;
  const std::string unfinished = R"(,"finish_reason":null})" + tail_;
  event.data.resize(event.data.size() - unfinished.size());
  end_with_finish_reason(index, deltas_left_ == 0, event);
}

void CompletionEvents::end_with_finish_reason(std::size_t index, bool last, StreamEvent& event) {
  completions::append_string(event.data, "finish_reason", completion_.choices()[index].finish_reason);
  event.data += '}';
  if (usage_on_finish_ && last) {
    event.data += ']';
    completions::append_usage(event.data, completion_);
    event.data += '}';
  } else {
    event.data += tail_;
  }
}

}  // namespace detail
}  // namespace mock_gateway
