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

/// The answer to a chat request that matches none of the mounted stubs.
enum class Unmatched {
  /// 422 `no_stub_matched`, and verify() reports it.
  fails_verification,
  /// 422 `no_stub_matched`, without a problem in verify().
  allowed,
  /// The default reply, as without stubs.
  gets_default_reply,
};

/// How a gateway starts: `Options().port(8080).model("fast")`. A value; each setter returns a changed copy. The
/// Gateway's constructor throws GatewayError for invalid values.
class Options {
 public:
  Options();

  /// Sets the address or name to listen on, not empty. Default: 127.0.0.1, because cpp-httplib is not meant for a
  /// hostile network.
  [[nodiscard]] Options host(std::string host) const;
  /// Sets the port to listen on, from 0 to 65535. 0 (default) takes a free port, so that tests can run in parallel. A
  /// port is never shared.
  [[nodiscard]] Options port(int port) const;

  /// Adds a served model; repeatable. Default: only `mock-model`. Id and owner are UTF-8. Ids are unique and not empty.
  [[nodiscard]] Options model(std::string id, std::string owner = "mock_gateway") const;
  /// Sets the context window of a model, at least 1 token, and adds the model if no earlier model() has. A chat whose
  /// prompt and `max_tokens` (0 if absent), counted by tokenizer(), exceed it gets 400 `context_length_exceeded`.
  /// Default: no limit.
  [[nodiscard]] Options context_window(std::string model, std::size_t tokens) const;
  /// Serves any model: a request for an id that neither model() nor a stub names gets an answer, and a note in the
  /// review (`unlisted_model`). `GET /v1/models` lists the models set by model(), or `mock-model`. The ids that stubs
  /// name follow, then the first 1,000 requested ids of up to 256 bytes. A reset of the journal removes requested
  /// ids from the list. Rights of keys still apply. Default: false, so that unknown models get 404 as documented.
  [[nodiscard]] Options any_model(bool any = true) const;
  /// Sets whether `POST /v1/embeddings` is served as documented by OpenAI, with the keys, limits, failures and checks
  /// of chat. Vectors have unit length, are equal for equal texts and similar for texts that share words. They are
  /// `float` or `base64`, with 1,536 dimensions by default and up to 8,192. Gateway::on mounts a different answer.
  /// Default: only in the openai profile.
  [[nodiscard]] Options embeddings(bool served = true) const;
  /// Allows pages of this origin, such as `http://localhost:5173`, or all with `*`, to call the gateway from a browser;
  /// repeatable. Preflight requests (Fetch standard, 4.8) get 204 without a key. Every answer has the CORS headers that
  /// let the page read it. The review does not report `browser_request`. An origin is scheme and host, optionally a
  /// port, and nothing else. Default: none, because pages should not have keys.
  [[nodiscard]] Options cors(std::string origin) const;
  /// Sets the secret of the default key, which Gateway::api_key returns. Default: derived from the seed, starting with
  /// `sk-`. See KeyOptions::secret for the limits.
  [[nodiscard]] Options api_key(std::string secret) const;
  /// Sets the limits, rights and other options of the default key. Its secret, if set, replaces that of api_key().
  [[nodiscard]] Options default_key(KeyOptions key) const;
  /// Adds a header that may carry the bare secret of a key, as `api-key` does for Azure, besides `Authorization:
  /// Bearer`; repeatable. Different keys in several headers get 401; an empty value, or `Bearer` without a key, counts
  /// as no key. Records mask the header. Throws GatewayError for an invalid name, and for a header with another
  /// meaning, such as Host. Default: none.
  [[nodiscard]] Options key_header(std::string name) const;
  /// Sets whether requests need a key. If not, a request without a key counts as sent with the default key. A key that
  /// is sent is checked as usual. Default: true.
  [[nodiscard]] Options key_required(bool required) const;
  /// Serves the operations named `/v1/…` below this path, such as `/api/paas/v4` or `/`, instead of `/v1`; repeatable.
  /// The first one is that of Gateway::base_url. Rights, failures and Gateway::on keep the names `/v1/…`; the journal
  /// has paths as sent. Throws GatewayError unless the path begins with `/` and has no empty segment, query, `{`, `}`
  /// or `*`. Default: `/v1`.
  [[nodiscard]] Options base_path(std::string path) const;
  /// Adds a further key that exists from the start; repeatable. Set its secret here: a generated one cannot be read.
  [[nodiscard]] Options key(std::string description, KeyOptions key) const;
  /// Sets a limit shared by all keys: `requests` per `window` on the gateway's clock, both positive. Default: none.
  [[nodiscard]] Options limit(std::size_t requests, Duration window) const;
  /// Sets a token limit shared by all keys, like limit() and in addition to it; see TokenLimit. Default: none.
  [[nodiscard]] Options limit_tokens(std::size_t tokens, Duration window) const;
  /// Limits the requests of all keys at a time; see KeyOptions::limit_concurrent. Default: none.
  [[nodiscard]] Options limit_concurrent(std::size_t requests) const;
  /// Sets whether a request for more tokens than the whole limit gets 413, as Groq and GitHub Models answer, instead of
  /// OpenAI's 429. Neither has Retry-After. Default: false.
  [[nodiscard]] Options oversized_gets_413(bool gets_413 = true) const;

