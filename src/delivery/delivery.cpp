// The stages of an answer and their steps: when events are sent, and where faults apply.

#include "delivery.hpp"

#include <algorithm>
#include <limits>

#include "../answer/bodies.hpp"
#include "../core/access.hpp"
#include "../core/text.hpp"
#include "../model/fault_rows.hpp"

namespace mock_gateway::detail {
namespace delivery {

/// Returns the offset after the first byte of the first multibyte character, or 0 if all characters are ASCII.
std::size_t inside_first_long_character(std::string_view bytes) {
  for (std::size_t offset = 0; offset < bytes.size();) {
    const std::size_t length = text::next_code_point(bytes, offset);
    if (length > 1) return offset + 1;
    offset += length;
  }
  return 0;
}

}  // namespace delivery

Delivery::Delivery(const ReplyData& plan, PaceSchedule& pace, Outlet& outlet, Timeline& timeline, TimePoint start,
                   DeliveryProgress& progress)
    : plan_(plan),
      pace_(pace),
      outlet_(outlet),
      timeline_(timeline),
      start_(start),
      external_wait_ended_(timeline.now()),
      progress_(progress),
      reached_(plan.faults.size()),
      reached_holds_(plan.holds.size()),
      writes_(plan.writes, outlet, timeline, progress) {}

Delivery::~Delivery() = default;

std::size_t Delivery::announced_length(std::size_t size) {
  auto length = static_cast<std::int64_t>(size);
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Effect& effect = plan_.faults[i].effect;
    if (effect.kind() != Effect::Kind::wrong_content_length) continue;
    mark_reached(i);
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    length = effect.difference() > most - length ? most : std::max<std::int64_t>(0, length + effect.difference());
  }
  return static_cast<std::size_t>(length);
}

void Delivery::whole(std::string_view head, std::string_view body, std::size_t token_count, bool ends_with_body) {
  ends_with_body_ = ends_with_body;
  head_ = head;
  body_ = body;
  token_count_ = token_count;
}

void Delivery::stream(std::string_view head, EventSource& source, bool chunked) {
  head_ = head;
  source_ = &source;
  chunked_ = chunked;
}

// --- State machine ---

std::optional<Delivery::Result> Delivery::advance() {
  while (!result_) {
    Outlet::WaitState state = writes_.hand_over();
    if (state == Outlet::WaitState::done) {
      note_external_wait_end();
      state = advance_one_step();
    }
    if (state == Outlet::WaitState::not_yet) {
      if (!waits_for_moment()) is_held_up_ = true;
      progress_.awaits_client = writes_.has_writes() || !is_noted_;
      if (writes_.shrink() && on_fast_path_) framing_->shrink();  // frees memory, because thousands may wait
      return std::nullopt;
    }
    note_external_wait_end();
    if (state == Outlet::WaitState::given_up) break_off();
  }
  return result_;
}

Outlet::WaitState Delivery::advance_one_step() {
  insert_at_ = steps_.size();
  if (steps_.empty()) {
    begin_stage();
    return Outlet::WaitState::done;
  }
  Step& next = steps_.back();
  switch (next.kind) {
    case Kind::moment: return check_moment(next);
    case Kind::gate: return check_gate(next);
    case Kind::await_delivery:
    case Kind::await_last_bytes: {
      const Outlet::WaitState state =
          next.kind == Kind::await_delivery ? outlet_.check_delivery() : outlet_.check_last_bytes();
      if (state == Outlet::WaitState::done) steps_.pop_back();
      return state;
    }
    default: perform(take_step()); return Outlet::WaitState::done;
  }
}

