#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "../library.hpp"

namespace mock_gateway {

namespace endpoint {

/// The gates that scripts name. Within a scope, and outside of every scope, a name is one gate, whichever document
/// names it.
class Gates {
 public:
  /// Whoever reads a document holds this from known() until add(): else two that name one new gate at a time would have
  /// two. Script files are read under the same lock.
  std::unique_lock<std::mutex> naming();
  /// The gates of a scope by their names, for a document that is about to be read; empty: those outside of every scope.
  std::map<std::string, Gate> known(const std::string& scope) const;
  /// Keeps the gates that a document named.
  void add(const std::string& scope, const std::map<std::string, Gate>& gates);
  /// Forgets those of a scope.
  void forget(const std::string& scope);
  /// Makes all of them as they were made.
  void reset();
  /// From now on the gates outside of every scope are those of the script files too, in both directions. To be called
  /// before any document is read.
  void share(const LoadedScript& files);
  /// Those of a scope; without one all of them, with those of scopes by their scoped names.
  std::map<std::string, Gate> all(const std::string& scope) const;

 private:
  std::mutex naming_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, Gate>> gates_;  // by scope
  std::optional<LoadedScript> files_;                         // nothing without script files
};

}  // namespace endpoint
}  // namespace mock_gateway
