#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "../library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Returns a unique name for a scope's state machine or gate. Without a scope, returns the name itself.
std::string scoped_name(const std::string& scope, const std::string& name);

/// The gates of scripts. Within a scope, and outside all scopes, a name means the same gate in every document.
class Gates {
 public:
  /// Returns a lock to hold from known() to add(); otherwise two documents could create the same gate twice. Reading
  /// script files takes the same lock.
  std::unique_lock<std::mutex> naming();
  /// Returns the gates of a scope by name, for reading a document. An empty scope means the gates outside all scopes.
  std::map<std::string, Gate> known(const std::string& scope) const;
  /// Adds the gates that a document named.
  void add(const std::string& scope, const std::map<std::string, Gate>& gates);
  void forget(const std::string& scope);
  /// Resets all gates to their initial state.
  void reset();
  /// Shares the gates outside all scopes with the script files, in both directions. Call it before reading any
  /// document.
  void share(const LoadedScript& files);
  /// Returns the gates of a scope. Without a scope, returns all gates, those of scopes under their scoped names.
  std::map<std::string, Gate> all(const std::string& scope) const;

 private:
  std::mutex naming_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, Gate>> gates_;  // by scope
  std::optional<LoadedScript> files_;                         // set if there are script files
};

}  // namespace endpoint
}  // namespace mock_gateway
