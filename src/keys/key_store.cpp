// The key store: ids, generated and allowed secrets; reading Authorization; changes of state; keys owned by scripts;
// the end of a key that deletes itself. Its limits: key_limits.cpp.

#include "key_store.hpp"

#include <algorithm>  // all_of, any_of, max, stable_partition

#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {

namespace key_store {

/// Returns `key "key_2" ("billing service")`.
std::string name_of(const ApiKey& key) {
  std::string name = "key \"" + key.id + "\"";
  if (!key.description.empty()) name += " (\"" + text::excerpt(key.description, 60) + "\")";
  return name;
}

/// Returns the text of ApiKey::hint.
std::string hint_of(std::string_view secret) {
  constexpr std::size_t shortest = 16;
  constexpr std::size_t shown = 4;
  std::string hint = secret.substr(0, 3) == "sk-" ? "sk-…" : "…";
  if (secret.size() >= shortest) hint += secret.substr(secret.size() - shown);
  return hint;
}

/// Returns the error for a secret that another key has.
std::string taken(const ApiKey& holder) {
  return "that secret belongs to " + name_of(holder) +
         (holder.state == KeyState::deleted ? ", which is deleted and cannot be restored" : "") +
         "; choose another, or leave it out to have one generated";
}

void require_secret(const std::string& secret) {
  const bool printable = std::all_of(secret.begin(), secret.end(), [](char c) { return c >= ' ' && c < '\x7f'; });
  if (!printable || secret.empty() || secret == "sk-" || secret.front() == ' ' || secret.back() == ' ') {
    throw GatewayError(
        "a key's secret must be printable ASCII without a space at its beginning or end (HTTP drops those), and "
        "neither empty nor just \"sk-\"; leave it out to have one generated");
  }
}

/// Throws GatewayError for an id that is not UTF-8, which no request can name.
void require_models(const std::vector<std::string>& models) {
  for (const std::string& id : models) {
    if (!text::is_valid_utf8(id)) throw GatewayError("the name of a model that a key may use must be UTF-8");
  }
}

std::set<std::string_view> names_of(const std::vector<ScriptedKey>& keys) {
  std::set<std::string_view> names;
  for (const ScriptedKey& key : keys) names.insert(key.name);
  return names;
}

}  // namespace key_store

KeyStore::KeyStore(std::uint64_t seed, Clock clock, KeyRules rules)
    : seed_(seed), clock_(std::move(clock)), rules_(std::move(rules)) {}

bool KeyStore::is_named(std::string_view header) const {
  return std::any_of(rules_.headers.begin(), rules_.headers.end(),
                     [header](const std::string& one) { return text::equals_ignoring_case(one, header); });
}

bool KeyStore::is_sensitive_header(std::string_view name) const {
  return secrets::is_sensitive_header(name) || is_key_header(name);
}

std::string KeyStore::key_headers() const {
  std::string list = "Authorization";
  for (const std::string& one : rules_.headers) list += " or " + one;
  return list;
}

CreatedKey KeyStore::create(std::string description, const KeyValues& values) {
  if (values.secret) key_store::require_secret(*values.secret);
  key_store::require_limit(values.limit);
  key_store::require_limit(values.limit_tokens);
  key_store::require_limit(values.limit_concurrent);
  key_store::require_models(values.models);
  std::optional<std::string> secret = values.secret;
  auto created = std::make_unique<Entry>();
  put_values(*created, values);
  created->key.created = clock_.now();

  const std::lock_guard<std::mutex> lock(mutex_);
  const auto owner = secret ? by_secret_.find(*secret) : by_secret_.end();
  if (owner != by_secret_.end()) throw GatewayError(key_store::taken(owner->second->key));
  Entry& added = add(std::move(created), std::move(secret));
  describe(added, std::move(description));
  return {added.key.id, added.secret, added.key.description};
}

KeyStore::Entry& KeyStore::add(std::unique_ptr<Entry> made, std::optional<std::string> secret) {
  Entry& added = *made;
  added.place = entries_.size();
  const std::size_t serial = added.place + 1;
  added.key.id = "key_" + std::to_string(serial);
  give_secret(added, secret ? std::move(*secret) : unused_secret(serial));
  by_id_.emplace(added.key.id, &added);
  entries_.push_back(std::move(made));
  return added;
}

void KeyStore::give_secret(Entry& its, std::string secret) {
  by_secret_[secret] = &its;
  known_.add(secret);
  its.key.hint = key_store::hint_of(secret);
  its.secret = std::move(secret);
}

void KeyStore::describe(Entry& its, std::string description) {
  known_.mask(description);
  descriptions_.erase({its.key.description, its.place});
  descriptions_.emplace(description, its.place);
  its.key.description = std::move(description);
}

