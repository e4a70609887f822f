#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../core/access.hpp"
#include "../core/shared.hpp"
#include "../delivery/progress.hpp"
#include "../http/exchange_observer.hpp"
#include "../model/fault.hpp"
#include "../request/chat_parser.hpp"
#include "../script/near_miss.hpp"
#include "../script/scope.hpp"
#include "../script/script.hpp"
#include "journal.hpp"
#include "kept_problems.hpp"
#include "verification.hpp"

namespace mock_gateway::detail {

class KeyStore;

/// One for all records of a journal: an outcome is waited for at most by a test's few threads.
struct JournalSignal {
  std::mutex mutex;
  std::condition_variable changed;
  /// Requests that have begun to arrive and have not ended, without those that only wait although their client has
  /// closed its side.
  std::size_t under_way = 0;
};

/// What an answer told the client about trying again.
struct RetryAdvice {
  /// The error's code; empty when the answer was none of the gateway's error bodies.
  std::string code;
  /// Time from the answer on that retry-after-ms, else Retry-After in seconds, named; only when positive.
  std::optional<Duration> after;
  /// The field was retry-after-ms.
  bool in_milliseconds = false;
  /// The moment that Retry-After, a date, names.
  std::optional<TimePoint> not_before;
  /// `x-should-retry`.
  std::optional<bool> should_retry;
  /// Time from the answer on that the body of a 429 names, where no header does; positive.
  std::optional<Duration> in_body;
  /// The body of a 429 names the quota of a day.
  bool of_a_day = false;
};

/// Where a secret stood that belongs into the Authorization header alone.
struct Leaks {
  bool in_target = false;
  bool in_body = false;
  /// Tells two credentials apart that both are none of the gateway's; 0 without one. Nothing can be read from it.
  std::uint64_t credential = 0;
  /// The same of any credential that the request presented.
  std::uint64_t presented = 0;
};

/// What is known of one exchange. The first block is written before the record is published and never after;
/// counters are atomic; the rest is guarded by the signal's mutex.
struct ExchangeRecord final : ExchangeObserver {
  /// A rule of chaos that struck it.
  struct ChaosStrike {
    std::string text;
    /// The rule broke the reply, or would have.
    bool fault = false;
    /// The reply did not come to the fault. Guarded by the signal's mutex.
    bool missed = false;
  };

  /// A fault that the reply of a stub was scripted with.
  struct ScriptedFault {
    Fault fault;
    /// The reply came to its trigger.
    bool reached = false;
  };

  std::uint64_t id = 0;
  std::uint64_t number = 0;  // counts publications, whose order is not always that of ids
  std::uint64_t connection_id = 0;
  std::size_t position = 0;
  ReceivedRequest request;
  std::string raw_head;
  std::string raw_body;  // only when it differs from request.body: a chunked one
  Decision decision;
  std::string refusal;              // the message of a failure of the documented rules, or of what is no HTTP
  std::shared_ptr<StubState> stub;  // that answers; null when none does
  int status = 0;
  TimePoint received{};
  bool chat = false;  // the body is a valid chat request
  Acceptance acceptance;
  ChatLimits limits;
  std::vector<Finding> findings;
  std::string root_url;
  std::optional<ConnectionFault> connection_fault;
  bool under_chaos = false;  // there were rules that could strike it
  std::vector<ChaosStrike> chaos;
  RetryAdvice advice;
  std::string redirect;  // the absolute URL to which its answer redirected; empty: it did to none
  Leaks leaks;
  /// How often keys, script or forced failures had been changed when the request came: a request that is sent again
  /// after a change is no retry.
  std::uint64_t changes = 0;
  bool origin_is_named = false;  // Options::cors has its Origin
  std::uint64_t epoch = 0;
  /// The real time at which its client sent it, at the earliest.
  std::chrono::steady_clock::time_point sendable{};
  std::size_t own_weight = 0;  // weight() without the answer
  /// The exchange whose stream was unfinished on the same connection when the request arrived; 0: none.
  std::uint64_t behind_stream = 0;
  /// What verify() has to report of it.
  std::vector<RecordedProblem> problems;
  /// The stubs that came closest to a request that none answered.
  std::vector<NearMiss> near_misses;
  /// The gateway's, which mask what the test's author wrote: the names of a stub and a key. May be null.
  std::shared_ptr<const KeyStore> keys;

