// Sweeps: default effects, places, skipped pairs, names of steps, refusals.

#include "../core/shared.hpp"
#include "sweep_run.hpp"

#include <algorithm>  // any_of, find_if, max, min, none_of, remove_if
#include <chrono>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../delivery/gzip.hpp"
#include "../evidence/record.hpp"
#include "../model/fault_rows.hpp"
#include "../model/reply_checks.hpp"
#include "../model/reply_data.hpp"
#include "../script/script.hpp"

namespace mock_gateway {

std::vector<Effect> sweep_effects() {
  return {close_connection(),
          reset_connection(),
          half_close(),
          truncate(),
          garbage("\xff no HTTP, no SSE, no JSON \xfe\r\n\r\n"),
          stall(std::chrono::milliseconds{10}),
          error_event(server_error()),
          skip_event(),
          duplicate_event()};
}

const detail::SweepPlan& detail::SweepPlan::moved_from() {
  static const SweepPlan fresh;
  return fresh;
}

SweepOptions splits() { return detail::with(SweepOptions(), &detail::SweepPlan::splits, true); }

SweepOptions::SweepOptions() : data_(detail::SweepPlan{}) {}

detail::SweepPlan& SweepOptions::edit() { return data_.own(); }

SweepOptions SweepOptions::with(std::initializer_list<Matcher> matchers) const {
  SweepOptions changed = *this;
  std::vector<Matcher>& all = changed.edit().matchers;
  all.insert(all.end(), matchers.begin(), matchers.end());
  return changed;
}

SweepOptions SweepOptions::effects(std::vector<Effect> effects) const {
  if (data_->splits) throw GatewayError("splits() break nothing; use effects with SweepOptions{}");
  if (effects.empty()) throw GatewayError("a sweep needs at least one effect; without effects() it has the usual ones");
  return detail::with(*this, &detail::SweepPlan::effects, std::move(effects));
}

SweepOptions SweepOptions::every_byte() const {
  if (data_->splits) throw GatewayError("splits() are at every byte; use every_byte with SweepOptions{}");
  return detail::with(*this, &detail::SweepPlan::every_byte, true);
}

SweepOptions SweepOptions::limit(std::size_t steps) const {
  if (steps == 0) throw GatewayError("limit(0) would sweep nothing; give at least 1 step");
  return detail::with(*this, &detail::SweepPlan::at_most, steps);
}

SweepOptions SweepOptions::body_only() const {
  if (!data_->splits) throw GatewayError("body_only is for splits(); to break a head, use before_headers()");
  return detail::with(*this, &detail::SweepPlan::body_only, true);
}

SweepOptions SweepOptions::http_chunks() const {
  if (!data_->splits)
    throw GatewayError("http_chunks is for splits(); Reply::http_chunks_of cuts the chunks of a reply");
  return detail::with(*this, &detail::SweepPlan::http_chunks, true);
}

SweepStep::SweepStep(std::string name, std::optional<Fault> fault, std::size_t split, std::vector<Exchange> exchanges,
                     bool reached)
    : name_(std::move(name)),
      fault_(std::move(fault)),
      split_(split),
      exchanges_(std::move(exchanges)),
      reached_(reached) {}

const Trigger& SweepStep::trigger() const {
  if (!fault_) throw GatewayError("a step of splits() has no trigger; split() is its byte");
  return fault_->trigger;
}

const Effect& SweepStep::effect() const {
  if (!fault_) throw GatewayError("a step of splits() has no effect; split() is its byte");
  return fault_->effect;
}

std::size_t SweepStep::split() const {
  if (fault_) throw GatewayError("only a step of splits() is split; trigger() and effect() say how this one broke");
  return split_;
}

std::ostream& operator<<(std::ostream& out, const SweepStep& step) { return out << step.name(); }

namespace detail {
namespace sweep {

struct Boundary {
  std::vector<Trigger> triggers;  // the triggers at this place; an effect uses the first that it allows
  std::size_t offset = 0;         // the body bytes before this place
  bool inside_event = false;      // in a stream, the place is then also inside an HTTP chunk
  bool event_follows = false;
};

/// Returns the positions at which to cut `bytes`: all, or only the middle and one inside each multi-byte character.
std::vector<std::size_t> cuts_inside(std::string_view bytes, bool every_byte) {
  std::vector<std::size_t> cuts;
  const std::size_t middle = bytes.size() / 2;
  for (std::size_t offset = 0; offset < bytes.size();) {
    const std::size_t length = text::next_code_point(bytes, offset);
    for (std::size_t cut = offset; cut < offset + length; ++cut)
      if (cut > 0 && (every_byte || cut == middle || (length > 1 && cut == offset + 1))) cuts.push_back(cut);
    offset += length;
  }
  return cuts;
}

std::vector<Boundary> boundaries(const AnswerLog::Parts& trace, bool every_byte) {
  std::vector<Boundary> found{{{before_headers()}}, {{after_headers()}}};
  const auto more_events = [&trace](std::size_t from) {
    return std::any_of(trace.parts.begin() + static_cast<std::ptrdiff_t>(from), trace.parts.end(),
                       [](const AnswerLog::Parts::Part& part) { return part.event != 0; });
  };
  found.back().event_follows = more_events(0);
  std::size_t before = 0;
  for (std::size_t i = 0; i < trace.parts.size(); ++i) {
    const auto& [event, bytes] = trace.parts[i];
    for (const std::size_t cut : cuts_inside(bytes, every_byte)) {
      const Trigger trigger = event == 0 ? after_bytes(before + cut) : mock_gateway::inside_event(event, cut);
      found.push_back({{trigger}, before + cut, trace.streamed, false});
    }
    before += bytes.size();
    if (event != 0) {
      found.push_back({{after_events(event)}, before, false, more_events(i + 1)});
    } else if (trace.streamed) {
      found.push_back({{after_bytes(before)}, before, false, more_events(i + 1)});
    }
  }
  // Use the specific name of a place if it has one.
  const auto call = [&found](std::size_t events, const Trigger& name) {
    for (Boundary& boundary : found) {
      Trigger& trigger = boundary.triggers.front();
      if (trigger.kind() == Trigger::Kind::after_events && trigger.count() == events) trigger = name;
    }
  };
  if (trace.done > 0) call(trace.done - 1, before_done());
  if (!trace.whole || trace.parts.empty()) return found;
  if (trace.parts.back().event != 0) {
    call(trace.parts.back().event, at_end());
  } else {
    found.push_back({{at_end()}, before, false, false});
  }
  if (trace.streamed && trace.done == 0) found.back().triggers.push_back(before_done());
  return found;
}

}  // namespace sweep

class SweepRun {
 public:
  SweepRun(std::shared_ptr<Script> script, std::shared_ptr<JournalState> journal, bool manual, ReplyData reply,
           std::function<void()> run, SweepPlan options, SourceLocation where)
      : script_(std::move(script)),
        journal_(std::move(journal)),
        reply_(std::move(reply)),
        run_(std::move(run)),
        options_(std::move(options)),
        where_(where) {
    reply_.swept = true;
    if (options_.effects) {
      effects_ = *options_.effects;
      return;
    }
    effects_ = sweep_effects();
    // A stall would hang: the test cannot advance the clock while the callable waits for its answer.
    const auto waits = [](const Effect& effect) { return effect.kind() == Effect::Kind::stall; };
    if (manual) effects_.erase(std::remove_if(effects_.begin(), effects_.end(), waits), effects_.end());
  }

