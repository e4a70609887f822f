#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json_reader.hpp"
#include "../model/finding_kinds.hpp"
#include "../model/profile_traits.hpp"
#include "chat_fields.hpp"
#include "chat_parser.hpp"
#include "chat_request.hpp"

namespace mock_gateway::detail {
namespace chat_fields {

/// The documented fields and extensions, in the order of checking.
enum Field : std::size_t {
  model,
  messages,
  stream,
  stream_options,
  temperature,
  top_p,
  max_tokens,
  max_completion_tokens,
  presence_penalty,
  n,
  seed,
  stop,
  tools,
  tool_choice,
  parallel_tool_calls,
  response_format,
  enable_thinking,
  repetition_penalty,
  logprobs,
  top_logprobs,
  field_count
};

class Reader {
 public:
  Reader(const Acceptance& acceptance, const ChatLimits& limits, ChatRequest& request)
      : acceptance_(acceptance.has(Extension::anything_with_model_and_messages) ? Acceptance::lenient() : acceptance),
        limits_(limits),
        profile_(traits_of(limits.profile)),
        service_(limits.enforced == Profile::documented ? limits.profile : limits.enforced),
        request_(request) {}

  void read(const std::vector<JsonDuplicate>& duplicates);

 private:
  void check_duplicates(const std::vector<JsonDuplicate>& duplicates);
  void collect(const Json::object_t& body);
  void unknown_field(const std::string& path, std::string_view name);
  /// Whether a field without effect is accepted without a finding, because the profile's service documents it.
  bool is_documented_by_service(std::string_view name) const;
  /// Whether a field documented by the gateway counts as unknown, because the profile's service does not document it.
  bool is_own_field(std::string_view name) const;
  /// Reads all fields. Skips fields of the wrong type if `skips_invalid`.
  void read_all(bool skips_invalid);

  void read_messages(const Json& value, const Path& path);
  void read_message(const Json& value, const Path& path);
  void take_message(const Json& value);
  void read_content(const Json* value, const Path& path, bool may_be_null, wire::Message& message);
  void check_parts(const Json::array_t& parts, const Path& path);
  bool needs_no_content(const Json::object_t& object, const wire::Message& message) const;
  void read_tool_calls(const Json& value, const Path& path, wire::Message& message);
  void read_field(Field field, const Json& value);
  void read_max_completion_tokens(const Json& value, const Path& path);
  void read_stream_options(const Json& value, const Path& path);
  void read_temperature(const Json& value, const Path& path);
  void read_stop(const Json& value, const Path& path);
  void read_tools(const Json& value, const Path& path);
  void read_tool_choice(const Json& value, const Path& path);
  void read_allowed_tools(const Json::object_t& object, const Path& path, wire::ToolChoice& choice) const;
  void read_response_format(const Json& value, const Path& path);
  void read_top_logprobs(const Json& value, const Path& path);

  /// Returns the member. Null if it is missing, or if it is JSON null and null counts as absent.
  const Json* optional_member(const Json::object_t& object, std::string_view name) const;
  bool is_absent_as_null(std::string_view name) const;
  std::string expected_role() const;
  bool takes_function_role() const;
  /// Returns a hint for errors: which switch of the acceptance would accept the message.
  std::string switched_off(const char* name) const;
  std::string expected_tool_type() const;
  /// Whether a tool, tool choice or tool call is custom. Throws RequestError for a type that is not accepted.
  bool read_tool_type(const Json::object_t& object, const Path& path) const;
  std::string read_tool_name(const Json::object_t& object, const Path& path) const;
  /// Checks that each tool call has a result, and each tool message belongs to a call.
  void check_tool_messages();
  /// Judges the request by the rules of `service_`: which fields it has; then their values, in OpenAI's order.
  void judge_fields() const;
  void judge() const;
  void judge_message(const wire::Message& message, const Json& sent, const Path& path) const;
  void judge_tools() const;
  void judge_response_format() const;
  void judge_pairs() const;  // tool calls and their results
  void judge_name(const std::string& name, const Path& path) const;
  void judge_length(std::string_view rule, const std::string& text, std::size_t most, const Path& path) const;
  /// Throws RequestError if the rule is enforced, otherwise adds a finding. Does nothing if `service_` lacks the rule.
  void breaks(std::string_view rule, std::string at, const std::string& got = "") const;
  void add_finding(const finding_kinds::Kind& kind, std::string message) const;
  /// Records the use of an extension that the profile's service does not document.
  void note_extension(Extension extension, const std::string& place) const;

  const Acceptance acceptance_;
  const ChatLimits& limits_;
  const ProfileTraits& profile_;
  const Profile service_;  // whose rules the request is judged by; documented: none
  ChatRequest& request_;
  std::array<const Json*, field_count> fields_{};
};

}  // namespace chat_fields
}  // namespace mock_gateway::detail
