// `/journal`: filters, pages, timing of events, explanations. The JSON keys of exchanges:
// `src/evidence/evidence_json.cpp`.

#include <string.h>  // memmem, of POSIX 2024

#include <algorithm>
#include <limits>
#include <utility>

#include "../messages.hpp"
#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// "default_reply" for "default reply".
std::string with_underscores(std::string word) {
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

/// Selects exchanges.
struct Filter {
  RequestScope key;
  RequestScope scope;
  int least_status = 0;
  int most_status = 999;
  std::optional<Decision::Kind> decision;
  std::string text;  // in lower case
  /// Conditions on the chat request; empty: also other requests.
  std::vector<Matcher> when;

  bool has_text(const Exchange& exchange) const {
    if (text.empty()) return true;
    const ReceivedRequest& request = exchange.request();
    const auto is_in = [this](const std::string& searched) {
      // Linear, unlike std::string::find().
      const std::string lower = internal::text::lower_ascii(searched);
      return ::memmem(lower.data(), lower.size(), text.data(), text.size()) != nullptr;
    };
    return is_in(request.target) || is_in(request.body) || is_in(request.key_description) ||
           is_in(exchange.decision().detail) || is_in(internal::refusal_of(exchange));
  }
  bool matches(const Exchange& exchange) const {
    return exchange.status() >= least_status && exchange.status() <= most_status &&
           (!decision || exchange.decision().kind == *decision) && key.covers(exchange.request()) &&
           scope.covers(exchange.request()) && has_text(exchange) && (when.empty() || internal::meets(exchange, when));
  }
};

void read_status(const std::string& text, Filter& filter) {
  const bool is_class = text.size() == 3 && text.substr(1) == "xx";
  const auto status = internal::text::whole_number(is_class ? text.substr(0, 1) + "00" : text);
  if (text.size() != 3 || !status || *status < 100 || *status > 599)
    throw invalid_query("status", text, "a status such as 429, or a class of them such as 4xx");
  filter.least_status = static_cast<int>(*status);
  filter.most_status = filter.least_status + (is_class ? 99 : 0);
}

Filter filter_of(const Control& control, const ControlRequest& request) {
  Filter filter;
  filter.scope = requests_of(control.scope_of(request));
  if (const auto key = request.value("key")) filter.key = RequestScope(*key);
  if (const auto status = request.value("status")) read_status(*status, filter);
  if (const auto wanted = request.value("decision")) {
    std::vector<std::string> known;
    for (int number = 0; number <= static_cast<int>(Decision::Kind::malformed); ++number) {
      const auto kind = static_cast<Decision::Kind>(number);
      known.push_back(with_underscores(to_string(kind)));
      if (known.back() == *wanted || to_string(kind) == *wanted) filter.decision = kind;
    }
    if (!filter.decision)
      throw invalid_query("decision", *wanted, "a kind of decision" + internal::suggestion(*wanted, known));
  }
  constexpr std::size_t longest_text = 4096;
  const std::string text = request.value("text").value_or("");
  if (text.size() > longest_text)
    throw invalid_query("text", text, "a text of at most " + std::to_string(longest_text) + " bytes");
  filter.text = internal::text::lower_ascii(text);
  return filter;
}

Json change_json(const internal::JournalFeed::Change& change) {
  const Exchange& exchange = change.exchange;
  Json json = as_json(exchange);
  json["revision"] = change.revision;
  json["summary"] = internal::text::as_utf8(exchange.summary());
  return json;
}

/// A page of exchanges under construction.
class Page {
 public:
  explicit Page(std::size_t limit) : limit_(limit) {}

  bool is_full() const { return exchanges_.size() >= limit_ || bytes_ >= most_bytes; }
  void add(const internal::JournalFeed::Change& change) {
    exchanges_.push_back(change_json(change));
    bytes_ += internal::weight_of(change.exchange);
  }
  ControlAnswer answer(std::uint64_t cursor, bool more, std::size_t evicted) {
    Json page{{"exchanges", nullptr}, {"cursor", cursor}, {"more", more}, {"evicted", evicted}};
    page["exchanges"] = std::move(exchanges_);  // last, since a growing object copies its members
    return {200, std::move(page)};
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

  std::size_t limit_;
  std::size_t bytes_ = 0;
  Json exchanges_ = Json::array();
};

/// Returns the first matching change after `cursor`, and moves the cursor up to it.
std::optional<internal::JournalFeed::Change> next_change(Control& control, const Filter& filter,
                                                         std::uint64_t& cursor) {
  while (auto change = control.feed.after(cursor)) {
    control.waits.require_running();
    if (filter.matches(change->exchange)) return change;
    cursor = change->revision;
  }
  return std::nullopt;
}

std::optional<internal::JournalFeed::Change> next_older(Control& control, const Filter& filter, std::uint64_t before) {
  while (auto older = control.feed.before(before)) {
    control.waits.require_running();
    if (filter.matches(older->exchange)) return older;
    before = older->exchange.id();
  }
  return std::nullopt;
}

ControlAnswer changes(Control& control, const ControlRequest& request, const Filter& filter, Page page,
                      std::uint64_t cursor) {
  const Journal journal = control.gateway().journal();
  const Duration wait = request.duration("wait").value_or(Duration::zero());
  // A cursor from an earlier run may be too large and would wait forever.
  cursor = std::min(cursor, control.feed.update());
  control.waits.wait_for(wait, request, [&] {
    control.feed.update();
    return next_change(control, filter, cursor).has_value();
  });
  std::optional<internal::JournalFeed::Change> change = next_change(control, filter, cursor);
  for (; change && !page.is_full(); change = next_change(control, filter, cursor)) {
    page.add(*change);
    cursor = change->revision;
  }
  return page.answer(cursor, change.has_value(), journal.evicted());
}

ControlAnswer older_exchanges(Control& control, const Filter& filter, Page page, std::optional<std::uint64_t> before) {
  const Journal journal = control.gateway().journal();
  const std::uint64_t cursor = control.feed.update();
  std::optional<internal::JournalFeed::Change> older =
      next_older(control, filter, before.value_or(std::numeric_limits<std::uint64_t>::max()));
  for (; older && !page.is_full(); older = next_older(control, filter, older->exchange.id())) page.add(*older);
  return page.answer(cursor, older.has_value(), journal.evicted());
}

ControlAnswer list_exchanges(Control& control, const ControlRequest& request) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Filter filter = filter_of(control, request);
  Page page(request.number("limit", 1, 1000).value_or(200));
  const std::optional<std::uint64_t> before = request.number("before", 1, most);
  if (const std::optional<std::uint64_t> cursor = request.number("after", 0, most)) {
    if (before) throw ControlError(400, "invalid_request", "?after= follows changes and ?before= pages back: give one");
    return changes(control, request, filter, std::move(page), *cursor);
  }
  if (request.value("wait"))
    throw ControlError(400, "invalid_request", "?wait= waits for a change after a cursor: give ?after=CURSOR too");
  return older_exchanges(control, filter, std::move(page), before);
}

/// Returns the filter of the query and of the body's matchers: `{"when": {"user_says": "weather"}}`.
Filter filter_of_body(const Control& control, const ControlRequest& request) {
  Filter filter = filter_of(control, request);
  if (request.body.empty()) return filter;
  const ControlBody body(request.body);
  body.require_keys({"when"});
  if (!body.has("when")) return filter;
  internal::Problems problems;
  filter.when = body.json().matchers(problems);
  if (!problems.empty()) throw error_of("invalid_script", std::move(problems));
  return filter;
}

ControlAnswer count_exchanges(Control& control, const ControlRequest& request) {
  const Filter filter = filter_of_body(control, request);
  const Journal journal = control.gateway().journal();
  std::size_t count = 0;
  for (const Exchange& exchange : journal.all()) {
    control.waits.require_running();
    if (filter.matches(exchange)) ++count;
  }
  return {200, Json{{"count", count}, {"at_least", journal.evicted() > 0}}};
}

ControlAnswer find_exchanges(Control& control, const ControlRequest& request) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Filter filter = filter_of_body(control, request);
  Page page(request.number("limit", 1, 1000).value_or(200));
  return older_exchanges(control, filter, std::move(page), request.number("before", 1, most));
}

