#include "api_key.hpp"

#include <ostream>

namespace mock_gateway {

std::string to_string(KeyState state) {
  switch (state) {
    case KeyState::enabled: return "enabled";
    case KeyState::disabled: return "disabled";
    case KeyState::deleted: return "deleted";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, KeyState state) { return out << to_string(state); }

ApiKey::ApiKey() = default;
ApiKey::ApiKey(const ApiKey&) = default;
ApiKey::ApiKey(ApiKey&&) noexcept = default;
ApiKey& ApiKey::operator=(const ApiKey&) = default;
ApiKey& ApiKey::operator=(ApiKey&&) noexcept = default;
ApiKey::~ApiKey() = default;

}  // namespace mock_gateway
