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

#include "../answer/tokens.hpp"
#include "../core/access.hpp"
#include "../core/shared.hpp"
#include "../delivery/progress.hpp"
#include "../http/exchange_observer.hpp"
#include "../keys/key_store.hpp"
#include "../model/fault.hpp"
#include "../request/chat_parser.hpp"
#include "../script/near_miss.hpp"
#include "../script/scope.hpp"
#include "../script/script.hpp"
#include "journal.hpp"
#include "kept_problems.hpp"
#include "verification.hpp"

namespace mock_gateway::detail {

/// The mutex and condition of a journal and its records. One pair suffices, because few test threads wait.
struct JournalSignal {
  std::mutex mutex;
  std::condition_variable changed;
  /// The number of requests that have begun to arrive and not ended, except unattended ones.
  std::size_t under_way = 0;
};

struct RetryAdvice {
  /// The error's code; empty if the body is not one of the gateway's error bodies.
  std::string code;
  /// The delay in retry-after-ms, else in Retry-After as seconds.
  std::optional<Duration> after;
  bool in_milliseconds = false;
  std::optional<TimePoint> not_before;
  std::optional<bool> should_retry;
  /// The positive delay in the body of a 429 without such a header.
  std::optional<Duration> in_body;
  bool of_a_day = false;
  /// Whether it names a time, in any of these places, even an invalid one.
  bool names_time = false;
};

/// Secrets found outside the Authorization header.
struct Leaks {
  bool in_target = false;
  bool in_body = false;
  /// A hash of the request's credential if it is not one of the gateway's keys; otherwise 0.
  std::uint64_t credential = 0;
  /// A hash of the request's credential, even if it is one of the gateway's keys; 0 if the request has no credential.
  std::uint64_t presented = 0;
};

/// The data of one exchange. The first block is written before the record is published and never afterwards. Counters
/// are atomic. The rest is guarded by the signal's mutex.
struct ExchangeRecord final : ExchangeObserver {
  struct ChaosStrike {
    std::string text;
    bool fault = false;
    /// Whether the reply did not reach the fault. Guarded by the signal's mutex.
    bool missed = false;
  };

  struct ScriptedFault {
    Fault fault;
    bool reached = false;
  };

  std::uint64_t id = 0;
  std::uint64_t number = 0;  // in the order of publication, which may differ from the ids
  std::uint64_t connection_id = 0;
  std::size_t position = 0;
  ReceivedRequest request;
  std::string raw_head;
  std::string raw_body;  // only of a chunked body; otherwise see request.body
  Decision decision;
  std::string refusal;               // why the request was rejected or is malformed
  bool exceeds_concurrency = false;  // whether a limit of concurrent requests refused it
  std::shared_ptr<StubState> stub;   // the stub that answers, or null
  std::size_t stub_call = 0;         // the number of the stub's call, from 0
  int status = 0;
  TimePoint received{};
  bool is_for_chat = false;  // whether its path is that of chat requests
  bool chat = false;         // whether the body is a valid chat request
  Acceptance acceptance;
  ChatLimits limits;
  Tokens tokens = Tokens(Tokenizer());
  std::vector<Finding> findings;
  std::string root_url;
  std::optional<ConnectionFault> connection_fault;
  bool repeats = false;      // whether its reply was owed for an earlier exchange, which the stub has counted
  bool under_chaos = false;  // whether chaos rules could apply to it
  std::vector<ChaosStrike> chaos;
  RetryAdvice advice;
  std::string redirect;  // the absolute URL of the answer's redirect; empty if none
  Leaks leaks;
  /// How often keys, script and forced failures had changed before. A request repeated after a change is no retry.
  std::uint64_t changes = 0;
  bool origin_is_named = false;  // whether Options::cors lists its Origin
  std::uint64_t epoch = 0;
  /// The lower bound of the real time at which the client sent the request.
  std::chrono::steady_clock::time_point sendable{};
  std::size_t own_weight = 0;  // weight() without the answer
  /// The exchange whose stream was unfinished on this connection when the request arrived; 0 if none.
  std::uint64_t behind_stream = 0;
  std::vector<RecordedProblem> problems;
  std::vector<NearMiss> near_misses;
  /// The gateway's keys, to mask the names of stubs and keys. May be null.
  std::shared_ptr<const KeyStore> keys;

  DeliveryProgress progress;
  std::atomic<std::size_t> bytes{0};
  /// The size of the kept answer, for the journal's byte limit; 0 until the exchange has ended.
  std::atomic<std::size_t> answer_weight{0};

