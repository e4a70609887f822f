#pragma once

#include <memory>
#include <string>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// Returns a script that replays the answer of this exchange: same bytes, same timing, same ending. Its first member
/// warns that it contains a client's prompts and answers; it contains no secrets. Throws ControlError 404 `no_bundle`,
/// with the reason, if no script can replay the answer.
std::string bundle_of(const Control& control, const Exchange& exchange);

}  // namespace endpoint
}  // namespace mock_gateway
