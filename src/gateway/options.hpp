#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../answer/bodies.hpp"
#include "../answer/tokens.hpp"
#include "../core/clock.hpp"
#include "../evidence/journal.hpp"
#include "../keys/api_key.hpp"
#include "../model/acceptance.hpp"
#include "../model/pace.hpp"
#include "../model/profile.hpp"

namespace mock_gateway {

/// What becomes of a chat request that stubs were mounted for and none answered.
enum class Unmatched {
  /// 422 `no_stub_matched`, and verify() reports it.
  fails_verification,
  /// 422 `no_stub_matched`, and that is all.
  allowed,
  /// The default reply answers, as if there were no stub.
  gets_default_reply,
};

/// How a gateway starts: `Options{}.port(8080).model("fast")`. Setters chain; a wrong value throws GatewayError from
/// the Gateway's constructor.
class Options {
 public:
  Options();
  // Defined once, in the library: every test file that names one would compile them again.
  Options(const Options&);
  Options(Options&&) noexcept;
  Options& operator=(const Options&);
  Options& operator=(Options&&) noexcept;
  ~Options();

  /// Address or name to listen on. Loopback unless changed: cpp-httplib is not meant for a hostile network.
  Options& host(std::string host) { return values_.host = std::move(host), *this; }
  /// 0, the default: a free port.
  Options& port(int port) { return values_.port = port, *this; }

  /// Serves this model too. Without any: `mock-model`. Id and owner are UTF-8.
  Options& model(std::string id, std::string owner = "mock_gateway") {
    return values_.models.push_back({std::move(id), std::move(owner)}), *this;
  }
  /// The secret of the default key, which api_key() gives; unless set, one that follows from the seed and starts
  /// with `sk-`. What may be set is said at KeyOptions::secret.
  Options& api_key(std::string secret) { return values_.api_key = std::move(secret), *this; }
  /// A further key that exists from the start; its secret is the caller's.
  Options& key(std::string description, KeyOptions key) {
    return values_.keys.push_back({std::move(description), std::move(key)}), *this;
  }
  /// A limit that all keys share: `requests` per `window` on the gateway's clock.
  Options& limit(std::size_t requests, Duration window) { return values_.limit = RateLimit{requests, window}, *this; }

  /// Decides everything generated: ids, secrets, default replies. The same seed repeats the same run.
  Options& seed(std::uint64_t seed) { return values_.seed = seed, *this; }
  Options& clock(Clock clock) { return values_.clock = std::move(clock), *this; }
  /// Whose shapes replies and errors have, and what is accepted unless acceptance() says so. `documented` unless set.
  Options& profile(Profile profile) { return values_.profile = profile, *this; }
  /// What requests may hold. Unless set, what the profile's service takes: Acceptance::openai() for the openai profile,
  /// else a default Acceptance.
  Options& acceptance(Acceptance acceptance) { return values_.acceptance = acceptance, *this; }
  /// Counts and cuts text: `usage`, `max_tokens`, and one streamed delta per token unless the pace cuts otherwise.
  /// Unless set, words.
  Options& tokenizer(Tokenizer tokenizer) { return values_.tokenizer = std::move(tokenizer), *this; }
  /// How fast the gateway answers: `pace(Pace().first_token_after(200ms).tokens_per_second(50))`. It is that of every
  /// completion and of chunks(), scripted or not, in what they do not set themselves: `every(0s)` is at once. Failures,
  /// raw replies and other operations have none but their own. by_pieces() fits one reply, so GatewayError for it.
  Options& pace(Pace pace) { return values_.pace = std::move(pace), *this; }
  /// Largest `n` accepted; 128 unless set.
  Options& max_n(std::int64_t n) { return values_.max_n = n, *this; }

  /// Largest request body in bytes; beyond it 413. 16 MiB unless set. A chunked body may be 32 KiB longer with its
  /// sizes, extensions and trailer, beyond which it is 413 too. So what the gateway and its journal hold of one
  /// request, Exchange::raw included, is at most max_head + 2 * max_body + 64 KiB.
  Options& max_body(std::size_t bytes) { return values_.max_body = bytes, *this; }
  /// Largest request line and header section in bytes; beyond it 431. 64 KiB unless set.
  Options& max_head(std::size_t bytes) { return values_.max_head = bytes, *this; }
  /// How many exchanges the journal keeps, and how many bytes of requests. 10,000 and 64 MiB unless set.
  Options& journal_limits(std::size_t entries, std::size_t bytes) {
    return values_.journal_entries = entries, values_.journal_bytes = bytes, *this;
  }

