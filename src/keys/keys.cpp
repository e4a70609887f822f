// The functions of `gateway.keys()`; they call `key_store.cpp`.

#include "keys.hpp"

#include <optional>

#include "../core/access.hpp"
#include "key_store.hpp"

namespace mock_gateway {

Keys::Keys(std::shared_ptr<detail::KeyStore> store) : store_(std::move(store)) {}

ApiKey Keys::find(const std::string& id) const { return store_->find(id); }
std::vector<ApiKey> Keys::list() const { return store_->list(); }

CreatedKey Keys::create(std::string description, const KeyOptions& options) const {
  return store_->create(std::move(description), detail::Access::values(options));
}

void Keys::set_description(const std::string& id, std::string description) const {
  store_->set_description(id, std::move(description));
}

void Keys::disable(const std::string& id) const { store_->set_state(id, KeyState::disabled); }

void Keys::disable_for(const std::string& id, std::size_t requests) const {
  const KeyOptions steps = KeyOptions().state_for(KeyState::disabled, requests);
  store_->set_state(id, KeyState::enabled, detail::Access::values(steps).steps);
}

void Keys::enable(const std::string& id) const { store_->set_state(id, KeyState::enabled); }

void Keys::remove(const std::string& id) const { store_->set_state(id, KeyState::deleted); }

void Keys::limit_models(const std::string& id, std::vector<std::string> models) const {
  store_->set_models(id, std::move(models));
}

void Keys::limit_operations(const std::string& id, std::vector<Operation> operations) const {
  store_->set_operations(id, std::move(operations));
}

void Keys::limit_rate(const std::string& id, std::size_t requests, Duration window) const {
  store_->set_limit(&id, RateLimit{requests, window});
}

void Keys::unlimit_rate(const std::string& id) const { store_->set_limit(&id, std::optional<RateLimit>()); }

void Keys::limit_rate_for_all(std::size_t requests, Duration window) const {
  store_->set_limit(nullptr, RateLimit{requests, window});
}

void Keys::unlimit_rate_for_all() const { store_->set_limit(nullptr, std::optional<RateLimit>()); }

void Keys::limit_tokens(const std::string& id, std::size_t tokens, Duration window) const {
  store_->set_limit(&id, TokenLimit{tokens, window});
}

void Keys::unlimit_tokens(const std::string& id) const { store_->set_limit(&id, std::optional<TokenLimit>()); }

void Keys::limit_tokens_for_all(std::size_t tokens, Duration window) const {
  store_->set_limit(nullptr, TokenLimit{tokens, window});
}

void Keys::unlimit_tokens_for_all() const { store_->set_limit(nullptr, std::optional<TokenLimit>()); }

void Keys::limit_concurrent(const std::string& id, std::size_t requests) const {
  store_->set_limit(&id, std::optional(requests));
}

void Keys::unlimit_concurrent(const std::string& id) const { store_->set_limit(&id, std::optional<std::size_t>()); }

void Keys::limit_concurrent_for_all(std::size_t requests) const { store_->set_limit(nullptr, std::optional(requests)); }

void Keys::unlimit_concurrent_for_all() const { store_->set_limit(nullptr, std::optional<std::size_t>()); }

}  // namespace mock_gateway
