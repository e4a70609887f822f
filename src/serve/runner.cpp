// Runs one exchange from record to report: `Date`, `Connection`, chunks or Content-Length, answers without a body.
// Reports faults, holds and places that were not reached, and waits that a guard ended.

#include "runner.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../answer/bodies.hpp"
#include "../answer/completion_events.hpp"
#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../core/warning.hpp"
#include "../evidence/diagnosis.hpp"
#include "../evidence/review_parts.hpp"
#include "../http/response.hpp"
#include "../model/fault_rows.hpp"
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

/// Adds the headers of the transfer, except those already set. Closes a connection that cannot be reused.
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

/// Tells the clock the date in Retry-After.
void note_date(ServedRequest& served) {
  const std::optional<std::string> field = served.answer.headers.find("Retry-After");
  if (!field) return;
  if (const std::optional<TimePoint> date = calendar::parse_http_date(*field)) served.timeline.note_date(*date);
}

void send_interim(Connection& connection, ExchangeRecord& record, const std::string& bytes) {
  if (bytes.empty() || !connection.write(bytes)) return;
  if (record.progress.log) record.progress.log->add_interim(bytes);
}

struct DeliveryEnd {
  Delivery::Result result = Delivery::Result::completed;
  /// The number of chunks of a streamed completion.
  std::size_t chunks = 0;
  /// Whether a gate was not opened, or a manual clock not advanced, in time.
  bool is_guard_spent = false;
};

/// Returns the number of scripted faults of the reply. Chaos faults follow them.
std::size_t scripted_faults(const DeliveryPlan& plan) {
  return plan.chaos.empty() ? Access::data(*plan.reply).faults.size() : plan.scripted_faults;
}

void note_chaos(ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery) {
  std::size_t fault = plan.scripted_faults;
  for (std::size_t i = 0; i < plan.chaos.size(); ++i)
    if (plan.chaos[i].fault && !delivery.reached(fault++)) record.mark_chaos_missed(i);
}

void note_script(ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery, Delivery::Result result) {
  const ReplyData& reply = Access::data(*plan.reply);
  std::vector<ExchangeRecord::ScriptedFault> faults;
  bool finish_was_sent = result == Delivery::Result::completed;
  for (std::size_t i = 0; i < scripted_faults(plan); ++i) {
    faults.push_back({reply.faults[i], delivery.reached(i)});
    if (delivery.reached(i) && faults::row_of(reply.faults[i].effect).has(EffectTraits::omits_event))
      finish_was_sent = false;
  }
  std::string unusual = finish_was_sent ? plan.unusual : std::string();
  if (plan.stream && record.progress.events > 0) {
    const bool whole = result == Delivery::Result::completed || record.progress.done;
    // If the stall guard ended the stream, a problem reports this, not a note.
    const bool has_problem = result == Delivery::Result::guard_expired;
    const std::string written = unusual_in(has_problem ? reply.sse.open_after_done(false) : reply.sse, whole);
    unusual += (unusual.empty() || written.empty() ? "" : ", ") + written;
  }
  record.mark_delivered(std::move(faults), std::move(unusual));
}

void report(JournalState& journal, const ExchangeRecord& record, Problem::Kind kind, const std::string& what) {
  std::string text = brief(record) + "  " + what;
  if (record.stub) text += "\n  reply of " + record.stub->title();
  journal.report(record, {{kind, std::move(text)}});
}

void report_missed(JournalState& journal, const ExchangeRecord& record, const DeliveryPlan& plan,
                   const Delivery& delivery, std::size_t chunks) {
  const ReplyData& reply = Access::data(*plan.reply);
  const auto ended = [&] {
    return ": the reply ended after " + std::to_string(record.progress.tokens) + " tokens and " +
           std::to_string(record.progress.events) + " events";
  };
  const auto missed_place = [&](const std::string& what) {
    report(journal, record, Problem::Kind::place_not_reached,
           what + ended() + ", " + std::to_string(record.bytes) + " bytes");
  };
  const auto too_late = [&](const Effect& effect) {
    return std::string(": the fault could not happen: every byte had been sent, and ") +
           (effect.kind() == Effect::Kind::truncate && !plan.stream ? "Content-Length was met"
                                                                    : "the connection closes anyway") +
           "; place it before the last byte";
  };
  for (std::size_t i = 0; i < scripted_faults(plan); ++i)
    if (const auto& [trigger, effect] = reply.faults[i]; !delivery.reached(i))
      report(journal, record, Problem::Kind::fault_not_reached,
             effect.to_string() + " " + trigger.to_string() + (delivery.came_too_late(i) ? too_late(effect) : ended()));
  for (std::size_t i = 0; i < reply.holds.size(); ++i)
    if (!delivery.reached_hold(i)) missed_place("hold " + reply.holds[i].place.to_string());
  for (const ExtraChunk& extra : reply.extra_chunks) {
    if (extra.number > chunks) missed_place("extra fields of chunk " + std::to_string(extra.number));
  }
  if (reply.writes.kind == Writes::Kind::split && !delivery.is_split())
    missed_place("split write after " + std::to_string(reply.writes.size) + " bytes");
}

