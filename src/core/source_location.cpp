// A position in a test as shown in reports: "agent_test.cpp:41".

#include "source_location.hpp"

#include <string_view>

namespace mock_gateway {

std::string SourceLocation::to_string() const {
  const std::string_view path = file;
  if (path.empty()) return {};
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::string(name) + ":" + std::to_string(line);
}

}  // namespace mock_gateway
