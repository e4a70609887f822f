// The type of a tokenizer. What a token is without one: `src/answer/tokens.cpp`.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {
/// Splits text into tokens, whose concatenation is the text and none of which ends inside a UTF-8 character. One token
/// is one unit of `max_tokens` and of `usage`, and one streamed content delta unless a Chunking cuts otherwise. It may
/// be called from several threads.
using Tokenizer = std::function<std::vector<std::string>(std::string_view text)>;

}  // namespace mock_gateway