/// Records the reached parts of the reply's script. Reports missed parts and expired guards to verify().
void report_delivery(JournalState& journal, ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery,
                     const DeliveryEnd& end) {
  note_chaos(record, plan, delivery);
  // A sweep itself reports faults that were not reached.
  if (plan.reply && !Access::data(*plan.reply).swept) {
    note_script(record, plan, delivery, end.result);
    if (end.result == Delivery::Result::completed) report_missed(journal, record, plan, delivery, end.chunks);
  }
  const auto report_guard = [&](const std::string& what) {
    report(journal, record, Problem::Kind::guard_expired, what);
  };
  const std::string exchange = "exchange " + std::to_string(record.id) + " ";
  if (end.is_guard_spent) {
    const std::string& wait = delivery.spent_guard();
    report_guard(exchange + (wait.empty() ? "read its body slowly: the manual clock was not advanced in time" : wait));
  }
  if (end.result == Delivery::Result::guard_expired) report_guard(exchange + delivery.expired_wait());
}

}  // namespace runner

struct RunningExchange::Judgement {
  Judgement(IncomingRequest&& request, std::size_t its_position)
      : incoming(std::move(request)), position(its_position) {}

  IncomingRequest incoming;
  std::size_t position;
  bool is_health_check = false;
  KeyStore::Presented presented;
  std::optional<ServedRequest> served;
};

RunningExchange::RunningExchange(GatewayState& gateway, Connection& connection)
    : gateway_(gateway), connection_(connection) {}

RunningExchange::~RunningExchange() = default;

void RunningExchange::begin(IncomingRequest incoming, std::size_t position) noexcept {
  try {
    timeline_ = std::move(incoming.timeline);
    if (!timeline_) timeline_ = std::make_unique<Timeline>(Access::state(gateway_.clock), connection_.waker());
    judgement_ = std::make_unique<Judgement>(std::move(incoming), position);
    const OnTimeline own(*timeline_);
    record_request();
  } catch (const std::exception& exception) {
    give_up(exception);
  }
}

bool RunningExchange::advance() noexcept {
  if (!judgement_ && !delivery_) return true;
  try {
    const OnTimeline own(*timeline_);
    if (judgement_ && !judge_and_publish()) return false;
    const std::optional<Delivery::Result> result = delivery_->advance();
    if (!result) {
      if (record_->bytes >= head_.size()) std::string().swap(head_);
      return false;
    }
    end(*result);
  } catch (const std::exception& exception) {
    give_up(exception);
  }
  return true;
}

// Ends the exchange after an exception, for example std::bad_alloc, which would otherwise abort the process.
void RunningExchange::give_up(const std::exception& why) noexcept {
  warn({"an exchange was given up: ", why.what()});
  judgement_.reset();
  delivery_.reset();
  give_back();
  connection_.end_exchange();
  connection_.end(Outlet::Ending::close);
  if (!is_published_) return gateway_.journal->dropped();
  const TimePoint now = gateway_.clock.now();
  if (record_->progress.log) record_->progress.log->end(SentAnswer::Ending::abandoned, now);
  gateway_.journal->end(*record_, Outcome::Kind::stopped, now);
}

bool RunningExchange::judge_and_publish() {
  const IncomingRequest& incoming = judgement_->incoming;
  ServedRequest& served = *judgement_->served;
  if (judgement_->is_health_check) {
    served.answer.body = R"({"status":"ok"})";
    add_cross_origin_headers(served);
  } else {
    if (!judge(served)) return false;
    record_->id = served.exchange;
    record_answer(served);
    gateway_.journal->add(record_);
    is_published_ = true;
  }
  // An interim response is not part of the answer. If it cannot be written, neither can the answer.
  if (incoming.fault) runner::send_interim(connection_, *record_, incoming.fault->bytes());
  runner::send_interim(connection_, *record_, served.answer.delivery.interim);
  if (incoming.is_answered_before_body() && !incoming.is_body_read_later) connection_.linger();
  connection_.begin_exchange(*record_, *timeline_, served.answer.delivery.stream ? record_->id : 0);
  const BodyFraming framing = runner::framing_of(served.answer, incoming.http_1_1);
  if (incoming.malformed || incoming.is_body_unread) connection_.linger();
  runner::add_transport_headers(served, framing);
  runner::note_date(served);
  begin_delivery(framing);
  judgement_.reset();
  return true;
}

