#include "script.hpp"

#include <algorithm>  // all_of, min
#include <utility>

#include "../core/error.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

namespace scripts {

/// "user text contains \"weather\" and has tool \"get_weather\""; "any request" without a condition.
std::string conditions(const StubPlan& plan);
std::string calls_made(std::size_t calls);

MOCK_GATEWAY_INLINE std::string conditions(const StubPlan& plan) {
  if (plan.matchers.empty()) return "any request";
  std::string text;
  for (const Matcher& matcher : plan.matchers) text += (text.empty() ? "" : " and ") + matcher.describe();
  return text;
}

MOCK_GATEWAY_INLINE std::string calls_made(std::size_t calls) {
  return std::to_string(calls) + (calls == 1 ? " call" : " calls");
}

}  // namespace scripts

MOCK_GATEWAY_INLINE std::string StubState::describe() const {
  return plan_.name.empty() ? scripts::conditions(plan_) : plan_.name;
}

MOCK_GATEWAY_INLINE std::optional<ReplyStep> StubState::take() {
  std::size_t turn = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (plan_.at_most && calls_ >= *plan_.at_most) return std::nullopt;
    turn = calls_++;
  }
  return plan_.replies[std::min(turn, plan_.replies.size() - 1)];
}

MOCK_GATEWAY_INLINE std::size_t StubState::calls() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}

MOCK_GATEWAY_INLINE bool StubState::exhausted() const { return plan_.at_most && calls() >= *plan_.at_most; }

MOCK_GATEWAY_INLINE std::shared_ptr<StubState> Script::mount(StubPlan plan) {
  if (plan.replies.empty()) throw GatewayError("a stub needs at least one reply: reply(\"text\")");
  if (plan.at_most && *plan.at_most == 0) throw GatewayError("at_most(0) would never answer; leave the stub out");
  const std::lock_guard<std::mutex> lock(mutex_);
  auto stub = std::make_shared<StubState>(next_id_++, std::move(plan));
  auto changed = std::make_shared<Stubs>();
  changed->reserve(stubs_->size() + 1);
  changed->push_back(stub);
  changed->insert(changed->end(), stubs_->begin(), stubs_->end());
  stubs_ = std::move(changed);
  return stub;
}

MOCK_GATEWAY_INLINE bool Script::empty() const { return snapshot()->empty(); }

MOCK_GATEWAY_INLINE std::optional<Script::Choice> Script::choose(const ChatRequest& request) const {
  const auto stubs = snapshot();
  for (const auto& stub : *stubs) {
    // An exhausted stub's matchers are not asked: they may be slow, or count.
    if (stub->exhausted()) continue;
    const auto& matchers = stub->plan().matchers;
    const auto matches = [&request](const Matcher& matcher) { return matcher.matches(request); };
    if (!std::all_of(matchers.begin(), matchers.end(), matches)) continue;
    // Another request may have taken its last reply in the meantime.
    if (auto reply = stub->take()) return Choice{stub, std::move(*reply)};
  }
  return std::nullopt;
}

MOCK_GATEWAY_INLINE std::string Script::describe(std::size_t most) const {
  const auto stubs = snapshot();
  std::string text;
  for (std::size_t i = 0; i < stubs->size() && i < most; ++i) {
    const StubState& stub = *(*stubs)[i];
    const StubPlan& plan = stub.plan();
    if (!text.empty()) text += '\n';
    text += plan.name.empty() ? "unnamed" : '"' + plan.name + '"';
    const std::string where = plan.where.to_string();
    if (!where.empty()) text += " (" + where + ")";
    text += ": " + scripts::conditions(plan);
    if (stub.exhausted()) text += ", exhausted after " + scripts::calls_made(*plan.at_most);
  }
  if (stubs->size() > most) {
    text += (text.empty() ? "" : "\n") + std::string("and ") + std::to_string(stubs->size() - most) + " more";
  }
  return text;
}

MOCK_GATEWAY_INLINE void Script::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stubs_ = std::make_shared<Stubs>();
}

MOCK_GATEWAY_INLINE std::shared_ptr<const Script::Stubs> Script::snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stubs_;
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
