// What requests may hold beyond the documentation: the switches, their defaults (in the header), and what strict,
// lenient and openai are.

#include "acceptance.hpp"

namespace mock_gateway {

namespace detail {

inline constexpr std::array<AcceptanceSwitch Acceptance::*, 21> StrictAcceptance::all = {
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
    &Acceptance::allowed_tools_,
    &Acceptance::json_schema_without_schema_,
    &Acceptance::custom_tools_,
    &Acceptance::max_completion_tokens_,
    &Acceptance::logprobs_,
    &Acceptance::null_as_absent_,
    &Acceptance::stream_options_without_stream_,
    &Acceptance::model_by_id_,
    &Acceptance::content_type_parameters_,
    &Acceptance::json_as_form_,
    &Acceptance::anything_with_model_and_messages_,
};

Acceptance StrictAcceptance::under(const Acceptance& acceptance, const Acceptance& documented) {
  Acceptance taken = acceptance;
  for (AcceptanceSwitch Acceptance::*const extension : all) {
    if (taken.*extension == AcceptanceSwitch::as_documented && documented.*extension == AcceptanceSwitch::on)
      taken.*extension = AcceptanceSwitch::on;
  }
  return taken;
}

}  // namespace detail

Acceptance Acceptance::with(Switch Acceptance::*extension, bool accepted) const {
  Acceptance copy = *this;
  copy.*extension = accepted ? Switch::on : Switch::off;
  return copy;
}

Acceptance Acceptance::with_every(Switch state) {
  Acceptance acceptance;
  for (Switch Acceptance::*const extension : detail::StrictAcceptance::all) acceptance.*extension = state;
  return acceptance;
}

Acceptance Acceptance::openai() {
  return Acceptance()
      .developer_role(true)
      .other_parts(true)
      .allowed_tools(true)
      .json_schema_without_schema(true)
      .custom_tools(true)
      .max_completion_tokens(true);
}
Acceptance Acceptance::strict() { return with_every(Switch::as_documented); }
Acceptance Acceptance::lenient() { return with_every(Switch::on); }

}  // namespace mock_gateway