/// Returns the exchange of the path. Throws ControlError `no_such_exchange`, also for another scope's exchange.
Exchange exchange_of(const Control& control, const ControlRequest& request) {
  const std::uint64_t id = request.id(0, "no_such_exchange", "exchange");
  const std::string scope = control.scope_of(request);
  try {
    Exchange exchange = control.gateway().journal().at(id);
    if (!scope.empty() && exchange.key_id() != scope)
      throw not_of("exchange", "no_such_exchange", request.parameters.at(0), scope);
    return exchange;
  } catch (const GatewayError& error) {
    throw ControlError(404, "no_such_exchange", without_prefix(error.what()));
  }
}

ControlAnswer show_exchange(Control& control, const ControlRequest& request) {
  const Exchange exchange = exchange_of(control, request);
  control.feed.update();
  Json json = change_json({control.feed.revision_of(exchange.id()), exchange});
  Json findings = Json::array();
  for (const Finding& finding : exchange.findings()) findings.push_back(as_json(finding));
  json["findings"] = std::move(findings);
  constexpr std::size_t most_events = 1024;
  json["events"] = internal::events_of(exchange, most_events);
  const std::optional<SentAnswer> answer = exchange.answer();
  json["answer"] = answer ? as_json(*answer) : Json();
  return {200, std::move(json)};
}

