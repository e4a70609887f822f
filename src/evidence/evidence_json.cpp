// The JSON of exchanges, verifications, reviews: keys, null, base64.

#include "evidence_json.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/json_reader.hpp"
#include "../core/text.hpp"
#include "../keys/key_store.hpp"
#include "../script/script.hpp"
#include "diagnosis.hpp"
#include "record.hpp"

namespace mock_gateway {
namespace detail {
namespace evidence_json {

/// Returns an object with capacity for all members, also those that the control API adds: growth would copy it.
Json preallocated_object() {
  Json object = Json::object();
  object.get_ref<Json::object_t&>().reserve(24);
  return object;
}

void put(Json& object, const char* key, Json value) { object[key] = std::move(value); }

/// Adds a text, made valid UTF-8 so that dump() can write it.
void put_text(Json& object, const char* key, std::string_view text) { put(object, key, text::as_utf8(text)); }

/// Adds a text; null if it is empty.
void put_if_any(Json& object, const char* key, std::string_view text) {
  put(object, key, text.empty() ? Json() : Json(text::as_utf8(text)));
}

Json texts(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& text : texts) all.push_back(text::as_utf8(text));
  return all;
}

/// Returns a list of the items' as_json().
template <class Items>
Json list_of(const Items& items) {
  Json all = Json::array();
  for (const auto& item : items) all.push_back(as_json(item));
  return all;
}

Json moment(const std::optional<TimePoint>& at) { return at ? Json(calendar::rfc3339_milliseconds(*at)) : Json(); }

/// Returns milliseconds with at most three decimals.
Json milliseconds(Duration duration) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return static_cast<double>(microseconds) / 1000;
}

Json milliseconds_until(const std::optional<TimePoint>& end, TimePoint begin) {
  return end ? milliseconds(*end - begin) : Json();
}

/// Returns an object with one key for the encoding of the bytes, `text` or `base64`; null if there are none.
Json of_bytes(std::string_view bytes) {
  if (bytes.empty()) return {};
  Json object;
  if (text::is_valid_utf8(bytes))
    put(object, "text", std::string(bytes));
  else
    put(object, "base64", text::base64(bytes));
  return object;
}

/// Like of_bytes(), but has the key `json` for JSON. Duplicate keys need `text`, because a JSON value would lose one.
Json of_body(const std::string& body) {
  if (body.empty()) return {};
  std::vector<JsonDuplicate> duplicates;
  JsonReadOptions options;
  options.duplicates = &duplicates;
  try {
    Json value = read_json(body, options);
    if (!duplicates.empty()) return of_bytes(body);
    Json object;
    put(object, "json", std::move(value));
    return object;
  } catch (const JsonError&) {
    return of_bytes(body);
  }
}

void put_place(Json& object, const SourceLocation& where) {
  put_if_any(object, "file", where.file);
  put(object, "line", where.line == 0 ? Json() : Json(where.line));
}

void put_stub(Json& object, const StubReference& stub) {
  put(object, "id", stub.id);
  put_if_any(object, "name", stub.name);
  put_text(object, "title", stub.title);
  put_place(object, stub.where);
}

Json of_verified(const VerifiedStub& verified) {
  Json object;
  put_stub(object, verified.stub);
  put(object, "calls", verified.calls);
  put_if_any(object, "expected", verified.expected ? verified.expected->to_string() : std::string());
  put(object, "should", verified.has_should);
  put(object, "met", verified.met);
  return object;
}

Json of_departure(const Departure& departure) {
  Json object = preallocated_object();
  put(object, "how", to_string(departure.how));
  put(object, "at", moment(departure.at));
  put(object, "events", departure.events);
  put(object, "tokens", departure.tokens);
  put(object, "bytes", departure.bytes);
  put(object, "delivered", departure.delivered);
  put(object, "after_last_write_ms", milliseconds(departure.after_last_write));
  return object;
}

/// A consistent snapshot of the fields of an exchange that change.
struct Progress {
  explicit Progress(const ExchangeRecord& record) {
    const std::lock_guard<std::mutex> lock(record.signal->mutex);
    outcome = journal::outcome_of(record);
    first_byte = record.first_byte;
    ended = record.ended;
    departure = record.departure;
  }

