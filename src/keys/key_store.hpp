#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../core/access.hpp"
#include "../core/change_count.hpp"
#include "../core/clock.hpp"
#include "../model/received_request.hpp"
#include "api_key.hpp"
#include "secrets.hpp"

namespace mock_gateway::detail {

namespace key_store {

/// Throws GatewayError, which does not repeat the secret, for one that no key can have.
void require_secret(const std::string& secret);

}  // namespace key_store

/// A key that a script document asks for.
struct ScriptedKey {
  std::string name;
  KeyOptions options = {};  // all of it but the name

  const KeyValues& values() const { return Access::values(options); }
  const std::optional<std::string>& secret() const { return values().secret; }
};

/// How much a limit of either kind lets pass in a window.
struct LimitBound {
  LimitBound(const RateLimit& limit) : most(limit.requests), window(limit.window) {}
  LimitBound(const TokenLimit& limit) : most(limit.tokens), window(limit.window) {}

  std::size_t most;
  Duration window;
};

/// One limit's count in its current window.
struct LimitWindow {
  TimePoint began{};
  std::size_t used = 0;
  std::uint64_t number = 0;  // tells it from the windows before it; 0: none has begun

  /// Counts what `refusal` lets pass. A window that begins gets the next number after `newest`.
  void take(const LimitBound& limit, TimePoint now, std::uint64_t& newest, std::size_t amount = 1);
  /// What is left of the window, always positive; nothing when none is running.
  std::optional<Duration> left(const LimitBound& limit, TimePoint now) const;
  /// What is left of the window when so much is too much for the rest of it.
  std::optional<Duration> refusal(const LimitBound& limit, TimePoint now, std::size_t amount = 1) const;
};

/// The tokens that a request has taken, and from where.
struct TakenTokens {
  struct Place {
    LimitWindow* window;
    std::uint64_t number;  // the window's when they were taken
  };
  std::size_t tokens = 0;
  std::vector<Place> places;
};

/// Why a request does not get its tokens.
struct TokenRefusal {
  TokenLimit limit;
  std::size_t used;
  std::optional<Duration> left;  // of the window; nothing: the request asks for more than the limit
};

/// The keys of one gateway. Thread-safe.
class KeyStore {
 public:
  enum class CredentialStatus { missing, malformed, unknown, deleted, disabled, enabled };

  /// What an Authorization header says, judged.
  struct Presented {
    CredentialStatus status = CredentialStatus::missing;
    /// The key as it was at this moment; meaningful for deleted, disabled and enabled.
    ApiKey key;
    /// What follows the scheme, as sent (all of the field when it has no scheme), to be masked wherever the request
    /// is recorded; empty without one. Of several fields, the first one's.
    std::string credential;
  };

  KeyStore(std::uint64_t seed, Clock clock);

  /// A secret that is not given is generated from the gateway's seed and the key's number.
  CreatedKey create(std::string description, const KeyValues& values);
  void set_description(const std::string& id, std::string description);
  void set_state(const std::string& id, KeyState state);
  /// Its next states; then it is enabled.
  void set_steps(const std::string& id, std::vector<KeyStep> steps);
  void set_models(const std::string& id, std::vector<std::string> models);
  void set_operations(const std::string& id, std::vector<Operation> operations);
  void set_limit(const std::string& id, std::optional<RateLimit> limit);
  void set_limit_for_all(std::optional<RateLimit> limit);
  void set_limit_tokens(const std::string& id, std::optional<TokenLimit> limit);
  void set_limit_tokens_for_all(std::optional<TokenLimit> limit);
  /// Lets the first script that names the key own it, as if that script had created it.
  void offer(const std::string& id);
  /// Puts keys in the place of those that a script owns, in one step. A key of the script keeps its id while it keeps
  /// its name or its secret. One that the script no longer has is deleted, and comes back with its name or its secret.
  /// A key of somebody else that has the name stays as it is. Throws GatewayError, and changes nothing, when there is a
  /// conflict.
  void replace(const std::vector<ScriptedKey>& wanted, std::uint64_t script);
  /// What forbids each of these keys to the script; empty for one that nothing forbids. Script 0 owns no key.
  std::vector<std::string> conflicts(const std::vector<ScriptedKey>& wanted, std::uint64_t script) const;
  /// The keys that replace() leaves: those that are not deleted, without those of the script that it no longer names.
  std::vector<ApiKey> kept(const std::vector<ScriptedKey>& wanted, std::uint64_t script) const;
  /// Whether a key has that secret, or had it before it was deleted.
  bool knows(const std::string& secret) const;
  /// Throws GatewayError when no key ever had that id.
  ApiKey find(const std::string& id) const;
  /// Every key that is not deleted, in order of creation.
  std::vector<ApiKey> list() const;
  /// The ids of the keys with this id or description, deleted ones too.
  std::vector<std::string> named(const std::string& name) const;

  /// The limit that all keys share.
  std::optional<RateLimit> limit_for_all() const;
  std::optional<TokenLimit> limit_tokens_for_all() const;

  /// How often keys or limits were changed.
  const ChangeCount& changes() const { return changes_; }

