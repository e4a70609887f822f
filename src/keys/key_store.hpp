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

/// Throws GatewayError for an invalid secret, without repeating it.
void require_secret(const std::string& secret);

// Throw GatewayError for a limit that allows nothing.
void require_limit(const std::optional<RateLimit>& limit);
void require_limit(const std::optional<TokenLimit>& limit);
void require_limit(const std::optional<std::size_t>& concurrent);

}  // namespace key_store

struct ScriptedKey {
  std::string name;
  KeyOptions options = {};  // everything except the name

  const KeyValues& values() const { return Access::values(options); }
  const std::optional<std::string>& secret() const { return values().secret; }
};

struct LimitBound {
  LimitBound(const RateLimit& limit) : most(limit.requests), window(limit.window) {}
  LimitBound(const TokenLimit& limit) : most(limit.tokens), window(limit.window) {}

  std::size_t most;
  Duration window;
};

struct LimitWindow {
  TimePoint began{};
  std::size_t used = 0;
  std::uint64_t number = 0;  // identifies the window; 0: none has begun

  /// Counts an amount that refusal() accepts. A new window gets the number after `newest`.
  void take(const LimitBound& limit, TimePoint now, std::uint64_t& newest, std::size_t amount = 1);
  /// Returns the remaining time of the window, always positive; empty if none is running.
  std::optional<Duration> left(const LimitBound& limit, TimePoint now) const;
  /// Returns the remaining time of the window if the amount exceeds the rest of the limit.
  std::optional<Duration> refusal(const LimitBound& limit, TimePoint now, std::size_t amount = 1) const;
};

/// How requests send a key, besides in Authorization.
struct KeyRules {
  std::vector<std::string> headers = {};  // header fields that carry the bare secret
  bool required = true;                   // if not, a request without a key has the default key
};

/// What a request has taken from limits, and from which windows: tokens, or 1 of the concurrent requests.
struct TakenAmount {
  struct Place {
    LimitWindow* window;
    std::uint64_t number;  // the window's number when the amount was taken
  };
  std::size_t amount = 0;
  std::vector<Place> places;
};

struct RequestRefusal {
  std::optional<Duration> left;  // the rest of the window of a rate limit
  std::size_t concurrent = 0;    // the exceeded limit of concurrent requests
};

struct TokenRefusal {
  TokenLimit limit;
  std::size_t used;
  std::optional<Duration> left;  // the rest of the window; empty: the request exceeds the limit
};

/// The keys of one gateway. Thread-safe.
class KeyStore {
 public:
  enum class CredentialStatus { missing, malformed, different, unknown, deleted, disabled, enabled };

  struct Presented {
    CredentialStatus status = CredentialStatus::missing;
    /// The key at the time of the request; only set for deleted, disabled and enabled.
    ApiKey key;
    /// The credential of the first field, or the whole field without a scheme, to be masked in records; may be empty.
    /// Empty for the default key of a request without a key.
    std::string credential;
  };

  KeyStore(std::uint64_t seed, Clock clock, KeyRules rules);