  Outcome outcome;
  std::optional<TimePoint> first_byte;
  std::optional<TimePoint> ended;
  std::optional<Departure> departure;
};

/// Masks keys in the names and descriptions that the test chose. No other code masks these texts.
std::string masked(const ExchangeRecord& record, std::string text) {
  if (record.keys) record.keys->mask(text);
  return text;
}

Json connection_of(const Exchange& exchange) {
  const std::optional<ConnectionFault>& fault = exchange.connection_fault();
  Json object;
  put(object, "id", exchange.connection_id());
  put(object, "position", exchange.position());
  put_if_any(object, "fault", fault ? fault->to_string() : std::string());
  return object;
}

/// Returns a list of [name, value] pairs.
Json of_headers(const wire::Headers& headers) {
  Json list = Json::array();
  for (const wire::Header& header : headers)
    list.push_back(Json::array({text::as_utf8(header.name), text::as_utf8(header.value)}));
  return list;
}

/// The maximum number of bytes that the JSON of an answer contains.
inline constexpr std::size_t max_shown_bytes = std::size_t{1} << 20;

Json parts_of(const SentAnswer& answer) {
  Json parts = Json::array();
  std::size_t room = max_shown_bytes;
  for (const SentAnswer::Part& part : answer.parts) {
    if (part.bytes.size() > room) break;
    room -= part.bytes.size();
    Json object;
    put(object, "at_ms", milliseconds(part.at));
    put(object, "until_ms", milliseconds(part.until));
    put(object, "bytes", part.bytes.size());
    const Json shown = of_bytes(part.bytes);
    for (const auto& [key, value] : shown.items()) put(object, key.c_str(), value);
    parts.push_back(std::move(object));
  }
  return parts;
}

Json interim_of(const SentAnswer& answer) {
  Json list = Json::array();
  for (const SentAnswer::Interim& one : answer.interim) {
    Json object;
    put(object, "status", one.status);
    put(object, "headers", of_headers(one.headers));
    list.push_back(std::move(object));
  }
  return list;
}

Json request_of(const Exchange& exchange) {
  const ReceivedRequest& request = exchange.request();
  Json object = preallocated_object();
  put_text(object, "method", request.method);
  put_text(object, "target", request.target);
  put_text(object, "path", request.path());
  put(object, "headers", of_headers(request.headers));
  put(object, "body", of_body(request.body));
  // A malformed request has neither method nor target, only bytes.
  const bool is_malformed = exchange.decision() == Decision::Kind::malformed;
  put(object, "raw", is_malformed ? of_bytes(exchange.raw()) : Json());
  return object;
}

Json key_of(const ExchangeRecord& record) {
  if (record.request.key_id.empty()) return {};
  Json object;
  put_text(object, "id", record.request.key_id);
  put_text(object, "description", masked(record, record.request.key_description));
  return object;
}

Json decision_of(const ExchangeRecord& record) {
  Json object;
  put(object, "kind", to_string(record.decision.kind));
  put_if_any(object, "detail", record.decision.detail);
  put_if_any(object, "refusal", record.refusal);
  return object;
}

Json stub_of(const ExchangeRecord& record) {
  if (!record.stub) return {};
  StubReference stub = reference_to(*record.stub);
  stub.name = masked(record, std::move(stub.name));
  stub.title = masked(record, std::move(stub.title));
  return as_json(stub);
}

Json sent_of(const Exchange& exchange) {
  Json object;
  put(object, "events", exchange.events_sent());
  put(object, "tokens", exchange.tokens_sent());
  put(object, "bytes", exchange.bytes_sent());
  return object;
}

}  // namespace evidence_json
}  // namespace detail

Json as_json(const Exchange& exchange) {
  namespace evidence = detail::evidence_json;
  const detail::ExchangeRecord& record = detail::Access::record(exchange);
  // Take the snapshot first: if it shows an ended exchange, all values read after it are final.
  const evidence::Progress now(record);
  Json object = evidence::preallocated_object();
  evidence::put(object, "id", exchange.id());
  evidence::put(object, "connection", evidence::connection_of(exchange));
  evidence::put(object, "received", evidence::moment(exchange.received()));
  evidence::put(object, "first_byte", evidence::moment(now.first_byte));
  evidence::put(object, "ended", evidence::moment(now.ended));
  evidence::put(object, "first_byte_ms", evidence::milliseconds_until(now.first_byte, exchange.received()));
  evidence::put(object, "ended_ms", evidence::milliseconds_until(now.ended, exchange.received()));
  evidence::put(object, "request", evidence::request_of(exchange));
  evidence::put(object, "key", evidence::key_of(record));
  evidence::put(object, "decision", evidence::decision_of(record));
  evidence::put(object, "stub", evidence::stub_of(record));
  evidence::put(object, "near_misses", evidence::list_of(exchange.near_misses()));
  const int status = exchange.status();
  evidence::put(object, "status", status == 0 ? Json() : Json(status));
  evidence::put(object, "outcome", to_string(now.outcome.kind));
  evidence::put_if_any(object, "waiting", evidence::masked(record, now.outcome.waiting));
  evidence::put(object, "sent", evidence::sent_of(exchange));
  evidence::put(object, "departure", now.departure ? evidence::of_departure(*now.departure) : Json());
  evidence::put(object, "faults", evidence::texts(exchange.faults()));
  evidence::put(object, "chaos", evidence::texts(exchange.chaos()));
  evidence::put(object, "guard_expired", exchange.guard_expired());
  return object;
}