void Delivery::begin_stage() {
  switch (next_stage_) {
    case Stage::head:
      next_stage_ = source_ ? Stage::stream : Stage::body;
      add_strike(Trigger::Kind::before_headers, 0);
      if (!source_) wait_for_whole();
      return add({Kind::head});
    case Stage::body:
      next_stage_ = Stage::at_end;
      add_strike(Trigger::Kind::after_headers, 0);
      add({Kind::body, 0, body_});
      if (!body_.empty()) add({Kind::strike_at_byte});
      return;
    case Stage::stream:
      next_stage_ = Stage::events;
      begin_stream();
      add_strike(Trigger::Kind::after_headers, 0);
      add({Kind::byte_order_mark});
      if (!opening_comment_.empty()) add({Kind::between, 0, opening_comment_});
      return;
    case Stage::events: return send_events();
    case Stage::done:
      next_stage_ = Stage::at_end;
      add_strike(Trigger::Kind::before_done, 0);
      if (!plan_.sse.done()) return;
      add({Kind::done_follows});
      add_event_after_source("[DONE]", plan_.sse.after_done().empty());
      if (!plan_.sse.after_done().empty()) add_event_after_source(plan_.sse.after_done(), true);
      return;
    case Stage::at_end:
      next_stage_ = Stage::end;
      if (!source_) {
        sent_.tokens = token_count_;
        writes_.mark(sent_);
        nothing_follows_ = true;
      }
      if (progress_.log) progress_.log->end_body();
      return strike_now(Trigger::Kind::at_end, 0);
    case Stage::end:
      next_stage_ = Stage::await_last_bytes;
      if (source_) announce_last_bytes();
      return end_body();
    case Stage::await_last_bytes: next_stage_ = Stage::finished; return add({Kind::await_last_bytes});
    case Stage::finished: result_ = Result::completed;
  }
}

void Delivery::perform(const Step& step) {
  switch (step.kind) {
    case Kind::head:
      log(AnswerLog::Kind::head, head_, head_);
      writes_.reserve(head_.size() + body_.size());
      writes_.send(head_);
      if (source_) writes_.end_part();
      return;
    case Kind::byte_order_mark:
      if (!plan_.sse.byte_order_mark() || std::exchange(sent_.byte_order_mark, true)) return;
      return add({Kind::between, 0, "\xEF\xBB\xBF"});
    case Kind::body: return send_body(step.bytes, step.number);
    case Kind::part: return send_part(step.bytes, step.number, step.missing);
    case Kind::rest: return send_rest(step.bytes, step.number);
    case Kind::between: send_body(step.bytes, 0); return add({Kind::between_sent});
    case Kind::between_sent: writes_.end_part(); return strike_now(Trigger::Kind::after_bytes, body_bytes_);
    case Kind::this_event:
      if (on_fast_path_) return send_on_fast_path();
      if (event_.raw) writes_.flush_before_wait();  // a raw event has its own write
      send_event(event_, looks_ahead_ && !*follows_);
      add_strike(Trigger::Kind::after_events, events_);
      if (event_.token) add_strike(Trigger::Kind::after_tokens, tokens_);
      if (event_.raw) add({Kind::flush_before_wait});
      return;
    case Kind::event: return send_event(*step.event, step.is_last);
    case Kind::copy:
      send_body(step.event->raw    ? std::string_view(step.event->data)
                : step.event->meta ? framing_->meta_event(step.event->data, step.is_last)
                                   : framing_->event(step.event->data, events_, step.is_last),
                events_);
      return add_event(Kind::copy_sent, *step.event, step.is_last);
    case Kind::copy_sent: return note_copy(*step.event, step.is_last);
    case Kind::done_follows:
      if (progress_.log) progress_.log->done_follows(events_ + 1);
      return;
    case Kind::event_after_source:
      extra_.data = step.bytes;
      add_holds(HoldPoint::Kind::event, ++events_);
      add({Kind::announce_last_bytes});
      add_event(Kind::event, extra_, step.is_last);
      return add_strike(Trigger::Kind::after_events, events_);
    case Kind::error_event: return send_error(plan_.faults[step.number].effect);
    case Kind::done_after_error:
      ++events_;
      extra_.data = "[DONE]";
      return send_event(extra_, true);
    case Kind::line_end:
      if (sent_.unfinished) send_body(plan_.sse.line_end(), 0);
      return;
    case Kind::end_of_body: return end_body();
    case Kind::open_stream:
      return wait_for_client_to_leave({ScriptedWait::Kind::open_stream, sent_.done ? "after [DONE]" : "at the end"},
                                      "a stream left open");
    case Kind::all_handed_over:
      if (progress_.log) progress_.log->handed_over(writes_.written(), timeline_.now());
      return;
    case Kind::flush_before_wait: return writes_.flush_before_wait();
    case Kind::announce_last_bytes: return announce_last_bytes();

    case Kind::strike: return strike_now(step.trigger, step.count, step.number);
    case Kind::strike_at_byte: return strike_now(Trigger::Kind::after_bytes, body_bytes_);
    case Kind::fault_inside: inside_event_ = true; return strike_one(step.number);
    case Kind::after_inside: inside_event_ = false; return;
    case Kind::happen: return happen(step.number);

    case Kind::hold: return hold_at(step.number);
    case Kind::noted_wait_over:
    case Kind::client_left: return end_noted();
    case Kind::done_left:
      if (!progress_.done || outlet_.has_left()) return;
      progress_.done_at = std::chrono::steady_clock::time_point::max();
      add({Kind::await_delivery});
      return add({Kind::done_delivered});
    case Kind::done_delivered: progress_.done_at = std::chrono::steady_clock::now(); return;
    case Kind::moment:
    case Kind::gate:
    case Kind::await_delivery:
    case Kind::await_last_bytes: return;  // handled by advance_one_step()

    case Kind::half_closed:
      outlet_.end_sending();
      framing_.reset();  // nothing can be sent any more
      return wait_for_client_to_leave(
          {ScriptedWait::Kind::half_close, faults::place_of(plan_.faults[step.number].trigger)},
          "a half-closed connection");
    case Kind::close_when_delivered: return end_connection(Outlet::Ending::close);
    case Kind::close: return outlet_.end(Outlet::Ending::close);
    case Kind::reset: return outlet_.end(Outlet::Ending::reset);
    case Kind::end_by_fault: return end(Result::broken_by_fault);
  }
}

