// `/journal`: filters, pages, times of events, explaining. The keys of an exchange: `src/evidence/evidence_json.cpp`.

#include <algorithm>
#include <cctype>
#include <chrono>
#include <limits>
#include <utility>

#include "../messages.hpp"
#include "../recorded_reply.hpp"
#include "../recorded_request.hpp"
#include "body.hpp"
#include "bundle.hpp"
#include "core/access.hpp"
#include "core/text.hpp"
#include "document/script_sections.hpp"
#include "evidence/diagnosis.hpp"
#include "evidence_routes.hpp"
#include "model/sent_answer.hpp"
#include "serve/explanation.hpp"
#include "serve/gateway_state.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using Record = std::shared_ptr<detail::ExchangeRecord>;

constexpr Decision::Kind decision_kinds[] = {
    Decision::Kind::stub,           Decision::Kind::default_reply,   Decision::Kind::unmatched,
    Decision::Kind::forced_failure, Decision::Kind::chaos,           Decision::Kind::rejected,
    Decision::Kind::models,         Decision::Kind::embeddings,      Decision::Kind::handler,
    Decision::Kind::preflight,      Decision::Kind::callback_failed, Decision::Kind::answer_failed,
    Decision::Kind::malformed};

/// "default_reply".
std::string word_of(Decision::Kind kind) {
  std::string word = to_string(kind);
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

/// A text that is looked for in others, in any case of ASCII letters. Takes time for what is looked at, whatever the
/// two texts are: Knuth, Morris and Pratt's search.
class WantedText {
 public:
  WantedText() = default;
  explicit WantedText(const std::string& text) : text_(detail::text::lower_ascii(text)), matched_(text_.size(), 0) {
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
  /// How much of it ends with `c`, when so much of it came before.
  std::size_t after(std::size_t matched, char c) const {
    while (matched > 0 && text_[matched] != c) matched = matched_[matched - 1];
    return text_[matched] == c ? matched + 1 : 0;
  }

  std::string text_;
  std::vector<std::size_t> matched_;  // of each beginning, how much of the text it ends with besides being it
};

/// Appends what a choice of a completion, or of a chunk, says: its reasoning, its text, the arguments of its calls.
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

/// What the body of an answer says: of a stream, the text of its events joined.
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

/// Which exchanges are asked for.
struct Filter {
  RequestScope key;
  RequestScope scope;
  int least_status = 0;
  int most_status = 999;
  std::optional<Decision::Kind> decision;
  WantedText text;
  bool in_request = true;
  bool in_answer = false;
  /// What the chat request must meet; empty: it need be none.
  std::vector<Matcher> when;

  bool has_text(const Record& record) const {
    if (in_request) {
      for (const std::string* place : {&record->request.target, &record->request.body, &record->request.key_description,
                                       &record->decision.detail, &record->refusal}) {
        if (text.is_in(*place)) return true;
      }
    }
    if (!in_answer) return false;
    const std::optional<SentAnswer> answer = Exchange(record).answer();
    return answer && (text.is_in(answer->body()) || text.is_in(said_in(answer->body())));
  }
  bool matches(const Record& record) const {
    return record->status >= least_status && record->status <= most_status &&
           (!decision || record->decision.kind == *decision) && key.covers(record->request) &&
           scope.covers(record->request) && has_text(record) &&
           (when.empty() || detail::RecordedCall(record).meets(when));
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
    for (const Decision::Kind kind : decision_kinds) {
      known.push_back(word_of(kind));
      if (known.back() == *wanted || to_string(kind) == *wanted) filter.decision = kind;
    }
    if (!filter.decision) throw invalid_query("decision", *wanted, "a kind of decision" + suggestion(*wanted, known));
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

Json change_json(const JournalFeed::Change& change) {
  const Exchange exchange(change.record);
  Json json = as_json(exchange);
  json["revision"] = change.revision;
  json["summary"] = detail::text::as_utf8(exchange.summary());
  return json;
}

/// A page of exchanges as it is filled.
class Page {
 public:
  explicit Page(std::size_t limit) : limit_(limit) {}

  bool is_full() const { return exchanges_.size() >= limit_ || bytes_ >= most_bytes; }
  void add(const JournalFeed::Change& change) {
    exchanges_.push_back(change_json(change));
    // What is kept of the answer is not shown. It is asked for first: it comes to the weight when the exchange ends.
    const std::size_t answer = change.record->answer_weight;
    bytes_ += change.record->weight() - answer;
  }
  ControlAnswer answer(std::uint64_t cursor, bool more, std::size_t evicted) {
    Json page{{"exchanges", nullptr}, {"cursor", cursor}, {"more", more}, {"evicted", evicted}};
    page["exchanges"] = std::move(exchanges_);  // last: an object that grows copies what it holds
    return {200, std::move(page)};
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

  std::size_t limit_;
  std::size_t bytes_ = 0;
  Json exchanges_ = Json::array();
};

/// The first change after `cursor` that is asked for; the cursor comes to stand before it.
std::optional<JournalFeed::Change> next_change(Control& control, const Filter& filter, std::uint64_t& cursor) {
  while (auto change = control.feed.after(cursor)) {
    control.waits.require_running();
    if (filter.matches(change->record)) return change;
    cursor = change->revision;
  }
  return std::nullopt;
}

std::optional<JournalFeed::Change> next_older(Control& control, const Filter& filter, std::uint64_t before) {
  while (auto older = control.feed.before(before)) {
    control.waits.require_running();
    if (filter.matches(older->record)) return older;
    before = older->record->id;
  }
  return std::nullopt;
}

ControlAnswer changes(Control& control, const ControlRequest& request, const Filter& filter, Page page,
                      std::uint64_t cursor) {
  const detail::JournalState& journal = *control.state().journal;
  const Duration wait = request.duration("wait").value_or(Duration::zero());
  // A cursor that is none of this program's would wait for ever.
  cursor = std::min(cursor, control.feed.look(journal));
  control.waits.wait_until(deadline_of(wait), request, [&] {
    control.feed.look(journal);
    return next_change(control, filter, cursor).has_value();
  });
  std::optional<JournalFeed::Change> change = next_change(control, filter, cursor);
  for (; change && !page.is_full(); change = next_change(control, filter, cursor)) {
    page.add(*change);
    cursor = change->revision;
  }
  return page.answer(cursor, change.has_value(), journal.evicted());
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
  const detail::JournalState& journal = *control.state().journal;
  const std::uint64_t cursor = control.feed.look(journal);
  std::optional<JournalFeed::Change> older = next_older(control, filter, before.value_or(most));
  for (; older && !page.is_full(); older = next_older(control, filter, older->record->id)) page.add(*older);
  return page.answer(cursor, older.has_value(), journal.evicted());
}

void read_when(detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
  *static_cast<std::vector<Matcher>*>(target) = detail::read_matchers(reader, node);
}

/// The filter of the query, and the matchers of the body: `{"when": {"user_says": "weather"}}`.
Filter filter_of_body(const Control& control, const ControlRequest& request) {
  Filter filter = filter_of(control, request);
  if (request.body.empty()) return filter;
  const ControlBody body(request.body);
  body.require_keys({"when"});
  const detail::ScriptNode root{body.value(), ""};
  if (!root.find("when")) return filter;
  std::vector<ScriptProblem> problems;
  std::map<std::string, Gate> gates;
  detail::ScriptReader reader(body.source(), problems, gates);
  reader.guarded(root.at("when"), &read_when, &filter.when);
  for (ScriptProblem& problem : problems) body.unwrap(problem);
  if (!problems.empty()) throw error_of("invalid_script", std::move(problems));
  return filter;
}

ControlAnswer count_exchanges(Control& control, const ControlRequest& request) {
  const Filter filter = filter_of_body(control, request);
  const detail::JournalState& journal = *control.state().journal;
  std::size_t count = 0;
  for (const Record& record : journal.snapshot()) {
    control.waits.require_running();
    if (filter.matches(record)) ++count;
  }
  return {200, Json{{"count", count}, {"at_least", journal.evicted() > 0}}};
}

ControlAnswer find_exchanges(Control& control, const ControlRequest& request) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Filter filter = filter_of_body(control, request);
  const detail::JournalState& journal = *control.state().journal;
  Page page(request.number("limit", 1, 1000).value_or(200));
  const std::uint64_t cursor = control.feed.look(journal);
  std::optional<JournalFeed::Change> older =
      next_older(control, filter, request.number("before", 1, most).value_or(most));
  for (; older && !page.is_full(); older = next_older(control, filter, older->record->id)) page.add(*older);
  return page.answer(cursor, older.has_value(), journal.evicted());
}

/// The exchange that the path names. Throws ControlError `no_such_exchange`, also for one that is not of the scope.
Record record_of(const Control& control, const ControlRequest& request) {
  const std::uint64_t id = request.id(0, "no_such_exchange", "exchange");
  const std::optional<Scope> scope = control.scope_of(request);
  try {
    Record record = control.state().journal->at(id);
    if (scope && record->request.key_id != scope->id)
      throw not_of("exchange", "no_such_exchange", request.parameters.at(0), *scope);
    return record;
  } catch (const GatewayError& error) {
    throw ControlError(404, "no_such_exchange", without_prefix(error.what()));
  }
}

Json events_of(const detail::ExchangeRecord& record) {
  Json events = Json::array();
  if (!record.progress.log) return events;
  constexpr std::size_t most = 1024;
  std::size_t number = 0;
  for (const detail::AnswerLog::Event& event : record.progress.log->events(most)) {
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(event.at).count();
    events.push_back(Json{{"number", ++number},
                          {"kind", event.token ? "token" : "event"},
                          {"at_ms", static_cast<double>(microseconds) / 1000},
                          {"bytes", event.bytes}});
  }
  return events;
}

ControlAnswer show_exchange(Control& control, const ControlRequest& request) {
  const Record record = record_of(control, request);
  control.feed.look(*control.state().journal);
  Json json = change_json({control.feed.revision_of(record->id), record});
  Json findings = Json::array();
  for (const Finding& finding : record->findings) findings.push_back(as_json(finding));
  json["findings"] = std::move(findings);
  json["events"] = events_of(*record);
  const std::optional<SentAnswer> answer = Exchange(record).answer();
  json["answer"] = answer ? as_json(*answer) : Json();
  return {200, std::move(json)};
}

ControlAnswer curl(Control& control, const ControlRequest& request) {
  ControlAnswer answer;
  answer.text = detail::text::as_utf8(Exchange(record_of(control, request)).as_curl()) + "\n";
  return answer;
}

ControlAnswer bundle(Control& control, const ControlRequest& request) {
  const Record record = record_of(control, request);
  ControlAnswer answer;
  answer.text = bundle_of(control, record) + "\n";
  answer.type = "application/json";
  return answer;
}

ControlAnswer clear_journal(Control& control, const ControlRequest& request) {
  static_cast<void>(request.object({}));
  control.gateway().journal().clear();
  return {};
}

/// The key by which a request without a scope would be sent: the one that the program gives out.
ApiKey default_key(const Control& control) { return control.gateway().keys().find("key_1"); }

ControlAnswer explain(Control& control, const ControlRequest& request) {
  const std::optional<Scope> scope = control.scope_of(request);
  const ApiKey key = scope ? control.gateway().keys().find(scope->id) : default_key(control);
  ReceivedRequest imagined;
  imagined.method = chat_completions().method;
  imagined.target = chat_completions().path;
  imagined.headers.add("Content-Type", "application/json");
  imagined.body = request.body;
  imagined.key_id = key.id;
  imagined.key_description = key.description;
  const detail::Explanation explanation = detail::explain(control.state(), imagined, key);
  Json stub;
  if (explanation.stub) {
    StubReference reference = detail::reference_to(*explanation.stub);
    control.state().keys->mask(reference.name);
    control.state().keys->mask(reference.title);
    stub = as_json(reference);
  }
  Json near_misses = Json::array();
  for (const NearMiss& near : explanation.near_misses) {
    near_misses.push_back(as_json(near));
    near_misses.back()["exchange"] = nullptr;
  }
  return {200, Json{{"decision", word_of(explanation.decision)},
                    {"stub", std::move(stub)},
                    {"near_misses", std::move(near_misses)},
                    {"message", detail::text::as_utf8(explanation.message)}}};
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
       "it forgets all; POST /reset?scope= with {\"what\": [\"journal\"]} forgets what is of a scope"},
      {"POST", "/journal/explain", {"scope"}, &explain},
      {"GET", "/journal/{exchange}", {"scope"}, &show_exchange},
      {"GET", "/journal/{exchange}/curl", {"scope"}, &curl},
      {"GET", "/journal/{exchange}/bundle", {"scope"}, &bundle},
  };
}

}  // namespace endpoint
}  // namespace mock_gateway
