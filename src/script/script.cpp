#include "script.hpp"

#include <algorithm>  // all_of, any_of, find, find_if, sort
#include <limits>
#include <utility>

#include "../core/error.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace scripts {

/// Of the first matcher that isolates.
MOCK_GATEWAY_INLINE RequestScope scope_of(const StubPlan& plan) {
  for (const Matcher& matcher : plan.matchers)
    if (matcher.node().scope) return *matcher.node().scope;
  return {};
}

MOCK_GATEWAY_INLINE std::size_t limit_of(const StubPlan& plan) {
  std::size_t limit = plan.at_most.value_or(std::numeric_limits<std::size_t>::max());
  if (plan.nothing_more) limit = std::min(limit, plan.replies.size());
  return limit;
}

}  // namespace scripts

MOCK_GATEWAY_INLINE std::string conditions(const StubPlan& plan) {
  if (plan.matchers.empty()) return "any request";
  std::string text;
  for (const Matcher& matcher : plan.matchers) text += (text.empty() ? "" : " and ") + matcher.describe();
  return text;
}

MOCK_GATEWAY_INLINE StubState::StubState(std::uint64_t id, StubPlan plan)
    : id_(id), plan_(std::move(plan)), scope_(scripts::scope_of(plan_)), limit_(scripts::limit_of(plan_)) {}

MOCK_GATEWAY_INLINE std::string StubState::describe() const {
  return plan_.name.empty() ? conditions(plan_) : plan_.name;
}

MOCK_GATEWAY_INLINE std::string StubState::title() const {
  const std::string where = plan_.where.to_string();
  if (plan_.name.empty()) return where.empty() ? conditions(plan_) : "the stub at " + where;
  return where.empty() ? '"' + plan_.name + '"' : '"' + plan_.name + "\" (" + where + ")";
}

MOCK_GATEWAY_INLINE bool StubState::exhausted() const { return calls_ >= limit_; }

MOCK_GATEWAY_INLINE void StubState::count_recorded(std::uint64_t exchange) {
  ++recorded_;
  if (first_exchange_ == 0) first_exchange_ = exchange;
  last_exchange_ = exchange;
}

MOCK_GATEWAY_INLINE StubState::Use::Use(std::shared_ptr<StubState> stub) : stub_(std::move(stub)) {
  if (!stub_) return;
  const std::size_t active = ++stub_->active_;
  std::size_t peak = stub_->peak_;
  while (peak < active && !stub_->peak_.compare_exchange_weak(peak, active)) continue;
}

MOCK_GATEWAY_INLINE StubState::Use& StubState::Use::operator=(Use&& other) noexcept {
  std::swap(stub_, other.stub_);
  return *this;
}

MOCK_GATEWAY_INLINE StubState::Use::~Use() {
  if (stub_) --stub_->active_;
}

MOCK_GATEWAY_INLINE std::shared_ptr<StubState> Script::mount(StubPlan plan) {
  if (plan.at_most && *plan.at_most == 0) throw GatewayError("at_most(0) would never answer; never() says so");
  const std::lock_guard<std::mutex> lock(mutex_);
  auto stub = std::make_shared<StubState>(next_id_++, std::move(plan));
  auto changed = std::make_shared<Stubs>();
  changed->reserve(stubs_->size() + 1);
  const int priority = stub->plan().priority;
  auto next = stubs_->begin();
  while (next != stubs_->end() && (*next)->plan().priority > priority) changed->push_back(*next++);
  changed->push_back(stub);
  changed->insert(changed->end(), next, stubs_->end());
  stubs_ = std::move(changed);
  ++changes_;
  return stub;
}

MOCK_GATEWAY_INLINE void Script::remove(const std::shared_ptr<StubState>& stub) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stub->removed_) return;
  stub->removed_ = true;
  ++changes_;
  auto changed = std::make_shared<Stubs>(*stubs_);
  const auto found = std::find(changed->begin(), changed->end(), stub);
  if (found == changed->end()) return;  // forgotten by a reset
  changed->erase(found);
  stubs_ = std::move(changed);
  // One that expects nothing has nothing to answer for, and thousands may come and go.
  if (stub->plan().expected_calls) removed_.push_back(stub);
}

MOCK_GATEWAY_INLINE std::optional<Script::Choice> Script::choose(const ChatCall& call) {
  Choice choice;
  choice.considered = stubs();
  const auto foreign = [&](const auto& stub) { return !stub->scope().covers(call.http()); };
  if (std::any_of(choice.considered->begin(), choice.considered->end(), foreign)) {
    auto own = std::make_shared<Stubs>();
    for (const auto& stub : *choice.considered)
      if (!foreign(stub)) own->push_back(stub);
    choice.considered = std::move(own);
  }
  if (choice.considered->empty()) return std::nullopt;

  for (const auto& stub : *choice.considered) {
    // The matchers of a stub that cannot answer are not asked: they may be slow, or count.
    if (!may_answer(*stub)) continue;
    const auto& matchers = stub->plan().matchers;
    const auto matches = [&](const Matcher& matcher) { return decide(matcher, call, choice.trail); };
    if (!std::all_of(matchers.begin(), matchers.end(), matches)) continue;
    // A sequence that has nothing more keeps the request all the same.
    const StubPlan& plan = stub->plan();
    const std::optional<std::size_t> turn = take(*stub);
    if (!turn && !(plan.nothing_more && stub->exhausted() && !stub->removed())) continue;
    choice.stub = stub;
    if (turn && !plan.replies.empty()) choice.reply = plan.replies[std::min(*turn, plan.replies.size() - 1)];
    return choice;
  }
  return choice;
}

MOCK_GATEWAY_INLINE bool Script::may_answer(const StubState& stub) const {
  if (stub.removed_) return false;
  if (stub.exhausted() && !stub.plan().nothing_more) return false;
  if (stub.plan().in_states.empty()) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return in_states(stub.plan());
}

MOCK_GATEWAY_INLINE std::optional<std::size_t> Script::take(StubState& stub) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stub.removed_ || stub.exhausted() || !in_states(stub.plan())) return std::nullopt;
  for (const ScenarioState& next : stub.plan().then_states) states_[next.scenario] = next.state;
  return stub.calls_++;
}

MOCK_GATEWAY_INLINE bool Script::in_states(const StubPlan& plan) const {
  return std::all_of(plan.in_states.begin(), plan.in_states.end(), [this](const ScenarioState& wanted) {
    const auto found = states_.find(wanted.scenario);
    return (found == states_.end() ? "started" : found->second) == wanted.state;
  });
}

MOCK_GATEWAY_INLINE std::shared_ptr<const Script::Stubs> Script::stubs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stubs_;
}

MOCK_GATEWAY_INLINE Script::Stubs Script::all() const {
  Stubs all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all = removed_;
    all.insert(all.end(), stubs_->begin(), stubs_->end());
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return all;
}

MOCK_GATEWAY_INLINE std::string Script::state(const std::string& scenario) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = states_.find(scenario);
  return found == states_.end() ? "started" : found->second;
}

MOCK_GATEWAY_INLINE void Script::set_state(const std::string& scenario, std::string state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  states_[scenario] = std::move(state);
  ++changes_;
}

MOCK_GATEWAY_INLINE Script::States Script::states() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return states_;
}

MOCK_GATEWAY_INLINE void Script::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A request that is choosing right now must not answer for what is forgotten.
  for (const auto& stub : *stubs_) stub->removed_ = true;
  stubs_ = std::make_shared<Stubs>();
  removed_.clear();
  states_.clear();
  ++changes_;
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
