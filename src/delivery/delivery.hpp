#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../answer/events.hpp"
#include "../core/clock.hpp"
#include "../core/timeline.hpp"
#include "../model/fault.hpp"
#include "../model/hold.hpp"
#include "../model/profile.hpp"
#include "../model/reply.hpp"
#include "../model/reply_data.hpp"
#include "framing.hpp"
#include "outlet.hpp"
#include "pace_schedule.hpp"
#include "progress.hpp"
#include "waits.hpp"
#include "write_queue.hpp"

namespace mock_gateway::detail {

/// Delivers one answer: which bytes leave when, and where it breaks. One schedule on the exchange's timeline, with
/// absolute deadlines, so that lateness never adds up.
///
/// A state machine, for nothing of it may block. The answer has stages, and each stage has steps: begin_stage() writes
/// down the steps of the next stage, and go_on() performs one after the other. What a step finds that is to be done
/// first, such as a fault or a ping, becomes steps before those that are left. Where a step has to wait for the client,
/// the clock or a gate, it stays the next, and whoever calls go_on() calls it again later.
class Delivery {
 public:
  enum class Result {
    completed,
    /// The outlet gave up: the client left or stalled, or the gateway stops.
    broken_off,
    /// A fault of the plan ended the reply.
    broken_by_fault,
    /// The stall guard ended the reply by a reset.
    guard_expired,
  };

  /// The pace counts from `start`. What is given here, and to whole() or stream(), must outlive this.
  Delivery(const ReplyData& plan, PaceSchedule& pace, Outlet& outlet, Timeline& timeline, TimePoint start,
           DeliveryProgress& progress);
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// Whose error bodies error events have.
  void profile(Profile profile) { profile_ = profile; }
  /// Real time after which a wait that only the client or a stop would end is ended by a reset; nothing, which is the
  /// default: never.
  void stall_guard(std::optional<Duration> guard) { stall_guard_ = guard; }
  /// The Content-Length to announce for a body of `size` bytes.
  std::size_t announced_length(std::size_t size);
  /// Called before the bytes by which a client knows that the answer is whole: it may act before the sender goes on.
  void before_last_bytes(std::function<void()> callback) { before_last_bytes_ = std::move(callback); }

  /// From now on go_on() delivers an answer of one piece. It leaves when the last of `token_count` tokens would have.
  void whole(std::string_view head, std::string_view body, std::size_t token_count);
  /// From now on go_on() delivers an answer of events. Head and role event leave at once; each token at its time.
  void stream(std::string_view head, EventSource& source, bool chunked);
  /// Does what can be done now. Nothing: the outlet knows when to look again.
  std::optional<Result> go_on();

  /// Whether the trigger of the plan's fault of that index has come.
  bool reached(std::size_t fault) const { return reached_[fault]; }
  /// Whether the reply came to the plan's hold of that index.
  bool came_to(std::size_t hold) const { return came_to_[hold]; }
  /// Whether the reply's bytes were split in two as the plan wants.
  bool is_split() const { return writes_.is_split(); }
  /// The wait that the stall guard ended; empty: none. "stalled as scripted after token 2 for 120 s; …".
  const std::string& waited_in_vain() const { return waited_in_vain_; }

 private:
  using Sent = WriteQueue::Sent;

  /// In this order; an answer of one piece has a body in place of the stream.
  enum class Stage { head, body, stream, events, done, at_end, end, last_bytes, over };

  /// A wait that has begun.
  struct Waiting {
    explicit Waiting(std::optional<Duration> limit) : guard(limit) {}
    /// Waits on the clock until `moment`, or until `other` is over.
    void begin(Timeline& timeline, TimePoint moment, const std::string& purpose, Pending& other) {
      clock.emplace(timeline, moment, purpose);
      either.emplace(*clock, other);
    }
    void end_look() {
      either.reset();
      clock.reset();
    }
    void wait_without_pings(Timeline& timeline) {
      is_last = true;
      if (!gate->over()) timeline.settle();
    }

    delivery::RealTimeLimit guard;
    std::optional<GateWait> gate;
    std::optional<ClockWait> clock;  // until the moment that is waited for, or a ping's before it
    std::optional<delivery::EitherOf> either;
    bool is_for_ping = false;
    bool is_last = false;  // no ping comes any more
  };

