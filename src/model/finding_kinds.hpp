// The finding codes with their severities. Detection: `src/evidence/review.cpp`, `src/evidence/retries.cpp`,
// `request/chat_reader.cpp`.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "finding.hpp"

namespace mock_gateway::detail {
namespace finding_kinds {

/// The common properties of findings with one code. review.hpp explains each code.
struct Kind {
  const char* code;
  Severity severity;
  bool fails_review = true;

  Finding make(std::string message, std::vector<std::uint64_t> exchanges = {}) const {
    return {code, std::move(message), severity, std::move(exchanges), fails_review};
  }
};

inline constexpr Kind request_refused{"request_refused", Severity::error};
inline constexpr Kind retry_after_ignored{"retry_after_ignored", Severity::error};
inline constexpr Kind retried_final_error{"retried_final_error", Severity::error};
inline constexpr Kind retry_delay_in_body_ignored{"retry_delay_in_body_ignored", Severity::warning};
inline constexpr Kind daily_quota_retried{"daily_quota_retried", Severity::warning};
inline constexpr Kind asked_again_early{"asked_again_early", Severity::warning, false};
inline constexpr Kind retry_storm{"retry_storm", Severity::warning, false};
inline constexpr Kind no_backoff{"no_backoff", Severity::warning, false};
inline constexpr Kind gave_up{"gave_up", Severity::warning, false};
inline constexpr Kind key_used_while_limited{"key_used_while_limited", Severity::note, false};
inline constexpr Kind idempotency_key_changed{"idempotency_key_changed", Severity::warning};
inline constexpr Kind resent_after_own_timeout{"resent_after_own_timeout", Severity::warning};
inline constexpr Kind tool_call_unanswered{"tool_call_unanswered", Severity::error};
inline constexpr Kind tool_result_unknown_id{"tool_result_unknown_id", Severity::error};
inline constexpr Kind stream_left_open{"stream_left_open", Severity::error};
inline constexpr Kind stream_abandoned{"stream_abandoned", Severity::error};
inline constexpr Kind pipelined_request{"pipelined_request", Severity::warning};
inline constexpr Kind key_in_query{"key_in_query", Severity::error};
inline constexpr Kind key_in_body{"key_in_body", Severity::error};
inline constexpr Kind key_sent_to_other_origin{"key_sent_to_other_origin", Severity::error};
inline constexpr Kind key_lost_in_redirect{"key_lost_in_redirect", Severity::warning, false};
inline constexpr Kind browser_request{"browser_request", Severity::error};
inline constexpr Kind key_shared{"key_shared", Severity::warning};
inline constexpr Kind unlisted_model{"unlisted_model", Severity::note, false};
inline constexpr Kind beyond_documentation{"beyond_documentation", Severity::note, false};
inline constexpr Kind unknown_field{"unknown_field", Severity::warning};
inline constexpr Kind stop_as_string{"stop_as_string", Severity::warning};
inline constexpr Kind temperature_out_of_range{"temperature_out_of_range", Severity::warning};
inline constexpr Kind temperature_and_top_p{"temperature_and_top_p", Severity::warning};
inline constexpr Kind stream_options_without_stream{"stream_options_without_stream", Severity::warning};
inline constexpr Kind tools_empty{"tools_empty", Severity::warning, false};
inline constexpr Kind duplicate_key{"duplicate_key", Severity::warning};

/// In the order of the documentation.
inline constexpr std::array all = {request_refused,
                                   retry_after_ignored,
                                   retried_final_error,
                                   retry_delay_in_body_ignored,
                                   daily_quota_retried,
                                   asked_again_early,
                                   retry_storm,
                                   no_backoff,
                                   gave_up,
                                   key_used_while_limited,
                                   idempotency_key_changed,
                                   resent_after_own_timeout,
                                   tool_call_unanswered,
                                   tool_result_unknown_id,
                                   stream_left_open,
                                   stream_abandoned,
                                   pipelined_request,
                                   key_in_query,
                                   key_in_body,
                                   key_sent_to_other_origin,
                                   key_lost_in_redirect,
                                   browser_request,
                                   key_shared,
                                   unlisted_model,
                                   beyond_documentation,
                                   unknown_field,
                                   stop_as_string,
                                   temperature_out_of_range,
                                   temperature_and_top_p,
                                   stream_options_without_stream,
                                   tools_empty,
                                   duplicate_key};

}  // namespace finding_kinds
}  // namespace mock_gateway::detail
