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

/// Returns a text with everything that the matcher compares. Matchers with equal texts match the same requests.
std::string identity_of(const Matcher& matcher);

/// Finds the stubs that never answer. A stub hides a later one if it always answers, has at least the same priority,
/// and has no matcher that the later stub lacks. A trie has the sorted matchers of each stub as a path, so that
/// not all pairs of stubs are compared.
class HidingStubs {
 public:
  /// Adds a stub that is tried after all earlier ones. Returns the index of the first stub that hides it, if any.
  std::optional<std::size_t> add(const StubPlan& plan);

 private:
  using Term = std::uint32_t;
  struct Hider {
    std::size_t number;
    int priority;
  };
  struct Node {
    std::size_t first;  // the number of the first stub at or below this node
    bool has_children = false;
    /// The stubs at this node that can hide others. Each has a higher priority than the previous one.
    std::vector<Hider> hiders = {};
  };

  std::vector<Term> terms_of(const StubPlan& plan);
  /// Lowers `found` to the first stub that needs the terms on the path to `node` and only others from `next` on.
  void search(std::size_t node, const std::vector<Term>& terms, std::size_t next, int priority,
              std::size_t& found) const;
  void insert(const std::vector<Term>& terms, int priority);

  std::unordered_map<std::string, Term> terms_;
  std::unordered_map<std::uint64_t, std::size_t> children_;  // keyed by node and term
  std::vector<Node> nodes_;
  std::size_t added_ = 0;
};

}  // namespace mock_gateway::detail
