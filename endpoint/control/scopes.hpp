#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../library.hpp"

namespace mock_gateway {
namespace endpoint {

/// One of several tests that share the gateway. Its own key has the same ID as the scope.
struct Scope {
  std::string id;
  std::string name;
};

/// Returns a unique name for a scope's state machine or gate. Without a scope, returns the name itself.
std::string scoped_name(const std::string& scope, const std::string& name);

/// The active scopes of the control API.
class Scopes {
 public:
  void add(Scope scope);
  /// Returns whether the scope existed.
  bool remove(const std::string& id);
  std::optional<Scope> find(const std::string& id) const;
  std::vector<Scope> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Scope> scopes_;
};

}  // namespace endpoint
}  // namespace mock_gateway
