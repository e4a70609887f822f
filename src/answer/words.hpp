#pragma once

#include <string>

#include "../core/random.hpp"

namespace mock_gateway::detail {
namespace words {

/// Returns one common English word in lower case ASCII letters.
std::string word(Random& random);

/// Returns a readable reply: one or two sentences with 8 to 24 words in all, of printable ASCII, with capital letters
/// and full stops. The same state of `random` gives the same text on every platform.
std::string sentence_text(Random& random);

}  // namespace words
}  // namespace mock_gateway::detail
