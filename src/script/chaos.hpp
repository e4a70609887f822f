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

/// A trigger drawn uniformly for each struck reply: at_any_event(), at_any_token(), at_any_byte().
class DrawnTrigger {
 public:
  /// `kind` is after_events, after_tokens or after_bytes; `most` is at least 1.
  DrawnTrigger(Trigger::Kind kind, std::size_t most);

  Trigger::Kind kind() const { return kind_; }
  std::size_t most() const { return most_; }
  /// Returns "after 1 to 10 tokens".
  std::string to_string() const;

 private:
  Trigger::Kind kind_;
  std::size_t most_;
};

/// After an event drawn from the first `most`, at least 1. A reply with fewer events stays whole; its record says so.
DrawnTrigger at_any_event(std::size_t most);
/// After a token drawn from the first `most`. The rules of at_any_event() apply.
DrawnTrigger at_any_token(std::size_t most);
/// After a byte of the body drawn from the first `most`. The rules of at_any_event() apply.
DrawnTrigger at_any_byte(std::size_t most);

namespace detail {

struct Access;
struct ChaosPlan;

}  // namespace detail

/// A rule of Gateway::chaos: what goes wrong, and in which chat requests. A value; each setter returns a changed copy.
/// Without probability(), nth() and first(), it always strikes. If several are set, it strikes when all allow it.
///
/// Four things decide whether a rule strikes: the gateway's seed, the rule's number, the request and, without
/// by_request(), its occurrence. Time and other requests do not matter. The same run therefore strikes the same
/// requests with any number of threads. Another Options::seed strikes other requests. Requests are the same if their
/// bodies and the descriptions of their keys are equal. Headers do not matter: a client's retry is another occurrence
/// of the same request. Each rule counts occurrences of the requests it matches. The first 65,536 different requests
/// have a counter each. Later requests share counters, so their counts may depend on the order of requests.
class Chaos {
 public:
  /// Breaks the reply of a stub, the default reply, or the failure of a later rule; see Reply::fault. Has no effect on
  /// a reply that the fault does not fit: a failure has no events. Throws GatewayError for faults that fit no reply.
  Chaos(Trigger trigger, Effect effect);
  Chaos(DrawnTrigger trigger, Effect effect);
  /// Answers with a failure before a stub is chosen, so a retry gets the reply that the script had for this request.
  explicit Chaos(const Failure& failure);
  /// Slows the reply: this pace overrides the reply's and Options::pace. A raw reply is sent in one piece:
  /// only a pace that sets just first_token_after slows it. Throws GatewayError for an empty pace, and for
  /// by_pieces(), which fits only one reply.
  explicit Chaos(const Pace& pace);
  /// Sends unsolicited_continue() or early_hints() before the reply. Throws GatewayError for other faults.
  explicit Chaos(const ConnectionFault& fault);

  /// Sets the probability of a strike, from 0 to 1: 0.1 is one in ten.
  [[nodiscard]] Chaos probability(double probability) const;
  /// Strikes occurrences `n`, 2 * `n`, … of each request, counted per request. `n` is at least 1.
  [[nodiscard]] Chaos nth(std::size_t n) const;
  /// Strikes the first `n` occurrences of each request; `n` is at least 1.
  [[nodiscard]] Chaos first(std::size_t n) const;
  /// Draws by the request, not by its occurrence: each occurrence gets the same result, in every gateway with the same
  /// seed, rules and keys. nth() and first() still count occurrences.
  [[nodiscard]] Chaos by_request() const;
  /// Restricts the rule to requests that match all of these; only they are counted. See matching() for when
  /// functions of the test run.
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
