// When events leave; where faults strike and what each does; holds, stalls, pings; which bytes share a write (64 KiB).

#include "delivery.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "../answer/bodies.hpp"
#include "../core/access.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../model/fault_rows.hpp"
#include "../model/reply_data.hpp"
#include "waits.hpp"

namespace mock_gateway::detail {
namespace delivery {

/// What is larger is not worth a copy, and would take the memory of one.
inline constexpr std::size_t largest_copy = 65536;

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

struct Delivery::Moment {
  Moment(TimePoint its_deadline, std::string its_purpose, std::optional<Duration> limit)
      : deadline(its_deadline), purpose(std::move(its_purpose)), guard(limit) {}

  /// Begins to wait on the clock; `until` is the deadline, or a ping's moment before it.
  void begin(Timeline& timeline, TimePoint until, const std::string& what) {
    clock.emplace(timeline, until, what);
    either.emplace(*clock, guard);
  }
  void end() {
    either.reset();
    clock.reset();
  }

  TimePoint deadline;
  std::string purpose;
  delivery::RealTimeLimit guard;
  std::optional<ClockWait> clock;
  std::optional<delivery::EitherOf> either;
  bool is_last = false;  // no ping comes any more
};

Delivery::Delivery(const ReplyData& plan, PaceSchedule& pace, Outlet& outlet, Timeline& timeline, TimePoint start,
                   DeliveryProgress& progress)
    : plan_(plan),
      pace_(pace),
      outlet_(outlet),
      timeline_(timeline),
      start_(start),
      unhindered_since_(timeline.now()),
      progress_(progress),
      reached_(plan.faults.size()),
      came_to_(plan.holds.size()) {}

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

void Delivery::whole(std::string_view head, std::string_view body, std::size_t token_count) {
  head_ = head;
  body_ = body;
  token_count_ = token_count;
  steps_.reserve(8);
  in_turn([this] { strike(Trigger::Kind::before_headers, 0); }, [this] { begin_whole(); }, [this] { send_head(); },
          [this] { strike(Trigger::Kind::after_headers, 0); }, [this] { send_body(body_, 0); },
          [this] {
            if (!body_.empty()) strike(Trigger::Kind::after_bytes, body_bytes_);
          },
          [this] { end_whole(); }, [this] { await([this] { return outlet_.look_for_last_bytes(); }); });
}

void Delivery::begin_whole() {
  const TimePoint due = later(start_, pace_.last(token_count_));
  if (due != start_) in_turn([this, due] { wait_until(due, "the whole reply"); });
  for (std::size_t i = plan_.holds.size(); i-- > 0;)
    if (const HoldPoint& place = plan_.holds[i].place;
        place.kind() == HoldPoint::Kind::event || place.number() <= token_count_)
      in_turn([this, i] { hold(i); });
}

void Delivery::end_whole() {
  sent_.tokens = token_count_;
  mark();
  nothing_follows_ = true;
  in_turn([this] { at_end(); },
          [this] {
            log_end();
            flush();
          },
          [this] {
            if (progress_.log) progress_.log->handed_over(written_, timeline_.now());
          });
}

void Delivery::stream(std::string_view head, EventSource& source, bool chunked) {
  head_ = head;
  source_ = &source;
  chunked_ = chunked;
  steps_.reserve(12);
  in_turn([this] { strike(Trigger::Kind::before_headers, 0); },
          [this] {
            send_head();
            end_part();
          },
          [this] { begin_stream(); }, [this] { send_byte_order_mark(); },
          [this] {
            more_ = source_->next(event_);
            send_events();
          },
          [this] { strike(Trigger::Kind::before_done, 0); },
          [this] {
            if (plan_.sse.done()) send_done();
          },
          [this] { at_end(); },
          [this] {
            announce_last_bytes();
            end_body();
          },
          [this] { await([this] { return outlet_.look_for_last_bytes(); }); });
}

std::optional<Delivery::Result> Delivery::go_on() {
  while (!result_) {
    Outlet::Look look = hand_over();
    const bool lacks_room = look == Outlet::Look::not_yet;
    if (look == Outlet::Look::over && awaited_) look = awaited_();
    if (look == Outlet::Look::not_yet) {
      if (lacks_room || !awaits_moment_) is_held_up_ = true;
      shrink();
      return std::nullopt;
    }
    if (std::exchange(is_held_up_, false)) unhindered_since_ = timeline_.now();
    awaited_ = nullptr;
    awaits_moment_ = false;
    if (look == Outlet::Look::given_up) {
      break_off();
    } else if (steps_.empty()) {
      result_ = Result::completed;
    } else {
      const Step step = std::move(steps_.back());
      steps_.pop_back();
      step();
    }
  }
  return result_;
}

template <class... Steps>
void Delivery::in_turn(Steps... steps) {
  Step in_order[] = {std::move(steps)...};
  for (std::size_t i = sizeof...(steps); i-- > 0;) steps_.push_back(std::move(in_order[i]));
}

void Delivery::end(Result result) {
  steps_.clear();
  if (is_noted_) end_noted();
  result_ = result;
}

void Delivery::break_off() {
  units_.clear();
  next_unit_ = 0;
  gathered_.clear();
  taken_ = united_ = 0;
  large_ = {};
  position_ = written_;
  awaits_room_ = false;
  pause_.reset();
  if (!steps_after_client_) return end(Result::broken_off);
  // That is what was waited for.
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(*steps_after_client_), steps_.end());
}

void Delivery::send_head() {
  log(AnswerLog::Kind::head, head_, head_);
  gathered_.reserve(std::min(head_.size() + body_.size(), delivery::largest_copy));
  send(head_);
}

void Delivery::at_end() {
  if (progress_.log) progress_.log->end_body();
  strike(Trigger::Kind::at_end, 0);
}

void Delivery::begin_stream() {
  framing_.emplace(plan_.sse, chunked_);
  if (progress_.log) progress_.log->stream();
  plan_pings();
  simply_ = framing_->is_plain() && plan_.faults.empty() && !progress_.log;
  // Only such a stream must know its last event beforehand.
  looks_ahead_ = !plan_.sse.done() && !plan_.sse.final_blank_line();
  strike(Trigger::Kind::after_headers, 0);
}

void Delivery::send_byte_order_mark() {
  if (!plan_.sse.byte_order_mark() || std::exchange(sent_.byte_order_mark, true)) return;
  send_between("\xEF\xBB\xBF");
}

void Delivery::send_events() {
  while (more_ && units_.empty()) {
    if (looks_ahead_) follows_ = source_->next(following_);
    ++events_;
    if (event_.token) ++tokens_;
    const TimePoint due = this->due();
    const bool waits = due != start_ && (timeline_.now() < due || ping_comes_by(due));
    if (simply_ && !waits && plan_.holds.empty()) {
      if (due != start_) note_lateness(due);
      send_simply();
      take_next_event();
      continue;
    }
    return in_turn([this] { hold(HoldPoint::Kind::event, events_); },
                   [this] {
                     if (event_.token) hold(HoldPoint::Kind::token, tokens_);
                   },
                   [this, due] {
                     if (due != start_) wait_until(due, due_event());
                   },
                   [this] { simply_ ? send_simply() : send_with_faults(); }, [this] { take_next_event(); },
                   [this] { send_events(); });
  }
  if (more_) in_turn([this] { send_events(); });
}

TimePoint Delivery::due() {
  TimePoint due = start_;
  if (event_.token) due = later(start_, pace_.next(event_.share));
  if (event_.at) due = later(start_, *event_.at);
  return due;
}

std::string Delivery::due_event() const {
  return event_.token ? "token " + std::to_string(tokens_) : "event " + std::to_string(events_);
}

void Delivery::send_simply() {
  if (event_.raw) leave();  // it has a write of its own, here and below
  send(event_.raw    ? framing_->wrap(event_.data)
       : event_.meta ? framing_->wrap(framing_->meta_event(event_.data, false))
                     : framing_->frame(event_.data));
  ++sent_.events;
  if (event_.token) ++sent_.tokens;
  mark();
  end_part();
  if (event_.raw) leave();
}

void Delivery::send_with_faults() {
  if (event_.raw) leave();
  in_turn([this] { send_event(event_, looks_ahead_ && !follows_); },
          [this] { strike(Trigger::Kind::after_events, events_); },
          [this] {
            if (event_.token) strike(Trigger::Kind::after_tokens, tokens_);
          },
          [this] {
            if (event_.raw) leave();
          });
}

void Delivery::take_next_event() {
  if (looks_ahead_) {
    more_ = follows_;
    std::swap(event_, following_);
  } else {
    more_ = source_->next(event_);
  }
}

void Delivery::send_done() {
  if (progress_.log) progress_.log->done_follows(events_ + 1);
  in_turn([this] { send_after_events("[DONE]", plan_.sse.after_done().empty()); },
          [this] {
            if (!plan_.sse.after_done().empty()) send_after_events(plan_.sse.after_done(), true);
          });
}

void Delivery::send_after_events(const std::string& data, bool last) {
  extra_.data = data;
  in_turn([this] { hold(HoldPoint::Kind::event, ++events_); },
          [this, last] {
            announce_last_bytes();
            send_event(extra_, last);
          },
          [this] { strike(Trigger::Kind::after_events, events_); });
}

void Delivery::send_event(const StreamEvent& event, bool last) {
  std::size_t copies = 1;
  for (const std::size_t fault : on_next_event_) {
    mark_reached(fault);
    copies = plan_.faults[fault].effect.kind() == Effect::Kind::skip_event ? 0 : copies + 1;
  }
  on_next_event_.clear();
  for (std::size_t copy = 1; copy <= copies; ++copy) {
    // Without a blank line between them, two copies would be one event.
    const bool ends_unfinished = last && copy == 1;
    in_turn([this, &event, ends_unfinished] { send_copy(event, ends_unfinished); });
  }
}

void Delivery::send_copy(const StreamEvent& event, bool ends_unfinished) {
  in_turn(
      [this] {
        if (!framing_->comment().empty()) send_between(framing_->comment());
      },
      [this, &event, ends_unfinished] {
        send_body(event.raw    ? std::string_view(event.data)
                  : event.meta ? framing_->meta_event(event.data, ends_unfinished)
                               : framing_->event(event.data, events_, ends_unfinished),
                  events_);
      },
      [this, &event, ends_unfinished] { note_copy(event, ends_unfinished); });
}

void Delivery::note_copy(const StreamEvent& event, bool ends_unfinished) {
  if (progress_.log) progress_.log->end_event(position_, event.token);
  sent_.unfinished = ends_unfinished && !event.raw && !plan_.sse.final_blank_line();
  ++sent_.events;
  if (event.token) ++sent_.tokens;
  if (!event.raw && !event.meta && event.data == "[DONE]") sent_.done = true;
  mark();
  end_part();
  strike(Trigger::Kind::after_bytes, body_bytes_);
}

void Delivery::send_between(std::string_view bytes) {
  in_turn([this] {
    end_part();
    strike(Trigger::Kind::after_bytes, body_bytes_);
  });
  send_body(bytes, 0);
}

void Delivery::end_body() {
  if (plan_.sse.open_after_done()) {
    flush();
    in_turn([this] { await_done(); },
            [this] {
              const std::string place = sent_.done ? "after [DONE]" : "at the end";
              wait_for_client_to_leave({ScriptedWait::Kind::open_stream, place}, "a stream left open");
            },
            [this] { outlet_.end(Outlet::Ending::close); });
  } else {
    send(framing_->terminator());
    log_end();
    flush();
    in_turn([this] {
      if (progress_.log) progress_.log->handed_over(written_, timeline_.now());
    });
  }
}

void Delivery::send_body(std::string_view bytes, std::size_t event) {
  std::vector<Cut> cuts;
  if (!plan_.faults.empty()) cuts = cuts_in(bytes, event);
  const auto send_rest = [this, event](std::string_view rest) {
    // A body without events ends the answer, but not before what happens inside of it.
    if (!framing_) announce_last_bytes();
    send_part(rest, event, 0);
  };
  if (cuts.empty()) return send_rest(bytes);
  in_turn([send_rest, rest = bytes.substr(cuts.back().offset)] { send_rest(rest); });
  for (std::size_t i = cuts.size(); i-- > 0;) {
    const std::size_t begin = i == 0 ? 0 : cuts[i - 1].offset;
    const std::string_view part = bytes.substr(begin, cuts[i].offset - begin);
    const std::size_t fault = cuts[i].fault;
    const bool truncates = plan_.faults[fault].effect.kind() == Effect::Kind::truncate;
    const std::size_t missing = truncates ? bytes.size() - cuts[i].offset : 0;
    in_turn(
        [this, part, event, missing, fault] {
          send_part(part, event, missing);
          inside_event_ = true;
          strike_one(fault);
        },
        [this] { inside_event_ = false; });
  }
}

void Delivery::send_part(std::string_view bytes, std::size_t event, std::size_t missing) {
  if (bytes.empty() && missing == 0) return;
  const std::string_view wire = framing_ ? framing_->wrap(bytes, missing) : bytes;
  log(AnswerLog::Kind::body, bytes, wire, missing, event);
  send(wire);
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

void Delivery::send(std::string_view bytes) {
  const Writes::Kind kind = plan_.writes.kind;
  const bool is_whole =
      kind == Writes::Kind::together || kind == Writes::Kind::split || (kind == Writes::Kind::each_event && framing_);
  if (!is_whole && gathered_.size() - united_ + bytes.size() > delivery::largest_copy) {
    flush();
    if (bytes.size() > delivery::largest_copy) {
      // The last bytes are gathered all the same: the mark that follows is theirs.
      large_ = bytes.substr(0, bytes.size() - delivery::largest_copy);
      units_.push_back({large_.size(), true});
      position_ += large_.size();
      bytes.remove_prefix(large_.size());
    }
  }
  gathered_.append(bytes);
  position_ += bytes.size();
}

void Delivery::mark() {
  marks_.push_back({position_, sent_});
  if (position_ != written_) return;
  const std::lock_guard<std::mutex> lock(progress_.handover);
  publish();
}

void Delivery::end_part() {
  if (plan_.writes.kind == Writes::Kind::each_event || plan_.writes.kind == Writes::Kind::sliced) flush();
}

void Delivery::leave() {
  if (plan_.writes.kind != Writes::Kind::together && plan_.writes.kind != Writes::Kind::split) flush();
}

void Delivery::flush() {
  std::size_t size = gathered_.size() - united_;
  if (size == 0) return;
  united_ += size;
  const std::size_t begin = position_ - size;
  if (plan_.writes.kind == Writes::Kind::split && plan_.writes.size >= begin && plan_.writes.size - begin < size) {
    const std::size_t first = plan_.writes.size - begin;
    if (first > 0) units_.push_back({first});
    units_.push_back({size - first, false, true});
  } else {
    units_.push_back({size});
  }
}

Outlet::Look Delivery::hand_over() {
  if (units_.empty()) return Outlet::Look::over;
  while (next_unit_ < units_.size()) {
    Unit& unit = units_[next_unit_];
    const Outlet::Look look = awaits_room_ ? outlet_.look_for_room() : pause_between_writes(unit);
    if (look != Outlet::Look::over) return look;
    std::string_view bytes = unit.is_large ? large_ : std::string_view(gathered_).substr(taken_, unit.size);
    if (plan_.writes.kind == Writes::Kind::sliced) bytes = bytes.substr(0, plan_.writes.size);
    std::optional<std::size_t> count;
    {
      const std::lock_guard<std::mutex> lock(progress_.handover);
      count = outlet_.write_some(bytes);
      if (count) {
        written_ += *count;
        if (progress_.log) progress_.log->handed_over(written_, timeline_.now());
        publish();
      }
    }
    if (!count) return Outlet::Look::given_up;
    awaits_room_ = *count == 0;
    unit.size -= *count;
    if (unit.is_large)
      large_.remove_prefix(*count);
    else
      taken_ += *count;
    if (unit.size == 0) ++next_unit_;
  }
  units_.clear();
  next_unit_ = 0;
  gathered_.erase(0, taken_);
  united_ -= taken_;
  taken_ = 0;
  return Outlet::Look::over;
}

Outlet::Look Delivery::pause_between_writes(Unit& unit) {
  const bool is_slice = plan_.writes.kind == Writes::Kind::sliced && written_ > 0 && paused_at_ != written_;
  if (!unit.is_second_half && !is_slice) return Outlet::Look::over;
  is_split_ = is_split_ || unit.is_second_half;
  if (!reads_too_slowly_) {
    if (!pause_) pause_.emplace(outlet_);
    const Outlet::Look look = outlet_.look(*pause_, Outlet::OnClientClosed::go_on);
    if (look != Outlet::Look::over) return look;
    time_to_read_ += pause_->passed();
    reads_too_slowly_ = pause_->is_vain() || time_to_read_ > delivery::BetweenWrites::most_in_all;
    pause_.reset();
  }
  unit.is_second_half = false;
  paused_at_ = written_;
  return Outlet::Look::over;
}

void Delivery::shrink() {
  if (!units_.empty() || !gathered_.empty()) return;
  std::string().swap(gathered_);
  if (marks_.empty()) std::vector<Mark>().swap(marks_);
  if (simply_) framing_->shrink();
}

void Delivery::publish() {
  const std::size_t before = published_;
  while (published_ < marks_.size() && marks_[published_].bytes <= written_) ++published_;
  if (published_ == before) return;
  const Sent& sent = marks_[published_ - 1].sent;
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

void Delivery::log(AnswerLog::Kind kind, std::string_view payload, std::string_view wire, std::size_t missing,
                   std::size_t event) const {
  if (!progress_.log) return;
  const bool is_compressed = kind == AnswerLog::Kind::body && framing_ && plan_.sse.gzip();
  const bool is_bare = is_compressed || wire.size() == payload.size();
  const std::size_t at = is_bare ? 0 : wire.find("\r\n") + 2;  // behind the size of its HTTP chunk
  progress_.log->add(kind, payload, {position_, wire.size(), at, missing, is_compressed}, event);
}

void Delivery::announce_last_bytes() const {
  outlet_.last_bytes_follow();
  if (before_last_bytes_) before_last_bytes_();
}

void Delivery::await_done() {
  if (!progress_.done || outlet_.has_left()) return;
  progress_.done_at = std::chrono::steady_clock::time_point::max();
  await([this] { return outlet_.look_for_delivery(); });
  in_turn([this] { progress_.done_at = std::chrono::steady_clock::now(); });
}

void Delivery::strike(Trigger::Kind kind, std::size_t count, std::size_t from) {
  for (std::size_t i = from; i < plan_.faults.size(); ++i) {
    const Trigger& trigger = plan_.faults[i].trigger;
    if (trigger.kind() != kind || trigger.count() != count || reached_[i]) continue;
    in_turn([this, kind, count, i] { strike(kind, count, i + 1); });
    return strike_one(i);
  }
}

void Delivery::strike_one(std::size_t fault) {
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
  flush();
  const Fault& struck = plan_.faults[fault];
  in_turn(
      [this, &struck] {
        if (!struck.effect.gate()) await_done();  // a gate is reached whether the client reads or not
      },
      [this, &struck] { happen(struck); });
}

void Delivery::mark_reached(std::size_t fault) {
  reached_[fault] = true;
  if (fault == 0) progress_.first_fault = true;
}

void Delivery::happen(const Fault& fault) {
  const Effect& effect = fault.effect;
  switch (effect.kind()) {
    case Effect::Kind::stall: return stall(fault);
    case Effect::Kind::error_event: return send_error(effect);
    case Effect::Kind::half_close: return half_close(fault.trigger);
    case Effect::Kind::garbage:
      announce_last_bytes();
      log(AnswerLog::Kind::garbage, effect.bytes(), effect.bytes());
      send(effect.bytes());
      flush();
      return in_turn([this] { end_connection(Outlet::Ending::close); });
    case Effect::Kind::reset_connection: return end_connection(Outlet::Ending::reset);
    case Effect::Kind::close_connection:
    case Effect::Kind::truncate: return end_connection(Outlet::Ending::close);
    case Effect::Kind::skip_event:
    case Effect::Kind::duplicate_event:
    case Effect::Kind::wrong_content_length: return;
  }
}

void Delivery::stall(const Fault& fault) {
  begin_noted({ScriptedWait::Kind::stall, faults::place_of(fault.trigger)});
  in_turn([this] { end_noted(); });
  const Effect& effect = fault.effect;
  if (effect.gate()) return pass(*effect.gate());
  wait_until(effect.duration() ? later(timeline_.now(), *effect.duration()) : TimePoint::max(), "a stall");
}

void Delivery::end_connection(Outlet::Ending ending) {
  log_end(ending == Outlet::Ending::reset ? SentAnswer::Ending::reset : SentAnswer::Ending::closed);
  await([this] { return outlet_.look_for_delivery(); });
  in_turn([this, ending] {
    outlet_.end(ending);
    end(Result::broken_by_fault);
  });
}

void Delivery::send_error(const Effect& effect) {
  on_next_event_.clear();  // they were for what it replaces
  announce_last_bytes();
  in_turn([this] { send_byte_order_mark(); },
          [this] {
            if (sent_.unfinished) send_body(plan_.sse.line_end(), 0);
          },
          [this, &effect] {
            extra_.data = effect.failure() ? error_body(*effect.failure(), profile_) : effect.bytes();
            ++events_;
            const bool done_follows = plan_.sse.done() && !sent_.done;
            if (done_follows)
              in_turn([this] {
                ++events_;
                extra_.data = "[DONE]";
                send_event(extra_, true);
              });
            send_event(extra_, !done_follows);
          },
          [this] { end_body(); }, [this] { end(Result::broken_by_fault); });
}

void Delivery::half_close(const Trigger& trigger) {
  announce_last_bytes();
  log_end(SentAnswer::Ending::half_closed);
  await([this] { return outlet_.look_for_delivery(); });
  in_turn(
      [this, &trigger] {
        outlet_.end_sending();
        framing_.reset();  // nothing can be sent any more
        wait_for_client_to_leave({ScriptedWait::Kind::half_close, faults::place_of(trigger)},
                                 "a half-closed connection");
      },
      [this] {
        outlet_.end(Outlet::Ending::close);
        end(Result::broken_by_fault);
      });
}

void Delivery::hold(HoldPoint::Kind kind, std::size_t number) {
  for (std::size_t i = plan_.holds.size(); i-- > 0;)
    if (const HoldPoint& place = plan_.holds[i].place; place.kind() == kind && place.number() == number)
      in_turn([this, i] { hold(i); });
}

void Delivery::hold(std::size_t index) {
  came_to_[index] = true;
  begin_noted({ScriptedWait::Kind::hold, plan_.holds[index].place.to_string()});
  in_turn([this] { end_noted(); });
  pass(plan_.holds[index].gate);
}

void Delivery::wait_until(TimePoint deadline, std::string purpose) {
  if (timeline_.now() < deadline) leave();
  const bool has_end = deadline != TimePoint::max();
  const auto moment = share<Moment>(deadline, std::move(purpose), has_end ? std::nullopt : stall_guard_);
  in_turn([this, moment] { wait_for(moment); });
}

void Delivery::wait_for(const std::shared_ptr<Moment>& moment) {
  // One wait at a time: the clock takes this exchange to be at rest as soon as it has the first.
  const bool has_end = moment->deadline != TimePoint::max();
  const bool goes_on = has_end && !nothing_follows_;
  const bool ping_comes = !moment->is_last && (has_end || !timeline_.is_instant()) && ping_comes_by(moment->deadline);
  if (ping_comes)
    moment->begin(timeline_, next_ping_, "a ping");
  else
    moment->begin(timeline_, moment->deadline, moment->purpose);
  awaits_moment_ = has_end;
  await([this, moment, on_client_closed = goes_on ? Outlet::OnClientClosed::go_on : Outlet::OnClientClosed::give_up] {
    return outlet_.look(*moment->either, on_client_closed);
  });
  in_turn([this, moment, has_end, ping_comes] {
    const bool guard_is_over = moment->guard.over();
    const bool clock_guard_expired = moment->clock->guard_expired();
    moment->end();
    if (!ping_comes) {
      if (guard_is_over) return stall_guard_expired(moment->purpose);
      if (clock_guard_expired)
        guard_expired();
      else if (has_end)
        note_lateness(moment->deadline);
    } else if (guard_is_over || (clock_guard_expired && !has_end)) {
      moment->is_last = true;
      wait_for(moment);
    } else if (clock_guard_expired) {
      guard_expired();
    } else {
      in_turn([this, moment] { wait_for(moment); });
      send_ping();
    }
  });
}

void Delivery::note_lateness(TimePoint moment) {
  unhindered_since_ = std::max(unhindered_since_, moment);
  progress_.note_lateness(timeline_.lateness(unhindered_since_));
}

void Delivery::pass(const Gate& gate) {
  leave();
  in_turn([this, &gate] {
    if (timeline_.is_guard_spent()) return pass_by(gate);
    wait_at(share<GateWait>(Access::state(gate), outlet_.waker(), [this] { return outlet_.delivered(); }));
  });
}

void Delivery::wait_at(const std::shared_ptr<GateWait>& gate) {
  if (timeline_.is_instant() || !ping_comes_by(TimePoint::max()) || gate->over()) return wait_at_last(gate);
  struct UntilPing {
    UntilPing(Timeline& timeline, TimePoint moment, GateWait& gate)
        : clock(timeline, moment, "a ping"), either(gate, clock) {}
    ClockWait clock;
    delivery::EitherOf either;
  };
  const auto ping = share<std::optional<UntilPing>>();
  ping->emplace(timeline_, next_ping_, *gate);
  await([this, gate, ping] { return outlet_.look((*ping)->either, Outlet::OnClientClosed::go_on); });
  in_turn([this, gate, ping] {
    const bool ping_is_due = (*ping)->clock.over() && !(*ping)->clock.guard_expired();
    ping->reset();
    if (!ping_is_due) return wait_at_last(gate);
    in_turn([this, gate] { wait_at(gate); });
    send_ping();
  });
}

void Delivery::wait_at_last(const std::shared_ptr<GateWait>& gate) {
  if (!gate->over()) timeline_.settle();
  await([this, gate] { return outlet_.look(*gate, Outlet::OnClientClosed::go_on); });
  in_turn([this, gate] {
    if (gate->guard_expired()) guard_expired();
  });
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
  log_end(SentAnswer::Ending::reset);
  outlet_.end(Outlet::Ending::reset);
  end(Result::guard_expired);
}

bool Delivery::ping_comes_by(TimePoint moment) {
  if (!may_ping()) return false;
  const Duration late = timeline_.now() - next_ping_;
  if (late >= plan_.sse.ping_every()) next_ping_ += late - late % plan_.sse.ping_every();
  return next_ping_ <= moment;
}

void Delivery::send_ping() {
  next_ping_ = later(next_ping_, plan_.sse.ping_every());
  in_turn([this] { send_byte_order_mark(); },
          [this] {
            leave();
            in_turn([this] { leave(); });
            send_between(framing_->ping());
          });
}

void Delivery::wait_for_client_to_leave(ScriptedWait scripted, const char* purpose) {
  begin_noted(std::move(scripted));
  in_turn([this] {
    steps_after_client_.reset();
    end_noted();
  });
  steps_after_client_ = steps_.size();
  wait_until(TimePoint::max(), purpose);
}

void Delivery::begin_noted(ScriptedWait wait) {
  progress_.set_scripted_wait(std::move(wait));
  is_noted_ = true;
}

void Delivery::end_noted() {
  progress_.set_scripted_wait(std::nullopt);
  is_noted_ = false;
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
