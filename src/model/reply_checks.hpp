#pragma once

#include <cstdint>
#include <string>

#include "fault.hpp"
#include "pace.hpp"
#include "reply_data.hpp"

// Checks of what a reply can carry and what can happen to it.

namespace mock_gateway::detail {
namespace reply_check {

/// Throws GatewayError unless the reply is a completion; `what` names the thing it cannot carry.
void require_completion(const ReplyData& data, const char* what);
/// Returns the choice that a setter changes: the last. Throws GatewayError if the reply has no choices.
ScriptedChoice& last_choice(ReplyData& data, const char* setter);
/// Returns compact JSON. Throws GatewayError if it is invalid; `what` names it.
std::string json_text_of(const Json& value, const std::string& what);
/// Returns the arguments of a scripted call as JSON text. Throws GatewayError if they are invalid.
std::string arguments_text(const std::string& name, const Json& arguments);
/// Returns the patch. Throws GatewayError if it is no merge patch.
const Json& checked_patch(const Json& patch, const char* setter);
double checked_logprob(double logprob);
std::int64_t checked_count(std::int64_t tokens, const char* what);
/// Throws GatewayError for a fault that can never happen.
void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect);
/// Throws GatewayError if this pace has no effect on the reply.
void require_paceable(const ReplyData& data, const Pace& pace);
/// Throws GatewayError for a reply that cannot be one of several choices.
void require_part(const ReplyData& part);
/// Whether the data of an event has content for a client's user.
bool says_something(const Json& event);

}  // namespace reply_check

/// Returns why the fault can never happen in such a reply; empty if it can.
std::string why_never(const ReplyData& data, const Trigger& trigger, const Effect& effect);

}  // namespace mock_gateway::detail
