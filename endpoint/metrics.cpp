// The counters for monitoring, and the format of labels.

#include "metrics.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace mock_gateway {
namespace endpoint {
namespace {

/// Quotes a label value: escapes backslash, quote and line end.
std::string quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else
      quoted += c;
  }
  return quoted + "\"";
}

void add_head(std::string& text, const std::string& name, const char* type, const char* help) {
  text += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

void add(std::string& text, const std::string& name,
         std::initializer_list<std::pair<const char*, const std::string*>> labels, std::uint64_t value) {
  text += name;
  const char* separator = "{";
  for (const auto& [label, said] : labels) {
    text += separator + std::string(label) + "=" + quoted(*said);
    separator = ",";
  }
  text += (labels.size() == 0 ? " " : "} ") + std::to_string(value) + "\n";
}

/// Counts the faults that took effect. The list also has faults that the reply did not reach.
std::uint64_t reached(const std::vector<std::string>& faults) {
  constexpr std::string_view suffix = ": not reached";
  return static_cast<std::uint64_t>(std::count_if(faults.begin(), faults.end(), [&suffix](const std::string& fault) {
    return fault.size() < suffix.size() || fault.compare(fault.size() - suffix.size(), suffix.size(), suffix) != 0;
  }));
}

}  // namespace

void Metrics::note(const Exchange& exchange) {
  const Decision decision = exchange.decision();
  const int status = exchange.status();
  Labels labels{status == 0 ? "none" : std::to_string(status), to_string(decision.kind), exchange.key_id(),
                decision == Decision::Kind::stub ? decision.detail + internal::stub_number(exchange) : std::string()};
  const std::string outcome = to_string(exchange.outcome(Duration::zero()).kind);
  const std::uint64_t by_reply = reached(exchange.faults());
  const std::uint64_t by_chaos = reached(exchange.chaos());
  const Duration lateness = exchange.lateness();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (requests_.size() >= most_series && requests_.count(labels) == 0) labels[2] = labels[3] = {};
  ++requests_[labels];
  ++ended_[outcome];
  faults_["reply"] += by_reply;
  faults_["chaos"] += by_chaos;
  if (lateness > Duration::zero()) {
    const auto bound = std::lower_bound(lateness_bounds.begin(), lateness_bounds.end(), lateness);
    ++lateness_[static_cast<std::size_t>(bound - lateness_bounds.begin())];
    lateness_sum_ += lateness;
  }
  bytes_ += exchange.bytes_sent();
  tokens_ += exchange.tokens_sent();
}

void Metrics::note(const ConnectionHit& /*hit*/) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++faults_["connection"];
}

std::string Metrics::text(const std::string& instance, std::size_t open) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text;
  const std::string version = MOCK_GATEWAY_VERSION;
  add_head(text, "mock_gateway_info", "gauge", "The program, always 1.");
  add(text, "mock_gateway_info", {{"version", &version}, {"instance_id", &instance}}, 1);
  add_head(text, "mock_gateway_requests_total", "counter", "Finished requests, by status, decision, key id and stub.");
  for (const auto& [labels, count] : requests_)
    add(text, "mock_gateway_requests_total",
        {{"status", &labels[0]}, {"decision", &labels[1]}, {"key", &labels[2]}, {"stub", &labels[3]}}, count);
  add_head(text, "mock_gateway_ended_total", "counter", "Finished requests, by outcome.");
  for (const auto& [outcome, count] : ended_) add(text, "mock_gateway_ended_total", {{"outcome", &outcome}}, count);
  add_head(text, "mock_gateway_faults_total", "counter", "Faults that struck, by source.");
  for (const auto& [by, count] : faults_) add(text, "mock_gateway_faults_total", {{"by", &by}}, count);
  add_head(text, "mock_gateway_open_requests", "gauge", "Requests in progress, including streams.");
  add(text, "mock_gateway_open_requests", {}, open);
  add_lateness(text);
  add_head(text, "mock_gateway_sent_bytes_total", "counter", "Bytes of answers that were sent.");
  add(text, "mock_gateway_sent_bytes_total", {}, bytes_);
  add_head(text, "mock_gateway_sent_tokens_total", "counter", "Tokens of answers that were sent, streamed or not.");
  add(text, "mock_gateway_sent_tokens_total", {}, tokens_);
  return text;
}

void Metrics::add_lateness(std::string& text) const {
  const std::string name = "mock_gateway_lateness_seconds";
  add_head(text, name, "histogram", "The largest delay of a paced answer behind its schedule.");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < lateness_.size(); ++i) {
    count += lateness_[i];
    const std::string bound =
        i < lateness_bounds.size() ? internal::text::decimal(lateness_bounds[i].count(), 1000) : std::string("+Inf");
    add(text, name + "_bucket", {{"le", &bound}}, count);
  }
  text += name + "_sum " + internal::text::decimal(lateness_sum_.count(), 1'000'000'000) + "\n";
  add(text, name + "_count", {}, count);
}

}  // namespace endpoint
}  // namespace mock_gateway