Json as_json(const SentAnswer& answer) {
  namespace evidence = detail::evidence_json;
  const std::string body = answer.body();
  const bool is_long = body.size() > evidence::max_shown_bytes;
  // Do not cut inside a character: the text would no longer be UTF-8.
  std::size_t end = is_long ? evidence::max_shown_bytes : body.size();
  for (int back = 0; is_long && back < 3 && (static_cast<unsigned char>(body[end]) & 0xc0) == 0x80; ++back) --end;
  Json object = evidence::preallocated_object();
  evidence::put(object, "status", answer.status == 0 ? Json() : Json(answer.status));
  evidence::put(object, "headers", evidence::of_headers(answer.headers));
  evidence::put(object, "head_at_ms", evidence::milliseconds(answer.head_at));
  evidence::put(object, "interim", evidence::interim_of(answer));
  evidence::put(object, "body",
                answer.is_streamed || is_long ? evidence::of_bytes(std::string_view(body).substr(0, end))
                                              : evidence::of_body(body));
  evidence::put(object, "left_out", body.size() - end);
  evidence::put(object, "garbage", evidence::of_bytes(answer.garbage));
  evidence::put(object, "streamed", answer.is_streamed);
  evidence::put(object, "parts", answer.is_streamed ? evidence::parts_of(answer) : Json::array());
  evidence::put(object, "ending", to_string(answer.ending));
  evidence::put(object, "ended_at_ms", evidence::milliseconds(answer.ended_at));
  evidence::put(object, "is_cut", answer.is_cut);
  evidence::put(object, "has_masked_key", answer.has_masked_key);
  return object;
}

Json as_json(const Problem& problem) {
  namespace evidence = detail::evidence_json;
  Json object = evidence::preallocated_object();
  evidence::put(object, "kind", to_string(problem.kind));
  evidence::put_text(object, "message", problem.text);
  evidence::put(object, "exchanges", problem.exchanges);
  evidence::put(object, "stub", as_json(problem.stub));
  evidence::put_place(object, problem.where);
  evidence::put(object, "near_misses", evidence::list_of(problem.near_misses));
  return object;
}

Json as_json(const Verification& verification) {
  namespace evidence = detail::evidence_json;
  Json stubs = Json::array();
  for (const VerifiedStub& verified : verification.stubs()) stubs.push_back(evidence::of_verified(verified));
  Json object = evidence::preallocated_object();
  evidence::put(object, "ok", verification.problems().empty());
  evidence::put(object, "problems", evidence::list_of(verification.problems()));
  evidence::put(object, "stubs", std::move(stubs));
  evidence::put(object, "notes", evidence::texts(verification.notes()));
  evidence::put(object, "evicted", verification.evicted());
  evidence::put(object, "open", verification.open());
  evidence::put_text(object, "message", verification.message());
  return object;
}

Json as_json(const Finding& finding) {
  namespace evidence = detail::evidence_json;
  Json object;
  evidence::put_text(object, "code", finding.code);
  evidence::put(object, "severity", to_string(finding.severity));
  evidence::put(object, "fails_review", finding.fails_review);
  evidence::put_text(object, "message", finding.message);
  evidence::put(object, "exchanges", finding.exchanges);
  return object;
}

Json as_json(const StubReference& stub) {
  if (stub.id == 0) return {};
  Json object;
  detail::evidence_json::put_stub(object, stub);
  return object;
}

Json as_json(const NearMiss& miss) {
  namespace evidence = detail::evidence_json;
  Json conditions = Json::array();
  for (const NearMiss::Condition& condition : miss.conditions) {
    Json object;
    evidence::put(object, "holds", condition.holds ? Json(*condition.holds) : Json());
    evidence::put(object, "depth", condition.depth);
    evidence::put_text(object, "expected", condition.expected);
    evidence::put_if_any(object, "actual", condition.actual);
    conditions.push_back(std::move(object));
  }
  Json object = evidence::preallocated_object();
  evidence::put(object, "exchange", miss.exchange);
  evidence::put(object, "stub", as_json(miss.stub));
  evidence::put(object, "matched", miss.matched);
  evidence::put(object, "total", miss.total);
  evidence::put_if_any(object, "passed_over", miss.passed_over);
  evidence::put(object, "conditions", std::move(conditions));
  return object;
}

Json as_json(const Review& review) {
  namespace evidence = detail::evidence_json;
  Json object = evidence::preallocated_object();
  evidence::put(object, "ok", static_cast<bool>(review));
  evidence::put(object, "findings", evidence::list_of(review.findings()));
  evidence::put(object, "judged", review.judged());
  evidence::put(object, "evicted", review.evicted());
  evidence::put(object, "open", review.open());
  evidence::put_if_any(object, "chaos", review.chaos());
  evidence::put_text(object, "message", review.message());
  return object;
}

}  // namespace mock_gateway
