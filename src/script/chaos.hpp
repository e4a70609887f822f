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

/// A trigger that is drawn anew for each reply that is struck, from the first to the `most`th of its kind, each as
/// likely: at_any_event(), at_any_token(), at_any_byte().
class DrawnTrigger {
 public:
  /// `kind` is after_events, after_tokens or after_bytes, and `most` at least 1, or GatewayError.
  DrawnTrigger(Trigger::Kind kind, std::size_t most);

  Trigger::Kind kind() const { return kind_; }
  std::size_t most() const { return most_; }
  /// "after 1 to 10 tokens".
  std::string to_string() const;

 private:
  Trigger::Kind kind_;
  std::size_t most_;
};

/// After an event that is drawn from the first `most`. Where the reply has fewer than were drawn, it stays whole, and
/// its record says so. `most` is at least 1, or GatewayError.
DrawnTrigger at_any_event(std::size_t most);
/// After a token that is drawn from the first `most`; else as at_any_event().
DrawnTrigger at_any_token(std::size_t most);
/// After a byte of the body that is drawn from the first `most`; else as at_any_event().
DrawnTrigger at_any_byte(std::size_t most);

namespace detail {

struct Access;
struct ChaosPlan;

}  // namespace detail

/// A rule of Gateway::chaos: what goes wrong, and in which chat requests. A value; each setter returns a changed copy.
/// Without probability(), nth() and first() it strikes each time; where several of them are set, it strikes when each
/// of them allows it.
///
/// Whether it strikes follows from the gateway's seed, the number of the rule, the request, and, unless by_request() is
/// set, how often that request has come: never from when it came, or what other requests came before it. So the same
/// run strikes the same requests, with any number of threads, and with another Options::seed it strikes others.
/// Requests are the same when their bodies and the description of their key are: a client's retry is a further
/// occurrence of the same request, whatever its headers say. Occurrences are counted by each rule for itself, of the
/// requests that it matches; exactly for its first 65,536 different ones, while later ones share counters, so that
/// their turn may depend on the order in which they come.
class Chaos {
 public:
  /// Breaks the reply that a stub or the default gives, or the failure of a later rule; see Reply::fault. Where that
  /// reply cannot break so, as a failure that has no events, nothing happens. Throws GatewayError for what can never
  /// happen in any reply.
  Chaos(Trigger trigger, Effect effect);
  Chaos(DrawnTrigger trigger, Effect effect);
  /// Answers with a failure, before a stub is chosen: none is called, so that the client's next try gets what the
  /// script had for this one.
  explicit Chaos(const Failure& failure);
  /// Slows the reply: what this pace sets goes before what the reply and Options::pace say. A raw reply leaves in one
  /// piece, so that only a pace which sets nothing but first_token_after slows it. GatewayError for a pace that sets
  /// nothing, and for by_pieces, which fits one reply.
  explicit Chaos(const Pace& pace);
  /// Puts unsolicited_continue() or early_hints() in front of the reply. GatewayError for the other faults, which
  /// happen before there is a request to look at: Gateway::next_connection is for them.
  explicit Chaos(const ConnectionFault& fault);

  /// Strikes with this probability, from 0 to 1, or GatewayError: 0.1 is one in ten.
  [[nodiscard]] Chaos probability(double probability) const;
  /// Strikes the `n`th, the 2·`n`th, … occurrence of each request. Each request is counted for itself, since the order
  /// in which different requests come is no property of the client. `n` is at least 1, or GatewayError.
  [[nodiscard]] Chaos nth(std::size_t n) const;
  /// Strikes the first `n` occurrences of each request. `n` is at least 1, or GatewayError.
  [[nodiscard]] Chaos first(std::size_t n) const;
  /// Draws from the request alone, and not from how often it has come: what is struck once is struck each time, and
  /// gateways of the same seed, rules and keys agree, whichever of them is asked. nth() and first() count as before.
  [[nodiscard]] Chaos by_request() const;
  /// Strikes only requests that match all of these, and counts only those; see StubBuilder::when. Functions of the test
  /// run on the connection's thread, under no lock; what they throw becomes a 500 and a problem that verify() reports.
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

  /// "reset the connection after 2 tokens (probability 0.1, when user text contains \"weather\")".
  std::string to_string() const;

 private:
  friend struct detail::Access;
  Chaos with(std::initializer_list<Matcher> matchers) const;
  detail::ChaosPlan& edit();

  detail::Shared<detail::ChaosPlan> data_;  // copies share it until one of them is changed
};

}  // namespace mock_gateway
