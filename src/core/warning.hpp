// Warnings of the library on stderr, and their prefix.

#pragma once

#include <initializer_list>
#include <iostream>
#include <string_view>

#include "version.hpp"

namespace mock_gateway::detail {

/// Writes `mock_gateway: `, the parts and a line end to stderr. Allocates nothing, for when memory is exhausted.
inline void warn(std::initializer_list<std::string_view> parts) {
  std::cerr << "mock_gateway: ";
  for (const std::string_view part : parts) std::cerr << part;
  std::cerr << '\n';
}

}  // namespace mock_gateway::detail