  struct Step {
    enum class Kind {
      // What is sent. `number` is the event to which `bytes` belong; 0: none. Both must stay as they are until they
      // were sent.
      head,
      byte_order_mark,
      body,     // `bytes` of the body, cut where a fault is to happen inside them
      part,     // those before a fault; the HTTP chunk promises `missing` bytes more
      rest,     // those after the last fault
      between,  // `bytes` that stand between events and are none
      between_sent,
      this_event,  // `event_`
      event,       // `event`, as often as faults want
      copy,        // one of these
      copy_sent,
      done_follows,        // for the log
      event_after_source,  // `bytes`, an event after those of the source
      error_event,         // of the fault `number`
      done_after_error,
      line_end,  // of an event that has none yet
      end_of_body,
      open_stream,  // the client is waited for to close it
      all_handed_over,
      leave,
      announce_last_bytes,
      // Faults. `number` is the index of the fault in the plan.
      strike,          // with each fault of `trigger`, from that one on
      strike_at_byte,  // with those whose byte was the last that was sent
      fault_inside,    // inside an event
      after_inside,
      happen,
      // Waits.
      hold,    // `number` is the index of the hold in the plan
      moment,  // until `moment`, for `bytes`; empty: for the event that is next
      gate,    // at `gate`
      noted_wait_over,
      client_left,  // the end of a wait for that
      delivery,     // until the client's kernel has all that was written
      last_bytes,   // until it has the last bytes
      done_left,    // until it has `[DONE]`, which may lie in the gateway's own send queue, where no client can read it
      done_delivered,
      // Ends.
      half_closed,  // by the fault `number`
      close_when_delivered,
      close,
      reset,
      end_by_fault,  // of the delivery
    };

    Kind kind;
    std::size_t number = 0;
    std::string_view bytes = {};
    std::size_t missing = 0;
    const StreamEvent* event = nullptr;
    bool is_last = false;  // of the events of the stream
    Trigger::Kind trigger = Trigger::Kind::at_end;
    std::size_t count = 0;  // of the trigger
    TimePoint moment = {};
    const Gate* gate = nullptr;
    std::unique_ptr<Waiting> waiting = nullptr;
  };
  using Kind = Step::Kind;

  /// A place inside bytes of the body, and the fault whose trigger it is.
  struct Cut {
    std::size_t offset;
    std::size_t fault;
  };

  // The machine.
  void begin_stage();
  /// Performs the next step, or begins the next stage; `over` unless the step has to wait.
  Outlet::Look go_one_on();
  void perform(const Step& step);
  /// Has a step done after those that were added before by the one that is performed, and before all others.
  void add(Step step);
  void add_event(Kind kind, const StreamEvent& event, bool is_last);
  void add_event_after_source(std::string_view data, bool is_last);
  Step take_step();
  /// Nothing of the reply follows.
  void end(Result result);
  /// The outlet gave up.
  void break_off();
  /// What it was held up by is over.
  void note_unhindered();
  /// Whether it waits for a moment that comes by itself.
  bool waits_for_moment() const;

  // What is sent, from the whole to the part.
  void wait_for_whole();
  void begin_stream();
  /// Sends events of the source, as many as can be sent without a wait.
  void send_events();
  bool take_event();
  /// The moment at which the event leaves that is next.
  TimePoint due();
  std::string due_event() const;
  void send_simply();
  void send_event(const StreamEvent& event, bool is_last);
  void note_copy(const StreamEvent& event, bool ends_unfinished);
  void end_body();
  void send_body(std::string_view bytes, std::size_t event);
  void send_rest(std::string_view bytes, std::size_t event);
  void send_part(std::string_view bytes, std::size_t event, std::size_t missing);
  std::vector<Cut> cuts_in(std::string_view bytes, std::size_t event) const;
  /// Gives the log, if there is one, the payload of the bytes that are about to be sent.
  void log(AnswerLog::Kind kind, std::string_view payload, std::string_view wire, std::size_t missing = 0,
           std::size_t event = 0) const;
  /// Tells the log that the whole answer was sent, or how it ends otherwise.
  void log_end() const {
    if (progress_.log) progress_.log->add_end(writes_.position());
  }
  void log_end(SentAnswer::Ending ending) const {
    if (progress_.log) progress_.log->end(ending, timeline_.now());
  }
  void announce_last_bytes() const;

