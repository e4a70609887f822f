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

/// The rules of one gateway, in the order added. Thread-safe; no lock is held while matchers run.
class ChaosRules {
 public:
  explicit ChaosRules(std::uint64_t seed) : seed_(seed) {}

  /// `owner` is the number of its script document; 0: none.
  void add(const Chaos& chaos, std::uint64_t owner = 0) { add(std::vector<Chaos>{chaos}, owner); }
  void add(const std::vector<Chaos>& several, std::uint64_t owner);
  /// Removes all rules; the next one is number 1 and counts from 0.
  void clear();
  void clear_of(std::uint64_t owner);
  void reset();

  /// Whether there are rules. Without rules, chaos costs only this atomic load.
  bool any() const { return count_ != 0; }
  std::size_t count() const { return count_; }
  bool used() const { return used_; }
  const ChangeCount& changes() const { return changes_; }
  std::uint64_t seed() const { return seed_; }

  struct Rule {
    Rule(Chaos rule, std::size_t index, std::uint64_t its_owner)
        : chaos(std::move(rule)), number(index), owner(its_owner) {}

    Chaos chaos;
    std::size_t number;   // from 1
    std::uint64_t owner;  // the number of its script document; 0: none
    mutable Occurrences occurrences{};
  };
  using Rules = std::vector<std::shared_ptr<const Rule>>;
  std::shared_ptr<const Rules> rules() const;

  struct Hit {
    std::shared_ptr<const Rule> rule;
    std::optional<Fault> fault;
    /// `rule 2: reset the connection after 2 tokens (probability 0.1, seed 1, occurrence 3)`.
    std::string text;

    const ChaosPlan& plan() const { return Access::data(rule->chaos); }
  };
  /// The matcher that is running, for error reports if it throws.
  struct MatcherInProgress {
    std::shared_ptr<const Rules> rules;
    const Rule* rule = nullptr;
    const Matcher* matcher = nullptr;
  };
  /// Returns the rules that strike, in order, up to the first failure. Every matching rule counts the request, even
  /// after a failure. Lets exceptions of matchers pass. `request` is the request's fingerprint.
  std::vector<Hit> decide(const ChatCall& call, std::uint64_t request, MatcherInProgress& in_progress) const;

 private:
  struct Matching {
    const std::shared_ptr<const Rule>* rule;
    std::uint64_t occurrence;
  };
  std::optional<Hit> strike(const std::shared_ptr<const Rule>& rule, std::uint64_t request,
                            std::uint64_t occurrence) const;

  std::uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::mutex counting_;  // held while all rules count one request
  // Replaced as a whole, never changed: a request keeps the version it began with.
  std::shared_ptr<const Rules> rules_ = share<Rules>();
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> used_{false};
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
