#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../request/embedding_request.hpp"
#include "tokens.hpp"

namespace mock_gateway::detail {

/// Returns a unit vector for a text, in single precision. Only the text determines it, not the seed. The cosine of two
/// vectors grows with the number of shared words, in any order and case. It is 1 for the same words, at least 0.8 for
/// four of five, about 0 without shared words. Token numbers in the input count as words.
std::vector<float> embedding_of(const EmbeddingInput& input, std::size_t dimensions);

std::size_t tokens_of(const EmbeddingRequest& request, const Tokens& tokens);

/// Returns the body of the answer: `{"object":"list","data":[…],"model","usage"}`.
std::string embeddings_body(const EmbeddingRequest& request, const Tokens& tokens);

}  // namespace mock_gateway::detail