std::vector<KeyStore::Entry*> KeyStore::described(const std::string& description) const {
  std::vector<Entry*> found;
  for (auto known = descriptions_.lower_bound({description, 0});
       known != descriptions_.end() && known->first == description; ++known)
    found.push_back(entries_[known->second].get());
  return found;
}

void KeyStore::put_in_state(Entry& its, KeyState state, std::vector<KeyStep> steps) {
  its.after = state;
  its.steps = std::move(steps);
  its.key.state = its.steps.empty() ? state : its.steps.front().state;
}

void KeyStore::put_values(Entry& its, const KeyValues& values) {
  put_in_state(its, values.disabled ? KeyState::disabled : KeyState::enabled, values.steps);
  its.key.models = values.models;
  its.key.operations = values.operations;
  its.key.limit = values.limit;
  its.key.limit_tokens = values.limit_tokens;
  its.key.limit_concurrent = values.limit_concurrent;
  its.key.limit_group = values.limit_group;
  its.last_request = values.deleted_after_requests;
  its.lifetime = values.deleted_after_time;
}

void KeyStore::end_if_due(Entry& its) const {
  if (its.key.state == KeyState::deleted) return;
  if (its.lifetime && its.first_used && clock_.now() - *its.first_used >= *its.lifetime)
    its.key.ended = "expired " + text::scripted(*its.lifetime) + " after first use";
  else if (its.last_request && its.key.requests >= *its.last_request)
    its.key.ended = "deleted after " + text::counted(*its.last_request, "request");
  if (!its.key.ended.empty()) put_in_state(its, KeyState::deleted, {});
}

void KeyStore::end_all_due() const {
  for (const auto& known : entries_) end_if_due(*known);
}

ApiKey KeyStore::shown(Entry& its) {
  ApiKey key = its.key;
  if (key.limit_concurrent) key.concurrent = windows_of(its).concurrent.used;
  return key;
}

std::string KeyStore::unused_secret(std::size_t serial) const {
  Random random{fingerprint("key " + std::to_string(serial), seed_)};
  for (;;) {
    std::string secret = "sk-" + random.alphanumeric(48);
    if (by_secret_.count(secret) == 0) return secret;
  }
}

void KeyStore::set_description(const std::string& id, std::string description) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& its = living_entry(id, "described");
  describe(its, std::move(description));
  changes_.note_for(its.key.id);
}

void KeyStore::set_state(const std::string& id, KeyState state, const std::vector<KeyStep>& steps) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& its = living_entry(id, to_string(steps.empty() ? state : steps.front().state));
  put_in_state(its, state, steps);
  changes_.note_for(its.key.id);
}

void KeyStore::set_models(const std::string& id, std::vector<std::string> models) {
  key_store::require_models(models);
  const std::lock_guard<std::mutex> lock(mutex_);
  ApiKey& key = living_entry(id, "limited").key;
  key.models = std::move(models);
  changes_.note_for(key.id);
}

void KeyStore::set_operations(const std::string& id, std::vector<Operation> operations) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ApiKey& key = living_entry(id, "limited").key;
  key.operations = std::move(operations);
  changes_.note_for(key.id);
}

KeyStore::Entry& KeyStore::limited_entry(const std::string* id) { return id ? living_entry(*id, "limited") : for_all_; }

void KeyStore::offer(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entry(id).offered = true;
}

KeyStore::Entry* KeyStore::named_entry(const ScriptedKey& wanted, std::uint64_t script) const {
  Entry* found = nullptr;
  for (Entry* const known : described(wanted.name)) {
    if (known->key.state == KeyState::deleted) continue;
    if (script != 0 && known->script == script) return known;
    if (!found || known->secret == wanted.secret()) found = known;
  }
  return found;
}

KeyStore::Entry* KeyStore::taken_away_entry(const ScriptedKey& wanted, std::uint64_t script) const {
  const auto is_it = [script](const Entry& known, bool may_have_ended) {
    return known.script == script && (known.taken_away || (may_have_ended && !known.key.ended.empty()));
  };
  const auto holder = wanted.secret() ? by_secret_.find(*wanted.secret()) : by_secret_.end();
  if (holder != by_secret_.end() && is_it(*holder->second, true)) return holder->second;
  for (Entry* const known : described(wanted.name))
    if (is_it(*known, !wanted.secret())) return known;  // an ended key with another secret gets a successor
  return nullptr;
}

