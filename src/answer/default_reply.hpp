#pragma once

#include <atomic>
#include <cstdint>

#include "../model/reply.hpp"
#include "../request/chat_request.hpp"

namespace mock_gateway::detail {

/// What the gateway says when no stub is mounted: printable words that follow from `seed` and the choice's number;
/// a tool call when tool_choice demands one; JSON when response_format does; reasoning first when thinking is on.
/// Throws RequestError (400, `unsupported_schema`) for a schema, or a custom tool's grammar, of which no instance can
/// be promised. `stopped` ends the work on schemas, likewise, when it becomes true; null: only the work's limit does.
Reply default_reply(const ChatRequest& request, std::uint64_t seed, const std::atomic<bool>* stopped = nullptr);

/// The fingerprint of what a request asks for, whether streamed or not: equal for equal requests, whatever the order
/// of arrival. `stream` and `stream_options` do not count.
std::uint64_t content_fingerprint(const ChatRequest& request);

}  // namespace mock_gateway::detail