  /// Sets the seed of generated ids, secrets, default replies and chaos. Equal seeds repeat a run. Default: 1.
  [[nodiscard]] Options seed(std::uint64_t seed) const;
  /// Sets the clock of everything scripted: RealClock (default), InstantClock or ManualClock.
  [[nodiscard]] Options clock(Clock clock) const;
  /// Sets the shapes of replies and errors, and the default of acceptance(). Default: `documented`.
  [[nodiscard]] Options profile(Profile profile) const;
  /// Sets what requests may hold. Default: Acceptance::openai() for the openai profile, otherwise a default Acceptance.
  [[nodiscard]] Options acceptance(Acceptance acceptance) const;
  /// Refuses chat requests that this service refuses, with its 400; docs/documented-surface.md has the rules. Throws
  /// GatewayError for `documented`, which has none. Also sets the default of profile(). Default: requests that break a
  /// rule of the profile's service cause a finding.
  [[nodiscard]] Options enforce(Profile service) const;
  /// Sets how text is cut into tokens, for `usage`, `max_tokens` and streams; see Tokenizer. Default: words.
  [[nodiscard]] Options tokenizer(Tokenizer tokenizer) const;
  /// Sets how fast the gateway answers: `pace(Pace().first_token_after(200ms).tokens_per_second(50))`. Applies to all
  /// completions, scripted or not, and to chunks(), unless they set their own; a reply with `every(0s)` is sent at
  /// once. Does not apply to failures and raw replies, which can set their own pace, or to other operations, which have
  /// none. Throws GatewayError for by_pieces(), which fits only one reply.
  [[nodiscard]] Options pace(Pace pace) const;
  /// Sets the largest accepted `n`, at least 1; larger ones get 400. Default: 128.
  [[nodiscard]] Options max_n(std::int64_t n) const;

  /// Sets the largest request body in bytes, at least 1; larger ones get 413. Default: 16 MiB. The sizes, extensions
  /// and trailer of a chunked body may add 32 KiB; more gets 413 too. So the gateway and its journal together keep at
  /// most max_head + 2 * max_body + 64 KiB per request, including Exchange::raw. Checking a request takes about 100
  /// more bytes per JSON value. A request may have 1,000,000 values.
  [[nodiscard]] Options max_body(std::size_t bytes) const;
  /// Sets the largest request line and headers in bytes, at least 1024; larger ones get 431. Default: 64 KiB.
  [[nodiscard]] Options max_head(std::size_t bytes) const;
  /// Sets how many exchanges, and bytes of requests, the journal keeps, at least 1 of each. Default: 10,000 and 64 MiB.
  /// Beyond either, the oldest are evicted; Journal::evicted counts them.
  [[nodiscard]] Options journal_limits(std::size_t entries, std::size_t bytes) const;
  /// Sets whether the journal keeps sent answers for Exchange::answer, up to max_body bytes each. They count towards
  /// the bytes of journal_limits once the exchange has ended. Default: false.
  [[nodiscard]] Options keep_answers(bool keep) const;

  /// Sets the longest real time between two bytes of a request. After that time, the request gets 408, and its
  /// connection is closed. Positive, like all timeouts. Default: 30 s.
  [[nodiscard]] Options read_timeout(Duration timeout) const;
  /// Sets the total real time for a request's head, counted from its first byte. A request whose head takes longer
  /// gets 408, and its connection is closed. Default: 30 s.
  [[nodiscard]] Options head_timeout(Duration timeout) const;
  /// Sets the total real time for a request's body from the end of its head. Each 10 KiB received add 1 s. After that
  /// time, the request gets 408, and its connection is closed. No limit under slow_body(). Default: 60 s.
  [[nodiscard]] Options body_timeout(Duration timeout) const;
  /// Sets how long, in real time, a client may read no byte before its connection is closed. Default: 30 s.
  [[nodiscard]] Options write_timeout(Duration timeout) const;
  /// Sets the real time after which an idle kept-alive connection is closed. Default: 75 s.
  [[nodiscard]] Options idle_timeout(Duration timeout) const;

  /// Sets the real time after which the gateway resets a connection that is in an unlimited scripted wait: stall(),
  /// half_close() or SseDialect::open_after_done. Without this guard, only the client ends the wait, so a client
  /// without a timeout and its test would hang. The outcome of an ended wait is `guard_expired`, and verify() reports
  /// it. Positive; std::nullopt means no guard. Default: 120 s, longer than the timeouts of clients.
  [[nodiscard]] Options stall_guard(std::optional<Duration> guard) const;

  /// Sets the answer to requests that no stub answers. Default: Unmatched::fails_verification.
  [[nodiscard]] Options unmatched(Unmatched policy) const;
  /// Sets whether the destructor reports unread problems of verify(), see Gateway::~Gateway. Default: true.
  [[nodiscard]] Options verify_on_destruction(bool verify) const;
  /// Excludes findings with this code from every review; repeatable. The Gateway's constructor throws GatewayError for
  /// an unknown code.
  [[nodiscard]] Options without_finding(std::string code) const;

  /// Sets a function, for logs, called on the connection's thread when an exchange has ended. Its exceptions are
  /// reported on stderr. For a connection that gets 503 connection_limit it is called on the accepting thread, which
  /// accepts no other connection meanwhile.
  [[nodiscard]] Options on_exchange(std::function<void(const Exchange&)> callback) const;

  /// Sets a function, for logs, called when a fault of Gateway::next_connection strikes a connection. The connection's
  /// thread calls it before the client can notice the fault. Its exceptions are reported on stderr.
  [[nodiscard]] Options on_connection_hit(std::function<void(const ConnectionHit&)> callback) const;

 private:
  friend struct detail::Access;
  detail::OptionValues& edit();

  detail::Shared<detail::OptionValues> data_;  // copies share it until one of them is changed
};

}  // namespace mock_gateway
