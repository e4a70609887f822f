#include "key_store.hpp"

#include <algorithm>  // all_of, max
#include <utility>

#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "secrets.hpp"

namespace mock_gateway {
namespace detail {

namespace key_store {

/// `key "key_2" ("billing service")`.
std::string name_of(const ApiKey& key);
void require_limit(const std::optional<RateLimit>& limit);
/// Throws GatewayError for an id that no request could name.
void require_models(const std::vector<std::string>& models);

std::string name_of(const ApiKey& key) {
  std::string name = "key \"" + key.id + "\"";
  if (!key.description.empty()) name += " (\"" + text::excerpt(key.description, 60) + "\")";
  return name;
}

void require_secret(const std::string& secret) {
  const bool visible = std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!visible || secret.empty() || secret == "sk-") {
    throw GatewayError(
        "a key's secret is visible ASCII without spaces, not empty, and more than \"sk-\"; leave it out to have one "
        "generated, which begins with \"sk-\"");
  }
}

void require_models(const std::vector<std::string>& models) {
  for (const std::string& id : models) {
    if (!text::is_valid_utf8(id)) throw GatewayError("a model that a key may use is named in JSON, and must be UTF-8");
  }
}

void require_limit(const std::optional<RateLimit>& limit) {
  if (!limit) return;
  if (limit->requests == 0) {
    throw GatewayError("a rate limit allows at least 1 request per window; disable a key to let nothing through");
  }
  if (limit->window <= Duration::zero()) throw GatewayError("a rate limit's window is longer than 0");
}

}  // namespace key_store

std::optional<Duration> LimitWindow::left(const RateLimit& limit, TimePoint now) const {
  // Differences only: the end of a very long window may lie beyond what a TimePoint can say.
  if (used == 0 || now - began >= limit.window) return std::nullopt;
  return limit.window - (now - began);
}

std::optional<Duration> LimitWindow::refusal(const RateLimit& limit, TimePoint now) const {
  return used < limit.requests ? std::nullopt : left(limit, now);
}

std::optional<Duration> LimitWindow::take(const RateLimit& limit, TimePoint now) {
  if (const auto refused = refusal(limit, now)) return refused;
  if (!left(limit, now)) {
    began = now;
    used = 0;
  }
  ++used;
  return std::nullopt;
}

KeyStore::KeyStore(std::uint64_t seed, Clock clock) : seed_(seed), clock_(std::move(clock)) {}

CreatedKey KeyStore::create(std::string description, std::optional<std::string> secret, bool disabled,
                            std::vector<std::string> models, std::vector<Operation> operations,
                            std::optional<RateLimit> limit) {
  if (secret) key_store::require_secret(*secret);
  key_store::require_limit(limit);
  key_store::require_models(models);
  auto created = std::make_unique<Entry>();
  created->key.description = std::move(description);
  created->key.state = disabled ? KeyState::disabled : KeyState::enabled;
  created->key.models = std::move(models);
  created->key.operations = std::move(operations);
  created->key.limit = limit;
  created->key.created = clock_.now();

  const std::lock_guard<std::mutex> lock(mutex_);
  const auto owner = secret ? by_secret_.find(*secret) : by_secret_.end();
  if (owner != by_secret_.end()) {
    throw GatewayError(
        "that secret belongs to " + key_store::name_of(owner->second->key) +
        (owner->second->key.state == KeyState::deleted ? ", which is deleted and cannot come back" : "") +
        "; choose another, or leave it out to have one generated");
  }
  Entry* const added = created.get();
  const std::size_t serial = entries_.size() + 1;
  added->key.id = "key_" + std::to_string(serial);
  added->secret = secret ? std::move(*secret) : unused_secret(serial);
  by_secret_.emplace(added->secret, added);
  by_id_.emplace(added->key.id, added);
  known_.add(added->secret);
  // A description is shown by list(): not even its author gets a secret into it.
  known_.mask(added->key.description);
  ++changes_;
  entries_.push_back(std::move(created));
  return {added->key.id, added->secret, added->key.description};
}

std::string KeyStore::unused_secret(std::size_t serial) const {
  Random random{fingerprint("key " + std::to_string(serial), seed_)};
  for (;;) {
    std::string secret = "sk-" + random.alphanumeric(48);
    if (by_secret_.count(secret) == 0) return secret;
  }
}

void KeyStore::set_description(const std::string& id, std::string description) {
  mask(description);
  const std::lock_guard<std::mutex> lock(mutex_);
  living_entry(id, "described").key.description = std::move(description);
  ++changes_;
}

void KeyStore::set_state(const std::string& id, KeyState state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  living_entry(id, to_string(state)).key.state = state;
  ++changes_;
}

void KeyStore::set_models(const std::string& id, std::vector<std::string> models) {
  key_store::require_models(models);
  const std::lock_guard<std::mutex> lock(mutex_);
  living_entry(id, "limited").key.models = std::move(models);
  ++changes_;
}

void KeyStore::set_operations(const std::string& id, std::vector<Operation> operations) {
  const std::lock_guard<std::mutex> lock(mutex_);
  living_entry(id, "limited").key.operations = std::move(operations);
  ++changes_;
}

void KeyStore::set_limit(const std::string& id, std::optional<RateLimit> limit) {
  key_store::require_limit(limit);
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& limited = living_entry(id, "limited");
  limited.key.limit = limit;
  limited.window = LimitWindow{};
  ++changes_;
}

void KeyStore::set_limit_for_all(std::optional<RateLimit> limit) {
  key_store::require_limit(limit);
  const std::lock_guard<std::mutex> lock(mutex_);
  limit_for_all_ = limit;
  window_for_all_ = LimitWindow{};
  ++changes_;
}

ApiKey KeyStore::find(const std::string& id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entry(id).key;
}

std::vector<ApiKey> KeyStore::list() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<ApiKey> keys;
  for (const auto& known : entries_) {
    if (known->key.state != KeyState::deleted) keys.push_back(known->key);
  }
  return keys;
}