  // Faults.
  /// Strikes with the faults of that trigger, at its step or now, then from that index on.
  void add_strike(Trigger::Kind trigger, std::size_t count);
  void strike_now(Trigger::Kind trigger, std::size_t count, std::size_t from = 0);
  void strike_one(std::size_t fault);
  void mark_reached(std::size_t fault);
  void happen(std::size_t fault);
  void send_error(const Effect& effect);
  /// Ends the connection when everything sent has come to the client's kernel.
  void end_connection(Outlet::Ending ending);

  // Waits.
  void add_holds(HoldPoint::Kind kind, std::size_t number);
  void hold_at(std::size_t index);
  void add_wait_at(const Gate& gate);
  void add_wait_until(TimePoint moment, std::string_view purpose);
  /// Pings, where the dialect has them, come meanwhile; so at a gate. A wait for TimePoint::max() ends when the client
  /// closes its side, or by the stall guard.
  Outlet::Look look_at_moment(Step& step);
  Outlet::Look look_at_gate(Step& step);
  void wait_for_client_to_leave(ScriptedWait scripted, std::string_view purpose);
  /// Tells the progress of a scripted wait until end_noted().
  void begin_noted(ScriptedWait wait);
  void end_noted();
  void stall_guard_expired(const std::string& purpose);
  /// What was due at that moment can leave now.
  void note_lateness(TimePoint moment);
  void plan_pings();
  bool may_ping() const;
  /// Whether a ping is due at that moment or before. Where several pings are late, only the last one is sent.
  bool ping_comes_by(TimePoint moment);
  void send_ping();
  void guard_expired();

  const ReplyData& plan_;
  PaceSchedule& pace_;
  Outlet& outlet_;
  Timeline& timeline_;
  TimePoint start_;
  /// The end of what the reply last waited for that was not the gateway: its client, a gate, a scripted wait. Nothing
  /// is late before it.
  TimePoint unhindered_since_;
  DeliveryProgress& progress_;
  Profile profile_ = Profile::documented;
  std::optional<Duration> stall_guard_;
  std::string waited_in_vain_;
  std::function<void()> before_last_bytes_;
  std::vector<bool> reached_;               // of each fault of the plan
  std::vector<bool> came_to_;               // each hold of the plan
  std::vector<std::size_t> on_next_event_;  // faults that wait for the event that they change

  WriteQueue writes_;               // what was flushed is handed over before the next step
  Stage next_stage_ = Stage::head;  // of `events`: as long as there may be more
  std::vector<Step> steps_;         // of the stage; the last is next
  std::size_t insert_at_ = 0;       // where steps are added: before those that were left when the one performed began
  bool is_held_up_ = false;         // by something that does not come by itself
  bool is_noted_ = false;           // the progress shows a scripted wait
  std::optional<Result> result_;

  std::string_view head_;
  std::string_view body_;  // of an answer of one piece
  std::size_t token_count_ = 0;
  bool nothing_follows_ = false;  // all of that has been sent
  EventSource* source_ = nullptr;
  bool chunked_ = false;
  bool simply_ = false;          // nothing has to be done for an event but to send it
  bool looks_ahead_ = false;     // each event is taken before the one before it is sent
  std::optional<bool> follows_;  // whether there is `following_`; nothing: that was not asked
  StreamEvent event_;
  StreamEvent following_;
  StreamEvent extra_;                    // that is none of the source's
  std::optional<EventFraming> framing_;  // of a stream whose head has been sent
  std::size_t events_ = 0;               // as the reply has them
  std::size_t tokens_ = 0;
  std::size_t body_bytes_ = 0;  // sent, before gzip and chunks
  Sent sent_;
  TimePoint next_ping_ = TimePoint::max();
  bool inside_event_ = false;
};

}  // namespace mock_gateway::detail
