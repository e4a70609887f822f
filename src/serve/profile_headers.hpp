#pragma once

#include "judgement.hpp"

namespace mock_gateway {
namespace detail {

/// Adds to the answer the headers that the profile has on every answer, except those that the answer has already. The
/// documented profile has none; OpenAI's has a request id, the time that the request took, and what is left of the
/// key's rate limit.
void add_profile_headers(Judgement& judgement);

}  // namespace detail
}  // namespace mock_gateway
