// The records of exchanges: publication, eviction, exchanges under way, errors such as "exchange 3 was evicted …".

#include "record.hpp"

#include <algorithm>  // any_of, count_if, find, find_if, lower_bound, min, none_of, sort
#include <chrono>
#include <set>
#include <utility>

#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "../model/failure.hpp"
#include "diagnosis.hpp"

namespace mock_gateway::detail {
namespace journal {

std::chrono::steady_clock::time_point deadline(Duration timeout) {
  constexpr Duration year = std::chrono::hours{24 * 365};
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::min(timeout, year));
}

std::string scripted_wait(const ExchangeRecord& record) {
  const std::optional<ScriptedWait> wait = record.progress.scripted_wait();
  return wait ? "; exchange " + std::to_string(record.id) + " " + wait->under_way() : "";
}

Outcome outcome_of(const ExchangeRecord& record) {
  const bool is_pending = record.outcome == Outcome::Kind::pending;
  return {record.outcome, record.progress.events, is_pending ? record.progress.pending() : ""};
}

/// The caller holds the journal's mutex.
bool is_open(const ExchangeRecord& record, const RequestScope& scope) {
  return record.outcome == Outcome::Kind::pending && !record.unattended && scope.covers(record.request);
}

/// Returns the heap memory of a value, in bytes. A short string needs none, because it fits into its object.
std::size_t heap_of(const std::string& text) {
  const std::size_t capacity_inside = std::string().capacity();
  return text.capacity() > capacity_inside ? text.capacity() + 1 : 0;
}

std::size_t heap_of(const wire::Headers& headers) {
  std::size_t total = 0;
  for (const wire::Header& header : headers) total += sizeof header + heap_of(header.name) + heap_of(header.value);
  return total;
}

std::size_t heap_of(const ConnectionFault& fault) {
  std::size_t total = heap_of(fault.bytes());
  if (const std::optional<Failure>& failure = fault.failure()) {
    total += heap_of(failure->code()) + heap_of(failure->message()) + heap_of(failure->type()) +
             heap_of(failure->param()) + heap_of(failure->headers(TimePoint{})) + heap_of(failure->content_type());
    if (failure->raw_body()) total += heap_of(*failure->raw_body());
  }
  return total;
}

std::size_t heap_of(const NearMiss& miss) {
  std::size_t total = sizeof(NearMiss) + heap_of(miss.stub.name) + heap_of(miss.stub.title) + heap_of(miss.passed_over);
  for (const NearMiss::Condition& condition : miss.conditions)
    total += sizeof(NearMiss::Condition) + heap_of(condition.expected) + heap_of(condition.actual);
  return total;
}

/// Returns the parts of a request that scopes compare, without the body.
ReceivedRequest without_body(const ReceivedRequest& request) {
  ReceivedRequest copy;
  copy.method = request.method;
  copy.target = request.target;
  copy.headers = request.headers;
  copy.key_id = request.key_id;
  copy.key_description = request.key_description;
  return copy;
}

}  // namespace journal

void ExchangeRecord::weigh() {
  using journal::heap_of;
  std::size_t total = sizeof(ExchangeRecord) + heap_of(request.headers);
  for (const std::string* text :
       {&request.method, &request.target, &request.body, &request.key_id, &request.key_description, &raw_head,
        &raw_body, &decision.detail, &refusal, &root_url, &advice.code, &redirect})
    total += heap_of(*text);
  for (const Finding& finding : findings)  // each has one exchange id
    total += sizeof(Finding) + sizeof(std::uint64_t) + heap_of(finding.code) + heap_of(finding.message);
  for (const ChaosStrike& strike : chaos) total += sizeof(ChaosStrike) + heap_of(strike.text);
  if (connection_fault) total += heap_of(*connection_fault);
  for (const NearMiss& miss : near_misses) total += heap_of(miss);
  own_weight = total;
}

std::unique_lock<std::mutex> ExchangeRecord::lock() const {
  // Before publication no other thread has the record.
  return signal ? std::unique_lock<std::mutex>(signal->mutex) : std::unique_lock<std::mutex>();
}

void ExchangeRecord::mark_first_byte(TimePoint at, RealTime real) {
  const auto locked = lock();
  if (first_byte) return;
  first_byte = at;
  answered = real;
}

