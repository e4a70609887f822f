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

/// One turn of a session of mishaps. A handle: cheap to copy.
class Mishap {
 public:
  /// What the client's caller does in the turn.
  enum class Call {
    /// It makes a call, and waits for its end.
    whole,
    /// It makes a streamed call, and stops it once it has been given so many pieces of text: cancel_after().
    cancelled,
    /// It makes a call, and gives it up after a time: abandon_after().
    abandoned,
  };

  /// In lower case with hyphens: "rotated-key". It stays from release to release.
  const std::string& name() const;
  /// What the gateway does, in a line.
  const std::string& description() const;
  /// Where it comes from, as Scenario::reference says.
  const std::string& reference() const;
  /// What a good client does, in a line.
  const std::string& good_client() const;
  /// What a good client may do. Of a call that its caller ends, an error is right too.
  Scenario::Expected expected() const;
  /// All text of the reply. No two turns of a session have the same.
  const std::string& text() const;
  /// Whether it shows in stream requests only.
  bool needs_stream() const;
  Call call() const;
  /// After how many pieces of text the caller stops the call: 2 to 4. 0 unless it is cancelled.
  std::size_t cancel_after() const;
  /// After what time the caller gives the call up: 100 to 200 ms. 0 unless it is abandoned.
  Duration abandon_after() const;

  /// Begins the turn: the gateway answers every chat request so until the next turn begins, or the session ends. A turn
  /// that is left out is not mounted.
  void mount() const;
  /// The key that the client is to use from this turn on. It is another one once `rotated-key` is mounted, and the one
  /// before is then deleted.
  std::string api_key() const;
  /// Whether what became of the client's call is right. It counts the tries itself (ClientOutcome::tries). Of a call
  /// that its caller ended, it waits, in real time, up to a second for the request to come, up to a second for the
  /// client to leave, and in `abandoned-wait` 1.3 s for another try, unless the clock is not real. Throws GatewayError
  /// for a turn that is not the one that was mounted last.
  Verdict judge(ClientOutcome outcome) const;

 private:
  friend struct detail::Access;
  Mishap(std::shared_ptr<detail::MishapSession> session, std::size_t number)
      : session_(std::move(session)), number_(number) {}

  detail::Lasting<detail::MishapSession> session_;
  std::size_t number_;
};

/// The turns of a session, in their order; see mishaps().
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

/// A session of one client with one gateway in which one thing after the other goes wrong: limits, with Retry-After in
/// seconds and as a date, errors of the server and of a proxy, a connection that is closed, refused keys, an answer
/// that is cut, a key that is rotated, calls that their caller stops. It shows what no single scenario of catalogue()
/// does: whether the client tries again where that helps, whether it goes on as if nothing had been, and whether it
/// leaves what it no longer reads. The seed decides the order, the texts and the times.
///
///     Gateway gateway;
///     MyClient client(gateway.base_url());
///     for (const Mishap& mishap : mishaps(gateway, 7)) {
///       CAPTURE(mishap.name());
///       mishap.mount();
///       client.set_key(mishap.api_key());
///       CHECK(mishap.judge(run(client, mishap)));  // asks for mishap.name(), say
///     }
///     CHECK(gateway.review());  // it waited as told, and did not repeat what was final
///
/// Let each call ask something of its own: review() cannot tell a call that asks the same at once from another try.
/// The session has keys of its own, which are deleted with its last handle. The gateway must outlive mount(), and stay
/// where it is. It takes some five seconds of real time, in which the client waits as it is told to.
Mishaps mishaps(Gateway& gateway, std::uint64_t seed = 1);

}  // namespace mock_gateway
