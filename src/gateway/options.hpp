#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "../core/forward.hpp"
#include "../core/shared.hpp"
#include "../model/profile.hpp"
#include "../model/tokenizer.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
struct OptionValues;

}  // namespace detail

/// What becomes of a chat request that no stub answers while stubs are mounted.
enum class Unmatched {
  /// 422 `no_stub_matched`, and verify() reports it.
  fails_verification,
  /// 422 `no_stub_matched`, and that is all.
  allowed,
  /// The default reply answers, as if there were no stub.
  gets_default_reply,
};

/// How a gateway starts: `Options().port(8080).model("fast")`. A value; each setter returns a changed copy. A wrong
/// value throws GatewayError from the Gateway's constructor.
class Options {
 public:
  Options();

  /// The address or name to listen on, not empty. 127.0.0.1 unless set: cpp-httplib is not meant for a hostile network.
  [[nodiscard]] Options host(std::string host) const;
  /// The port to listen on, from 0 to 65535. 0, which it is unless set, takes a free one, so that tests run side by
  /// side. A port is never shared.
  [[nodiscard]] Options port(int port) const;

  /// Serves this model; repeatable. `mock-model` alone unless set. Id and owner are UTF-8, and an id is not empty and
  /// given once, or GatewayError.
  [[nodiscard]] Options model(std::string id, std::string owner = "mock_gateway") const;
  /// Serves any model: a request for an id that is neither set here nor named by a stub gets its answer, and the review
  /// notes it (`unlisted_model`). `GET /v1/models` lists what model() set, `mock-model` if nothing, then the ids that
  /// stubs name, and the first 1,000 that requests asked for, up to 256 bytes each; a reset of the journal forgets
  /// these. Rights of keys count as always. Off unless set: the documentation answers 404 for a model that is not
  /// there.
  [[nodiscard]] Options any_model(bool any = true) const;
  /// Whether `POST /v1/embeddings` is served as OpenAI documents it, behind the same keys, limits, failures and checks
  /// as a chat: vectors of unit length, the same for the same text, near for texts that share words; `float` or
  /// `base64`, 1,536 dimensions unless asked for others, up to 8,192. Gateway::on mounts another answer in its place.
  /// Unless set, with the openai profile alone: the gateway's documentation does not have it.
  [[nodiscard]] Options embeddings(bool served = true) const;
  /// Lets pages of this origin call the gateway from a browser, `http://localhost:5173`, or with `*` all; repeatable.
  /// The browser's preflight (Fetch standard, 4.8) is answered 204 without a key, every answer has the fields that let
  /// the page read it, and `browser_request` is no finding. GatewayError for what is no origin: scheme and host, with a
  /// port or without, and nothing behind. None unless set: pages hold no keys.
  [[nodiscard]] Options cors(std::string origin) const;
  /// The secret of the default key, which Gateway::api_key gives. Unless set, it follows from the seed and starts with
  /// `sk-`. KeyOptions::secret says what it may be.
  [[nodiscard]] Options api_key(std::string secret) const;
  /// Adds a further key, which exists from the start; repeatable. Its secret, unless set, can be asked for nowhere.
  [[nodiscard]] Options key(std::string description, KeyOptions key) const;
  /// Sets a limit that all keys share: `requests` per `window` on the gateway's clock, both positive, or GatewayError.
  /// There is none unless set.
  [[nodiscard]] Options limit(std::size_t requests, Duration window) const;
  /// Sets a limit of tokens that all keys share: `tokens` per `window` on the gateway's clock, both positive, or
  /// GatewayError; see TokenLimit. It holds beside limit(). There is none unless set.
  [[nodiscard]] Options limit_tokens(std::size_t tokens, Duration window) const;
  /// Whether a request that asks for more tokens than its limit has at all gets 413, as Groq and GitHub Models answer
  /// it, in place of OpenAI's 429. Neither has Retry-After. False unless set.
  [[nodiscard]] Options oversized_gets_413(bool gets_413 = true) const;

  /// Decides everything generated: ids, secrets, default replies, what chaos strikes. The same seed repeats the same
  /// run. 1 unless set.
  [[nodiscard]] Options seed(std::uint64_t seed) const;
  /// The clock by which everything scripted is done: RealClock, which it is unless set, InstantClock or ManualClock.
  [[nodiscard]] Options clock(Clock clock) const;
  /// Whose shapes replies and errors have, and what is accepted unless acceptance() says so. `documented` unless set.
  [[nodiscard]] Options profile(Profile profile) const;
  /// What requests may hold. Unless set, what the profile's service takes: Acceptance::openai() for the openai profile,
  /// else a default Acceptance.
  [[nodiscard]] Options acceptance(Acceptance acceptance) const;
  /// Cuts text into tokens, for `usage`, `max_tokens` and the deltas of a stream; see Tokenizer. Unless set, a token is
  /// a word.
  [[nodiscard]] Options tokenizer(Tokenizer tokenizer) const;
  /// How fast the gateway answers: `pace(Pace().first_token_after(200ms).tokens_per_second(50))`. It holds for every
  /// completion, scripted or not, and for chunks(), in what they do not set themselves; a reply with `every(0s)` leaves
  /// at once. Failures and raw replies have only their own pace, other operations none. GatewayError for by_pieces(),
  /// which fits one reply.
  [[nodiscard]] Options pace(Pace pace) const;
  /// The largest `n` accepted, at least 1; beyond it 400. 128 unless set.
  [[nodiscard]] Options max_n(std::int64_t n) const;

