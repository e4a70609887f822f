// Lines of the library on stderr: what they begin with.

#include "warning.hpp"

#include <iostream>

namespace mock_gateway {
namespace detail {

void warn(std::initializer_list<std::string_view> parts) {
  std::cerr << "mock_gateway: ";
  for (const std::string_view part : parts) std::cerr << part;
  std::cerr << '\n';
}

}  // namespace detail
}  // namespace mock_gateway
