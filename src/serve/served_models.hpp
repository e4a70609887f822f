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

/// The models that requests may name, and those that the list of models has. Thread-safe.
class ServedModels {
 public:
  /// How many ids that requests asked for are listed, and how long one may be: requests must not fill the memory.
  static constexpr std::size_t most_asked = 1000;
  static constexpr std::size_t longest_asked = 256;

  /// `any`: every id is served, whether or not it is given.
  ServedModels(std::vector<wire::Model> given, bool any, const Script& script);

  bool any() const { return any_; }
  const std::vector<wire::Model>& given() const { return given_; }
  /// Nothing when no request for it is served.
  std::optional<wire::Model> find(const std::string& id) const;
  /// Those that were given; where any is served, then those that stubs name, in the order in which these were mounted,
  /// and those that requests asked for.
  std::vector<wire::Model> listed() const;
  /// Whether it was given, or a stub names it.
  bool is_named(const std::string& id) const;
  /// A request has asked for it.
  void ask(const std::string& id);
  void forget_asked();

 private:
  /// Expects the mutex to be held.
  const std::vector<std::string>& named() const;

  const std::vector<wire::Model> given_;
  const bool any_;
  const Script& script_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  /// What stubs name, and how often the script had changed then.
  mutable std::optional<std::uint64_t> named_at_;
  mutable std::vector<std::string> named_;
};

}  // namespace mock_gateway::detail