  /// Creates a key. Without a secret, one is generated from the gateway's seed and the key's number.
  CreatedKey create(std::string description, const KeyValues& values);
  void set_description(const std::string& id, std::string description);
  /// Sets the states of the key: first `steps`, then `state`.
  void set_state(const std::string& id, KeyState state, const std::vector<KeyStep>& steps = {});
  void set_models(const std::string& id, std::vector<std::string> models);
  void set_operations(const std::string& id, std::vector<Operation> operations);
  /// Sets a limit of the key and restarts its count. A null `id` means the limit that all keys share.
  void set_limit(const std::string* id, const std::optional<RateLimit>& limit);
  void set_limit(const std::string* id, const std::optional<TokenLimit>& limit);
  /// Sets a limit of concurrent requests. Requests under way keep their places.
  void set_limit(const std::string* id, std::optional<std::size_t> concurrent);
  /// Lets the first script that names the key become its owner.
  void offer(const std::string& id);
  /// Replaces the keys that a script owns, atomically. A key keeps its id if it keeps its name or its secret. Keys no
  /// longer in the script are deleted, and restored when their name or secret returns, unless they have ended. A key
  /// with the name but another owner stays unchanged. Throws GatewayError without changes if there is a conflict.
  void replace(const std::vector<ScriptedKey>& wanted, std::uint64_t script);
  /// Returns for each key why the script cannot have it, or an empty string if it can. Script 0 owns no key.
  std::vector<std::string> conflicts(const std::vector<ScriptedKey>& wanted, std::uint64_t script) const;
  /// Returns the keys that remain after replace(): neither deleted nor dropped by the script.
  std::vector<ApiKey> kept(const std::vector<ScriptedKey>& wanted, std::uint64_t script) const;
  /// Whether any key, deleted or not, has or had this secret.
  bool knows(const std::string& secret) const;
  /// Returns a key, deleted or not. Throws GatewayError if the id is unknown.
  ApiKey find(const std::string& id);
  /// Returns all keys that are not deleted, in order of creation. `with_ended`: also those deleted by deleted_after.
  std::vector<ApiKey> list(bool with_ended = false);
  /// Returns the ids of the keys with this id or description, including deleted ones.
  std::vector<std::string> named(const std::string& name) const;

  /// Returns the limits that all keys share, as a key without an id.
  ApiKey for_all();

  const ChangeCount& changes() const { return changes_; }

  /// Checks the key of a request that was complete at `received`, and counts it for its key. Does not count it if
  /// `received` is empty. Two or more Authorization fields, another scheme, or an empty credential are malformed. With
  /// other rules than the default ones, an empty credential counts as no key.
  Presented present(const wire::Headers& headers, bool bearer_in_any_case, std::optional<TimePoint> received);
  /// Counts a request in the shared limits and the key's own, or in none if one is exceeded. Of several, returns the
  /// rate limit with the longest wait, or else a limit of concurrent requests.
  std::optional<RequestRefusal> take(const std::string& id, TimePoint now, TakenAmount& taken);
  bool limits_tokens(const std::string& id) const;
  /// Takes tokens from the shared limit and the key's own, or from neither. If both refuse, returns the limit that the
  /// request could never meet, or else the limit with the longer remaining time.
  std::optional<TokenRefusal> take_tokens(const std::string& id, std::size_t tokens, TimePoint now, TakenAmount& taken);
  /// Changes the number of taken tokens to `tokens`, in windows that have not ended.
  void settle(TakenAmount& taken, std::size_t tokens);
  /// The state of the key's window, or of the shared one, for x-ratelimit headers: {limit, remaining, time to reset}.
  struct Quota {
    std::size_t limit;
    std::size_t remaining;
    Duration reset;
  };
  std::optional<Quota> quota(const std::string& id, TimePoint now);
  std::optional<Quota> quota_of_tokens(const std::string& id, TimePoint now);

  const KeyRules& rules() const { return rules_; }
  bool is_key_header(std::string_view name) const { return !rules_.headers.empty() && is_named(name); }
  /// Whether records mask the values of this header.
  bool is_sensitive_header(std::string_view name) const;
  /// Returns the headers for keys, for messages: "Authorization or api-key".
  std::string key_headers() const;

  /// Makes mask() mask this text too. Does not accept the text as a key.
  void hide(std::string_view secret) { known_.add(secret); }
  /// Masks all secrets that this store ever had, hidden texts, and what Known::mask finds.
  secrets::Masked mask(std::string& text, const secrets::Known& others = {}) const { return known_.mask(text, others); }

