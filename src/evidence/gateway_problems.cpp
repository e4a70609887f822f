// The problems and notes of `verify()`: texts, stubs never called, unmet expectations. Which of them are reported only
// once.

#include "gateway_problems.hpp"

#include <algorithm>  // any_of, find, min, move, remove_if
#include <cmath>
#include <iterator>  // back_inserter, next
#include <set>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/reporter.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../model/operation.hpp"
#include "../script/excerpts.hpp"
#include "../script/matcher_node.hpp"

namespace mock_gateway::detail {
namespace gateway_problems {

std::string expected_calls(const Range& range) {
  const double last = std::isinf(range.most()) ? range.least() : range.most();
  return range.to_string() + (last == 1 ? " call" : " calls");
}

using Calls = std::vector<RecordedCall>;

/// The maximum number of stubs to explain. Each explanation compares the stub with every request.
inline constexpr std::size_t most_explained = 20;

NearMiss compare_recorded(const StubState& stub, const RecordedCall& recorded) {
  NearMiss miss = compare(stub, recorded.call(), FunctionResults(), {});
  miss.exchange = recorded.record().id;
  miss.passed_over.clear();  // compare() read the stub's present state, not its state at the time of the request
  return miss;
}

/// Whether the stub existed when the request arrived, and did not answer it.
bool could_have_been(const StubState& stub, const RecordedCall& recorded) {
  return recorded.is_chat() && recorded.record().id > stub.plan().newest_exchange &&
         (!recorded.record().stub || recorded.record().stub->id() != stub.id());
}

/// Returns why the request did not get the stub's answer, although the stub matches, for example "no stub answered".
std::string instead(const ExchangeRecord& record, const StubState& stub) {
  const StubPlan& plan = stub.plan();
  if (!record.stub) {
    if (record.decision == Decision::Kind::unmatched) return "no stub answered";
    return "the answer was " + to_string(record.decision.kind) +
           (record.decision == Decision::Kind::forced_failure || record.decision == Decision::Kind::chaos ||
                    record.decision == Decision::Kind::rejected
                ? ", " + excerpts::plain(record.decision.detail)
                : std::string());
  }
  std::string text = record.stub->title() + " answered";
  if (!plan.in_states.empty()) {
    // The record does not contain the states at the time of the request.
    const char* separator = ": this one waits for ";
    for (const MachineState& wanted : plan.in_states) {
      text += separator + ("state machine \"" + wanted.machine + "\" to be \"" + wanted.state + "\"");
      separator = " and ";
    }
    return text;
  }
  if (record.stub->plan().priority > plan.priority) return text + ": it has a higher priority";
  if (record.stub->plan().priority == plan.priority && record.stub->id() > stub.id()) return text + ": it is newer";
  return text + (stub.removed() ? ": this one was removed" : "");
}

struct Nearest {
  const RecordedCall* call = nullptr;  // may be null
  NearMiss miss;
};

Nearest hidden(const StubState& stub, const Calls& calls) {
  for (const RecordedCall& recorded : calls) {
    if (!could_have_been(stub, recorded)) continue;
    NearMiss miss = compare_recorded(stub, recorded);
    if (all_hold(miss)) return {&recorded, std::move(miss)};
  }
  return {};
}

std::string hidden_line(const StubState& stub, const ExchangeRecord& record) {
  return "exchange " + std::to_string(record.id) + " matches this stub, but " + instead(record, stub);
}

/// Returns the closest call that the stub does not match.
Nearest closest(const StubState& stub, const Calls& calls) {
  Nearest best;
  for (const RecordedCall& recorded : calls) {
    if (!could_have_been(stub, recorded)) continue;
    NearMiss miss = compare_recorded(stub, recorded);
    if (all_hold(miss) || (best.call && miss.matched <= best.miss.matched)) continue;
    best = {&recorded, std::move(miss)};
  }
  return best;
}

void add_nearest(Problem& found, const StubState& stub, const Calls& calls) {
  Nearest match = hidden(stub, calls);
  const bool is_match = match.call != nullptr;
  Nearest nearest = is_match ? std::move(match) : closest(stub, calls);
  if (!nearest.call) return;
  NearMiss& miss = nearest.miss;
  if (is_match) {
    const ExchangeRecord& record = nearest.call->record();
    miss.passed_over = instead(record, stub);
    found.text += "  " + hidden_line(stub, record) + '\n';
  } else {
    found.text += "closest: exchange " + std::to_string(miss.exchange) + ", " + std::to_string(miss.matched) + " of " +
                  std::to_string(miss.total) + '\n' + brief(nearest.call->call()) + condition_lines(miss.conditions);
  }
  found.near_misses.push_back(std::move(miss));
}

/// Returns lines about requests that were refused while the stub existed and so were not its calls.
std::string refused(const StubState& stub, const Calls& calls) {
  constexpr std::size_t most = 3;
  std::string lines;
  std::size_t count = 0;
  for (const RecordedCall& recorded : calls) {
    const ExchangeRecord& record = recorded.record();
    const bool may_have_been_chat = record.decision == Decision::Kind::malformed || record.is_for_chat ||
                                    (record.status == 404 && record.request.method == "POST");
    const std::string reason = refusal(record);
    if (reason.empty() || !may_have_been_chat || record.id <= stub.plan().newest_exchange) continue;
    if (++count > most) continue;
    lines += "  exchange " + std::to_string(record.id) + " was refused " +
             (has_no_default_reply(record) ? "by the default reply" : "before any stub was tried") + ": " +
             std::to_string(record.status) + " " + reason + '\n';
  }
  if (count > most) {
    lines +=
        "  and " + text::counted(count - most, "more request") + (count - most == 1 ? " was" : " were") + " refused\n";
  }
  return lines;
}

/// Returns the problem of an unmet expectation. If `calls` is null, it has no explanation.
Problem unmet(const StubState& stub, const Range& expected, std::size_t calls_made, const Calls* calls) {
  Problem found{Problem::Kind::unmet_expectation, {}, {}, stub.where(), reference_to(stub)};
  found.text = "expectation not met  " + stub.title() + "  expected " + expected_calls(expected) + ", got " +
               std::to_string(calls_made) + '\n';
  if (static_cast<double>(calls_made) > expected.most()) {
    constexpr std::size_t most = 20;
    std::string ids;
    for (const RecordedCall& recorded : calls ? *calls : Calls()) {
      if (!recorded.record().stub || recorded.record().stub->id() != stub.id()) continue;
      found.exchanges.push_back(recorded.record().id);
      if (found.exchanges.size() <= most) ids += (ids.empty() ? " " : ", ") + std::to_string(recorded.record().id);
    }
    if (found.exchanges.size() > most) ids += ", …";
    if (!ids.empty()) found.text += (found.exchanges.size() == 1 ? "  exchange" : "  exchanges") + ids + '\n';
  } else if (calls) {
    add_nearest(found, stub, *calls);
    found.text += refused(stub, *calls);
  }
  found.text.pop_back();
  return found;
}

/// Returns "and 3 more problems of exchanges, not kept (unmatched)".
std::string dropped_line(const KeptProblems::Dropped& dropped) {
  const std::string count = dropped.count == 0
                                ? "perhaps more problems"
                                : (dropped.is_least ? "at least " : "") + text::counted(dropped.count, "more problem");
  return "and " + count + " of exchanges, not kept (" + to_string(dropped.kind) + ")" +
         (dropped.is_least ? ", with too many header fields for an exact count" : "");
}

void add(std::vector<std::string>& notes, std::vector<std::string> more) {
  std::move(more.begin(), more.end(), std::back_inserter(notes));
}

std::vector<std::string> of_chaos(std::string line) {
  if (line.empty()) return {};
  return {std::move(line)};
}

/// Returns the part of a note that identifies it: for an exchange under way, without the duration of its wait.
std::string identity_of(const std::string& note) {
  const bool is_of_exchange = note.compare(0, 9, "exchange ") == 0;
  return is_of_exchange ? note.substr(0, note.rfind(", for ")) : note;
}

/// Whether the note is only a count: "and 2 more exchanges …", "1 exchange is still under way".
bool is_number(const std::string& note) {
  return note.compare(0, 4, "and ") == 0 || (!note.empty() && note[0] >= '0' && note[0] <= '9');
}

}  // namespace gateway_problems

void ReportedProblems::add(const std::vector<std::string>& problems) {
  const std::lock_guard<std::mutex> lock(mutex_);
  problems_.insert(problems.begin(), problems.end());
}

bool ReportedProblems::contains(const std::string& found) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return problems_.count(found) != 0;
}

