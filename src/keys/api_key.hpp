#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "../model/operation.hpp"

namespace mock_gateway {

/// `requests` per `window` on the gateway's clock. A window begins with the first request after the previous window.
/// Further requests get 429; Retry-After is the remaining time of the window, rounded up to whole seconds.
struct RateLimit {
  std::size_t requests;
  Duration window;
};

/// `tokens` per `window` on the gateway's clock. A chat request takes the tokens of its prompt and `max_tokens` for
/// each choice, an embedding those of its input. Windows begin as in RateLimit. If too few are left, the request gets
/// 429 with the remaining time as Retry-After. If it asks for more than `tokens`, it gets the 429 or 413 of
/// Options::oversized_gets_413.
///
/// Before the answer ends, the key gets back the tokens that exceed the answer's usage. After a failure it gets back
/// all tokens. Without `max_tokens`, the tokens of an answer are taken when it is generated, even if fewer are left.
/// If the gateway does not compute the usage (raw_reply(), chunks()), the key gets back no tokens.
struct TokenLimit {
  std::size_t tokens;
  Duration window;
};

/// The documented states of a key. Requests with a disabled key get 403, with a deleted one 401.
enum class KeyState { enabled, disabled, deleted };

std::string to_string(KeyState state);
std::ostream& operator<<(std::ostream& out, KeyState state);

/// The public data of a key at the time of the call. Excludes the secret, which only Keys::create returns.
struct ApiKey {
  /// "key_1" (the default key), "key_2" and so on.
  std::string id;
  std::string description;
  /// The secret's start, if "sk-", and its end: "sk-…ab12". A secret of fewer than 16 characters has no end here.
  std::string hint;
  KeyState state = KeyState::enabled;
  /// The models it may use; empty: all.
  std::vector<std::string> models;
  /// The operations it may use; empty: all.
  std::vector<Operation> operations;
  std::optional<RateLimit> limit;
  std::optional<TokenLimit> limit_tokens;
  std::optional<std::size_t> limit_concurrent;
  /// The number of requests that count towards limit_concurrent now; in a group, those of all its keys.
  std::size_t concurrent = 0;
  /// The group of keys that share the counts of their limits; empty: the key counts alone.
  std::string limit_group;
  /// The time of its creation, on the gateway's clock.
  TimePoint created;
  /// The number of requests with its secret, regardless of the answer and of eviction from the journal.
  std::size_t requests = 0;
  /// When the last of these requests was complete, on the gateway's clock; empty before the first.
  std::optional<TimePoint> last_used;
  /// Why KeyOptions::deleted_after deleted it: "deleted after 5 requests", "expired 30m after first use". Or empty.
  std::string ended;
};

/// A new key with its secret, which is not shown again.
struct CreatedKey {
  std::string id;
  std::string secret;
  std::string description;
};

namespace detail {

struct Access;

struct KeyStep {
  KeyState state;
  std::size_t requests;
};

struct KeyValues {
  std::optional<std::string> secret;
  bool disabled = false;
  std::vector<KeyStep> steps;
  std::vector<std::string> models;
  std::vector<Operation> operations;
  std::optional<RateLimit> limit;
  std::optional<TokenLimit> limit_tokens;
  std::optional<std::size_t> limit_concurrent;
  std::string limit_group;
  std::optional<std::size_t> deleted_after_requests;
  std::optional<Duration> deleted_after_time;
};

}  // namespace detail

/// The settings of a new key. A value; each setter returns a changed copy.
class KeyOptions {
 public:
  KeyOptions() = default;
  // A move copies, so that the moved-from value stays valid.
  KeyOptions(const KeyOptions&) = default;
  KeyOptions& operator=(const KeyOptions&) = default;

  /// Sets the key's secret: printable ASCII without a space at its ends, although the documented service only has
  /// `sk-…`. Default: generated. Keys::create throws GatewayError if it is empty, just `sk-` or in use. A secret
  /// without `sk-` and with fewer than 16 characters is only masked in credential fields, because it may be a word
  /// (`EMPTY`).
  [[nodiscard]] KeyOptions secret(std::string secret) const;
  /// Sets whether the key is created disabled. Default: false.
  [[nodiscard]] KeyOptions disabled(bool disabled = true) const;
  /// Sets the state, enabled or disabled, for the first `requests` requests, at least 1. Repeatable: each call
  /// continues after the previous one; afterwards disabled() applies. All requests count, regardless of the answer.
  /// `state_for(KeyState::disabled, 2)`: two requests get 403, the third is accepted.
  [[nodiscard]] KeyOptions state_for(KeyState state, std::size_t requests) const;
  /// Limits the key to these models: other models get 403 and are missing from the models list. Default: all.
  [[nodiscard]] KeyOptions models(std::vector<std::string> ids) const;
  /// Limits the key to these operations: other operations get 403. Default: all.
  [[nodiscard]] KeyOptions operations(std::vector<Operation> operations) const;
  /// Limits the requests of the key; see RateLimit. Keys::create requires positive values. Default: unlimited.
  [[nodiscard]] KeyOptions limit(std::size_t requests, Duration window) const;
  /// Limits the tokens of the key, in addition to limit() and with the same rules; see TokenLimit. Default: unlimited.
  [[nodiscard]] KeyOptions limit_tokens(std::size_t tokens, Duration window) const;
  /// Limits the number of the key's requests at a time, at least 1. Further requests get 429 at once. A request counts
  /// after the checks of keys, until its last bytes are about to leave or its connection breaks. Default: unlimited.
  [[nodiscard]] KeyOptions limit_concurrent(std::size_t requests) const;
  /// Sets the group of the key. Each key compares the total requests and tokens of its group with its own limits.
  /// Default: each key counts alone.
  [[nodiscard]] KeyOptions limit_group(std::string name) const;
  /// Deletes the key after that many requests, at least 1, or that time since the first one, whichever comes first:
  /// further requests get 401. All requests count, regardless of the answer. Default: never.
  [[nodiscard]] KeyOptions deleted_after(std::size_t requests) const;
  [[nodiscard]] KeyOptions deleted_after(Duration time) const;

 private:
  friend struct detail::Access;
  detail::KeyValues& edit() { return values_; }
  detail::KeyValues values_;
};

}  // namespace mock_gateway
