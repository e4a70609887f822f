#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/clock.hpp"
#include "../core/json.hpp"
#include "received_request.hpp"
#include "reply_data.hpp"

// Replies that quote the request: Reply::templated.

namespace mock_gateway::detail {

/// What the places of a template stand for.
struct TemplateFacts {
  std::string last_user_text;
  const Json& body;  // of the request
  const ReceivedRequest& http;
  std::size_t call;  // of the stub, from 1
  TimePoint now;
  std::uint64_t seed;
};

/// Throws GatewayError for a `{{` that begins none of the places, with what they are.
void require_template(const ReplyData& data);
/// Puts the values in their places. Throws as require_template.
void fill_template(ReplyData& data, const TemplateFacts& facts);

}  // namespace mock_gateway::detail
