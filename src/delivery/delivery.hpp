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
#include "../model/reply.hpp"
#include "../model/reply_data.hpp"
#include "framing.hpp"
#include "outlet.hpp"
#include "pace_schedule.hpp"
#include "progress.hpp"
#include "waits.hpp"
#include "write_queue.hpp"

namespace mock_gateway::detail {

/// Delivers one answer: sends each byte at its time and applies the faults. All times are absolute deadlines on the
/// exchange's timeline, so delays never add up. A non-blocking state machine: an answer has stages, a stage has steps,
/// and a step may push more, which run first. A step that must wait stays next until advance() is called again.
class Delivery {
 public:
  enum class Result {
    completed,
    /// The client left or stalled, or the gateway stops.
    broken_off,
    broken_by_fault,
    /// The stall guard reset the connection.
    guard_expired,
  };

  /// The pace counts from `start`. Arguments, also of whole() and stream(), must outlive the delivery.
  Delivery(const ReplyData& plan, PaceSchedule& pace, Outlet& outlet, Timeline& timeline, TimePoint start,
           DeliveryProgress& progress);
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// Sets what returns the data of an error event for a failure.
  void on_error_event(std::function<std::string(const Failure&)> data_of) { error_event_ = std::move(data_of); }
  /// Sets a comment to send before the events of a stream, with its blank line.
  void opening_comment(std::string_view comment) { opening_comment_ = comment; }
  /// Sets the real time after which the connection of a wait for the client is reset. Default: never.
  void stall_guard(std::optional<Duration> guard) { stall_guard_ = guard; }
  std::size_t announced_length(std::size_t size);
  /// Sets a callback to run before the answer's last bytes are sent, because the client may react to them at once.
  void before_last_bytes(std::function<void()> callback) { before_last_bytes_ = std::move(callback); }

  /// Sets a callback for each fault, by its index, to run before the client can notice the fault.
  void on_fault(std::function<void(std::size_t)> callback) { on_fault_ = std::move(callback); }

  /// Prepares an answer in one piece, sent when the last of `token_count` tokens would be. `ends_with_body`: the client
  /// knows that the answer is complete when it has the body.
  void whole(std::string_view head, std::string_view body, std::size_t token_count, bool ends_with_body = false);
  /// Notes that the connection closes after the answer, even without a fault.
  void closes_at_end() { closes_at_end_ = true; }
  /// Prepares a stream of events. The head and role event are sent at once, each token at its time.
  void stream(std::string_view head, EventSource& source, bool chunked);
  /// Sends as much as possible now. Empty: call again when the outlet is ready.
  std::optional<Result> advance();

  bool reached(std::size_t fault) const { return reached_[fault]; }
  /// Whether the answer was complete at the place of the fault, so that the fault could do nothing.
  bool came_too_late(std::size_t fault) const;
  bool reached_hold(std::size_t hold) const { return reached_holds_[hold]; }
  bool is_split() const { return writes_.is_split(); }
  /// Returns the wait that the stall guard ended, or empty: "stalled as scripted after token 2 for 120 s; …".
  const std::string& expired_wait() const { return expired_wait_; }
  /// The same for the guard of a gate or manual clock: "was held as scripted …: the gate was not opened in time".
  const std::string& spent_guard() const { return spent_guard_; }

 private:
  using Sent = WriteQueue::Sent;

  /// The stages in order. An answer in one piece has `body` instead of the stages from `stream` to `done`.
  enum class Stage { head, body, stream, events, done, at_end, end, await_last_bytes, finished };

  struct Waiting {
    explicit Waiting(std::optional<Duration> limit) : guard(limit) {}
    void begin(Timeline& timeline, TimePoint moment, const std::string& purpose, Pending& other) {
      clock.emplace(timeline, moment, purpose);
      either.emplace(*clock, other);
    }
    void end_check() {
      either.reset();
      clock.reset();
    }
    void wait_without_pings(Timeline& timeline) {
      is_last = true;
      if (!gate->is_over()) timeline.settle();
    }

    delivery::RealTimeLimit guard;
    std::optional<GateWait> gate;
    std::optional<ClockWait> clock;  // until `moment`, or until a ping before it
    std::optional<delivery::EitherOf> either;
    bool is_for_ping = false;
    bool is_noted = false;  // whether the progress shows it
    bool is_last = false;   // no more pings
  };

