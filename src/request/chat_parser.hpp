// Parses chat requests within limits; implemented in `chat_request.cpp`. The maximum of `n` is an option.

#pragma once

#include <cstdint>
#include <string_view>

#include "../model/acceptance.hpp"
#include "../model/profile.hpp"
#include "chat_request.hpp"

namespace mock_gateway::detail {

struct ChatLimits {
  std::int64_t max_n = 128;
  /// Fields that its service documents cause no finding.
  Profile profile = Profile::documented;
  Profile enforced = Profile::documented;  // the service whose rules get its 400; documented: none
};

/// Parses and validates a body. Throws RequestError with JSON path, expected and actual value.
ChatRequest parse_chat_request(std::string_view body, const Acceptance& acceptance, const ChatLimits& limits);

}  // namespace mock_gateway::detail
