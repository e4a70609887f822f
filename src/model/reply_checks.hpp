#pragma once

#include <cstdint>
#include <string>

#include "fault.hpp"
#include "pace.hpp"
#include "reply_data.hpp"

// What a reply can carry, and what can happen to it. What cannot is a GatewayError.

namespace mock_gateway::detail {
namespace reply_check {

/// Throws GatewayError for a reply that is no completion; `what` is what it cannot carry.
void require_completion(const ReplyData& data, const char* what);
/// The choice that a setter adds to: the last. Throws GatewayError for a reply that has none.
ScriptedChoice& last_choice(ReplyData& data, const char* setter);
/// Compact JSON, or GatewayError; `what` names it.
std::string json_text_of(const Json& value, const std::string& what);
/// The arguments of a scripted call as JSON text, or GatewayError.
std::string arguments_text(const std::string& name, const Json& arguments);
/// A merge patch, or GatewayError.
const Json& checked_patch(const Json& patch, const char* setter);
double checked_logprob(double logprob);
std::int64_t checked_count(std::int64_t tokens, const char* what);
/// Throws GatewayError for a fault that can never happen.
void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect);
/// Throws GatewayError when the reply has nothing that comes at this pace.
void require_paceable(const ReplyData& data, const Pace& pace);
/// Throws GatewayError for what cannot be one of several choices.
void require_part(const ReplyData& part);
/// Whether the data of an event would reach a client's user.
bool says_something(const Json& event);

}  // namespace reply_check

/// Why the fault can never happen in such a reply; empty when it may.
std::string why_never(const ReplyData& data, const Trigger& trigger, const Effect& effect);

}  // namespace mock_gateway::detail