  struct Step {
    enum class Kind {
      // Output. `number` is the event that `bytes` belong to, or 0. `bytes` and `event` must stay valid until they are
      // sent.
      head,
      byte_order_mark,
      body,     // `bytes` of the body, split at faults inside them
      part,     // `bytes` up to a fault; the HTTP chunk announces `missing` more bytes
      rest,     // `bytes` after the last fault
      between,  // `bytes` between events
      between_sent,
      this_event,  // the event in `event_`
      event,       // `event`, as often as faults repeat it
      copy,        // one repetition of `event`
      copy_sent,
      done_follows,        // tells the log that `[DONE]` follows
      event_after_source,  // `bytes`, an event after the source's events
      error_event,         // the error event of fault `number`
      done_after_error,
      line_end,  // ends an unfinished event
      end_of_body,
      open_stream,  // waits for the client to close the stream
      all_handed_over,
      flush_before_wait,
      announce_last_bytes,
      // Faults. `number` is the index in the plan.
      strike,          // the faults of `trigger`, from index `number` on
      strike_at_byte,  // the faults whose byte was just sent
      fault_inside,
      after_inside,
      happen,
      // Waits.
      hold,    // hold `number` of the plan
      moment,  // until `moment`, for the purpose `bytes`; empty: for the next event
      gate,    // at `gate`
      noted_wait_over,
      client_left,       // ends a wait for the client to leave
      await_delivery,    // until the client's kernel has received everything written
      await_last_bytes,  // until the client's kernel has received the last bytes
      done_left,         // while `[DONE]` is still in the gateway's send queue
      done_delivered,
      // Ends.
      half_closed,  // by fault `number`
      close_when_delivered,
      close,
      reset,
      end_by_fault,
    };

    Kind kind;
    std::size_t number = 0;
    std::string_view bytes = {};
    std::size_t missing = 0;
    const StreamEvent* event = nullptr;
    bool is_last = false;
    Trigger::Kind trigger = Trigger::Kind::at_end;
    std::size_t count = 0;
    TimePoint moment = {};
    const Gate* gate = nullptr;
    std::unique_ptr<Waiting> waiting = nullptr;
  };
  using Kind = Step::Kind;

  /// An offset in bytes of the body where a fault is triggered.
  struct Cut {
    std::size_t offset;
    std::size_t fault;
  };

  // The state machine.
  void begin_stage();
  /// Performs the next step or begins the next stage. Returns `not_yet` if the step must wait and all bytes before it
  /// have left.
  Outlet::WaitState advance_one_step();
  void perform(const Step& step);
  /// Adds a step to run after the steps that the current one already added, and before all other steps.
  void add(Step step);
  void add_event(Kind kind, const StreamEvent& event, bool is_last);
  void add_event_after_source(std::string_view data, bool is_last);
  Step take_step();
  void end(Result result);
  void break_off();
  /// Notes the end of a wait for the client, a gate or a script.
  void note_external_wait_end();
  /// Whether it waits for a time, which needs no external event.
  bool waits_for_moment() const;

  // Output, from the whole to its parts.
  void wait_for_whole();
  void begin_stream();
  void send_events();
  bool take_event();
  TimePoint due();
  std::string event_name() const;
  void send_on_fast_path();
  void send_event(const StreamEvent& event, bool is_last);
  void note_copy(const StreamEvent& event, bool ends_unfinished);
  void end_body();
  void send_body(std::string_view bytes, std::size_t event);
  void send_rest(std::string_view bytes, std::size_t event);
  void send_part(std::string_view bytes, std::size_t event, std::size_t missing);
  std::vector<Cut> cuts_in(std::string_view bytes, std::size_t event) const;
  void log(AnswerLog::Kind kind, std::string_view payload, std::string_view wire, std::size_t missing = 0,
           std::size_t event = 0) const;
  void log_end() const {
    if (progress_.log) progress_.log->add_end(writes_.position());
  }
  void log_end(SentAnswer::Ending ending) const {
    if (progress_.log) progress_.log->end(ending, timeline_.now());
  }
  void announce_last_bytes() const;

