#pragma once

#include <optional>

#include "judgement.hpp"

namespace mock_gateway {
namespace detail {

/// Makes the answer to a request: runs the documented checks in their order, of which the first that answers decides,
/// and then the operation that the request asks for. What takes part of the test's (forced failures, rate limits, a
/// stub's sequence) counts the request. Runs the tester's functions; what they throw is answered.
void judge(Judgement& judgement);

/// Why a request is refused whatever its body holds, if it is, for its key, its path, its method or the type of its
/// body. Counts nothing, and runs nothing of the test's.
std::optional<Failure> refusal_of_head(const GatewayState& gateway, const IncomingRequest& head);

}  // namespace detail
}  // namespace mock_gateway
