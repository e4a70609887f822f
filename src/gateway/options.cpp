// The options and their comments (in the header); which values are invalid. The owner of a model: also in
// `src/answer/bodies.hpp`.

#include "options.hpp"

#include <algorithm>  // all_of, any_of, find_if
#include <iterator>   // begin, end
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../evidence/review_parts.hpp"
#include "../model/checks.hpp"
#include "../request/service_rules.hpp"
#include "option_values.hpp"

namespace mock_gateway {

Options::Options() : data_(detail::OptionValues{}) {}

const detail::OptionValues& detail::OptionValues::moved_from() {
  static const OptionValues fresh;
  return fresh;
}

detail::OptionValues& Options::edit() { return data_.own(); }

Options Options::host(std::string host) const {
  return detail::with(*this, &detail::OptionValues::host, std::move(host));
}
Options Options::port(int port) const { return detail::with(*this, &detail::OptionValues::port, port); }
Options Options::model(std::string id, std::string owner) const {
  Options copy = *this;
  copy.edit().models.push_back({std::move(id), std::move(owner)});
  return copy;
}
Options Options::context_window(std::string model, std::size_t tokens) const {
  Options copy = *this;
  std::vector<wire::Model>& models = copy.edit().models;
  auto its = std::find_if(models.begin(), models.end(), [&](const wire::Model& one) { return one.id == model; });
  if (its == models.end()) its = models.insert(its, wire::Model{std::move(model)});
  its->context_window = tokens;
  return copy;
}
Options Options::embeddings(bool served) const {
  return detail::with(*this, &detail::OptionValues::embeddings, served);
}
Options Options::any_model(bool any) const { return detail::with(*this, &detail::OptionValues::any_model, any); }
Options Options::api_key(std::string secret) const {
  return default_key(detail::Access::data(*this).default_key.secret(std::move(secret)));
}
Options Options::default_key(KeyOptions key) const {
  const std::optional<std::string>& before = detail::Access::values(detail::Access::data(*this).default_key).secret;
  if (before && !detail::Access::values(key).secret) key = key.secret(*before);
  return detail::with(*this, &detail::OptionValues::default_key, std::move(key));
}
Options Options::key_header(std::string name) const {
  // Headers that the gateway or HTTP itself reads.
  constexpr std::string_view taken[] = {"Authorization",  "Accept",
                                        "Connection",     "Content-Encoding",
                                        "Content-Length", "Content-Type",
                                        "Cookie",         "Expect",
                                        "Host",           "Idempotency-Key",
                                        "Origin",         "TE",
                                        "Trailer",        "Transfer-Encoding",
                                        "Upgrade",        "User-Agent"};
  const bool is_taken = std::any_of(std::begin(taken), std::end(taken), [&name](std::string_view one) {
    return detail::text::equals_ignoring_case(one, name);
  });
  if (is_taken || !detail::text::is_token(name))
    throw GatewayError("key_header takes the name of a header that only carries a key, such as \"api-key\", not \"" +
                       detail::text::excerpt(detail::text::as_utf8(name), 60) +
                       "\"; Authorization: Bearer is always accepted");
  Options copy = *this;
  copy.edit().key_headers.push_back(std::move(name));
  return copy;
}
Options Options::key_required(bool required) const {
  return detail::with(*this, &detail::OptionValues::key_required, required);
}
Options Options::base_path(std::string path) const {
  const bool is_path = std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c <= '~'; }) &&
                       path.substr(0, 1) == "/" && (path + "/").find("//", 1) == std::string::npos &&
                       path.find_first_of("?#{}*\"") == std::string::npos;
  if (!is_path)
    throw GatewayError(
        "base_path takes a path without a query or a \"/\" at its end, such as \"/api/paas/v4\", or \"/\", " +
        ("not \"" + detail::text::excerpt(detail::text::as_utf8(path), 60) + "\""));
  Options copy = *this;
  copy.edit().base_paths.push_back(std::move(path));
  return copy;
}
Options Options::key(std::string description, KeyOptions key) const {
  Options copy = *this;
  copy.edit().keys.push_back({std::move(description), std::move(key)});
  return copy;
}
Options Options::limit(std::size_t requests, Duration window) const {
  return detail::with(*this, &detail::OptionValues::limit, RateLimit{requests, window});
}
Options Options::limit_tokens(std::size_t tokens, Duration window) const {
  return detail::with(*this, &detail::OptionValues::limit_tokens, TokenLimit{tokens, window});
}
Options Options::limit_concurrent(std::size_t requests) const {
  return detail::with(*this, &detail::OptionValues::limit_concurrent, requests);
}
Options Options::oversized_gets_413(bool gets_413) const {
  return detail::with(*this, &detail::OptionValues::oversized_gets_413, gets_413);
}
Options Options::seed(std::uint64_t seed) const { return detail::with(*this, &detail::OptionValues::seed, seed); }
Options Options::clock(Clock clock) const {
  return detail::with(*this, &detail::OptionValues::clock, std::move(clock));
}
Options Options::profile(Profile profile) const { return detail::with(*this, &detail::OptionValues::profile, profile); }
Options Options::acceptance(Acceptance acceptance) const {
  return detail::with(*this, &detail::OptionValues::acceptance, acceptance);
}
Options Options::enforce(Profile service) const {
  std::string known;
  for (const std::string& name : detail::service_rules::services()) {
    if (name == to_string(service)) return detail::with(*this, &detail::OptionValues::enforce, service);
    known += (known.empty() ? "" : ", ") + name;
  }
  throw GatewayError("no rules are known for the profile " + to_string(service) + "; enforce one of " + known);
}
Options Options::tokenizer(Tokenizer tokenizer) const {
  return detail::with(*this, &detail::OptionValues::tokenizer, std::move(tokenizer));
}
Options Options::pace(Pace pace) const { return detail::with(*this, &detail::OptionValues::pace, std::move(pace)); }
Options Options::max_n(std::int64_t n) const { return detail::with(*this, &detail::OptionValues::max_n, n); }
Options Options::max_body(std::size_t bytes) const {
  return detail::with(*this, &detail::OptionValues::max_body, bytes);
}
Options Options::max_head(std::size_t bytes) const {
  return detail::with(*this, &detail::OptionValues::max_head, bytes);
}
Options Options::journal_limits(std::size_t entries, std::size_t bytes) const {
  Options copy = *this;
  copy.edit().journal_entries = entries;
  copy.edit().journal_bytes = bytes;
  return copy;
}
Options Options::keep_answers(bool keep) const {
  return detail::with(*this, &detail::OptionValues::keep_answers, keep);
}
Options Options::read_timeout(Duration timeout) const {
  return detail::with(*this, &detail::OptionValues::read_timeout, timeout);
}
Options Options::head_timeout(Duration timeout) const {
  return detail::with(*this, &detail::OptionValues::head_timeout, timeout);
}
Options Options::body_timeout(Duration timeout) const {
  return detail::with(*this, &detail::OptionValues::body_timeout, timeout);
}
Options Options::write_timeout(Duration timeout) const {
  return detail::with(*this, &detail::OptionValues::write_timeout, timeout);
}
Options Options::idle_timeout(Duration timeout) const {
  return detail::with(*this, &detail::OptionValues::idle_timeout, timeout);
}
Options Options::stall_guard(std::optional<Duration> guard) const {
  return detail::with(*this, &detail::OptionValues::stall_guard, guard);
}
Options Options::unmatched(Unmatched policy) const {
  return detail::with(*this, &detail::OptionValues::unmatched, policy);
}
Options Options::verify_on_destruction(bool verify) const {
  return detail::with(*this, &detail::OptionValues::verify_on_destruction, verify);
}
Options Options::cors(std::string origin) const {
  constexpr const char* const ends = "/?#@ \t\r\n";
  const std::size_t mark = origin.find("://");
  const std::size_t host = mark == std::string::npos ? 0 : mark + 3;
  const bool is_origin = mark > 0 && host > 0 && host < origin.size() && origin.find_first_of(ends) == mark + 1 &&
                         origin.find_first_of(ends, host) == std::string::npos;
  if (!is_origin && origin != "*" && origin != "null")
    throw GatewayError("cors takes an origin such as \"http://localhost:5173\", or \"*\", not \"" +
                       detail::text::excerpt(detail::text::as_utf8(origin), 60) + "\"");
  Options copy = *this;
  copy.edit().cors.push_back(std::move(origin));
  return copy;
}
Options Options::without_finding(std::string code) const {
  Options copy = *this;
  copy.edit().without_findings.push_back(std::move(code));
  return copy;
}
Options Options::on_exchange(std::function<void(const Exchange&)> callback) const {
  return detail::with(*this, &detail::OptionValues::on_exchange, std::move(callback));
}
Options Options::on_connection_hit(std::function<void(const ConnectionHit&)> callback) const {
  return detail::with(*this, &detail::OptionValues::on_connection_hit, std::move(callback));
}

