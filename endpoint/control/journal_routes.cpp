// `/journal`: filters, pages, timing of events, explanations. The JSON keys of exchanges:
// `src/evidence/evidence_json.cpp`.

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "../messages.hpp"
#include "../recorded.hpp"
#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// "default_reply" for "default reply".
std::string with_underscores(std::string word) {
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

/// A search text, compared without ASCII case. Uses the Knuth-Morris-Pratt algorithm, so the time is linear in the
/// searched text.
class WantedText {
 public:
  WantedText() = default;
  explicit WantedText(const std::string& text) : text_(internal::text::lower_ascii(text)), matched_(text_.size(), 0) {
    for (std::size_t length = 1; length < text_.size(); ++length)
      matched_[length] = after(matched_[length - 1], text_[length]);
  }

  bool is_in(const std::string& text) const {
    if (text_.empty()) return true;
    std::size_t matched = 0;
    for (const char c : text) {
      matched = after(matched, c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
      if (matched == text_.size()) return true;
    }
    return false;
  }

 private:
  /// Returns the length of the match after `c`, given the length before it.
  std::size_t after(std::size_t matched, char c) const {
    while (matched > 0 && text_[matched] != c) matched = matched_[matched - 1];
    return text_[matched] == c ? matched + 1 : 0;
  }

  std::string text_;
  std::vector<std::size_t> matched_;  // the KMP failure function
};

/// Appends the reasoning, text and call arguments of a choice of a completion or chunk.
void append_said(const Json& choice, std::string& said) {
  const Json& part = importing::member(choice, choice.contains("delta") ? "delta" : "message");
  said += importing::text_of(part, "reasoning_content") + importing::text_of(part, "content");
  const Json& calls = importing::member(part, "tool_calls");
  if (!calls.is_array()) return;
  for (const Json& call : calls) {
    const Json& function = importing::member(call, "function");
    said += importing::text_of(function, "name") + importing::text_of(function, "arguments");
  }
}

/// Returns the text of an answer's body; for a stream, that of all events joined.
std::string said_in(const std::string& body) {
  std::string said;
  const auto read = [&said](std::string_view json) {
    const Json value = importing::json_if_valid(json);
    const Json& choices = importing::member(value, "choices");
    if (!choices.is_array()) return;
    for (const Json& choice : choices) append_said(choice, said);
  };
  if (!importing::looks_like_stream(body)) {
    read(body);
    return said;
  }
  constexpr std::string_view field = "data:";
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find_first_of("\r\n", begin), body.size());
    const std::string_view line = std::string_view(body).substr(begin, end - begin);
    if (line.substr(0, field.size()) == field) read(line.substr(field.size()));
    begin = end + 1;
  }
  return said;
}

/// Selects exchanges.
struct Filter {
  RequestScope key;
  RequestScope scope;
  int least_status = 0;
  int most_status = 999;
  std::optional<Decision::Kind> decision;
  WantedText text;
  bool in_request = true;
  bool in_answer = false;
  /// Conditions on the chat request; empty: also other requests.
  std::vector<Matcher> when;

  bool has_text(const Exchange& exchange) const {
    const ReceivedRequest& request = exchange.request();
    if (in_request && (text.is_in(request.target) || text.is_in(request.body) || text.is_in(request.key_description) ||
                       text.is_in(exchange.decision().detail) || text.is_in(internal::refusal_of(exchange))))
      return true;
    if (!in_answer) return false;
    const std::optional<SentAnswer> answer = exchange.answer();
    return answer && (text.is_in(answer->body()) || text.is_in(said_in(answer->body())));
  }
  bool matches(const Exchange& exchange) const {
    return exchange.status() >= least_status && exchange.status() <= most_status &&
           (!decision || exchange.decision().kind == *decision) && key.covers(exchange.request()) &&
           scope.covers(exchange.request()) && has_text(exchange) && (when.empty() || internal::meets(exchange, when));
  }
};

void read_status(const std::string& text, Filter& filter) {
  const bool is_digit = text.size() == 3 && text[0] >= '1' && text[0] <= '5';
  if (is_digit && text.substr(1) == "xx") {
    filter.least_status = (text[0] - '0') * 100;
    filter.most_status = filter.least_status + 99;
    return;
  }
  if (!is_digit || !std::isdigit(static_cast<unsigned char>(text[1])) ||
      !std::isdigit(static_cast<unsigned char>(text[2])))
    throw invalid_query("status", text, "a status such as 429, or a class of them such as 4xx");
  filter.least_status = filter.most_status = std::stoi(text);
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
  filter.text = WantedText(text);
  if (const auto place = request.value("text_in")) {
    if (*place != "request" && *place != "answer" && *place != "any")
      throw invalid_query("text_in", *place, "request, answer or any");
    filter.in_request = *place != "answer";
    filter.in_answer = *place != "request" && !text.empty();
    if (text.empty()) filter.in_request = true;
  }
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
       {"after", "before", "limit", "key", "scope", "status", "decision", "text", "text_in", "wait"},
       &list_exchanges},
      {"POST", "/journal/count", {"key", "scope", "status", "decision", "text", "text_in"}, &count_exchanges},
      {"POST",
       "/journal/find",
       {"before", "limit", "key", "scope", "status", "decision", "text", "text_in"},
       &find_exchanges},
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
