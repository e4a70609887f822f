// The program's access to the state of a running gateway.

#include <algorithm>

#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/json_reader.hpp"
#include "../core/timeline.hpp"
#include "../evidence/diagnosis.hpp"
#include "../serve/gateway_state.hpp"
#include "internal.hpp"

namespace mock_gateway::internal {

Inside::Inside(const Gateway& gateway) : state_(*detail::Access::serving(gateway)) {}

std::size_t Inside::open_requests() const { return state_.journal->open(RequestScope()); }
std::size_t Inside::stub_count() const { return state_.script->stubs()->size(); }
void Inside::keep_answers() const { state_.keeps_answers = true; }
bool Inside::mask(std::string& text) const { return state_.keys->mask(text).has_key; }
std::string Inside::first_model() const { return state_.settings.models.front().id; }
std::uint64_t Inside::seed() const { return state_.settings.seed; }
std::optional<Duration> Inside::stall_guard() const { return state_.settings.stall_guard; }

std::string Inside::operation_name(const std::string& method, const std::string& path) const {
  using Kind = detail::Route::Kind;
  const Kind kind = state_.operations.find(method, path).kind;
  if (kind == Kind::chat) return "chat_completions";
  if (kind == Kind::models || kind == Kind::model) return "list_models";
  const std::string name = state_.operations.name_at(path);
  return method + " " + (name.empty() ? path : name);
}

std::vector<ApiKey> Inside::keys() const { return state_.keys->list(true); }
ApiKey Inside::limits() const { return state_.keys->for_all(); }

std::vector<QueuedFailure> Inside::failures() const {
  std::vector<QueuedFailure> all;
  for (const auto& queued : state_.failures.queued()) all.push_back({queued.failure, queued.left, queued.scope});
  return all;
}

Json Inside::chaos(const std::function<bool(std::uint64_t owner)>& is_wanted) const {
  Json list = Json::array();
  const auto mounted = state_.chaos->rules();
  for (const auto& rule : *mounted)
    if (is_wanted(rule->owner)) list.push_back(Json{{"text", rule->chaos.to_string()}});
  return list;
}

Json Inside::connection_faults() const {
  Json list = Json::array();
  for (const auto& queued : state_.connection_faults->left())
    list.push_back(Json{{"text", queued.fault.to_string()}, {"left", queued.left}});
  for (const auto& queued : state_.connection_faults->every())
    list.push_back(Json{{"text", queued.fault.to_string()}, {"left", nullptr}});
  return list;
}

std::vector<Operation> Inside::operations() const { return state_.operations.mounted(); }

std::set<std::string> Inside::open_operations() const { return state_.operations.open(); }
std::vector<std::string> Inside::key_headers() const { return state_.keys->rules().headers; }
bool Inside::requires_key() const { return state_.keys->rules().required; }

void Inside::unmount(const std::vector<std::pair<Operation, std::uint64_t>>& of_owners) const {
  std::vector<detail::Operations::Owned> owned;
  for (const auto& [operation, owner] : of_owners) owned.push_back({operation, owner});
  state_.operations.unmount(owned);
}

void Inside::clear_chaos_of(std::uint64_t owner) const { state_.chaos->clear_of(owner); }

void Inside::remove(const std::vector<Stub>& stubs) const {
  detail::Script::Stubs removed;
  for (const Stub& stub : stubs) removed.push_back(detail::Access::state(stub));
  state_.script->remove(removed);
}

void Inside::reset(const std::vector<std::string>& parts) const {
  const auto has = [&parts](const char* part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  detail::ResetParts forgotten;
  forgotten.stubs = has("stubs");
  forgotten.states = has("states");
  forgotten.failures = has("failures");
  forgotten.chaos = has("chaos");
  forgotten.connections = has("connections");
  forgotten.journal = has("journal");
  state_.reset(forgotten);
}

std::map<std::string, std::string> Inside::states() const {
  const detail::Script::States moved = state_.script->states();
  std::map<std::string, std::string> all;
  const auto stubs = state_.script->stubs();
  for (const auto& stub : *stubs)
    for (const auto* named : {&stub->plan().in_states, &stub->plan().then_states})
      for (const detail::MachineState& one : *named) all[one.machine] = detail::Script::state_in(moved, one.machine);
  for (const auto& [machine, state] : moved) all[machine] = state;
  return all;
}

void Inside::set_state(const std::string& machine, const std::string& state, const std::string& key) const {
  state_.script->set_state(machine, state, key);
}

void Inside::forget_states(const std::string& machines, const std::string& key) const {
  state_.script->forget_states(machines, key);
}

void Inside::forget_removed(const RequestScope& scope) const { state_.script->forget_removed(scope); }
void Inside::forget_exchanges(const RequestScope& scope) const { state_.journal->forget(scope); }

Json Inside::reference(const detail::StubState& stub) const {
  StubReference reference = detail::reference_to(stub);
  mask(reference.name);
  mask(reference.title);
  return as_json(reference);
}

Json Inside::asked(const RequestScope& scope) const {
  Json list = Json::array();
  for (const detail::AskedRequest& asked : state_.asked.list(scope)) {
    // If masking made the JSON invalid, the request is null.
    Json request = detail::read_json_if_valid(asked.request.body);
    list.push_back(Json{{"exchange", asked.exchange},
                        {"stub", reference(*asked.stub)},
                        {"request", request.is_discarded() ? Json() : std::move(request)},
                        {"since", detail::calendar::rfc3339_milliseconds(asked.since)}});
  }
  return list;
}

std::string Inside::asking_key(std::uint64_t exchange) const {
  for (const detail::AskedRequest& asked : state_.asked.list({}))
    if (asked.exchange == exchange) return asked.request.key_id;
  return {};
}

Answered Inside::answer(std::uint64_t exchange, const std::shared_ptr<const detail::ReplyStep>& reply) const {
  switch (state_.asked.answer(exchange, *reply)) {
    case detail::AskedRequests::Answered::yes: return Answered::yes;
    case detail::AskedRequests::Answered::too_late: return Answered::too_late;
    case detail::AskedRequests::Answered::unknown: break;
  }
  return Answered::unknown;
}

void Inside::answer_all(const RequestScope& scope, const Reply& reply) const {
  for (const detail::AskedRequest& asked : state_.asked.list(scope))
    state_.asked.answer(asked.exchange, std::make_shared<const Reply>(reply));
}

TimePoint Inside::now() const { return state_.clock.now(); }

const char* Inside::clock_kind() const {
  if (detail::is_manual(state_.clock)) return "manual";
  return detail::is_instant(state_.clock) ? "instant" : "real";
}

std::vector<ManualClock::PendingWait> Inside::pending_waits() const {
  return detail::is_manual(state_.clock) ? detail::pending_waits(state_.clock)
                                         : std::vector<ManualClock::PendingWait>();
}

std::vector<ManualClock::PendingWait> Inside::advance(Duration step, const std::function<bool()>& is_given_up) const {
  return detail::advance_manual(state_.clock, step, is_given_up);
}

}  // namespace mock_gateway::internal
