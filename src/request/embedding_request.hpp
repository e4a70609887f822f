#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../model/acceptance.hpp"
#include "../model/finding.hpp"

namespace mock_gateway::detail {

/// A text of a request, or its tokens.
struct EmbeddingInput {
  std::optional<std::string> text;
  std::vector<std::int64_t> tokens;
};

/// A request for embeddings, as OpenAI documents it.
struct EmbeddingRequest {
  std::string model;
  std::vector<EmbeddingInput> inputs;
  std::size_t dimensions = 1536;
  bool base64 = false;
  std::vector<Finding> findings;
};

/// Parses and validates a body. Throws RequestError with JSON path, expected and actual value.
EmbeddingRequest parse_embedding_request(std::string_view body, const Acceptance& acceptance);

}  // namespace mock_gateway::detail