void RunningExchange::end(Delivery::Result result) {
  const Outcome::Kind outcome = end_delivery(result);
  if (outcome == Outcome::Kind::completed || outcome == Outcome::Kind::broken_by_fault) settle_owed();
  connection_.end_exchange();
  give_back();  // before the client sees the end and may retry
  connection_.send_ending();
  if (!is_published_) return gateway_.journal->dropped();
  gateway_.journal->end(*record_, outcome, timeline_->now());
  notify();
}

void RunningExchange::record_request() {
  IncomingRequest& incoming = judgement_->incoming;
  const std::uint64_t epoch = gateway_.journal->epoch();
  record_ = share<ExchangeRecord>();
  record_->received = timeline_->at(incoming.arrived);
  judgement_->is_health_check = is_health_check(gateway_, incoming);
  const std::optional<TimePoint> counted_at =
      judgement_->is_health_check ? std::nullopt : std::optional(record_->received);
  judgement_->presented = gateway_.keys->present(
      incoming.request.headers, gateway_.settings.acceptance.has(Extension::bearer_in_any_case), counted_at);
  const KeyStore::Presented& presented = judgement_->presented;
  record_->epoch = epoch;
  record_->position = judgement_->position;
  ExchangeRecord& record = *record_;
  record.connection_id = connection_.id();
  record.sendable = connection_.request_sent_from();
  record.request = std::move(incoming.request);
  record.request.key_id = presented.key.id;
  record.request.key_description = presented.key.description;
  record.raw_head = std::move(incoming.raw_head);
  record.raw_body = std::move(incoming.raw_body);
  record.acceptance = gateway_.settings.acceptance;
  record.limits = gateway_.settings.chat_limits;
  record.tokens = gateway_.tokens;
  record.root_url = gateway_.settings.root_url;
  record.keys = gateway_.keys;
  record.leaks = redact(record.request, record.raw_head, record.raw_body, presented, *gateway_.keys);
  record.is_for_chat = gateway_.operations.is_chat(path_of(record.request));
  record.origin_is_named = named_origin(gateway_.settings, record.request).has_value();
  record.changes = gateway_.changes(record.request);
  if (incoming.fault) record.connection_fault = *incoming.fault;
  record.behind_stream = connection_.overtaken_stream();
  judgement_->served.emplace(gateway_, connection_, incoming, record.request, presented, *timeline_, answer_);
}

void RunningExchange::record_answer(ServedRequest& served) {
  ExchangeRecord& record = *record_;
  Answer& answer = served.answer;
  const auto mask = [&](std::string& text) { redact(text, served.presented, *gateway_.keys); };
  if (served.chat) {
    record.chat = true;
    record.findings = std::move(served.chat->findings);
  }
  std::move(served.findings.begin(), served.findings.end(), std::back_inserter(record.findings));
  record.decision = std::move(answer.decision);
  mask(record.decision.detail);
  record.problems = std::move(served.problems);
  for (RecordedProblem& recorded : record.problems) mask(recorded.problem.text);
  record.near_misses = std::move(served.near_misses);
  record.repeats = served.repeats;
  record.under_chaos = served.under_chaos;
  for (const ChaosRules::Hit& hit : answer.delivery.chaos) {
    record.chaos.push_back({hit.text, hit.fault.has_value(), false});
    mask(record.chaos.back().text);
  }
  record.stub = answer.stub;
  record.stub_call = answer.stub_call;
  record.status = answer.status;
  record.refusal = std::move(answer.refusal);
  record.exceeds_concurrency = answer.exceeds_concurrency;
  mask(record.refusal);
  note_answer(record, answer.error_code, answer.headers, answer.body);
  mask(record.redirect);
  const bool is_traced = answer.delivery.reply && Access::data(*answer.delivery.reply).traced;
  if (is_traced)
    record.progress.log = std::make_unique<AnswerLog>(record.received, std::nullopt);
  else if (gateway_.keeps_answers)
    record.progress.log = std::make_unique<AnswerLog>(record.received, connection_.limits().max_body);
}