void ReportedProblems::add_notes(const std::vector<std::string>& notes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& note : notes) notes_.insert(gateway_problems::identity_of(note));
}

std::vector<std::string> ReportedProblems::new_notes(std::vector<std::string> notes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto was_there = [this](const auto& note) {
    return !notes_.insert(gateway_problems::identity_of(note)).second;
  };
  notes.erase(std::remove_if(notes.begin(), notes.end(), was_there), notes.end());
  return notes;
}

void ReportedProblems::pass_over(const std::vector<std::string>& notes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  passed_over_ = std::set<std::string>(notes.begin(), notes.end());
  for (auto note = notes_.begin(); note != notes_.end();)
    note = gateway_problems::is_number(*note) ? notes_.erase(note) : std::next(note);
}

std::vector<std::string> ReportedProblems::not_passed_over(std::vector<std::string> notes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_older = [this](const auto& note) { return passed_over_.count(note) > 0; };
  notes.erase(std::remove_if(notes.begin(), notes.end(), is_older), notes.end());
  return notes;
}

void ReportedProblems::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  problems_.clear();
  notes_.clear();
  passed_over_.clear();
}

GatewayProblems::GatewayProblems(const GatewayParts& gateway, std::vector<std::string> without_findings)
    : gateway_(gateway),
      without_findings_(std::move(without_findings)),
      sleeps_before_(expired_sleeps(gateway.clock).count) {}

