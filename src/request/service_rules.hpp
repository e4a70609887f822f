// The rules of services: names, codes and texts. Conditions: `chat_rules.cpp`; sources: docs/documented-surface.md.

#pragma once

#include <string>
#include <vector>

#include "../model/finding.hpp"
#include "../model/profile.hpp"

namespace mock_gateway::detail {
namespace service_rules {

/// The 400 of a service for a request that breaks a rule. Rows of different services share conditions by name.
struct Rule {
  Profile service;
  const char* name;  // also the code of its finding
  const char* code;  // in the error body; null: null
  const char* text;  // "{at}" is the path of the value, "{got}" depends on the rule
  Severity severity = Severity::warning;
};

inline constexpr Profile openai = Profile::openai;
inline constexpr Profile dashscope = Profile::dashscope;
inline constexpr Profile deepseek = Profile::deepseek;

inline constexpr const char* empty_array =
    "Invalid '{at}': empty array. Expected an array with minimum length 1, but got an empty array instead.";
inline constexpr const char* long_array =
    "Invalid '{at}': array too long. Expected an array with maximum length {got} instead.";
inline constexpr const char* long_string =
    "Invalid '{at}': string too long. Expected a string with maximum length {got} instead.";
inline constexpr const char* wrong_name =
    "Invalid '{at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
inline constexpr const char* needs_tools =
    "Invalid value for '{at}': '{at}' is only allowed when 'tools' are specified.";

inline constexpr Rule rules[] = {
    {openai, "unknown_field", "unknown_parameter", "Unknown parameter: '{at}'."},
    {openai, "tool_calls_empty", "empty_array", empty_array},
    {openai, "tool_call_id_too_long", "string_above_max_length", long_string, Severity::note},
    {openai, "tools_empty", "empty_array", empty_array},
    {openai, "tools_too_many", "array_above_max_length", long_array},
    {openai, "tool_name_invalid", "invalid_value", wrong_name},
    {openai, "tool_name_too_long", "string_above_max_length", long_string},
    {openai, "tool_schema_invalid", "invalid_function_parameters", "Invalid schema for function {got}"},
    {openai, "tool_schema_open", "invalid_function_parameters", "Invalid schema for function {got}"},
    {openai, "tool_schema_optional", "invalid_function_parameters", "Invalid schema for function {got}"},
    {openai, "messages_empty", "empty_array", empty_array},
    {openai, "tool_choice_without_tools", nullptr, needs_tools},
    {openai, "parallel_tool_calls_without_tools", nullptr, needs_tools},
    {openai, "parallel_tool_calls_null", "invalid_type",
     "Invalid type for '{at}': expected a boolean, but got null instead."},
    {openai, "top_logprobs_without_logprobs", nullptr,
     "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled."},
    {openai, "decimal_too_small", "decimal_below_min_value",
     "Invalid '{at}': decimal below minimum value. Expected a value >= {got} instead."},
    {openai, "decimal_too_large", "decimal_above_max_value",
     "Invalid '{at}': decimal above maximum value. Expected a value <= {got} instead."},
    {openai, "integer_too_small", "integer_below_min_value",
     "Invalid '{at}': integer below minimum value. Expected a value >= {got} instead."},
    {openai, "integer_too_large", "integer_above_max_value",
     "Invalid '{at}': integer above maximum value. Expected a value <= {got} instead."},
    {openai, "max_tokens_twice", "invalid_parameter_combination",
     "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."},
    {openai, "response_schema_open", nullptr, "Invalid schema for response_format {got}"},
    {openai, "response_schema_optional", nullptr, "Invalid schema for response_format {got}"},
    {openai, "json_not_asked_for", nullptr,
     "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."},
    {openai, "stops_too_many", "array_above_max_length", long_array},
    {openai, "stream_options_without_stream", nullptr,
     "The 'stream_options' parameter is only allowed when 'stream' is enabled."},
    {openai, "tool_result_unknown_id", nullptr, "Invalid parameter: {got}"},
    {openai, "tool_result_repeated", nullptr, "Invalid parameter: Duplicate value for 'tool_call_id' of {got}."},
    {openai, "tool_call_unanswered", nullptr,
     "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
     "following tool_call_ids did not have response messages: {got}"},
    {openai, "tool_call_id_missing", nullptr,
     "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."},
    {openai, "content_missing", nullptr, "Invalid value for 'content': expected a string, got null."},

    {dashscope, "tools_empty", nullptr, "[] is too short - 'tools'"},
    {dashscope, "thinking_without_stream", "invalid_parameter_error",
     "parameter.enable_thinking must be set to false for non-streaming calls"},
    {dashscope, "tool_choice_while_thinking", "invalid_parameter_error",
     "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or "
     "object in thinking mode"},
    {dashscope, "tool_name_too_long", "invalid_parameter_error",
     "<400> InternalError.Algo.InvalidParameter: The length of the tool name cannot exceed 64."},
    {dashscope, "tool_result_unknown_id", "invalid_parameter_error",
     "<400> InternalError.Algo.InvalidParameter: messages with role \"tool\" must be a response to a preceeding "
     "message with \"tool_calls\"."},
    {dashscope, "tool_call_unanswered", "invalid_parameter_error",
     "<400> InternalError.Algo.InvalidParameter: An assistant message with \"tool_calls\" must be followed by tool "
     "messages responding to each \"tool_call_id\". The following tool_call_ids did not have response messages: {at}"},

    {deepseek, "tools_empty", "invalid_request_error", empty_array},
    {deepseek, "tool_name_invalid", "invalid_request_error", wrong_name},
    {deepseek, "tool_name_too_long", "invalid_request_error", long_string},
    {deepseek, "json_not_asked_for", "invalid_request_error",
     "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."},
    {deepseek, "tool_choice_while_thinking", "invalid_request_error",
     "Thinking mode does not support this tool_choice"},
    {deepseek, "reasoning_not_returned", "invalid_request_error",
     "The `reasoning_content` in the thinking mode must be passed back to the API."},
    {deepseek, "tool_result_unknown_id", "invalid_request_error",
     "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"},
    {deepseek, "tool_call_unanswered", "invalid_request_error",
     "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
     "(insufficient tool messages following tool_calls message)"},
};

/// Returns the names of the profiles whose services have rules.
std::vector<std::string> services();

}  // namespace service_rules
}  // namespace mock_gateway::detail
