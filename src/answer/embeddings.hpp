#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../request/embedding_request.hpp"
#include "tokens.hpp"

namespace mock_gateway::detail {

/// A vector of unit length for a text, as single-precision numbers. The same text always has the same vector, whatever
/// the seed. The cosine of two vectors grows with the words that the texts share, in whatever order and case: 1 for the
/// same words, at least 0.8 where they share four of five, about 0 where they share none. A number among the input's
/// tokens is a word.
std::vector<float> embedding_of(const EmbeddingInput& input, std::size_t dimensions);

/// The tokens of all inputs.
std::size_t tokens_of(const EmbeddingRequest& request, const Tokens& tokens);

/// The body of the answer: `{"object":"list","data":[…],"model","usage"}`.
std::string embeddings_body(const EmbeddingRequest& request, const Tokens& tokens);

}  // namespace mock_gateway::detail
