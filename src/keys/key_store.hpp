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

/// One limit's count in its current window.
struct LimitWindow {
  TimePoint began{};
  std::size_t used = 0;

  /// Counts one request; returns what is left of the window when it is one too many, and then does not count it.
  std::optional<Duration> take(const RateLimit& limit, TimePoint now);
  /// What is left of the window, always positive; nothing when none is running.
  std::optional<Duration> left(const RateLimit& limit, TimePoint now) const;
  /// What `take` would return, without counting.
  std::optional<Duration> refusal(const RateLimit& limit, TimePoint now) const;
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
  /// Requests left in the key's (else the common) window, for x-ratelimit headers: {limit, remaining, time to reset}.
  struct Quota {
    std::size_t limit;
    std::size_t remaining;
    Duration reset;
  };
  std::optional<Quota> quota(const std::string& id, TimePoint now);

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
  /// The count of the group that the key belongs to, or its own.
  LimitWindow& window_of(Entry& its);
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
  ChangeCount changes_;
};

}  // namespace mock_gateway::detail
