// Names of key states; what a key holds; how one starts (`KeyOptions`: secret, disabled, models, operations, limit).

#include "api_key.hpp"

#include <ostream>
#include <utility>

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

KeyOptions KeyOptions::secret(std::string secret) const {
  KeyOptions copy = *this;
  copy.secret_ = std::move(secret);
  return copy;
}
KeyOptions KeyOptions::disabled(bool disabled) const {
  KeyOptions copy = *this;
  copy.disabled_ = disabled;
  return copy;
}
KeyOptions KeyOptions::models(std::vector<std::string> ids) const {
  KeyOptions copy = *this;
  copy.models_ = std::move(ids);
  return copy;
}
KeyOptions KeyOptions::operations(std::vector<Operation> operations) const {
  KeyOptions copy = *this;
  copy.operations_ = std::move(operations);
  return copy;
}
KeyOptions KeyOptions::limit(std::size_t requests, Duration window) const {
  KeyOptions copy = *this;
  copy.limit_ = RateLimit{requests, window};
  return copy;
}

}  // namespace mock_gateway
