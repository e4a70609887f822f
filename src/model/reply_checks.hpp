#pragma once

#include <cstdint>
#include <string>

#include "fault.hpp"
#include "pace.hpp"
#include "reply_data.hpp"

// Checks of what a reply can carry and what can happen to it. Their errors are GatewayError.

namespace mock_gateway::detail {
namespace reply_check {

/// Throws unless the reply is a completion; `what` names the thing it cannot carry.
void require_completion(const ReplyData& data, const char* what);
/// Returns the reply, for a setter to copy. Throws as require_completion() does.
const Reply& completion(const Reply& reply, const char* what);
/// Returns the choice that a setter changes: the last, or a new one. Throws unless the reply is a completion.
ScriptedChoice& last_choice(ReplyData& data, const char* setter);
std::string json_text_of(const Json& value, const std::string& what);
std::string arguments_text(const std::string& name, const Json& arguments);
const Json& checked_patch(const Json& patch, const char* setter);
double checked_logprob(double logprob);
std::int64_t checked_count(std::int64_t tokens, const char* what);
void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect);
/// Throws if this pace has no effect on the reply.
void require_paceable(const ReplyData& data, const Pace& pace);
/// Throws for a reply that cannot be one of several choices.
void require_part(const ReplyData& part);
/// Whether the data of an event has content for a client's user.
bool says_something(const Json& event);

}  // namespace reply_check

/// Returns why the fault can never happen in such a reply; empty if it can.
std::string why_never(const ReplyData& data, const Trigger& trigger, const Effect& effect);

// Replies with values of the request: Reply::templated. The code is in `reply_template.cpp`.

struct TemplateFacts {
  std::string last_user_text;
  const Json& body;  // of the request
  const ReceivedRequest& http;
  std::size_t call;  // number of the stub's call, from 1
  TimePoint now;
  std::uint64_t seed;
};

/// Throws GatewayError for an unknown placeholder; the message lists the known ones.
void require_template(const ReplyData& data);
/// Fills the placeholders. Throws as require_template does.
void fill_template(ReplyData& data, const TemplateFacts& facts);

}  // namespace mock_gateway::detail
