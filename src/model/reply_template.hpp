#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/clock.hpp"
#include "../core/json.hpp"
#include "received_request.hpp"
#include "reply_data.hpp"

// Replies with values of the request: Reply::templated.

namespace mock_gateway::detail {

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
