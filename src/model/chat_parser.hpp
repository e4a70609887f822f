#pragma once

#include <cstdint>
#include <string_view>

#include "acceptance.hpp"
#include "chat_request.hpp"

namespace mock_gateway {
namespace detail {

struct ChatLimits {
  /// Largest `n` accepted.
  std::int64_t max_n = 128;
  /// Whether the service is OpenAI: a temperature outside 0 to 2 is rejected, elsewhere it is a finding; what OpenAI
  /// documents is no finding; and content parts have the shapes that OpenAI documents.
  bool openai = false;
};

/// Parses and validates a body. Throws RequestError, whose failure names JSON path, expected and actual.
ChatRequest parse_chat_request(std::string_view body, const Acceptance& acceptance, const ChatLimits& limits);

}  // namespace detail

}  // namespace mock_gateway