void ExchangeRecord::mark_client_closed(const Leaving& leaving) {
  {
    const auto locked = lock();
    if (departure) return;
    departure = Departure{leaving.is_reset ? Departure::How::reset : Departure::How::closed,
                          progress.events,
                          progress.tokens,
                          bytes,
                          bytes - std::min(bytes.load(), leaving.under_way),
                          leaving.at,
                          leaving.after_last_write};
    left = std::chrono::steady_clock::now();
  }
  if (signal) signal->changed.notify_all();
}

void ExchangeRecord::mark_unattended(bool is) {
  if (!signal) return;
  {
    const auto locked = lock();
    if (unattended == is) return;
    unattended = is;
    is ? --signal->under_way : ++signal->under_way;
  }
  signal->changed.notify_all();
}

bool ExchangeRecord::has_guard_expired() const {
  const auto locked = lock();
  return guard_expired;
}

void ExchangeRecord::mark_chaos_missed(std::size_t strike) {
  const auto locked = lock();
  chaos[strike].missed = true;
}

void ExchangeRecord::mark_delivered(std::vector<ScriptedFault> scripted, std::string what_was_unusual) {
  const auto locked = lock();
  faults = std::move(scripted);
  unusual = std::move(what_was_unusual);
}

std::vector<ExchangeRecord::ScriptedFault> ExchangeRecord::scripted_faults() const {
  const auto locked = lock();
  return faults;
}

std::size_t ExchangeRecord::chaos_strikes() const {
  if (chaos.empty()) return 0;
  const auto locked = lock();
  return static_cast<std::size_t>(
      std::count_if(chaos.begin(), chaos.end(), [](const ChaosStrike& strike) { return !strike.missed; }));
}

void ExchangeRecord::mark_guard_expired() {
  {
    const auto locked = lock();
    guard_expired = true;
  }
  if (signal) signal->changed.notify_all();
}

JournalState::JournalState(std::size_t max_entries, std::size_t max_bytes)
    : max_entries_(max_entries), max_bytes_(max_bytes) {
  if (max_entries == 0 || max_bytes == 0) {
    throw GatewayError("journal_limits(entries, bytes) needs at least 1 of each; the newest exchange is always kept");
  }
}

std::uint64_t JournalState::reserve_id() {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  reserved_.insert(++newest_);
  return newest_;
}

void JournalState::settle_reserved(ExchangeRecord& record) {
  if (reserved_.erase(record.id) == 0) return;
  for (const auto& [scope, newest] : forgotten_)
    record.forgotten = record.forgotten || (record.id <= newest && scope.covers(record.request));
  if (reserved_.empty()) forgotten_.clear();
}

void JournalState::add(std::shared_ptr<ExchangeRecord> record) {
  std::vector<std::shared_ptr<ExchangeRecord>> removed;  // freed after the lock
  record->weigh();
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    record->number = ++added_;
    if (record->id == 0) record->id = ++newest_;
    settle_reserved(*record);
    record->signal = signal_;
    record->recorded = std::chrono::steady_clock::now();
    record->machine_time = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    // Under the lock, so that a thread that sees the count finds the record.
    if (record->stub && !record->repeats) record->stub->count_recorded(record->id);
    for (Finding& finding : record->findings) finding.exchanges = {record->id};
    for (NearMiss& miss : record->near_misses) miss.exchange = record->id;
    for (RecordedProblem& problem : record->problems) keep(*record, std::move(problem));
    record->problems.clear();
    bytes_ += record->weight();
    auto place = records_.end();  // a record with a larger id may have been published before
    while (place != records_.begin() && (*(place - 1))->id > record->id) --place;
    records_.insert(place, std::move(record));
    evict(removed);
  }
  signal_->changed.notify_all();
}

void JournalState::evict(std::vector<std::shared_ptr<ExchangeRecord>>& removed) {
  while (records_.size() > 1 && (records_.size() > max_entries_ || bytes_ > max_bytes_)) {
    bytes_ -= records_.front()->weight();
    removed.push_back(std::move(records_.front()));
    records_.pop_front();
    ++evicted_;
  }
}