void RunningExchange::begin_delivery(BodyFraming framing) {
  Answer& answer = answer_;
  if (!answer.delivery.reply) plain_ = std::make_unique<ReplyData>();
  const ReplyData& reply = plain_ ? *plain_ : Access::data(*answer.delivery.reply);
  if (answer.delivery.stream && reply.sse.gzip() && !answer.headers.has("Content-Encoding"))
    answer.headers.add("Content-Encoding", "gzip");
  Delivery& delivery = delivery_.emplace(reply, answer.delivery.pace, connection_, *timeline_,
                                         answer.delivery.start.value_or(record_->received), record_->progress);
  delivery.on_error_event([this](const Failure& failure) {
    const Completion* const stream = answer_.delivery.completion ? &*answer_.delivery.completion : nullptr;
    return error_body(failure, {gateway_.settings.profile, answer_.request_id, true, stream}, true);
  });
  delivery.stall_guard(gateway_.settings.stall_guard);
  delivery.before_last_bytes([this] {
    give_back();
    settle_owed();
  });
  if (!answer.delivery.chaos.empty() && answer.decision == Decision::Kind::stub) {
    delivery.on_fault([this, &reply](std::size_t fault) {
      if (fault >= answer_.delivery.scripted_faults) owe(reply.faults[fault].effect);
    });
  }
  std::size_t length = answer.body.size();
  if (framing == BodyFraming::content_length && !answer.headers.has("Content-Length"))
    length = delivery.announced_length(length);
  const std::string_view content_type = framing == BodyFraming::none ? "" : std::string_view(answer.content_type);
  head_ = response_head(answer.status, content_type, framing, length, answer.headers);
  if (!answer.delivery.stream) {
    const bool no_body = framing == BodyFraming::none || record_->request.method == "HEAD";
    const std::string size = std::to_string(answer.body.size());
    const bool ends_with_body = !reply.faults.empty() &&  // only faults ask for it
                                (no_body || (length <= answer.body.size() && !answer.headers.has("Transfer-Encoding") &&
                                             answer.headers.find("Content-Length").value_or(size) == size));
    if (connection_.ending() != Outlet::Ending::keep_alive) delivery.closes_at_end();
    return delivery.whole(head_, no_body ? std::string_view{} : std::string_view(answer.body),
                          answer.delivery.token_count, ends_with_body);
  }
  if (answer.delivery.completion) {
    delivery.opening_comment(answer.delivery.completion->traits().opening_comment);
    auto chunks = std::make_unique<CompletionEvents>(*answer.delivery.completion);
    chunks_ = chunks.get();
    events_ = std::move(chunks);
  } else {
    events_ = std::make_unique<ChunkEvents>(*reply.chunks);
  }
  delivery.stream(head_, *events_, framing == BodyFraming::chunked);
}

Outcome::Kind RunningExchange::end_delivery(Delivery::Result result) {
  const runner::DeliveryEnd end{result, chunks_ ? chunks_->count() : 0, timeline_->is_guard_spent()};
  if (record_->progress.log) record_->progress.log->end(SentAnswer::Ending::abandoned, timeline_->now());
  runner::report_delivery(*gateway_.journal, *record_, answer_.delivery, *delivery_, end);
  switch (result) {
    case Delivery::Result::completed: return Outcome::Kind::completed;
    case Delivery::Result::broken_by_fault: return Outcome::Kind::broken_by_fault;
    case Delivery::Result::guard_expired: return Outcome::Kind::guard_expired;
    case Delivery::Result::broken_off: break;
  }
  connection_.end(Outlet::Ending::close);
  switch (connection_.failure()) {
    case Connection::Failure::client_left:
      if (record_->progress.done && connection_.closed_after_last_bytes()) return Outcome::Kind::completed;
      break;
    case Connection::Failure::client_stalled: return Outcome::Kind::client_stalled;
    case Connection::Failure::stopped: return Outcome::Kind::stopped;
  }
  return Outcome::Kind::client_left;
}

void RunningExchange::give_back() {
  answer_.use = StubState::Use();
  answer_.tokens.reset();
  answer_.place.reset();
}

void RunningExchange::owe(const Effect& effect) {
  if (!std::exchange(is_owed_, true))
    gateway_.script->owed().add({answer_.identity, record_->stub, record_->stub_call});
  if (effect.kind() != Effect::Kind::stall) is_broken_ = true;
}

void RunningExchange::settle_owed() {
  if (!is_broken_ && std::exchange(is_owed_, false))
    gateway_.script->owed().withdraw({answer_.identity, record_->stub, record_->stub_call});
}

void RunningExchange::notify() const {
  const auto& on_exchange = gateway_.settings.on_exchange;
  if (!on_exchange) return;
  const auto call = [&] { on_exchange(Exchange(record_)); };
  const auto thrown = gateway_.settings.on_exchange_never_waits
                          ? guarded(call)
                          : guarded(connection_, "the function given to Options::on_exchange", call);
  if (thrown) warn({"the function given to Options::on_exchange threw: ", text::printable(*thrown)});
}

}  // namespace mock_gateway::detail
