#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../core/clock.hpp"
#include "../core/wait.hpp"
#include "../delivery/delivery.hpp"
#include "../model/chat_request.hpp"
#include "../model/connection_fault.hpp"
#include "../model/received_request.hpp"
#include "../script/script.hpp"

namespace mock_gateway {

/// What the gateway made of a request, decided before the first byte of the answer.
struct Decision {
  enum class Kind {
    /// A stub answered; `detail` names it.
    stub,
    /// No stub was mounted that could concern the request: the deterministic default reply.
    default_reply,
    /// Stubs were mounted and none answered; `detail` is the diagnosis.
    unmatched,
    /// A forced failure.
    forced_failure,
    /// A failure of Gateway::chaos; `detail` is status and error code. What else chaos did is in Exchange::chaos.
    chaos,
    /// A failure of the documented rules: key, limit, path, body, model; `detail` is status and error code.
    rejected,
    /// The models list, or one model.
    models,
    /// A handler mounted with Gateway::on.
    handler,
    /// A function of the tester's threw; `detail` is what it said.
    callback_failed,
    /// The gateway could not make an answer, and no function of the tester's threw: a reply that does not fit its
    /// request, a tokenizer whose tokens are not the text, or a failure of the gateway's own, such as std::bad_alloc;
    /// `detail` is the reason.
    answer_failed,
    /// Not HTTP, or not yet a whole request.
    malformed,
  };
  Kind kind = Kind::malformed;
  std::string detail;

  friend bool operator==(const Decision& a, Decision::Kind b) { return a.kind == b; }
  friend bool operator!=(const Decision& a, Decision::Kind b) { return a.kind != b; }
};

std::string to_string(Decision::Kind kind);
std::ostream& operator<<(std::ostream& out, Decision::Kind kind);
std::ostream& operator<<(std::ostream& out, const Decision& decision);

/// How an exchange ended.
struct Outcome {
  enum class Kind {
    /// Still under way when the wait ended.
    pending,
    /// The whole answer was handed to the client's connection.
    completed,
    /// The client closed or reset before the answer was whole.
    client_left,
    /// A scripted fault ended it.
    failed_by_script,
    /// The client did not read for the write timeout.
    client_stalled,
    /// The gateway was stopped.
    stopped,
    /// A scripted wait without end, which the client did not end either, was ended by Options::stall_guard.
    guard_expired,
  };
  Kind kind = Kind::pending;
  /// Events sent whole; 0 for an answer that was not streamed.
  std::size_t events = 0;

  friend bool operator==(const Outcome& a, Outcome::Kind b) { return a.kind == b; }
  friend bool operator!=(const Outcome& a, Outcome::Kind b) { return a.kind != b; }
};

std::string to_string(Outcome::Kind kind);
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);
std::ostream& operator<<(std::ostream& out, Outcome::Kind kind);

/// How a client left an exchange that was under way, as the gateway saw it: at once while it waits for the clock, a
/// gate or the end of a stall, else when it next writes.
struct Departure {
  enum class How {
    /// It closed its side (FIN). It may still read.
    closed,
    /// It reset the connection (RST), as a client also does that closes with bytes unread.
    reset,
  };
  How how = How::closed;
  /// Events, content deltas and bytes of the answer handed to the connection until then.
  std::size_t events = 0;
  std::size_t tokens = 0;
  std::size_t bytes = 0;
  /// Of these bytes, those that the client's kernel has acknowledged; all where the system cannot tell.
  std::size_t delivered = 0;
  /// When, on the gateway's clock.
  TimePoint at{};
  /// Time on the gateway's clock since the answer's last byte was handed over; 0 when none was.
  Duration after_last_write{0};
};

std::string to_string(Departure::How how);
std::ostream& operator<<(std::ostream& out, Departure::How how);
/// "reset after 2 events".
std::ostream& operator<<(std::ostream& out, const Departure& departure);

/// A connection that a fault of Gateway::next_connection struck.
struct ConnectionHit {
  std::uint64_t connection_id = 0;
  ConnectionFault fault;
};

namespace detail {

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
  /// It was retry-after-ms.
  bool in_milliseconds = false;
  /// The moment that Retry-After, a date, names.
  std::optional<TimePoint> not_before;
  /// `x-should-retry`.
  std::optional<bool> should_retry;
};

/// Where a secret stood that belongs into the Authorization header alone.
struct Leaks {
  bool in_target = false;
  bool in_body = false;
  /// Tells two credentials apart that both are none of the gateway's; 0 without one. Nothing can be read from it.
  std::uint64_t credential = 0;
};