namespace detail {

void require_valid(const OptionValues& options) {
  const auto refuse = [](const std::string& what) { throw GatewayError("Options: " + what); };
  for (const std::string& code : options.without_findings) require_finding_code(code);
  if (options.port < 0 || options.port > 65535) refuse("port must be from 0 to 65535");
  if (options.host.empty()) refuse("host must not be empty");
  if (options.max_n < 1) refuse("max_n must be at least 1");
  if (options.pace.chunking() && options.pace.chunking()->kind() == Chunking::Kind::pieces)
    refuse("by_pieces fits only one reply; set it there: text(…).chunked(by_pieces({…}))");
  if (options.max_body == 0) refuse("max_body must be at least 1");
  if (options.max_head < 1024) refuse("max_head must be at least 1024");
  if (options.read_timeout <= Duration{0} || options.write_timeout <= Duration{0} ||
      options.idle_timeout <= Duration{0} || options.head_timeout <= Duration{0} || options.body_timeout <= Duration{0})
    refuse("timeouts must be positive");
  if (options.stall_guard && *options.stall_guard <= Duration{0})
    refuse("stall_guard must be positive; std::nullopt turns it off");
  std::set<std::string_view> ids;
  for (const wire::Model& model : options.models) {
    if (model.id.empty()) refuse("a model's id must not be empty");
    require_utf8(model.id, "model's id");
    require_utf8(model.owner, "model's owner");
    if (model.context_window == 0) refuse("context_window of \"" + model.id + "\" must be at least 1 token");
    if (!ids.insert(model.id).second) refuse("the model \"" + model.id + "\" is given twice");
  }
}

}  // namespace detail

}  // namespace mock_gateway
