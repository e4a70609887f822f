// Which of several stubs answers; sequences, `times`, state machines; titles of stubs; contradictory settings.

#include "script.hpp"

#include <algorithm>  // all_of, binary_search, find, for_each, inplace_merge, is_sorted, lower_bound, min, sort, …
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "excerpts.hpp"
#include "matcher_node.hpp"

namespace mock_gateway::detail {
namespace scripts {

bool same_place(const SourceLocation& a, const SourceLocation& b) {
  return a.line == b.line && std::string_view(a.file) == b.file;
}

std::set<const StubState*> addresses_of(const Script::Stubs& stubs) {
  std::set<const StubState*> addresses;
  for (const auto& stub : stubs) addresses.insert(stub.get());
  return addresses;
}

std::size_t limit_of(const StubPlan& plan) {
  std::size_t limit = plan.at_most.value_or(std::numeric_limits<std::size_t>::max());
  if (plan.nothing_more) limit = std::min(limit, plan.replies.size());
  return limit;
}

}  // namespace scripts

const ReplyStep& step_of(const StubPlan& plan, std::size_t call) {
  return plan.replies[std::min(call, plan.replies.size() - 1)];
}

void require_consistent(const StubPlan& plan) {
  if (plan.at_most && *plan.at_most == 0) throw GatewayError("times(0) would never answer; use never() instead");
  if (plan.at_most && plan.nothing_more) {
    throw GatewayError(
        "times(…) lets later requests go to other stubs, and then_nothing_more() refuses them; choose one");
  }
  if (plan.replies.empty() && (plan.at_most || !plan.validators.empty())) {
    throw GatewayError("never() answers nothing, so it cannot be combined with times or should");
  }
  const std::size_t limit = scripts::limit_of(plan);
  if (plan.expected_calls && static_cast<double>(limit) < plan.expected_calls->least()) {
    throw GatewayError("the expected number of calls, " + plan.expected_calls->to_string() +
                       ", can never be reached: the stub answers at most " + std::to_string(limit) +
                       (limit == 1 ? " request" : " requests"));
  }
}

std::string conditions(const StubPlan& plan) {
  if (plan.matchers.empty()) return "any request";
  std::string text;
  for (const Matcher& matcher : plan.matchers) text += (text.empty() ? "" : " and ") + matcher.to_string();
  return text;
}

StubState::StubState(StubPlan plan)
    : plan_(std::move(plan)),
      description_(plan_.name.empty() ? conditions(plan_) : plan_.name),
      scopes_(scopes_of(plan_.matchers)),
      limit_(scripts::limit_of(plan_)),
      where_(plan_.where) {}

SourceLocation StubState::where() const {
  const std::lock_guard<std::mutex> lock(where_mutex_);
  return where_;
}

std::string StubState::title() const {
  const std::string place = where().to_string();
  if (plan_.name.empty()) {
    if (place.empty()) return excerpts::plain(description_);
    return "the stub at " + place + (shares_line_ ? " (" + excerpts::plain(description_) + ")" : std::string());
  }
  const std::string name = excerpts::quoted(plan_.name);
  return place.empty() ? name : name + " (" + place + ")";
}

bool StubState::exhausted() const { return calls_ >= limit_; }

void StubState::count_recorded(std::uint64_t exchange) {
  ++recorded_;
  if (first_exchange_ == 0 || exchange < first_exchange_) first_exchange_ = exchange;
  if (exchange > last_exchange_) last_exchange_ = exchange;
}

StubState::Use::Use(std::shared_ptr<StubState> stub) : stub_(std::move(stub)) {
  if (!stub_) return;
  const std::size_t active = ++stub_->active_;
  std::size_t peak = stub_->peak_;
  while (peak < active && !stub_->peak_.compare_exchange_weak(peak, active)) continue;
}

StubState::Use& StubState::Use::operator=(Use&& other) noexcept {
  std::swap(stub_, other.stub_);
  return *this;
}

StubState::Use::~Use() {
  if (stub_) --stub_->active_;
}

void Script::Snapshot::add(std::shared_ptr<StubState> stub) {
  const StubPlan& plan = stub->plan();
  const bool always = !plan.at_most && !plan.nothing_more && plan.in_states.empty();
  entries.push_back({stub.get(), plan.matchers.empty() ? nullptr : &Access::node(plan.matchers.front()), always});
  isolated = isolated || !stub->scopes().empty();
  stubs.push_back(std::move(stub));
}

std::shared_ptr<const Script::Snapshot> Script::covering(const Snapshot& all, const ReceivedRequest& request) {
  auto own = share<Snapshot>();
  for (const auto& stub : all.stubs) {
    const auto covers = [&request](const RequestScope& scope) { return scope.covers(request); };
    if (std::all_of(stub->scopes().begin(), stub->scopes().end(), covers)) own->add(stub);
  }
  return own;
}

std::shared_ptr<StubState> Script::mount(StubPlan plan) {
  std::vector<BlockStub> block(1);
  block.front().plan = std::move(plan);
  std::uint64_t place = 0;
  return mount_block(std::move(block), {}, place).front();
}

Script::Stubs Script::mount_block(std::vector<BlockStub> block, const Stubs& replaced, std::uint64_t& place) {
  // Requests wait for the lock, so slow work on each stub is done before.
  for (const BlockStub& one : block) require_consistent(one.plan);
  Stubs stubs;
  std::vector<SourceLocation> places;
  for (BlockStub& one : block) {
    places.push_back(one.plan.where);
    stubs.push_back(one.kept ? std::move(one.kept) : share<StubState>(std::move(one.plan)));
  }
  const std::set<const StubState*> entering = scripts::addresses_of(stubs);

  // Freed after unlocking: destructors of the test's objects may lock.
  std::shared_ptr<const Snapshot> out;
  Stubs left;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (place == 0) place = ++last_place_;
  for (std::size_t index = 0; index < stubs.size(); ++index) {
    auto& stub = stubs[index];
    // The test may have removed a kept stub meanwhile. A removed stub must not be mounted: choose() would never end.
    if (stub->removed_) stub = share<StubState>(std::move(block[index].plan));
    if (stub->id_ == 0) stub->id_ = next_id_++;
    take_out(*stub);
    stub->rank_ = {-std::int64_t{stub->plan().priority}, ~place, index};
    if (!scripts::same_place(stub->where_, places[index])) {
      const std::lock_guard<std::mutex> reading(stub->where_mutex_);
      stub->where_ = places[index];
    }
  }
  for (const auto& stub : replaced) {
    if (entering.count(stub.get()) > 0) continue;
    std::shared_ptr<StubState> mounted = take_out(*stub);
    if (!mounted) continue;
    mounted->removed_ = true;
    changes_.note_for(only_key(mounted->scopes()));
    left.push_back(std::move(mounted));
  }
  for (const auto& stub : stubs) {
    changes_.note_for(only_key(stub->scopes()));
    put_in(stub);
  }
  out.swap(snapshot_);
  return stubs;
}

void Script::put_in(std::shared_ptr<StubState> stub) {
  // Several stubs may have the same line, for example if a helper function of the test mounts them.
  std::set<StubState*>& same = lines_[{stub->where_.file, stub->where_.line}];
  same.insert(stub.get());
  stub->shares_line_ = same.size() > 1;
  if (same.size() == 2)
    for (StubState* const one : same) one->shares_line_ = true;
  mounted_.emplace(stub->rank_, std::move(stub));
}

std::shared_ptr<StubState> Script::take_out(StubState& stub) {
  const auto [first, last] = mounted_.equal_range(stub.rank_);
  const auto found = std::find_if(first, last, [&stub](const auto& one) { return one.second.get() == &stub; });
  if (found == last) return nullptr;
  std::shared_ptr<StubState> taken = std::move(found->second);
  mounted_.erase(found);
  const auto line = lines_.find({stub.where_.file, stub.where_.line});
  line->second.erase(&stub);
  if (line->second.empty()) lines_.erase(line);
  return taken;
}

const std::shared_ptr<const Script::Snapshot>& Script::snapshot() const {
  if (!snapshot_) {
    auto made = share<Snapshot>();
    made->stubs.reserve(mounted_.size());
    made->entries.reserve(mounted_.size());
    for (const auto& [rank, stub] : mounted_) made->add(stub);
    snapshot_ = std::move(made);
  }
  return snapshot_;
}

void Script::remove(const std::shared_ptr<StubState>& stub) { remove(Stubs{stub}); }

void Script::remove(const Stubs& stubs) {
  // Freed after the lock.
  std::shared_ptr<const Snapshot> out;
  Stubs left;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& stub : stubs) {
    std::shared_ptr<StubState> mounted = take_out(*stub);
    if (!mounted) continue;
    if (!out) out.swap(snapshot_);
    mounted->removed_ = true;
    changes_.note_for(only_key(mounted->scopes()));
    // A removed stub whose expectation is met gets no more calls, so it is not kept: thousands may come and go.
    const std::optional<Range>& expected = mounted->plan().expected_calls;
    const bool is_unmet = expected && !expected->contains(static_cast<double>(mounted->calls_));
    (is_unmet ? removed_ : left).push_back(std::move(mounted));
  }
}

