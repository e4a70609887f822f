#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Everything that clients mounted through the control API: the document of PUT /script and the stubs of each POST
/// /stubs. Reloading the script files does not change it.
class ApiLayer {
 public:
  /// Records stubs mounted for a scope; an empty scope means all requests.
  void add(const std::vector<Stub>& stubs, const std::string& scope);
  /// Mounts a document, which replaces the previous one. `json` is its source.
  void put(Gateway& gateway, const ScriptDocument& document, const Json& json);
  /// Records the operations of a document, and the scope of its chaos rules. Unmounts operations that the document
  /// replaces.
  void keep(const Gateway& gateway, const LoadedScript& loaded, const std::string& scope);

  /// The document that put() mounted last, or null.
  Json document() const;
  /// The gateway's owner ID of that document, or 0.
  std::uint64_t document_owner() const;
  std::vector<Stub> document_stubs() const;
  /// Whether this layer mounted the stub.
  bool has(std::uint64_t stub) const;
  /// The stub's scope, if it has one.
  std::optional<std::string> scope_of(std::uint64_t stub) const;

  /// Whether the chaos rules of this document belong to the scope.
  bool chaos_is_of(std::uint64_t document, const std::string& scope) const;

  // Unmount what belongs to a scope.
  void remove_stubs(const Gateway& gateway, const std::string& scope);
  void remove_chaos(const Gateway& gateway, const std::string& scope);
  void forget_stub(std::uint64_t stub);
  /// Unmounts all operations of this layer.
  void remove_operations(const Gateway& gateway);
  /// Forgets cleared sections, such as "/failures", so that the next document mounts them again. "/stubs" forgets the
  /// document and all stubs.
  void forget(const std::vector<std::string>& sections);

 private:
  struct Mounted {
    Stub stub;
    std::string scope;
  };

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Mounted> stubs_;  // by id
  std::optional<LoadedScript> document_;
  std::set<std::uint64_t> document_stubs_;  // IDs
  Json json_ = nullptr;
  std::map<std::pair<std::string, std::string>, std::uint64_t> operations_;  // (method, path) to document
  std::map<std::uint64_t, std::string> chaos_;                               // document to scope
};

}  // namespace endpoint
}  // namespace mock_gateway
