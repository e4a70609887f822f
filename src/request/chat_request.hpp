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

struct ToolCall {
  std::string id;
  std::string name;
  /// JSON text as sent, perhaps invalid. For a custom tool, any text: its input.
  std::string arguments;
  bool custom = false;

  /// Returns the parsed arguments, or null if they are not JSON.
  Json json() const;
};

/// An element of `messages`.
struct Message {
  /// `system`, `user` or `assistant`; also `tool` and `developer` if accepted.
  std::string role;
  /// The content as sent: a string, an array of parts, or null.
  Json content;
  /// The author's name, or empty.
  std::string name;
  std::vector<ToolCall> tool_calls;
  /// For role `tool`, the id of the call that this is the result of; otherwise empty.
  std::string tool_call_id;

  /// Returns the content as a string: itself, or its joined text parts, or empty for null.
  std::string text() const;
};

/// An element of `tools`.
struct Tool {
  std::string name;
  std::string description;
  /// JSON Schema of the arguments; null if absent, and for custom tools.
  Json parameters;
  bool strict = false;
  /// Whether its type is `custom`, if accepted. Its input is text.
  bool custom = false;
};

/// `tool_choice`: whether the model may or must call tools.
struct ToolChoice {
  enum class Mode {
    none,
    /// `auto`: any calls.
    automatic,
    required,
    named,
  };
  Mode mode = Mode::none;
  /// In mode `named`: the function or custom tool.
  std::string name;
  /// In the modes `automatic` and `required`: the allowed tools; empty for all.
  std::vector<std::string> allowed;
};

std::string to_string(ToolChoice::Mode mode);
std::ostream& operator<<(std::ostream& out, ToolChoice::Mode mode);

/// `response_format`: the required form of the answer's text.
struct ResponseFormat {
  enum class Kind { text, json_object, json_schema };
  Kind kind = Kind::text;
  /// For json_schema, the schema's name; otherwise empty.
  std::string name;
  /// For json_schema, the schema if sent; otherwise null.
  Json schema;
  bool strict = false;
};

std::string to_string(ResponseFormat::Kind kind);
std::ostream& operator<<(std::ostream& out, ResponseFormat::Kind kind);

}  // namespace wire

/// The parsed body of POST /v1/chat/completions. Absent optional fields are empty. `body` has everything as sent,
/// including unknown fields.
struct ChatRequest {
  std::string model;
  std::vector<wire::Message> messages;
  bool stream = false;
  /// `stream_options.include_usage`.
  bool include_usage = false;
  std::optional<double> temperature;
  std::optional<double> top_p;
  /// Also `max_completion_tokens`, if accepted; `body` shows which of the two was sent.
  std::optional<std::int64_t> max_tokens;
  std::optional<double> presence_penalty;
  std::int64_t n = 1;
  std::optional<std::int64_t> seed;
  /// One element for a string; empty if absent.
  std::vector<std::string> stop;
  std::vector<wire::Tool> tools;
  /// The request's tool_choice. Default: `none` without tools, otherwise `automatic`.
  wire::ToolChoice tool_choice;
  std::optional<bool> parallel_tool_calls;
  std::optional<wire::ResponseFormat> response_format;
  std::optional<bool> enable_thinking;
  std::optional<double> repetition_penalty;
  bool logprobs = false;
  std::int64_t top_logprobs = 0;

  Json body;
  /// The first 100 findings about this request alone.
  std::vector<Finding> findings;

  /// Returns the text of the last message with role `user`, or empty.
  std::string last_user_text() const;
  bool has_tool(std::string_view name) const;
  /// Returns the tool with that name, or null.
  const wire::Tool* tool(std::string_view name) const;
};

}  // namespace mock_gateway