std::deque<std::shared_ptr<ExchangeRecord>>::iterator JournalState::find(const ExchangeRecord& record) {
  const auto found = std::lower_bound(records_.begin(), records_.end(), record.id,
                                      [](const auto& kept, std::uint64_t wanted) { return kept->id < wanted; });
  return found != records_.end() && found->get() == &record ? found : records_.end();
}

void JournalState::report(const ExchangeRecord& record, RecordedProblem problem) {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  keep(record, std::move(problem));
}

void JournalState::keep(const ExchangeRecord& record, RecordedProblem recorded) {
  if (record.epoch != epoch_ || record.forgotten) return;  // belongs to an earlier test
  recorded.request = journal::without_body(record.request);
  if (!recorded.stub) recorded.stub = record.stub;
  Problem& problem = recorded.problem;
  problem.exchanges = {record.id};
  problem.text = headline(problem.kind, record.request, record.id) + '\n' + text::printable_lines(problem.text);
  for (NearMiss& miss : problem.near_misses) miss.exchange = record.id;
  problems_.add(std::move(recorded));
}

std::vector<RecordedProblem> JournalState::problems(const RequestScope& scope) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return problems_.of(scope);
}

std::vector<KeptProblems::Dropped> JournalState::problems_dropped(const RequestScope& scope) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return problems_.dropped(scope);
}

void JournalState::forget_problems() {
  std::vector<RecordedProblem> removed;  // freed after the lock
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  removed = problems_.clear();
  ++epoch_;
}

std::uint64_t JournalState::newest_id() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return newest_;
}

void JournalState::began() {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  ++signal_->under_way;
}

void JournalState::dropped() {
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    --signal_->under_way;
  }
  signal_->changed.notify_all();
}

void JournalState::hit(ConnectionHit hit) {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  hits_.push_back(std::move(hit));
  if (hits_.size() > max_entries_) hits_.pop_front();
}

std::vector<ConnectionHit> JournalState::hits() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return {hits_.begin(), hits_.end()};
}

void JournalState::end(ExchangeRecord& record, Outcome::Kind outcome, TimePoint at) {
  std::vector<std::shared_ptr<ExchangeRecord>> removed;  // freed after the lock
  const AnswerLog* const log = record.progress.log.get();
  // The log of an exchange under Gateway::sweep() is kept whole and does not count towards the byte limit.
  const std::size_t answer = log && !log->keeps_all() ? log->weight() : 0;
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    if (record.outcome != Outcome::Kind::pending) return;
    record.outcome = outcome;
    record.ended = at;
    record.over = std::chrono::steady_clock::now();
    if (!std::exchange(record.unattended, false)) --signal_->under_way;
    const auto found = record.forgotten || answer > 0 ? find(record) : records_.end();
    if (found != records_.end() && record.forgotten) {
      bytes_ -= record.weight();
      removed.push_back(std::move(*found));
      records_.erase(found);
    } else if (found != records_.end()) {
      record.answer_weight = answer;
      bytes_ += answer;
      evict(removed);
    }
  }
  signal_->changed.notify_all();
}

std::vector<std::shared_ptr<ExchangeRecord>> JournalState::snapshot() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return {records_.begin(), records_.end()};
}

std::size_t JournalState::added() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return added_while_locked();
}

std::size_t JournalState::evicted() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return evicted_;
}

void JournalState::clear() {
  std::deque<std::shared_ptr<ExchangeRecord>> removed;  // freed after the lock
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    removed.swap(records_);
    hits_.clear();
    bytes_ = 0;
    cleared_ = added_;
    cleared_id_ = newest_;
    evicted_ = 0;
  }
  signal_->changed.notify_all();
}

void JournalState::forget(const RequestScope& scope) {
  std::deque<std::shared_ptr<ExchangeRecord>> kept;  // dropped records are freed after the lock
  std::vector<RecordedProblem> problems;             // freed after the lock too
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  for (const auto& record : records_) {
    const bool is_covered = scope.covers(record->request);
    record->forgotten = record->forgotten || is_covered;
    if (is_covered && record->outcome != Outcome::Kind::pending)
      bytes_ -= record->weight();
    else
      kept.push_back(record);
  }
  records_.swap(kept);
  problems = problems_.forget(scope);
  if (!reserved_.empty()) forgotten_.emplace_back(scope, newest_);
}