 private:
  struct Windows {
    LimitWindow requests;
    LimitWindow tokens;
    LimitWindow concurrent;  // never ends, so its number stays 0
  };
  struct Entry {
    ApiKey key;
    std::size_t place = 0;  // the index in entries_
    std::string secret;
    std::vector<KeyStep> steps;          // future states; the first is the current `state`
    KeyState after = KeyState::enabled;  // the state after `steps`
    Windows windows;
    std::optional<std::size_t> last_request;  // KeyOptions::deleted_after
    std::optional<Duration> lifetime;
    std::optional<TimePoint> first_used;
    std::uint64_t script = 0;  // the owner; 0: none
    bool offered = false;      // the first script that names it becomes its owner
    bool taken_away = false;   // deleted by its script, which may restore it
  };

  /// Whether `rules_` name this header.
  bool is_named(std::string_view header) const;

  // The caller holds the mutex.
  Entry& add(std::unique_ptr<Entry> made, std::optional<std::string> secret);
  /// Advances the key's state after a counted request.
  static void take_step(Entry& its);
  static void put_values(Entry& its, const KeyValues& values);
  static void put_in_state(Entry& its, KeyState state, std::vector<KeyStep> steps);
  /// Reads the credential of a request. Returns `unknown` for one to look up.
  CredentialStatus read_credential(const wire::Headers& headers, bool bearer_in_any_case,
                                   std::string& credential) const;
  /// Deletes the key if its KeyOptions::deleted_after has come. Called before its state is read.
  void end_if_due(Entry& its) const;
  void end_all_due() const;
  Windows& windows_of(Entry& its);
  /// Returns the key with its number of concurrent requests.
  ApiKey shown(Entry& its);
  Entry& limited_entry(const std::string* id);
  void give_secret(Entry& its, std::string secret);
  /// Sets the description with masked secrets, because list() shows it.
  void describe(Entry& its, std::string description);
  /// Returns the keys with this description in order of creation, including deleted ones.
  std::vector<Entry*> described(const std::string& description) const;
  /// Returns the key of this name that is not deleted. Of several, prefers the script's own, then the one with this
  /// secret.
  Entry* named_entry(const ScriptedKey& wanted, std::uint64_t script) const;
  /// Returns a key that the script has deleted, or that has ended, or null. Looks for the secret first, then for the
  /// name.
  Entry* taken_away_entry(const ScriptedKey& wanted, std::uint64_t script) const;
  std::string conflict(const ScriptedKey& wanted, std::uint64_t script) const;
  Entry& entry(const std::string& id) const;
  Entry& living_entry(const std::string& id, std::string_view participle) const;
  std::string unused_secret(std::size_t serial) const;

  mutable std::mutex mutex_;
  std::uint64_t seed_;
  Clock clock_;
  const KeyRules rules_;
  std::vector<std::unique_ptr<Entry>> entries_;  // the default key first
  std::unordered_map<std::string, Entry*> by_id_;
  std::unordered_map<std::string, Entry*> by_secret_;
  std::set<std::pair<std::string, std::size_t>> descriptions_;  // with their keys' indexes in entries_
  secrets::Known known_;  // the keys of by_secret_, for masking; has its own mutex
  Entry for_all_;         // not a key; holds the limits that all keys share
  std::map<std::string, Windows> group_windows_;
  std::uint64_t newest_window_ = 0;  // the number of the newest window
  ChangeCount changes_;
};

/// What a request has taken from limits. The destructor gives back what the answer did not use.
class LimitUse {
 public:
  LimitUse(std::shared_ptr<KeyStore> store, TakenAmount taken) : store_(std::move(store)), taken_(std::move(taken)) {}
  ~LimitUse() { store_->settle(taken_, kept_); }
  LimitUse(const LimitUse&) = delete;
  LimitUse& operator=(const LimitUse&) = delete;

  /// Sets the number of tokens that the answer uses. If it exceeds the taken ones, takes the difference now.
  void keep(std::size_t tokens) {
    kept_ = tokens;
    if (tokens > taken_.amount) store_->settle(taken_, tokens);
  }
  void keep_all() { kept_ = taken_.amount; }

 private:
  std::shared_ptr<KeyStore> store_;
  TakenAmount taken_;
  std::size_t kept_ = 0;
};

}  // namespace mock_gateway::detail
