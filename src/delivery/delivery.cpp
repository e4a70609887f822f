// When events leave; where faults strike and what each does; holds, stalls, pings; which bytes share a write (64 KiB).

#include "delivery.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "../answer/bodies.hpp"
#include "../core/access.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../model/fault_rows.hpp"
#include "../model/reply_data.hpp"
#include "waits.hpp"

namespace mock_gateway::detail {
namespace delivery {

/// The offset after the first byte of the first character of several bytes; 0 when there is none.
std::size_t inside_first_long_character(std::string_view bytes) {
  for (std::size_t offset = 0; offset < bytes.size();) {
    const std::size_t length = text::next_code_point(bytes, offset);
    if (length > 1) return offset + 1;
    offset += length;
  }
  return 0;
}

}  // namespace delivery

Delivery::Delivery(const ReplyData& plan, PaceSchedule pace, Outlet& outlet, Timeline& timeline, TimePoint start,
                   DeliveryProgress& progress)
    : plan_(plan),
      pace_(std::move(pace)),
      outlet_(outlet),
      timeline_(timeline),
      start_(start),
      progress_(progress),
      reached_(plan.faults.size()),
      came_to_(plan.holds.size()) {
  if (plan.traced) progress.trace = std::make_unique<DeliveryTrace>();
}

template <class Steps>
Delivery::Result Delivery::run(const Steps& steps) {
  try {
    steps();
    return outlet_.took_last_bytes() ? Result::completed : Result::broken_off;
  } catch (const Ended& ended) {
    return ended.result;
  }
}

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

Delivery::Result Delivery::whole(std::string_view head, std::string_view body, std::size_t token_count) {
  return run([&] {
    strike(Trigger::Kind::before_headers, 0);
    for (std::size_t i = 0; i < plan_.holds.size(); ++i)
      if (const HoldPoint& place = plan_.holds[i].place;
          place.kind() == HoldPoint::Kind::event || place.number() <= token_count)
        hold(i);
    if (const TimePoint due = later(start_, pace_.last(token_count)); due != start_) wait_until(due, "the whole reply");
    send_head(head);
    strike(Trigger::Kind::after_headers, 0);
    send_body(body, 0);
    if (!body.empty()) strike(Trigger::Kind::after_bytes, body_bytes_);
    sent_.tokens = token_count;
    mark();
    nothing_follows_ = true;
    at_end();
    keep_end();
    flush();
    if (progress_.kept) progress_.kept->handed_over(written_, timeline_.now());
  });
}

Delivery::Result Delivery::stream(std::string_view head, EventSource& source, bool chunked) {
  return run([&] {
    strike(Trigger::Kind::before_headers, 0);
    send_head(head);
    end_part();
    framing_.emplace(plan_.sse, chunked);
    if (progress_.trace) progress_.trace->streamed = true;
    if (progress_.kept) progress_.kept->stream();
    plan_pings();
    strike(Trigger::Kind::after_headers, 0);
    begin_stream();
    send_events(source);
    strike(Trigger::Kind::before_done, 0);
    if (plan_.sse.done()) send_done();
    at_end();
    announce_last_bytes();
    end_body();
  });
}

void Delivery::send_head(std::string_view head) {
  if (progress_.trace) progress_.trace->head = head.size();
  if (progress_.times) progress_.times->begin(head.size());
  keep(KeptAnswer::Kind::head, head, head);
  send(head);
}

void Delivery::at_end() {
  if (progress_.trace) progress_.trace->whole = true;
  strike(Trigger::Kind::at_end, 0);
}

void Delivery::begin_stream() {
  if (!plan_.sse.byte_order_mark() || std::exchange(sent_.byte_order_mark, true)) return;
  send_between("\xEF\xBB\xBF");
}

void Delivery::send_events(EventSource& source) {
  const bool simply = framing_->is_plain() && plan_.faults.empty() && !plan_.traced && !progress_.kept;
  // Only such a stream must know its last event beforehand.
  const bool looks_ahead = !plan_.sse.done() && !plan_.sse.final_blank_line();
  StreamEvent event;
  StreamEvent following;
  bool more = source.next(event);
  while (more) {
    if (looks_ahead) more = source.next(following);
    ++events_;
    hold(HoldPoint::Kind::event, events_);
    TimePoint due = start_;
    if (event.token) {
      ++tokens_;
      hold(HoldPoint::Kind::token, tokens_);
      due = later(start_, pace_.next(event.share));
    }
    if (event.at) due = later(start_, *event.at);
    if (due != start_)
      wait_until(due, event.token ? "token " + std::to_string(tokens_) : "event " + std::to_string(events_));
    if (event.raw) leave();  // it has a write of its own, here and below
    if (simply) {
      send(event.raw    ? framing_->wrap(event.data)
           : event.meta ? framing_->wrap(framing_->meta_event(event.data, false))
                        : framing_->frame(event.data));
      ++sent_.events;
      if (event.token) ++sent_.tokens;
      mark();
      end_part();
    } else {
      send_event(event, looks_ahead && !more);
      strike(Trigger::Kind::after_events, events_);
      if (event.token) strike(Trigger::Kind::after_tokens, tokens_);
    }
    if (event.raw) leave();
    if (looks_ahead)
      std::swap(event, following);
    else
      more = source.next(event);
  }
}

void Delivery::send_done() {
  if (progress_.trace) progress_.trace->done = events_ + 1;
  const auto send_last = [this](const std::string& data, bool last) {
    hold(HoldPoint::Kind::event, ++events_);
    announce_last_bytes();
    StreamEvent event;
    event.data = data;
    send_event(event, last);
    strike(Trigger::Kind::after_events, events_);
  };
  send_last("[DONE]", plan_.sse.after_done().empty());
  if (!plan_.sse.after_done().empty()) send_last(plan_.sse.after_done(), true);
}

void Delivery::send_event(const StreamEvent& event, bool last) {
  std::size_t copies = 1;
  for (const std::size_t fault : on_next_event_) {
    mark_reached(fault);
    copies = plan_.faults[fault].effect.kind() == Effect::Kind::skip_event ? 0 : copies + 1;
  }
  on_next_event_.clear();
  for (; copies > 0; --copies) {
    if (!framing_->comment().empty()) send_between(framing_->comment());
    // Without a blank line between them, two copies would be one event.
    const bool ends_unfinished = last && copies == 1;
    send_body(event.raw    ? std::string_view(event.data)
              : event.meta ? framing_->meta_event(event.data, ends_unfinished)
                           : framing_->event(event.data, events_, ends_unfinished),
              events_);
    sent_.unfinished = ends_unfinished && !event.raw && !plan_.sse.final_blank_line();
    ++sent_.events;
    if (event.token) ++sent_.tokens;
    if (!event.raw && !event.meta && event.data == "[DONE]") sent_.done = true;
    mark();
    end_part();
    strike(Trigger::Kind::after_bytes, body_bytes_);
  }
}

void Delivery::send_between(std::string_view bytes) {
  send_body(bytes, 0);
  end_part();
  strike(Trigger::Kind::after_bytes, body_bytes_);
}

void Delivery::end_body() {
  if (plan_.sse.open_after_done()) {
    flush();
    await_done();
    const std::string place = sent_.done ? "after [DONE]" : "at the end";
    wait_for_client_to_leave({ScriptedWait::Kind::open_stream, place}, "a stream left open");
    outlet_.end(Outlet::Ending::close);
  } else {
    send(framing_->terminator());
    keep_end();
    flush();
    if (progress_.kept) progress_.kept->handed_over(written_, timeline_.now());
  }
}

void Delivery::send_body(std::string_view bytes, std::size_t event) {
  if (progress_.trace && !bytes.empty()) progress_.trace->parts.push_back({event, std::string(bytes)});
  std::size_t sent = 0;
  const auto send_up_to = [&](std::size_t end, std::size_t missing) {
    if (end > sent || missing > 0) {
      const std::string_view part = bytes.substr(sent, end - sent);
      const std::string_view wire = framing_ ? framing_->wrap(part, missing) : part;
      keep(KeptAnswer::Kind::body, part, wire, missing);
      send(wire);
    }
    body_bytes_ += end - sent;
    sent = end;
  };
  for (const Cut& cut : cuts_in(bytes, event)) {
    const bool truncates = plan_.faults[cut.fault].effect.kind() == Effect::Kind::truncate;
    send_up_to(cut.offset, truncates ? bytes.size() - cut.offset : 0);
    inside_event_ = true;
    strike(cut.fault);
    inside_event_ = false;
  }
  // A body without events ends the answer, but not before what happens inside of it.
  if (!framing_) announce_last_bytes();
  send_up_to(bytes.size(), 0);
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

void Delivery::send(std::string_view bytes) {
  // What is larger is not worth a copy, and would take the memory of one.
  constexpr std::size_t largest = 65536;
  const Writes::Kind kind = plan_.writes.kind;
  const bool is_whole =
      kind == Writes::Kind::together || kind == Writes::Kind::split || (kind == Writes::Kind::each_event && framing_);
  if (!is_whole && gathered_.size() + bytes.size() > largest) {
    flush();
    if (bytes.size() > largest) {
      // The last bytes are gathered all the same: the mark that follows is theirs.
      write(bytes.substr(0, bytes.size() - largest));
      bytes.remove_prefix(bytes.size() - largest);
    }
  }
  gathered_.append(bytes);
}

void Delivery::mark() {
  marks_.push_back({written_ + gathered_.size(), sent_});
  if (!gathered_.empty()) return;
  const std::lock_guard<std::mutex> lock(progress_.handover);
  publish();
}

void Delivery::end_part() {
  if (plan_.writes.kind == Writes::Kind::each_event || plan_.writes.kind == Writes::Kind::sliced) flush();
}

void Delivery::leave() {
  if (plan_.writes.kind == Writes::Kind::together || plan_.writes.kind == Writes::Kind::split) return;
  flush();
  // Thousands of streams may wait, each after much that was due together.
  constexpr std::size_t small = 4096;
  if (gathered_.capacity() > small) gathered_.shrink_to_fit();
  if (marks_.capacity() > small / sizeof(Mark)) marks_.shrink_to_fit();
}

void Delivery::flush() {
  if (gathered_.empty()) return;
  std::string_view rest = gathered_;
  if (plan_.writes.kind == Writes::Kind::split && plan_.writes.size >= written_ &&
      plan_.writes.size - written_ < rest.size()) {
    const std::size_t first = plan_.writes.size - written_;
    write(rest.substr(0, first));
    is_split_ = true;
    pause_between_writes();
    rest.remove_prefix(first);
  }
  write(rest);
  gathered_.clear();
}

void Delivery::pause_between_writes() {
  if (reads_too_slowly_) return;
  delivery::BetweenWrites pause(outlet_);
  wait(pause, Outlet::OnClientClosed::go_on);
  time_to_read_ += pause.passed();
  reads_too_slowly_ = pause.is_vain() || time_to_read_ > delivery::BetweenWrites::most_in_all;
}

void Delivery::write(std::string_view bytes) {
  const std::size_t most = plan_.writes.kind == Writes::Kind::sliced ? plan_.writes.size : bytes.size();
  while (!bytes.empty()) {
    if (plan_.writes.kind == Writes::Kind::sliced && written_ > 0) pause_between_writes();
    std::optional<std::size_t> count;
    {
      const std::lock_guard<std::mutex> lock(progress_.handover);
      count = outlet_.write_some(bytes.substr(0, most));
      if (count) {
        written_ += *count;
        if (progress_.kept) progress_.kept->handed_over(written_, timeline_.now());
        publish();
      }
    }
    if (!count || (*count == 0 && !outlet_.wait_until_writable())) throw Ended{Result::broken_off};
    bytes.remove_prefix(*count);
  }
}

void Delivery::publish() {
  const std::size_t before = published_;
  while (published_ < marks_.size() && marks_[published_].bytes <= written_) ++published_;
  if (published_ == before) return;
  const Sent& sent = marks_[published_ - 1].sent;
  if (progress_.times && framing_) {
    const TimePoint now = timeline_.now();
    for (std::size_t index = before; index < published_; ++index) {
      const Mark& mark = marks_[index];
      progress_.times->add(mark.sent.tokens > timed_tokens_, now, mark.bytes);
      timed_tokens_ = mark.sent.tokens;
    }
  }
  progress_.events.store(sent.events, std::memory_order_relaxed);
  progress_.tokens.store(sent.tokens, std::memory_order_relaxed);
  if (sent.done && !progress_.done) {
    progress_.done_at = std::chrono::steady_clock::now();
    progress_.done = true;
  }
  if (published_ < marks_.size()) return;
  marks_.clear();
  published_ = 0;
}

void Delivery::keep(KeptAnswer::Kind kind, std::string_view payload, std::string_view wire, std::size_t missing) const {
  if (!progress_.kept) return;
  const bool is_compressed = kind == KeptAnswer::Kind::body && framing_ && plan_.sse.gzip();
  const bool is_bare = is_compressed || wire.size() == payload.size();
  const std::size_t at = is_bare ? 0 : wire.find("\r\n") + 2;  // behind the size of its HTTP chunk
  progress_.kept->add(kind, payload, {written_ + gathered_.size(), wire.size(), at, missing, is_compressed});
}

void Delivery::announce_last_bytes() const {
  outlet_.last_bytes_follow();
  if (before_last_bytes_) before_last_bytes_();
}

void Delivery::await_done() {
  if (!progress_.done || outlet_.has_left()) return;
  progress_.done_at = std::chrono::steady_clock::time_point::max();
  if (!outlet_.drain()) throw Ended{Result::broken_off};
  progress_.done_at = std::chrono::steady_clock::now();
}

void Delivery::strike(Trigger::Kind kind, std::size_t count) {
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Trigger& trigger = plan_.faults[i].trigger;
    if (trigger.kind() == kind && trigger.count() == count && !reached_[i]) strike(i);
  }
}

void Delivery::strike(std::size_t fault) {
  const Effect& effect = plan_.faults[fault].effect;
  switch (effect.kind()) {
    case Effect::Kind::wrong_content_length: return;  // announced_length() did it
    case Effect::Kind::skip_event:
    case Effect::Kind::duplicate_event: on_next_event_.push_back(fault); return;
    case Effect::Kind::error_event:
      if (!framing_) return;  // a plain reply has no events, and so has not reached this
      break;
    default: break;
  }
  mark_reached(fault);
  happen(plan_.faults[fault]);
}

void Delivery::mark_reached(std::size_t fault) {
  reached_[fault] = true;
  if (fault == 0) progress_.first_fault = true;
}

void Delivery::happen(const Fault& fault) {
  const Effect& effect = fault.effect;
  flush();
  if (!effect.gate()) await_done();  // a gate is reached whether the client reads or not
  switch (effect.kind()) {
    case Effect::Kind::stall: return stall(fault);
    case Effect::Kind::error_event: return send_error(effect);
    case Effect::Kind::half_close: return half_close(fault.trigger);
    case Effect::Kind::garbage:
      announce_last_bytes();
      keep(KeptAnswer::Kind::garbage, effect.bytes(), effect.bytes());
      send(effect.bytes());
      flush();
      end_connection(Outlet::Ending::close);
    case Effect::Kind::reset_connection: end_connection(Outlet::Ending::reset);
    case Effect::Kind::close_connection:
    case Effect::Kind::truncate: end_connection(Outlet::Ending::close);
    case Effect::Kind::skip_event:
    case Effect::Kind::duplicate_event:
    case Effect::Kind::wrong_content_length: return;
  }
}

void Delivery::stall(const Fault& fault) {
  const delivery::Noted noted(progress_, {ScriptedWait::Kind::stall, faults::place_of(fault.trigger)});
  const Effect& effect = fault.effect;
  if (effect.gate()) return pass(*effect.gate());
  wait_until(effect.duration() ? later(timeline_.now(), *effect.duration()) : TimePoint::max(), "a stall");
}

void Delivery::end_connection(Outlet::Ending ending) {
  keep_end(ending == Outlet::Ending::reset ? KeptAnswer::Ending::reset : KeptAnswer::Ending::closed);
  if (!outlet_.drain()) throw Ended{Result::broken_off};
  outlet_.end(ending);
  throw Ended{Result::broken_by_fault};
}

void Delivery::send_error(const Effect& effect) {
  on_next_event_.clear();  // they were for what it replaces
  announce_last_bytes();
  begin_stream();
  if (sent_.unfinished) send_body(plan_.sse.line_end(), 0);
  StreamEvent event;
  event.data = effect.failure() ? error_body(*effect.failure(), profile_) : effect.bytes();
  ++events_;
  const bool done_follows = plan_.sse.done() && !sent_.done;
  send_event(event, !done_follows);
  if (done_follows) {
    ++events_;
    event.data = "[DONE]";
    send_event(event, true);
  }
  end_body();
  throw Ended{Result::broken_by_fault};
}

void Delivery::half_close(const Trigger& trigger) {
  announce_last_bytes();
  keep_end(KeptAnswer::Ending::half_closed);
  if (!outlet_.drain()) throw Ended{Result::broken_off};
  outlet_.end_sending();
  framing_.reset();  // nothing can be sent any more
  wait_for_client_to_leave({ScriptedWait::Kind::half_close, faults::place_of(trigger)}, "a half-closed connection");
  outlet_.end(Outlet::Ending::close);
  throw Ended{Result::broken_by_fault};
}

void Delivery::hold(HoldPoint::Kind kind, std::size_t number) {
  for (std::size_t i = 0; i < plan_.holds.size(); ++i)
    if (const HoldPoint& place = plan_.holds[i].place; place.kind() == kind && place.number() == number) hold(i);
}

void Delivery::hold(std::size_t index) {
  came_to_[index] = true;
  const delivery::Noted noted(progress_, {ScriptedWait::Kind::hold, plan_.holds[index].place.to_string()});
  pass(plan_.holds[index].gate);
}

void Delivery::wait_until(TimePoint deadline, const std::string& purpose) {
  if (timeline_.now() < deadline) leave();
  // One wait at a time: the clock takes this exchange to be at rest as soon as it has the first.
  const bool has_end = deadline != TimePoint::max();
  const bool goes_on = has_end && !nothing_follows_;
  const auto on_client_closed = goes_on ? Outlet::OnClientClosed::go_on : Outlet::OnClientClosed::give_up;
  delivery::RealTimeLimit guard(has_end ? std::nullopt : stall_guard_);
  while ((has_end || !timeline_.is_instant()) && ping_comes_by(deadline)) {
    {
      ClockWait until_ping(timeline_, next_ping_, "a ping");
      delivery::EitherOf either(until_ping, guard);
      wait(either, on_client_closed);
      if (guard.over()) break;
      if (until_ping.guard_expired()) {
        if (!has_end) break;
        return guard_expired();
      }
    }
    send_ping();
  }
  ClockWait pending(timeline_, deadline, purpose);
  delivery::EitherOf either(pending, guard);
  wait(either, on_client_closed);
  if (guard.over()) stall_guard_expired(purpose);
  if (pending.guard_expired()) guard_expired();
}

void Delivery::pass(const Gate& gate) {
  leave();
  if (timeline_.is_guard_spent()) return pass_by(gate);
  GateWait pending(Access::state(gate), outlet_.waker(), [this] { return outlet_.delivered(); });
  while (!timeline_.is_instant() && ping_comes_by(TimePoint::max()) && !pending.over()) {
    {
      ClockWait until_ping(timeline_, next_ping_, "a ping");
      delivery::EitherOf either(pending, until_ping);
      wait(either, Outlet::OnClientClosed::go_on);
      if (!until_ping.over() || until_ping.guard_expired()) break;
    }
    send_ping();
  }
  if (!pending.over()) timeline_.settle();
  wait(pending, Outlet::OnClientClosed::go_on);
  if (pending.guard_expired()) guard_expired();
}

void Delivery::guard_expired() {
  timeline_.spend_guard();
  outlet_.guard_expired();
}

void Delivery::stall_guard_expired(const std::string& purpose) {
  const std::optional<ScriptedWait> wait = progress_.scripted_wait();
  waited_in_vain_ = wait ? wait->in_vain(*stall_guard_)
                         : "waited for " + purpose + " for " + text::decimal(stall_guard_->count(), 1000000000) +
                               " s; the client still waited";
  outlet_.guard_expired();
  keep_end(KeptAnswer::Ending::reset);
  outlet_.end(Outlet::Ending::reset);
  throw Ended{Result::guard_expired};
}

void Delivery::wait(Pending& pending, Outlet::OnClientClosed on_client_closed) {
  if (!outlet_.wait(pending, on_client_closed)) throw Ended{Result::broken_off};
}

bool Delivery::ping_comes_by(TimePoint moment) {
  if (!may_ping()) return false;
  const Duration late = timeline_.now() - next_ping_;
  if (late >= plan_.sse.ping_every()) next_ping_ += late - late % plan_.sse.ping_every();
  return next_ping_ <= moment;
}

void Delivery::send_ping() {
  next_ping_ = later(next_ping_, plan_.sse.ping_every());
  begin_stream();
  leave();
  send_between(framing_->ping());
  leave();
}

void Delivery::wait_for_client_to_leave(ScriptedWait scripted, const char* purpose) {
  const delivery::Noted noted(progress_, std::move(scripted));
  try {
    wait_until(TimePoint::max(), purpose);
  } catch (const Ended& ended) {
    if (ended.result != Result::broken_off) throw;  // else it is what was waited for
  }
}

void Delivery::plan_pings() {
  const Duration interval = plan_.sse.ping_every();
  if (interval <= Duration::zero()) return;
  // A moment that has passed before there was a stream has no ping.
  const Duration passed = std::max(Duration::zero(), timeline_.now() - start_);
  next_ping_ = later(start_ + (passed - passed % interval), interval);
}

bool Delivery::may_ping() const { return framing_ && !inside_event_ && next_ping_ != TimePoint::max(); }

}  // namespace mock_gateway::detail
