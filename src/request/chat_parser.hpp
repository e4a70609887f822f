// What parsing is called with; its code is in `chat_request.cpp`. The largest `n` is an option.

#pragma once

#include <cstdint>
#include <string_view>

#include "../model/acceptance.hpp"
#include "../model/profile.hpp"
#include "chat_request.hpp"

namespace mock_gateway::detail {

struct ChatLimits {
  /// Largest `n` accepted.
  std::int64_t max_n = 128;
  /// Whose requests they are: what the profile's service documents is no finding.
  Profile profile = Profile::documented;
};

/// Parses and validates a body. Throws RequestError, whose failure names JSON path, expected and actual.
ChatRequest parse_chat_request(std::string_view body, const Acceptance& acceptance, const ChatLimits& limits);

}  // namespace mock_gateway::detail
