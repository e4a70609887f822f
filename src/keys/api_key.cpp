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

}  // namespace mock_gateway