  DeliveryProgress progress;
  std::atomic<std::size_t> bytes{0};
  /// What of its answer counts against the journal's bound: all that is kept, once the exchange has ended.
  std::atomic<std::size_t> answer_weight{0};

  std::shared_ptr<JournalSignal> signal;
  Outcome::Kind outcome = Outcome::Kind::pending;
  std::optional<Departure> departure;
  bool guard_expired = false;
  bool forgotten = false;             // with its test: it leaves the journal when it ends
  bool unattended = false;            // it waits, and its client has closed its side: not under way
  std::vector<ScriptedFault> faults;  // once the delivery is over
  std::string unusual;                // of what was sent: "finish_reason length was sent"; empty: nothing
  std::optional<TimePoint> first_byte;
  std::optional<TimePoint> ended;
  // These are in real time, whatever the gateway's clock shows.
  using RealTime = std::chrono::steady_clock::time_point;
  RealTime recorded{};               // it was published, before any of its answer left
  TimePoint machine_time{};          // the machine's clock then, by which a client reads a date
  std::optional<RealTime> answered;  // the answer began
  std::optional<RealTime> left;      // the client left, or closed its side
  RealTime over{};                   // it ended

  /// What the record holds in memory, all that is its own; for the journal's bound. Once it is published, it changes
  /// only when the exchange ends, which the journal then counts.
  std::size_t weight() const { return own_weight + answer_weight; }
  /// Finds its own weight out, before it is published.
  void weigh();

  // For the connection's thread, before or after publication. What is said twice, but for bytes, changes nothing.
  void mark_written(std::size_t count) override { bytes.fetch_add(count, std::memory_order_relaxed); }
  void mark_first_byte(TimePoint at, RealTime real) override;
  void mark_client_closed(const Leaving& leaving) override;
  void mark_unattended(bool is) override;
  void mark_guard_expired() override;
  bool has_guard_expired() const;
  void mark_chaos_missed(std::size_t strike);
  /// What became of the reply's script, when its delivery is over.
  void mark_delivered(std::vector<ScriptedFault> scripted, std::string what_was_unusual);
  std::vector<ScriptedFault> scripted_faults() const;
  /// How many rules of chaos struck, without those that came to nothing.
  std::size_t chaos_strikes() const;

 private:
  std::unique_lock<std::mutex> lock() const;
};

/// The record of one gateway's exchanges. Thread-safe.
class JournalState {
 public:
  /// Throws GatewayError when a bound is 0.
  JournalState(std::size_t max_entries, std::size_t max_bytes);

  /// The id of an exchange that is to be published later.
  std::uint64_t reserve_id();
  /// Publishes a record, giving it an id unless one was reserved for it, and its findings and near misses that id.
  /// Evicts the oldest records beyond the bounds; the newest always stays.
  void add(std::shared_ptr<ExchangeRecord> record);
  /// Keeps a problem of a published exchange, whose text lacks its first line; of too many, the first. See
  /// KeptProblems.
  void report(const ExchangeRecord& record, RecordedProblem problem);
  /// The scope's problems since the last forget_problems, oldest first; a clear keeps them.
  std::vector<RecordedProblem> problems(const RequestScope& scope) const;
  /// How many more of the scope there were than problems() holds.
  std::vector<KeptProblems::Dropped> problems_dropped(const RequestScope& scope) const;
  /// Forgets all problems, those of exchanges under way too.
  void forget_problems();
  /// Counts forget_problems; a record carries what it was when its request was complete.
  std::uint64_t epoch() const { return epoch_; }
  /// The newest exchange's id, a reserved one included; 0 when there was none.
  std::uint64_t newest_id() const;
  /// A request has begun to arrive; balanced by end() or dropped().
  void began();
  /// A begun request came to nothing: the connection closed, or an exchange ended that was never published.
  void dropped();
  /// Notes that a fault strikes a connection; of too many, the newest are kept.
  void hit(ConnectionHit hit);
  std::vector<ConnectionHit> hits() const;
  /// Ends a published exchange; nothing happens the second time.
  void end(ExchangeRecord& record, Outcome::Kind outcome, TimePoint at);