  /// Judges the Authorization fields of a request that was complete at `received`, and counts it for the key that it
  /// presents. Two or more fields, another scheme, or an empty credential are malformed.
  Presented present(const wire::Headers& headers, bool bearer_in_any_case, TimePoint received);
  /// The same, and counts nothing.
  Presented look_at(const wire::Headers& headers, bool bearer_in_any_case);
  /// Counts a request against the limit for all and the key's own; returns the longer time left when one is exceeded.
  /// A request that one of them refuses counts against neither.
  std::optional<Duration> take(const std::string& id, TimePoint now);
  /// Whether the key's tokens are limited, by its own limit or the one for all.
  bool limits_tokens(const std::string& id) const;
  /// Takes tokens from the limit for all and the key's own, or from neither. Of two that refuse it returns the one that
  /// is smaller than the request, else the one with the longer time left.
  std::optional<TokenRefusal> take_tokens(const std::string& id, std::size_t tokens, TimePoint now, TakenTokens& taken);
  /// What was taken becomes so much, where the window from which it was taken is still the same.
  void settle(TakenTokens& taken, std::size_t tokens);
  /// What is left in the key's (else the common) window, for x-ratelimit headers: {limit, remaining, time to reset}.
  struct Quota {
    std::size_t limit;
    std::size_t remaining;
    Duration reset;
  };
  std::optional<Quota> quota(const std::string& id, TimePoint now);
  std::optional<Quota> quota_of_tokens(const std::string& id, TimePoint now);

  /// Masks this text from now on too. It is no key, and opens nothing.
  void hide(std::string_view secret) { known_.add(secret); }
  /// Masks every secret that this store ever knew, in any state, what it hides, and what Known::mask says besides.
  secrets::Masked mask(std::string& text, const secrets::Known& others = {}) const { return known_.mask(text, others); }

 private:
  struct Entry {
    ApiKey key;
    std::size_t place = 0;  // in entries_
    std::string secret;
    std::vector<KeyStep> steps;          // the states that it has one after the other, `state` being that of the first
    KeyState after = KeyState::enabled;  // the state behind them
    LimitWindow window;
    LimitWindow token_window;
    std::uint64_t script = 0;  // that owns it; 0: none
    bool offered = false;      // the first script that names it is to own it
    bool taken_away = false;   // deleted by its script, which may bring it back
  };

  /// Judges Authorization fields; counts the request where it is told when that was complete.
  Presented judge(const wire::Headers& headers, bool bearer_in_any_case, std::optional<TimePoint> received);

  // All of these expect the mutex to be held.
  /// Adds a key with this secret; without one, it is made up.
  Entry& add(std::unique_ptr<Entry> made, std::optional<std::string> secret);
  /// A request was counted.
  static void take_step(Entry& its);
  static void put_values(Entry& its, const KeyValues& values);
  static void put_in_state(Entry& its, KeyState state, std::vector<KeyStep> steps);
  /// The counts of the group that the key belongs to, or its own.
  LimitWindow& window_of(Entry& its);
  LimitWindow& token_window_of(Entry& its);
  void give_secret(Entry& its, std::string secret);
  /// Masked: a description is shown by list(), and not even its author gets a secret into it.
  void describe(Entry& its, std::string description);
  /// The keys with this description, deleted ones too, in order of creation.
  std::vector<Entry*> described(const std::string& description) const;
  /// The key of that name that is not deleted; of several the script's own, else the one with that secret.
  Entry* named_entry(const ScriptedKey& wanted, std::uint64_t script) const;
  /// A key that the script owns and has deleted, with that secret, else with that name; null when there is none.
  Entry* taken_away_entry(const ScriptedKey& wanted, std::uint64_t script) const;
  std::string conflict(const ScriptedKey& wanted, std::uint64_t script) const;
  Entry& entry(const std::string& id) const;
  Entry& living_entry(const std::string& id, std::string_view participle) const;
  std::string unused_secret(std::size_t serial) const;

  mutable std::mutex mutex_;
  std::uint64_t seed_;
  Clock clock_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unordered_map<std::string, Entry*> by_id_;
  std::unordered_map<std::string, Entry*> by_secret_;
  std::set<std::pair<std::string, std::size_t>> descriptions_;  // with their keys' places in entries_
  secrets::Known known_;                                        // the same secrets, for masking; has a mutex of its own
  std::optional<RateLimit> limit_for_all_;
  LimitWindow window_for_all_;
  std::map<std::string, LimitWindow> group_windows_;
  std::optional<TokenLimit> limit_tokens_for_all_;
  LimitWindow token_window_for_all_;
  std::map<std::string, LimitWindow> group_token_windows_;
  std::uint64_t newest_window_ = 0;  // its number
  ChangeCount changes_;
};

/// What a request takes of the limits of tokens while it is answered. What the answer does not keep goes back when this
/// ends.
class TokenUse {
 public:
  TokenUse(std::shared_ptr<KeyStore> store, TakenTokens taken) : store_(std::move(store)), taken_(std::move(taken)) {}
  ~TokenUse() { store_->settle(taken_, kept_); }
  TokenUse(const TokenUse&) = delete;
  TokenUse& operator=(const TokenUse&) = delete;

  /// The answer uses so many; those beyond what was taken are taken now.
  void keep(std::size_t tokens) {
    kept_ = tokens;
    if (tokens > taken_.tokens) store_->settle(taken_, tokens);
  }
  void keep_all() { kept_ = taken_.tokens; }

 private:
  std::shared_ptr<KeyStore> store_;
  TakenTokens taken_;
  std::size_t kept_ = 0;
};

}  // namespace mock_gateway::detail
