// Key states and their names; the contents of a key; the settings of a new key (`KeyOptions`: secret, disabled,
// state_for, models, operations, limits, deleted_after).

#include "api_key.hpp"

#include <ostream>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"

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
  return detail::with(*this, &detail::KeyValues::secret, std::move(secret));
}
KeyOptions KeyOptions::disabled(bool disabled) const {
  return detail::with(*this, &detail::KeyValues::disabled, disabled);
}
KeyOptions KeyOptions::state_for(KeyState state, std::size_t requests) const {
  if (state == KeyState::deleted)
    throw GatewayError("this takes the states enabled and disabled; delete a key with Keys::remove");
  if (requests == 0) throw GatewayError("a state of a key lasts at least 1 request");
  KeyOptions changed = *this;
  changed.values_.steps.push_back({state, requests});
  return changed;
}
KeyOptions KeyOptions::models(std::vector<std::string> ids) const {
  return detail::with(*this, &detail::KeyValues::models, std::move(ids));
}
KeyOptions KeyOptions::operations(std::vector<Operation> operations) const {
  return detail::with(*this, &detail::KeyValues::operations, std::move(operations));
}
KeyOptions KeyOptions::limit(std::size_t requests, Duration window) const {
  return detail::with(*this, &detail::KeyValues::limit, RateLimit{requests, window});
}
KeyOptions KeyOptions::limit_tokens(std::size_t tokens, Duration window) const {
  return detail::with(*this, &detail::KeyValues::limit_tokens, TokenLimit{tokens, window});
}
KeyOptions KeyOptions::limit_concurrent(std::size_t requests) const {
  return detail::with(*this, &detail::KeyValues::limit_concurrent, requests);
}
KeyOptions KeyOptions::limit_group(std::string name) const {
  return detail::with(*this, &detail::KeyValues::limit_group, std::move(name));
}
KeyOptions KeyOptions::deleted_after(std::size_t requests) const {
  if (requests == 0) throw GatewayError("a key lasts at least 1 request; to refuse all requests, disable the key");
  return detail::with(*this, &detail::KeyValues::deleted_after_requests, requests);
}
KeyOptions KeyOptions::deleted_after(Duration time) const {
  if (time <= Duration::zero()) throw GatewayError("a key must last longer than 0; to refuse all requests, disable it");
  return detail::with(*this, &detail::KeyValues::deleted_after_time, time);
}

}  // namespace mock_gateway