void Delivery::add(Step step) {
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(insert_at_), std::move(step));
}

void Delivery::add_event(Kind kind, const StreamEvent& event, bool is_last) {
  Step step{kind};
  step.event = &event;
  step.is_last = is_last;
  add(std::move(step));
}

void Delivery::add_event_after_source(std::string_view data, bool is_last) {
  Step step{Kind::event_after_source, 0, data};
  step.is_last = is_last;
  add(std::move(step));
}

Delivery::Step Delivery::take_step() {
  Step step = std::move(steps_.back());
  steps_.pop_back();
  insert_at_ = steps_.size();
  return step;
}

void Delivery::end(Result result) {
  steps_.clear();
  insert_at_ = 0;
  if (is_noted_) end_noted();
  result_ = result;
}

void Delivery::break_off() {
  writes_.forget();
  while (!steps_.empty() && steps_.back().kind != Kind::client_left) steps_.pop_back();
  if (steps_.empty()) end(Result::broken_off);  // otherwise the client left as scripted
}

void Delivery::note_external_wait_end() {
  if (std::exchange(is_held_up_, false)) external_wait_ended_ = timeline_.now();
}

bool Delivery::waits_for_moment() const {
  return !writes_.has_writes() && steps_.back().kind == Kind::moment && steps_.back().moment != TimePoint::max();
}

// --- Output, from the whole to its parts ---

