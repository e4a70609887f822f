#pragma once

#include <cstdint>

#include "judgement.hpp"

namespace mock_gateway {
namespace detail {

/// Makes the answer to a chat request that has passed the checks of every request. Checks in the documented order:
/// content type, body, model, failures forced for the model; then chaos and the script answer. Throws RequestError for
/// a body that is to be refused, and for a schema or grammar of which the default reply can make no instance.
void judge_chat(Judgement& judgement);

/// Tells apart what chat requests ask for, and gateways of different seeds.
std::uint64_t fingerprint_of(const GatewayState& gateway, const ChatRequest& chat);

}  // namespace detail
}  // namespace mock_gateway