  std::shared_ptr<JournalSignal> signal;
  Outcome::Kind outcome = Outcome::Kind::pending;
  std::optional<Departure> departure;
  bool guard_expired = false;
  bool forgotten = false;             // belongs to an ended test: deleted when it ends
  bool unattended = false;            // waits although its client has closed its side
  std::vector<ScriptedFault> faults;  // set after delivery
  std::string unusual;                // an unusual part of the answer: "finish_reason length was sent"; empty: none
  std::optional<TimePoint> first_byte;
  std::optional<TimePoint> ended;
  // The following are in real time, regardless of the gateway's clock.
  using RealTime = std::chrono::steady_clock::time_point;
  RealTime recorded{};               // when it was published, before any byte of the answer
  TimePoint machine_time{};          // the system clock at publication; clients compare dates with it
  std::optional<RealTime> answered;  // when the answer began
  std::optional<RealTime> left;      // when the client left or closed its side
  RealTime over{};                   // when the exchange ended

  /// Returns the memory of the record, for the journal's byte limit. After publication, only the end changes it.
  std::size_t weight() const { return own_weight + answer_weight; }
  void weigh();

  // Called by the connection's thread, before or after publication. Repeated calls only matter for mark_written().
  void mark_written(std::size_t count) override { bytes.fetch_add(count, std::memory_order_relaxed); }
  void mark_first_byte(TimePoint at, RealTime real) override;
  void mark_client_closed(const Leaving& leaving) override;
  void mark_unattended(bool is) override;
  void mark_guard_expired() override;
  bool has_guard_expired() const;
  void mark_chaos_missed(std::size_t strike);
  void mark_delivered(std::vector<ScriptedFault> scripted, std::string what_was_unusual);
  std::vector<ScriptedFault> scripted_faults() const;
  /// Returns the number of chaos rules that had an effect on the exchange.
  std::size_t chaos_strikes() const;

 private:
  std::unique_lock<std::mutex> lock() const;
};

/// The journal of one gateway. Thread-safe.
class JournalState {
 public:
  /// Throws GatewayError if a limit is 0.
  JournalState(std::size_t max_entries, std::size_t max_bytes);

  std::uint64_t reserve_id();
  /// Publishes a record, with a new id unless one was reserved. Evicts the oldest other records beyond the limits.
  void add(std::shared_ptr<ExchangeRecord> record);
  /// Keeps a problem of a published exchange and adds the first line of its text. See KeptProblems for the limit.
  void report(const ExchangeRecord& record, RecordedProblem problem);
  /// Returns the scope's problems since the last forget_problems(), oldest first; clear() keeps them.
  std::vector<RecordedProblem> problems(const RequestScope& scope) const;
  std::vector<KeptProblems::Dropped> problems_dropped(const RequestScope& scope) const;
  /// Deletes all problems, including those of exchanges under way.
  void forget_problems();
  /// The number of forget_problems() calls. A record keeps the number that was current when its request was complete.
  std::uint64_t epoch() const { return epoch_; }
  /// Returns the newest exchange's id, including reserved ones, or 0 if there is none.
  std::uint64_t newest_id() const;
  /// Counts a request that begins to arrive. Each call is followed by end() or dropped().
  void began();
  void dropped();
  void hit(ConnectionHit hit);
  std::vector<ConnectionHit> hits() const;
  /// Ends a published exchange; repeated calls have no effect.
  void end(ExchangeRecord& record, Outcome::Kind outcome, TimePoint at);

