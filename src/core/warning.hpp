#pragma once

#include <initializer_list>
#include <string_view>

#include "version.hpp"

namespace mock_gateway::detail {

/// Writes `mock_gateway: `, the parts one after the other and a line end to standard error. Needs no memory, so that it
/// can say that there is none.
void warn(std::initializer_list<std::string_view> parts);

}  // namespace mock_gateway::detail