void Delivery::wait_for_whole() {
  for (std::size_t i = 0; i < plan_.holds.size(); ++i)
    if (const HoldPoint& place = plan_.holds[i].place;
        place.kind() == HoldPoint::Kind::event || place.number() <= token_count_)
      add({Kind::hold, i});
  if (const TimePoint due = later(start_, pace_.last(token_count_)); due != start_)
    add_wait_until(due, "the whole reply");
}

void Delivery::begin_stream() {
  framing_.emplace(plan_.sse, chunked_, plan_.http_chunk, plan_.first_http_chunk);
  writes_.stream();
  if (progress_.log) progress_.log->stream();
  plan_pings();
  on_fast_path_ = framing_->is_plain() && plan_.faults.empty() && !progress_.log;
  // Without `[DONE]`, the source's last event is the one without a blank line. Looking ahead finds it.
  looks_ahead_ = !plan_.sse.done() && !plan_.sse.final_blank_line();
}

void Delivery::send_events() {
  while (!writes_.has_writes()) {
    if (!take_event()) {
      next_stage_ = Stage::done;
      return;
    }
    ++events_;
    if (event_.token) ++tokens_;
    const TimePoint due = this->due();
    const bool waits = due != start_ && (timeline_.now() < due || ping_comes_by(due));
    if (on_fast_path_ && !waits && plan_.holds.empty()) {
      if (due != start_) note_lateness(due);
      send_on_fast_path();
      continue;
    }
    add_holds(HoldPoint::Kind::event, events_);
    if (event_.token) add_holds(HoldPoint::Kind::token, tokens_);
    if (due != start_) add_wait_until(due, {});
    return add({Kind::this_event});
  }
}

bool Delivery::take_event() {
  if (follows_) std::swap(event_, following_);
  const bool is_taken = follows_ ? *follows_ : source_->next(event_);
  if (is_taken && looks_ahead_) follows_ = source_->next(following_);
  return is_taken;
}

TimePoint Delivery::due() {
  TimePoint due = start_;
  if (event_.token) due = later(start_, pace_.next(event_.share));
  if (event_.at) due = later(start_, *event_.at);
  return due;
}

std::string Delivery::event_name() const {
  return event_.token ? "token " + std::to_string(tokens_) : "event " + std::to_string(events_);
}

void Delivery::send_on_fast_path() {
  if (event_.raw) writes_.flush_before_wait();  // a raw event has its own write, so flush before and after
  writes_.send(event_.raw    ? framing_->wrap(event_.data)
               : event_.meta ? framing_->wrap(framing_->meta_event(event_.data, false))
                             : framing_->frame(event_.data));
  ++sent_.events;
  if (event_.token) ++sent_.tokens;
  writes_.mark(sent_);
  writes_.end_part();
  if (event_.raw) writes_.flush_before_wait();
}

void Delivery::send_event(const StreamEvent& event, bool is_last) {
  std::size_t copies = 1;
  for (const std::size_t fault : on_next_event_) {
    mark_reached(fault);
    copies = plan_.faults[fault].effect.kind() == Effect::Kind::skip_event ? 0 : copies + 1;
  }
  on_next_event_.clear();
  for (; copies > 0; --copies) {
    if (!framing_->comment().empty()) add({Kind::between, 0, framing_->comment()});
    // Without a blank line between them, two copies would be one event.
    add_event(Kind::copy, event, is_last && copies == 1);
  }
}

void Delivery::note_copy(const StreamEvent& event, bool ends_unfinished) {
  if (progress_.log) progress_.log->end_event(writes_.position(), event.token);
  sent_.unfinished = ends_unfinished && !event.raw && !plan_.sse.final_blank_line();
  ++sent_.events;
  if (event.token) ++sent_.tokens;
  if (!event.raw && !event.meta && event.data == "[DONE]") sent_.done = true;
  writes_.mark(sent_);
  writes_.end_part();
  strike_now(Trigger::Kind::after_bytes, body_bytes_);
}