std::optional<Script::Choice> Script::choose(const ChatCall& call, MatcherInProgress& in_progress,
                                             const std::function<bool()>& has_default_reply, Purpose purpose) {
  std::optional<bool> known;
  const auto ask_once = [&] {
    if (!known) known = has_default_reply();
    return *known;
  };
  for (;;) {
    std::shared_ptr<const Snapshot> mounted;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      mounted = snapshot();
    }
    if (mounted->isolated) mounted = covering(*mounted, call.http());
    Choice choice;
    choice.considered = std::shared_ptr<const Stubs>(mounted, &mounted->stubs);
    in_progress.considered = choice.considered;
    if (mounted->stubs.empty()) return std::nullopt;
    if (choose_from(*mounted, call, in_progress, ask_once, purpose, choice)) return choice;
  }
}

std::optional<Script::Choice> Script::choose_owed(std::uint64_t request) {
  while (const std::optional<OwedReplies::Owed> owed = owed_.take(request)) {
    Choice choice;
    choice.stub = owed->stub.lock();
    if (!choice.stub || choice.stub->removed()) continue;
    choice.call = owed->call;
    choice.reply = step_of(choice.stub->plan(), owed->call);
    return choice;
  }
  return std::nullopt;
}

bool Script::choose_from(const Snapshot& mounted, const ChatCall& call, MatcherInProgress& in_progress,
                         const std::function<bool()>& has_default_reply, Purpose purpose, Choice& choice) {
  const std::vector<Entry>& entries = mounted.entries;
  const SkippedSearches& searches = skipped_searches();
  std::size_t skipped = searches.count;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    StubState& stub = *entry.stub;
    // Do not run the matchers of a stub that cannot answer: they may be slow or have side effects.
    if (!entry.always && !may_answer(stub)) {
      if (stub.removed()) return false;
      continue;
    }
    const bool first_is_simple = entry.first && entry.first->kind == MatcherNode::Kind::leaf && entry.first->built_in;
    const bool is_match = (!first_is_simple || entry.first->test(call)) &&
                          matches(stub, first_is_simple ? 1 : 0, call, choice.function_results, in_progress, purpose);
    if (std::exchange(skipped, searches.count) != searches.count) choice.not_searched.push_back(mounted.stubs[i]);
    if (!is_match) continue;
    // A stub with then_nothing_more() refuses requests after its sequence, so later stubs do not get them.
    const StubPlan& plan = stub.plan();
    Turn turn = take(stub, std::nullopt, purpose);
    if (turn.kind == Turn::Kind::undecided) turn = take(stub, has_default_reply(), purpose);
    const bool missed = turn.kind == Turn::Kind::missed;
    if (missed && stub.removed()) return false;
    if (missed && !(plan.nothing_more && stub.exhausted())) continue;
    choice.stub = mounted.stubs[i];
    choice.call = turn.number;
    choice.is_unanswerable = turn.kind == Turn::Kind::unanswerable;
    if (turn.kind == Turn::Kind::taken && !plan.replies.empty()) choice.reply = step_of(plan, turn.number);
    return true;
  }
  return true;
}

