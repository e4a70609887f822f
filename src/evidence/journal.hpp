#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "../core/forward.hpp"
#include "../core/shared.hpp"
#include "../model/connection_fault.hpp"
#include "../model/received_request.hpp"
#include "../script/matcher.hpp"

namespace mock_gateway {

/// What the gateway decided about a request, before the first byte of the answer.
struct Decision {
  enum class Kind {
    /// A stub answered; `detail` names it.
    stub,
    /// The default reply answered: no mounted stub applied to the request, or Options::unmatched allows it.
    default_reply,
    /// Stubs were mounted, but none answered; `detail` is the diagnosis.
    unmatched,
    /// A forced failure answered; `detail` is status and error code.
    forced_failure,
    /// A failure of Gateway::chaos answered; `detail` is status and error code. Other effects are in Exchange::chaos.
    chaos,
    /// The documented rules refused the request: key, limit, path, body, model; `detail` is status and error code.
    rejected,
    /// The answer was the list of models, or one model; `detail` is then its id.
    models,
    /// The gateway generated embeddings; `detail` is the model.
    embeddings,
    /// A handler mounted with Gateway::on answered; `detail` is its method and path.
    handler,
    /// A preflight request of a browser for an origin in Options::cors; `detail` is the method.
    preflight,
    /// A function of the test threw; `detail` is the exception's message.
    callback_failed,
    /// The gateway could not create the answer, though no function of the test threw. `detail` is the reason. For
    /// example, the reply does not fit the request, or a tokenizer's tokens do not add up to the text.
    answer_failed,
    /// The request was not HTTP or incomplete; `detail` is status and error code.
    malformed,
  };
  Kind kind = Kind::malformed;
  /// See the comments of the kinds; empty if the kind has none.
  std::string detail;

  friend bool operator==(const Decision& a, Decision::Kind b) { return a.kind == b; }
  friend bool operator!=(const Decision& a, Decision::Kind b) { return a.kind != b; }
};

std::string to_string(Decision::Kind kind);
std::ostream& operator<<(std::ostream& out, Decision::Kind kind);
std::ostream& operator<<(std::ostream& out, const Decision& decision);

struct Outcome {
  enum class Kind {
    /// It was still under way when the wait timed out.
    pending,
    /// The whole answer was passed to the client's connection.
    completed,
    /// The client closed or reset the connection before the end of the answer.
    client_left,
    broken_by_fault,
    /// The client read nothing during the write timeout.
    client_stalled,
    stopped,
    /// Options::stall_guard ended an unlimited scripted wait that the client did not end.
    guard_expired,
  };
  Kind kind = Kind::pending;
  /// The number of complete events sent; 0 if not streamed.
  std::size_t events = 0;
  /// What a pending exchange waits for: `held at gate "first" before token 3 for 4.8 s`; empty if unknown.
  std::string waiting = {};

  friend bool operator==(const Outcome& a, Outcome::Kind b) { return a.kind == b; }
  friend bool operator!=(const Outcome& a, Outcome::Kind b) { return a.kind != b; }
};

std::string to_string(Outcome::Kind kind);
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);
std::ostream& operator<<(std::ostream& out, Outcome::Kind kind);

/// How a client left an exchange under way. While the gateway waits for the clock, a gate or the end of a stall, it
/// notices this at once. Otherwise it notices this at the next write. FIN ends the exchange at its next wait, unless
/// later requests of the client are unread or Reply::survives_half_close was set.
struct Departure {
  enum class How {
    /// It sent FIN and may still read.
    closed,
    /// It reset the connection (RST). A client also does this by closing with unread bytes.
    reset,
  };
  How how = How::closed;
  /// The events, content deltas and bytes of the answer passed to the connection before it left.
  std::size_t events = 0;
  std::size_t tokens = 0;
  std::size_t bytes = 0;
  /// The part of `bytes` that reached the client's kernel; all if the system cannot tell.
  std::size_t delivered = 0;
  /// The time on the gateway's clock.
  TimePoint at{};
  /// Time on the gateway's clock since the last byte of the answer was passed on; 0 if there was none.
  Duration after_last_write{0};
};

std::string to_string(Departure::How how);
std::ostream& operator<<(std::ostream& out, Departure::How how);
/// Prints "reset after 2 events" and the like.
std::ostream& operator<<(std::ostream& out, const Departure& departure);

