#pragma once

#include <atomic>
#include <cstdint>

#include "../model/reply.hpp"
#include "../request/chat_request.hpp"

namespace mock_gateway::detail {

/// Makes the reply if no stub is mounted: printable words that depend on `seed` and the choice's number. Adds reasoning
/// if thinking is on. Makes tool calls or JSON if tool_choice or response_format demand them. Throws RequestError (400,
/// `unsupported_schema`) for a schema or a custom tool's grammar without a guaranteed instance. Setting `stopped` ends
/// the work on schemas with the same error; null: only the work limit does.
Reply default_reply(const ChatRequest& request, std::uint64_t seed, const std::atomic<bool>* stopped = nullptr);

/// Returns a fingerprint of the request's content. Ignores `stream`, `stream_options` and the order of arrival.
std::uint64_t content_fingerprint(const ChatRequest& request);

}  // namespace mock_gateway::detail