std::string KeyStore::conflict(const ScriptedKey& wanted, std::uint64_t script) const {
  if (!wanted.secret()) return {};
  const auto owns = [script](const Entry& known) { return script != 0 && known.script == script; };
  const Entry* const named = named_entry(wanted, script);
  if (named && !owns(*named)) {
    if (named->secret == *wanted.secret()) return {};
    return key_store::name_of(named->key) +
           " has this name and another secret; choose another name, or leave the secret out";
  }
  const auto holder = by_secret_.find(*wanted.secret());
  if (holder == by_secret_.end()) return {};
  const Entry& known = *holder->second;
  const bool stays_ended = !known.key.ended.empty() && !named;
  if (owns(known) && (known.taken_away || stays_ended || known.key.state != KeyState::deleted)) return {};
  return key_store::taken(known.key);
}

std::vector<std::string> KeyStore::conflicts(const std::vector<ScriptedKey>& wanted, std::uint64_t script) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_all_due();
  std::vector<std::string> all;
  for (const ScriptedKey& one : wanted) all.push_back(conflict(one, script));
  return all;
}

void KeyStore::replace(const std::vector<ScriptedKey>& wanted, std::uint64_t script) {
  const TimePoint now = clock_.now();
  const std::lock_guard<std::mutex> lock(mutex_);
  end_all_due();
  for (const ScriptedKey& one : wanted) {
    const std::string forbidden = conflict(one, script);
    if (!forbidden.empty())
      throw GatewayError("the script's key \"" + text::excerpt(one.name, 60) + "\" cannot be made: " + forbidden);
  }
  changes_.note();
  const std::set<std::string_view> names = key_store::names_of(wanted);
  for (const auto& known : entries_) {
    if (known->script != script || known->key.state == KeyState::deleted) continue;
    known->taken_away = names.count(known->key.description) == 0;
    if (known->taken_away) put_in_state(*known, KeyState::deleted, {});
  }
  for (const ScriptedKey& one : wanted) {
    Entry* its = named_entry(one, script);
    if (its && its->script != script) {  // keep it as the options or the test made it
      if (its->offered && its->script == 0) its->script = script;
      continue;
    }
    if (!its) its = taken_away_entry(one, script);
    if (its && !its->key.ended.empty()) continue;  // for good
    const std::optional<std::string>& secret = one.secret();
    if (!its) {
      its = &add(std::make_unique<Entry>(), secret);
      its->key.created = now;
    } else if (secret) {
      give_secret(*its, *secret);
    }
    its->script = script;
    its->taken_away = false;
    describe(*its, one.name);
    put_values(*its, one.values());
    Windows& windows = windows_of(*its);
    windows.requests = windows.tokens = LimitWindow{};  // requests under way keep their places
  }
  // A key without a secret in the script may have lost its own to another key of the script.
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    Entry& known = *entries_[index];
    if (known.key.state != KeyState::deleted && by_secret_.at(known.secret) != &known)
      give_secret(known, unused_secret(index + 1));
  }
}

std::vector<ApiKey> KeyStore::kept(const std::vector<ScriptedKey>& wanted, std::uint64_t script) const {
  const std::set<std::string_view> names = key_store::names_of(wanted);
  const std::lock_guard<std::mutex> lock(mutex_);
  end_all_due();
  std::vector<ApiKey> keys;
  for (const auto& known : entries_) {
    const bool is_owned = script != 0 && known->script == script;
    if (known->key.state == KeyState::deleted || (is_owned && names.count(known->key.description) == 0)) continue;
    keys.push_back(known->key);
  }
  return keys;
}

bool KeyStore::knows(const std::string& secret) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return by_secret_.count(secret) > 0;
}

ApiKey KeyStore::find(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return shown(entry(id));
}

