#include "acceptance.hpp"

namespace mock_gateway {

Acceptance Acceptance::openai() {
  Acceptance acceptance;
  acceptance.developer_role = true;
  acceptance.other_parts = true;
  acceptance.custom_tools = true;
  acceptance.max_completion_tokens = true;
  return acceptance;
}

Acceptance Acceptance::strict() {
  Acceptance acceptance;
  acceptance.bearer_in_any_case = false;
  acceptance.unknown_fields = false;
  acceptance.tool_role = false;
  acceptance.developer_role = false;
  acceptance.null_content_with_tool_calls = false;
  acceptance.text_parts = false;
  acceptance.other_parts = false;
  acceptance.tool_calls_in_messages = false;
  acceptance.stop_as_string = false;
  acceptance.tool_choice_required = false;
  acceptance.custom_tools = false;
  acceptance.max_completion_tokens = false;
  acceptance.logprobs = false;
  acceptance.null_as_absent = false;
  acceptance.stream_options_without_stream = false;
  acceptance.model_by_id = false;
  acceptance.content_type_parameters = false;
  acceptance.json_as_form = false;
  acceptance.anything_with_model_and_messages = false;
  return acceptance;
}

Acceptance Acceptance::lenient() {
  Acceptance acceptance;
  acceptance.bearer_in_any_case = true;
  acceptance.unknown_fields = true;
  acceptance.tool_role = true;
  acceptance.developer_role = true;
  acceptance.null_content_with_tool_calls = true;
  acceptance.text_parts = true;
  acceptance.other_parts = true;
  acceptance.tool_calls_in_messages = true;
  acceptance.stop_as_string = true;
  acceptance.tool_choice_required = true;
  acceptance.custom_tools = true;
  acceptance.max_completion_tokens = true;
  acceptance.logprobs = true;
  acceptance.null_as_absent = true;
  acceptance.stream_options_without_stream = true;
  acceptance.model_by_id = true;
  acceptance.content_type_parameters = true;
  acceptance.json_as_form = true;
  acceptance.anything_with_model_and_messages = true;
  return acceptance;
}

}  // namespace mock_gateway