ControlAnswer curl(Control& control, const ControlRequest& request) {
  ControlAnswer answer;
  answer.text = internal::text::as_utf8(exchange_of(control, request).as_curl()) + "\n";
  return answer;
}

ControlAnswer bundle(Control& control, const ControlRequest& request) {
  ControlAnswer answer;
  answer.text = bundle_of(control, exchange_of(control, request)) + "\n";
  answer.type = "application/json";
  return answer;
}

ControlAnswer clear_journal(Control& control, const ControlRequest& request) {
  static_cast<void>(request.object({}));
  control.gateway().journal().clear();
  return {};
}

/// Explains a request. Without a scope, it uses the default key.
ControlAnswer explain(Control& control, const ControlRequest& request) {
  const std::string scope = control.scope_of(request);
  const ApiKey key = control.gateway().keys().find(scope.empty() ? default_key_id : scope);
  Json explanation = control.inside().explain(request.body, key);
  explanation["decision"] = with_underscores(explanation["decision"]);
  return {200, std::move(explanation)};
}

}  // namespace

std::vector<ControlRoute> journal_routes() {
  return {
      {"GET",
       "/journal",
       {"after", "before", "limit", "key", "scope", "status", "decision", "text", "wait"},
       &list_exchanges},
      {"POST", "/journal/count", {"key", "scope", "status", "decision", "text"}, &count_exchanges},
      {"POST", "/journal/find", {"before", "limit", "key", "scope", "status", "decision", "text"}, &find_exchanges},
      {"DELETE",
       "/journal",
       {},
       &clear_journal,
       "it clears the whole journal; POST /reset?scope= with {\"what\": [\"journal\"]} clears what belongs to a scope"},
      {"POST", "/journal/explain", {"scope"}, &explain},
      {"GET", "/journal/{exchange}", {"scope"}, &show_exchange},
      {"GET", "/journal/{exchange}/curl", {"scope"}, &curl},
      {"GET", "/journal/{exchange}/bundle", {"scope"}, &bundle},
  };
}

}  // namespace endpoint
}  // namespace mock_gateway
