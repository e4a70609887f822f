// The effect of each fault, and the waits of a reply: for a time, a gate or its client's departure, with pings.

#include <algorithm>

#include "../core/access.hpp"
#include "../core/text.hpp"
#include "../model/fault_rows.hpp"
#include "delivery.hpp"

namespace mock_gateway::detail {

// --- Faults ---

void Delivery::add_strike(Trigger::Kind trigger, std::size_t count) {
  if (plan_.faults.empty()) return;
  Step step{Kind::strike};
  step.trigger = trigger;
  step.count = count;
  add(std::move(step));
}

void Delivery::strike_now(Trigger::Kind kind, std::size_t count, std::size_t from) {
  for (std::size_t i = from; i < plan_.faults.size(); ++i) {
    const Trigger& trigger = plan_.faults[i].trigger;
    if (trigger.kind() != kind || trigger.count() != count || reached_[i]) continue;
    strike_one(i);
    Step others{Kind::strike, i + 1};
    others.trigger = kind;
    others.count = count;
    return add(std::move(others));
  }
}

void Delivery::strike_one(std::size_t fault) {
  const Effect& effect = plan_.faults[fault].effect;
  switch (effect.kind()) {
    case Effect::Kind::wrong_content_length: return;  // done by announced_length()
    case Effect::Kind::skip_event:
    case Effect::Kind::duplicate_event: on_next_event_.push_back(fault); return;
    case Effect::Kind::error_event:
      if (!framing_) return;  // a plain reply has no events, so the fault is not reached
      break;
    default: break;
  }
  if (is_too_late(effect.kind())) return too_late_.push_back(fault);
  mark_reached(fault);
  writes_.flush();
  if (!effect.gate()) add({Kind::done_left});  // a gate is reached even if the client does not read
  add({Kind::happen, fault});
}

bool Delivery::is_too_late(Effect::Kind effect) const {
  // Without HTTP chunks, a stream ends with its connection. Its last compressed bytes come after at_end.
  const bool ends_with_connection = source_ && !chunked_ && !plan_.sse.gzip() && !plan_.sse.open_after_done();
  const bool is_complete = source_ ? ends_with_connection && next_stage_ > Stage::at_end
                                   : ends_with_body_ && next_stage_ >= Stage::at_end && body_bytes_ == body_.size();
  // A sweep strikes each place with each effect, and judges the client itself.
  if (!is_complete || plan_.swept) return false;
  const bool closes = effect == Effect::Kind::close_connection || effect == Effect::Kind::half_close;
  return effect == Effect::Kind::truncate || (closes && (source_ || closes_at_end_));
}

bool Delivery::came_too_late(std::size_t fault) const {
  return std::find(too_late_.begin(), too_late_.end(), fault) != too_late_.end();
}

void Delivery::mark_reached(std::size_t fault) {
  reached_[fault] = true;
  if (fault == 0) progress_.first_fault = true;
  if (on_fault_) on_fault_(fault);
}

void Delivery::happen(std::size_t fault) {
  const Effect& effect = plan_.faults[fault].effect;
  switch (effect.kind()) {
    case Effect::Kind::stall: {
      const std::string place = faults::place_of(plan_.faults[fault].trigger);
      if (effect.gate()) return add_wait_at(*effect.gate(), ScriptedWait::Kind::stall, place);
      begin_noted({ScriptedWait::Kind::stall, place, effect.duration()});
      add_wait_until(effect.duration() ? later(timeline_.now(), *effect.duration()) : TimePoint::max(), "a stall");
      return add({Kind::noted_wait_over});
    }
    case Effect::Kind::error_event:
      on_next_event_.clear();  // these faults were for the event that the error replaces
      announce_last_bytes();
      add({Kind::byte_order_mark});
      add({Kind::line_end});
      add({Kind::error_event, fault});
      add({Kind::end_of_body});
      return add({Kind::end_by_fault});
    case Effect::Kind::half_close:
      announce_last_bytes();
      log_end(SentAnswer::Ending::half_closed);
      add({Kind::await_delivery});
      add({Kind::half_closed, fault});
      add({Kind::close});
      return add({Kind::end_by_fault});
    case Effect::Kind::garbage:
      announce_last_bytes();
      log(AnswerLog::Kind::garbage, effect.bytes(), effect.bytes());
      writes_.send(effect.bytes());
      writes_.flush();
      return add({Kind::close_when_delivered});
    case Effect::Kind::reset_connection: return end_connection(Outlet::Ending::reset);
    case Effect::Kind::close_connection:
    case Effect::Kind::truncate: return end_connection(Outlet::Ending::close);
    case Effect::Kind::skip_event:
    case Effect::Kind::duplicate_event:
    case Effect::Kind::wrong_content_length: return;
  }
}

void Delivery::end_connection(Outlet::Ending ending) {
  log_end(ending == Outlet::Ending::reset ? SentAnswer::Ending::reset : SentAnswer::Ending::closed);
  add({Kind::await_delivery});
  add({ending == Outlet::Ending::reset ? Kind::reset : Kind::close});
  add({Kind::end_by_fault});
}

void Delivery::send_error(const Effect& effect) {
  extra_.data = effect.failure() ? error_event_(*effect.failure()) : effect.bytes();
  ++events_;
  const bool done_follows = plan_.sse.done() && !sent_.done;
  send_event(extra_, !done_follows);
  if (done_follows) add({Kind::done_after_error});
}

// --- Waits ---

void Delivery::add_holds(HoldPoint::Kind kind, std::size_t number) {
  for (std::size_t i = 0; i < plan_.holds.size(); ++i)
    if (const HoldPoint& place = plan_.holds[i].place; place.kind() == kind && place.number() == number)
      add({Kind::hold, i});
}

void Delivery::hold_at(std::size_t index) {
  reached_holds_[index] = true;
  const Hold& hold = plan_.holds[index];
  add_wait_at(hold.gate, ScriptedWait::Kind::hold, hold.place.to_string());
}

void Delivery::add_wait_at(const Gate& gate, ScriptedWait::Kind kind, const std::string& place) {
  const std::string& name = name_of(gate);
  begin_noted({kind, (name.empty() ? "" : "at gate \"" + text::printable(name, 60) + "\" ") + place});
  Step step{Kind::gate};
  step.gate = &gate;
  add(std::move(step));
  add({Kind::noted_wait_over});
}

void Delivery::add_wait_until(TimePoint moment, std::string_view purpose) {
  Step step{Kind::moment, 0, purpose};
  step.moment = moment;
  add(std::move(step));
}

void Delivery::wait_for_client_to_leave(ScriptedWait scripted, std::string_view purpose) {
  begin_noted(std::move(scripted));
  add_wait_until(TimePoint::max(), purpose);
  add({Kind::client_left});
}

Outlet::WaitState Delivery::check_moment(Step& step) {
  const bool has_end = step.moment != TimePoint::max();
  const std::string purpose = step.bytes.empty() ? event_name() : std::string(step.bytes);
  if (!step.waiting) {
    step.waiting = std::make_unique<Waiting>(has_end ? std::nullopt : stall_guard_);
    const TimePoint now = timeline_.now();
    if (now >= step.moment) return Outlet::WaitState::done;
    writes_.flush_before_wait();
    step.waiting->is_noted = !is_noted_;
    if (!is_noted_) begin_noted({ScriptedWait::Kind::pace, purpose, step.moment - now});
    return Outlet::WaitState::done;
  }
  Waiting& waiting = *step.waiting;
  // One wait at a time, because the clock counts this exchange as idle from its first wait on.
  if (!waiting.clock) {
    const bool may_come = !waiting.is_last && (has_end || !timeline_.is_instant());
    waiting.is_for_ping = may_come && ping_comes_by(step.moment);
    if (waiting.is_for_ping)
      waiting.begin(timeline_, next_ping_, "a ping", waiting.guard);
    else
      waiting.begin(timeline_, step.moment, purpose, waiting.guard);
  }
  const bool goes_on = has_end && !nothing_follows_;
  const Outlet::WaitState state =
      outlet_.check_wait(*waiting.either, goes_on ? on_client_closed() : Outlet::OnClientClosed::give_up);
  if (state != Outlet::WaitState::done) return state;
  const bool guard_is_over = waiting.guard.is_over();
  const bool clock_guard_expired = waiting.clock->guard_expired();
  waiting.end_check();
  if (waiting.is_for_ping && (guard_is_over || (clock_guard_expired && !has_end))) {
    waiting.is_last = true;
  } else if (waiting.is_for_ping && !clock_guard_expired) {
    send_ping();
  } else {
    const Step over = take_step();
    if (guard_is_over)
      stall_guard_expired();
    else if (clock_guard_expired)
      guard_expired("the manual clock was not advanced");
    else if (has_end)
      note_lateness(over.moment);
    if (over.waiting->is_noted) end_noted();
  }
  return Outlet::WaitState::done;
}

Outlet::WaitState Delivery::check_gate(Step& step) {
  if (!step.waiting) {
    step.waiting = std::make_unique<Waiting>(std::nullopt);
    writes_.flush_before_wait();
    return Outlet::WaitState::done;
  }
  Waiting& waiting = *step.waiting;
  if (!waiting.gate) {
    if (timeline_.is_guard_spent()) {
      pass_by(*step.gate);
      take_step();
      return Outlet::WaitState::done;
    }
    waiting.gate.emplace(Access::state(*step.gate), outlet_.waker(), [this] { return outlet_.delivered(); });
  }
  if (!waiting.is_last && !waiting.clock) {
    if (timeline_.is_instant() || !ping_comes_by(TimePoint::max()) || waiting.gate->is_over())
      waiting.wait_without_pings(timeline_);
    else
      waiting.begin(timeline_, next_ping_, "a ping", *waiting.gate);
  }
  Pending& awaited = waiting.is_last ? static_cast<Pending&>(*waiting.gate) : *waiting.either;
  const Outlet::WaitState state = outlet_.check_wait(awaited, on_client_closed());
  if (state != Outlet::WaitState::done) return state;
  if (waiting.is_last) {
    const Step over = take_step();
    if (over.waiting->gate->guard_expired()) guard_expired("the gate was not opened");
    return Outlet::WaitState::done;
  }
  const bool ping_is_due = waiting.clock->is_over() && !waiting.clock->guard_expired();
  waiting.end_check();
  if (ping_is_due)
    send_ping();
  else
    waiting.wait_without_pings(timeline_);
  return Outlet::WaitState::done;
}

void Delivery::note_lateness(TimePoint moment) {
  external_wait_ended_ = std::max(external_wait_ended_, moment);
  progress_.note_lateness(timeline_.lateness(external_wait_ended_));
}

void Delivery::guard_expired(const char* why) {
  const std::optional<ScriptedWait> wait = progress_.wait();
  if (wait && !timeline_.is_guard_spent()) spent_guard_ = wait->past() + ": " + why + " in time";
  timeline_.spend_guard();
  outlet_.guard_expired();
}

void Delivery::stall_guard_expired() {
  expired_wait_ = progress_.wait()->in_vain(*stall_guard_);
  outlet_.guard_expired();
  log_end(SentAnswer::Ending::reset);
  outlet_.end(Outlet::Ending::reset);
  end(Result::guard_expired);
}

bool Delivery::ping_comes_by(TimePoint moment) {
  if (!framing_ || inside_event_ || next_ping_ == TimePoint::max()) return false;
  const Duration late = timeline_.now() - next_ping_;
  if (late >= plan_.sse.ping_every()) next_ping_ += late - late % plan_.sse.ping_every();
  return next_ping_ <= moment;
}

void Delivery::send_ping() {
  next_ping_ = later(next_ping_, plan_.sse.ping_every());
  add({Kind::byte_order_mark});
  add({Kind::flush_before_wait});
  add({Kind::between, 0, framing_->ping()});
  add({Kind::flush_before_wait});
}

void Delivery::begin_noted(ScriptedWait wait) {
  progress_.set_wait(std::move(wait));
  is_noted_ = true;
}

void Delivery::end_noted() {
  progress_.set_wait(std::nullopt);
  is_noted_ = false;
}

void Delivery::plan_pings() {
  const Duration interval = plan_.sse.ping_every();
  if (interval <= Duration::zero()) return;
  // Pings that were due before the stream began are skipped.
  const Duration passed = std::max(Duration::zero(), timeline_.now() - start_);
  next_ping_ = later(start_ + (passed - passed % interval), interval);
}

}  // namespace mock_gateway::detail