/// A connection to which a fault of Gateway::next_connection or every_connection applied.
struct ConnectionHit {
  /// The number of the connection, from 1, as in Exchange::connection_id.
  std::uint64_t connection_id = 0;
  ConnectionFault fault;
};

namespace detail {

struct Access;
class JournalState;
struct ExchangeRecord;

}  // namespace detail

/// A request and its answer. A handle that stays valid after the journal evicts the entry and after the gateway ends.
class Exchange {
 public:
  explicit Exchange(std::shared_ptr<detail::ExchangeRecord> record);

  /// Returns the number of the exchange within the gateway, from 1.
  std::uint64_t id() const;
  /// Returns the number of the connection within the gateway, from 1.
  std::uint64_t connection_id() const;
  /// Returns the number of the request within its connection, from 1.
  std::size_t position() const;
  bool reused_connection() const;

  // In each pair, the first returns a reference into a named handle. The second copies, for temporaries like last().

  /// Returns the method as sent: "POST".
  const std::string& method() const&;
  std::string method() &&;
  /// Returns the target before and after its "?", not decoded.
  std::string path() const;
  std::string query() const;
  /// Returns the header fields in the order and spelling sent, with masked keys.
  const wire::Headers& headers() const&;
  wire::Headers headers() &&;
  /// Returns the body, with its transfer coding removed and keys masked.
  const std::string& body() const&;
  std::string body() &&;
  /// Returns the method, target, header fields, body and key of the request.
  const ReceivedRequest& request() const&;
  ReceivedRequest request() &&;
  /// Returns all bytes of the request as received, with masked keys.
  std::string raw() const;
  /// Returns the chat request, parsed from the masked body. Throws GatewayError if it is not a chat request.
  ChatRequest chat() const;
  /// Returns the id of the key sent with the request, or empty if it is not one of the gateway's keys.
  const std::string& key_id() const&;
  std::string key_id() &&;

  const Decision& decision() const&;
  Decision decision() &&;
  /// Returns the status of the answer, even if it did not arrive; 0 if the exchange ended before a byte was sent.
  int status() const;
  /// Returns up to three stubs closest to an unmatched request, closest first. Empty for other requests.
  std::vector<NearMiss> near_misses() const;
  const std::vector<Finding>& findings() const&;
  std::vector<Finding> findings() &&;

  /// Returns how the exchange ended. Waits for the end in real time, up to `timeout`, then returns `pending`.
  Outcome outcome(Duration timeout = std::chrono::seconds{5}) const;
  /// Waits in real time until the client closed its side, reset the connection, or a write to it failed.
  Wait wait_for_client_to_leave(Duration timeout) const;
  /// Whether the client has closed its side (FIN) or reset the connection.
  bool client_closed_its_side() const;
  /// Returns how the client left. Empty if it has not left, or left after the last bytes of the answer.
  std::optional<Departure> departure() const;
  /// Returns the fault of Gateway::next_connection or every_connection that applied to this request, if any.
  const std::optional<ConnectionFault>& connection_fault() const&;
  std::optional<ConnectionFault> connection_fault() &&;
  /// Returns the rules of Gateway::chaos that applied to this request, in order. Each text has effect and cause: `rule
  /// 2: reset the connection after 2 tokens (probability 0.1, seed 1, occurrence 3)`. Ends with `: not reached` if the
  /// reply ended before the trigger. Empty without chaos.
  std::vector<std::string> chaos() const;
  /// Returns the faults of the reply in scripted order, worded as in chaos(). Empty until the exchange has ended.
  std::vector<std::string> faults() const;
  /// Whether a real-time guard ended a hold, a wait on the manual clock or an unlimited scripted wait.
  bool guard_expired() const;
  /// Returns how many events, content deltas and bytes of the answer were passed to the connection so far.
  std::size_t events_sent() const;
  std::size_t tokens_sent() const;
  std::size_t bytes_sent() const;
  /// The largest delay so far that the gateway itself caused. A delay lasts from the scripted time of a token, or the
  /// end of a stall, until the token could be sent. Excludes the time to decide the answer, waits at gates, and waits
  /// until the client had read earlier bytes. Zero without scripted waits, and on clocks other than the real one.
  Duration lateness() const;

  /// Returns a copy of the bytes sent so far. Empty unless Options::keep_answers was set or Gateway::sweep needs it.
  std::optional<SentAnswer> answer() const;

