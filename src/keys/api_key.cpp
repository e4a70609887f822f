// Names of key states; what a key holds; how one starts (`KeyOptions`: secret, disabled, models, operations, limit).

#include "api_key.hpp"

#include <ostream>
#include <utility>

#include "../core/access.hpp"

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

KeyOptions KeyOptions::secret(std::string secret) const {
  return detail::with(*this, &KeyOptions::secret_, std::move(secret));
}
KeyOptions KeyOptions::disabled(bool disabled) const { return detail::with(*this, &KeyOptions::disabled_, disabled); }
KeyOptions KeyOptions::models(std::vector<std::string> ids) const {
  return detail::with(*this, &KeyOptions::models_, std::move(ids));
}
KeyOptions KeyOptions::operations(std::vector<Operation> operations) const {
  return detail::with(*this, &KeyOptions::operations_, std::move(operations));
}
KeyOptions KeyOptions::limit(std::size_t requests, Duration window) const {
  return detail::with(*this, &KeyOptions::limit_, RateLimit{requests, window});
}

}  // namespace mock_gateway
