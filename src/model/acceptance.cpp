#include "acceptance.hpp"

#include <initializer_list>

namespace mock_gateway {

Acceptance Acceptance::with(bool Acceptance::*extension, bool accepted) const {
  Acceptance copy = *this;
  copy.*extension = accepted;
  return copy;
}

Acceptance Acceptance::with_every(bool accepted) {
  Acceptance all;
  for (bool Acceptance::*extension : {
           &Acceptance::bearer_in_any_case_,
           &Acceptance::unknown_fields_,
           &Acceptance::tool_role_,
           &Acceptance::developer_role_,
           &Acceptance::null_content_with_tool_calls_,
           &Acceptance::text_parts_,
           &Acceptance::other_parts_,
           &Acceptance::tool_calls_in_messages_,
           &Acceptance::stop_as_string_,
           &Acceptance::tool_choice_required_,
           &Acceptance::custom_tools_,
           &Acceptance::max_completion_tokens_,
           &Acceptance::logprobs_,
           &Acceptance::null_as_absent_,
           &Acceptance::stream_options_without_stream_,
           &Acceptance::model_by_id_,
           &Acceptance::content_type_parameters_,
           &Acceptance::json_as_form_,
           &Acceptance::anything_with_model_and_messages_,
       }) {
    all.*extension = accepted;
  }
  return all;
}

Acceptance Acceptance::openai() {
  return Acceptance().developer_role(true).other_parts(true).custom_tools(true).max_completion_tokens(true);
}
Acceptance Acceptance::strict() { return with_every(false); }
Acceptance Acceptance::lenient() { return with_every(true); }

}  // namespace mock_gateway