void GatewayProblems::reset() {
  reported_->clear();
  sleeps_before_ = expired_sleeps(gateway_.clock).count;
}

std::string GatewayProblems::masked(std::string text) const {
  gateway_.keys->mask(text);
  return text::printable_lines(text);
}

void GatewayProblems::mask(StubReference& stub) const {
  stub.name = masked(std::move(stub.name));
  stub.title = masked(std::move(stub.title));
}

void GatewayProblems::mask(Problem& found) const {
  found.text = masked(std::move(found.text));
  mask(found.stub);
  for (NearMiss& miss : found.near_misses)
    for (std::string* const text : texts_of(miss)) *text = masked(std::move(*text));
}

Script::Stubs GatewayProblems::stubs(const RequestScope& scope) const {
  // One scope may name a key by id, the other by description.
  const auto same = [this](const RequestScope& a, const RequestScope& b) {
    if (a.key().empty() || b.key().empty()) return a == b;
    const std::vector<std::string> ids = gateway_.keys->named(a.key());
    for (const std::string& id : gateway_.keys->named(b.key()))
      if (std::find(ids.begin(), ids.end(), id) != ids.end()) return true;
    return false;
  };
  Script::Stubs stubs;
  for (auto& stub : gateway_.script->all()) {
    const auto& scopes = stub->scopes();
    const bool own = std::any_of(scopes.begin(), scopes.end(), [&](const RequestScope& of) { return same(of, scope); });
    if (scope.whole() || own) stubs.push_back(std::move(stub));
  }
  return stubs;
}

GatewayProblems::Calls GatewayProblems::calls(const RequestScope& scope, const Script::Stubs& stubs) const {
  const bool asked_for = std::any_of(stubs.begin(), stubs.end(), [](const auto& stub) {
    const std::optional<Range>& expected = stub->plan().expected_calls;
    const auto calls = static_cast<double>(stub->recorded());
    return expected ? !expected->contains(calls) : stub->recorded() == 0 && !stub->removed();
  });
  if (!asked_for) return {};
  constexpr std::size_t most = 200;
  std::vector<std::shared_ptr<ExchangeRecord>> all = gateway_.journal->snapshot();
  Calls calls;
  for (auto record = all.rbegin(); record != all.rend() && calls.size() < most; ++record)
    if (scope.covers((*record)->request)) calls.emplace_back(std::move(*record));
  return {calls.rbegin(), calls.rend()};
}