  std::size_t size() {
    run_unbroken();
    return options_.at_most ? std::min(*options_.at_most, count()) : count();
  }
  SweepStep step(std::size_t number);

 private:
  struct Pair {
    std::size_t boundary;
    std::size_t trigger;
    std::size_t effect;
  };

  void run_unbroken();
  std::vector<Exchange> run(ReplyData reply, const std::string& name);
  [[noreturn]] void refuse(std::uint64_t newest_before, std::size_t requests) const;
  void pair_up(const AnswerLog::Parts& trace);
  bool is_pair(const AnswerLog::Parts& trace, const sweep::Boundary& boundary, const Effect& effect) const;
  std::size_t count() const { return options_.splits ? bytes_ - first_split_ : pairs_.size(); }
  std::size_t chosen(std::size_t number);
  SweepStep broken(const Pair& pair);
  SweepStep split(std::size_t byte);

  std::shared_ptr<Script> script_;
  std::shared_ptr<JournalState> journal_;
  ReplyData reply_;
  std::function<void()> run_;
  SweepPlan options_;
  SourceLocation where_;
  std::vector<Effect> effects_;
  bool known_ = false;
  bool last_was_empty_ = false;
  std::vector<sweep::Boundary> boundaries_;
  std::vector<Pair> pairs_;
  std::size_t body_ = 0;         // the body's bytes, without HTTP chunk framing
  std::size_t first_split_ = 1;  // the bytes before the first split
  std::size_t bytes_ = 1;        // the bytes to split: the whole answer, or the body in HTTP chunks
  std::size_t before_ = 0;       // the bytes before those
};

void SweepRun::run_unbroken() {
  if (known_) return;
  const std::uint64_t newest_before = journal_->newest_id();
  ReplyData traced = reply_;
  traced.traced = true;
  const std::vector<Exchange> exchanges = run(std::move(traced), "the unbroken run of a sweep");
  const auto first = std::find_if(exchanges.begin(), exchanges.end(), [](const Exchange& exchange) {
    const AnswerLog* const log = Access::record(exchange).progress.log.get();
    return exchange.outcome(Duration::zero()) == Outcome::Kind::pending || (log && log->keeps_all());
  });
  if (first == exchanges.end()) refuse(newest_before, exchanges.size());
  if (first->outcome(Duration::zero()) == Outcome::Kind::pending) {
    throw GatewayError("the unbroken run of a sweep left its exchange open: " + first->summary() +
                       "; the callable must return when the client has its answer, or has given up and closed");
  }
  const AnswerLog::Parts trace = Access::record(*first).progress.log->parts();
  for (const AnswerLog::Parts::Part& part : trace.parts) body_ += part.bytes.size();
  if (options_.http_chunks) {
    if (first->bytes_sent() <= trace.head + body_ || reply_.sse.open_after_done())
      throw GatewayError("the answer has no HTTP chunks to divide: it must be a stream that ends, over HTTP/1.1");
    bytes_ = std::max<std::size_t>(1, reply_.sse.gzip() ? GzipStream::member_size(body_) : body_);
    before_ = trace.head;
  } else if (options_.splits) {
    bytes_ = first->bytes_sent();
    first_split_ = std::min(bytes_, options_.body_only ? trace.head + 1 : 1);
  } else {
    boundaries_ = sweep::boundaries(trace, options_.every_byte);
    pair_up(trace);
  }
  known_ = true;
}

void SweepRun::refuse(std::uint64_t newest_before, std::size_t requests) const {
  std::string seen;
  for (const auto& record : journal_->snapshot())
    if (record->id > newest_before) seen = "; the last that came: " + Exchange(record).summary();
  if (requests > 0)
    throw GatewayError("the unbroken run of a sweep was answered, but not with the reply that is to be swept" + seen);
  throw GatewayError(
      "the unbroken run of a sweep made no chat request that its reply answered, or the journal holds it no more: the "
      "callable must ask this gateway, and return when it has its answer" +
      seen);
}

std::vector<Exchange> SweepRun::run(ReplyData reply, const std::string& name) {
  StubPlan plan;
  plan.matchers = options_.matchers;
  plan.replies.emplace_back(share<const Reply>(std::move(reply)));
  plan.priority = std::numeric_limits<int>::max();
  plan.name = name;
  plan.where = where_;
  plan.newest_exchange = journal_->newest_id();
  const std::shared_ptr<StubState> stub = script_->mount(std::move(plan));
  {
    // Removes the stub even if the callable throws.
    const std::shared_ptr<void> unmount(nullptr, [&](void*) { script_->remove(stub); });
    run_();
  }
  // The unbroken run gets more time, because all steps depend on it and the machine may pause.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{known_ ? 1 : 10};
  const auto left = [&deadline] {
    return std::max(Duration::zero(),
                    std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now()));
  };
  static_cast<void>(journal_->wait(left(), [&stub] { return stub->recorded() >= stub->calls(); }));
  std::vector<Exchange> exchanges;
  for (auto& record : journal_->snapshot())
    if (record->stub == stub) exchanges.emplace_back(std::move(record));
  for (const Exchange& exchange : exchanges) {
    static_cast<void>(exchange.outcome(left()));
    if (const std::vector<std::string> strikes = exchange.chaos(); !strikes.empty())
      throw GatewayError("a sweep breaks one thing at a time, but chaos struck it (" + strikes.front() +
                         "): call clear_chaos() first");
  }
  // One request may get lost on a connection broken by the previous step, but not two.
  if (known_ && exchanges.empty() && std::exchange(last_was_empty_, true))
    throw GatewayError("two steps of a sweep made no chat request that this gateway received, the second being \"" +
                       name + "\": the callable must ask each time it is called");
  if (!exchanges.empty()) last_was_empty_ = false;
  return exchanges;
}

bool SweepRun::is_pair(const AnswerLog::Parts& trace, const sweep::Boundary& boundary, const Effect& effect) const {
  const bool at_end = boundary.triggers.front().kind() == Trigger::Kind::at_end;
  switch (faults::row_of(effect).place) {
    case EffectPlace::head: return !trace.streamed;
    case EffectPlace::between_events: return trace.streamed;
    case EffectPlace::next_event: return trace.streamed && boundary.event_follows;
    case EffectPlace::anywhere: break;
  }
  if (effect.kind() == Effect::Kind::truncate) {
    if (!trace.streamed && at_end) return false;
    // Outside an HTTP chunk, truncate and close_connection have the same effect.
    const auto closes = [](const Effect& other) { return other.kind() == Effect::Kind::close_connection; };
    return boundary.inside_event || std::none_of(effects_.begin(), effects_.end(), closes);
  }
  // At the end, the client has all announced bytes and need not notice that the connection stays half open.
  if (effect.kind() == Effect::Kind::half_close) return options_.effects || trace.streamed || !at_end;
  return true;
}

void SweepRun::pair_up(const AnswerLog::Parts& trace) {
  for (std::size_t b = 0; b < boundaries_.size(); ++b) {
    for (std::size_t e = 0; e < effects_.size(); ++e) {
      if (!is_pair(trace, boundaries_[b], effects_[e])) continue;
      const std::vector<Trigger>& triggers = boundaries_[b].triggers;
      for (std::size_t t = 0; t < triggers.size(); ++t) {
        if (!why_never(reply_, triggers[t], effects_[e]).empty()) continue;
        pairs_.push_back({b, t, e});
        break;
      }
    }
  }
}

std::size_t SweepRun::chosen(std::size_t number) {
  const std::size_t all = count();
  const std::size_t made = size();
  if (made == all) return number;
  // Draws a step from each interval: at a fixed distance, all steps could have the same effect.
  const std::size_t begin = number * all / made;
  const std::size_t end = (number + 1) * all / made;
  return begin + static_cast<std::size_t>(Random(fingerprint("sweep") + number).below(end - begin));
}

SweepStep SweepRun::step(std::size_t number) {
  const std::size_t index = chosen(number);
  return options_.splits ? split(first_split_ + index) : broken(pairs_[index]);
}

SweepStep SweepRun::broken(const Pair& pair) {
  const sweep::Boundary& boundary = boundaries_[pair.boundary];
  const Fault fault{boundary.triggers[pair.trigger], effects_[pair.effect]};
  const std::string bytes = std::to_string(boundary.offset) + " of " + text::counted(body_, "byte") + " of the body";
  std::string name = fault.effect.to_string() + " ";
  const Trigger::Kind kind = fault.trigger.kind();
  const bool has_body_begun = kind != Trigger::Kind::before_headers && kind != Trigger::Kind::after_headers;
  if (kind == Trigger::Kind::after_bytes)
    name += "after " + bytes;
  else
    name += fault.trigger.to_string() + (has_body_begun ? " (" + bytes + ")" : "");
  ReplyData reply = reply_;
  reply.faults.push_back(fault);
  std::vector<Exchange> exchanges = run(std::move(reply), name);
  const bool reached = std::any_of(exchanges.begin(), exchanges.end(), [](const Exchange& exchange) {
    return Access::record(exchange).progress.first_fault.load();
  });
  return {std::move(name), fault, 0, std::move(exchanges), reached};
}

SweepStep SweepRun::split(std::size_t byte) {
  std::string name = "split after byte " + std::to_string(byte) + " of " + std::to_string(bytes_);
  ReplyData reply = reply_;
  if (options_.http_chunks) {
    name += " of the body, into two HTTP chunks";
    reply.writes = {Writes::Kind::together, 0};
    reply.first_http_chunk = byte;
  } else {
    reply.writes = {Writes::Kind::split, byte};
  }
  std::vector<Exchange> exchanges = run(std::move(reply), name);
  const bool reached = std::any_of(exchanges.begin(), exchanges.end(), [this, byte](const Exchange& exchange) {
    return exchange.bytes_sent() > before_ + byte;
  });
  return {std::move(name), std::nullopt, byte, std::move(exchanges), reached};
}

Sweep make_sweep(std::shared_ptr<Script> script, std::shared_ptr<JournalState> journal, const Clock& clock,
                 const Reply& reply, std::function<void()> run, const SweepOptions& options, SourceLocation where) {
  if (!run) throw GatewayError("sweep: the callable is empty; it must call the gateway");
  if (!Access::data(reply).faults.empty())
    throw GatewayError("sweep: it breaks the reply itself; give it one without fault(…)");
  if (!Access::data(reply).holds.empty())
    throw GatewayError("sweep: no gate opens while the callable runs; give it a reply without hold(…)");
  const Pace& pace = Access::data(reply).pace;
  if (is_manual(clock) && (pace.first_token() || pace.gap() || pace.rate()))
    throw GatewayError(
        "sweep: a manual clock stands still while the callable runs; give it a reply without a pace, or the gateway "
        "an InstantClock");
  return Sweep(share<SweepRun>(std::move(script), std::move(journal), is_manual(clock), Access::data(reply),
                               std::move(run), Access::data(options), where));
}

}  // namespace detail

Sweep::Iterator::Iterator(std::shared_ptr<detail::SweepRun> run) : run_(std::move(run)) { make_step(); }

Sweep::Iterator& Sweep::Iterator::operator++() {
  make_step();
  return *this;
}

Sweep::Iterator Sweep::Iterator::operator++(int) {
  Iterator before = *this;
  make_step();
  return before;
}

void Sweep::Iterator::make_step() {
  step_.reset();
  if (run_ && next_ < run_->size()) step_ = detail::share<const SweepStep>(run_->step(next_++));
}

std::size_t Sweep::size() const { return run_->size(); }

}  // namespace mock_gateway
