#include "verification.hpp"

#include <cmath>
#include <ostream>

#include "diagnosis.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace verifications {

MOCK_GATEWAY_INLINE std::string expected_calls(const Range& range) {
  const double last = std::isinf(range.most()) ? range.least() : range.most();
  return range.describe() + (last == 1 ? " call" : " calls");
}

/// Why the stub that answered came before the one that matches as well; empty when it did not.
MOCK_GATEWAY_INLINE std::string precedence(const StubState& answered, const StubState& hidden) {
  if (answered.plan().priority > hidden.plan().priority) return "has a higher priority";
  if (answered.plan().priority == hidden.plan().priority && answered.id() > hidden.id()) return "is newer";
  return {};
}

/// A line for the first exchange that the stub matches and another answered; empty when there is none.
MOCK_GATEWAY_INLINE std::string hidden(const StubState& stub,
                                       const std::vector<std::shared_ptr<ExchangeRecord>>& records) {
  for (const auto& record : records) {
    if (!record->stub || record->stub->id() == stub.id()) continue;
    const std::string why = precedence(*record->stub, stub);
    if (why.empty()) continue;
    const std::optional<Comparison> comparison = compare(stub, *record);
    if (!comparison || !comparison->matches()) continue;
    return "exchange " + std::to_string(record->id) + " matches it, but " + record->stub->title() + " answered: it " +
           why;
  }
  return {};
}

/// The exchange that came closest to the stub; empty when there is none.
MOCK_GATEWAY_INLINE std::string closest(const StubState& stub,
                                        const std::vector<std::shared_ptr<ExchangeRecord>>& records) {
  const ExchangeRecord* best = nullptr;
  Comparison best_comparison;
  for (const auto& record : records) {
    if (record->stub && record->stub->id() == stub.id()) continue;
    std::optional<Comparison> comparison = compare(stub, *record);
    if (!comparison || comparison->matches() || (best && comparison->matched <= best_comparison.matched)) continue;
    best = record.get();
    best_comparison = std::move(*comparison);
  }
  if (!best) return {};
  return "closest: exchange " + std::to_string(best->id) + ", " + std::to_string(best_comparison.matched) + " of " +
         std::to_string(best_comparison.total) + '\n' + brief(*best) + condition_lines(best_comparison.conditions);
}

MOCK_GATEWAY_INLINE VerificationIssue unmet(const StubState& stub, const Range& expected, std::size_t calls_made,
                                            const std::vector<std::shared_ptr<ExchangeRecord>>& records) {
  VerificationIssue issue{VerificationIssue::Kind::unmet_expectation, {}, {}, stub.plan().where};
  issue.text = "expectation not met  " + stub.title() + "  expected " + expected_calls(expected) + ", got " +
               std::to_string(calls_made) + '\n';
  if (static_cast<double>(calls_made) > expected.most()) {
    std::string ids;
    for (const auto& record : records) {
      if (!record->stub || record->stub->id() != stub.id()) continue;
      issue.exchanges.push_back(record->id);
      ids += (ids.empty() ? " " : ", ") + std::to_string(record->id);
    }
    if (!ids.empty()) issue.text += (issue.exchanges.size() == 1 ? "  exchange" : "  exchanges") + ids + '\n';
  } else if (const std::string line = hidden(stub, records); !line.empty()) {
    issue.text += "  " + line + '\n';
  } else {
    issue.text += closest(stub, records);
  }
  issue.text.pop_back();
  return issue;
}

MOCK_GATEWAY_INLINE VerificationIssue::Kind kind(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::unmatched: return VerificationIssue::Kind::unmatched;
    case Problem::Kind::invalid: return VerificationIssue::Kind::invalid;
    case Problem::Kind::callback_failed: return VerificationIssue::Kind::callback_failed;
    case Problem::Kind::fault_not_reached: return VerificationIssue::Kind::fault_not_reached;
    case Problem::Kind::guard_expired: break;
  }
  return VerificationIssue::Kind::guard_expired;
}