bool Script::matches(const StubState& stub, std::ptrdiff_t from, const ChatCall& call,
                     FunctionResults& function_results, MatcherInProgress& in_progress, Purpose purpose) {
  in_progress.stub = &stub;
  std::vector<NearMiss::Condition> unread;
  return std::all_of(stub.plan().matchers.begin() + from, stub.plan().matchers.end(), [&](const Matcher& matcher) {
    in_progress.matcher = &matcher;
    if (purpose == Purpose::forecast) return explain(matcher, call, function_results, 0, unread) == true;
    return decide(matcher, call, function_results);
  });
}

bool Script::may_answer(const StubState& stub) const {
  if (stub.removed_) return false;
  if (stub.exhausted() && !stub.plan().nothing_more) return false;
  if (stub.plan().in_states.empty()) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return in_states(stub.plan());
}

Script::Turn Script::take(StubState& stub, std::optional<bool> has_default_reply, Purpose purpose) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const StubPlan& plan = stub.plan();
  if (stub.removed_ || stub.exhausted() || !in_states(plan)) return {};
  if (!plan.replies.empty() && !has_default_reply.value_or(false) && step_of(plan, stub.calls_).is_default())
    return {has_default_reply ? Turn::Kind::unanswerable : Turn::Kind::undecided};
  if (purpose == Purpose::forecast) return {Turn::Kind::taken, stub.calls_};
  for (const MachineState& next : plan.then_states) states_[next.machine] = next.state;
  return {Turn::Kind::taken, stub.calls_++};
}