Verification GatewayProblems::verify(const RequestScope& scope, Duration patience) const {
  if (!scope.key().empty() && gateway_.keys->named(scope.key()).empty()) {
    throw GatewayError("no key of this gateway has the id or description " + excerpts::quoted(scope.key()) +
                       "; Keys::list() shows them");
  }
  gateway_.journal->wait_until_idle(scope, patience);
  const Script::Stubs considered = stubs(scope);
  const Calls recorded = calls(scope, considered);
  std::vector<Problem> all;
  std::vector<std::string> identities;
  for (auto& [found, identity] : problems(scope, considered, recorded)) {
    all.push_back(std::move(found));
    identities.push_back(std::move(identity));
  }
  std::vector<std::string> all_notes = notes(scope, considered, recorded);
  std::vector<VerifiedStub> all_stubs = verified(scope, considered, all);
  return Access::make<Verification>(std::move(all), std::move(all_notes), std::move(identities), reported_,
                                    std::move(all_stubs), gateway_.journal->evicted(), gateway_.journal->open(scope));
}

std::vector<VerifiedStub> GatewayProblems::verified(const RequestScope& scope, const Script::Stubs& stubs,
                                                    const std::vector<Problem>& problems) const {
  std::set<std::uint64_t> unmet;
  for (const KeptProblems::Dropped& dropped : gateway_.journal->problems_dropped(scope))
    if (dropped.kind == Problem::Kind::invalid) unmet.insert(dropped.stubs.begin(), dropped.stubs.end());
  for (const Problem& found : problems)
    if (found.kind == Problem::Kind::unmet_expectation || found.kind == Problem::Kind::invalid ||
        found.kind == Problem::Kind::not_searched)
      unmet.insert(found.stub.id);
  std::vector<VerifiedStub> verified;
  for (const auto& stub : stubs) {
    const StubPlan& plan = stub->plan();
    if (!plan.expected_calls && plan.validators.empty()) continue;
    verified.push_back({reference_to(*stub), stub->recorded(), plan.expected_calls, !plan.validators.empty(),
                        unmet.count(stub->id()) == 0});
    mask(verified.back().stub);
  }
  return verified;
}

GatewayProblems::Unreported GatewayProblems::unreported(bool with_problems, std::uint64_t since) const {
  const Script::Stubs considered = stubs({});
  const Calls recorded = calls({}, considered);
  std::vector<Problem> new_problems;
  for (auto& [found, identity] : problems({}, considered, recorded))
    if (with_problems && !reported_->contains(identity)) new_problems.push_back(std::move(found));
  std::vector<std::string> more_notes;
  if (!new_problems.empty() || are_notes_wanted()) more_notes = new_findings(since);
  gateway_problems::add(more_notes, reported_->new_notes(notes({}, considered, recorded)));
  std::string text = message_of(new_problems, more_notes);
  return new_problems.empty() ? Unreported{{}, lines_of(more_notes)} : Unreported{std::move(text), {}};
}

std::string GatewayProblems::new_notes(std::uint64_t since) const {
  using gateway_problems::add;
  std::vector<std::string> notes;
  add(notes,
      reported_->not_passed_over(gateway_problems::of_chaos(chaos_line(*gateway_.chaos, *gateway_.journal, {}))));
  for (std::string& line : notes_of_exchanges(*gateway_.journal, {}, since)) notes.push_back(masked(std::move(line)));
  add(notes, first_connections(reported_->not_passed_over(notes_of_connections(*gateway_.journal))));
  add(notes, notes_of_open(*gateway_.journal, {}));
  std::vector<std::string> all = new_findings(since);
  add(all, reported_->new_notes(std::move(notes)));
  return lines_of(all);
}

void GatewayProblems::pass_over_notes() const {
  std::vector<std::string> notes = notes_of_connections(*gateway_.journal);
  reported_->add_notes(notes);
  gateway_problems::add(notes, gateway_problems::of_chaos(chaos_line(*gateway_.chaos, *gateway_.journal, {})));
  reported_->pass_over(notes);
}