std::vector<std::string> KeyStore::named(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& known : entries_) {
    if (known->key.id == name || known->key.description == name) ids.push_back(known->key.id);
  }
  return ids;
}

KeyStore::Presented KeyStore::present(const wire::Headers& headers, bool bearer_in_any_case) const {
  Presented presented;
  const std::string* field = nullptr;
  std::size_t fields = 0;
  for (const wire::Header& header : headers) {
    if (!text::equals_ignoring_case(header.name, "Authorization")) continue;
    if (++fields == 1) field = &header.value;
  }
  if (field == nullptr) return presented;

  // credentials = auth-scheme [ 1*SP token68 ] (RFC 9110, 11.4)
  presented.status = CredentialStatus::malformed;
  const std::string_view value = text::trim(*field);
  const std::size_t gap = value.find_first_of(" \t");
  const std::string_view scheme = value.substr(0, gap);
  const bool bearer = bearer_in_any_case ? text::equals_ignoring_case(scheme, "Bearer") : scheme == "Bearer";
  if (gap == std::string_view::npos) {
    // A key without a scheme is a common mistake, and must not be recorded either.
    if (!text::equals_ignoring_case(scheme, "Bearer")) presented.credential = scheme;
    return presented;
  }
  const std::size_t start = value.find_first_not_of(" \t", gap);
  presented.credential = value.substr(start);
  const bool spaces_only = value.substr(gap, start - gap).find('\t') == std::string_view::npos;
  if (fields > 1 || !bearer || !spaces_only) return presented;

  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = by_secret_.find(presented.credential);
  if (known == by_secret_.end()) {
    presented.status = CredentialStatus::unknown;
    return presented;
  }
  presented.key = known->second->key;
  switch (presented.key.state) {
    case KeyState::enabled: presented.status = CredentialStatus::enabled; break;
    case KeyState::disabled: presented.status = CredentialStatus::disabled; break;
    case KeyState::deleted: presented.status = CredentialStatus::deleted; break;
  }
  return presented;
}

std::optional<Duration> KeyStore::take(const std::string& id, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& taken = entry(id);
  std::optional<Duration> refused;
  if (taken.key.limit) refused = taken.window.refusal(*taken.key.limit, now);
  if (limit_for_all_) refused = std::max(refused, window_for_all_.refusal(*limit_for_all_, now));
  if (refused) return refused;
  if (taken.key.limit) taken.window.take(*taken.key.limit, now);
  if (limit_for_all_) window_for_all_.take(*limit_for_all_, now);
  return std::nullopt;
}

std::optional<KeyStore::Quota> KeyStore::quota(const std::string& id, TimePoint now) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Entry& asked = entry(id);
  const std::optional<RateLimit>& limit = asked.key.limit ? asked.key.limit : limit_for_all_;
  if (!limit) return std::nullopt;
  const LimitWindow& window = asked.key.limit ? asked.window : window_for_all_;
  const std::optional<Duration> left = window.left(*limit, now);
  return Quota{limit->requests, left ? limit->requests - window.used : limit->requests,
               left.value_or(Duration::zero())};
}

KeyStore::Entry& KeyStore::entry(const std::string& id) const {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) return *found->second;
  if (secrets::looks_like_key(id) || by_secret_.count(id) > 0) {
    throw GatewayError("a key is named by its id, not by its secret; CreatedKey::id and Keys::list() show it");
  }
  std::string shown = id;
  known_.mask(shown);
  shown = text::excerpt(shown, 60);
  if (id.find("sk-") != std::string::npos) shown = "…";  // perhaps a secret, perhaps of another gateway
  throw GatewayError("no key has the id \"" + shown + "\"; Keys::list() shows the ids");
}

KeyStore::Entry& KeyStore::living_entry(const std::string& id, std::string_view participle) const {
  Entry& found = entry(id);
  if (found.key.state != KeyState::deleted) return found;
  const std::string name = key_store::name_of(found.key);
  if (participle == "deleted") throw GatewayError(name + " is already deleted");
  throw GatewayError(name + " is deleted; a deleted key cannot be " + std::string(participle) + ", create a new one");
}

}  // namespace detail

}  // namespace mock_gateway
