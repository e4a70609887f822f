#include "options.hpp"

#include <utility>

#include "../core/access.hpp"
#include "option_values.hpp"

namespace mock_gateway {

Options::Options() : data_(std::make_shared<detail::OptionValues>()) {}

detail::OptionValues& Options::edit() { return detail::own(data_); }

Options& Options::host(std::string host) { return edit().host = std::move(host), *this; }
Options& Options::port(int port) { return edit().port = port, *this; }
Options& Options::model(std::string id, std::string owner) {
  return edit().models.push_back({std::move(id), std::move(owner)}), *this;
}
Options& Options::api_key(std::string secret) { return edit().api_key = std::move(secret), *this; }
Options& Options::key(std::string description, KeyOptions key) {
  return edit().keys.push_back({std::move(description), std::move(key)}), *this;
}
Options& Options::limit(std::size_t requests, Duration window) {
  return edit().limit = RateLimit{requests, window}, *this;
}
Options& Options::seed(std::uint64_t seed) { return edit().seed = seed, *this; }
Options& Options::clock(Clock clock) { return edit().clock = std::move(clock), *this; }
Options& Options::profile(Profile profile) { return edit().profile = profile, *this; }
Options& Options::acceptance(Acceptance acceptance) { return edit().acceptance = acceptance, *this; }
Options& Options::tokenizer(Tokenizer tokenizer) { return edit().tokenizer = std::move(tokenizer), *this; }
Options& Options::pace(Pace pace) { return edit().pace = std::move(pace), *this; }
Options& Options::max_n(std::int64_t n) { return edit().max_n = n, *this; }
Options& Options::max_body(std::size_t bytes) { return edit().max_body = bytes, *this; }
Options& Options::max_head(std::size_t bytes) { return edit().max_head = bytes, *this; }
Options& Options::journal_limits(std::size_t entries, std::size_t bytes) {
  return edit().journal_entries = entries, edit().journal_bytes = bytes, *this;
}
Options& Options::read_timeout(Duration timeout) { return edit().read_timeout = timeout, *this; }
Options& Options::head_timeout(Duration timeout) { return edit().head_timeout = timeout, *this; }
Options& Options::body_timeout(Duration timeout) { return edit().body_timeout = timeout, *this; }
Options& Options::write_timeout(Duration timeout) { return edit().write_timeout = timeout, *this; }
Options& Options::idle_timeout(Duration timeout) { return edit().idle_timeout = timeout, *this; }
Options& Options::stall_guard(std::optional<Duration> guard) { return edit().stall_guard = guard, *this; }
Options& Options::unmatched(Unmatched policy) { return edit().unmatched = policy, *this; }
Options& Options::verify_on_destruction(bool verify) { return edit().verify_on_destruction = verify, *this; }
Options& Options::without_finding(std::string code) {
  return edit().without_findings.push_back(std::move(code)), *this;
}
Options& Options::on_exchange(std::function<void(const Exchange&)> callback) {
  return edit().on_exchange = std::move(callback), *this;
}
Options& Options::on_connection_hit(std::function<void(const ConnectionHit&)> callback) {
  return edit().on_connection_hit = std::move(callback), *this;
}

}  // namespace mock_gateway
