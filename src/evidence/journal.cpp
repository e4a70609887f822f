// Decisions, outcomes and departures with their names; `Journal` and its waits; the header declares `Exchange`.

#include "journal.hpp"

#include <ostream>
#include <set>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "diagnosis.hpp"
#include "record.hpp"

namespace mock_gateway {

std::string to_string(Decision::Kind kind) {
  switch (kind) {
    case Decision::Kind::stub: return "stub";
    case Decision::Kind::default_reply: return "default reply";
    case Decision::Kind::unmatched: return "unmatched";
    case Decision::Kind::forced_failure: return "forced failure";
    case Decision::Kind::chaos: return "chaos";
    case Decision::Kind::rejected: return "rejected";
    case Decision::Kind::models: return "models";
    case Decision::Kind::embeddings: return "embeddings";
    case Decision::Kind::handler: return "handler";
    case Decision::Kind::preflight: return "preflight";
    case Decision::Kind::callback_failed: return "callback failed";
    case Decision::Kind::answer_failed: return "answer failed";
    case Decision::Kind::malformed: return "malformed";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Decision::Kind kind) { return out << to_string(kind); }

namespace detail {
namespace journal {

std::string text_of(const Decision& decision) {
  if (decision.detail.empty()) return to_string(decision.kind);
  const bool plain_name = decision.kind == Decision::Kind::stub && decision.detail.find('"') == std::string::npos;
  const std::string detail = text::printable_lines(decision.detail);
  return to_string(decision.kind) + (plain_name ? " \"" + detail + '"' : " (" + detail + ')');
}

std::string text_of(const Outcome& outcome) {
  if (!outcome.waiting.empty()) return to_string(outcome.kind) + ": " + outcome.waiting;
  // The number of events matters only if the answer broke off.
  if (outcome.kind == Outcome::Kind::completed || outcome.events == 0) return to_string(outcome.kind);
  return to_string(outcome.kind) + " after " + text::counted(outcome.events, "event");
}

/// Returns the exchanges whose records are wanted, oldest first.
template <class IsWanted>
std::vector<Exchange> exchanges(const JournalState& state, IsWanted is_wanted) {
  std::vector<Exchange> exchanges;
  for (auto& record : state.snapshot())
    if (is_wanted(record)) exchanges.emplace_back(std::move(record));
  return exchanges;
}

}  // namespace journal
}  // namespace detail

std::ostream& operator<<(std::ostream& out, const Decision& decision) {
  return out << detail::journal::text_of(decision);
}

std::string to_string(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::pending: return "pending";
    case Outcome::Kind::completed: return "completed";
    case Outcome::Kind::client_left: return "client left";
    case Outcome::Kind::broken_by_fault: return "broken by fault";
    case Outcome::Kind::client_stalled: return "client stalled";
    case Outcome::Kind::stopped: return "stopped";
    case Outcome::Kind::guard_expired: return "guard expired";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Outcome::Kind kind) { return out << to_string(kind); }

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) { return out << detail::journal::text_of(outcome); }

std::string to_string(Departure::How how) { return how == Departure::How::reset ? "reset" : "closed"; }

std::ostream& operator<<(std::ostream& out, Departure::How how) { return out << to_string(how); }

std::ostream& operator<<(std::ostream& out, const Departure& departure) {
  return out << departure.how << " after " << detail::text::counted(departure.events, "event");
}

Journal::Journal(std::shared_ptr<detail::JournalState> state) : state_(std::move(state)) {}

std::size_t Journal::count() const { return state_->added(); }

std::size_t Journal::evicted() const { return state_->evicted(); }

std::vector<Exchange> Journal::all() const {
  return detail::journal::exchanges(*state_, [](const auto&) { return true; });
}

Exchange Journal::last() const { return Exchange(state_->last()); }

Exchange Journal::at(std::uint64_t id) const { return Exchange(state_->at(id)); }

std::vector<Exchange> Journal::by_key(const std::string& key_id) const {
  return detail::journal::exchanges(*state_, [&](const auto& record) { return record->request.key_id == key_id; });
}

std::vector<Exchange> Journal::in(const RequestScope& scope) const {
  return detail::journal::exchanges(*state_, [&](const auto& record) { return scope.covers(record->request); });
}

std::vector<Exchange> Journal::find(const std::vector<Matcher>& conditions) const {
  return detail::journal::exchanges(*state_,
                                    [&](const auto& record) { return detail::RecordedCall(record).meets(conditions); });
}

ExchangeCount Journal::count(const std::vector<Matcher>& conditions) const {
  const bool at_least = evicted() > 0;  // also read before the search, because clear() resets it
  const std::size_t found = find(conditions).size();
  return {found, at_least || evicted() > 0};
}

std::ostream& operator<<(std::ostream& out, const ExchangeCount& count) { return out << count.to_string(); }

std::vector<ConnectionHit> Journal::connection_hits() const { return state_->hits(); }

std::size_t Journal::connections() const {
  std::set<std::uint64_t> ids;
  for (const auto& record : state_->snapshot()) ids.insert(record->connection_id);
  return ids.size();
}

Wait Journal::wait_for(std::size_t count, Duration timeout) const {
  std::size_t recorded = 0;
  const bool fulfilled = state_->wait(timeout, [&] { return (recorded = state_->added_while_locked()) >= count; });
  if (fulfilled) return detail::Access::make<Wait>(true, detail::text::counted(recorded, "exchange") + " recorded");
  return detail::Access::make<Wait>(false,
                                    std::to_string(recorded) + " of " + detail::text::counted(count, "exchange") +
                                        (count == 1 ? " was recorded" : " were recorded") + state_->scripted_waits());
}

Wait Journal::wait_until_idle(Duration timeout) const {
  std::size_t under_way = 0;
  const bool idle = state_->wait(timeout, [&] { return (under_way = state_->open_while_locked({})) == 0; });
  if (idle) return detail::Access::make<Wait>(true, "no request is under way");
  std::string message = detail::text::counted(under_way, "request") + (under_way == 1 ? " is" : " are") + " under way";
  std::size_t named = 0;
  for (const Exchange& exchange : all()) {
    if (exchange.outcome(Duration::zero()) != Outcome::Kind::pending) continue;
    if (++named > 3) break;
    message += (named == 1 ? ": " : "; ") + exchange.summary();
  }
  return detail::Access::make<Wait>(false, message);
}

void Journal::clear() const { state_->clear(); }

}  // namespace mock_gateway
