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

/// What the gateway made of a request, decided before the first byte of the answer.
struct Decision {
  enum class Kind {
    /// A stub answered; `detail` names it.
    stub,
    /// The default reply answered: no stub was mounted that could concern the request, or Options::unmatched lets it.
    default_reply,
    /// Stubs were mounted and none answered; `detail` is the diagnosis.
    unmatched,
    /// A forced failure answered; `detail` is status and error code.
    forced_failure,
    /// A failure of Gateway::chaos answered; `detail` is status and error code. What else chaos did is in
    /// Exchange::chaos.
    chaos,
    /// The documented rules refused the request: key, limit, path, body, model; `detail` is status and error code.
    rejected,
    /// The models list answered, or one model, whose id is then `detail`.
    models,
    /// The gateway made embeddings; `detail` is the model.
    embeddings,
    /// A handler mounted with Gateway::on answered; `detail` is its method and path.
    handler,
    /// A browser asked before a request of a page, whose origin Options::cors names; `detail` is the method.
    preflight,
    /// A function of the test threw; `detail` is what it said.
    callback_failed,
    /// The gateway could not make an answer, and no function of the test threw: a reply does not fit its request, a
    /// tokenizer's tokens are not the text, or the gateway itself failed, as with std::bad_alloc; `detail` is the
    /// reason.
    answer_failed,
    /// What came was not HTTP, or not a whole request; `detail` is status and error code.
    malformed,
  };
  Kind kind = Kind::malformed;
  /// What the comment of the kind says; empty where it says nothing.
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
    /// It was still under way when the wait ended.
    pending,
    /// The whole answer was handed to the client's connection.
    completed,
    /// The client closed or reset before the answer was whole.
    client_left,
    /// A scripted fault ended it.
    broken_by_fault,
    /// The client did not read for the write timeout.
    client_stalled,
    /// The gateway was stopped.
    stopped,
    /// A scripted wait without end, which the client did not end either, was ended by Options::stall_guard.
    guard_expired,
  };
  Kind kind = Kind::pending;
  /// How many events were sent whole; 0 for an answer that was not streamed.
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
  /// How many of these bytes have come to the client's kernel; all where the system cannot tell.
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

/// A connection that a fault of Gateway::next_connection or every_connection struck.
struct ConnectionHit {
  /// Counts the gateway's connections from 1, as Exchange::connection_id does.
  std::uint64_t connection_id = 0;
  ConnectionFault fault;
};

namespace detail {

struct Access;
class JournalState;
struct ExchangeRecord;

}  // namespace detail

/// One request and what became of it. A handle that stays valid when the journal evicts the entry or the gateway ends.
class Exchange {
 public:
  explicit Exchange(std::shared_ptr<detail::ExchangeRecord> record);

  /// Counts the gateway's exchanges from 1.
  std::uint64_t id() const;
  /// Counts the gateway's connections from 1.
  std::uint64_t connection_id() const;
  /// Which request of its connection this was, from 1.
  std::size_t position() const;
  /// Whether its connection had served a request before.
  bool reused_connection() const;

  // Pairs give a reference into a named handle, and a copy from a temporary one such as Journal::last() gives.

  /// The method as sent: "POST".
  const std::string& method() const&;
  std::string method() &&;
  /// The target before and after its "?", undecoded.
  std::string path() const;
  std::string query() const;
  /// The header fields in the order and spelling in which they were sent, keys masked.
  const wire::Headers& headers() const&;
  wire::Headers headers() &&;
  /// The body without its transfer coding, keys masked.
  const std::string& body() const&;
  std::string body() &&;
  /// All of these, and the key that was presented.
  const ReceivedRequest& request() const&;
  ReceivedRequest request() &&;
  /// Every byte of the request as it arrived, keys masked.
  std::string raw() const;
  /// The chat request, parsed from the masked body. Throws GatewayError when this was none.
  ChatRequest chat() const;
  /// The id of the key that was presented; empty when it was none of the gateway's.
  const std::string& key_id() const&;
  std::string key_id() &&;

  /// Who answered.
  const Decision& decision() const&;
  Decision decision() &&;
  /// The status of the answer, whether or not a fault let it arrive.
  int status() const;
  /// The stubs that came closest to a request which none answered, the best first, three at most; else empty.
  std::vector<NearMiss> near_misses() const;
  /// What the client had better change in this request.
  const std::vector<Finding>& findings() const&;
  std::vector<Finding> findings() &&;

  /// How it ended. Waits for that in real time, at most `timeout`; then it is `pending`.
  Outcome outcome(Duration timeout = std::chrono::seconds{5}) const;
  /// Waits, in real time, until the client closed its side, reset, or could not be written to.
  Wait wait_for_client_to_leave(Duration timeout) const;
  /// Whether the client has closed its side (FIN), or reset.
  bool client_closed_its_side() const;
  /// How the client left; empty while it is there, and when it left after the last bytes of the answer.
  std::optional<Departure> departure() const;
  /// The fault of Gateway::next_connection or every_connection that struck this request; empty: none.
  const std::optional<ConnectionFault>& connection_fault() const&;
  std::optional<ConnectionFault> connection_fault() &&;
  /// The rules of Gateway::chaos that struck this request, in order, with what they did and what decided it:
  /// `rule 2: reset the connection after 2 tokens (probability 0.1, seed 1, occurrence 3)`; with `: not reached` behind
  /// it once the reply has ended before its trigger. Empty where chaos left it alone.
  std::vector<std::string> chaos() const;
  /// The faults of the reply, in the order in which they were scripted: `reset the connection after 2 tokens`; with
  /// `: not reached` behind it where the reply has ended before its trigger. Empty until the exchange has ended.
  std::vector<std::string> faults() const;
  /// Whether a hold, a wait on the manual clock or a scripted wait without end was ended by its real-time guard.
  bool guard_expired() const;
  /// How many events, content deltas and bytes of the answer were handed to the connection so far.
  std::size_t events_sent() const;
  std::size_t tokens_sent() const;
  std::size_t bytes_sent() const;
  /// How much later than scripted anything of the answer left so far, by the gateway's doing: the longest time from the
  /// moment of a token, or from the end of a stall, until what was to leave then could. The time until the answer was
  /// decided, at gates, and until the client had read what came before is not counted. Zero where nothing was to wait,
  /// and on a clock other than the real one.
  Duration lateness() const;

