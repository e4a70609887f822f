#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "../core/relief.hpp"
#include "connection.hpp"
#include "poller.hpp"
#include "workers.hpp"

namespace mock_gateway::detail {

/// The connections of a server. Those that wait, for a request or in an exchange, take no thread: one, the leader,
/// waits for all of them, and serves whichever can go on. Before it is held up, by a client or by the tester's code,
/// another thread leads.
class Reactor final : private Relief {
 public:
  /// Does what can be done for a connection. Returns whether it goes on: then it is called again when more has come,
  /// its waker was called, or it is Connection::look_again_at(). Else the connection is closed. Throws nothing.
  using Serve = std::function<bool(Connection& connection)>;

  explicit Reactor(Workers& workers) : workers_(workers) {}
  ~Reactor() override;
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  /// Whether clients can be waited for: the system had descriptors for that.
  bool is_open() const { return poller_.is_open(); }
  /// How many connections it waits for, or will.
  std::size_t size() const;
  /// Makes sure that somebody leads. False when the system gives no thread for it.
  bool attend();
  /// Has a connection served when its client has sent something. attend() must have returned true.
  void add(std::unique_ptr<Connection> connection, Serve serve);
  /// Has a connection that `open` makes served now. It is called on the thread that is to serve; null: nothing is
  /// served. False when the system gives no thread.
  bool start(std::function<std::unique_ptr<Connection>()> open, Serve serve);
  /// Waits for nobody's next request any more. Those that are open end by their stop lines.
  void retire();

 private:
  /// A connection, and what stays of it as long as an event may be on its way.
  struct Session final : Wake {
    explicit Session(Reactor& its_reactor) : reactor(its_reactor) {}
    void wake() noexcept override { reactor.wake(*this); }

    Reactor& reactor;
    Serve serve;  // it goes after the connection, which may wait on a time of its
    std::unique_ptr<Connection> connection;
    bool is_watched = false;  // of its owner
    sockets::Wanted wanted;
    Session* next_ended = nullptr;
    Session* next_woken = nullptr;
    /// Flags: a thread owns it, and alone touches it; something has come since its owner looked, or it was woken; its
    /// client has gone.
    std::atomic<std::uint8_t> state{owned};
    // Guarded by the reactor's mutex.
    std::chrono::steady_clock::time_point look_again_at{};
    std::multimap<std::chrono::steady_clock::time_point, Session*>::iterator timer{};
    bool has_timer = false;
  };
  static constexpr std::uint8_t owned = 1;
  static constexpr std::uint8_t ready = 2;
  static constexpr std::uint8_t hung_up = 4;
  static constexpr std::uint8_t woken = 8;

  using Moment = std::chrono::steady_clock::time_point;

  static void free(Session* ended);
  /// Takes both over, unless it throws std::bad_alloc.
  Session& make_session(std::unique_ptr<Connection>& connection, Serve& serve);
  /// Has the poller tell of the session. False when the system has no memory for that.
  bool watch(Session& session);
  void relieve() noexcept override;
  /// The job of a thread that is to lead.
  void lead_on();
  /// Serves whatever is ready until another leads, or nobody needs it.
  void lead();
  /// Takes what the poller tells of; false when there is nobody to wait for.
  bool wait_for_events();
  /// Has one looked at that waits.
  void wake(Session& session) noexcept;
  /// One that was woken, or that is to be looked at by then, which the caller owns from now on; null: none.
  Session* take_due(Moment now);
  /// Serves a session that the caller owns, until it waits for its client or ends. Whoever returns may lead no more.
  void serve(Session& session);
  /// Gives up a session that waits for its client. False when something has come meanwhile: the caller still owns it.
  bool park(Session& session);
  void end(Session& session);
  /// Closes a session that cannot be waited for.
  void give_up(Session& session);
  /// Leads where nobody does, and somebody is to be waited for.
  bool takes_lead();
  // These expect the mutex to be held.
  /// Has the leader look again at a session that its owner is about to give up, when it is time to. Returns whether the
  /// leader waits for something later.
  bool start_timer(Session& session);
  void set_timer(Session& session);
  void clear_timer(Session& session);

  Workers& workers_;
  Poller poller_;
  mutable std::mutex mutex_;
  std::set<Session*> sessions_;
  Session* ended_ = nullptr;                // as long as events of theirs may be on their way
  Session* woken_ = nullptr;                // and owned by nobody else
  std::multimap<Moment, Session*> timers_;  // none is later than its session is to be looked at
  std::size_t watched_ = 0;                 // sessions that the leader waits for, or will
  Moment waits_until_{};                    // the leader, when it waits
  Moment vacant_since_ = Moment::max();     // it has nobody to wait for
  bool is_led_ = false;
  bool is_one_expected_ = false;  // attend() was called, and add() was not
  bool is_retired_ = false;
  bool is_waiting_ = false;  // the leader
  // The leader alone uses these.
  std::array<Poller::Event, 64> events_;
  std::size_t next_event_ = 0;
  std::size_t event_count_ = 0;
};

}  // namespace mock_gateway::detail
