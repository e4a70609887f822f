#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../library.hpp"

namespace mock_gateway {
namespace endpoint {

/// A test of several that share the gateway: it has a key of its own, whose id is the scope's id.
struct Scope {
  std::string id;
  std::string name;
};

/// The name of a state machine or a gate inside a scope: no other scope has the same. Without a scope, the name itself.
std::string scoped_name(const std::string& scope, const std::string& name);

/// The scopes that the control API has made and not ended.
class Scopes {
 public:
  void add(Scope scope);
  /// Returns whether there was one.
  bool remove(const std::string& id);
  std::optional<Scope> find(const std::string& id) const;
  /// The scopes in order of creation.
  std::vector<Scope> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Scope> scopes_;
};

}  // namespace endpoint
}  // namespace mock_gateway