  /// What was sent so far. Empty unless Options::keep_answers was set when it was answered, or a sweep looks at the
  /// answer. Copies the bytes.
  std::optional<SentAnswer> answer() const;

  /// When the request was complete, when the answer began and when it ended, on the gateway's clock; empty before. A
  /// pace is counted from received(). On Linux a request is complete when its last byte reached the system, or when the
  /// exchange before it on its connection ended, however much later the gateway came to read it; elsewhere, and on a
  /// manual clock, when the gateway had read it.
  TimePoint received() const;
  std::optional<TimePoint> first_byte() const;
  std::optional<TimePoint> ended() const;

  /// A command for a POSIX shell that sends the request again, with `$OPENAI_API_KEY` in place of the key. What
  /// concerns only the connection (Host, Content-Length, Connection, Expect, codings) is left to curl. Characters that
  /// would disturb a terminal, and bytes that are not UTF-8, stand in it as octal numbers that printf turns into the
  /// same bytes.
  std::string as_curl() const;
  /// One line: id, method, target, status, decision, with the reason of a refused request, outcome, and what faults and
  /// chaos did. Control characters, and others that would disturb a terminal, are escaped in it.
  std::string summary() const;

 private:
  friend struct detail::Access;
  detail::Lasting<detail::ExchangeRecord> record_;
};

std::ostream& operator<<(std::ostream& out, const Exchange& exchange);

/// How many exchanges of a kind a journal holds: `CHECK(gateway.journal().count(user_says("weather")) == 2)`.
struct ExchangeCount {
  std::size_t count = 0;
  /// Whether exchanges were evicted (Options::journal_limits), so that there were perhaps more.
  bool at_least = false;

  /// "2", or "at least 2".
  std::string to_string() const { return (at_least ? "at least " : "") + std::to_string(count); }

  friend bool operator==(const ExchangeCount& a, std::size_t b) { return a.count == b; }
  friend bool operator!=(const ExchangeCount& a, std::size_t b) { return a.count != b; }
};

std::ostream& operator<<(std::ostream& out, const ExchangeCount& count);

/// Every exchange of a gateway, oldest first, within bounds of entries and bytes. A handle: may outlive its gateway.
/// A request is in it before the first byte of its answer leaves. Keys are masked in all that it holds.
class Journal {
 public:
  explicit Journal(std::shared_ptr<detail::JournalState> state);

  /// Exchanges since the gateway began or the journal was cleared, evicted ones included.
  std::size_t count() const;
  /// How many of them were evicted to keep the bounds (Options::journal_limits).
  std::size_t evicted() const;
  /// The exchanges that are kept, oldest first.
  std::vector<Exchange> all() const;
  /// The newest exchange. Throws GatewayError when there is none.
  Exchange last() const;
  /// The exchange with this id. Throws GatewayError when there never was one, or it was evicted.
  Exchange at(std::uint64_t id) const;
  /// The connections that Gateway::next_connection and every_connection struck, oldest first, also those on which no
  /// request was read. As many of the newest are kept as exchanges are. Each is there before the client can see it.
  std::vector<ConnectionHit> connection_hits() const;
  /// How many connections the exchanges that are kept came on.
  std::size_t connections() const;
  /// The exchanges of the key with that id, oldest first.
  std::vector<Exchange> by_key(const std::string& key_id) const;
  /// The exchanges of one of several tests that share the gateway, oldest first.
  std::vector<Exchange> in(const RequestScope& scope) const;
  /// The exchanges whose chat request meets all of these conditions, oldest first, whether or not a stub has answered:
  /// `find(user_says("weather"), has_tool("get_weather"))`. A body that is no chat request meets none. Runs the test's
  /// functions in the conditions, and lets pass what they throw.
  template <class... Matchers>
  std::vector<Exchange> find(const Matcher& condition, const Matchers&... more) const {
    return find(std::vector<Matcher>{condition, more...});
  }
  std::vector<Exchange> find(const std::vector<Matcher>& conditions) const;
  /// How many these are.
  template <class... Matchers>
  ExchangeCount count(const Matcher& condition, const Matchers&... more) const {
    return count(std::vector<Matcher>{condition, more...});
  }
  ExchangeCount count(const std::vector<Matcher>& conditions) const;

  /// Waits, in real time, until `count` exchanges have been recorded since the last clear.
  Wait wait_for(std::size_t count, Duration timeout) const;
  /// Waits, in real time, until every request that has begun to arrive has ended. One whose client has closed its side
  /// is not waited for while its reply waits.
  Wait wait_until_idle(Duration timeout) const;
  /// Forgets what is recorded and counts from 0 again; ids go on. The problems of verify() stay: Gateway::reset forgets
  /// them too.
  void clear() const;

 private:
  detail::Lasting<detail::JournalState> state_;
};

}  // namespace mock_gateway