MOCK_GATEWAY_INLINE std::string message(const std::vector<VerificationIssue>& issues,
                                        const std::vector<std::string>& notes) {
  std::string text;
  if (issues.size() > 1) text = std::to_string(issues.size()) + " problems\n\n";
  for (const VerificationIssue& issue : issues) text += (&issue == &issues.front() ? "" : "\n\n") + issue.text;
  for (const std::string& note : notes) text += '\n' + note;
  return text;
}

}  // namespace verifications
}  // namespace detail

MOCK_GATEWAY_INLINE std::string to_string(VerificationIssue::Kind kind) {
  switch (kind) {
    case VerificationIssue::Kind::unmatched: return "unmatched";
    case VerificationIssue::Kind::unmet_expectation: return "unmet expectation";
    case VerificationIssue::Kind::invalid: return "invalid";
    case VerificationIssue::Kind::callback_failed: return "callback failed";
    case VerificationIssue::Kind::fault_not_reached: return "fault not reached";
    case VerificationIssue::Kind::guard_expired: return "guard expired";
    case VerificationIssue::Kind::out_of_order: return "out of order";
  }
  return "unknown";
}

MOCK_GATEWAY_INLINE std::ostream& operator<<(std::ostream& out, VerificationIssue::Kind kind) {
  return out << to_string(kind);
}

namespace detail {

MOCK_GATEWAY_INLINE void Told::tell(const std::vector<std::string>& issues) {
  const std::lock_guard<std::mutex> lock(mutex_);
  issues_.insert(issues.begin(), issues.end());
}

MOCK_GATEWAY_INLINE bool Told::knows(const std::string& issue) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return issues_.count(issue) != 0;
}

MOCK_GATEWAY_INLINE void Told::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  issues_.clear();
}

}  // namespace detail

MOCK_GATEWAY_INLINE Verification::Verification(std::vector<VerificationIssue> issues, std::vector<std::string> notes,
                                               std::vector<std::string> identities, std::shared_ptr<detail::Told> told)
    : issues_(std::move(issues)),
      notes_(std::move(notes)),
      identities_(std::move(identities)),
      told_(std::move(told)) {}

MOCK_GATEWAY_INLINE const std::vector<VerificationIssue>& Verification::issues() const {
  if (told_) told_->tell(identities_);
  return issues_;
}

MOCK_GATEWAY_INLINE std::string Verification::message() const {
  std::string text = detail::verifications::message(issues(), notes_);
  return issues_.empty() ? "nothing is wrong" + text : text;
}

MOCK_GATEWAY_INLINE std::ostream& operator<<(std::ostream& out, const Verification& verification) {
  return out << verification.message();
}

