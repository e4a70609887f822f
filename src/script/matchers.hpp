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

/// The text has this part, in the same case. A bare string means this.
TextMatcher contains(std::string part);
/// The text is exactly this.
TextMatcher equals(std::string text);
/// The text begins so.
TextMatcher starts_with(std::string start);
/// The text ends so.
TextMatcher ends_with(std::string end);
/// Some part of the text matches the pattern, written as in ECMAScript; `^` and `$` are the ends of the text, `.` is a
/// character, however many bytes it takes. A text of more than 65,536 bytes, or one that takes more than 5,000,000
/// steps, never matches, and reports say so. Not std::regex, which recurses per character until the stack overflows,
/// and takes time without bound: here it grows with the text only, whatever the pattern. The price: no lookaround, no
/// backreferences, no \b. Throws GatewayError for these, and for what is no pattern.
TextMatcher matches_regex(std::string pattern);
/// Every text, the empty one too.
TextMatcher any_text();

// Matchers of messages.

/// The text of the last user message matches. A matcher of messages matches nothing when there is no such message.
Matcher user_says(TextMatcher text);
/// The text of some system message matches; where developer messages are accepted, one of those does too.
Matcher system_says(TextMatcher text);
/// The text of some message of any role matches.
Matcher any_message_says(TextMatcher text);
/// The message at `position` has this role and text. Positions count from 0; negative ones from the end, -1 is the
/// last.
Matcher message_is(int position, std::string role, TextMatcher text = any_text());
/// The number of user messages is in the range.
Matcher turns_are(Range count);
/// The number of messages of all roles is in the range.
Matcher messages_are(Range count);
/// The last message is a tool result.
Matcher last_is_tool_result();
/// Among the tool results with which the conversation ends is one of a call to that function whose text matches. The
/// call is found by its id.
Matcher tool_result(std::string function, TextMatcher text = any_text());
/// Among the tool results with which the conversation ends is one of the call with that id, whose text matches.
Matcher tool_result_of(std::string call_id, TextMatcher text = any_text());

// Matchers of the documented fields. A field that was not sent matches no value unless it says so here;
// `!has_field("temperature")` asks for that.

/// `model` is this id.
Matcher model_is(std::string id);
/// `stream` has this value; not sent is false.
Matcher stream_is(bool stream);
/// `stream_options.include_usage` has this value; not sent is false.
Matcher include_usage_is(bool include_usage);
/// `temperature` is in the range.
Matcher temperature_is(Range range);
/// `top_p` is in the range.
Matcher top_p_is(Range range);
/// `max_tokens` is in the range, or, where it is accepted, `max_completion_tokens`.
Matcher max_tokens_is(Range range);
/// `presence_penalty` is in the range.
Matcher presence_penalty_is(Range range);
/// `repetition_penalty` is in the range.
Matcher repetition_penalty_is(Range range);
/// `n` is in the range; not sent is 1.
Matcher n_is(Range range);
/// `seed` is this number.
Matcher seed_is(std::int64_t seed);
/// `stop` holds this sequence.
Matcher has_stop(std::string sequence);
/// The request offers a function of that name.
Matcher has_tool(std::string name);
/// The number of functions that the request offers is in the range.
Matcher tools_are(Range count);
/// `tool_choice` is this: "none", "auto", "required", or the name of the function that must be called. A request
/// without the field has "none" when it has no tools, else "auto".
Matcher tool_choice_is(std::string choice);
/// `parallel_tool_calls` has this value.
Matcher parallel_tool_calls_is(bool parallel);
/// The type of `response_format` is this: "text" (or not sent), "json_object" or "json_schema". Throws GatewayError for
/// any other.
Matcher response_format_is(std::string type);
/// The schema in a `response_format` of type json_schema has this name.
Matcher response_schema_is(std::string name);
/// `enable_thinking` has this value.
Matcher enable_thinking_is(bool enabled);
/// `logprobs` has this value; not sent is false.
Matcher logprobs_is(bool logprobs);

// Matchers of the body as JSON.

/// The body has a field of that name, whatever its value; null counts only when it was sent.
Matcher has_field(std::string name);
/// The value at a JSON pointer (RFC 6901) is this one; numbers compare by value, so that 1 is 1.0, and the order of an
/// object's members does not matter. Throws GatewayError for what is no pointer.
Matcher json_at(std::string pointer, Json value);
/// The string at a JSON pointer matches.
Matcher json_text_at(std::string pointer, TextMatcher text);
/// The body includes this. An object includes another one when it has its members, and each value includes the other's;
/// an array, when both have as many elements, and each includes the other's; any other value, when both are equal.
Matcher body_includes(Json part);

// Matchers of how the request came.

/// The request has this header, its name in any case.
Matcher has_header(std::string name);
/// The request has this header, its name in any case, and one of its values matches.
Matcher has_header(std::string name, TextMatcher value);
/// The header's value is exactly this. A stub with it belongs to the test with that header: see RequestScope.
Matcher header_is(std::string name, std::string value);
/// The request came with this key, by its id or its description. A stub with it belongs to the test with that key: see
/// RequestScope. Throws GatewayError for a secret.
Matcher key_is(std::string id_or_description);
/// The query has this parameter, and its value, percent-decoded and with "+" as a space, matches.
Matcher has_query(std::string name, TextMatcher value = any_text());

// Matchers of anything else.

/// Any condition, by the name that reports show. The function runs on the connection's thread while a stub is being
/// chosen, under no lock. It is never run for a report, which shows what it said then, or "not evaluated". What it
/// throws becomes a 500 on the wire and a problem that verify() reports. GatewayError without a name or a function.
Matcher matching(std::string name, std::function<bool(const ChatRequest&)> test);
/// The same for the whole call: headers, query and key too.
Matcher matching_call(std::string name, std::function<bool(const ChatCall&)> test);

}  // namespace mock_gateway
