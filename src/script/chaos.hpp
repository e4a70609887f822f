#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/shared.hpp"
#include "../model/connection_fault.hpp"
#include "../model/failure.hpp"
#include "../model/fault.hpp"
#include "../model/pace.hpp"
#include "matcher.hpp"

namespace mock_gateway {

/// A trigger at a random position, drawn for each reply that it breaks: uniformly from 1 to `most`. See at_any_event(),
/// at_any_token(), at_any_byte().
class DrawnTrigger {
 public:
  /// `kind` is after_events, after_tokens or after_bytes. Throws GatewayError for another kind, or if `most` is 0.
  DrawnTrigger(Trigger::Kind kind, std::size_t most);

  Trigger::Kind kind() const { return kind_; }
  std::size_t most() const { return most_; }
  /// Returns "after 1 to 10 tokens".
  std::string to_string() const;

 private:
  Trigger::Kind kind_;
  std::size_t most_;
};

/// Triggers after one of the first `most` events, chosen at random. A reply with fewer events than the number drawn
/// stays whole, and its record says so. Throws GatewayError if `most` is 0.
DrawnTrigger at_any_event(std::size_t most);
/// Triggers after one of the first `most` tokens; otherwise like at_any_event().
DrawnTrigger at_any_token(std::size_t most);
/// Triggers after one of the first `most` bytes of the body; otherwise like at_any_event().
DrawnTrigger at_any_byte(std::size_t most);

namespace detail {

struct Access;
struct ChaosPlan;

}  // namespace detail

/// A rule of Gateway::chaos: what goes wrong, and in which chat requests. A value type; each setter returns a changed
/// copy. Without probability(), nth() and first() the rule always applies; if several are set, all must allow it.
///
/// Decisions are reproducible. They depend on the gateway's seed, the rule's number, the request and, unless
/// by_request() is set, how often that request has come. They never depend on timing or on other requests. So a
/// repeated run affects the same requests with any number of threads; another Options::seed affects others. Two
/// requests are the same if their bodies and the descriptions of their keys are equal; headers do not count. A client's
/// retry is thus another occurrence of its request. Each rule counts the occurrences of requests that it matches.
/// Counts are exact for its first 65,536 different requests; later ones share counters, so their decisions may depend
/// on the order of requests.
class Chaos {
 public:
  /// Breaks the reply of a stub, the default reply, or the failure of a later rule; see Reply::fault. Does nothing if
  /// that reply cannot break so, for example a failure without events. Throws GatewayError for a fault that no reply
  /// can have.
  Chaos(Trigger trigger, Effect effect);
  Chaos(DrawnTrigger trigger, Effect effect);
  /// Answers with a failure before a stub is chosen. The script does not advance: a retry gets the reply meant for this
  /// request.
  explicit Chaos(const Failure& failure);
  /// Slows the reply. The settings of this pace override those of the reply and of Options::pace. A raw reply is sent
  /// in one piece, so only a pace that sets nothing but first_token_after slows it. Throws GatewayError for a pace
  /// without settings, and for by_pieces, which fits a single reply.
  explicit Chaos(const Pace& pace);
  /// Sends unsolicited_continue() or early_hints() before the reply. Throws GatewayError for other faults: they happen
  /// before the request is known, and belong to Gateway::next_connection.
  explicit Chaos(const ConnectionFault& fault);

  /// Applies the rule with this probability: 0.1 is one in ten. Throws GatewayError unless it is from 0 to 1.
  [[nodiscard]] Chaos probability(double probability) const;
  /// Applies the rule to the `n`th, 2·`n`th, … occurrence of each request. Requests are counted separately, because the
  /// order of different requests is not a property of the client. Throws GatewayError if `n` is 0.
  [[nodiscard]] Chaos nth(std::size_t n) const;
  /// Applies the rule to the first `n` occurrences of each request. Throws GatewayError if `n` is 0.
  [[nodiscard]] Chaos first(std::size_t n) const;
  /// Makes random draws depend on the request, not on its occurrence: a request gets the same result each time.
  /// Gateways with the same seed, rules and keys then decide alike. nth() and first() count as before.
  [[nodiscard]] Chaos by_request() const;
  /// Restricts the rule to requests that match every matcher, and counts only those; see StubBuilder::when. Functions
  /// of the test run on the connection's thread without a lock. If one throws, the client gets a 500, and verify()
  /// reports a problem.
  template <class... Matchers>
  [[nodiscard]] Chaos when(Matchers&&... matchers) const {
    static_assert(sizeof...(matchers) > 0, "when(...) needs at least one matcher; leave it out to match every request");
    static_assert((std::is_convertible_v<Matchers, Matcher> && ...),
                  "when(...) takes matchers, such as user_says(\"weather\")");
    if constexpr ((std::is_convertible_v<Matchers, Matcher> && ...)) {
      return with({Matcher(std::forward<Matchers>(matchers))...});
    } else {
      return *this;
    }
  }

  /// Returns "reset the connection after 2 tokens (probability 0.1, when user text contains \"weather\")".
  std::string to_string() const;

 private:
  friend struct detail::Access;
  Chaos with(std::initializer_list<Matcher> matchers) const;
  detail::ChaosPlan& edit();

  detail::Shared<detail::ChaosPlan> data_;  // copy on write
};

}  // namespace mock_gateway
