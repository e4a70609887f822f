#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../answer/occurrences.hpp"
#include "../core/access.hpp"
#include "../core/change_count.hpp"
#include "../core/shared.hpp"
#include "../model/fault.hpp"
#include "chaos.hpp"
#include "chaos_plan.hpp"
#include "matcher.hpp"

namespace mock_gateway::detail {

/// The rules of one gateway, in the order written. Thread-safe; no lock is held while matchers run.
class ChaosRules {
 public:
  explicit ChaosRules(std::uint64_t seed) : seed_(seed) {}

  /// `owner` is the script document that it came from; 0: none.
  void add(const Chaos& chaos, std::uint64_t owner = 0) { add(std::vector<Chaos>{chaos}, owner); }
  /// The same for several, in their order.
  void add(const std::vector<Chaos>& several, std::uint64_t owner);
  /// The next rule is number 1 again, and counts anew.
  void clear();
  void clear_of(std::uint64_t owner);
  /// Clears them, and forgets that there were any.
  void reset();

  /// Whether there are any: one load, which is all that a gateway without chaos pays.
  bool any() const { return count_ != 0; }
  std::size_t count() const { return count_; }
  /// Whether there were any since the last reset.
  bool used() const { return used_; }
  /// How often rules were added or cleared.
  const ChangeCount& changes() const { return changes_; }
  std::uint64_t seed() const { return seed_; }

  struct Rule {
    Rule(Chaos rule, std::size_t index, std::uint64_t its_owner)
        : chaos(std::move(rule)), number(index), owner(its_owner) {}

    Chaos chaos;
    std::size_t number;                 // from 1
    std::uint64_t owner;                // the script document that it came from; 0: none
    mutable Occurrences occurrences{};  // of each request that it matches
  };
  using Rules = std::vector<std::shared_ptr<const Rule>>;
  /// The rules in the order written.
  std::shared_ptr<const Rules> rules() const;

  /// A rule that strikes a request.
  struct Hit {
    std::shared_ptr<const Rule> rule;
    /// The fault that strikes, its trigger drawn.
    std::optional<Fault> fault;
    /// `rule 2: reset the connection after 2 tokens (probability 0.1, seed 1, occurrence 3)`.
    std::string text;

    const ChaosPlan& plan() const { return Access::data(rule->chaos); }
  };
  /// The matcher that is being asked, for whoever catches what it throws.
  struct MatcherInProgress {
    std::shared_ptr<const Rules> rules;
    const Rule* rule = nullptr;
    const Matcher* matcher = nullptr;
  };
  /// Those that strike, in order; a failure is the last. Every rule that matches counts the request, also behind a
  /// failure. Lets a matcher's exception pass. `request` is the fingerprint of what was asked.
  std::vector<Hit> decide(const ChatCall& call, std::uint64_t request, MatcherInProgress& in_progress) const;

 private:
  /// A rule that matches a request, and how often it has matched such a one by now.
  struct Matching {
    const std::shared_ptr<const Rule>* rule;
    std::uint64_t occurrence;
  };
  std::optional<Hit> strike(const std::shared_ptr<const Rule>& rule, std::uint64_t request,
                            std::uint64_t occurrence) const;

  std::uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::mutex counting_;  // held while all rules count one request
  // Replaced whole, never changed: a request keeps the one it began with.
  std::shared_ptr<const Rules> rules_ = share<Rules>();
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> used_{false};
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