JournalState::Changes JournalState::changes_since(std::uint64_t number) const {
  Changes changes;
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    changes.number = added_;
    changes.oldest = records_.empty() ? newest_ + 1 : records_.front()->id;
    // Searches backwards, because new records are near the newest id. Stops when all are found; evicted ones never are.
    std::uint64_t missing = added_ - std::min(number, added_);
    for (auto record = records_.rbegin(); missing > 0 && record != records_.rend(); ++record) {
      if ((*record)->number <= number) continue;
      changes.added.push_back(*record);
      --missing;
    }
  }
  std::sort(changes.added.begin(), changes.added.end(),
            [](const auto& left, const auto& right) { return left->number < right->number; });
  return changes;
}

std::vector<std::shared_ptr<ExchangeRecord>> JournalState::take_ended(
    std::vector<std::shared_ptr<ExchangeRecord>>& pending) const {
  std::vector<std::shared_ptr<ExchangeRecord>> ended;
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  std::size_t left = 0;
  for (auto& record : pending) {
    if (record->outcome == Outcome::Kind::pending)
      pending[left++].swap(record);
    else
      ended.push_back(std::move(record));
  }
  pending.resize(left);
  return ended;
}

std::shared_ptr<ExchangeRecord> JournalState::last() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  if (!records_.empty()) return records_.back();
  throw GatewayError(added_ == 0 ? "no exchange has been recorded yet; Journal::wait_for(1, timeout) waits for one"
                                 : "no exchange has been recorded since the journal was cleared");
}

std::shared_ptr<ExchangeRecord> JournalState::at(std::uint64_t id) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  const std::string name = "exchange " + std::to_string(id);
  if (id == 0) throw GatewayError("exchange numbers start at 1");
  const auto found = std::lower_bound(records_.begin(), records_.end(), id,
                                      [](const auto& record, std::uint64_t wanted) { return record->id < wanted; });
  if (found != records_.end() && (*found)->id == id) return *found;
  if (id > newest_) {
    throw GatewayError("there is no " + name + " yet; " +
                       (newest_ == 0 ? "none has been recorded" : "the newest is " + std::to_string(newest_)));
  }
  if (id <= cleared_id_) throw GatewayError(name + " was removed when the journal was cleared");
  if (evicted_ > 0 && found == records_.begin())
    throw GatewayError(name + " was evicted because the journal was full; Options::journal_limits raises its limits");
  throw GatewayError(
      name + " is not recorded: it is still waiting for its answer, or was removed together with its test's key");
}

bool JournalState::wait(Duration timeout, const std::function<bool()>& condition) const {
  std::unique_lock<std::mutex> lock(signal_->mutex);
  return signal_->changed.wait_until(lock, journal::deadline(timeout), condition);
}

void JournalState::wait_until_idle(const RequestScope& scope, Duration patience) const {
  static_cast<void>(wait(patience, [&] { return open_while_locked(scope) == 0; }));
}

std::size_t JournalState::open(const RequestScope& scope) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return open_while_locked(scope);
}

std::vector<std::shared_ptr<ExchangeRecord>> JournalState::open_records(const RequestScope& scope) const {
  std::vector<std::shared_ptr<ExchangeRecord>> open;
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  for (const auto& record : records_)
    if (journal::is_open(*record, scope)) open.push_back(record);
  return open;
}

std::size_t JournalState::open_while_locked(const RequestScope& scope) const {
  if (scope.whole()) return signal_->under_way;
  return static_cast<std::size_t>(std::count_if(
      records_.begin(), records_.end(), [&scope](const auto& record) { return journal::is_open(*record, scope); }));
}

std::string JournalState::scripted_waits() const {
  constexpr std::size_t most = 3;
  std::string all;
  std::size_t waiting = 0;
  for (const auto& record : snapshot()) {
    const std::string wait = journal::scripted_wait(*record);
    if (!wait.empty() && ++waiting <= most) all += wait;
  }
  return waiting > most ? all + "; and " + std::to_string(waiting - most) + " more wait as scripted" : all;
}

std::shared_ptr<ExchangeRecord> JournalState::last_of_stub(const StubState& stub) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  const auto found = std::find_if(records_.rbegin(), records_.rend(),
                                  [&stub](const auto& record) { return record->stub.get() == &stub; });
  return found == records_.rend() ? nullptr : *found;
}

}  // namespace mock_gateway::detail
