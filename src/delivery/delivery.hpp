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

namespace mock_gateway::detail {

/// Delivers one answer: which bytes leave when, and where it breaks. One schedule on the exchange's timeline, with
/// absolute deadlines, so that lateness never adds up.
///
/// Nothing of it blocks: what is to be done is written down as steps, and where one has to wait for the client, the
/// clock or a gate, whoever calls go_on() calls it again later.
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
  bool is_split() const { return is_split_; }
  /// The wait that the stall guard ended; empty: none. "stalled as scripted after token 2 for 120 s; …".
  const std::string& waited_in_vain() const { return waited_in_vain_; }

 private:
  using Step = std::function<void()>;

  /// A place inside bytes of the body, and the fault whose trigger it is.
  struct Cut {
    std::size_t offset;
    std::size_t fault;
  };
  /// How far the reply has come with the bytes gathered so far.
  struct Sent {
    std::size_t events = 0;
    std::size_t tokens = 0;
    bool done = false;
    bool byte_order_mark = false;
    /// The last event has no blank line after it yet.
    bool unfinished = false;
  };
  /// What the progress is when so many bytes, of the head and all that followed, have been handed over.
  struct Mark {
    std::size_t bytes;
    Sent sent;
  };
  /// Bytes that are to leave by a write of their own.
  struct Unit {
    std::size_t size;
    /// Its bytes are those of `large_`, and were not gathered.
    bool is_large = false;
    /// The client is to read it apart from what was written before.
    bool is_second_half = false;
  };
  /// A wait for a moment.
  struct Moment;

  // Steps. Those that a step writes down are done after it, and before all that was written down earlier.
  template <class... Steps>
  void in_turn(Steps... steps);
  /// Nothing of the reply follows.
  void end(Result result);
  /// The outlet gave up.
  void break_off();
  /// Has something waited for, as `look` tells, before the next step.
  void await(std::function<Outlet::Look()> look) { awaited_ = std::move(look); }

  // What is sent, from the whole to the write.
  void begin_whole();
  void end_whole();
  void begin_stream();
  void send_head();
  void send_byte_order_mark();
  /// Sends events of the source, as many as can be sent without a wait.
  void send_events();
  /// The moment at which the event leaves that is next.
  TimePoint due();
  std::string due_event() const;
  void send_simply();
  void send_with_faults();
  void take_next_event();
  /// `[DONE]`, and what the dialect has after it.
  void send_done();
  void send_after_events(const std::string& data, bool last);
  /// `event` must stay as it is until it was sent.
  void send_event(const StreamEvent& event, bool last);
  void send_copy(const StreamEvent& event, bool ends_unfinished);
  void note_copy(const StreamEvent& event, bool ends_unfinished);
  void at_end();
  /// Sends what stands between events and is none.
  void send_between(std::string_view bytes);
  void end_body();
  /// Sends bytes of the body, cut where a fault is to happen inside them. `event` is the number of their event; 0: they
  /// belong to none. They must stay as they are until they were sent.
  void send_body(std::string_view bytes, std::size_t event);
  void send_part(std::string_view bytes, std::size_t event, std::size_t missing);
  std::vector<Cut> cuts_in(std::string_view bytes, std::size_t event) const;
  /// Gathers bytes for the next write. What would not fit into one is written at once.
  void send(std::string_view bytes);
  /// The bytes gathered so far are as much of the reply as `sent_` says.
  void mark();
  /// What was gathered is the head, or an event, or what stands between events.
  void end_part();
  /// Something is waited for, or pinged: what was due before leaves first, unless all is to leave together.
  void leave();
  /// Has what was gathered handed to the connection before the next step.
  void flush();
  Outlet::Look hand_over();
  /// Waits, where the plan wants it, until the client has read what was written before.
  Outlet::Look pause_between_writes(Unit& unit);
  /// Gives back the memory of what has left: thousands may wait.
  void shrink();
  /// Tells the progress of the marks that have been handed over.
  void publish();
  /// Gives the log, if there is one, the payload of the bytes that are about to be sent.
  void log(AnswerLog::Kind kind, std::string_view payload, std::string_view wire, std::size_t missing = 0,
           std::size_t event = 0) const;
  /// Tells the log that the whole answer was sent, or how it ends otherwise.
  void log_end() const {
    if (progress_.log) progress_.log->add_end(position_);
  }
  void log_end(SentAnswer::Ending ending) const {
    if (progress_.log) progress_.log->end(ending, timeline_.now());
  }
  void announce_last_bytes() const;
  /// Waits for a `[DONE]` that lies in the gateway's own send queue, where no client can read it.
  void await_done();