namespace detail {

MOCK_GATEWAY_INLINE Verifier::Verifier(std::shared_ptr<Script> script, std::shared_ptr<JournalState> journal,
                                       bool unmatched_allowed)
    : script_(std::move(script)), journal_(std::move(journal)), unmatched_allowed_(unmatched_allowed) {}

MOCK_GATEWAY_INLINE void Verifier::reset() { told_->clear(); }

MOCK_GATEWAY_INLINE Script::Stubs Verifier::stubs(const RequestScope& scope) const {
  Script::Stubs stubs;
  for (auto& stub : script_->all())
    if (scope.whole() || stub->scope() == scope) stubs.push_back(std::move(stub));
  return stubs;
}

MOCK_GATEWAY_INLINE Verifier::Records Verifier::records(const RequestScope& scope) const {
  constexpr std::size_t most = 200;  // the newest: each is parsed for each stub that wants to know
  Records all = journal_->snapshot();
  Records records;
  for (auto record = all.rbegin(); record != all.rend() && records.size() < most; ++record)
    if (scope.covers((*record)->request)) records.push_back(std::move(*record));
  return {records.rbegin(), records.rend()};
}

MOCK_GATEWAY_INLINE Verification Verifier::verify(const RequestScope& scope, Duration patience) const {
  journal_->wait_until_idle(scope, patience);
  const Script::Stubs considered = stubs(scope);
  const Records recorded = records(scope);
  std::vector<VerificationIssue> found;
  std::vector<std::string> identities;
  for (auto& [issue, identity] : issues(scope, considered, recorded)) {
    found.push_back(std::move(issue));
    identities.push_back(std::move(identity));
  }
  return {std::move(found), notes(considered, recorded), std::move(identities), told_};
}

MOCK_GATEWAY_INLINE std::string Verifier::untold() const {
  const Script::Stubs considered = stubs({});
  const Records recorded = records({});
  std::vector<VerificationIssue> untold;
  for (auto& [issue, identity] : issues({}, considered, recorded))
    if (!told_->knows(identity)) untold.push_back(std::move(issue));
  return untold.empty() ? "" : verifications::message(untold, notes(considered, recorded));
}

MOCK_GATEWAY_INLINE Verifier::Issues Verifier::issues(const RequestScope& scope, const Script::Stubs& stubs,
                                                      const Records& records) const {
  Issues issues;
  add_problems(scope, issues);
  for (const auto& stub : stubs) {
    const std::optional<Range>& expected = stub->plan().expected_calls;
    const std::size_t calls = stub->recorded();
    if (!expected || expected->contains(static_cast<double>(calls))) continue;
    issues.emplace_back(verifications::unmet(*stub, *expected, calls, records),
                        "stub " + std::to_string(stub->id()) + " called " + std::to_string(calls));
  }
  return issues;
}

MOCK_GATEWAY_INLINE void Verifier::add_problems(const RequestScope& scope, Issues& issues) const {
  for (const Problem& problem : journal_->problems()) {
    if (!scope.covers(problem.request)) continue;
    if (problem.kind == Problem::Kind::unmatched && unmatched_allowed_) continue;
    const std::string first = headline(problem);
    VerificationIssue issue{verifications::kind(problem.kind), first + '\n' + problem.text,
                            std::vector<std::uint64_t>{problem.exchange},
                            problem.stub ? problem.stub->plan().where : SourceLocation{}};
    issues.emplace_back(std::move(issue), first + problem.text);
  }
  if (const std::size_t dropped = journal_->problems_dropped(); dropped > 0 && scope.whole()) {
    issues.emplace_back(VerificationIssue{VerificationIssue::Kind::unmatched,
                                          "and " + std::to_string(dropped) + " more problems of exchanges, not kept"},
                        "dropped " + std::to_string(dropped));
  }
}

MOCK_GATEWAY_INLINE std::vector<std::string> Verifier::notes(const Script::Stubs& stubs, const Records& records) const {
  std::vector<std::string> notes;
  for (const auto& stub : stubs) {
    // What an expectation says is told as an issue.
    if (stub->recorded() > 0 || stub->removed() || stub->plan().expected_calls) continue;
    const std::string line = verifications::hidden(*stub, records);
    notes.push_back(line.empty() ? "never called: " + stub->title() : "always hidden: " + stub->title() + ": " + line);
  }
  return notes;
}

MOCK_GATEWAY_INLINE Verification verify_order(const std::vector<std::shared_ptr<StubState>>& stubs) {
  std::vector<VerificationIssue> issues;
  const StubState* previous = nullptr;
  for (const auto& stub : stubs) {
    VerificationIssue issue{VerificationIssue::Kind::out_of_order, {}, {}, stub->plan().where};
    if (stub->recorded() == 0) {
      issue.text = "out of order  " + stub->title() + " was not called";
    } else if (previous != nullptr && previous->last_exchange() > stub->first_exchange()) {
      issue.text = "out of order  " + stub->title() + " answered exchange " + std::to_string(stub->first_exchange()) +
                   ", before " + previous->title() + " answered exchange " + std::to_string(previous->last_exchange());
      issue.exchanges = {stub->first_exchange(), previous->last_exchange()};
    }
    if (!issue.text.empty()) issues.push_back(std::move(issue));
    if (stub->recorded() > 0) previous = stub.get();
  }
  return {std::move(issues), {}, {}, nullptr};
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
