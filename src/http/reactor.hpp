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

#include "../core/handoff.hpp"
#include "connection.hpp"
#include "poller.hpp"
#include "workers.hpp"

namespace mock_gateway::detail {

/// The event loop of a server's connections. One thread, the leader, waits for all connections and serves the
/// ready ones. Before a client or test code blocks the leader, another thread takes over as leader.
class Reactor final : private Handoff {
 public:
  /// Serves a connection without blocking for it. Returns false to close the connection. Otherwise it is called again
  /// after more bytes, a wake, or at Connection::recheck_at(). Throws nothing.
  using Serve = std::function<bool(Connection& connection)>;

  explicit Reactor(Workers& workers) : workers_(workers) {}
  ~Reactor() override;
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  /// Returns false if the system gave no descriptors for the poller.
  bool is_open() const { return poller_.is_open(); }
  std::size_t size() const;
  /// Ensures there is a leader. Returns false if the system gives no thread.
  bool attend();
  /// Adds a connection that is served when its client sends something. attend() must have returned true.
  void add(std::unique_ptr<Connection> connection, Serve serve);
  /// Serves a new connection at once, on a worker thread. `open` makes it on that thread; null: nothing to serve.
  /// Returns false if the system gives no thread.
  bool start(std::function<std::unique_ptr<Connection>()> open, Serve serve);
  /// Stops waiting for further requests. A StopLine ends each open connection.
  void retire();

 private:
  /// A connection with its state. Outlives the connection, because an event may still refer to it.
  struct Session final : Wake {
    explicit Session(Reactor& its_reactor) : reactor(its_reactor) {}
    void wake() noexcept override { reactor.wake(*this); }

    Reactor& reactor;
    Serve serve;  // destroyed after the connection, which may use its timeline
    std::unique_ptr<Connection> connection;
    bool is_watched = false;
    sockets::Wanted wanted;
    Session* next_ended = nullptr;
    Session* next_woken = nullptr;
    /// Bits: `owned` by one thread; `ready` or `woken` since the owner looked; `hung_up` by the client.
    std::atomic<std::uint8_t> state{owned};
    // Guarded by the reactor's mutex.
    std::chrono::steady_clock::time_point recheck_at{};
    std::multimap<std::chrono::steady_clock::time_point, Session*>::iterator timer{};
    bool has_timer = false;
  };
  static constexpr std::uint8_t owned = 1;
  static constexpr std::uint8_t ready = 2;
  static constexpr std::uint8_t hung_up = 4;
  static constexpr std::uint8_t woken = 8;

  using Moment = std::chrono::steady_clock::time_point;

  static void free(Session* ended);
  /// Takes ownership of both arguments, unless it throws std::bad_alloc.
  Session& make_session(std::unique_ptr<Connection>& connection, Serve& serve);
  bool watch(Session& session);
  void hand_over() noexcept override;
  void lead_on();
  /// Serves ready sessions until another thread leads, or no leader is needed.
  void lead();
  /// Waits for events of the poller. Returns false when the leader is no longer needed.
  bool wait_for_events();
  void wake(Session& session) noexcept;
  /// Takes ownership of a woken session, or of one whose timer is due. Returns null if there is no such session.
  Session* take_due(Moment now);
  /// Serves a session that the caller owns, until it waits or ends. The thread may no longer be leader afterwards.
  void serve(Session& session);
  /// Gives up ownership of a waiting session. Returns false, and keeps it, if events came meanwhile.
  bool park(Session& session);
  void end(Session& session);
  void give_up(Session& session);
  /// Becomes the leader if no thread leads and a session is watched.
  bool takes_lead();
  // The caller holds the mutex.
  /// Sets the session's timer. Returns true if the leader waits for a later time and must be woken.
  bool start_timer(Session& session);
  void set_timer(Session& session);
  void clear_timer(Session& session);

  Workers& workers_;
  Poller poller_;
  mutable std::mutex mutex_;
  std::set<Session*> sessions_;
  Session* ended_ = nullptr;                // ended sessions that pending events may still refer to
  Session* woken_ = nullptr;                // woken sessions without an owner
  std::multimap<Moment, Session*> timers_;  // no timer is later than its session's recheck_at
  std::size_t watched_ = 0;
  Moment waits_until_{};                 // the leader's timeout while it waits
  Moment vacant_since_ = Moment::max();  // the time since which no session is watched
  bool is_led_ = false;
  bool is_one_expected_ = false;  // attend() was called, and add() not yet
  bool is_retired_ = false;
  bool is_waiting_ = false;
  // Used only by the leader.
  std::array<Poller::Event, 64> events_;
  std::size_t next_event_ = 0;
  std::size_t event_count_ = 0;
};

}  // namespace mock_gateway::detail
