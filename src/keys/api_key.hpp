#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "../model/operation.hpp"

namespace mock_gateway {

/// `requests` per `window` on the gateway's clock. A window begins with the first request after the last one ended;
/// a request beyond the number gets 429, and its Retry-After is what is left of the window, rounded up to whole
/// seconds.
struct RateLimit {
  std::size_t requests;
  Duration window;
};

/// `tokens` per `window` on the gateway's clock: a chat request takes those of its prompt and `max_tokens` for each of
/// its choices, an embedding those of its input. A window begins as that of a RateLimit does. A request that finds too
/// few left gets 429 with what is left of the window as Retry-After; one that asks for more than `tokens`, the 429 or
/// 413 of Options::oversized_gets_413.
///
/// What the usage of the answer does not need goes back before the answer ends, and all of it where that is a failure.
/// Without `max_tokens` the answer's tokens are taken when there is one, even if that is more than were left. An answer
/// without a usage of the gateway's making, by raw_reply() or chunks(), keeps what was taken.
struct TokenLimit {
  std::size_t tokens;
  Duration window;
};

/// The documented states of a key. Requests with a disabled key get 403, with a deleted one 401.
enum class KeyState { enabled, disabled, deleted };

std::string to_string(KeyState state);
std::ostream& operator<<(std::ostream& out, KeyState state);

/// What the console shows of a key, at the moment of the call. The secret is not part of it: Keys::create shows it
/// once.
struct ApiKey {
  /// "key_1", which is the default key, "key_2" and so on.
  std::string id;
  std::string description;
  /// How its secret begins, if with "sk-", and ends: "sk-…ab12". Of a secret with fewer than 16 characters nothing of
  /// its end is shown.
  std::string hint;
  KeyState state = KeyState::enabled;
  /// Models it may use; empty: all.
  std::vector<std::string> models;
  /// Operations it may use; empty: all.
  std::vector<Operation> operations;
  /// The limit of this key alone; empty: none.
  std::optional<RateLimit> limit;
  /// The limit of this key alone to tokens; empty: none.
  std::optional<TokenLimit> limit_tokens;
  /// The name of the group of keys whose requests and tokens count together against them; empty: the key counts alone.
  std::string limit_group;
  /// When it was created, on the gateway's clock.
  TimePoint created;
  /// Requests that presented its secret, whatever they were answered. The journal may have evicted them.
  std::size_t requests = 0;
  /// When the last of them was complete, on the gateway's clock; empty before the first.
  std::optional<TimePoint> last_used;
};

/// A key that was just made, with its secret, which is shown this once.
struct CreatedKey {
  std::string id;
  std::string secret;
  std::string description;
};

namespace detail {

struct Access;

/// A state that a key has for so many requests.
struct KeyStep {
  KeyState state;
  std::size_t requests;
};

/// What KeyOptions were set to.
struct KeyValues {
  std::optional<std::string> secret;
  bool disabled = false;
  std::vector<KeyStep> steps;
  std::vector<std::string> models;
  std::vector<Operation> operations;
  std::optional<RateLimit> limit;
  std::optional<TokenLimit> limit_tokens;
  std::string limit_group;
};

}  // namespace detail

/// How a key is created. A value; each setter returns a changed copy.
class KeyOptions {
 public:
  KeyOptions() = default;
  // A move copies too, so that nothing is emptied.
  KeyOptions(const KeyOptions&) = default;
  KeyOptions& operator=(const KeyOptions&) = default;

  /// The key's secret. Unless set, one is generated. The documented service has only keys that start with `sk-`; this
  /// takes any visible ASCII without spaces, such as the `EMPTY` of local servers. An empty secret, `sk-` alone, or a
  /// secret in use makes Keys::create throw GatewayError. One that does not start with `sk-` and has fewer than 16
  /// characters is masked in fields that carry credentials only, since it may be a word of a prompt.
  [[nodiscard]] KeyOptions secret(std::string secret) const;
  /// Whether the key is created disabled. False unless set.
  [[nodiscard]] KeyOptions disabled(bool disabled = true) const;
  /// The key is in this state, enabled or disabled, for its first `requests`, at least 1, then in that of the next such
  /// call for as many as that says; then as disabled() says. Requests count whatever they are answered. Repeatable.
  /// `state_for(KeyState::disabled, 2)`: two requests get 403, the third is accepted. Else GatewayError.
  [[nodiscard]] KeyOptions state_for(KeyState state, std::size_t requests) const;
  /// The key may use only these models: others get 403, and the models list omits them. All unless set.
  [[nodiscard]] KeyOptions models(std::vector<std::string> ids) const;
  /// The key may use only these operations: others get 403. All unless set.
  [[nodiscard]] KeyOptions operations(std::vector<Operation> operations) const;
  /// The key may make only so many requests per window of the gateway's clock; see RateLimit. Both positive, or
  /// Keys::create throws GatewayError. Any number unless set.
  [[nodiscard]] KeyOptions limit(std::size_t requests, Duration window) const;
  /// The requests of the key may take only so many tokens per window of the gateway's clock; see TokenLimit. It holds
  /// beside limit(). Both positive, or Keys::create throws GatewayError. Any number unless set.
  [[nodiscard]] KeyOptions limit_tokens(std::size_t tokens, Duration window) const;
  /// The requests of all keys of this group count together, and so do their tokens, against the limits of whichever of
  /// them asks. Each has a window of its own unless set.
  [[nodiscard]] KeyOptions limit_group(std::string name) const;

 private:
  friend struct detail::Access;
  detail::KeyValues& edit() { return values_; }
  detail::KeyValues values_;
};

}  // namespace mock_gateway