  // Faults.
  /// Triggers the faults of `trigger` from index `from` on, as a step or now.
  void add_strike(Trigger::Kind trigger, std::size_t count);
  void strike_now(Trigger::Kind trigger, std::size_t count, std::size_t from = 0);
  void strike_one(std::size_t fault);
  void mark_reached(std::size_t fault);
  /// Whether the effect can no longer change what the client gets.
  bool is_too_late(Effect::Kind effect) const;
  void happen(std::size_t fault);
  void send_error(const Effect& effect);
  /// Ends the connection once the client's kernel has received everything.
  void end_connection(Outlet::Ending ending);

  // Waits.
  void add_holds(HoldPoint::Kind kind, std::size_t number);
  void hold_at(std::size_t index);
  Outlet::OnClientClosed on_client_closed() const {
    return plan_.survives_half_close ? Outlet::OnClientClosed::ignore : Outlet::OnClientClosed::leave;
  }
  void add_wait_at(const Gate& gate, ScriptedWait::Kind kind, const std::string& place);
  void add_wait_until(TimePoint moment, std::string_view purpose);
  /// Sends the dialect's pings during the wait, as check_gate() does. A wait until TimePoint::max() ends when the
  /// client closes its side, or by the stall guard.
  Outlet::WaitState check_moment(Step& step);
  Outlet::WaitState check_gate(Step& step);
  void wait_for_client_to_leave(ScriptedWait scripted, std::string_view purpose);
  /// Shows a scripted wait in the progress until end_noted().
  void begin_noted(ScriptedWait wait);
  void end_noted();
  void stall_guard_expired();
  void note_lateness(TimePoint moment);
  void plan_pings();
  /// Whether a ping is due by `moment`. Of several late pings, only the last is sent.
  bool ping_comes_by(TimePoint moment);
  void send_ping();
  void guard_expired(const char* why);

  const ReplyData& plan_;
  PaceSchedule& pace_;
  Outlet& outlet_;
  Timeline& timeline_;
  TimePoint start_;
  /// The end of the last external wait: for the client, a gate or a script. Lateness counts from here at the earliest.
  TimePoint external_wait_ended_;
  DeliveryProgress& progress_;
  std::function<std::string(const Failure&)> error_event_;
  std::string_view opening_comment_;
  std::optional<Duration> stall_guard_;
  std::string expired_wait_;
  std::string spent_guard_;
  std::function<void()> before_last_bytes_;
  std::function<void(std::size_t)> on_fault_;
  std::vector<bool> reached_;               // for each fault of the plan
  std::vector<bool> reached_holds_;         // for each hold of the plan
  std::vector<std::size_t> too_late_;       // faults that could do nothing
  std::vector<std::size_t> on_next_event_;  // faults that wait for the event they modify

  WriteQueue writes_;               // flushed writes are passed to the connection before the next step
  Stage next_stage_ = Stage::head;  // `events` repeats while there are more events
  std::vector<Step> steps_;         // the steps of this stage; the last one is next
  std::size_t insert_at_ = 0;       // where add() inserts: added steps run before the remaining ones
  bool is_held_up_ = false;         // waits for something other than a time
  bool is_noted_ = false;           // the progress shows a wait
  std::optional<Result> result_;

  std::string_view head_;
  std::string_view body_;
  std::size_t token_count_ = 0;
  bool ends_with_body_ = false;
  bool closes_at_end_ = false;
  bool nothing_follows_ = false;  // all of the body has been sent
  EventSource* source_ = nullptr;
  bool chunked_ = false;
  bool on_fast_path_ = false;    // no fault, log or special dialect affects events
  bool looks_ahead_ = false;     // the next event is fetched before the current one is sent
  std::optional<bool> follows_;  // whether there is `following_`; empty: not yet fetched
  StreamEvent event_;
  StreamEvent following_;
  StreamEvent extra_;                    // an event that is not from the source
  std::optional<EventFraming> framing_;  // set once the head of a stream has been sent
  std::size_t events_ = 0;
  std::size_t tokens_ = 0;
  std::size_t body_bytes_ = 0;  // sent bytes of the body, before gzip and chunks
  Sent sent_;
  TimePoint next_ping_ = TimePoint::max();
  bool inside_event_ = false;
};

}  // namespace mock_gateway::detail
