// Finds stubs that never answer because others hide them.

#include "hiding.hpp"

#include <algorithm>  // lower_bound, min, sort, unique
#include <type_traits>

#include "../core/access.hpp"
#include "matcher_node.hpp"

namespace mock_gateway::detail {
namespace hiding {

/// Collects the text of identity_of().
class Identity {
 public:
  std::string text;

  void add(const Matcher& matcher) {
    const MatcherNode& node = Access::node(matcher);
    add(static_cast<int>(node.kind));
    if (node.function) add(&node);
    add(node.tests);
    add(node.text.has_value());
    if (node.text) add(*node.text);
    add(node.operand);
    add(node.field);
    add(node.by_call_id);
    add(node.number);
    add(node.range.has_value());
    if (node.range) {
      add(node.range->least());
      add(node.range->most());
    }
    add(node.json.dump());
    add(node.path.size());
    for (const std::string& step : node.path) add(step);
    add(node.values_of);
    if (node.scope) {
      add(node.scope->key());
      const wire::Header header = node.scope->header().value_or(wire::Header());
      add(header.name);
      add(header.value);
    }
    add(node.parts.size());
    for (const Matcher& part : node.parts) add(part);
  }

 private:
  void add(const TextMatcher& matcher) {
    const TextMatcherNode& node = Access::node(matcher);
    if (node.function) add(&node);
    add(node.test);
    add(node.operand);
    add(node.parts.size());
    for (const TextMatcher& part : node.parts) add(part);
  }
  void add(const std::string& part) {
    add(part.size());
    text += part;
  }
  template <class T>
  void add(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_pointer_v<T>);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

std::uint64_t child_key(std::size_t node, std::uint32_t term) { return (std::uint64_t{node} << 32U) | term; }

}  // namespace hiding

std::string identity_of(const Matcher& matcher) {
  hiding::Identity identity;
  identity.add(matcher);
  return std::move(identity.text);
}

std::optional<std::size_t> HidingStubs::add(const StubPlan& plan) {
  const std::vector<Term> terms = terms_of(plan);
  std::size_t found = added_;
  if (!nodes_.empty()) search(0, terms, 0, plan.priority, found);
  if (!plan.at_most && plan.in_states.empty()) insert(terms, plan.priority);
  return found < added_++ ? std::make_optional(found) : std::nullopt;
}

std::vector<HidingStubs::Term> HidingStubs::terms_of(const StubPlan& plan) {
  std::vector<Term> terms;
  for (const Matcher& matcher : plan.matchers)
    terms.push_back(terms_.try_emplace(identity_of(matcher), static_cast<Term>(terms_.size())).first->second);
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  return terms;
}

void HidingStubs::search(std::size_t node, const std::vector<Term>& terms, std::size_t next, int priority,
                         std::size_t& found) const {
  const Node& here = nodes_[node];
  if (here.first >= found) return;
  const auto hider = std::lower_bound(here.hiders.begin(), here.hiders.end(), priority,
                                      [](const Hider& one, int wanted) { return one.priority < wanted; });
  if (hider != here.hiders.end()) found = std::min(found, hider->number);
  if (!here.has_children) return;
  for (std::size_t term = next; term < terms.size(); ++term) {
    const auto child = children_.find(hiding::child_key(node, terms[term]));
    if (child != children_.end()) search(child->second, terms, term + 1, priority, found);
  }
}

void HidingStubs::insert(const std::vector<Term>& terms, int priority) {
  if (nodes_.empty()) nodes_.push_back({added_});
  std::size_t node = 0;
  for (const Term term : terms) {
    const auto [child, is_new] = children_.try_emplace(hiding::child_key(node, term), nodes_.size());
    nodes_[node].has_children = true;
    node = child->second;
    if (is_new) nodes_.push_back({added_});
  }
  std::vector<Hider>& hiders = nodes_[node].hiders;
  if (hiders.empty() || hiders.back().priority < priority) hiders.push_back({added_, priority});
}

}  // namespace mock_gateway::detail
