// The limits of the key store: their checks, their windows, and what requests take from them.

#include <algorithm>  // max, min

#include "../core/error.hpp"
#include "key_store.hpp"

namespace mock_gateway::detail {
namespace key_store {

void require_limit(const std::optional<RateLimit>& limit) {
  if (!limit) return;
  if (limit->requests == 0) {
    throw GatewayError(
        "a rate limit must allow at least 1 request per window; to refuse all requests, disable the key");
  }
  if (limit->window <= Duration::zero()) throw GatewayError("a rate limit's window must be longer than 0");
}

void require_limit(const std::optional<TokenLimit>& limit) {
  if (!limit) return;
  if (limit->tokens == 0) {
    throw GatewayError(
        "a limit of tokens must allow at least 1 token per window; to refuse all requests, disable the key");
  }
  if (limit->window <= Duration::zero()) throw GatewayError("the window of a limit of tokens must be longer than 0");
}

void require_limit(const std::optional<std::size_t>& concurrent) {
  if (concurrent == 0) {
    throw GatewayError("a limit of concurrent requests must allow at least 1; to refuse all requests, disable the key");
  }
}

KeyStore::Quota quota_of(const LimitBound& limit, const LimitWindow& window, TimePoint now) {
  const std::optional<Duration> left = window.left(limit, now);
  // `window.used` may exceed the limit: a key of the group has a larger one, or an answer used more than was left.
  const std::size_t used = left ? std::min(window.used, limit.most) : 0;
  return {limit.most, limit.most - used, left.value_or(Duration::zero())};
}

}  // namespace key_store

std::optional<Duration> LimitWindow::left(const LimitBound& limit, TimePoint now) const {
  // Compares durations, because the end of a very long window may overflow TimePoint.
  if (used == 0 || now - began >= limit.window) return std::nullopt;
  return limit.window - (now - began);
}

std::optional<Duration> LimitWindow::refusal(const LimitBound& limit, TimePoint now, std::size_t amount) const {
  return used <= limit.most && amount <= limit.most - used ? std::nullopt : left(limit, now);
}

void LimitWindow::take(const LimitBound& limit, TimePoint now, std::uint64_t& newest, std::size_t amount) {
  if (!left(limit, now)) *this = {now, 0, ++newest};
  used += amount;
}

KeyStore::Windows& KeyStore::windows_of(Entry& its) {
  return its.key.limit_group.empty() ? its.windows : group_windows_[its.key.limit_group];
}

void KeyStore::set_limit(const std::string* id, const std::optional<RateLimit>& limit) {
  key_store::require_limit(limit);
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& limited = limited_entry(id);
  limited.key.limit = limit;
  windows_of(limited).requests = LimitWindow{};
  changes_.note_for(limited.key.id);
}

void KeyStore::set_limit(const std::string* id, const std::optional<TokenLimit>& limit) {
  key_store::require_limit(limit);
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& limited = limited_entry(id);
  limited.key.limit_tokens = limit;
  windows_of(limited).tokens = LimitWindow{};
  changes_.note_for(limited.key.id);
}

void KeyStore::set_limit(const std::string* id, std::optional<std::size_t> concurrent) {
  key_store::require_limit(concurrent);
  const std::lock_guard<std::mutex> lock(mutex_);
  ApiKey& key = limited_entry(id).key;
  key.limit_concurrent = concurrent;
  changes_.note_for(key.id);
}

ApiKey KeyStore::for_all() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return shown(for_all_);
}

std::optional<RequestRefusal> KeyStore::take(const std::string& id, TimePoint now, TakenAmount& taken) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry* const limited[] = {&entry(id), &for_all_};
  std::optional<Duration> refused;
  for (Entry* const its : limited)
    if (its->key.limit) refused = std::max(refused, windows_of(*its).requests.refusal(*its->key.limit, now));
  if (refused) return RequestRefusal{refused};
  for (Entry* const its : limited)
    if (const auto most = its->key.limit_concurrent; most && windows_of(*its).concurrent.used >= *most)
      return RequestRefusal{std::nullopt, *most};
  for (Entry* const its : limited)
    if (its->key.limit) windows_of(*its).requests.take(*its->key.limit, now, newest_window_);
  for (Entry* const its : limited) {
    if (!its->key.limit_concurrent) continue;
    LimitWindow& window = windows_of(*its).concurrent;
    taken.places.push_back({&window, window.number});
    taken.amount = 1;
    ++window.used;
  }
  return std::nullopt;
}

bool KeyStore::limits_tokens(const std::string& id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return for_all_.key.limit_tokens || entry(id).key.limit_tokens;
}

std::optional<TokenRefusal> KeyStore::take_tokens(const std::string& id, std::size_t tokens, TimePoint now,
                                                  TakenAmount& taken) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& its = entry(id);
  const std::pair<const std::optional<TokenLimit>&, LimitWindow&> limits[] = {
      {its.key.limit_tokens, windows_of(its).tokens}, {for_all_.key.limit_tokens, for_all_.windows.tokens}};
  std::optional<TokenRefusal> refused;
  for (const auto& [limit, window] : limits) {
    if (!limit) continue;
    const std::optional<Duration> left = window.refusal(*limit, now, tokens);
    const bool is_oversized = tokens > limit->tokens;
    if (is_oversized) return TokenRefusal{*limit, 0, std::nullopt};
    if (left && (!refused || *left > *refused->left)) refused = TokenRefusal{*limit, window.used, left};
  }
  if (refused) return refused;
  taken.amount = tokens;
  for (const auto& [limit, window] : limits) {
    if (!limit) continue;
    window.take(*limit, now, newest_window_, tokens);
    taken.places.push_back({&window, window.number});
  }
  return std::nullopt;
}

void KeyStore::settle(TakenAmount& taken, std::size_t tokens) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const TakenAmount::Place& place : taken.places)
    if (place.window->number == place.number) place.window->used = place.window->used - taken.amount + tokens;
  taken.amount = tokens;
}

std::optional<KeyStore::Quota> KeyStore::quota(const std::string& id, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Entry* const its : {&entry(id), &for_all_})
    if (its->key.limit) return key_store::quota_of(*its->key.limit, windows_of(*its).requests, now);
  return std::nullopt;
}

std::optional<KeyStore::Quota> KeyStore::quota_of_tokens(const std::string& id, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Entry* const its : {&entry(id), &for_all_})
    if (its->key.limit_tokens) return key_store::quota_of(*its->key.limit_tokens, windows_of(*its).tokens, now);
  return std::nullopt;
}

}  // namespace mock_gateway::detail
