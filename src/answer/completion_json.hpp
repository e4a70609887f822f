#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../core/json.hpp"
#include "../core/random.hpp"
#include "completion.hpp"

// The JSON of completions and their chunks.

namespace mock_gateway::detail {
namespace completions {

/// Returns a random generator for one part of a choice, independent of the other parts of the answer.
Random random_for(std::uint64_t seed, std::size_t choice, std::size_t part);

/// Appends `,"name":`. Omits the comma at the start of an object.
void append_name(std::string& out, std::string_view name);
void append_string(std::string& out, std::string_view name, std::string_view value);
template <class Integer>
void append_integer(std::string& out, std::string_view name, Integer value) {
  append_name(out, name);
  out += std::to_string(value);
}

/// Appends everything from the opening brace to the model.
void append_envelope(std::string& out, const Completion& completion, std::string_view object);
void append_system_fingerprint(std::string& out, const Completion& completion);
/// Appends the usage of the completion, or `so_far` instead.
void append_usage(std::string& out, const Completion& completion, const TokenUsage* so_far = nullptr);
/// Appends `finish_reason`. Without a `reason`, it is JSON null.
void append_finish_reason(std::string& out, std::optional<std::string_view> reason, const ProfileTraits& profile);
void append_text(std::string& out, const TextForm& form, std::string_view text);
void append_message(std::string& out, const CompletionChoice& choice, const ProfileTraits& profile);
/// Appends a tool call's id, type and function, and the closing brace. The caller appends the opening brace.
void append_call(std::string& out, const CompletionToolCall& call, std::string_view arguments);
/// Appends the `logprobs` of tokens `first` to `last` - 1. The numbers of refusal tokens follow those of text tokens.
void append_logprobs(std::string& out, const Completion& completion, std::size_t index, std::size_t first,
                     std::size_t last);
bool has_logprobs_key(const Completion& completion);
/// Parses JSON that these functions wrote. Has no depth limit, because scripted values may be deeply nested.
Json read_own(const std::string& json);

}  // namespace completions
}  // namespace mock_gateway::detail
