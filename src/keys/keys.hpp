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

/// The keys of a gateway, as the console page API Keys manages them. A handle that may outlive its gateway. A change
/// applies to requests sent after the call returns, from any thread; requests under way complete. Functions with an id
/// also take a description that only one key has; keys that are not deleted come first. They throw GatewayError for an
/// unknown id, an ambiguous description and, except find(), for a deleted key.
class Keys {
 public:
  explicit Keys(std::shared_ptr<detail::KeyStore> store);

  /// Creates a key and returns its secret, which cannot be read later. Throws GatewayError for invalid options.
  CreatedKey create(std::string description = {}, const KeyOptions& options = {}) const;
  void set_description(const std::string& id, std::string description) const;
  /// Disables the key: its requests get 403 from now on. No effect on a disabled key.
  void disable(const std::string& id) const;
  /// Disables the key for its next `requests` requests, at least 1, which get 403; afterwards it is enabled.
  void disable_for(const std::string& id, std::size_t requests) const;
  /// Enables the key: its requests are accepted again. No effect on an enabled key.
  void enable(const std::string& id) const;
  /// Deletes the key: its requests get 401 from now on. This is final.
  void remove(const std::string& id) const;
  /// Limits the key to these models: other models get 403 and are missing from the models list. An empty list: all.
  void limit_models(const std::string& id, std::vector<std::string> models) const;
  /// Limits the key to these operations: other operations get 403. An empty list: all.
  void limit_operations(const std::string& id, std::vector<Operation> operations) const;
  /// Limits the key to `requests` per `window`, both positive, and restarts the count.
  void limit_rate(const std::string& id, std::size_t requests, Duration window) const;
  void unlimit_rate(const std::string& id) const;
  /// Limits the key to `tokens` per `window`, both positive, and restarts the count; see TokenLimit.
  void limit_tokens(const std::string& id, std::size_t tokens, Duration window) const;
  void unlimit_tokens(const std::string& id) const;
  /// Limits the key to `requests` at a time, at least 1. Requests that began without a limit do not count.
  void limit_concurrent(const std::string& id, std::size_t requests) const;
  void unlimit_concurrent(const std::string& id) const;
  /// Limits all keys together, besides their own limits; both are positive. Replaces Options::limit and its count.
  void limit_rate_for_all(std::size_t requests, Duration window) const;
  void unlimit_rate_for_all() const;
  /// Limits the tokens of all keys together, in the same way. Replaces Options::limit_tokens and its count.
  void limit_tokens_for_all(std::size_t tokens, Duration window) const;
  void unlimit_tokens_for_all() const;
  /// Limits the requests of all keys at a time, in the same way. Replaces Options::limit_concurrent.
  void limit_concurrent_for_all(std::size_t requests) const;
  void unlimit_concurrent_for_all() const;

  /// Returns the key with this id, even if deleted.
  ApiKey find(const std::string& id) const;
  /// Returns all keys that are not deleted, in order of creation.
  std::vector<ApiKey> list() const;

 private:
  detail::HandlePointer<detail::KeyStore> store_;
};

}  // namespace mock_gateway
