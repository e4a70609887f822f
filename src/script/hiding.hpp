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

/// Finds the stubs that never answer. A stub hides a later one when it always answers, has no lower priority, and each
/// of its matchers is one of the later stub's. The sets of matchers are the paths of a tree, so that a
/// stub is looked up by its own matchers, not by comparing it with every other.
class HidingStubs {
 public:
  /// Adds a stub that is asked after all that were added before. Returns the number, from 0, of the first of those that
  /// hides it; nothing when none does.
  std::optional<std::size_t> add(const StubPlan& plan);

 private:
  /// What a matcher compares, as a number.
  using Term = std::uint32_t;
  struct Hider {
    std::size_t number;
    int priority;
  };
  struct Node {
    /// The first stub in this part of the tree.
    std::size_t first;
    bool has_children = false;
    /// The stubs whose matchers are the path to here: only those with a higher priority than the ones before them.
    std::vector<Hider> hiders = {};
  };

  std::vector<Term> terms_of(const StubPlan& plan);
  /// Looks for stubs whose matchers are the path to a node and some of the terms from `next` on.
  void look(std::size_t node, const std::vector<Term>& terms, std::size_t next, int priority, std::size_t& found) const;
  void put(const std::vector<Term>& terms, int priority);

  std::unordered_map<std::string, Term> terms_;
  std::unordered_map<std::uint64_t, std::size_t> children_;  // by node and term
  std::vector<Node> nodes_;
  std::size_t added_ = 0;
};

}  // namespace mock_gateway::detail