  std::vector<std::shared_ptr<ExchangeRecord>> snapshot() const;
  std::size_t added() const;
  std::size_t evicted() const;
  /// Deletes the records. Ids continue, and exchanges under way keep their records and still count.
  void clear();
  /// Deletes the scope's records and problems. Records under way are deleted when they end. Ids and counts continue.
  void forget(const RequestScope& scope);
  struct Changes {
    /// The records that were not evicted, in order of publication.
    std::vector<std::shared_ptr<ExchangeRecord>> added;
    /// The number of records published so far, for the next call.
    std::uint64_t number = 0;
    /// No kept record has a smaller id.
    std::uint64_t oldest = 0;
  };
  /// Returns the records published after the first `number`. The time grows with them, not with the journal.
  Changes changes_since(std::uint64_t number) const;
  std::vector<std::shared_ptr<ExchangeRecord>> take_ended(std::vector<std::shared_ptr<ExchangeRecord>>& pending) const;
  /// Throws GatewayError if none exists.
  std::shared_ptr<ExchangeRecord> last() const;
  /// Throws GatewayError, whose message says whether it was evicted, cleared, forgotten or never existed.
  std::shared_ptr<ExchangeRecord> at(std::uint64_t id) const;
  /// Waits until `condition` holds, and checks it after every change. The condition runs under the journal's mutex.
  bool wait(Duration timeout, const std::function<bool()>& condition) const;
  /// Waits until no exchange of the scope is under way. For the scope of one test, only recorded exchanges count.
  void wait_until_idle(const RequestScope& scope, Duration patience) const;
  /// Returns the number of exchanges under way. Unrecorded requests only count for the scope of all requests.
  std::size_t open(const RequestScope& scope) const;
  std::vector<std::shared_ptr<ExchangeRecord>> open_records(const RequestScope& scope) const;
  // For the condition of wait(), which runs with the mutex held.
  std::size_t added_while_locked() const { return static_cast<std::size_t>(added_ - cleared_); }
  std::size_t open_while_locked(const RequestScope& scope) const;
  const std::shared_ptr<JournalSignal>& signal() const { return signal_; }
  /// Returns scripted_wait() of the first three exchanges that wait as scripted, for the message of a failed wait.
  std::string scripted_waits() const;
  std::shared_ptr<ExchangeRecord> last_of_stub(const StubState& stub) const;

 private:
  std::shared_ptr<JournalSignal> signal_ = share<JournalSignal>();
  std::size_t max_entries_;
  std::size_t max_bytes_;

  // The caller holds the mutex.
  std::deque<std::shared_ptr<ExchangeRecord>>::iterator find(const ExchangeRecord& record);
  /// Moves the oldest records beyond the limits into `removed`, for the caller to free after the lock.
  void evict(std::vector<std::shared_ptr<ExchangeRecord>>& removed);
  void keep(const ExchangeRecord& record, RecordedProblem problem);
  /// Marks the record of a reserved id as forgotten if forget() was called for it before its publication.
  void settle_reserved(ExchangeRecord& record);

  std::deque<std::shared_ptr<ExchangeRecord>> records_;  // by id
  std::deque<ConnectionHit> hits_;
  KeptProblems problems_;
  std::atomic<std::uint64_t> epoch_{0};  // changed under the lock
  std::size_t bytes_ = 0;
  std::uint64_t newest_ = 0;                                       // id
  std::set<std::uint64_t> reserved_;                               // ids not published yet
  std::vector<std::pair<RequestScope, std::uint64_t>> forgotten_;  // forget() while ids are reserved: scope, newest id
  std::uint64_t cleared_id_ = 0;                                   // the newest id at the last clear
  std::uint64_t added_ = 0;
  std::uint64_t cleared_ = 0;
  std::size_t evicted_ = 0;
};

// redaction.cpp

/// Masks secrets in a request as `sk-***` or `***`: the gateway's keys in any state, the request's credential even if
/// it is no key, and values that look like keys, such as `sk-…`. Covers target, header values, body and raw bytes, also
/// with escapes. Also covers base64, except for values that only look like keys. Credential fields
/// (Authorization, Proxy-Authorization, Cookie, x-api-key and similar) keep at most their scheme. A secret that may be
/// a word ("EMPTY") is masked in these fields only. Returns where keys were found outside header fields.
Leaks redact(ReceivedRequest& request, std::string& raw_head, std::string& raw_body,
             const KeyStore::Presented& presented, const KeyStore& keys);

/// Masks keys in a text derived from the request: a decision's detail, a finding, a log line.
void redact(std::string& text, const KeyStore::Presented& presented, const KeyStore& keys);

/// Masks the gateway's keys and strings that look like keys in an answer.
void redact(SentAnswer& answer, const KeyStore& keys);

namespace journal {

/// Returns the time after `timeout`, at most a year, because adding Duration::max() would overflow.
std::chrono::steady_clock::time_point deadline(Duration timeout);
/// Returns "; exchange 1 stalls as scripted after token 2, for 2.0 s so far"; empty unless it waits as scripted.
std::string scripted_wait(const ExchangeRecord& record);
/// The caller holds the journal's mutex.
Outcome outcome_of(const ExchangeRecord& record);
std::string text_of(const Decision& decision);
std::string text_of(const Outcome& outcome);

}  // namespace journal

}  // namespace mock_gateway::detail
