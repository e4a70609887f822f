// `gateway.chat()`: the setters of a stub and their restrictions; `Stub` and its waits.

#include "chat_script.hpp"

#include <cmath>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../evidence/gateway_problems.hpp"
#include "../evidence/record.hpp"
#include "../model/reply_data.hpp"
#include "../script/script.hpp"

namespace mock_gateway {

Stub::Stub(std::shared_ptr<detail::StubState> state, std::shared_ptr<detail::Script> script,
           std::shared_ptr<detail::JournalState> journal)
    : state_(std::move(state)), script_(std::move(script)), journal_(std::move(journal)) {}

std::size_t Stub::calls() const { return state_->recorded(); }
std::size_t Stub::peak_concurrency() const { return state_->peak_concurrency(); }
std::string Stub::title() const { return state_->title(); }
SourceLocation Stub::where() const { return state_->where(); }
void Stub::remove() const { script_->remove(state_); }

Wait Stub::wait_for_calls(std::size_t count, Duration timeout) const {
  const bool reached = journal_->wait(timeout, [&] { return state_->recorded() >= count; });
  const std::string message = state_->title() + " has answered " + std::to_string(state_->recorded()) + " of " +
                              std::to_string(count) + " requests";
  return detail::Access::make<Wait>(reached, reached ? message : message + journal_->scripted_waits());
}

Exchange Stub::last_call() const {
  if (auto record = journal_->last_of_stub(*state_)) return Exchange(std::move(record));
  throw GatewayError("Stub::last_call: the journal holds no call of " + state_->title() +
                     "; wait_for_calls waits for one");
}

std::vector<Exchange> Stub::exchanges() const {
  std::vector<Exchange> exchanges;
  for (auto& record : journal_->snapshot()) {
    if (record->stub == state_) exchanges.emplace_back(std::move(record));
  }
  return exchanges;
}

ScopedStub Stub::scoped() const { return ScopedStub(*this); }

ScopedStub::ScopedStub(ScopedStub&& other) noexcept : Stub(other), owns_(other.owns_) { other.owns_ = false; }

ScopedStub::~ScopedStub() {
  if (owns_) remove();
}

Verification detail::called_in_order(std::initializer_list<const Stub*> stubs) {
  std::vector<std::shared_ptr<StubState>> states;
  for (const Stub* const stub : stubs) states.push_back(Access::state(*stub));
  return verify_order(states);
}

StubBuilder::StubBuilder(std::shared_ptr<detail::Script> script, std::shared_ptr<detail::JournalState> journal,
                         SourceLocation where)
    : script_(std::move(script)), journal_(std::move(journal)), plan_(std::make_unique<detail::StubPlan>()) {
  plan_->where = where;
}

StubBuilder::StubBuilder(StubBuilder&&) noexcept = default;
StubBuilder& StubBuilder::operator=(StubBuilder&&) noexcept = default;
StubBuilder::~StubBuilder() = default;

detail::StubPlan& StubBuilder::plan() {
  if (plan_) return *plan_;
  throw GatewayError("this builder has mounted its stub, or was moved from; start another with gateway.chat()");
}

StubBuilder StubBuilder::times(std::size_t count) && {
  if (count == 0) throw GatewayError("times(0): for a stub that must not be called, use never()");
  plan().at_most = count;
  return std::move(*this);
}

StubBuilder StubBuilder::expect(Range calls) && {
  const auto whole = [](double number) { return std::isinf(number) || number == std::floor(number); };
  if (calls.most() < 0 || (calls.least() < 0 && !std::isinf(calls.least())) || !whole(calls.least()) ||
      !whole(calls.most())) {
    throw GatewayError("expect(" + calls.to_string() + "): a number of calls must be a whole number of at least 0");
  }
  plan().expected_calls = calls;
  return std::move(*this);
}

StubBuilder StubBuilder::priority(int priority) && {
  plan().priority = priority;
  return std::move(*this);
}

StubBuilder StubBuilder::in_state(std::string machine, std::string state) && {
  for (const detail::MachineState& wanted : plan().in_states) {
    if (wanted.machine == machine)
      throw GatewayError("in_state: a stub waits for one state of state machine \"" + machine + "\", not for two");
  }
  if (machine.empty()) throw GatewayError("in_state: a state machine needs a name");
  plan().in_states.push_back({std::move(machine), std::move(state)});
  return std::move(*this);
}

StubBuilder StubBuilder::then_state(std::string machine, std::string state) && {
  if (machine.empty()) throw GatewayError("then_state: a state machine needs a name");
  for (const detail::MachineState& next : plan().then_states) {
    if (next.machine == machine)
      throw GatewayError("then_state: a stub moves state machine \"" + machine + "\" to one state, not to two");
  }
  plan().then_states.push_back({std::move(machine), std::move(state)});
  return std::move(*this);
}

StubBuilder StubBuilder::named(std::string name) && {
  plan().name = std::move(name);
  return std::move(*this);
}

Stub StubBuilder::never() && {
  if (plan().expected_calls) throw GatewayError("never() expects no call, and expect(…) some; choose one");
  plan().expected_calls = Range(0);
  return live();
}

void StubBuilder::match(Matcher matcher) { plan().matchers.push_back(std::move(matcher)); }

void StubBuilder::validate(Matcher matcher) { plan().validators.push_back(std::move(matcher)); }

void StubBuilder::add(Reply reply) {
  if (plan().nothing_more) throw GatewayError("then_nothing_more() ends a sequence; no reply may follow it");
  static_cast<void>(detail::Access::data(reply));  // throws if it was moved from
  plan().replies.emplace_back(detail::share<const Reply>(std::move(reply)));
}

void StubBuilder::add(ReplyFunction function) {
  if (plan().nothing_more) throw GatewayError("then_nothing_more() ends a sequence; no reply may follow it");
  if (!function) throw GatewayError("reply(function): the function is empty");
  plan().replies.emplace_back(detail::share<const ReplyFunction>(std::move(function)));
}

void StubBuilder::add(NothingMore) { plan().nothing_more = true; }

Stub StubBuilder::mount() {
  if (plan().replies.empty()) throw GatewayError("reply(then_nothing_more()) has no reply before it; use never()");
  return live();
}

Stub StubBuilder::live() {
  plan().newest_exchange = journal_->newest_id();
  const std::unique_ptr<detail::StubPlan> mounted = std::move(plan_);
  return Stub(script_->mount(std::move(*mounted)), script_, journal_);
}

}  // namespace mock_gateway
