#include "api_key.hpp"

#include <ostream>

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

MOCK_GATEWAY_INLINE std::string to_string(KeyState state) {
  switch (state) {
    case KeyState::enabled: return "enabled";
    case KeyState::disabled: return "disabled";
    case KeyState::deleted: return "deleted";
  }
  return "unknown";
}

MOCK_GATEWAY_INLINE std::ostream& operator<<(std::ostream& out, KeyState state) { return out << to_string(state); }

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