/// Something in an exchange that verify() reports. Kept beside the journal's records, so that it outlives them.
struct Problem {
  enum class Kind {
    unmatched,
    invalid,
    callback_failed,
    answer_failed,
    fault_not_reached,
    place_not_reached,
    guard_expired
  };
  Kind kind = Kind::unmatched;
  std::uint64_t exchange = 0;
  /// Whole lines, without a secret.
  std::string text;
  /// Of the request: only what scopes are told by.
  ReceivedRequest request;
  std::shared_ptr<StubState> stub;  // that it is about; null when there is none
};

/// What is known of one exchange. The first block is written before the record is published and never after;
/// counters are atomic; the rest is guarded by the signal's mutex.
struct ExchangeRecord {
  /// A rule of chaos that struck it.
  struct ChaosStrike {
    std::string text;
    /// It broke the reply, or would have.
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
  Leaks leaks;
  /// How often keys, script or forced failures had been changed when the request came: a request that is sent again
  /// after a change is no retry.
  std::uint64_t changes = 0;
  std::uint64_t epoch = 0;
  /// The exchange whose stream was unfinished on the same connection when the request arrived; 0: none.
  std::uint64_t behind_stream = 0;
  /// Of a request that no stub answered, and of others that verify() has to report.
  std::vector<Problem> problems;

  DeliveryProgress progress;
  std::atomic<std::size_t> bytes{0};

  std::shared_ptr<JournalSignal> signal;
  Outcome::Kind outcome = Outcome::Kind::pending;
  std::optional<Departure> departure;
  bool guard_expired = false;
  bool forsaken = false;              // it waits, and its client has closed its side: not under way
  std::vector<ScriptedFault> faults;  // once the delivery is over
  std::string unusual_finish;         // neither stop nor tool_calls, and sent; empty: none
  std::optional<TimePoint> first_byte;
  std::optional<TimePoint> ended;
  // In real time, whatever the gateway's clock shows.
  using RealTime = std::chrono::steady_clock::time_point;
  RealTime connected{};              // its connection was accepted
  RealTime recorded{};               // it was published, before any of its answer left
  TimePoint machine_time{};          // the machine's clock then, by which a client reads a date
  std::optional<RealTime> answered;  // the answer began
  std::optional<RealTime> left;      // the client left, or closed its side
  RealTime over{};                   // it ended

  /// What the record holds in memory, all that is its own; for the journal's bound. Does not change once it is
  /// published.
  std::size_t weight() const;

  // For the connection's thread, before or after publication; each is idempotent and wakes whoever waits for it.
  void mark_connection(RealTime accepted);
  /// Both moments are from before the byte left: its client may react before the sender goes on.
  void mark_first_byte(TimePoint at, RealTime real);
  /// The client sent FIN, reset, or could not be written to.
  void mark_client_closed(const Departure& how);
  /// Whether the exchange waits for nobody who could still be seen: see `forsaken`.
  void mark_forsaken(bool forsaken);
  void mark_guard_expired();
  bool has_guard_expired() const;
  void mark_chaos_missed(std::size_t strike);
  /// What became of the reply's script, when its delivery is over.
  void mark_delivered(std::vector<ScriptedFault> scripted, std::string finish_reason);
  std::vector<ScriptedFault> scripted_faults() const;
  /// Without those that came to nothing.
  std::size_t chaos_strikes() const;

 private:
  std::unique_lock<std::mutex> lock() const;
};

}  // namespace detail

/// One request and what became of it. A handle that stays valid when the journal evicts the entry or the gateway ends.
class Exchange {
 public:
  explicit Exchange(std::shared_ptr<detail::ExchangeRecord> record) : record_(std::move(record)) {}

  /// Counts the gateway's exchanges from 1.
  std::uint64_t id() const { return record_->id; }
  /// Counts the gateway's connections from 1.
  std::uint64_t connection_id() const { return record_->connection_id; }
  /// Which request of its connection this was, from 1.
  std::size_t position() const { return record_->position; }
  /// Whether its connection had served a request before.
  bool reused_connection() const { return record_->position > 1; }