  /// Real time without a byte of an unfinished request, after which it is answered 408 and closed. 30 s unless set.
  Options& read_timeout(Duration timeout) { return values_.read_timeout = timeout, *this; }
  /// Real time that a request's head may take in all, from its first byte on, however steadily its bytes come; then it
  /// is answered 408 and closed. 30 s unless set.
  Options& head_timeout(Duration timeout) { return values_.head_timeout = timeout, *this; }
  /// Real time that a request's body may take in all, from the end of its head on; a second more for each 10 KiB of it
  /// that have been received. Then it is answered 408 and closed. A body that slow_body() strikes may take any time.
  /// 60 s unless set.
  Options& body_timeout(Duration timeout) { return values_.body_timeout = timeout, *this; }
  /// Real time without the client taking a byte, after which its connection is closed. 30 s unless set.
  Options& write_timeout(Duration timeout) { return values_.write_timeout = timeout, *this; }
  /// Real time after which an idle kept-alive connection is closed. 75 s unless set.
  Options& idle_timeout(Duration timeout) { return values_.idle_timeout = timeout, *this; }

  /// Real time, on any clock, after which a scripted wait without end is ended by a reset: stall(), half_close() and
  /// SseDialect::open_after_done, where only the client would end them. The outcome is then `guard_expired`, and
  /// verify() tells it: a client without a timeout hangs in such a wait, and so would the test. 120 s unless set,
  /// longer than the timeouts of clients, so that those end it first. std::nullopt: no guard.
  Options& stall_guard(std::optional<Duration> guard) { return values_.stall_guard = guard, *this; }

  /// What becomes of requests that no stub answers. Unless set, they fail the verification.
  Options& unmatched(Unmatched policy) { return values_.unmatched = policy, *this; }
  /// Whether the destructor reports what verify() would have found wrong and nobody has looked at: to the test
  /// framework whose adapter is in use, else to stderr, and then it aborts the program. True unless set.
  Options& verify_on_destruction(bool verify) { return values_.verify_on_destruction = verify, *this; }
  /// Leaves findings of this code out of every review; repeatable. Throws GatewayError, from the Gateway's
  /// constructor, when there is no such code.
  Options& without_finding(std::string code) { return values_.without_findings.push_back(std::move(code)), *this; }

  /// Called when an exchange has ended, on its connection's thread: for logs. What it throws is reported on stderr.
  Options& on_exchange(std::function<void(const Exchange&)> callback) {
    return values_.on_exchange = std::move(callback), *this;
  }

  /// Called when a fault of Gateway::next_connection strikes a connection, on that connection's thread and before its
  /// client can see it: for logs. What it throws is reported on stderr.
  Options& on_connection_hit(std::function<void(const ConnectionHit&)> callback) {
    return values_.on_connection_hit = std::move(callback), *this;
  }

  struct InitialKey {
    std::string description;
    KeyOptions options;
  };
  struct Values {
    std::string host = "127.0.0.1";
    int port = 0;
    std::vector<Model> models;
    std::optional<std::string> api_key;
    std::vector<InitialKey> keys;
    std::optional<RateLimit> limit;
    std::uint64_t seed = 1;
    std::optional<Clock> clock;
    Profile profile = Profile::documented;
    std::optional<Acceptance> acceptance;
    Tokenizer tokenizer;
    Pace pace;
    std::int64_t max_n = 128;
    std::size_t max_body = std::size_t{16} << 20;
    std::size_t max_head = std::size_t{64} << 10;
    std::size_t journal_entries = 10'000;
    std::size_t journal_bytes = std::size_t{64} << 20;
    Duration read_timeout = std::chrono::seconds{30};
    Duration write_timeout = std::chrono::seconds{30};
    Duration idle_timeout = std::chrono::seconds{75};
    std::optional<Duration> stall_guard = std::chrono::seconds{120};
    Duration head_timeout = std::chrono::seconds{30};
    Duration body_timeout = std::chrono::seconds{60};
    Unmatched unmatched = Unmatched::fails_verification;
    bool verify_on_destruction = true;
    std::vector<std::string> without_findings;
    std::function<void(const Exchange&)> on_exchange;
    std::function<void(const ConnectionHit&)> on_connection_hit;
  };
  const Values& values() const { return values_; }

 private:
  Values values_;
};

}  // namespace mock_gateway
