#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/duration.hpp"
#include "../core/shared.hpp"
#include "catalogue.hpp"
#include "gateway.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
struct MishapSession;

}  // namespace detail

/// One turn of a session of failures, see mishaps(). A handle: cheap to copy.
class Mishap {
 public:
  /// What the client's caller does in the turn.
  enum class Call {
    /// It makes a call and waits for its end.
    whole,
    /// It makes a streamed call and stops it after cancel_after() pieces of text.
    cancelled,
    /// It makes a call and gives up after abandon_after().
    abandoned,
  };

  /// Returns the name, in lower case with hyphens: "rotated-key". Names are stable across releases.
  const std::string& name() const;
  /// Returns what the gateway does, in one line.
  const std::string& description() const;
  /// Returns the source, like Scenario::reference.
  const std::string& reference() const;
  /// Returns one line about what a good client does.
  const std::string& good_client() const;
  /// Returns what a good client may do. In a call that its caller ends, an error is acceptable too.
  Scenario::Expected expected() const;
  /// Returns the complete text of the reply, which is unique in the session.
  const std::string& text() const;
  /// Whether it only affects stream requests.
  bool needs_stream() const;
  Call call() const;
  /// Returns after how many pieces of text the caller cancels the call: 2 to 4; 0 for other calls.
  std::size_t cancel_after() const;
  /// Returns after what time the caller abandons the call: 100 to 200 ms; 0 for other calls.
  Duration abandon_after() const;

  /// Begins the turn: it applies to every chat request until the next turn or the session's end. Turns can be skipped.
  void mount() const;
  /// Returns the client's key from this turn on. Mounting `rotated-key` changes it and deletes the previous key.
  std::string api_key() const;
  /// Judges the outcome of the client's call. Counts the tries itself (ClientOutcome::tries). For a call that its
  /// caller ended, waits in real time: up to 1 s for the request, and up to 1 s for the client to leave. With the real
  /// clock, `abandoned-wait` also waits 1.3 s for a retry. Throws GatewayError unless this turn was the last one
  /// mounted.
  Verdict judge(ClientOutcome outcome) const;

 private:
  friend struct detail::Access;
  Mishap(std::shared_ptr<detail::MishapSession> session, std::size_t number)
      : session_(std::move(session)), number_(number) {}

  detail::HandlePointer<detail::MishapSession> session_;
  std::size_t number_;
};

/// The turns of a session in order; see mishaps().
class Mishaps {
 public:
  std::vector<Mishap>::const_iterator begin() const { return turns_.begin(); }
  std::vector<Mishap>::const_iterator end() const { return turns_.end(); }
  std::size_t size() const { return turns_.size(); }

 private:
  friend struct detail::Access;
  explicit Mishaps(std::vector<Mishap> turns) : turns_(std::move(turns)) {}

  std::vector<Mishap> turns_;
};

/// A session of failures: rate limits with Retry-After in seconds and as a date, errors of the server and of a proxy, a
/// closed connection, refused keys, a truncated answer, a rotated key, calls that their caller stops. It tests whether
/// the client retries when that helps, continues normally afterwards, and closes calls that its caller has stopped. The
/// seed decides the order, the texts and the times.
///
///     Gateway gateway;
///     MyClient client(gateway.base_url());
///     for (const Mishap& mishap : mishaps(gateway, 7)) {
///       CAPTURE(mishap.name());
///       mishap.mount();
///       client.set_key(mishap.api_key());
///       CHECK(mishap.judge(run(client, mishap)));  // for example with the prompt mishap.name()
///     }
///     CHECK(gateway.review());  // it waited as told, and did not retry final errors
///
/// Make each request different: review() cannot tell an equal request that follows at once from a retry. The session
/// has its own keys, which are deleted with its last handle. The gateway must outlive mount() and must not be moved.
/// The session takes about 5 s of real time, in which the client waits as told.
Mishaps mishaps(Gateway& gateway, std::uint64_t seed = 1);

}  // namespace mock_gateway
