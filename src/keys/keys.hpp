#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/shared.hpp"
#include "api_key.hpp"

namespace mock_gateway {
namespace detail {

class KeyStore;

}  // namespace detail

/// The keys of a gateway, as the console's page API Keys manages them. A handle: may outlive its gateway. A change
/// applies to the first request that is sent after the call returned, from any thread; a request under way completes. A
/// call with an id throws GatewayError for an unknown id, and all but find() for a deleted key too.
class Keys {
 public:
  explicit Keys(std::shared_ptr<detail::KeyStore> store);

  /// Makes a new key, whose secret is in the result and nowhere else. Throws GatewayError for a secret that cannot be
  /// one (KeyOptions::secret), and for a limit that is not positive.
  CreatedKey create(std::string description = {}, const KeyOptions& options = {}) const;
  /// Changes the description.
  void set_description(const std::string& id, std::string description) const;
  /// Disables the key: its requests get 403 from now on. Nothing happens to a disabled key.
  void disable(const std::string& id) const;
  /// The next so many of its requests, at least 1, get 403, and then it is enabled; see KeyOptions::state_for.
  void disable_for(const std::string& id, std::size_t requests) const;
  /// Enables the key: its requests are accepted again. Nothing happens to an enabled key.
  void enable(const std::string& id) const;
  /// Deletes the key: its requests get 401 from now on. It cannot come back.
  void remove(const std::string& id) const;
  /// Limits the key to these models: others get 403, and the models list omits them. An empty list: all.
  void limit_models(const std::string& id, std::vector<std::string> models) const;
  /// Limits the key to these operations: others get 403. An empty list: all.
  void limit_operations(const std::string& id, std::vector<Operation> operations) const;
  /// Limits the key to `requests` per `window`, starting afresh. Both positive, or GatewayError.
  void limit_rate(const std::string& id, std::size_t requests, Duration window) const;
  /// Ends the key's limit. Nothing happens to a key without one.
  void unlimit_rate(const std::string& id) const;
  /// Limits the key to `tokens` per `window`, starting afresh; see TokenLimit. Both positive, or GatewayError.
  void limit_tokens(const std::string& id, std::size_t tokens, Duration window) const;
  /// Ends the key's limit of tokens. Nothing happens to a key without one.
  void unlimit_tokens(const std::string& id) const;
  /// Sets a limit that all keys share, beside their own, in place of Options::limit, starting afresh. Both positive, or
  /// GatewayError.
  void limit_rate_for_all(std::size_t requests, Duration window) const;
  /// Ends the limit that all keys share.
  void unlimit_rate_for_all() const;
  /// Sets a limit of tokens that all keys share, beside their own, in place of Options::limit_tokens, starting afresh.
  /// Both positive, or GatewayError.
  void limit_tokens_for_all(std::size_t tokens, Duration window) const;
  /// Ends the limit of tokens that all keys share.
  void unlimit_tokens_for_all() const;

  /// The key with this id, a deleted one too. Throws GatewayError for an unknown id.
  ApiKey find(const std::string& id) const;
  /// Every key that is not deleted, in order of creation.
  std::vector<ApiKey> list() const;

 private:
  detail::Lasting<detail::KeyStore> store_;
};

}  // namespace mock_gateway
