// Warnings of the library on stderr, and their prefix.

#include "warning.hpp"

#include <iostream>

namespace mock_gateway::detail {

void warn(std::initializer_list<std::string_view> parts) {
  std::cerr << "mock_gateway: ";
  for (const std::string_view part : parts) std::cerr << part;
  std::cerr << '\n';
}

}  // namespace mock_gateway::detail
