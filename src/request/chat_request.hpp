#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json.hpp"
#include "../model/acceptance.hpp"
#include "../model/finding.hpp"

namespace mock_gateway {

namespace wire {

/// A tool call that an assistant made.
struct ToolCall {
  std::string id;
  std::string name;
  /// JSON text as sent, not necessarily valid. For a custom tool it is the input, which is any text.
  std::string arguments;
  /// Whether it is the call of a custom tool.
  bool custom = false;

  /// The arguments parsed; null when they are not JSON.
  Json json() const;
};

/// An element of `messages`.
struct Message {
  /// `system`, `user` or `assistant`; `tool` and `developer` where they are accepted.
  std::string role;
  /// The content as sent: a string, an array of parts, or null.
  Json content;
  /// The name of its author; empty unless sent.
  std::string name;
  /// The calls that an assistant made.
  std::vector<ToolCall> tool_calls;
  /// The id of the call whose result a message of role tool is; empty for other roles.
  std::string tool_call_id;

  /// The content as one string: itself, or its text parts joined; empty for null.
  std::string text() const;
};

/// An element of `tools`.
struct Tool {
  std::string name;
  std::string description;
  /// JSON Schema of the arguments; null when not given, and of a custom tool.
  Json parameters;
  /// False unless sent.
  bool strict = false;
  /// Whether its type is `custom`, where that is accepted: its input is text.
  bool custom = false;
};

/// Whether the model may call tools, or must: `tool_choice`.
struct ToolChoice {
  enum class Mode {
    /// It calls none.
    none,
    /// `auto`: it may call any.
    automatic,
    /// It must call one.
    required,
    /// It must call the one named.
    named,
  };
  Mode mode = Mode::none;
  /// The function or the custom tool, in mode `named`.
  std::string name;
  /// The tools that it may call, in the modes `automatic` and `required`; empty: any.
  std::vector<std::string> allowed;
};

std::string to_string(ToolChoice::Mode mode);
std::ostream& operator<<(std::ostream& out, ToolChoice::Mode mode);

/// What the answer's text must be: `response_format`.
struct ResponseFormat {
  enum class Kind { text, json_object, json_schema };
  Kind kind = Kind::text;
  /// The schema's name; empty for the other kinds.
  std::string name;
  /// The JSON Schema; null for the other kinds, and where none was sent.
  Json schema;
  /// False unless sent.
  bool strict = false;
};

std::string to_string(ResponseFormat::Kind kind);
std::ostream& operator<<(std::ostream& out, ResponseFormat::Kind kind);

}  // namespace wire

/// The body of POST /v1/chat/completions, parsed. Optional fields that were absent are empty; `body` holds everything
/// as sent, unknown fields included.
struct ChatRequest {
  std::string model;
  std::vector<wire::Message> messages;
  bool stream = false;
  /// `stream_options.include_usage`.
  bool include_usage = false;
  std::optional<double> temperature;
  std::optional<double> top_p;
  /// Where it is accepted, `max_completion_tokens` too: `body` tells which of the two was sent.
  std::optional<std::int64_t> max_tokens;
  std::optional<double> presence_penalty;
  std::int64_t n = 1;
  std::optional<std::int64_t> seed;
  /// One element where a string was sent; empty unless sent.
  std::vector<std::string> stop;
  std::vector<wire::Tool> tools;
  /// What the request says. A request without the field has `none` when it has no tools, else `automatic`.
  wire::ToolChoice tool_choice;
  std::optional<bool> parallel_tool_calls;
  std::optional<wire::ResponseFormat> response_format;
  std::optional<bool> enable_thinking;
  std::optional<double> repetition_penalty;
  bool logprobs = false;
  std::int64_t top_logprobs = 0;

  /// The whole body as sent.
  Json body;
  /// The first 100 findings of this request alone.
  std::vector<Finding> findings;

  /// The text of the last message of role user; empty without one.
  std::string last_user_text() const;
  /// Whether the request offers a tool of that name.
  bool has_tool(std::string_view name) const;
  /// That tool; null when there is none.
  const wire::Tool* tool(std::string_view name) const;
};

}  // namespace mock_gateway