GatewayProblems::Problems GatewayProblems::problems(const RequestScope& scope, const Script::Stubs& stubs,
                                                    const Calls& calls) const {
  Problems problems;
  add_problems(scope, problems);
  // Connection faults and expired sleeps cannot be attributed to one test.
  if (scope.whole()) {
    add_connection_faults(problems);
    add_expired_sleeps(problems);
  }
  std::size_t unmet = 0;
  for (const auto& stub : stubs) {
    const std::optional<Range>& expected = stub->plan().expected_calls;
    const std::size_t made = stub->recorded();
    if (!expected || expected->contains(static_cast<double>(made))) continue;
    const bool explained = ++unmet <= gateway_problems::most_explained;
    problems.emplace_back(gateway_problems::unmet(*stub, *expected, made, explained ? &calls : nullptr),
                          "stub " + std::to_string(stub->id()) + " called " + std::to_string(made));
  }
  for (auto& found : problems) mask(found.first);
  return problems;
}

void GatewayProblems::add_problems(const RequestScope& scope, Problems& problems) const {
  for (RecordedProblem& recorded : gateway_.journal->problems(scope)) {
    Problem& found = recorded.problem;
    if (recorded.stub) {
      found.where = recorded.stub->where();
      found.stub = reference_to(*recorded.stub);
    }
    const std::string identity = found.text;
    problems.emplace_back(std::move(found), identity);
  }
  for (const KeptProblems::Dropped& dropped : gateway_.journal->problems_dropped(scope)) {
    const std::string line = gateway_problems::dropped_line(dropped);
    problems.emplace_back(Problem{dropped.kind, line}, line);
  }
}

void GatewayProblems::add_connection_faults(Problems& problems) const {
  for (const ConnectionFaults::Queued& queued : gateway_.connection_faults->left()) {
    const std::string count = queued.times == 1
                                  ? "no connection reached it"
                                  : std::to_string(queued.left) + " of " + std::to_string(queued.times) + " are left";
    Problem found{Problem::Kind::fault_not_reached,
                  "a fault was never reached  next connection: " + queued.fault.to_string() + " (" +
                      queued.where.to_string() + ")\n  " + count,
                  {},
                  queued.where};
    problems.emplace_back(std::move(found),
                          "connection fault " + std::to_string(queued.serial) + " left " + std::to_string(queued.left));
  }
}

void GatewayProblems::add_expired_sleeps(Problems& problems) const {
  const ExpiredSleeps expired = expired_sleeps(gateway_.clock);
  const std::size_t count = expired.count - sleeps_before_;
  if (count == 0) return;
  const std::string last = "ManualClock::sleep_for(" + text::decimal(expired.last.count(), 1000000000) + " s)";
  problems.emplace_back(Problem{Problem::Kind::guard_expired,
                                "a wait ran into its real-time guard  " +
                                    (count == 1 ? last : std::to_string(count) + " sleeps, the last " + last) +
                                    "\n  the manual clock was not advanced in time"},
                        "expired sleeps " + std::to_string(expired.count));
}

std::vector<std::string> GatewayProblems::notes(const RequestScope& scope, const Script::Stubs& stubs,
                                                const Calls& calls) const {
  using gateway_problems::add;
  std::vector<std::string> notes = gateway_problems::of_chaos(chaos_line(*gateway_.chaos, *gateway_.journal, scope));
  for (std::string& line : notes_of_exchanges(*gateway_.journal, scope, 0)) notes.push_back(masked(std::move(line)));
  // Connections cannot be attributed to one test.
  if (scope.whole()) add(notes, first_connections(notes_of_connections(*gateway_.journal)));
  std::vector<std::string> open = notes_of_open(*gateway_.journal, scope);
  for (const auto& stub : stubs) {
    // Unmet expectations are reported as problems. The catalogue's stubs were not written by the test.
    if (stub->recorded() > 0 || stub->removed() || stub->plan().expected_calls || stub->plan().of_catalogue) continue;
    const RecordedCall* const call =
        notes.size() < gateway_problems::most_explained ? gateway_problems::hidden(*stub, calls).call : nullptr;
    notes.push_back(
        masked(call ? "always hidden: " + stub->title() + ": " + gateway_problems::hidden_line(*stub, call->record())
                    : "never called: " + stub->title()));
  }
  add(notes, std::move(open));
  return notes;
}

}  // namespace mock_gateway::detail
