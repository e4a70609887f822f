// One exchange from record to report; `Date`, `Connection`, chunks or Content-Length; HEAD and statuses without a
// body.

#include "runner.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../answer/completion_events.hpp"
#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../core/warning.hpp"
#include "../evidence/diagnosis.hpp"
#include "../evidence/redaction.hpp"
#include "../evidence/review_parts.hpp"
#include "../http/response.hpp"
#include "../model/reply_data.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {
namespace runner {

bool has_body(int status) { return status != 204 && status != 304; }

BodyFraming framing_of(const Answer& answer, bool http_1_1) {
  if (!has_body(answer.status)) return BodyFraming::none;
  if (!answer.delivery.stream) return BodyFraming::content_length;
  return http_1_1 ? BodyFraming::chunked : BodyFraming::until_close;
}

/// Adds the headers that follow from how the answer travels, except those that it has already. Ends the connection
/// after the answer, where it cannot be used again.
void add_transport_headers(ServedRequest& served, BodyFraming framing) {
  const IncomingRequest& incoming = served.incoming;
  wire::Headers& headers = served.answer.headers;
  const bool keep_alive =
      incoming.keep_alive && framing != BodyFraming::until_close && !headers.lists("Connection", "close");
  if (!keep_alive) served.connection.end(Outlet::Ending::close);
  if (!headers.has("Date")) headers.add("Date", calendar::http_date(served.timeline.now()));
  if (!headers.has("Connection")) {
    if (!keep_alive) headers.add("Connection", "close");
    if (keep_alive && !incoming.http_1_1) headers.add("Connection", "keep-alive");
  }
}

/// Lets the clock know of a date until which the client is to wait.
void note_date(ServedRequest& served) {
  const std::optional<std::string> field = served.answer.headers.find("Retry-After");
  if (!field) return;
  if (const std::optional<TimePoint> date = calendar::parse_http_date(*field)) served.timeline.note_date(*date);
}

void send_interim(Connection& connection, ExchangeRecord& record, const std::string& bytes) {
  if (bytes.empty() || !connection.write(bytes)) return;
  if (record.progress.kept) record.progress.kept->add_interim(bytes);
}

/// Sends head and body.
DeliveryEnd send(Delivery& delivery, const ServedRequest& served, BodyFraming framing, const std::string& head) {
  const Answer& answer = served.answer;
  const bool chunked = framing == BodyFraming::chunked;
  DeliveryEnd end;
  if (answer.delivery.completion) {
    CompletionEvents events(*answer.delivery.completion);
    end.result = delivery.stream(head, events, chunked);
    end.chunks = events.count();
  } else if (answer.delivery.stream) {
    ChunkEvents events(*Access::data(*answer.delivery.reply).chunks);
    end.result = delivery.stream(head, events, chunked);
  } else {
    const bool no_body = framing == BodyFraming::none || served.request.method == "HEAD";
    end.result =
        delivery.whole(head, no_body ? std::string_view{} : std::string_view(answer.body), answer.delivery.token_count);
  }
  end.is_guard_spent = served.timeline.is_guard_spent();
  return end;
}

}  // namespace runner

void Runner::run(Connection& connection, IncomingRequest incoming, std::size_t position) noexcept {
  std::shared_ptr<ExchangeRecord> published;
  try {
    exchange(connection, incoming, position, published);
  } catch (const std::exception& exception) {
    // Out of memory, say. Nothing thrown may leave the connection's thread, which would abort the process.
    warn({"an exchange was given up: ", exception.what()});
    connection.end_exchange();
    connection.end(Outlet::Ending::close);
    if (published && published->progress.kept)
      published->progress.kept->end(KeptAnswer::Ending::abandoned, gateway_.clock.now());
    if (published)
      gateway_.journal->end(*published, Outcome::Kind::stopped, gateway_.clock.now());
    else
      gateway_.journal->dropped();
  }
}

void Runner::exchange(Connection& connection, IncomingRequest& incoming, std::size_t position,
                      std::shared_ptr<ExchangeRecord>& published) {
  const std::uint64_t epoch = gateway_.journal->epoch();
  if (!incoming.timeline)
    incoming.timeline = std::make_unique<Timeline>(Access::state(gateway_.clock), connection.waker());
  Timeline& timeline = *incoming.timeline;
  const auto record = share<ExchangeRecord>();
  record->received = timeline.at(incoming.arrived);
  const KeyStore::Presented presented = gateway_.keys->present(
      incoming.request.headers, gateway_.settings.acceptance.bearer_in_any_case(), record->received);
  record->epoch = epoch;
  record->position = position;
  record_request(*record, connection, incoming, presented);
  ServedRequest served(gateway_, connection, incoming, record->request, presented, timeline);
  judge(served);
  record->id = served.exchange;
  record_answer(*record, served);
  Answer& answer = served.answer;

  gateway_.journal->add(record);
  published = record;
  // An interim response is no part of the answer. When it cannot be written, neither can the answer.
  if (incoming.fault) runner::send_interim(connection, *record, incoming.fault->bytes());
  runner::send_interim(connection, *record, answer.delivery.interim);
  if (incoming.is_answered_before_body() && !incoming.is_body_read_later) connection.linger();
  connection.begin_exchange(*record, timeline, answer.delivery.stream);
  const Outcome::Kind outcome = deliver(served, *record);
  connection.end_exchange();
  answer.use = StubState::Use();  // before the client can see the end, and try again
  connection.send_ending();
  gateway_.journal->end(*record, outcome, timeline.now());
  notify(connection, record);
}

