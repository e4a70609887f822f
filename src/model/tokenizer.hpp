// The type of a tokenizer. The default tokenizer: `src/answer/tokens.cpp`.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {
/// Splits text into tokens. Their concatenation is the text, and no token ends inside a UTF-8 character. A token is one
/// unit of `max_tokens` and `usage`, and one streamed delta unless a Chunking cuts differently. May be called from
/// several threads.
using Tokenizer = std::function<std::vector<std::string>(std::string_view text)>;

}  // namespace mock_gateway
