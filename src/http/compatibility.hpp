#pragma once

#include "../core/version.hpp"

namespace mock_gateway::detail {

/// Throws GatewayError if parts of this program were compiled with incompatible configurations of cpp-httplib. Its
/// macros change the layout of its classes, so a mix has undefined behaviour.
void require_one_httplib();

}  // namespace mock_gateway::detail