std::vector<ApiKey> KeyStore::list(bool with_ended) {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_all_due();
  std::vector<ApiKey> keys;
  for (const auto& known : entries_) {
    const bool is_wanted = known->key.state != KeyState::deleted || (with_ended && !known->key.ended.empty());
    if (is_wanted) keys.push_back(shown(*known));
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

void KeyStore::take_step(Entry& its) {
  if (its.steps.empty() || --its.steps.front().requests > 0) return;
  its.steps.erase(its.steps.begin());
  its.key.state = its.steps.empty() ? its.after : its.steps.front().state;
}

KeyStore::CredentialStatus KeyStore::read_credential(const wire::Headers& headers, bool bearer_in_any_case,
                                                     std::string& credential) const {
  std::string_view value;
  std::size_t fields = 0;
  bool differs = false;
  for (const wire::Header& header : headers) {
    if (text::equals_ignoring_case(header.name, "Authorization")) {
      if (++fields == 1) value = text::trim(header.value);
    } else if (is_key_header(header.name) && !header.value.empty()) {
      differs = differs || (!credential.empty() && credential != header.value);
      if (credential.empty()) credential = header.value;
    }
  }
  const CredentialStatus found = differs              ? CredentialStatus::different
                                 : credential.empty() ? CredentialStatus::missing
                                                      : CredentialStatus::unknown;
  const bool is_empty = value.empty() || text::equals_ignoring_case(value, "Bearer");
  const bool allows_empty = !rules_.required || !rules_.headers.empty();
  if (fields == 0 || (fields == 1 && is_empty && allows_empty)) return found;

  // credentials = auth-scheme [ 1*SP token68 ] (RFC 9110, 11.4)
  const std::size_t gap = std::min(value.find_first_of(" \t"), value.size());
  const std::size_t start = std::min(value.find_first_not_of(" \t", gap), value.size());
  const std::string_view scheme = value.substr(0, gap);
  const bool bearer = bearer_in_any_case ? text::equals_ignoring_case(scheme, "Bearer") : scheme == "Bearer";
  const bool spaces_only = value.substr(gap, start - gap).find('\t') == std::string_view::npos;
  // A key without a scheme is a common mistake. It must be masked too.
  const std::string_view bearer_credential =
      is_empty ? std::string_view() : value.substr(start < value.size() ? start : 0);
  differs = differs || (!credential.empty() && credential != bearer_credential);
  credential = bearer_credential;
  if (fields > 1 || start == value.size() || !bearer || !spaces_only) return CredentialStatus::malformed;
  return differs ? CredentialStatus::different : CredentialStatus::unknown;
}

KeyStore::Presented KeyStore::present(const wire::Headers& headers, bool bearer_in_any_case,
                                      std::optional<TimePoint> received) {
  Presented presented;
  presented.status = read_credential(headers, bearer_in_any_case, presented.credential);
  const bool is_default = presented.status == CredentialStatus::missing && !rules_.required;
  if (presented.status != CredentialStatus::unknown && !is_default) return presented;

  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = is_default ? by_secret_.end() : by_secret_.find(presented.credential);
  if (!is_default && known == by_secret_.end()) return presented;
  Entry& its = is_default ? *entries_.front() : *known->second;
  end_if_due(its);
  ApiKey& key = its.key;
  if (received) {
    ++key.requests;
    key.last_used = std::max(key.last_used.value_or(*received), *received);
    if (!its.first_used) its.first_used = clock_.now();
  }
  presented.key = key;
  if (received) {
    take_step(its);
    end_if_due(its);
  }
  // The script has given this key another secret since.
  if (!is_default && its.secret != presented.credential) presented.key.state = KeyState::deleted;
  switch (presented.key.state) {
    case KeyState::enabled: presented.status = CredentialStatus::enabled; break;
    case KeyState::disabled: presented.status = CredentialStatus::disabled; break;
    case KeyState::deleted: presented.status = CredentialStatus::deleted; break;
  }
  return presented;
}

KeyStore::Entry& KeyStore::entry(const std::string& id) const {
  if (const auto found = by_id_.find(id); found != by_id_.end()) {
    end_if_due(*found->second);
    return *found->second;
  }
  std::vector<Entry*> named = id.empty() ? std::vector<Entry*>() : described(id);
  for (Entry* const one : named) end_if_due(*one);
  const auto deleted = std::stable_partition(named.begin(), named.end(),
                                             [](const Entry* known) { return known->key.state != KeyState::deleted; });
  if (deleted != named.begin()) named.erase(deleted, named.end());
  if (named.size() == 1) return *named.front();
  if (named.size() > 1) {
    std::string ids;
    for (const Entry* const one : named) ids += (ids.empty() ? "" : ", ") + one->key.id;
    throw GatewayError("several keys have the description \"" + text::excerpt(id, 60) + "\": " + ids +
                       "; name one of them by its id");
  }
  if (secrets::looks_like_key(id) || by_secret_.count(id) > 0) {
    throw GatewayError("name a key by its id, not by its secret; CreatedKey::id and Keys::list() have the id");
  }
  std::string shown = id;
  known_.mask(shown);
  shown = text::excerpt(shown, 60);
  if (id.find("sk-") != std::string::npos) shown = "…";  // may be a secret of another gateway
  throw GatewayError("no key has the id or description \"" + shown + "\"; Keys::list() shows them");
}

KeyStore::Entry& KeyStore::living_entry(const std::string& id, std::string_view participle) const {
  Entry& found = entry(id);
  if (found.key.state != KeyState::deleted) return found;
  const std::string name = key_store::name_of(found.key);
  if (participle == "deleted") throw GatewayError(name + " is already deleted");
  throw GatewayError(name + " is deleted; a deleted key cannot be " + std::string(participle) + ", create a new one");
}

}  // namespace mock_gateway::detail
