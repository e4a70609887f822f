// The JSON of completions: keys and order, usage, logprobs, system_fingerprint. `id` and `created` are set in
// `src/serve/reply_answer.cpp`.

#include "completion_json.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "../core/json_reader.hpp"
#include "../core/text.hpp"
#include "words.hpp"

namespace mock_gateway::detail {
namespace completions {

void append_name(std::string& out, std::string_view name) {
  if (out.empty() || out.back() != '{') out += ',';
  out += '"';
  out += name;
  out += "\":";
}

void append_string(std::string& out, std::string_view name, std::string_view value) {
  append_name(out, name);
  text::append_json_string(out, value);
}

void append_system_fingerprint(std::string& out, const Completion& completion) {
  const SystemFingerprint kind = completion.traits().system_fingerprint;
  if (kind == SystemFingerprint::absent) return;
  append_name(out, "system_fingerprint");
  if (kind == SystemFingerprint::null || kind == SystemFingerprint::empty) {
    out += kind == SystemFingerprint::null ? "null" : R"("")";
    return;
  }
  std::uint64_t bits = fingerprint(completion.model());
  out += "\"fp_";
  for (int count = 0; count < 10; ++count, bits >>= 4) out += text::hex_digits[bits & 0xfu];
  out += '"';
}

void append_envelope(std::string& out, const Completion& completion, std::string_view object) {
  out += '{';
  append_string(out, "id", completion.context().id);
  append_string(out, "object", object);
  append_integer(out, "created", completion.context().created);
  append_string(out, "model", completion.model());
  out += completion.traits().provider;
}

void append_finish_reason(std::string& out, std::optional<std::string_view> reason, const ProfileTraits& profile) {
  const auto append = [&](std::string_view name) {
    append_name(out, name);
    if (reason)
      text::append_json_string(out, *reason);
    else
      out += "null";
  };
  append("finish_reason");
  if (profile.native_finish_reason) append("native_finish_reason");
}

void append_text(std::string& out, const TextForm& form, std::string_view text) {
  out += form.open;
  text::append_json_string(out, text);
  if (!form.again.empty()) {
    out += form.again;
    text::append_json_string(out, text);
  }
  out += form.close;
}

void append_usage(std::string& out, const Completion& completion, const TokenUsage* so_far) {
  const TokenUsage& usage = so_far ? *so_far : completion.usage();
  append_name(out, "usage");
  if (completion.usage_json() && !so_far) {
    out += *completion.usage_json();
    return;
  }
  out += '{';
  append_integer(out, "prompt_tokens", usage.prompt_tokens());
  append_integer(out, "completion_tokens", usage.completion_tokens());
  append_integer(out, "total_tokens", usage.total_tokens());
  out += completion.traits().further_usage;
  const std::int64_t cached = usage.cached_tokens().value_or(0);
  if (usage.cached_tokens() || completion.traits().cached_tokens_key) {
    append_name(out, "prompt_tokens_details");
    out += '{';
    append_integer(out, "cached_tokens", cached);
    out += '}';
  }
  if (usage.reasoning_tokens()) {
    append_name(out, "completion_tokens_details");
    out += '{';
    append_integer(out, "reasoning_tokens", *usage.reasoning_tokens());
    out += '}';
  }
  if (completion.traits().prompt_cache_tokens) {
    append_integer(out, "prompt_cache_hit_tokens", cached);
    append_integer(out, "prompt_cache_miss_tokens", std::max<std::int64_t>(usage.prompt_tokens() - cached, 0));
  }
  out += '}';
}

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

/// Formats a generated logprob: `-below_zero / 10000`.
std::string made_up_logprob(std::uint64_t below_zero) {
  const std::string decimals = std::to_string(below_zero % 10000);
  return '-' + std::to_string(below_zero / 10000) + '.' + std::string(4 - decimals.size(), '0') + decimals;
}

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

/// Appends a token's logprobs, scripted or generated. Generated ones have the token first, then less likely words.
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
    constexpr double lowest = 1e15;  // small enough for the sum below not to overflow
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

void append_logprobs(std::string& out, const Completion& completion, std::size_t index, std::size_t first,
                     std::size_t last) {
  const std::size_t border = completion.choices()[index].text.size();
  out += R"(,"logprobs":{"content":)";
  append_logprobs_list(out, completion, index, first, std::min(last, border));
  if (completion.traits().refusal_key) {
    append_name(out, "refusal");
    append_logprobs_list(out, completion, index, std::max(first, border), last);
  }
  out += '}';
}

bool has_logprobs_key(const Completion& completion) {
  return completion.logprobs() || completion.traits().logprobs_key;
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
    append_text(out, profile.thinking, choice.thinking.text);
  } else {
    out += profile.no_thinking;
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

Json read_own(const std::string& json) {
  JsonReadOptions options;
  options.max_depth = std::numeric_limits<std::size_t>::max();
  return read_json(json, options);
}

}  // namespace completions
}  // namespace mock_gateway::detail