  // Faults.
  /// Strikes with the faults of that trigger, from that index on.
  void strike(Trigger::Kind kind, std::size_t count, std::size_t from = 0);
  void strike_one(std::size_t fault);
  void mark_reached(std::size_t fault);
  void happen(const Fault& fault);
  void stall(const Fault& fault);
  void send_error(const Effect& effect);
  void half_close(const Trigger& trigger);
  /// Ends the connection when everything sent has come to the client's kernel.
  void end_connection(Outlet::Ending ending);

  // Waits.
  void hold(HoldPoint::Kind kind, std::size_t number);
  void hold(std::size_t index);
  void pass(const Gate& gate);
  void wait_at(const std::shared_ptr<GateWait>& gate);
  /// Waits at the gate without pings.
  void wait_at_last(const std::shared_ptr<GateWait>& gate);
  /// Pings, where the dialect has them, come meanwhile; so in pass(). A wait for TimePoint::max() ends when the client
  /// closes its side, or by the stall guard.
  void wait_until(TimePoint deadline, std::string purpose);
  void wait_for(const std::shared_ptr<Moment>& moment);
  void wait_for_client_to_leave(ScriptedWait scripted, const char* purpose);
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
  std::vector<bool> reached_;               // of each fault of the plan
  std::vector<bool> came_to_;               // each hold of the plan
  std::vector<std::size_t> on_next_event_;  // faults that wait for the event that they change

  std::vector<Step> steps_;                // the last is next
  std::function<Outlet::Look()> awaited_;  // before it
  bool awaits_moment_ = false;             // by that
  bool is_held_up_ = false;                // by something else
  std::optional<Result> result_;
  /// How many steps are left when the client has left, which is waited for.
  std::optional<std::size_t> steps_after_client_;
  bool is_noted_ = false;

  std::string_view head_;
  std::string_view body_;  // of an answer of one piece
  std::size_t token_count_ = 0;
  bool nothing_follows_ = false;  // all of that has been sent
  EventSource* source_ = nullptr;
  bool chunked_ = false;
  bool more_ = false;         // events of the source: `event_` is the next
  bool looks_ahead_ = false;  // each is taken before the one before it is sent
  bool follows_ = false;      // one does: `following_`
  bool simply_ = false;
  StreamEvent event_;
  StreamEvent following_;
  StreamEvent extra_;                    // that is none of the source's
  std::optional<EventFraming> framing_;  // of a stream whose head has been sent
  std::size_t events_ = 0;               // as the reply has them
  std::size_t tokens_ = 0;
  std::size_t body_bytes_ = 0;  // sent, before gzip and chunks
  Sent sent_;

  std::size_t position_ = 0;   // bytes of the answer so far, gathered or handed over
  std::string gathered_;       // what has not been handed over, but for `large_`
  std::size_t taken_ = 0;      // of that, by writes
  std::size_t united_ = 0;     // of that, in units
  std::string_view large_;     // not worth a copy
  std::vector<Unit> units_;    // to be handed over before the next step
  std::size_t next_unit_ = 0;  // of these
  bool awaits_room_ = false;
  std::optional<delivery::BetweenWrites> pause_;
  std::size_t paused_at_ = std::string::npos;  // before the write of that byte
  std::size_t written_ = 0;                    // bytes handed over
  std::vector<Mark> marks_;
  std::size_t published_ = 0;  // of the marks
  bool is_split_ = false;
  /// The real time that the client took to read between writes. When it takes too long, it gets no more time.
  Duration time_to_read_{0};
  bool reads_too_slowly_ = false;
  TimePoint next_ping_ = TimePoint::max();
  bool inside_event_ = false;
  std::function<void()> before_last_bytes_;
};

}  // namespace mock_gateway::detail
