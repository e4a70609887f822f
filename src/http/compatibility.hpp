#pragma once

#include "../core/version.hpp"

namespace mock_gateway::detail {

/// Throws GatewayError when files of this program were compiled with configurations of cpp-httplib that do not fit
/// together. Its macros change the layout of its classes, so that such a program works by luck or not at all.
void require_one_httplib();

}  // namespace mock_gateway::detail