  std::vector<std::shared_ptr<ExchangeRecord>> snapshot() const;
  std::size_t added() const;
  std::size_t evicted() const;
  /// Drops the records; ids go on, exchanges under way keep their records and still count as under way.
  void clear();
  /// Drops the scope's records, and its problems, as if they had never been; what is under way goes when it ends. Ids
  /// and counts go on.
  void forget(const RequestScope& scope);
  /// What came since somebody looked last.
  struct News {
    /// Records that are kept, in order of publication.
    std::vector<std::shared_ptr<ExchangeRecord>> added;
    /// How many were published in all: what to ask with next time.
    std::uint64_t number = 0;
    /// No record is kept whose id is less.
    std::uint64_t oldest = 0;
  };
  /// Records published after the first `number`. Takes time for these only.
  News news(std::uint64_t number) const;
  /// Takes those out that have ended.
  std::vector<std::shared_ptr<ExchangeRecord>> take_ended(std::vector<std::shared_ptr<ExchangeRecord>>& pending) const;
  /// Throws GatewayError when there is none.
  std::shared_ptr<ExchangeRecord> last() const;
  /// Throws GatewayError, saying whether it was evicted, cleared, forgotten or never there.
  std::shared_ptr<ExchangeRecord> at(std::uint64_t id) const;
  /// Waits until `condition` holds, asking again at every change. It runs under the journal's mutex.
  bool wait(Duration timeout, const std::function<bool()>& condition) const;
  /// Waits until no exchange of the scope is under way. For the scope of one test only recorded exchanges count: what
  /// another test's client leaves open is not waited for.
  void wait_until_idle(const RequestScope& scope, Duration patience) const;
  /// How many exchanges of the scope are under way. Requests that are not recorded yet count only for the scope of
  /// every request.
  std::size_t open(const RequestScope& scope) const;
  /// The recorded exchanges of the scope that are under way.
  std::vector<std::shared_ptr<ExchangeRecord>> open_records(const RequestScope& scope) const;
  // For the condition of wait(), which runs with the mutex held.
  std::size_t added_while_locked() const { return static_cast<std::size_t>(added_ - cleared_); }
  std::size_t open_while_locked(const RequestScope& scope) const;
  const std::shared_ptr<JournalSignal>& signal() const { return signal_; }
  /// "; exchange 1 stalls as scripted after token 2 since 2.0 s", for the message of a wait that failed: the first
  /// three exchanges that wait as their scripts want. Empty when none does.
  std::string scripted_waits() const;
  /// The newest record of a stub; null when there is none.
  std::shared_ptr<ExchangeRecord> last_of_stub(const StubState& stub) const;

 private:
  std::shared_ptr<JournalSignal> signal_ = share<JournalSignal>();
  std::size_t max_entries_;
  std::size_t max_bytes_;

  // These expect the mutex to be held.
  std::deque<std::shared_ptr<ExchangeRecord>>::iterator find(const ExchangeRecord& record);
  /// Takes the oldest records out that are beyond the bounds, for the caller to free after the lock.
  void evict(std::vector<std::shared_ptr<ExchangeRecord>>& out);
  void keep(const ExchangeRecord& record, RecordedProblem problem);
  /// Finds out whether the record of a reserved id was forgotten before it was published.
  void settle_reserved(ExchangeRecord& record);

  std::deque<std::shared_ptr<ExchangeRecord>> records_;  // by id
  std::deque<ConnectionHit> hits_;
  KeptProblems problems_;
  std::atomic<std::uint64_t> epoch_{0};  // changed under the lock
  std::size_t bytes_ = 0;
  std::uint64_t newest_ = 0;                                       // id
  std::set<std::uint64_t> reserved_;                               // ids that are not published yet
  std::vector<std::pair<RequestScope, std::uint64_t>> forgotten_;  // up to which id; while ids are reserved
  std::uint64_t cleared_id_ = 0;                                   // the newest when it was cleared
  std::uint64_t added_ = 0;
  std::uint64_t cleared_ = 0;
  std::size_t evicted_ = 0;
};

namespace journal {

/// Now and `timeout` more, a year at most: the sum of a moment and Duration::max() would overflow.
std::chrono::steady_clock::time_point deadline(Duration timeout);
/// "; exchange 1 stalls as scripted after token 2 since 2.0 s"; empty when it does not wait as its script wants.
std::string scripted_wait(const ExchangeRecord& record);
/// What operator<< prints.
std::string text_of(const Decision& decision);
std::string text_of(const Outcome& outcome);

}  // namespace journal

}  // namespace mock_gateway::detail
