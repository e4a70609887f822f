#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "script.hpp"

namespace mock_gateway::detail {

/// A finder of stubs that never answer. A stub hides a later one if it always answers, has no lower priority, and all
/// of its matchers are among those of the later stub. Sets of matchers are paths of a tree, so a lookup does not
/// compare a stub with every other.
class HidingStubs {
 public:
  /// Adds a stub that is evaluated after all earlier ones. Returns the index, from 0, of the first stub that hides it;
  /// empty if there is none.
  std::optional<std::size_t> add(const StubPlan& plan);

 private:
  /// The comparison of a matcher, as a number.
  using Term = std::uint32_t;
  struct Hider {
    std::size_t number;
    int priority;
  };
  struct Node {
    /// The first stub in this subtree.
    std::size_t first;
    bool has_children = false;
    /// The stubs with the matchers of this path, each with a higher priority than those before it.
    std::vector<Hider> hiders = {};
  };

  std::vector<Term> terms_of(const StubPlan& plan);
  /// Searches for stubs whose matchers are the path to a node and any of the terms from `next` on.
  void look(std::size_t node, const std::vector<Term>& terms, std::size_t next, int priority, std::size_t& found) const;
  void put(const std::vector<Term>& terms, int priority);

  std::unordered_map<std::string, Term> terms_;
  std::unordered_map<std::uint64_t, std::size_t> children_;  // keyed by node and term
  std::vector<Node> nodes_;
  std::size_t added_ = 0;
};

}  // namespace mock_gateway::detail