void Runner::record_request(ExchangeRecord& record, const Connection& connection, IncomingRequest& incoming,
                            const KeyStore::Presented& presented) const {
  record.connection_id = connection.id();
  record.sendable = connection.request_sent_from();
  record.request = std::move(incoming.request);
  record.request.key_id = presented.key.id;
  record.request.key_description = presented.key.description;
  record.raw_head = std::move(incoming.raw_head);
  record.raw_body = std::move(incoming.raw_body);
  record.acceptance = gateway_.settings.acceptance;
  record.limits = gateway_.settings.chat_limits;
  record.root_url = gateway_.settings.root_url;
  record.keys = gateway_.keys;
  record.leaks = redact(record.request, record.raw_head, record.raw_body, presented, *gateway_.keys);
  record.origin_is_named = named_origin(gateway_.settings, record.request).has_value();
  record.changes = gateway_.changes(record.request);
  record.connection_fault = incoming.fault;
  record.behind_stream = connection.overtaken_stream();
  if (gateway_.keeps_event_times) record.progress.times = std::make_unique<EventTimes>(record.received);
  if (gateway_.keeps_answers)
    record.progress.kept = std::make_unique<KeptAnswer>(record.received, connection.limits().max_body);
}

void Runner::record_answer(ExchangeRecord& record, ServedRequest& served) const {
  Answer& answer = served.answer;
  const auto mask = [&](std::string& text) { redact(text, served.presented, *gateway_.keys); };
  if (served.chat) {
    record.chat = true;
    record.findings = std::move(served.chat->findings);
  }
  std::move(served.findings.begin(), served.findings.end(), std::back_inserter(record.findings));
  record.decision = answer.decision;
  mask(record.decision.detail);
  record.problems = std::move(served.problems);
  for (RecordedProblem& recorded : record.problems) mask(recorded.problem.text);
  record.near_misses = std::move(served.near_misses);
  record.under_chaos = served.under_chaos;
  for (const ChaosRules::Hit& hit : answer.delivery.chaos) {
    record.chaos.push_back({hit.text, hit.fault.has_value(), false});
    mask(record.chaos.back().text);
  }
  record.stub = answer.stub;
  record.status = answer.status;
  record.refusal = std::move(answer.refusal);
  mask(record.refusal);
  note_answer(record, answer.error_code, answer.headers);
}

Outcome::Kind Runner::deliver(ServedRequest& served, ExchangeRecord& record) const {
  Connection& connection = served.connection;
  const IncomingRequest& incoming = served.incoming;
  Answer& answer = served.answer;
  const BodyFraming framing = runner::framing_of(answer, incoming.http_1_1);
  if (incoming.malformed || incoming.is_body_unread) connection.linger();
  runner::add_transport_headers(served, framing);
  runner::note_date(served);
  const ReplyData plain;
  const ReplyData& reply = answer.delivery.reply ? Access::data(*answer.delivery.reply) : plain;
  if (answer.delivery.stream && reply.sse.gzip() && !answer.headers.has("Content-Encoding"))
    answer.headers.add("Content-Encoding", "gzip");
  Delivery delivery(reply, std::move(answer.delivery.pace), connection, served.timeline,
                    answer.delivery.start.value_or(record.received), record.progress);
  delivery.profile(gateway_.settings.profile);
  delivery.stall_guard(gateway_.settings.stall_guard);
  delivery.before_last_bytes([&answer] { answer.use = StubState::Use(); });
  std::size_t length = answer.body.size();
  if (framing == BodyFraming::content_length && !answer.headers.has("Content-Length"))
    length = delivery.announced_length(length);
  const std::string_view content_type = framing == BodyFraming::none ? "" : std::string_view(answer.content_type);
  const std::string head = response_head(answer.status, content_type, framing, length, answer.headers);
  const DeliveryEnd end = runner::send(delivery, served, framing, head);
  if (record.progress.kept) record.progress.kept->end(KeptAnswer::Ending::abandoned, served.timeline.now());
  report_delivery(*gateway_.journal, record, answer.delivery, delivery, end);
  switch (end.result) {
    case Delivery::Result::completed: return Outcome::Kind::completed;
    case Delivery::Result::broken_by_fault: return Outcome::Kind::broken_by_fault;
    case Delivery::Result::guard_expired: return Outcome::Kind::guard_expired;
    case Delivery::Result::broken_off: break;
  }
  connection.end(Outlet::Ending::close);
  return connection.failure();
}

void Runner::notify(Connection& connection, const std::shared_ptr<ExchangeRecord>& record) const {
  const auto& on_exchange = gateway_.settings.on_exchange;
  if (!on_exchange) return;
  const auto call = [&] { on_exchange(Exchange(record)); };
  const auto thrown = gateway_.settings.on_exchange_never_waits
                          ? guarded(call)
                          : guarded(connection, "the function given to Options::on_exchange", call);
  if (thrown) warn({"the function given to Options::on_exchange threw: ", text::printable(*thrown)});
}

}  // namespace mock_gateway::detail