  /// The times of the complete request, of the answer's first byte and of its end, on the gateway's clock. Empty before
  /// that time. A pace counts from received(). On Linux a request is complete when the system received its last byte,
  /// even if the gateway reads it later. It is never complete before the previous exchange on its connection has ended.
  /// On other systems, and on a manual clock, it is complete when the gateway has read it.
  TimePoint received() const;
  std::optional<TimePoint> first_byte() const;
  std::optional<TimePoint> ended() const;

  /// Returns a POSIX shell command that repeats the request, with `$OPENAI_API_KEY` for the key. curl generates the
  /// fields of the connection (Host, Content-Length, Connection, Expect, codings). Characters that would disturb a
  /// terminal, and invalid UTF-8, are written as octal numbers that printf converts back.
  std::string as_curl() const;
  /// Returns one line: id, method, target, status, decision with the reason of a refusal, outcome, faults, chaos.
  /// Characters that would disturb a terminal are escaped.
  std::string summary() const;

 private:
  friend struct detail::Access;
  detail::HandlePointer<detail::ExchangeRecord> record_;
};

std::ostream& operator<<(std::ostream& out, const Exchange& exchange);

/// The number of recorded exchanges that meet conditions: `CHECK(gateway.journal().count(user_says("weather")) == 2)`.
struct ExchangeCount {
  std::size_t count = 0;
  /// Whether exchanges were evicted (Options::journal_limits), so that there may have been more.
  bool at_least = false;

  /// Returns "2", or "at least 2".
  std::string to_string() const { return (at_least ? "at least " : "") + std::to_string(count); }

  friend bool operator==(const ExchangeCount& a, std::size_t b) { return a.count == b; }
  friend bool operator!=(const ExchangeCount& a, std::size_t b) { return a.count != b; }
};

std::ostream& operator<<(std::ostream& out, const ExchangeCount& count);

/// All exchanges of a gateway, oldest first, limited in entries and bytes. A handle that may outlive its gateway. An
/// exchange is recorded before the first byte of its answer is sent. Keys are masked everywhere.
class Journal {
 public:
  explicit Journal(std::shared_ptr<detail::JournalState> state);

  /// Returns the number of exchanges since the gateway started or the journal was cleared, including evicted ones.
  std::size_t count() const;
  /// Returns the number of exchanges evicted because of Options::journal_limits.
  std::size_t evicted() const;
  std::vector<Exchange> all() const;
  /// Returns the newest exchange. Throws GatewayError if none exists.
  Exchange last() const;
  /// Returns the exchange with this id. Throws GatewayError if it never existed or was evicted.
  Exchange at(std::uint64_t id) const;
  /// Returns the connections with a fault of Gateway::next_connection or every_connection, oldest first, even without a
  /// request. Keeps the newest, as many as exchanges. Each is recorded before the client can notice the fault.
  std::vector<ConnectionHit> connection_hits() const;
  /// Returns the number of connections of the kept exchanges.
  std::size_t connections() const;
  std::vector<Exchange> by_key(const std::string& key_id) const;
  /// Returns the exchanges of one of several tests that share the gateway, oldest first.
  std::vector<Exchange> in(const RequestScope& scope) const;
  /// Returns the exchanges whose chat request meets all conditions, whether or not a stub answered:
  /// `find(user_says("weather"), has_tool("f"))`. Runs the test's functions; their exceptions reach the caller.
  template <class... Matchers>
  std::vector<Exchange> find(const Matcher& condition, const Matchers&... more) const {
    return find(std::vector<Matcher>{condition, more...});
  }
  std::vector<Exchange> find(const std::vector<Matcher>& conditions) const;
  /// Returns the number of exchanges that find() returns.
  template <class... Matchers>
  ExchangeCount count(const Matcher& condition, const Matchers&... more) const {
    return count(std::vector<Matcher>{condition, more...});
  }
  ExchangeCount count(const std::vector<Matcher>& conditions) const;

  /// Waits in real time until `count` exchanges have been recorded since the last clear.
  Wait wait_for(std::size_t count, Duration timeout) const;
  /// Waits in real time until all begun requests have ended. Ignores waiting ones whose client has closed its side.
  Wait wait_until_idle(Duration timeout) const;
  /// Deletes the records and restarts the counts; ids continue. Keeps the problems of verify(); see Gateway::reset.
  void clear() const;

 private:
  detail::HandlePointer<detail::JournalState> state_;
};

}  // namespace mock_gateway