bool Script::in_states(const StubPlan& plan) const {
  return std::all_of(plan.in_states.begin(), plan.in_states.end(),
                     [this](const MachineState& wanted) { return state_in(states_, wanted.machine) == wanted.state; });
}

std::shared_ptr<const Script::Stubs> Script::stubs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {snapshot(), &snapshot_->stubs};
}

Script::Stubs Script::all() const {
  Stubs all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all = removed_;
    for (const auto& [rank, stub] : mounted_) all.push_back(stub);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return all;
}

std::string Script::state(const std::string& machine) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_in(states_, machine);
}

const std::string& Script::state_in(const States& states, const std::string& machine) {
  const auto found = states.find(machine);
  static const std::string started = "started";
  return found == states.end() ? started : found->second;
}

void Script::set_state(const std::string& machine, std::string state, const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  states_[machine] = std::move(state);
  changes_.note_for(key);
}

Script::States Script::states() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return states_;
}

void Script::forget_removed(const RequestScope& scope) {
  Stubs kept;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& stub : removed_) {
    const std::vector<RequestScope>& its = stub->scopes();
    if (std::find(its.begin(), its.end(), scope) == its.end()) kept.push_back(stub);
  }
  removed_.swap(kept);  // the others are freed after unlocking
}

void Script::forget_states(const std::string& machines, const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto state = states_.lower_bound(machines);
  while (state != states_.end() && state->first.compare(0, machines.size(), machines) == 0)
    state = states_.erase(state);
  changes_.note_for(key);
}

void Script::reset(bool its_stubs, bool its_states) {
  // Freed after unlocking, because destructors of the test's objects may need the lock.
  std::shared_ptr<const Snapshot> out;
  std::multimap<scripts::Rank, std::shared_ptr<StubState>> mounted;
  Stubs removed;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (its_stubs) {
    // A request that is choosing a stub now must not get a removed one.
    for (const auto& [rank, stub] : mounted_) stub->removed_ = true;
    mounted_.swap(mounted);
    lines_.clear();
    out.swap(snapshot_);
    removed_.swap(removed);
  }
  if (its_states) states_.clear();
  owed_.clear();
  changes_.note();
}

void Script::retire(const Stubs& others) {
  std::vector<StubPlan> plans;  // freed after the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto let_go = [&plans](const std::shared_ptr<StubState>& stub) {
    StubPlan& plan = stub->plan_;
    // `others` has a stub once for each request that it answered.
    if (plan.matchers.empty() && plan.validators.empty() && plan.replies.empty()) return;
    StubPlan held;
    held.matchers.swap(plan.matchers);
    held.validators.swap(plan.validators);
    held.replies.swap(plan.replies);
    plans.push_back(std::move(held));
  };
  for (const auto& [rank, stub] : mounted_) let_go(stub);
  std::for_each(removed_.begin(), removed_.end(), let_go);
  std::for_each(others.begin(), others.end(), let_go);
}

}  // namespace mock_gateway::detail
