#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "../core/json.hpp"
#include "../model/range.hpp"
#include "matcher.hpp"

namespace mock_gateway {

// Matchers of texts.

/// Matches texts that contain `part`, case-sensitive. A bare string means the same.
TextMatcher contains(std::string part);
/// Matches exactly this text.
TextMatcher equals(std::string text);
/// Matches texts that begin with `start`.
TextMatcher starts_with(std::string start);
/// Matches texts that end with `end`.
TextMatcher ends_with(std::string end);
/// Matches texts of which a part matches the ECMAScript pattern. `^` and `$` are the ends of the text; `.` is a
/// character, not a byte. Lookaround, backreferences and \b are not supported. A text of more than 65,536 bytes never
/// matches, nor does one that takes more than 5,000,000 steps; reports say so. Time grows linearly with the text, and
/// the stack does not overflow, unlike with std::regex. Throws GatewayError for unsupported or invalid patterns.
TextMatcher matches_regex(std::string pattern);
/// Matches every text, even an empty one.
TextMatcher any_text();

// Matchers of messages.

/// Matches the text of the last user message. Without a message of its kind, a matcher of messages does not match.
Matcher user_says(TextMatcher text);
/// Matches the text of any system message; of a developer message too, if developer messages are accepted.
Matcher system_says(TextMatcher text);
/// Matches the text of any message of any role.
Matcher any_message_says(TextMatcher text);
/// Matches the role and text of the message at `position`. Positions count from 0; negative ones from the end: -1 is
/// the last.
Matcher message_is(int position, std::string role, TextMatcher text = any_text());
/// Matches the number of user messages.
Matcher turns_are(Range count);
/// Matches the number of all messages.
Matcher messages_are(Range count);
/// Matches if the last message is a tool result.
Matcher last_is_tool_result();
/// Matches the text of a tool result of that function, among the tool results at the end of the conversation. The call
/// is found by its id.
Matcher tool_result(std::string function, TextMatcher text = any_text());
/// Matches the text of the tool result with that call id, among the tool results at the end of the conversation.
Matcher tool_result_of(std::string call_id, TextMatcher text = any_text());

// Matchers of the documented fields. An absent field matches no value, except where noted; `!has_field("temperature")`
// matches absence.

/// Matches the id in `model`.
Matcher model_is(std::string id);
/// Matches `stream`; absent means false.
Matcher stream_is(bool stream);
/// Matches `stream_options.include_usage`; absent means false.
Matcher include_usage_is(bool include_usage);
/// Matches `temperature`.
Matcher temperature_is(Range range);
/// Matches `top_p`.
Matcher top_p_is(Range range);
/// Matches `max_tokens` or, where it is accepted, `max_completion_tokens`.
Matcher max_tokens_is(Range range);
/// Matches `presence_penalty`.
Matcher presence_penalty_is(Range range);
/// Matches `repetition_penalty`.
Matcher repetition_penalty_is(Range range);
/// Matches `n`; absent means 1.
Matcher n_is(Range range);
/// Matches `seed`.
Matcher seed_is(std::int64_t seed);
/// Matches if `stop` contains this sequence.
Matcher has_stop(std::string sequence);
/// Matches if the request offers a function of that name.
Matcher has_tool(std::string name);
/// Matches the number of functions that the request offers.
Matcher tools_are(Range count);
/// Matches `tool_choice`: "none", "auto", "required", or the name of the function that must be called. Absent means
/// "auto", or "none" if the request has no tools.
Matcher tool_choice_is(std::string choice);
/// Matches `parallel_tool_calls`.
Matcher parallel_tool_calls_is(bool parallel);
/// Matches the type of `response_format`: "text" (or absent), "json_object" or "json_schema". Throws GatewayError for
/// any other type.
Matcher response_format_is(std::string type);
/// Matches the name of the schema in a `response_format` of type json_schema.
Matcher response_schema_is(std::string name);
/// Matches `enable_thinking`.
Matcher enable_thinking_is(bool enabled);
/// Matches `logprobs`; absent means false.
Matcher logprobs_is(bool logprobs);

// Matchers of the body as JSON.

/// Matches if the body has a field of that name, with any value, including null.
Matcher has_field(std::string name);
/// Matches the value at a JSON pointer (RFC 6901). Numbers compare by value, so 1 equals 1.0; the order of an object's
/// members does not matter. Throws GatewayError for an invalid pointer.
Matcher json_at(std::string pointer, Json value);
/// Matches the string at a JSON pointer.
Matcher json_text_at(std::string pointer, TextMatcher text);
/// Matches if the body includes `part`. An object includes another if it has all of its members and includes their
/// values. An array includes another of the same length if each element includes the other's. Other values must be
/// equal.
Matcher body_includes(Json part);

// Matchers of how the request came.

/// Matches if the request has this header. The name is case-insensitive.
Matcher has_header(std::string name);
/// Matches one of the values of this header. The name is case-insensitive.
Matcher has_header(std::string name, TextMatcher value);
/// Matches the exact value of a header. The stub then belongs to the test with that header: see RequestScope.
Matcher header_is(std::string name, std::string value);
/// Matches requests with this key, by its id or description. The stub then belongs to the test with that key: see
/// RequestScope. Throws GatewayError for a secret.
Matcher key_is(std::string id_or_description);
/// Matches a query parameter's value, percent-decoded and with "+" as a space.
Matcher has_query(std::string name, TextMatcher value = any_text());

// Matchers of anything else.

/// Matches by a function of the test; reports show its name. It runs on the connection's thread while a stub is chosen,
/// without a lock. Reports never call it: they show its earlier result, or "not evaluated". If it throws, the client
/// gets a 500, and verify() reports a problem. Throws GatewayError without a name or a function.
Matcher matching(std::string name, std::function<bool(const ChatRequest&)> test);
/// Does the same for the whole call: headers, query and key too.
Matcher matching_call(std::string name, std::function<bool(const ChatCall&)> test);

}  // namespace mock_gateway
