#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../answer/bodies.hpp"
#include "../script/script.hpp"

namespace mock_gateway::detail {

/// The models that requests may name, and the listed ones. Thread-safe.
class ServedModels {
 public:
  /// Limits on the number and length of listed ids from requests, to bound the memory.
  static constexpr std::size_t most_asked = 1000;
  static constexpr std::size_t longest_asked = 256;

  /// `any`: serve every id, including ids not in `given`.
  ServedModels(std::vector<wire::Model> given, bool any, const Script& script);

  bool any() const { return any_; }
  const std::vector<wire::Model>& given() const { return given_; }
  std::optional<wire::Model> find(const std::string& id) const;
  std::optional<std::size_t> context_window(const std::string& id) const;
  /// Returns the given models; if every id is served, also those that stubs name, in order, and requested ones.
  std::vector<wire::Model> listed() const;
  /// Whether it is a given model or a stub names it.
  bool is_named(const std::string& id) const;
  void ask(const std::string& id);
  void forget_asked();

 private:
  /// The caller holds the mutex.
  const std::vector<std::string>& named() const;

  const std::vector<wire::Model> given_;
  const bool any_;
  const Script& script_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  /// A cache of the models named by stubs, with the script's change count at that time.
  mutable std::optional<std::uint64_t> named_at_;
  mutable std::vector<std::string> named_;
};

}  // namespace mock_gateway::detail