  // A reference into a named handle; a copy from a temporary one, such as Journal::last() gives, so that it may be
  // kept.
  const std::string& method() const& { return record_->request.method; }
  std::string method() && { return record_->request.method; }
  std::string path() const { return record_->request.path(); }
  std::string query() const { return record_->request.query(); }
  const Headers& headers() const& { return record_->request.headers; }
  Headers headers() && { return record_->request.headers; }
  const std::string& body() const& { return record_->request.body; }
  std::string body() && { return record_->request.body; }
  const ReceivedRequest& request() const& { return record_->request; }
  ReceivedRequest request() && { return record_->request; }
  /// Every byte of the request as it arrived, keys masked.
  std::string raw() const;
  /// The chat request, parsed from the masked body. Throws GatewayError when this was none.
  ChatRequest chat() const;
  /// The id of the key that was presented; empty when it was none of the gateway's.
  const std::string& key_id() const& { return record_->request.key_id; }
  std::string key_id() && { return record_->request.key_id; }

  const Decision& decision() const& { return record_->decision; }
  Decision decision() && { return record_->decision; }
  int status() const { return record_->status; }
  /// What the client had better change in this request.
  const std::vector<Finding>& findings() const& { return record_->findings; }
  std::vector<Finding> findings() && { return record_->findings; }

  /// Waits, in real time, for the exchange to end.
  Outcome outcome(Duration timeout = std::chrono::seconds{5}) const;
  /// Waits, in real time, until the client closed its side, reset, or could not be written to.
  Wait wait_for_client_to_leave(Duration timeout) const;
  bool client_closed_its_side() const;
  /// How the client left; nothing while it is there, and when it left after the last bytes of the answer.
  std::optional<Departure> departure() const;
  /// The fault of Gateway::next_connection that struck this request.
  const std::optional<ConnectionFault>& connection_fault() const& { return record_->connection_fault; }
  std::optional<ConnectionFault> connection_fault() && { return record_->connection_fault; }
  /// The rules of Gateway::chaos that struck this request, in order, with what they did and what decided it:
  /// `rule 2: reset the connection after 2 tokens (probability 0.1, seed 1, occurrence 3)`; with `: not reached` behind
  /// it once the reply has ended before its trigger. Empty where chaos left it alone.
  std::vector<std::string> chaos() const;
  /// The faults of the reply, in the order in which they were scripted: `reset the connection after 2 tokens`; with
  /// `: not reached` behind it where the reply has ended before its trigger. Empty until the exchange has ended.
  std::vector<std::string> faults() const;
  /// A hold, a wait on the manual clock or a scripted wait without end was ended by its real-time guard.
  bool guard_expired() const;
  /// Events, content deltas and bytes of the answer handed to the connection so far.
  std::size_t events_sent() const;
  std::size_t tokens_sent() const;
  std::size_t bytes_sent() const;

  /// When the request was complete, when the answer began and when it ended, on the gateway's clock. A pace is counted
  /// from the first. On Linux it is when the request's last byte reached the system, or the exchange before it on its
  /// connection ended, however much later the gateway came to read it; elsewhere, and on a manual clock, when the
  /// gateway had read it.
  TimePoint received() const { return record_->received; }
  std::optional<TimePoint> first_byte() const;
  std::optional<TimePoint> ended() const;

  /// A command for a POSIX shell that sends the request again, with `$OPENAI_API_KEY` in place of the key. What
  /// concerns only the connection (Host, Content-Length, Connection, Expect, codings) is left to curl. Control
  /// characters other than tabs and line ends, their like, and bytes that are not UTF-8 stand in it as octal numbers
  /// that printf turns into the same bytes.
  std::string as_curl() const;
  /// One line: id, method, target, status, decision, with the reason of a refused request, outcome, and what faults and
  /// chaos did. Control characters and their like are escaped in it.
  std::string summary() const;

  const detail::ExchangeRecord& record() const { return *record_; }

 private:
  std::shared_ptr<detail::ExchangeRecord> record_;
};

std::ostream& operator<<(std::ostream& out, const Exchange& exchange);

namespace detail {

/// The record of one gateway's exchanges. Thread-safe.
class JournalState {
 public:
  /// Throws GatewayError when a bound is 0.
  JournalState(std::size_t max_entries, std::size_t max_bytes);

