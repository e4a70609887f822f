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

/// What the control API has mounted: one document that PUT /script replaces, and the stubs of each POST /stubs. It
/// stays when the script files are read again.
class ApiLayer {
 public:
  /// Keeps stubs that were mounted for a scope; empty: for none.
  void add(const std::vector<Stub>& stubs, const std::string& scope);
  /// Mounts a document in the place of the last one. `json` is the document.
  void put(Gateway& gateway, const ScriptDocument& document, const Json& json);
  /// Keeps the operations that a document mounted, and for whom its rules of chaos are; operations of earlier ones that
  /// it takes the place of are unmounted.
  void keep(const Gateway& gateway, const LoadedScript& loaded, const std::string& scope);

  /// The document that put() mounted last; null when there is none.
  Json document() const;
  /// By what the gateway knows what that document owns; 0 when there is none.
  std::uint64_t document_owner() const;
  /// The stubs of that document, in its order.
  std::vector<Stub> document_stubs() const;
  /// Whether the stub is of this layer.
  bool has(std::uint64_t stub) const;
  /// The scope that the stub was mounted for; nothing for none.
  std::optional<std::string> scope_of(std::uint64_t stub) const;

  /// Whether the rules of chaos of this document are of that scope.
  bool chaos_is_of(std::uint64_t document, const std::string& scope) const;

  // Remove what was mounted for a scope.
  void remove_stubs(const Gateway& gateway, const std::string& scope);
  void remove_chaos(const Gateway& gateway, const std::string& scope);
  /// Forgets a stub that was removed.
  void forget_stub(std::uint64_t stub);
  /// Unmounts the operations that came from here.
  void remove_operations(const Gateway& gateway);
  /// Lets the next document mount these sections anew, since what they had mounted was cleared: "/failures". With
  /// "/stubs", the document and all stubs are forgotten.
  void forget(const std::vector<std::string>& sections);

 private:
  struct Mounted {
    Stub stub;
    std::string scope;
  };

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Mounted> stubs_;  // by id
  std::optional<LoadedScript> document_;
  std::set<std::uint64_t> document_stubs_;  // their ids
  Json json_ = nullptr;
  std::map<std::pair<std::string, std::string>, std::uint64_t> operations_;  // by method and path: their document
  std::map<std::uint64_t, std::string> chaos_;                               // by document: its scope
};

}  // namespace endpoint
}  // namespace mock_gateway
