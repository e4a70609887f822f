// The rules that strike a request: draws, counts, the text of a strike.

#include "chaos_rules.hpp"

#include <utility>

#include "../core/access.hpp"
#include "../core/random.hpp"
#include "../core/shared.hpp"
#include "chaos_plan.hpp"
#include "matcher_node.hpp"

namespace mock_gateway::detail {

void ChaosRules::add(const std::vector<Chaos>& several, std::uint64_t owner) {
  for (const Chaos& chaos : several) static_cast<void>(Access::data(chaos));  // throws if one was moved from
  if (several.empty()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  auto rules = share<Rules>(*rules_);
  for (const Chaos& chaos : several)
    rules->push_back(share<const Rule>(chaos, rules->empty() ? 1 : rules->back()->number + 1, owner));
  rules_ = std::move(rules);
  count_ = rules_->size();
  used_ = true;
  for (const Chaos& chaos : several) changes_.note_for(only_key(scopes_of(Access::data(chaos).matchers)));
}

void ChaosRules::clear_of(std::uint64_t owner) {
  std::shared_ptr<const Rules> out;  // freed after the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  auto rules = share<Rules>();
  for (const auto& rule : *rules_) {
    if (rule->owner == owner)
      changes_.note_for(only_key(scopes_of(Access::data(rule->chaos).matchers)));
    else
      rules->push_back(rule);
  }
  out = std::exchange(rules_, std::move(rules));
  count_ = rules_->size();
}

void ChaosRules::clear() {
  std::shared_ptr<const Rules> out = share<Rules>();  // freed after the lock, with the test's functions
  const std::lock_guard<std::mutex> lock(mutex_);
  rules_.swap(out);
  count_ = 0;
  changes_.note();
}

std::shared_ptr<const ChaosRules::Rules> ChaosRules::rules() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return rules_;
}

void ChaosRules::reset() {
  clear();
  used_ = false;
}

std::vector<ChaosRules::Hit> ChaosRules::decide(const ChatCall& call, std::uint64_t request,
                                                MatcherInProgress& in_progress) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    in_progress.rules = rules_;
  }
  std::vector<Matching> matching;
  for (const auto& rule : *in_progress.rules) {
    in_progress.rule = rule.get();
    bool matches = true;
    for (const Matcher& matcher : Access::data(rule->chaos).matchers) {
      in_progress.matcher = &matcher;
      FunctionResults function_results;
      matches = detail::decide(matcher, call, function_results);
      if (!matches) break;
    }
    if (matches) matching.push_back({&rule, 0});
  }
  {
    // All rules count a request in one step, so that simultaneous equal requests have the same order for every rule.
    const std::lock_guard<std::mutex> lock(counting_);
    for (Matching& one : matching) one.occurrence = (*one.rule)->occurrences.next(request);
  }
  std::vector<Hit> hits;
  for (const Matching& one : matching) {
    std::optional<Hit> hit = strike(*one.rule, request, one.occurrence);
    if (!hit) continue;
    hits.push_back(std::move(*hit));
    if (hits.back().plan().failure) break;
  }
  return hits;
}

std::optional<ChaosRules::Hit> ChaosRules::strike(const std::shared_ptr<const Rule>& rule, std::uint64_t request,
                                                  std::uint64_t occurrence) const {
  const ChaosPlan& plan = Access::data(rule->chaos);
  const std::uint64_t coming = plan.by_request ? 0 : occurrence;
  Random random(fingerprint(
      "chaos " + std::to_string(seed_) + " " + std::to_string(rule->number) + " " + std::to_string(coming), request));
  const double drawn = random.unit();
  if (plan.probability && drawn >= *plan.probability) return std::nullopt;
  if (plan.nth && occurrence % *plan.nth != 0) return std::nullopt;
  if (plan.first && occurrence > *plan.first) return std::nullopt;
  Hit hit{rule, std::nullopt, "rule " + std::to_string(rule->number) + ": "};
  if (plan.drawn) {
    hit.fault.emplace(Fault{
        Access::make<Trigger>(plan.drawn->kind(), static_cast<std::size_t>(random.below(plan.drawn->most())) + 1, 0u),
        *plan.effect});
    hit.text += plan.effect->to_string() + " " + hit.fault->trigger.to_string() + ", drawn from 1 to " +
                std::to_string(plan.drawn->most());
  } else {
    if (plan.effect) hit.fault.emplace(Fault{*plan.trigger, *plan.effect});
    hit.text += chaos_effect(plan);
  }
  hit.text += " (" + chaos_frequency(plan) + ", seed " + std::to_string(seed_) + ", occurrence " +
              std::to_string(occurrence) + ")";
  return hit;
}

}  // namespace mock_gateway::detail