  /// The largest request body in bytes, at least 1; beyond it 413. 16 MiB unless set. A chunked body may be 32 KiB
  /// longer with its sizes, extensions and trailer; beyond that it gets 413 too. So what the gateway and its journal
  /// hold of one request, Exchange::raw included, is at most max_head + 2 * max_body + 64 KiB.
  [[nodiscard]] Options max_body(std::size_t bytes) const;
  /// The largest request line and header section together in bytes, at least 1024; beyond it 431. 64 KiB unless set.
  [[nodiscard]] Options max_head(std::size_t bytes) const;
  /// How many exchanges the journal keeps, and how many bytes of requests, at least 1 of each. 10,000 and 64 MiB unless
  /// set. Beyond either the oldest are evicted; Journal::evicted counts them.
  [[nodiscard]] Options journal_limits(std::size_t entries, std::size_t bytes) const;
  /// Whether the journal keeps what was sent, for Exchange::answer. Of one answer it keeps at most max_body bytes. They
  /// count against the bytes of journal_limits when the exchange has ended. False unless set.
  [[nodiscard]] Options keep_answers(bool keep) const;

  /// Real time without a byte of an unfinished request, after which it is answered 408 and its connection closed.
  /// Positive, as all timeouts, or GatewayError. 30 s unless set.
  [[nodiscard]] Options read_timeout(Duration timeout) const;
  /// Real time that a request's head may take in all, from its first byte on, however steadily its bytes come; then it
  /// is answered 408 and its connection closed. 30 s unless set.
  [[nodiscard]] Options head_timeout(Duration timeout) const;
  /// Real time that a request's body may take in all, from the end of its head on, and a second more for each 10 KiB of
  /// it that have been received; then it is answered 408 and its connection closed. A body that slow_body() strikes may
  /// take any time. 60 s unless set.
  [[nodiscard]] Options body_timeout(Duration timeout) const;
  /// Real time without the client taking a byte, after which its connection is closed. 30 s unless set.
  [[nodiscard]] Options write_timeout(Duration timeout) const;
  /// Real time after which an idle kept-alive connection is closed. 75 s unless set.
  [[nodiscard]] Options idle_timeout(Duration timeout) const;

  /// Real time, on any clock, after which a scripted wait without end is ended by a reset: stall(), half_close() and
  /// SseDialect::open_after_done, where only the client would end them. The outcome is then `guard_expired`, and
  /// verify() reports it: a client without a timeout hangs in such a wait, and so would the test. 120 s unless set,
  /// longer than the timeouts of clients, so that those end it first. Positive, or GatewayError; std::nullopt: no
  /// guard.
  [[nodiscard]] Options stall_guard(std::optional<Duration> guard) const;

  /// What becomes of requests that no stub answers. Unmatched::fails_verification unless set.
  [[nodiscard]] Options unmatched(Unmatched policy) const;
  /// Whether the destructor reports the problems of verify() that nobody has looked at: to the test framework whose
  /// adapter is in use, else on stderr, and then it aborts the program. True unless set.
  [[nodiscard]] Options verify_on_destruction(bool verify) const;
  /// Leaves findings of this code out of every review; repeatable. Throws GatewayError, from the Gateway's
  /// constructor, when there is no such code.
  [[nodiscard]] Options without_finding(std::string code) const;

  /// Called when an exchange has ended, on its connection's thread: for logs. What it throws is reported on stderr. Of
  /// a connection that could not be served, which is answered 503 connection_limit, it is called on the thread that
  /// accepts connections: as long as it takes then, no other is accepted.
  [[nodiscard]] Options on_exchange(std::function<void(const Exchange&)> callback) const;

  /// Called when a fault of Gateway::next_connection strikes a connection, on that connection's thread and before its
  /// client can see it: for logs. A request that the fault strikes is under way meanwhile. What it throws is reported
  /// on stderr.
  [[nodiscard]] Options on_connection_hit(std::function<void(const ConnectionHit&)> callback) const;

 private:
  friend struct detail::Access;
  detail::OptionValues& edit();

  detail::Shared<detail::OptionValues> data_;  // copies share it until one of them is changed
};

}  // namespace mock_gateway
