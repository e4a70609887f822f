#pragma once

#include <initializer_list>
#include <string_view>

#include "version.hpp"

namespace mock_gateway::detail {

/// Writes `mock_gateway: `, the parts and a line end to stderr. Allocates nothing, for when memory is exhausted.
void warn(std::initializer_list<std::string_view> parts);

}  // namespace mock_gateway::detail