  /// Publishes a record, giving it and its findings its id, and evicts the oldest beyond the bounds; the newest always
  /// stays.
  void add(std::shared_ptr<ExchangeRecord> record);
  /// Keeps a problem of a published exchange; of too many with one key, the first.
  void report(const ExchangeRecord& record, Problem problem);
  /// Since the last forget_problems, oldest first; a clear keeps them.
  std::vector<Problem> problems() const;
  /// How many more there were than problems() holds, of the keys with these ids; of none given, all.
  std::size_t problems_dropped(const std::vector<std::string>& key_ids) const;
  /// Also those of exchanges that are under way.
  void forget_problems();
  /// Counts forget_problems; a record carries what it was when its request was complete.
  std::uint64_t epoch() const { return epoch_; }
  /// The newest exchange's id; 0 when there was none.
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
  /// Throws GatewayError when there is none.
  std::shared_ptr<ExchangeRecord> last() const;
  /// Throws GatewayError, saying whether it was evicted, cleared or never there.
  std::shared_ptr<ExchangeRecord> at(std::uint64_t id) const;
  /// Waits until `condition` holds, asking again at every change. It runs under the journal's mutex.
  bool wait(Duration timeout, const std::function<bool()>& condition) const;
  /// Waits until no exchange of the scope is under way. Of one of several tests only those count that are recorded:
  /// what another test's client leaves open is not waited for.
  void wait_until_idle(const RequestScope& scope, Duration patience) const;
  /// How many exchanges of the scope are under way; requests that are not recorded yet count for the whole only.
  std::size_t open(const RequestScope& scope) const;
  // For such conditions: the mutex is held already.
  std::size_t added_while_locked() const { return static_cast<std::size_t>(added_ - cleared_); }
  std::size_t open_while_locked(const RequestScope& scope) const;
  const std::shared_ptr<JournalSignal>& signal() const { return signal_; }
  /// "; exchange 1 stalls as scripted after token 2 since 2.0 s", of each that waits as its script wants, of many the
  /// first; for the message of a wait that failed. Empty: none waits so.
  std::string scripted_waits() const;
  /// The newest record of a stub; null when there is none.
  std::shared_ptr<ExchangeRecord> last_of_stub(const StubState& stub) const;

 private:
  std::shared_ptr<JournalSignal> signal_ = std::make_shared<JournalSignal>();
  std::size_t max_entries_;
  std::size_t max_bytes_;
  static constexpr std::size_t max_problems_of_a_key = 100;

  void keep(const ExchangeRecord& record, Problem problem);  // expects the mutex to be held

  std::deque<std::shared_ptr<ExchangeRecord>> records_;
  std::deque<ConnectionHit> hits_;
  std::vector<Problem> problems_;
  struct Count {
    std::size_t kept = 0;
    std::size_t dropped = 0;
  };
  std::map<std::string, Count> problem_counts_;  // by key id
  std::atomic<std::uint64_t> epoch_{0};          // changed under the lock
  std::size_t bytes_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t cleared_ = 0;
  std::size_t evicted_ = 0;
};

}  // namespace detail

/// Every exchange of a gateway, oldest first, within bounds of entries and bytes. A handle: may outlive its gateway.
/// A request is in it before the first byte of its answer leaves. Keys are masked in all that it holds.
class Journal {
 public:
  explicit Journal(std::shared_ptr<detail::JournalState> state) : state_(std::move(state)) {}

  /// Exchanges since the gateway began or the journal was cleared, evicted ones included.
  std::size_t count() const;
  /// How many of them were evicted to keep the bounds (Options::journal_limits).
  std::size_t evicted() const;
  std::vector<Exchange> all() const;
  /// The newest. Throws GatewayError when there is none.
  Exchange last() const;
  /// By its id. Throws GatewayError when there never was one, or it was evicted.
  Exchange at(std::uint64_t id) const;
  /// The connections that Gateway::next_connection struck, oldest first, also those on which no request was read; the
  /// newest, as many as exchanges are kept. Each is there before the client can see it.
  std::vector<ConnectionHit> connection_hits() const;
  /// How many connections the exchanges that are kept came on.
  std::size_t connections() const;
  /// Of the key with that id, oldest first.
  std::vector<Exchange> by_key(const std::string& key_id) const;
  /// Of one of several tests that share the gateway, oldest first.
  std::vector<Exchange> in(const RequestScope& scope) const;

  /// Waits, in real time, until `count` exchanges have been recorded since the last clear.
  Wait wait_for(std::size_t count, Duration timeout) const;
  /// Waits, in real time, until every request that has begun to arrive has ended. One whose client has closed its side
  /// is not waited for while its reply waits.
  Wait wait_until_idle(Duration timeout) const;
  /// Forgets what is recorded and counts from 0 again; ids go on. What verify() has to report stays: Gateway::reset
  /// forgets that too.
  void clear() const;

 private:
  std::shared_ptr<detail::JournalState> state_;
};

}  // namespace mock_gateway
