#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "../core/json.hpp"
#include "../model/range.hpp"
#include "matcher.hpp"

namespace mock_gateway {

// Matchers of texts.

/// The text contains this part, case-sensitive. A bare string means this.
TextMatcher contains(std::string part);
/// Matches exactly this text.
TextMatcher equals(std::string text);
/// The text begins with this.
TextMatcher starts_with(std::string start);
/// The text ends with this.
TextMatcher ends_with(std::string end);
/// A part of the text matches the ECMAScript pattern. `^` and `$` are the ends of the text; `.` is a character of any
/// number of bytes. Texts of more than 65,536 bytes, or that need more than 5,000,000 steps, do not match, and reports
/// say so; verify() has a problem if a condition holds, or never() is met, only because of that. Throws GatewayError
/// for invalid patterns, lookaround, backreferences and \b, which are not supported.
TextMatcher matches_regex(std::string pattern);
/// Any text, including the empty one.
TextMatcher any_text();

// Matchers of messages.

/// The text of the last user message matches. Matchers of messages do not match if there is no such message.
Matcher user_says(TextMatcher text);
/// The text of a system message matches, or of a developer message if these are accepted.
Matcher system_says(TextMatcher text);
/// The text of a message of any role matches.
Matcher any_message_says(TextMatcher text);
/// The message at `position` has this role and text. Positions count from 0; negative ones count from the end, -1 is
/// the last.
Matcher message_is(int position, std::string role, TextMatcher text = any_text());
/// Matches the number of user messages.
Matcher turns_are(Range count);
/// Matches the number of all messages.
Matcher messages_are(Range count);
/// Matches the number of tokens of the prompt, counted by the gateway's tokenizer as for `usage.prompt_tokens`.
Matcher prompt_tokens_are(Range count);
/// A tool result follows the assistant's last message. Like the next two, it ignores other messages after the result:
/// coding agents append reminders as user or system messages.
Matcher last_is_tool_result();
/// A tool result after the assistant's last message is for a call of this function, and its text matches. The call is
/// found by its id.
Matcher tool_result(std::string function, TextMatcher text = any_text());
/// A tool result after the assistant's last message is for the call with this id, and its text matches.
Matcher tool_result_of(std::string call_id, TextMatcher text = any_text());

// Matchers of the documented fields. A field that was not sent does not match, unless its comment says otherwise.
// `!has_field("temperature")` matches its absence.

/// Matches the id in `model`.
Matcher model_is(std::string id);
/// `stream` has this value; absent means false.
Matcher stream_is(bool stream);
/// `stream_options.include_usage` has this value; absent means false.
Matcher include_usage_is(bool include_usage);
/// Matches `temperature`.
Matcher temperature_is(Range range);
/// Matches `top_p`.
Matcher top_p_is(Range range);
/// `max_tokens` or, if accepted, `max_completion_tokens` is in the range.
Matcher max_tokens_is(Range range);
/// Matches `presence_penalty`.
Matcher presence_penalty_is(Range range);
/// Matches `repetition_penalty`.
Matcher repetition_penalty_is(Range range);
/// `n` is in the range; absent means 1.
Matcher n_is(Range range);
/// Matches `seed`.
Matcher seed_is(std::int64_t seed);
/// `stop` contains this sequence.
Matcher has_stop(std::string sequence);
/// The request offers a function with this name.
Matcher has_tool(std::string name);
/// The number of offered functions is in the range.
Matcher tools_are(Range count);
/// `tool_choice` is this: "none", "auto", "required", or the name of the function to call. If absent, it is "auto" with
/// tools and "none" without.
Matcher tool_choice_is(std::string choice);
/// Matches `parallel_tool_calls`.
Matcher parallel_tool_calls_is(bool parallel);
/// The type of `response_format` is this: "text" (also if absent), "json_object" or "json_schema". Throws GatewayError
/// for other types.
Matcher response_format_is(std::string type);
/// Matches the name of the schema in a `response_format` of type json_schema.
Matcher response_schema_is(std::string name);
/// Matches `enable_thinking`.
Matcher enable_thinking_is(bool enabled);
/// `logprobs` has this value; absent means false.
Matcher logprobs_is(bool logprobs);

// Matchers of the body as JSON.

/// The body has a field with this name and any value, including null.
Matcher has_field(std::string name);
/// The value at a JSON pointer (RFC 6901) equals this one. Numbers compare by value (1 equals 1.0), and the order of
/// object members is irrelevant. Throws GatewayError for an invalid pointer.
Matcher json_at(std::string pointer, Json value);
/// Matches the string at a JSON pointer.
Matcher json_text_at(std::string pointer, TextMatcher text);
/// The body includes this JSON: objects may have more members, at any depth; arrays must have the same length, and
/// other values must be equal.
Matcher body_includes(Json part);
/// Some element of the array, or member of the object, at a JSON pointer meets all conditions. These are matchers of
/// this section, also combined; their pointers begin at the element. "Every element" is a negation:
/// `!any_at("/tools", !has_field("function"))`. Throws GatewayError for an invalid pointer, and for other matchers.
Matcher any_at(std::string pointer, Matcher element);
template <class... Matchers>
Matcher any_at(std::string pointer, const Matcher& first, const Matchers&... more) {
  return any_at(std::move(pointer), (first && ... && more));
}

// Matchers of the HTTP request.

/// Matches the number of bytes of the body, without transfer coding and with masked keys.
Matcher body_bytes_are(Range bytes);
/// The request has this header, in any case.
Matcher has_header(std::string name);
/// The request has this header, in any case, and one of its values matches.
Matcher has_header(std::string name, TextMatcher value);
/// The header has exactly this value. The stub then belongs to the test with this header: see RequestScope.
Matcher header_is(std::string name, std::string value);
/// The request has this key, by id or description. The stub then belongs to the test with this key: see RequestScope.
/// Throws GatewayError for a secret.
Matcher key_is(std::string id_or_description);
/// The query has this parameter, and its decoded value (percent-encoding, "+" for a space) matches.
Matcher has_query(std::string name, TextMatcher value = any_text());

// Custom matchers.

/// Any condition, with its name for reports. The function runs on the connection's thread while a stub is chosen,
/// without locks. Reports do not run it: they show its earlier result, or "not evaluated". Its exceptions become a 500
/// and a problem that verify() reports. Name and function are required.
Matcher matching(std::string name, std::function<bool(const ChatRequest&)> test);
/// The same for the whole call, including headers, query and key.
Matcher matching_call(std::string name, std::function<bool(const ChatCall&)> test);

}  // namespace mock_gateway