void Delivery::end_body() {
  if (framing_ && plan_.sse.open_after_done()) {
    writes_.flush();
    add({Kind::done_left});
    add({Kind::open_stream});
    return add({Kind::close});
  }
  if (framing_) writes_.send(framing_->terminator());
  log_end();
  writes_.flush();
  add({Kind::all_handed_over});
}

void Delivery::send_body(std::string_view bytes, std::size_t event) {
  std::size_t sent = 0;
  if (!plan_.faults.empty()) {
    const std::vector<Cut> cuts = cuts_in(bytes, event);
    // A truncated HTTP chunk still announces its full size. A stall at the same byte does not change that.
    const auto kind_of = [this](const Cut& cut) { return plan_.faults[cut.fault].effect.kind(); };
    const auto ending =
        std::find_if(cuts.begin(), cuts.end(), [&](const Cut& cut) { return kind_of(cut) != Effect::Kind::stall; });
    const bool truncates = ending != cuts.end() && kind_of(*ending) == Effect::Kind::truncate;
    for (const Cut& cut : cuts) {
      const bool is_truncated = truncates && cut.offset == ending->offset;
      if (cut.offset > sent)
        add({Kind::part, event, bytes.substr(sent, cut.offset - sent), is_truncated ? bytes.size() - cut.offset : 0});
      add({Kind::fault_inside, cut.fault});
      add({Kind::after_inside});
      sent = cut.offset;
    }
  }
  if (sent == 0) return send_rest(bytes, event);
  add({Kind::rest, event, bytes.substr(sent)});
}

void Delivery::send_rest(std::string_view bytes, std::size_t event) {
  // The rest of a plain body, after the faults inside it, completes the answer.
  if (!framing_) announce_last_bytes();
  send_part(bytes, event, 0);
}

void Delivery::send_part(std::string_view bytes, std::size_t event, std::size_t missing) {
  if (bytes.empty() && missing == 0) return;
  const std::string_view wire = framing_ ? framing_->wrap(bytes, missing) : bytes;
  log(AnswerLog::Kind::body, bytes, wire, framing_ ? framing_->missing() : missing, event);
  writes_.send(wire);
  body_bytes_ += bytes.size();
}

std::vector<Delivery::Cut> Delivery::cuts_in(std::string_view bytes, std::size_t event) const {
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Trigger& trigger = plan_.faults[i].trigger;
    std::size_t offset = 0;
    if (trigger.kind() == Trigger::Kind::after_bytes) {
      if (trigger.count() > body_bytes_) offset = trigger.count() - body_bytes_;
    } else if (event == 0 || trigger.count() != event) {
      continue;
    } else if (trigger.kind() == Trigger::Kind::inside_event) {
      offset = trigger.byte();
    } else if (trigger.kind() == Trigger::Kind::inside_character) {
      offset = delivery::inside_first_long_character(bytes);
    }
    if (offset > 0 && offset < bytes.size() && !reached_[i]) cuts.push_back({offset, i});
  }
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.offset < b.offset; });
  return cuts;
}

void Delivery::log(AnswerLog::Kind kind, std::string_view payload, std::string_view wire, std::size_t missing,
                   std::size_t event) const {
  if (!progress_.log) return;
  const bool is_event = kind == AnswerLog::Kind::body && framing_;
  const bool is_compressed = is_event && plan_.sse.gzip();
  const bool is_divided = is_event && plan_.http_chunk + plan_.first_http_chunk > 0;
  const bool is_bare = is_compressed || is_divided || wire.size() == payload.size();
  const std::size_t at = is_bare ? 0 : wire.find("\r\n") + 2;  // after the size of its HTTP chunk
  progress_.log->add(kind, payload, {writes_.position(), wire.size(), at, missing, is_compressed, is_divided}, event);
}

void Delivery::announce_last_bytes() const {
  outlet_.last_bytes_follow();
  if (before_last_bytes_) before_last_bytes_();
}

}  // namespace mock_gateway::detail
